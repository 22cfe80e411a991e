//! ProbeBW: the cycle of pacing gains that probes for more bandwidth and shares it with other flows.

use super::params::PHASES;
use super::policer::Policer;
use super::{Bbr, Mode, Params};
use crate::event::{Ack, Conn};
use crate::params::Ratio;

impl Bbr {
    /// Begins with a random phase except the phase with the low gain, so that flows do not probe in
    /// step.
    pub(super) fn enter_probe_bw(&mut self, c: &Conn) {
        self.mode = Mode::ProbeBw;
        // Uniform over seven phases.
        let drawn = ((u64::from(c.entropy) * u64::from(PHASES - 1)) >> 32) as u8;
        self.cycle = (PHASES - drawn) % PHASES;
        self.cycle_stamp = c.now;
    }

    /// Moves to the next phase if the present phase is over.
    pub(super) fn update_cycle(&mut self, p: &Params, c: &Conn, a: &Ack) {
        if self.mode == Mode::ProbeBw && self.phase_is_over(p, c, a) {
            self.cycle = (self.cycle + 1) % PHASES;
            self.cycle_stamp = c.now;
        }
    }

    /// A phase lasts a round-trip propagation time. Probing continues until the flight has reached its
    /// target or a segment is lost. The phase with the low gain ends as soon as the queue is empty.
    fn phase_is_over(&self, p: &Params, c: &Conn, a: &Ack) -> bool {
        let full_length = c.now.since(self.cycle_stamp) > self.min_rtt;
        let flight = a.prior_in_flight;
        let target = |gain| self.target_flight_at(p, c, self.max_bw(), gain);
        if self.pacing_gain > Ratio::ONE {
            let departing = if p.count_departing { self.quantum(p, c) } else { 0 };
            let flight = flight.saturating_add(departing);
            full_length && (a.lost > 0 || flight >= target(self.pacing_gain))
        } else if self.pacing_gain < Ratio::ONE {
            full_length || flight <= target(Ratio::ONE)
        } else {
            full_length
        }
    }

    /// Searches for a policer, or counts the rounds in which its rate is used.
    pub(super) fn sample_policer(
        &mut self,
        p: &Params,
        c: &Conn,
        lossy: bool,
        limited: bool,
        round: bool,
    ) {
        if !p.policer {
            return;
        }
        if self.policer.rate().is_none() {
            self.policer.sample(p, c, lossy, limited, round);
        } else if self.mode == Mode::ProbeBw && round && self.policer.expires(p) {
            self.policer = Policer::new(c);
            self.enter_probe_bw(c);
        }
    }
}
