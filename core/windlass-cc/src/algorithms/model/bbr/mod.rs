//! BBR version 1 (Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson 2016), as Linux runs it.
//!
//! One file per concern: the bandwidth estimate with Startup and Drain (`startup`), the gain cycle
//! (`probe_bw`), the round-trip estimate and ProbeRTT (`probe_rtt`), acknowledgement aggregation
//! (`aggregation`), policers (`policer`), and the window with the pacing rate (`window`).

mod aggregation;
mod params;
mod policer;
mod probe_bw;
mod probe_rtt;
mod startup;
mod window;

pub use params::Params;

use crate::arithmetic::filter::{DeliveredRounds, WindowedMax};
use crate::arithmetic::window::MAX_WINDOW;
use crate::controller::Controller;
use crate::event::{Ack, Conn, Control, Phase, RateSample, Undo};
use crate::flavour::Departure;
use crate::info::{Ecn, Info, Requirements, TraceField};
use crate::params::{Parameters, Ratio};
use crate::recovery::LossRecovery;
use crate::setup::Setup;
use crate::time::{Rate, Span, Time};
use aggregation::Aggregation;
use params::PROBE;
use policer::Policer;

/// State of the state machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Doubling the rate each round to find the bandwidth.
    Startup,
    /// Draining the queue that Startup filled.
    Drain,
    /// Cycling the pacing gain.
    ProbeBw,
    /// Minimum flight, to measure the round-trip propagation time.
    ProbeRtt,
}

/// State of BBRv1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Bbr {
    /// Maximum of the delivery rate over rounds, bytes per second.
    max_bw: WindowedMax,
    rounds: DeliveredRounds,
    aggregation: Aggregation,
    policer: Policer,
    cwnd: u64,
    /// Window before recovery or ProbeRTT reduced it.
    prior_cwnd: u64,
    pacing: Rate,
    min_rtt: Span,
    min_rtt_stamp: Time,
    /// End of ProbeRTT; never while the flight is still too large.
    probe_rtt_done: Time,
    /// Range of [`Conn::delivered`] in which ProbeRTT limited the sender. Samples of this data count as
    /// limited by the application.
    limited_from: u64,
    limited_until: u64,
    /// Start of the current phase of the gain cycle.
    cycle_stamp: Time,
    /// Reference bandwidth for the growth in Startup.
    full_bw: Rate,
    pacing_gain: Ratio,
    cwnd_gain: Ratio,
    /// Bytes delivered when the connection began.
    origin: u64,
    /// Bytes that the latest acknowledgement delivered.
    delivered: u32,
    mode: Mode,
    cycle: u8,
    full_bw_rounds: u8,
    full_bw_reached: bool,
    /// First round of recovery: each delivered byte allows one byte to be sent.
    conserving: bool,
    idle_restart: bool,
    probe_rtt_round_done: bool,
    has_seen_rtt: bool,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "mode", unit: "0 Startup, 1 Drain, 2 ProbeBW, 3 ProbeRTT" },
    TraceField { name: "bw_bytes_per_s", unit: "B/s" },
    TraceField { name: "min_rtt_ns", unit: "ns" },
    TraceField { name: "pacing_gain", unit: "1/65536" },
    TraceField { name: "cwnd_gain", unit: "1/65536" },
    TraceField { name: "round", unit: "rounds" },
    TraceField { name: "full_bw_bytes_per_s", unit: "B/s" },
    TraceField { name: "extra_acked_bytes", unit: "B" },
    TraceField { name: "policed", unit: "0 or 1" },
];

const INFO: &Info = &Info {
    id: "bbr",
    name: "BBR",
    origin: "N. Cardwell, Y. Cheng, C. S. Gunn, S. Hassas Yeganeh, V. Jacobson, BBR: \
        Congestion-Based Congestion Control, ACM Queue 14(5), 2016; Linux tcp_bbr.c",
    citation: "cardwell2016bbr",
    description: "Version 1. The model of the path is the maximum delivery rate over ten rounds \
        and the minimum RTT over ten seconds. BBR paces at a gain times this rate, and caps the \
        flight at a gain times the product of rate and RTT. Startup doubles the rate until three \
        rounds increase it by less than a quarter. Drain empties the queue. ProbeBW cycles the \
        pacing gain. ProbeRTT cuts the flight to four segments for 200 ms if no lower RTT was \
        measured for ten seconds. Loss does not reduce the rate. The first round of recovery \
        conserves packets, then the window grows again, and the end of recovery restores it. Like \
        Linux, it has three features that the paper does not have: a pacing margin of 1 %, an \
        allowance for aggregated acknowledgements, and detection of token-bucket policers. Each of \
        them can be turned off. There are three deviations from Linux. It counts bytes instead of \
        segments. It does not correct the flight for segments that wait in the pacing layer. It \
        tracks RTT samples without Linux's filter of delayed acknowledgements. The host's idle \
        reset and initial ssthresh are ignored, as in Linux, and ECN is ignored too. Without SACK, \
        the window in recovery is the flight plus the data of a duplicate acknowledgement, so that \
        each duplicate sends one segment.",
    params: Params::TABLE,
    trace: TRACE,
};

impl Bbr {
    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// True if the flow sends above its estimate to test for more bandwidth.
    pub fn is_probing(&self) -> bool {
        self.mode == Mode::Startup || self.mode == Mode::ProbeBw && self.cycle == PROBE
    }

    /// Estimate of the bandwidth available to the flow; with a detected policer, the policer's rate.
    pub fn bandwidth(&self) -> Rate {
        self.policer.rate().unwrap_or(self.max_bw())
    }

    /// Maximum of the recent delivery rate.
    fn max_bw(&self) -> Rate {
        Rate(self.max_bw.get())
    }

    /// Sets the pacing gain, the factor on the bandwidth, and the window gain, the factor on the
    /// bandwidth-delay product.
    fn update_gains(&mut self, p: &Params) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (p.startup_gain, p.startup_gain),
            Mode::Drain => (p.drain_gain, p.startup_gain),
            Mode::ProbeBw if self.policer.rate().is_some() => (Ratio::ONE, p.cwnd_gain),
            Mode::ProbeBw => (p.phase_gain(self.cycle), p.cwnd_gain),
            Mode::ProbeRtt => (Ratio::ONE, Ratio::ONE),
        };
    }

    /// True if a sample may be below the bandwidth because the application or ProbeRTT limited the
    /// sender.
    fn is_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited
            || (self.limited_from..=self.limited_until).contains(&sample.prior_delivered)
    }

    /// Saves the window, without the reduction of recovery or ProbeRTT.
    fn save_cwnd(&mut self, phase: Phase) {
        let cut = matches!(phase, Phase::Recovery | Phase::Loss) || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn reset_mode(&mut self, c: &Conn) {
        if self.full_bw_reached {
            self.enter_probe_bw(c);
        } else {
            self.mode = Mode::Startup;
        }
    }
}

impl Controller for Bbr {
    type Params = Setup<Params>;
    const INFO: &'static Info = INFO;
    const REQUIREMENTS: Requirements = Requirements {
        recovery: LossRecovery::Prr,
        slow_start: None,
        rate_samples: true,
        ecn: Ecn::None,
        l4s: false,
        cross_layer: false,
    };
    const FLAVOURS: &'static [Departure] = &[Departure::linux(
        "count_departing",
        1,
        "`bbr_packets_in_net_at_edt` adds `bbr_tso_segs_goal` while it probes",
    )];

    fn init(p: &Setup<Params>, c: &Conn) -> Bbr {
        let mut bbr = Bbr {
            max_bw: WindowedMax::new(0, 0),
            rounds: DeliveredRounds::new(c.delivered),
            aggregation: Aggregation::new(c),
            policer: Policer::new(c),
            cwnd: p.initial_window.clamp(u64::from(c.mss.max(1)), MAX_WINDOW),
            prior_cwnd: 0,
            pacing: Rate(0),
            min_rtt: c.min_rtt,
            min_rtt_stamp: c.now,
            probe_rtt_done: Time::NEVER,
            // An empty range.
            limited_from: u64::MAX,
            limited_until: 0,
            cycle_stamp: c.now,
            full_bw: Rate(0),
            pacing_gain: p.own.startup_gain,
            cwnd_gain: p.own.startup_gain,
            origin: c.delivered,
            delivered: 0,
            mode: Mode::Startup,
            cycle: 0,
            full_bw_rounds: 0,
            full_bw_reached: false,
            conserving: false,
            idle_restart: false,
            probe_rtt_round_done: false,
            has_seen_rtt: false,
        };
        bbr.init_pacing(&p.own, c);
        bbr
    }

    fn on_ack(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack) {
        self.delivered = a.delivered.min(u64::from(u32::MAX)) as u32;
        self.update_bandwidth(&p.own, c, a);
        self.update_aggregation(&p.own, c, a);
        self.update_cycle(&p.own, c, a);
        self.check_full_pipe(&p.own, a);
        self.check_drain(&p.own, c);
        self.update_min_rtt(&p.own, c, a);
        self.update_gains(&p.own);
        self.set_pacing(&p.own, c, self.pacing_gain);
        self.set_cwnd(p, c, a);
    }

    fn on_phase(&mut self, p: &Setup<Params>, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Loss) => self.after_timeout(&p.own, c, from),
            (Phase::Open | Phase::Cwr, Phase::Recovery) => self.enter_recovery(c, from),
            (Phase::Recovery | Phase::Loss, Phase::Open | Phase::Cwr) => self.leave_recovery(p, c),
            (Phase::Loss, Phase::Recovery)
            | (Phase::Recovery, Phase::Recovery)
            | (Phase::Open | Phase::Cwr, Phase::Open | Phase::Cwr) => {}
        }
    }

    /// Linux's `undo_cwnd`: restarts the search for the full pipe and for policers. The change of the
    /// phase restores the window.
    fn on_undo(&mut self, _p: &Setup<Params>, c: &Conn, _why: Undo) {
        self.full_bw = Rate(0);
        self.full_bw_rounds = 0;
        self.policer = Policer::new(c);
    }

    /// Paces at the estimated bandwidth, because there is nothing to probe for (section "Sharing the
    /// network", Linux's `CA_EVENT_TX_START`). The stack's reduction of the window after idle time does
    /// not apply.
    fn on_idle_restart(&mut self, p: &Setup<Params>, c: &Conn, _gap: Span, _reset: bool) {
        self.idle_restart = true;
        self.aggregation.restart(c);
        match self.mode {
            Mode::ProbeBw => self.set_pacing(&p.own, c, Ratio::ONE),
            Mode::ProbeRtt => self.check_probe_rtt_done(c),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn control(&self, _p: &Setup<Params>, c: &Conn) -> Control {
        let cwnd = self.cwnd.clamp(u64::from(c.mss.max(1)), MAX_WINDOW);
        Control { cwnd, ssthresh: MAX_WINDOW, pacing: self.pacing }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let values = [
            self.mode as u64,
            self.bandwidth().0,
            self.min_rtt.0,
            self.pacing_gain.0,
            self.cwnd_gain.0,
            u64::from(self.rounds.count()),
            self.full_bw.0,
            self.aggregation.max(),
            u64::from(self.policer.rate().is_some()),
        ];
        for (field, value) in TRACE.iter().zip(values) {
            sink(field, value);
        }
    }
}
