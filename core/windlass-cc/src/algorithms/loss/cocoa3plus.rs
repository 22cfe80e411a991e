//! CoCoA3+ (Parween and Hussain): detects congestion from seven signals; growth may be held during
//! congestion.
//!
//! The paper names the signals and gives no test for any of them. Its window is halved on loss and
//! grows by a segment for each duplicate acknowledgement. It grows in normal transmission, falls with a
//! retransmission, and must grow "when RTT gets decreased". This implementation interprets the text as
//! follows. Growth is NewReno's; only with `hold` it stops while the signals indicate congestion
//! (C3-19). The growth during recovery is NewReno's inflation (C3-18). The fast retransmit after two
//! duplicates (C3-17) is the stack's `dupthresh`, and the timer is the stack's `rto`.

use crate::arithmetic::math::mul;
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, kept_flight};
use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, RATIO_BITS, Ratio};
use crate::recovery::LossRecovery;
use crate::time::{Rate, Span, Time};

/// Kind of a parameter that is a share.
const SHARE: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE };

crate::parameters! {
    /// Parameters of CoCoA3+.
    pub struct Params {
        /// Relative excess of a value over its reference above which a signal indicates congestion
        /// (theta).
        tolerance: Ratio = Ratio::of(1, 4), ParamKind::Ratio { min: Ratio(0), max: Ratio(100 << 16) },
            "C3-19 (the paper says \"beyond network limit\")";
        /// Number of signals that must indicate congestion at the same time to hold growth.
        votes: u64 = 1, ParamKind::Count { min: 1, max: 7 }, "C3-19 (the paper ranks none)";
        /// Hold growth during congestion; without this option growth is always NewReno's.
        hold: bool = false, ParamKind::Flag, "Parween and Hussain, section V.C.6 (C3-19)";
        /// Apply `hold` in slow start too; without this option, only above the threshold.
        hold_start: bool = true, ParamKind::Flag, "C3-19 (the paper makes no difference)";
        /// RTT signal: the smoothed RTT is above the base RTT by `tolerance`.
        rtt: bool = true, ParamKind::Flag, "Parween and Hussain, equation 6 (C3-4)";
        /// Timeout signal: the timer expired less than an RTT ago.
        rto: bool = true, ParamKind::Flag, "Parween and Hussain, section IV.B";
        /// Transmission rate signal: window divided by smoothed RTT is above the delivery rate of
        /// the last RTT by `tolerance`.
        rate: bool = true, ParamKind::Flag, "Parween and Hussain, equation 7 (C3-5)";
        /// Delay signal: the queue at the node's station takes longer than `tolerance` times the
        /// base RTT.
        delay: bool = true, ParamKind::Flag, "Parween and Hussain, section IV.B.3";
        /// Bandwidth signal: window divided by smoothed RTT is above the departure rate at the
        /// node's station by `tolerance`.
        bandwidth: bool = true, ParamKind::Flag, "Parween and Hussain, equation 8";
        /// Delivery rate signal: the rate is below the rate of the RTT before by `tolerance`.
        delivery: bool = true, ParamKind::Flag, "Parween and Hussain, section IV.B.5";
        /// Queue signal: the average queue of the node's station is above `queue_share` of its
        /// capacity.
        queue: bool = true, ParamKind::Flag, "Parween and Hussain, equation 9 (C3-6)";
        /// Weight of the latest length in the average queue.
        queue_weight: Ratio = Ratio::of(2, 1000), SHARE, "Floyd and Jacobson 1993 (C3-6)";
        /// Share of a station's capacity above which its average queue indicates congestion.
        queue_share: Ratio = Ratio::of(1, 2), SHARE, "C3-6 (the paper gives no value)";
        /// Share of the flight that a loss leaves.
        keep: Ratio = Ratio::of(1, 2), SHARE, "Parween and Hussain, section IV.B (C3-18)";
    }
}

/// The signals, as bits of the result of [`Cocoa3Plus::signals`].
pub mod signal {
    /// The RTT has grown.
    pub const RTT: u8 = 1;
    /// The retransmission timer has expired.
    pub const RTO: u8 = 2;
    /// The sending rate exceeds the delivery rate.
    pub const RATE: u8 = 4;
    /// The queueing delay at the node's own station is long.
    pub const DELAY: u8 = 8;
    /// The sending rate exceeds the departure rate of the node's station.
    pub const BANDWIDTH: u8 = 16;
    /// The delivery rate has decreased.
    pub const DELIVERY: u8 = 32;
    /// The queue of the node's station is long.
    pub const QUEUE: u8 = 64;
}

impl Params {
    /// Bits of the enabled signals.
    fn mask(&self) -> u8 {
        let on = |flag: bool, bit: u8| if flag { bit } else { 0 };
        on(self.rtt, signal::RTT)
            | on(self.rto, signal::RTO)
            | on(self.rate, signal::RATE)
            | on(self.delay, signal::DELAY)
            | on(self.bandwidth, signal::BANDWIDTH)
            | on(self.delivery, signal::DELIVERY)
            | on(self.queue, signal::QUEUE)
    }

    /// True if `value` exceeds `limit` by the tolerance.
    fn exceeds(&self, value: u64, limit: u64) -> bool {
        value > limit.saturating_add(self.tolerance.times(limit))
    }
}

/// Last report of the node's lower layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
struct Below {
    /// Average queue in packets with [`RATIO_BITS`] fractional bits.
    queue: u64,
    /// Capacity of the queue, packets.
    room: u32,
    /// True if there was a report.
    known: bool,
    /// Time to transmit the queued packets.
    delay: Span,
    service_rate: Rate,
    base_rtt: Span,
}

/// Congestion avoidance of CoCoA3+.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Cocoa3Plus {
    below: Below,
    /// Stream offset; the round ends when data beyond it is acknowledged.
    round_end: u64,
    /// Start of the round, the bytes delivered before it, and the transmission rate at that time.
    round_began: Time,
    round_delivered: u64,
    round_rate: Rate,
    /// Delivery rate of the last round; zero before the end of the first.
    delivery_rate: Rate,
    /// The signals of the last round, as bits.
    of_round: u8,
    /// All signals as bits.
    signals: u8,
}

const TRACE: &[TraceField] = &[
    TraceField {
        name: "signals",
        unit: "bits: 1 RTT, 2 RTO, 4 rate, 8 delay, 16 bandwidth, 32 delivery, 64 queue",
    },
    TraceField { name: "delivery_bytes_per_s", unit: "B/s" },
    TraceField { name: "average_queue", unit: "1/65536 packets" },
];

impl Cocoa3Plus {
    /// All signals that indicate congestion now, enabled or not: bits of [`signal`].
    pub fn signals(&self) -> u8 {
        self.signals
    }

    fn holds(&self, p: &Params) -> bool {
        p.hold && u64::from((self.signals & p.mask()).count_ones()) >= p.votes
    }

    fn begin_round(&mut self, c: &Conn, rate: Rate) {
        self.round_end = c.next_id;
        self.round_began = c.now;
        self.round_delivered = c.delivered;
        self.round_rate = rate;
    }

    /// Computes the signals of a round that has ended. They hold until the next round ends.
    fn end_round(&mut self, p: &Params, c: &Conn) {
        let took = c.now.since(self.round_began);
        let delivered = c.delivered.saturating_sub(self.round_delivered);
        let rate = if took.0 > 0 { Rate::of(delivered, took) } else { Rate(0) };
        self.of_round = 0;
        if rate.0 > 0 {
            if p.exceeds(self.round_rate.0, rate.0) {
                self.of_round |= signal::RATE;
            }
            if p.exceeds(self.delivery_rate.0, rate.0) {
                self.of_round |= signal::DELIVERY;
            }
            self.delivery_rate = rate;
        }
    }

    /// Signals that do not depend on a round.
    fn at_once(&self, p: &Params, c: &Conn, rate: Rate) -> u8 {
        let b = &self.below;
        let base = if b.known && b.base_rtt.is_known() { b.base_rtt } else { c.min_rtt };
        let mut signals = 0;
        if base.is_known() && c.srtt.is_known() {
            if p.exceeds(c.srtt.0, base.0) {
                signals |= signal::RTT;
            }
            if b.known && b.delay.0 > p.tolerance.times(base.0) {
                signals |= signal::DELAY;
            }
        }
        if b.known && b.service_rate.0 > 0 && p.exceeds(rate.0, b.service_rate.0) {
            signals |= signal::BANDWIDTH;
        }
        if b.known && b.queue > mul(p.queue_share.0, u64::from(b.room)) {
            signals |= signal::QUEUE;
        }
        signals
    }
}

/// Window over SRTT (equation 8, C3-5). Zero before a sample.
fn transmission_rate(c: &Conn, w: &Window) -> Rate {
    if c.srtt.is_known() && c.srtt.0 > 0 { Rate::of(w.cwnd(), c.srtt) } else { Rate(0) }
}

impl CongestionAvoidance for Cocoa3Plus {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "cocoa3plus",
        name: "CoCoA3+",
        origin: "S. Parween and S. Z. Hussain, Cross-Layer based TCP Performance Enhancement in IoT \
            Networks, section IV.B",
        citation: "parween2022cross",
        description: "NewReno's window, as in section V.C.6: it grows in normal transmission and \
            is reduced at a retransmission. With `hold`, the window does not grow during \
            congestion by one of the seven signals of section IV.B. The signals are RTT, expired \
            timer, transmission rate, delay, bandwidth, delivery rate, and queue. The paper names \
            them without a test. Here a value that deviates by a quarter counts, each signal can \
            be turned off, and `votes` is the required number of signals. If growth is also held \
            in slow start, a window of one segment may never grow again. Delay, bandwidth and \
            queue are measured at the node's own station, and give no signal in a network without \
            stations. The rest of CoCoA3+ belongs to the stack: `dupthresh = 2` for its fast \
            retransmit and `rto = { algorithm = \"cmbo\" }` for its timer. With two duplicates, \
            the window in recovery starts at the threshold plus three segments, as with three \
            duplicates.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements {
        recovery: LossRecovery::NewReno,
        cross_layer: true,
        ..Requirements::LOSS_BASED
    };

    fn init(_p: &Params, c: &Conn) -> Cocoa3Plus {
        Cocoa3Plus {
            below: Below {
                queue: 0,
                room: 0,
                known: false,
                delay: Span::ZERO,
                service_rate: Rate(0),
                base_rtt: Span::NONE,
            },
            round_end: c.next_id,
            round_began: c.now,
            round_delivered: c.delivered,
            round_rate: Rate(0),
            delivery_rate: Rate(0),
            of_round: 0,
            signals: 0,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, _a: &Ack, w: &mut Window) {
        let rate = transmission_rate(c, w);
        if c.una > self.round_end {
            self.end_round(p, c);
            // Without a limit by the window, the rate signal has no meaning.
            self.begin_round(c, if c.cwnd_limited() { rate } else { Rate(0) });
        }
        self.signals = self.of_round | self.at_once(p, c, rate);
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if !self.holds(p) {
            w.add_q(additive(c, credit, w.cwnd()));
        }
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, why: CongestionEvent) -> u64 {
        self.of_round = if why == CongestionEvent::Timeout { signal::RTO } else { 0 };
        kept_flight(c, p.keep)
    }

    fn slow_start_gain(&self, p: &Params, _c: &Conn) -> Ratio {
        if p.hold_start && self.holds(p) { Ratio(0) } else { Ratio::ONE }
    }

    /// After a cut the delivery rate falls because the sending rate falls, so the next round has no
    /// reference.
    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        self.begin_round(c, Rate(0));
        self.delivery_rate = Rate(0);
    }

    /// Idle time does not belong to a round.
    fn idle(&mut self, _p: &Params, c: &Conn, _gap: Span) {
        self.begin_round(c, Rate(0));
        self.delivery_rate = Rate(0);
    }

    fn on_cross_layer(&mut self, p: &Params, _c: &Conn, l: &CrossLayer) {
        let length = u64::from(l.queue_len) << RATIO_BITS;
        let weight = Ratio(p.queue_weight.0.min(Ratio::ONE.0));
        let rest = Ratio(Ratio::ONE.0 - weight.0);
        let queue = if self.below.known {
            rest.times(self.below.queue).saturating_add(weight.times(length))
        } else {
            length
        };
        let delay = Span(mul(u64::from(l.queue_len), l.service_time.0));
        self.below = Below {
            queue,
            room: l.queue_limit,
            known: true,
            delay,
            service_rate: l.service_rate,
            base_rtt: l.base_rtt,
        };
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[u64::from(self.signals), self.delivery_rate.0, self.below.queue], sink);
    }
}
