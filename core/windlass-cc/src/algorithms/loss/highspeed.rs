//! HighSpeed TCP (RFC 3649), computed from its response function.

use crate::arithmetic::math::{exp2_q16, log2_q16};
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, Rounding, kept_flight};
use crate::event::{Ack, Conn};
use crate::flavour::{Change, Departure, Flavour};
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};

crate::parameters! {
    /// Parameters of HighSpeed TCP.
    pub struct Params {
        /// Window up to which it is Reno (Low_Window).
        low_window: u64 = 38,
            ParamKind::Segments { min: 2, max: 1_000 },
            "RFC 3649 section 5";
        /// Packets from one loss to the next at that window (1/Low_P).
        low_interval: u64 = 1_000,
            ParamKind::Count { min: 10, max: 1_000_000 },
            "RFC 3649 section 5";
        /// Window at the other end of the response function (High_Window).
        high_window: u64 = 83_000,
            ParamKind::Segments { min: 2_000, max: 100_000_000 },
            "RFC 3649 section 5";
        /// Packets from one loss to the next at that window (1/High_P).
        high_interval: u64 = 10_000_000,
            ParamKind::Count { min: 2_000_000, max: 1_000_000_000_000 },
            "RFC 3649 section 5";
        /// Share of that window that a loss takes (High_Decrease).
        high_decrease: Ratio = Ratio::of(1, 10),
            ParamKind::Ratio { min: Ratio::of(1, 100), max: Ratio::of(1, 2) },
            "RFC 3649 section 5";
        /// Count acknowledgements in congestion avoidance instead of acknowledged segments,
        /// regardless of the stack's counting.
        per_ack: bool = false,
            ParamKind::Flag,
            "RFC 3649 leaves it to RFC 2581; Linux hstcp_cong_avoid (true)";
        /// Take growth and cut from the RFC's table, which has the default constants. The a(w) and
        /// b(w) of a row apply up to its window, and the cut is taken from the row of the last
        /// growth.
        steps: bool = false,
            ParamKind::Flag,
            "RFC 3649 appendix B; Linux hstcp_aimd_vals (true)";
    }
}

/// The windows of the table, segments. The row number, from one, is a(w).
const STEPS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778,
    4177, 4596, 5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082,
    12834, 13614, 14424, 15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402,
    25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694,
    46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517, 84035,
    89053,
];

const TRACE: &[TraceField; 1] = &[TraceField { name: "increase_q16", unit: "segments/65536" }];

/// Share that a loss takes from a window of Low_Window: one half, with 16 fractional bits.
const HALF: u64 = 1 << 15;

/// Minimum share that a loss takes. With the RFC's constants, the line for b(w) reaches it at a window
/// of 470,000 segments.
const LEAST_DECREASE: u64 = 655;

/// Congestion avoidance of HighSpeed TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct HighSpeed {
    /// Window for which `increase_q` was computed, whole segments.
    segments: u32,
    /// a(w), segments per RTT with 16 fractional bits.
    increase_q: u32,
}

/// A window in whole segments.
fn segments(c: &Conn, w: &Window) -> u32 {
    (w.segments_q(c) >> FRACTION_BITS).min(u64::from(u32::MAX)) as u32
}

/// Part of `change` at a window above Low_Window. The change from Low_Window to High_Window is linear
/// in the logarithm of the window.
fn part(p: &Params, segments: u32, change: u64) -> u64 {
    let low = log2_q16(p.low_window);
    let here = log2_q16(u64::from(segments)).saturating_sub(low);
    let way = log2_q16(p.high_window).saturating_sub(low);
    // Each factor has at most 22 bits.
    change * u64::from(here) / u64::from(way.max(1))
}

/// b(w), the share that a loss takes, with 16 fractional bits (RFC 3649 section 5).
fn decrease(p: &Params, segments: u32) -> u64 {
    if u64::from(segments) <= p.low_window {
        return HALF;
    }
    let fall = HALF.saturating_sub(p.high_decrease.0);
    HALF.saturating_sub(part(p, segments, fall)).max(LEAST_DECREASE)
}

/// a(w) = w²·p(w)·2·b(w)/(2 - b(w)), 16 fractional bits, at least 1 (RFC 3649 section 5). The error is
/// at most 3 parts in 10,000.
fn increase(p: &Params, segments: u32) -> u32 {
    if u64::from(segments) <= p.low_window {
        return 1 << 16;
    }
    let low = u64::from(log2_q16(p.low_interval));
    let climb = u64::from(log2_q16(p.high_interval)).saturating_sub(low);
    // The logarithm of 1/p(w).
    let interval = low + part(p, segments, climb);
    let b = decrease(p, segments);
    // b is at most a half, so both logarithms exist and the second is the larger.
    let share = log2_q16((4 << 16) - 2 * b).saturating_sub(log2_q16(4 * b));
    let square = 2 * u64::from(log2_q16(u64::from(segments)));
    let log = square.saturating_sub(interval + u64::from(share));
    exp2_q16(log as u32).min(u64::from(u32::MAX)) as u32
}

/// The row for a window: the first row that is not below the window, or the last row.
fn step(segments: u32) -> usize {
    STEPS.iter().position(|w| segments <= *w).unwrap_or(STEPS.len() - 1)
}

/// b(w) of the row, cut to 8 fractional bits, in 16 fractional bits. Computed from the row's window, it
/// agrees with the two decimals of the table and with the kernel's values.
fn step_decrease(p: &Params, segments: u32) -> u64 {
    let w = STEPS.get(step(segments)).copied().unwrap_or(u32::MAX);
    decrease(p, w) & !0xff
}

impl CongestionAvoidance for HighSpeed {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "highspeed",
        name: "HighSpeed TCP",
        origin: "RFC 3649, HighSpeed TCP for Large Congestion Windows, section 5",
        citation: "rfc3649",
        description: "Above 38 segments the window follows a response function: a window of 83,000 \
            segments needs a loss rate of 1e-7, where Reno needs 2e-10. Growth a(w) rises from 1 \
            to about 72 segments per RTT. The share b(w) of the window that a loss removes falls \
            from a half to a tenth. Both are computed from the RFC's equations for the whole \
            segments in the window; `steps` reads them from the RFC's table. The minimum of a(w) \
            is Reno's 1. The minimum of b(w) is a hundredth, because the equation would reach zero \
            at 570,000 segments. The threshold is computed from FlightSize (RFC 5681). HighSpeed \
            TCP starts with limited slow start (RFC 3742), as the RFC recommends.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("limited"), ..Requirements::LOSS_BASED };
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("per_ack", 1, "`hstcp_cong_avoid` adds once per acknowledgement"),
        Departure::linux("steps", 1, "`hstcp_aimd_vals` is the table, which rounds growth up"),
        Departure {
            flavour: Flavour::Linux,
            change: Change::SlowStart("standard"),
            why: "`hstcp_cong_avoid` calls `tcp_slow_start`; RFC 3649 recommends limited slow start",
        },
    ];

    fn init(_p: &Params, _c: &Conn) -> HighSpeed {
        HighSpeed { segments: 0, increase_q: 1 << 16 }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let segments = segments(c, w);
        if segments != self.segments {
            self.segments = segments;
            self.increase_q = match p.steps {
                true => (step(segments) as u32 + 1) << 16,
                false => increase(p, segments),
            };
        }
        let credit = if p.per_ack { credit.min(c.mss.into()) } else { credit };
        w.add_per_window(c, credit, u64::from(self.increase_q));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, _why: CongestionEvent) -> u64 {
        let taken = match p.steps {
            true => step_decrease(p, self.segments),
            false => decrease(p, segments(c, w)),
        };
        kept_flight(c, Ratio(Ratio::ONE.0 - taken))
    }

    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Up
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [increase] = TRACE;
        sink(increase, u64::from(self.increase_q));
    }
}
