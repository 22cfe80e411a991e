//! Westwood+: Reno whose cut leaves the measured bandwidth-delay product.

use crate::arithmetic::math::{divisor, mul, mul_div};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField};
use crate::params::Parameters;
use crate::time::{Span, Time};

crate::choice! {
    /// Smoothing of the delivery rate samples.
    pub enum Filter {
        /// `0.9·bw + 0.1·(sample + last sample)/2`, the discretised low-pass filter of the paper.
        Tustin = "tustin",
        /// Two averages in series, each with weight 1/8 for a new value.
        Cascade = "cascade",
    }
}

crate::choice! {
    /// Time at which a loss sets the window to the measured bandwidth-delay product.
    pub enum Moment {
        /// At the detection of the loss.
        Loss = "loss",
        /// At the end of the repair; until then the threshold is Reno's.
        Repair = "repair",
    }
}

crate::parameters! {
    /// Parameters of Westwood+.
    pub struct Params {
        /// Filter of the bandwidth estimate: the filter of the paper and ns-3 (tustin), or Linux's
        /// two averages in series (cascade).
        filter: Filter = Filter::Tustin,
            Filter::KIND,
            "Grieco and Mascolo 2004; Linux tcp_westwood";
        /// Minimum duration of a sample, which is otherwise an RTT. Linux has 50 ms.
        min_interval: Span = Span::ZERO,
            crate::params::ParamKind::Time { min: Span::ZERO, max: Span::from_secs(1) },
            "Grieco and Mascolo 2004: none; Linux tcp_westwood: 50 ms";
        /// Time at which a loss that fast recovery repairs sets threshold and window to the path's
        /// capacity. It is immediate, or at the end of recovery, which until then uses half the
        /// flight.
        moment: Moment = Moment::Loss,
            Moment::KIND,
            "Grieco and Mascolo 2004; Linux tcp_westwood_event, CA_EVENT_COMPLETE_CWR (repair)";
        /// Measure in whole periods of this clock. RTTs are rounded up, and the duration of a
        /// sample and `min_interval` are cut. A sample excludes the acknowledgement that ends it.
        /// Rates are in whole bytes per period, and the threshold is in whole segments. Zero uses
        /// the host's resolution.
        clock: Span = Span::ZERO,
            crate::params::ParamKind::Time { min: Span::ZERO, max: Span::from_millis(100) },
            "Linux tcp_westwood: jiffies, CONFIG_HZ (4 ms in Debian's kernels)";
    }
}

const SECOND: u64 = 1_000_000_000;

/// Congestion avoidance of Reno with a bandwidth estimate. Rates are bytes per second; with a `clock`,
/// bytes per period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Westwood {
    /// Start of the present sample.
    since: Time,
    /// Bytes delivered since `since`.
    delivered: u64,
    /// Tustin: the last sample. Cascade: the output of the first average.
    stage: u64,
    /// The bandwidth estimate.
    bandwidth: u64,
    /// True after the first sample.
    measured: bool,
}

const TRACE: &[TraceField] = &[TraceField { name: "bandwidth_Bps", unit: "B/s" }];

impl Westwood {
    /// Bandwidth-delay product in bytes, at least two segments; `None` before the first sample.
    fn pipe(&self, p: &Params, c: &Conn) -> Option<u64> {
        if !self.measured || !c.min_rtt.is_known() {
            return None;
        }
        let pipe = if p.clock == Span::ZERO {
            mul_div(self.bandwidth, c.min_rtt.0, SECOND)
        } else {
            let bytes = mul(self.bandwidth, periods_up(p, c.min_rtt));
            bytes - bytes % divisor(c.mss.into())
        };
        Some(pipe.max(2 * u64::from(c.mss)))
    }

    /// With a `clock`: the acknowledgement that ends a sample counts in the next sample.
    fn observe_clocked(&mut self, p: &Params, c: &Conn, a: &Ack) {
        let rtt = if a.rtt.is_known() { a.rtt } else { c.srtt };
        let clock = divisor(p.clock.0);
        let elapsed = (c.now.0 / clock).saturating_sub(self.since.0 / clock);
        let least = p.min_interval.0 / clock;
        if rtt.is_known() && elapsed > periods_up(p, rtt).max(least) {
            self.sample(p, self.delivered / divisor(elapsed));
            (self.since, self.delivered) = (c.now, 0);
        }
        self.delivered = self.delivered.saturating_add(a.delivered);
    }

    fn sample(&mut self, p: &Params, rate: u64) {
        if !self.measured {
            (self.stage, self.bandwidth, self.measured) = (rate, rate, true);
            return;
        }
        match p.filter {
            Filter::Tustin => {
                let mean = midpoint(rate, self.stage);
                self.bandwidth = toward(self.bandwidth, mean, 10);
                self.stage = rate;
            }
            Filter::Cascade if p.clock == Span::ZERO => {
                self.stage = toward(self.stage, rate, 8);
                self.bandwidth = toward(self.bandwidth, self.stage, 8);
            }
            Filter::Cascade => {
                // Cut to a whole number at the same points as in the kernel.
                self.stage = mul(7, self.stage).saturating_add(rate) >> 3;
                self.bandwidth = mul(7, self.bandwidth).saturating_add(self.stage) >> 3;
            }
        }
    }
}

/// A time in whole periods of the clock, rounded up.
fn periods_up(p: &Params, time: Span) -> u64 {
    let clock = divisor(p.clock.0);
    time.0.saturating_add(clock.get() - 1) / clock
}

/// The mean of two numbers without overflow.
fn midpoint(a: u64, b: u64) -> u64 {
    a.min(b) + a.abs_diff(b) / 2
}

/// `old + (new - old)/parts`.
fn toward(old: u64, new: u64, parts: u64) -> u64 {
    let step = old.abs_diff(new) / parts.max(1);
    if new > old { old + step } else { old - step }
}

impl CongestionAvoidance for Westwood {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "westwood",
        name: "Westwood+",
        origin: "L. A. Grieco and S. Mascolo, Performance evaluation and comparison of Westwood+, \
            New Reno, and Vegas TCP congestion control, ACM SIGCOMM CCR 34(2), 2004",
        citation: "grieco2004westwood",
        description: "Reno with an estimate of the bandwidth: the bytes acknowledged cumulatively \
            or selectively per RTT, through a low-pass filter. A loss, a timeout or a mark sets \
            the threshold to this bandwidth times the minimum RTT, so that the path stays full \
            after a random loss. Deviations: the first sample is used unfiltered. The threshold of \
            a recovery is at most the window in which the loss occurred. Before the first sample, \
            a loss leaves half the flight, as in Reno. Idle time is not measured.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("filter", Filter::Cascade as u64, "`westwood_do_filter` averages twice"),
        Departure::linux("min_interval", Span::from_millis(50).0, "`TCP_WESTWOOD_RTT_MIN`"),
        Departure::linux(
            "clock",
            Span::from_millis(4).0,
            "`usecs_to_jiffies` rounds RTTs up, `westwood_update_window` compares jiffies before \
            it counts the acknowledged bytes, and `tcp_westwood_bw_rttmin` is in whole segments",
        ),
        Departure::linux(
            "moment",
            Moment::Repair as u64,
            "`tcp_westwood_event` sets the window at `CA_EVENT_COMPLETE_CWR`",
        ),
        Departure::ns3_per_ack("`TcpWestwoodPlus` counts every acknowledgement as one segment"),
    ];

    fn init(_p: &Params, c: &Conn) -> Westwood {
        Westwood { since: c.now, delivered: 0, stage: 0, bandwidth: 0, measured: false }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, _w: &mut Window) {
        if p.clock > Span::ZERO {
            self.observe_clocked(p, c, a);
            return;
        }
        self.delivered = self.delivered.saturating_add(a.delivered);
        let rtt = if a.rtt.is_known() { a.rtt } else { c.srtt };
        let elapsed = c.now.since(self.since);
        if !rtt.is_known() || elapsed.0 == 0 || elapsed < rtt.max(p.min_interval) {
            return;
        }
        self.sample(p, mul_div(self.delivered, SECOND, elapsed.0));
        (self.since, self.delivered) = (c.now, 0);
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add_q(additive(c, credit, w.cwnd()));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        match (self.pipe(p, c), why) {
            (None, _) => half_flight(c),
            (Some(_), CongestionEvent::Loss) if p.moment == Moment::Repair => half_flight(c),
            (Some(pipe), CongestionEvent::Loss | CongestionEvent::Ecn) => {
                pipe.min(w.cwnd()).max(2 * u64::from(c.mss))
            }
            (Some(pipe), CongestionEvent::Timeout) => pipe,
        }
    }

    fn restart(&mut self, p: &Params, c: &Conn, w: &mut Window) {
        if let (Moment::Repair, Phase::Open, Some(pipe)) = (p.moment, c.phase, self.pipe(p, c)) {
            w.set_ssthresh(pipe);
            w.set(c, pipe);
        }
    }

    fn idle(&mut self, _p: &Params, c: &Conn, _gap: Span) {
        (self.since, self.delivered) = (c.now, 0);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        crate::info::show(TRACE, &[self.bandwidth], sink);
    }
}
