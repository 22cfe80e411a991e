//! Veno: Reno that distinguishes random losses from congestion by its queued segments.

use crate::arithmetic::math::{divisor, mul, mul_div};
use crate::arithmetic::round::{BaseRtt, Round, backlog};
use crate::arithmetic::window::{Window, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::choice! {
    /// Implementation of Veno.
    pub enum Variant {
        /// The paper: the minimum RTT of each round gives the backlog.
        Paper = "paper",
        /// Linux (`tcp_veno_cong_avoid`). The samples since the last growth give the backlog, from the
        /// third sample of the connection on. Without a sample the path counts as congested. During
        /// congestion the window grows by one segment after every second window of counted segments.
        /// The backlog is rounded up to half segments. A timeout or a mark has the same cut as a loss.
        Linux = "linux",
    }
}

crate::parameters! {
    /// Parameters of Veno.
    pub struct Params {
        /// Number of queued segments from which the path counts as congested.
        beta: u64 = 3,
            ParamKind::Segments { min: 1, max: 1000 },
            "Fu and Liew 2003 (beta = 3)";
        /// Fraction of the flight that is kept at a random loss.
        keep: Ratio = Ratio::of(4, 5),
            ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::ONE },
            "Fu and Liew 2003 (4/5)";
        /// RTT samples that a round needs for an estimate of the queue: fewer samples may all come
        /// from delayed acknowledgements.
        min_samples: u64 = 3,
            ParamKind::Count { min: 1, max: 100 },
            "Linux tcp_veno, ns-3 TcpVeno";
        /// Implementation of the point in which paper and kernel differ: the samples that estimate
        /// the queue.
        variant: Variant = Variant::Paper, Variant::KIND,
            "Fu and Liew 2003; Linux tcp_veno";
    }
}

/// Congestion avoidance of Veno.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Veno {
    round: Round,
    /// Bytes queued according to the last round with an estimate.
    queued: u64,
    /// True if any round has given an estimate of the queue.
    measured: bool,
    /// True if the last round has given an estimate.
    fresh: bool,
    /// Variant linux: true if the window grows by a segment after the present window of counted
    /// segments.
    due: bool,
    /// Variant linux: number of samples so far, counted only up to the limit that matters.
    samples: u8,
    /// Variant linux: segments counted while congested.
    counted: u32,
    /// Variant linux: the base RTT.
    base: BaseRtt,
}

const TRACE: &[TraceField] = &[TraceField { name: "queued_B", unit: "B" }];

impl Veno {
    fn congested(&self, p: &Params, c: &Conn) -> bool {
        self.queued >= mul(p.beta, u64::from(c.mss))
    }

    /// Variant linux: computes the backlog from the minimum sample since the last growth, rounded up to
    /// half segments. Without a sample the backlog is the whole window.
    fn judge(&mut self, c: &Conn, least: Span, w: &Window) {
        let mss = u64::from(c.mss);
        let halves = mul(2, w.whole_segments(c));
        let base = self.base.or_least(true, c);
        let queued = match least.is_known() && base.is_known() {
            true => halves - mul_div(halves, base.0.min(least.0), least.0.max(1)).min(halves),
            false => halves,
        };
        self.queued = mul(queued, mss) / 2;
        self.measured = true;
    }

    /// Variant linux: estimates the queue from the samples since the last growth, and grows by whole
    /// segments.
    fn avoid_as_linux(&mut self, p: &Params, c: &Conn, credit: u64, w: &mut Window) {
        let least = self.round.take_min();
        let cwnd = w.whole_segments(c);
        if u64::from(self.samples) < p.min_samples {
            self.counted = w.add_counted(c, self.counted, credit, cwnd);
            return;
        }
        self.judge(c, least, w);
        if !self.congested(p, c) {
            self.counted = w.add_counted(c, self.counted, credit, cwnd);
            return;
        }
        let mss = divisor(c.mss.into());
        if u64::from(self.counted) < cwnd {
            let segments = (credit / mss).min(u64::from(u32::MAX)) as u32;
            self.counted = self.counted.saturating_add(segments.max(1));
            return;
        }
        if self.due {
            w.add(c.mss.into());
        }
        (self.counted, self.due) = (0, !self.due);
    }
}

impl CongestionAvoidance for Veno {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "veno",
        name: "Veno",
        origin: "C. P. Fu and S. C. Liew, TCP Veno: TCP enhancement for transmission over wireless \
            access networks, IEEE JSAC 21(2), 2003",
        citation: "fu2003veno",
        description: "Reno that estimates the number of its queued segments as Vegas does, from \
            the minimum RTT of each round. With beta or more queued segments, the window grows \
            half as fast: each acknowledgement counts half, while the paper counts every other \
            acknowledgement. With fewer queued segments, a loss counts as random, and 4/5 of the \
            flight is kept. Deviations: a timeout and a mark always halve, and so does a loss \
            before the first estimate. The cut is relative to the flight (RFC 5681), not to the \
            window. A round with fewer than three samples grows as in Reno, which is also Linux's \
            behaviour. ns-3's TcpVeno discards its samples at each increase, and so nearly always \
            grows as Reno.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux(
            "variant",
            Variant::Linux as u64,
            "`tcp_veno_cong_avoid` resets the minimum RTT at every acknowledgement, and keeps the \
            number of samples",
        ),
        Departure::ns3_per_ack(
            "`TcpVeno::IncreaseWindow` counts every acknowledgement as one segment",
        ),
    ];

    fn init(_p: &Params, c: &Conn) -> Veno {
        Veno {
            round: Round::new(c),
            queued: 0,
            measured: false,
            fresh: false,
            due: true,
            samples: 0,
            counted: 0,
            base: BaseRtt::NONE,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        if p.variant == Variant::Linux {
            self.round.sample(a);
            self.base.sample(a);
            self.samples = self.samples.saturating_add(u8::from(a.rtt.is_known()));
            let enough = u64::from(self.samples) >= p.min_samples && a.acked > 0;
            if w.in_slow_start() && enough && c.phase != Phase::Recovery && c.cwnd_limited() {
                let least = self.round.take_min();
                self.judge(c, least, w);
            }
            return;
        }
        if let Some(rtt) = self.round.observe(c, a) {
            self.fresh = u64::from(rtt.samples) >= p.min_samples && c.min_rtt.is_known();
            if self.fresh {
                self.measured = true;
                self.queued = backlog(w.cwnd(), c.min_rtt, rtt.min);
            }
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if p.variant == Variant::Linux {
            self.avoid_as_linux(p, c, credit, w);
            return;
        }
        let step = additive(c, credit, w.cwnd());
        w.add_q(if self.fresh && self.congested(p, c) { step / 2 } else { step });
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, why: CongestionEvent) -> u64 {
        let random = self.measured && !self.congested(p, c);
        match why {
            // In variant linux this includes timeouts and marks, and a queue without an estimate counts
            // as random loss.
            _ if p.variant == Variant::Linux && !self.congested(p, c) => {
                p.keep.times(c.flight_size).max(2 * u64::from(c.mss))
            }
            CongestionEvent::Loss if random => {
                p.keep.times(c.flight_size).max(2 * u64::from(c.mss))
            }
            _ => half_flight(c),
        }
    }

    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        self.round.begin(c);
        self.fresh = false;
        self.counted = 0;
    }

    fn idle(&mut self, p: &Params, c: &Conn, _gap: Span) {
        if p.variant == Variant::Linux {
            self.round.begin(c);
            self.base = BaseRtt::NONE;
            self.due = true;
        }
    }

    fn on_mss(&mut self, _p: &Params, c: &Conn, old: u32) {
        self.queued = resized(c, old, self.queued);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.queued], sink);
    }
}
