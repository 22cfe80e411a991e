//! TCP Modified (Hasan and Alisa 2023): H-TCP with other constants, a floor of 25 segments under the
//! threshold, and a back-off that may leave more than the flight.
//!
//! # Differences from H-TCP
//!
//! | Item | H-TCP (draft-leith-tcp-htcp-06) | TCP Modified |
//! |---|---|---|
//! | α, d seconds after the first second | 1 + 10·d + 0.25·d² | 1 + 10·d + 0.3·d² |
//! | unit of α | segments per RTT | bytes per acknowledgement, in addition to Reno's segment²/cwnd |
//! | share β of the window that a loss leaves | RTTmin/RTTmax in \[0.5, 0.8\] | 1.1·RTTmin/RTTmax, no bounds |
//! | change of throughput up to which β adapts | 20 %, either way | a rise of 33 %, and any fall |
//! | β after a larger change | 0.5 | unchanged |
//! | β of a new connection | 0.5 | 0.67 |
//! | threshold | β·FlightSize, at least 2 segments | 1.25·β·FlightSize, at least 25 segments |
//! | RTTmin | of the connection | since the last congestion event |
//! | maximum growth | as slow start | no limit |
//!
//! The paper prints a list of steps that allows several interpretations. Each relevant interpretation
//! is a value of a parameter. The defaults follow the steps literally. Where the steps state nothing,
//! they follow ns-3's H-TCP class, on which the steps are evidently based.

use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use crate::event::{Ack, Conn};
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Operand of step 6, alpha = 2·(1 - beta)·alpha (TM-1).
    pub enum AlphaUpdate {
        /// The alpha of this acknowledgement: 1 in the first second, then the alpha of step 5. The
        /// product is at least 1, as in ns-3's H-TCP.
        Fresh = "fresh",
        /// The present alpha, as printed. In the first second, which has no step 5, alpha shrinks with
        /// each acknowledgement.
        Compounded = "compounded",
    }
}

crate::choice! {
    /// Unit of alpha (TM-3).
    pub enum AlphaUnit {
        /// Bytes per acknowledgement, in addition to Reno's segment²/cwnd: step 7 literally.
        Bytes = "bytes",
        /// Segments per RTT instead of Reno's one segment, limited to the growth of slow start, as in
        /// H-TCP.
        Segments = "segments",
    }
}

crate::choice! {
    /// Definition of the throughput (TM-9).
    pub enum Throughput {
        /// Bytes delivered since the last congestion event over the time since this event, as in ns-3's
        /// H-TCP.
        Epoch = "epoch",
        /// Bytes delivered in the last full RTT over its length, as in the draft of H-TCP.
        Round = "round",
        /// Equation 2 literally: the newly delivered bytes of one acknowledgement, over the time since the
        /// last transmission before it, which counts as at least 1 ms.
        Ack = "ack",
    }
}

crate::choice! {
    /// Comparison of the rise of the throughput with its limit (TM-21).
    pub enum Threshold {
        /// As a signed real number: a decrease is within the limit.
        Real = "real",
        /// As in ns-3's H-TCP, in unsigned whole numbers: only an increase by less than the previous
        /// throughput is within the limit; a decrease or an equal throughput is not.
        Integer = "integer",
    }
}

crate::choice! {
    /// Beta after a rise of the throughput above the limit (TM-5).
    pub enum WhenRising {
        /// Unchanged: step 6 follows step 4.
        Keep = "keep",
        /// `beta_default`, as in H-TCP.
        Default = "default",
    }
}

crate::choice! {
    /// RTT values that a congestion event resets (TM-18).
    pub enum RttReset {
        /// Minimum and maximum RTT, as in ns-3's H-TCP.
        Both = "both",
        /// Maximum RTT, as in the draft of H-TCP.
        Max = "max",
        /// No value.
        None = "none",
    }
}

crate::choice! {
    /// RTTs that RTTmin and RTTmax are computed from (TM-18).
    pub enum RoundTrip {
        /// RTT samples of the acknowledged segments.
        Sample = "sample",
        /// SRTT after each acknowledgement, which ns-3 passes to its classes.
        Smoothed = "smoothed",
    }
}

crate::choice! {
    /// Bounds of the back-off (TM-4).
    pub enum Backoff {
        /// No bounds: on a path whose maximum RTT is less than 1.375 times the minimum RTT, a loss
        /// increases the window.
        Unclamped = "unclamped",
        /// Beta between 0.5 and 0.8, the bounds of H-TCP, and a threshold of at most the flight.
        Clamped = "clamped",
    }
}

crate::parameters! {
    /// Parameters of TCP Modified. The steps refer to Hasan and Alisa 2023, section 3. "First case" is
    /// an acknowledgement, "second case" a loss.
    pub struct Params {
        /// Time after a congestion event for which alpha is 1 (delta_L).
        low_speed: Span = Span::from_secs(1),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(100) },
            "first case, step 1";
        /// Increase of alpha per second beyond `low_speed`.
        alpha_slope: Ratio = Ratio::of(10, 1),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(100, 1) },
            "first case, step 5";
        /// Increase of alpha per squared second beyond `low_speed`.
        alpha_curve: Ratio = Ratio::of(3, 10),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10, 1) },
            "first case, step 5";
        /// Value that step 6 multiplies.
        alpha_update: AlphaUpdate = AlphaUpdate::Fresh, AlphaUpdate::KIND,
            "first case, steps 4 to 6; ns-3 TcpHtcp";
        /// Unit of alpha.
        alpha_unit: AlphaUnit = AlphaUnit::Bytes, AlphaUnit::KIND,
            "first case, step 7; draft-leith-tcp-htcp-06 section 3";
        /// Beta of a new connection.
        beta_default: Ratio = Ratio::of(67, 100),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::ONE },
            "first case, step 1";
        /// Factor on RTTmin/RTTmax.
        beta_gain: Ratio = Ratio::of(11, 10),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(19, 10) },
            "second case, step 5";
        /// Maximum relative rise of the throughput since the last congestion event at which beta
        /// adapts.
        rise: Ratio = Ratio::of(33, 100),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10, 1) },
            "second case, step 4";
        /// Comparison of the rise with `rise`.
        threshold: Threshold = Threshold::Real, Threshold::KIND,
            "second case, step 4; ns-3 TcpHtcp";
        /// Beta after a rise beyond `rise`.
        when_rising: WhenRising = WhenRising::Keep, WhenRising::KIND,
            "second case, step 4; draft-leith-tcp-htcp-06 section 3";
        /// Measurement of the throughput.
        throughput: Throughput = Throughput::Epoch, Throughput::KIND,
            "first case, step 3, and equation 2; ns-3 TcpHtcp";
        /// RTT extremes that a congestion event resets.
        rtt_reset: RttReset = RttReset::Both, RttReset::KIND,
            "ns-3 TcpHtcp; draft-leith-tcp-htcp-06 section 3";
        /// RTT samples that count.
        round_trip: RoundTrip = RoundTrip::Sample, RoundTrip::KIND,
            "first case, step 6, and equation 1; ns-3 TcpSocketBase";
        /// Bounds of the back-off.
        backoff: Backoff = Backoff::Unclamped, Backoff::KIND,
            "second case, steps 5 and 7; draft-leith-tcp-htcp-06 section 3";
        /// Factor on beta in the threshold.
        flight_gain: Ratio = Ratio::of(125, 100),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(4, 1) },
            "second case, step 7";
        /// Minimum threshold that a congestion event leaves.
        floor: u64 = 25,
            ParamKind::Segments { min: 2, max: 1_000 },
            "second case, step 6; RFC 5681 equation 4 has 2";
    }
}

const TRACE: &[TraceField; 5] = &[
    TraceField { name: "alpha_q16", unit: "1/65536" },
    TraceField { name: "beta_q15", unit: "1/32768" },
    TraceField { name: "throughput_bps", unit: "bit/s" },
    TraceField { name: "min_rtt_ns", unit: "ns" },
    TraceField { name: "max_rtt_ns", unit: "ns" },
];

/// Nanoseconds per unit of the stored RTTs, so that 274 s fit 32 bits.
const TICK: u64 = 1 << 6;

/// Nanoseconds per unit of the age of a congestion event: 4.9 hours fit 32 bits.
const AGE_TICK: u64 = 1 << 12;

/// Rates are stored in bytes per 2^30 ns, about a second, so that 32 Gbit/s fit 32 bits.
const RATE_BITS: u32 = 30;

/// Minimum duration of a throughput measurement, nanoseconds.
const SHORTEST: u64 = 1_000_000;

/// Fractional bits of beta, which is below two.
const BETA_BITS: u32 = 15;

/// Bounds of beta in H-TCP, with [`BETA_BITS`].
const BETA_RANGE: (u16, u16) = (1 << 14, 26_214);

/// Maximum time since a congestion event, in seconds with 16 fractional bits: 9 hours.
const LONGEST: u64 = 1 << 31;

/// Congestion avoidance of TCP Modified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct TcpModified {
    /// Time of the last congestion event or of the connection's start, moved forward by idle time.
    /// Nanoseconds, wrapping.
    since: u64,
    /// Start of the throughput measurement: the congestion event, the start of the round, or the last
    /// transmission. Nanoseconds, wrapping.
    mark: u64,
    /// [`Conn::delivered`] at `mark`; with [`Throughput::Ack`] the time of the last acknowledgement.
    count: u64,
    /// Low half of the stream offset that ends the round, or of [`Conn::sent`] at the last
    /// acknowledgement.
    edge: u32,
    /// Last measured throughput, bytes per 2^[`RATE_BITS`] ns.
    rate: u32,
    /// `rate` at the last congestion event; zero before the first.
    last_rate: u32,
    /// Minimum RTT since the last reset, in [`TICK`]s; `u32::MAX` without a sample.
    min_rtt: u32,
    /// Maximum RTT since the last reset, in [`TICK`]s; zero without a sample.
    max_rtt: u32,
    /// Alpha of the last acknowledgement in congestion avoidance, with [`FRACTION_BITS`], at most
    /// 65,535.
    alpha: u32,
    /// Time between the last two congestion events, in [`AGE_TICK`]s.
    prior_age: u32,
    /// Share of the flight, without `flight_gain`, that the last congestion event left: [`BETA_BITS`].
    beta: u16,
    /// `beta` before the last congestion event.
    prior_beta: u16,
}

/// A ratio with [`BETA_BITS`], below two.
fn as_beta(r: Ratio) -> u16 {
    (r.0 >> 1).min(u64::from(u16::MAX)) as u16
}

/// Nanoseconds from `from` to `to`; a clock that goes back counts as no time. The clock's origin and
/// its wrapping cancel out.
fn between(from: u64, to: u64) -> u64 {
    let time = to.wrapping_sub(from);
    if time > u64::MAX / 2 { 0 } else { time }
}

/// An RTT in [`TICK`]s.
fn ticks(rtt: Span) -> u32 {
    (rtt.0 / TICK).min(u64::from(u32::MAX - 1)) as u32
}

/// Rate of `bytes` bytes in `time` nanoseconds, which counts as at least [`SHORTEST`].
fn rate(bytes: u64, time: u64) -> u32 {
    mul_div(bytes, 1 << RATE_BITS, time.max(SHORTEST)).min(u64::from(u32::MAX)) as u32
}

impl TcpModified {
    /// Starts a throughput measurement.
    fn begin_count(&mut self, c: &Conn) {
        (self.mark, self.count) = (c.now.0, c.delivered);
    }

    fn begin_round(&mut self, c: &Conn) {
        self.begin_count(c);
        self.edge = c.next_id as u32;
    }

    fn delivered_since_mark(&self, c: &Conn) -> u32 {
        let bytes = c.delivered.saturating_sub(self.count);
        rate(bytes, between(self.mark, c.now.0))
    }

    /// First case, step 3: measures the throughput.
    fn measure(&mut self, p: &Params, c: &Conn, a: &Ack) {
        match p.throughput {
            Throughput::Epoch => self.rate = self.delivered_since_mark(c),
            Throughput::Round => {
                // An offset difference above 2^31 counts as negative; no window reaches that.
                if ((c.una as u32).wrapping_sub(self.edge) as i32) > 0 {
                    self.rate = self.delivered_since_mark(c);
                    self.begin_round(c);
                }
            }
            Throughput::Ack => {
                // A sender transmits in response to acknowledgements, so data sent since the last
                // acknowledgement was sent when that acknowledgement arrived.
                if c.sent as u32 != self.edge {
                    (self.mark, self.edge) = (self.count, c.sent as u32);
                }
                self.rate = rate(a.delivered, between(self.mark, c.now.0));
                self.count = c.now.0;
            }
        }
    }

    /// Seconds beyond `low_speed` since the last congestion event, 16 fractional bits (first case,
    /// steps 2 and 4).
    fn difference(&self, p: &Params, now: Time) -> u64 {
        let beyond = between(self.since, now.0).saturating_sub(p.low_speed.0);
        mul_div(beyond, 1 << 16, 1_000_000_000).min(LONGEST)
    }

    /// First case, steps 4 to 6: alpha with [`FRACTION_BITS`].
    fn alpha(&mut self, p: &Params, now: Time) -> u64 {
        const ONE: u64 = 1 << FRACTION_BITS;
        let d = self.difference(p, now);
        let fresh = ONE + p.alpha_slope.times(d) + p.alpha_curve.times((d * d) >> FRACTION_BITS);
        // 2·(1 - beta); a beta above one counts as one.
        let twice = 2 * (1_u64 << BETA_BITS).saturating_sub(u64::from(self.beta));
        let refine = |alpha| mul_div(alpha, twice, 1 << BETA_BITS);
        let alpha = match p.alpha_update {
            AlphaUpdate::Fresh => refine(fresh).max(ONE),
            AlphaUpdate::Compounded if d > 0 => refine(fresh),
            AlphaUpdate::Compounded => refine(u64::from(self.alpha)),
        };
        self.alpha = alpha.min(u64::from(u32::MAX)) as u32;
        alpha
    }

    /// Second case, steps 3 and 4: true if beta adapts. It does not without the throughput of an
    /// earlier event (TM-6).
    fn adapts(&self, p: &Params) -> bool {
        let (now, last) = (u64::from(self.rate), u64::from(self.last_rate));
        let rise = now.saturating_sub(last);
        last > 0
            && match p.threshold {
                Threshold::Real => rise <= p.rise.times(last),
                // The quotient is a whole number, and only 0 is at most a third.
                Threshold::Integer => now > last && (rise / last) << 16 <= p.rise.0,
            }
    }

    /// Second case, steps 3 to 5: returns the next beta.
    fn next_beta(&self, p: &Params) -> u16 {
        let measured = self.max_rtt > 0 && self.min_rtt <= self.max_rtt;
        let beta = if self.adapts(p) && measured {
            let (least, longest) = (u64::from(self.min_rtt), u64::from(self.max_rtt));
            as_beta(Ratio(mul_div(p.beta_gain.0, least, longest)))
        } else {
            match p.when_rising {
                WhenRising::Keep => self.beta,
                WhenRising::Default => as_beta(p.beta_default),
            }
        };
        match p.backoff {
            Backoff::Unclamped => beta,
            Backoff::Clamped => beta.clamp(BETA_RANGE.0, BETA_RANGE.1),
        }
    }

    /// Second case, steps 6 and 7: returns the threshold.
    fn threshold(&self, p: &Params, c: &Conn) -> u64 {
        let keep = Ratio(mul(p.flight_gain.0, u64::from(self.beta)) >> BETA_BITS);
        let mss = u64::from(c.mss);
        let threshold = keep.times(c.flight_size).max(mul(p.floor, mss));
        match p.backoff {
            Backoff::Unclamped => threshold,
            Backoff::Clamped => threshold.min(c.flight_size).max(2 * mss),
        }
    }

    fn forget(&mut self, p: &Params) {
        if p.rtt_reset == RttReset::Both {
            self.min_rtt = u32::MAX;
        }
        if p.rtt_reset != RttReset::None {
            self.max_rtt = 0;
        }
    }
}

impl CongestionAvoidance for TcpModified {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "tcp-modified",
        name: "TCP Modified",
        origin: "H. H. Hasan and Z. T. Alisa, Effective IoT Congestion Control Algorithm, Future \
            Internet 15(4), 2023",
        citation: "hasan2023effective",
        description: "H-TCP with other constants. An acknowledgement adds segment²/cwnd bytes, as \
            in Reno, and alpha more bytes. Alpha is 1 in the first second after a congestion \
            event. Then it is 1 + 10·d + 0.3·d², where d is the number of seconds beyond the \
            first, times 2·(1 - beta), and at least 1. A loss leaves 1.25·beta of the flight, and \
            at least 25 segments. If throughput rose by at most a third since the last congestion \
            event, beta is 1.1·RTTmin/RTTmax of the time since that event; otherwise beta does not \
            change. 25 segments exceed the fair share of many paths, and then no loss reduces the \
            window. If the queue adds less than 37.5 % to the RTT, a loss leaves more than the \
            flight. A timeout leaves one segment and the same threshold. The defaults are the \
            literal steps of the paper; alpha_unit = \"segments\", backoff = \"clamped\" and floor \
            = 2 repair them.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(p: &Params, c: &Conn) -> TcpModified {
        let by_ack = p.throughput == Throughput::Ack;
        TcpModified {
            since: c.now.0,
            mark: c.now.0,
            count: if by_ack { c.now.0 } else { c.delivered },
            edge: if by_ack { c.sent } else { c.next_id } as u32,
            rate: 0,
            last_rate: 0,
            min_rtt: u32::MAX,
            max_rtt: 0,
            alpha: 1 << FRACTION_BITS,
            prior_age: 0,
            beta: as_beta(p.beta_default),
            prior_beta: as_beta(p.beta_default),
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, _w: &mut Window) {
        self.measure(p, c, a);
        if a.rtt.is_known() {
            let rtt = ticks(if p.round_trip == RoundTrip::Smoothed { c.srtt } else { a.rtt });
            self.min_rtt = self.min_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let alpha = self.alpha(p, c.now);
        match p.alpha_unit {
            AlphaUnit::Bytes => {
                let mss = u64::from(c.mss);
                let reno = mul_div(mss << FRACTION_BITS, mss, w.cwnd());
                w.add_q(reno.saturating_add(alpha));
            }
            AlphaUnit::Segments => w.add_per_window(c, credit, alpha.min(w.segments_q(c))),
        }
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        let age = between(self.since, c.now.0) / AGE_TICK;
        (self.prior_age, self.prior_beta) = (age.min(u64::from(u32::MAX)) as u32, self.beta);
        self.beta = self.next_beta(p);
        (self.since, self.alpha) = (c.now.0, 1 << FRACTION_BITS);
        self.last_rate = self.rate;
        if p.throughput == Throughput::Epoch {
            self.begin_count(c);
            self.rate = 0;
        }
        self.forget(p);
        self.threshold(p, c)
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, _w: &Window) {
        self.since = self.since.wrapping_sub(u64::from(self.prior_age) * AGE_TICK);
        self.beta = self.prior_beta;
    }

    fn idle(&mut self, p: &Params, c: &Conn, gap: Span) {
        self.since = self.since.wrapping_add(gap.0);
        match p.throughput {
            Throughput::Round => self.begin_round(c),
            Throughput::Epoch => self.mark = self.mark.wrapping_add(gap.0),
            Throughput::Ack => self.count = c.now.0,
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [alpha, beta, throughput, min_rtt, max_rtt] = TRACE;
        sink(alpha, u64::from(self.alpha));
        sink(beta, u64::from(self.beta));
        sink(throughput, mul_div(u64::from(self.rate), 8_000_000_000, 1 << RATE_BITS));
        let known = self.min_rtt < u32::MAX;
        sink(min_rtt, if known { u64::from(self.min_rtt) * TICK } else { 0 });
        sink(max_rtt, u64::from(self.max_rtt) * TICK);
    }
}
