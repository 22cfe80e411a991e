//! Pacing: the time at which the next segment may be sent.

use windlass_cc::pacer;
use windlass_cc::{Flavour, Rate, Time, math};

use crate::endpoint::{Endpoint, Profile};
use crate::stack::Pacing;

/// Linux's `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`, percent.
const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;
const NANOS: u64 = 1_000_000_000;

impl Profile {
    /// Parameters of the pacer.
    pub(in crate::endpoint) fn pacer_params(&self) -> pacer::Params {
        let options = if self.stack.timestamps { 12 } else { 0 };
        let segment = u64::from(self.mss().saturating_sub(options));
        pacer::Params {
            initial_burst: u64::from(self.stack.pacing_burst) * segment,
            quantum: 0,
            credit: self.stack.rules == Flavour::Linux,
        }
    }
}

impl Endpoint {
    /// The pacing rate; zero without pacing.
    #[inline]
    pub fn pacing_rate(&self, p: &Profile) -> Rate {
        match p.stack.pacing {
            Pacing::Off => Rate(0),
            Pacing::Algorithm => self.control.pacing,
            Pacing::Always if self.control.pacing.0 > 0 => self.control.pacing,
            Pacing::Always => self.window_rate(),
        }
    }

    /// cwnd per SRTT, multiplied by Linux's factor for slow start or congestion avoidance.
    fn window_rate(&self) -> Rate {
        let srtt = self.srtt();
        if !srtt.is_known() || srtt.0 == 0 {
            return Rate(0);
        }
        let cwnd = self.control.cwnd.max(self.send.flight_size());
        let slow_start = self.control.cwnd < self.control.ssthresh / 2;
        let percent = if slow_start { SLOW_START_PERCENT } else { AVOIDANCE_PERCENT };
        Rate(math::mul_div(math::mul(cwnd, percent), NANOS / 100, srtt.0).max(1))
    }

    /// True if the next segment must wait for the pacer. The pacing timer is set to the end of the wait.
    pub(in crate::endpoint) fn must_wait(&mut self, p: &Profile, now: Time) -> bool {
        let waits = p.stack.pacing != Pacing::Off && !self.send.pacer.ready(now);
        self.timers.pace = if waits { self.send.pacer.next() } else { Time::NEVER };
        waits
    }

    /// Notes that a segment with this number of payload bytes is sent.
    #[inline]
    pub(in crate::endpoint) fn pace(&mut self, p: &Profile, now: Time, bytes: u64) {
        let rate = self.pacing_rate(p);
        if rate.0 > 0 {
            self.send.pacer.on_sent(&p.pacer_params(), now, bytes, rate);
        }
    }
}
