//! H-TCP: growth that depends on the time since the last loss.

mod linux;

use crate::arithmetic::math::mul_div;
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, kept_flight};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::choice! {
    /// Implementation of H-TCP.
    pub enum Variant {
        /// The draft: the throughput is measured over the round before a loss, RTTmax since the last
        /// loss, and the time since the cut. Growth is at least one segment.
        Draft = "draft",
        /// Linux. The throughput is the highest smoothed value since the last loss, and the back-off
        /// adapts after two consecutive losses at a steady throughput. RTTmax decays by a twentieth of
        /// its excess per loss. The time starts at the end of recovery. Growth is in whole segments
        /// before the factor of the back-off, without a minimum after it, and is updated when the
        /// window grows. All times are in whole ticks.
        Linux = "linux",
    }
}

crate::parameters! {
    /// Parameters of H-TCP.
    pub struct Params {
        /// Time after a loss in which growth is Reno's (Delta_L).
        low_speed: Span = Span::from_secs(1),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(100) },
            "draft-leith-tcp-htcp-06 section 3";
        /// Let a loss leave RTTmin/RTTmax of the window, which just empties the queue. Without this
        /// option a loss leaves `keep_min`.
        adaptive_backoff: bool = true,
            ParamKind::Flag,
            "draft-leith-tcp-htcp-06 section 3";
        /// Minimum share of the window that a loss leaves.
        keep_min: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(1, 2) },
            "draft-leith-tcp-htcp-06 section 3";
        /// Maximum share of the window that a loss leaves.
        keep_max: Ratio = Ratio::of(8, 10),
            ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::of(99, 100) },
            "draft-leith-tcp-htcp-06 section 3";
        /// Relative change of the throughput from one loss to the next beyond which a loss leaves
        /// `keep_min`.
        throughput_change: Ratio = Ratio::of(2, 10),
            ParamKind::Ratio { min: Ratio::of(1, 100), max: Ratio::of(99, 100) },
            "draft-leith-tcp-htcp-06 section 3";
        /// Multiply growth by RTTmin over 100 ms, between 0.1 and 2, so that it does not depend on
        /// the path's length. Linux does this.
        rtt_scaling: bool = false,
            ParamKind::Flag,
            "draft-leith-tcp-htcp-06; Linux tcp_htcp use_rtt_scaling";
        /// Implementation of five points in which draft and kernel differ. They are the measurement
        /// of throughput, the number of steady losses until the back-off adapts, the reset of
        /// RTTmax, the start of the time, and the minimum growth.
        variant: Variant = Variant::Draft, Variant::KIND,
            "draft-leith-tcp-htcp-06 section 3; Linux tcp_htcp";
        /// Length of the kernel's tick for measuring times, in variant linux. The default is the
        /// value of Debian's kernels.
        clock: Span = Span::from_millis(4),
            ParamKind::Time { min: Span::from_micros(1), max: Span::from_millis(100) },
            "Linux jiffies, CONFIG_HZ";
    }
}

const TRACE: &[TraceField; 2] = &[
    TraceField { name: "keep_q16", unit: "1/65536" },
    TraceField { name: "max_rtt_ns", unit: "ns" },
];

/// Nanoseconds per unit of the stored RTTs, so that 274 s fit 32 bits.
const TICK: u64 = 1 << 6;

/// Rates are stored in bytes per 2^28 ns, about a quarter of a second, so that 128 Gbit/s fit 32 bits.
const RATE_BITS: u32 = 28;

/// Maximum time since a loss, in seconds with 16 fractional bits: 9 hours, at which the growth exceeds
/// any window.
const LONGEST: u64 = 1 << 31;

/// Congestion avoidance of H-TCP. In variant linux some fields have a different meaning, which
/// `linux.rs` lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Htcp {
    /// Time of the last cut or of the connection's start, moved forward by idle time. Nanoseconds,
    /// wrapping.
    since: u64,
    /// `since` before the last cut.
    prior_since: u64,
    /// Start of the round, nanoseconds.
    round_start: u64,
    /// Low half of the stream offset beyond which data belongs to the next round.
    round_end: u32,
    /// Low half of [`Conn::delivered`] at the start of the round.
    round_delivered: u32,
    /// Maximum RTT since the last cut, in [`TICK`]s.
    max_rtt: u32,
    /// Throughput of the last full round in bytes per 2^[`RATE_BITS`] ns; zero before the end of the
    /// first.
    round_rate: u32,
    /// Throughput that represents the time since the last cut, in the unit of `round_rate`.
    rate: u32,
    /// `rate` at the last cut, except its lowest bit.
    cut: u32,
    /// Share of the window that the last cut left, 16 fractional bits.
    keep: u16,
    /// `keep` before the last cut.
    prior_keep: u16,
    /// See [`linux`].
    factor: u16,
    /// See [`linux`].
    counted: u16,
}

/// A share below one, 16 fractional bits.
fn share(r: Ratio) -> u16 {
    r.0.min(u64::from(u16::MAX)) as u16
}

impl Htcp {
    fn begin_round(&mut self, c: &Conn) {
        self.round_end = c.next_id as u32;
        self.round_start = c.now.0;
        self.round_delivered = c.delivered as u32;
    }

    /// Bytes delivered per 2^[`RATE_BITS`] ns since the round began; `None` without time or data.
    fn throughput(&self, c: &Conn) -> Option<u32> {
        let bytes = (c.delivered as u32).wrapping_sub(self.round_delivered);
        let time = c.now.0.saturating_sub(self.round_start);
        let rate = || mul_div(u64::from(bytes), 1 << RATE_BITS, time);
        (bytes > 0 && time > 0).then(|| rate().clamp(1, u64::from(u32::MAX)) as u32)
    }

    /// Time since the last cut minus `beyond`, in seconds with 16 fractional bits. The clock's origin
    /// and its wrapping cancel out; a clock that goes back counts as no time.
    fn elapsed(&self, c: &Conn, beyond: Span) -> u64 {
        let elapsed = c.now.0.wrapping_sub(self.since);
        let elapsed = if elapsed > u64::MAX / 2 { 0 } else { elapsed };
        mul_div(elapsed.saturating_sub(beyond.0), 1 << 16, 1_000_000_000).min(LONGEST)
    }

    /// Growth per RTT in segments, 16 fractional bits.
    fn alpha(&self, p: &Params, c: &Conn) -> u64 {
        const ONE: u64 = 1 << FRACTION_BITS;
        let t = self.elapsed(c, p.low_speed);
        // 1 + 10·t + (t/2)², at most 2^45.
        let alpha = ONE + 10 * t + ((t * t) >> 18);
        let alpha = Htcp::scaled(p, c, alpha);
        // 2·(1 - keep)·alpha compensates for the share that a loss removes.
        ((alpha * (ONE - u64::from(self.keep))) >> 15).max(ONE)
    }

    /// Growth times the minimum RTT over 100 ms, if `rtt_scaling` is on.
    fn scaled(p: &Params, c: &Conn, alpha: u64) -> u64 {
        const ONE: u64 = 1 << FRACTION_BITS;
        if !p.rtt_scaling || !c.min_rtt.is_known() {
            return alpha;
        }
        let scale = mul_div(c.min_rtt.0, ONE, 100_000_000).clamp(ONE / 10, 2 * ONE);
        ((alpha * scale) >> FRACTION_BITS).max(ONE)
    }

    /// The share of the window that a loss leaves now.
    fn backoff(&mut self, p: &Params, c: &Conn) -> u16 {
        let steady = self.throughput_is_steady(p);
        self.cut = self.rate & !1;
        if !p.adaptive_backoff || !steady || self.max_rtt == 0 {
            return share(p.keep_min);
        }
        let ratio = mul_div(c.min_rtt.0 / TICK, 1 << 16, u64::from(self.max_rtt));
        share(Ratio(ratio.clamp(p.keep_min.0, p.keep_max.0.max(p.keep_min.0))))
    }

    /// True if both throughputs are known and the present one is within the tolerated change of the
    /// throughput at the last cut.
    fn throughput_is_steady(&self, p: &Params) -> bool {
        let cut_rate = self.cut & !1;
        let change = self.rate.abs_diff(cut_rate);
        let tolerated = p.throughput_change.times(u64::from(cut_rate));
        self.rate > 0 && cut_rate > 0 && u64::from(change) <= tolerated
    }
}

impl CongestionAvoidance for Htcp {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "htcp",
        name: "H-TCP",
        origin: "D. Leith, H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths, \
            draft-leith-tcp-htcp-06, 2008",
        citation: "leith2008htcp",
        description: "Growth rises with the time t since the last loss. It is one segment per RTT \
            in the first second. Then it is 1 + 10·(t-1) + ((t-1)/2)², times 2·(1-beta), and at \
            least 1. A loss leaves the share beta = RTTmin/RTTmax of the window, between 0.5 and \
            0.8. If the throughput of the round before the loss differs from the value at the last \
            loss by over 20 %, a loss leaves 0.5. RTTmin is the minimum of the connection, and \
            RTTmax is the maximum since the last loss; Linux has other definitions (`variant`). \
            Growth in congestion avoidance is at most one segment per acknowledged segment. Idle \
            time does not count as time since the loss. The threshold is computed from FlightSize \
            (RFC 5681). ns-3 adds alpha bytes, not segments, per acknowledgement.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("rtt_scaling", 1, "`use_rtt_scaling` is on by default"),
        Departure::linux(
            "variant",
            Variant::Linux as u64,
            "`measure_achieved_throughput` and `htcp_beta_update` smooth the throughput and wait \
            for a second steady loss. `htcp_param_update` lets the longest RTT fade, and \
            `htcp_state` counts from the end of recovery. `htcp_cong_avoid` checks the growth when \
            the window grows. All of them count segments and ticks",
        ),
        Departure::ns3_per_ack(
            "`TcpHtcp::CongestionAvoidance` counts every acknowledgement as one segment",
        ),
    ];

    fn init(p: &Params, c: &Conn) -> Htcp {
        Htcp {
            since: c.now.0,
            prior_since: c.now.0,
            round_end: c.next_id as u32,
            round_start: c.now.0,
            round_delivered: (if p.variant == Variant::Linux { c.una } else { c.delivered }) as u32,
            max_rtt: 0,
            round_rate: 0,
            rate: 0,
            cut: 0,
            keep: share(p.keep_min),
            prior_keep: share(p.keep_min),
            factor: 1,
            counted: 0,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        if p.variant == Variant::Linux {
            self.measure(p, c, a, w);
            return;
        }
        if c.phase != Phase::Open {
            self.begin_round(c);
            return;
        }
        if a.rtt.is_known() {
            let rtt = (a.rtt.0 / TICK).min(u64::from(u32::MAX)) as u32;
            self.max_rtt = self.max_rtt.max(rtt);
        }
        // A round is far shorter than 2 GiB, the range that half an offset can distinguish.
        let beyond = (c.una as u32).wrapping_sub(self.round_end) as i32;
        if beyond > 0 {
            if let Some(rate) = self.throughput(c) {
                (self.round_rate, self.rate) = (rate, rate);
            }
            self.begin_round(c);
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if p.variant == Variant::Linux {
            self.count(p, c, credit, w);
            return;
        }
        // At most the growth of slow start.
        w.add_per_window(c, credit, self.alpha(p, c).min(w.segments_q(c)));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        (self.prior_since, self.prior_keep) = (self.since, self.keep);
        if p.variant == Variant::Linux {
            self.update(p, c);
        } else {
            self.keep = self.backoff(p, c);
            self.max_rtt = 0;
        }
        self.since = c.now.0;
        kept_flight(c, Ratio(u64::from(self.keep)))
    }

    fn restart(&mut self, p: &Params, c: &Conn, _w: &mut Window) {
        if p.variant == Variant::Linux && c.phase == Phase::Open {
            self.since = c.now.0;
        }
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, _w: &Window) {
        (self.since, self.keep) = (self.prior_since, self.prior_keep);
    }

    fn idle(&mut self, p: &Params, c: &Conn, gap: Span) {
        self.since = self.since.wrapping_add(gap.0);
        if p.variant == Variant::Draft {
            self.begin_round(c);
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [keep, max_rtt] = TRACE;
        sink(keep, u64::from(self.keep));
        sink(max_rtt, u64::from(self.max_rtt) * TICK);
    }
}
