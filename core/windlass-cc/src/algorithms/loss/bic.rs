//! BIC: a binary search for the window that fits the path.

use crate::arithmetic::math::{divisor, mul};
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight, kept_flight};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};

crate::parameters! {
    /// Parameters of BIC.
    pub struct Params {
        /// Window up to which growth and cut are Reno's.
        low_window: u64 = 14,
            ParamKind::Segments { min: 1, max: 100_000 },
            "INFOCOM 2004 paper, section III; Linux tcp_bic low_window";
        /// Share of the window that a loss leaves (beta). The paper has 7/8.
        keep: Ratio = Ratio::of(819, 1024),
            ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::of(99, 100) },
            "Linux tcp_bic beta";
        /// Maximum growth per RTT, segments (S_max). The paper has 32.
        max_increment: u64 = 16,
            ParamKind::Segments { min: 1, max: 10_000 },
            "Linux tcp_bic max_increment";
        /// Parts into which the search divides the distance to its goal (B).
        divisor: u64 = 4,
            ParamKind::Count { min: 2, max: 1_000 },
            "Linux tcp_bic BICTCP_B";
        /// Round trips for the last `divisor` segments on either side of the old maximum.
        smooth_part: u64 = 20,
            ParamKind::Count { min: 1, max: 10_000 },
            "Linux tcp_bic smooth_part";
        /// Set a lower target when a loss occurs below the last maximum, because another flow may
        /// need the capacity.
        fast_convergence: bool = true,
            ParamKind::Flag,
            "INFOCOM 2004 paper, section III.C";
        /// Multiply growth beyond `low_window` by the mean number of segments per acknowledgement.
        /// This is right if the stack counts acknowledgements. Linux does this, and counts segments
        /// too.
        ack_ratio: bool = false,
            ParamKind::Flag,
            "Linux bictcp_update and bictcp_acked, delayed_ack";
        /// Calculate in whole segments: W_max, the distance to it, and the number of acknowledged
        /// segments per segment of growth. Linux does this, and cuts each quotient to a whole
        /// number.
        whole: bool = false,
            ParamKind::Flag,
            "Linux bictcp_update (true)";
    }
}

const TRACE: &[TraceField; 1] = &[TraceField { name: "w_max_q16", unit: "segments/65536" }];

/// One segment with [`FRACTION_BITS`] fractional bits.
const ONE: u64 = 1 << FRACTION_BITS;

/// Fractional bits of the segments per acknowledgement. The weight of a new value is 2^-4.
const RATIO_BITS: u32 = 4;

/// Initial number of segments per acknowledgement: two.
const FIRST_RATIO: u32 = 2 << RATIO_BITS;

/// Maximum number of segments that one acknowledgement counts, instead of the stack's limit; a
/// paced sender may have no limit.
const MAX_COVERED: u64 = 1 << 20;

/// Congestion avoidance of BIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Bic {
    /// Target window of the search, segments with [`FRACTION_BITS`] fractional bits; zero before the
    /// first loss and after a timeout.
    w_max_q: u64,
    /// `w_max_q` before the last cut.
    prior_w_max_q: u64,
    /// Smoothed number of segments per acknowledgement, with [`RATIO_BITS`] fractional bits.
    ratio: u32,
    /// Parameter `whole`: segments acknowledged towards the next segment of growth.
    counted: u32,
}

impl Bic {
    /// Growth per RTT in segments at a window of `w_q` segments, both with [`FRACTION_BITS`] fractional
    /// bits.
    fn increment(&self, p: &Params, w_q: u64) -> u64 {
        if w_q <= p.low_window << FRACTION_BITS {
            return ONE;
        }
        let found = if w_q < self.w_max_q { self.search(p, w_q) } else { self.probe(p, w_q) };
        let found = if self.w_max_q == 0 { found.max(w_q / 20) } else { found };
        if p.ack_ratio { mul(found, u64::from(self.ratio)) >> RATIO_BITS } else { found }
    }

    /// Number of acknowledged segments per segment of growth, in whole segments.
    fn count(&self, p: &Params, cwnd: u64) -> u64 {
        if cwnd <= p.low_window {
            return cwnd;
        }
        let w_max = self.w_max_q >> FRACTION_BITS;
        let slowest = mul(cwnd, p.smooth_part) / divisor(p.divisor);
        let fastest = cwnd / divisor(p.max_increment);
        let found = if cwnd < w_max {
            match (w_max - cwnd) / divisor(p.divisor) {
                0 | 1 => slowest,
                distance if distance > p.max_increment => fastest,
                distance => cwnd / divisor(distance),
            }
        } else {
            let (beyond, parts) = (cwnd - w_max, p.divisor.max(2) - 1);
            if beyond < p.divisor {
                slowest
            } else if beyond < mul(p.max_increment, parts) {
                mul(cwnd, parts) / divisor(beyond)
            } else {
                fastest
            }
        };
        let found = if w_max == 0 { found.min(20) } else { found };
        match p.ack_ratio {
            true => mul(found, 1 << RATIO_BITS) / divisor(self.ratio.into()),
            false => found,
        }
    }

    /// Growth below the old maximum: towards the middle between the window and the maximum.
    fn search(&self, p: &Params, w_q: u64) -> u64 {
        let distance = (self.w_max_q - w_q.min(self.w_max_q)) / p.divisor.max(2);
        if distance <= ONE { slowest(p) } else { distance.min(p.max_increment << FRACTION_BITS) }
    }

    /// Growth above the old maximum: the mirror image of the growth below it.
    fn probe(&self, p: &Params, w_q: u64) -> u64 {
        let beyond = w_q - self.w_max_q.min(w_q);
        let parts = p.divisor.max(2) - 1;
        if beyond < p.divisor << FRACTION_BITS {
            slowest(p)
        } else {
            (beyond / parts).min(p.max_increment << FRACTION_BITS)
        }
    }
}

/// Growth next to the old maximum.
fn slowest(p: &Params) -> u64 {
    (p.divisor << FRACTION_BITS) / p.smooth_part.max(1)
}

impl CongestionAvoidance for Bic {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "bic",
        name: "BIC",
        origin: "L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control (BIC) for Fast \
            Long-Distance Networks, INFOCOM 2004",
        citation: "xu2004binary",
        description: "BIC searches between the window that a loss left and the window at which the \
            loss occurred. In each RTT it covers a quarter of the distance, at most 16 segments, \
            and 0.2 segments at the end. Beyond the old maximum it probes along the mirror image. \
            Up to 14 segments it is Reno. Before the first loss and after a timeout BIC has no \
            target, and grows by at least a twentieth per RTT. The constants are from Linux; ns-3 \
            differs in smooth_part = 5. Growth is as in Linux, with Linux's rounding to whole \
            segments only if `whole` is set. The threshold is computed from FlightSize (RFC 5681), \
            not from the window.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux(
            "ack_ratio",
            1,
            "`bictcp_update` divides by the segments per acknowledgement, and `tcp_cong_avoid_ai` \
            also counts them. With delayed acknowledgements, growth is nearly twice the paper's \
            growth",
        ),
        Departure::linux(
            "whole",
            1,
            "`bictcp_update` divides whole segments. The search ends seven segments below its \
            goal, and beyond 31 segments probing is up to twice as fast",
        ),
        Departure::ns3("keep", Ratio::of(8, 10).0, "`TcpBic`, attribute `Beta`"),
        Departure::ns3("smooth_part", 5, "`TcpBic`, attribute `SmoothPart`"),
    ];

    fn init(_p: &Params, _c: &Conn) -> Bic {
        Bic { w_max_q: 0, prior_w_max_q: 0, ratio: FIRST_RATIO, counted: 0 }
    }

    fn observe(&mut self, _p: &Params, c: &Conn, a: &Ack, _w: &mut Window) {
        if c.phase == Phase::Open && a.acked > 0 {
            let covered = (a.acked / u64::from(c.mss.max(1))).clamp(1, MAX_COVERED) as u32;
            self.ratio = self.ratio - (self.ratio >> RATIO_BITS) + covered;
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if p.whole {
            let per = self.count(p, w.whole_segments(c)).max(1);
            self.counted = w.add_counted(c, self.counted, credit, per);
            return;
        }
        let w_q = w.segments_q(c);
        // At most the growth of slow start.
        w.add_per_window(c, credit, self.increment(p, w_q).min(w_q));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        // A segment of w_max, with `whole`.
        let grain = if p.whole { ONE - 1 } else { 0 };
        let w_q = w.segments_q(c) & !grain;
        self.counted = 0;
        self.prior_w_max_q = self.w_max_q;
        let w_max_q = if why == CongestionEvent::Timeout {
            self.ratio = FIRST_RATIO;
            0
        } else if w_q < self.w_max_q && p.fast_convergence {
            Ratio(Ratio::ONE.0 + p.keep.0).times(w_q) / 2
        } else {
            w_q
        };
        self.w_max_q = w_max_q & !grain;
        let low = mul(p.low_window, u64::from(c.mss));
        if w.cwnd() <= low { half_flight(c) } else { kept_flight(c, p.keep) }
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, _w: &Window) {
        self.w_max_q = self.prior_w_max_q;
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [w_max] = TRACE;
        sink(w_max, self.w_max_q);
    }
}
