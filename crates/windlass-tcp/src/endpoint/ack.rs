//! Acknowledgements, loss detection and the retransmission timer.

use windlass_cc::recovery::Style;
use windlass_cc::{Ack, Phase, RtoEstimator, Span, Time, flags};

use super::{Endpoint, Failure, Profile, State};
use crate::segment::{Flags, Segment};

impl Endpoint {
    fn style(&self, p: &Profile) -> Style {
        p.stack.recovery.unwrap_or(self.cc.info().recovery)
    }

    /// The acknowledgement and window of a segment that starts at offset `start`.
    pub(super) fn on_ack(&mut self, p: &Profile, now: Time, ack: u64, start: u64, s: &Segment) {
        if ack > self.snd_max {
            self.ack_now = true;
            return;
        }
        let window = u64::from(s.window) << self.snd_scale;
        if ack > self.snd_una {
            self.update_window(start, ack, window);
            self.on_new_ack(p, now, ack, s);
            return;
        }
        // RFC 5681 section 2, the definition of a duplicate acknowledgement.
        let duplicate = ack == self.snd_una
            && s.len == 0
            && !s.flags.has(Flags::FIN)
            && window == self.snd_wnd
            && self.snd_nxt > self.snd_una;
        self.update_window(start, ack, window);
        if duplicate {
            self.on_duplicate_ack(p, now);
        }
    }

    /// RFC 9293's window update rule: only newer segments move the window.
    fn update_window(&mut self, start: u64, ack: u64, window: u64) {
        let newer = self.snd_wl1 < start || (self.snd_wl1 == start && self.snd_wl2 <= ack);
        if ack < self.snd_una || !newer {
            return;
        }
        if window > self.snd_wnd {
            self.persist_deadline = Time::NEVER;
            self.persist_shift = 0;
        }
        self.snd_wnd = window;
        self.max_snd_wnd = self.max_snd_wnd.max(window);
        self.snd_wl1 = start;
        self.snd_wl2 = ack;
    }

    fn on_new_ack(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment) {
        let prior_in_flight = self.in_flight();
        let acked = ack - self.snd_una;
        let rtt = self.rtt_sample(now, ack, s);
        if rtt.is_known() {
            self.take_rtt_sample(p, rtt);
        }
        self.snd_una = ack;
        self.snd_nxt = self.snd_nxt.max(ack);
        self.retries = 0;
        self.dup_acks = 0;
        self.persist_shift = 0;

        let limits = self.limits(p, prior_in_flight);
        let conn = self.conn(now, limits);
        let event = Ack { acked, prior_in_flight, rtt, duplicate: false };
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);

        let restart_timer = self.follow_recovery(p, now, ack);
        // RFC 6298 rules 5.2 and 5.3.
        if self.snd_una == self.snd_max {
            self.rto_deadline = Time::NEVER;
        } else if restart_timer {
            self.arm_rto(p, now);
        }
    }

    /// Moves recovery along after a new acknowledgement; returns whether the timer restarts.
    fn follow_recovery(&mut self, p: &Profile, now: Time, ack: u64) -> bool {
        match self.phase {
            Phase::Open => true,
            Phase::Loss => {
                if ack >= self.recover {
                    self.set_phase(p, now, Phase::Open);
                }
                true
            }
            Phase::Recovery if self.style(p) == Style::NewReno && ack < self.recover => {
                // RFC 6582 section 3.2 step 3: the next hole; only the first restarts the timer.
                self.retransmit_first = true;
                self.partial_acks += 1;
                self.partial_acks == 1
            }
            Phase::Recovery => {
                self.set_phase(p, now, Phase::Open);
                true
            }
        }
    }

    /// What limits the sender, as the controller is to see it.
    fn limits(&self, p: &Profile, prior_in_flight: u64) -> u32 {
        if !p.stack.window_validation {
            return flags::CWND_LIMITED;
        }
        // RFC 7661's validated phase, judged by the flight that this acknowledgement met. In slow
        // start half a window suffices, since the window doubles before the flight can.
        let cwnd = self.control.cwnd;
        let full = prior_in_flight + u64::from(self.mss) > cwnd;
        let slow_start = cwnd < self.control.ssthresh && 2 * prior_in_flight >= cwnd;
        if full || slow_start {
            flags::CWND_LIMITED
        } else if prior_in_flight + u64::from(self.mss) > self.snd_wnd {
            flags::RWND_LIMITED
        } else {
            flags::APP_LIMITED
        }
    }

    fn on_duplicate_ack(&mut self, p: &Profile, now: Time) {
        self.dup_acks += 1;
        self.stats.dup_acks += 1;
        let conn = self.conn(now, flags::CWND_LIMITED);
        let event = Ack { prior_in_flight: conn.in_flight, duplicate: true, ..Ack::default() };
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);
        if self.phase == Phase::Open
            && p.stack.fast_retransmit
            && self.dup_acks == p.stack.dupthresh
        {
            self.enter_recovery(p, now);
        }
    }

    fn enter_recovery(&mut self, p: &Profile, now: Time) {
        self.stats.fast_retransmits += 1;
        self.recover = self.snd_max;
        self.partial_acks = 0;
        if self.style(p) == Style::Tahoe {
            self.set_phase(p, now, Phase::Loss);
            self.go_back();
        } else {
            self.set_phase(p, now, Phase::Recovery);
            self.retransmit_first = true;
        }
        self.arm_rto(p, now);
    }

    /// Everything unacknowledged is taken as lost and sent again from the start.
    fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
        self.dup_acks = 0;
        self.retransmit_first = false;
        self.timed_at = Time::NEVER;
    }

    /// The retransmission timer expired (RFC 6298 rules 5.4 to 5.6).
    pub(super) fn on_retransmission_timeout(&mut self, p: &Profile, now: Time) {
        self.stats.rto_count += 1;
        self.retries += 1;
        let handshake = matches!(self.state, State::SynSent | State::SynReceived);
        let limit = if handshake { p.stack.max_syn_retries } else { p.stack.max_data_retries };
        if self.retries > limit {
            let why = if handshake { Failure::ConnectTimeout } else { Failure::DataTimeout };
            self.reset_pending = !handshake;
            self.fail(why);
            return;
        }
        self.rto.on_timeout(&p.stack.rto);
        if handshake {
            self.syn_retransmitted = true;
            self.snd_nxt = 0;
        } else {
            // A timeout of other data than the last timeout's is a new loss (RFC 5681 equation 4).
            if self.phase == Phase::Loss && self.retries == 1 {
                self.set_phase(p, now, Phase::Open);
            }
            self.recover = self.snd_max;
            self.set_phase(p, now, Phase::Loss);
            self.go_back();
        }
        self.arm_rto(p, now);
    }

    /// The RTT that this acknowledgement shows, if Karn's rule lets one be read from it.
    fn rtt_sample(&mut self, now: Time, ack: u64, s: &Segment) -> Span {
        if !self.timed_at.is_never() && ack >= self.timed_end {
            let sample = now.since(self.timed_at);
            self.timed_at = Time::NEVER;
            return sample;
        }
        match s.options.timestamps {
            // Timestamps tell a retransmission from the original, but only to a millisecond: they
            // serve where no exact time could be kept.
            Some(t) if self.timestamps && self.timed_at.is_never() && t.echo != 0 => {
                let ms = Endpoint::timestamp(now).wrapping_sub(t.echo);
                Span::from_millis(u64::from(ms))
            }
            _ => Span::NONE,
        }
    }

    pub(super) fn take_rtt_sample(&mut self, p: &Profile, rtt: Span) {
        self.rto.on_sample(&p.stack.rto, rtt);
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// The timestamp clock: milliseconds, never zero.
    pub(super) fn timestamp(now: Time) -> u32 {
        ((now.0 / 1_000_000) as u32).wrapping_add(1)
    }
}
