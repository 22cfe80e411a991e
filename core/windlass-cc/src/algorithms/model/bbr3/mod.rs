//! BBR version 3 (draft-ietf-ccwg-bbr-06).
//!
//! One file per concern: the model of the path from loss and delivery (`model`), Startup and Drain
//! (`startup`), the four phases of ProbeBW (`probe_bw`), and ProbeRTT (`probe_rtt`). The other files have the
//! window with the pacing rate (`window`), and the undo of a spurious loss (`undo`).

mod model;
mod params;
mod probe_bw;
mod probe_rtt;
mod startup;
mod state;
mod undo;
mod window;

pub use params::Params;
pub use state::State;

use crate::arithmetic::filter::{DeliveredRounds, TwoSlotMax, WindowedMax};
use crate::arithmetic::window::MAX_WINDOW;
use crate::controller::Controller;
use crate::event::{Ack, Conn, Control, Loss, Phase, RateSample, Undo};
use crate::info::{Ecn, Info, Requirements, TraceField};
use crate::params::{Parameters, Ratio};
use crate::recovery::LossRecovery;
use crate::setup::Setup;
use crate::time::{Rate, Span, Time};
use params::is_too_high;
use state::{Saved, UNBOUNDED};

/// State of BBRv3. An unset bound is [`u64::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Bbr3 {
    rounds: DeliveredRounds,
    max_bw: TwoSlotMax,
    /// Maximum over rounds of the bytes acknowledged in excess of the bytes that the bandwidth
    /// explains.
    extra_acked: WindowedMax,
    extra_acked_begin: Time,
    extra_acked_delivered: u64,
    saved: Saved,
    cwnd: u64,
    /// Window before recovery or ProbeRTT reduced it.
    prior_cwnd: u64,
    pacing: Rate,
    /// Minimum of the maximum bandwidth and the short-term bound.
    bw: Rate,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
    /// Maxima of the current round.
    bw_latest: u64,
    inflight_latest: u64,
    /// The round in which losses are counted ends when data sent at this delivery is acknowledged.
    loss_round_end: u64,
    min_rtt: Span,
    min_rtt_stamp: Time,
    probe_rtt_min: Span,
    probe_rtt_stamp: Time,
    /// End of ProbeRTT; never while the flight is still too large.
    probe_rtt_done: Time,
    /// Range of [`Conn::delivered`] in which ProbeRTT limited the sender. Samples of this data count as
    /// limited by the application.
    limited_from: u64,
    limited_until: u64,
    full_bw: Rate,
    pacing_gain: Ratio,
    /// Start of the wait for the next probe, and its length.
    cycle_stamp: Time,
    probe_wait: Span,
    /// Bytes acknowledged at the long-term bound, and the number of bytes that raises it by a segment.
    up_acked: u64,
    up_acked_per_segment: u64,
    /// Bytes delivered when the connection began.
    origin: u64,
    drain_round: u32,
    rounds_since_probe: u32,
    state: State,
    full_bw_count: u8,
    lossy_acks: u8,
    up_rounds: u8,
    /// True if a cycle of probing has ended; the next sample then discards the older bandwidth maximum.
    cycle_ended: bool,
    full_bw_now: bool,
    full_bw_reached: bool,
    loss_in_round: bool,
    loss_round_start: bool,
    /// True if samples belong to a probe that may exceed the path's capacity; false after a sample with
    /// too much loss.
    probe_samples: bool,
    /// True if the last samples of a probe are still outstanding.
    probe_stopping: bool,
    probe_too_high: bool,
    probe_precautionary: bool,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    has_seen_rtt: bool,
}

const TRACE: &[TraceField] = &[
    TraceField {
        name: "state",
        unit: "0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 ProbeRTT",
    },
    TraceField { name: "bw_bytes_per_s", unit: "B/s" },
    TraceField { name: "max_bw_bytes_per_s", unit: "B/s" },
    TraceField { name: "bw_shortterm_bytes_per_s", unit: "B/s" },
    TraceField { name: "inflight_shortterm_bytes", unit: "B" },
    TraceField { name: "inflight_longterm_bytes", unit: "B" },
    TraceField { name: "min_rtt_ns", unit: "ns" },
    TraceField { name: "pacing_gain", unit: "1/65536" },
    TraceField { name: "round", unit: "rounds" },
    TraceField { name: "extra_acked_bytes", unit: "B" },
];

const INFO: &Info = &Info {
    id: "bbr3",
    name: "BBRv3",
    origin: "draft-ietf-ccwg-bbr-06, BBR Congestion Control (version 3)",
    citation: "ietf-ccwg-bbr-06",
    description: "Version 3, from revision 06 of the draft. The model of the path is the maximum \
        delivery rate over two probing cycles, the minimum RTT over ten seconds, and bounds from \
        losses. The long-term bound of the flight is reduced when a probe loses more than 2 % of a \
        round. The short-term bounds of rate and flight are reduced to 0.7, at most once per round \
        while not probing. ProbeBW leaves headroom below the long-term bound, waits two to three \
        seconds or 63 rounds, refills the path for a round, and then probes upwards. ProbeRTT \
        halves the flight for 200 ms every five seconds. The draft leaves some choices open. The \
        loss ranges that end Startup are counted as in Linux, as acknowledgements that detect \
        losses. After idle time the count of aggregated acknowledgements starts again; the draft \
        moves its beginning only. The state to restore after a spurious loss is saved once per recovery, at its \
        first loss. An application limit in ProbeRTT is kept here and not in the host's sampler. \
        The bound of Drain follows the pseudocode (section 5.6.4.7), not the table of section \
        5.6.1. Recovery styles without SACK (tahoe, reno, newreno) treat every loss as too high, \
        as in sections 5.3.1.3 and 5.5.10.2; their window follows the model in recovery too. The \
        host's idle reset and initial ssthresh are ignored, and ECN is ignored too (section 3.7).",
    params: Params::TABLE,
    trace: TRACE,
};

/// Values computed once per acknowledgement.
#[derive(Clone, Copy)]
struct Sample {
    /// True if the acknowledgement delivered data whose sending time is known.
    known: bool,
    /// Delivery rate, zero if unknown.
    rate: u64,
    limited: bool,
    /// True if too large a part of the flight is lost.
    too_high: bool,
}

impl Bbr3 {
    /// Returns the state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Estimate of the bandwidth available to the flow.
    pub fn bandwidth(&self) -> Rate {
        self.bw
    }

    /// Long-term bound of the flight, learned by probing, bytes.
    pub fn inflight_longterm(&self) -> Option<u64> {
        (self.inflight_longterm != UNBOUNDED).then_some(self.inflight_longterm)
    }

    fn sample(&self, p: &Setup<Params>, s: &RateSample) -> Sample {
        let held = (self.limited_from..=self.limited_until).contains(&s.prior_delivered);
        Sample {
            known: s.delivered > 0,
            rate: s.rate().0,
            limited: s.app_limited || held,
            too_high: is_too_high(p, s.lost, s.tx_in_flight),
        }
    }
}

impl Controller for Bbr3 {
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

    fn init(p: &Setup<Params>, c: &Conn) -> Bbr3 {
        let mut bbr = Bbr3 {
            rounds: DeliveredRounds::new(c.delivered),
            max_bw: TwoSlotMax::default(),
            extra_acked: WindowedMax::new(0, 0),
            extra_acked_begin: c.now,
            extra_acked_delivered: 0,
            saved: Saved::default(),
            cwnd: p.initial_window.clamp(u64::from(c.mss.max(1)), MAX_WINDOW),
            prior_cwnd: 0,
            pacing: Rate(0),
            bw: Rate(0),
            bw_shortterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            inflight_longterm: UNBOUNDED,
            bw_latest: 0,
            inflight_latest: 0,
            loss_round_end: c.delivered,
            min_rtt: c.srtt,
            min_rtt_stamp: c.now,
            probe_rtt_min: c.srtt,
            probe_rtt_stamp: c.now,
            probe_rtt_done: Time::NEVER,
            // An empty range.
            limited_from: u64::MAX,
            limited_until: 0,
            full_bw: Rate(0),
            pacing_gain: p.own.startup_pacing_gain,
            cycle_stamp: c.now,
            probe_wait: Span::ZERO,
            up_acked: 0,
            up_acked_per_segment: UNBOUNDED,
            origin: c.delivered,
            drain_round: 0,
            rounds_since_probe: 0,
            state: State::Startup,
            full_bw_count: 0,
            lossy_acks: 0,
            up_rounds: 0,
            cycle_ended: false,
            full_bw_now: false,
            full_bw_reached: false,
            loss_in_round: false,
            loss_round_start: false,
            probe_samples: false,
            probe_stopping: false,
            probe_too_high: false,
            probe_precautionary: false,
            probe_rtt_round_done: false,
            idle_restart: false,
            has_seen_rtt: false,
        };
        bbr.init_pacing(p, c);
        bbr
    }

    /// Section 5.2.3.
    fn on_ack(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack) {
        let s = self.sample(p, &a.rate);
        self.update_signals(p, c, a, s);
        self.update_aggregation(&p.own, c, a);
        self.check_full_bw(&p.own, s);
        self.check_startup(p, c, a, s);
        self.check_drain(p, c);
        self.update_cycle(p, c, a, s);
        let expired = self.update_min_rtt(&p.own, c, a);
        self.check_probe_rtt(p, c, a, expired);
        self.advance_signals(a, s);
        self.bound_bw();
        self.set_pacing(p, c, self.state_gain(&p.own));
        self.set_cwnd(p, c, a);
    }

    fn on_loss(&mut self, p: &Setup<Params>, c: &Conn, l: &Loss) {
        self.handle_loss(p, c, l);
    }

    /// Section 5.6.4.4.
    fn on_phase(&mut self, p: &Setup<Params>, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Loss) => self.after_timeout(c, from),
            (Phase::Open | Phase::Cwr, Phase::Recovery) => {
                self.save_cwnd(from);
                self.save_once();
            }
            (Phase::Recovery | Phase::Loss, Phase::Open | Phase::Cwr) => self.leave_recovery(p, c),
            (Phase::Loss, Phase::Recovery)
            | (Phase::Recovery, Phase::Recovery)
            | (Phase::Open | Phase::Cwr, Phase::Open | Phase::Cwr) => {}
        }
    }

    /// Section 5.5.11.2.
    fn on_undo(&mut self, _p: &Setup<Params>, c: &Conn, _why: Undo) {
        self.restore(c);
    }

    /// Section 5.4.1: paces at the estimated bandwidth.
    fn on_idle_restart(&mut self, p: &Setup<Params>, c: &Conn, _gap: Span, _reset: bool) {
        self.idle_restart = true;
        self.extra_acked_begin = c.now;
        if p.own.restart_aggregation {
            self.extra_acked_delivered = 0;
        }
        if self.state.is_probe_bw() {
            self.set_pacing(p, c, Ratio::ONE);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(&p.own, c);
        }
    }

    fn control(&self, _p: &Setup<Params>, c: &Conn) -> Control {
        let cwnd = self.cwnd.clamp(u64::from(c.mss.max(1)), MAX_WINDOW);
        Control { cwnd, ssthresh: MAX_WINDOW, pacing: self.pacing }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let values = [
            self.state as u64,
            self.bw.0,
            self.max_bw.get(),
            self.bw_shortterm,
            self.inflight_shortterm,
            self.inflight_longterm,
            self.min_rtt.0,
            self.pacing_gain.0,
            u64::from(self.rounds.count()),
            self.extra_acked.get(),
        ];
        for (field, value) in TRACE.iter().zip(values) {
            sink(field, value);
        }
    }
}
