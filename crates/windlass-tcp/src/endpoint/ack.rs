//! Acknowledgements, loss detection and the retransmission timer.

use windlass_cc::recovery::Style;
use windlass_cc::{Ack, Phase, Span, Time, flags};

use super::{Endpoint, Profile};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// The acknowledgement and window of a segment that starts at offset `start`. Returns whether
    /// the rest of the segment may be read.
    pub(super) fn on_ack(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        start: u64,
        s: &Segment,
    ) -> bool {
        if ack > self.snd_max || ack + self.max_snd_wnd < self.snd_una {
            // Of data never sent, or too old to be true (RFC 5961 section 5.2).
            self.ack_now = true;
            return false;
        }
        let window = self.limiting_window(u64::from(s.window) << self.snd_scale);
        if self.by_board {
            self.on_ack_by_board(p, now, ack, start, window, s);
            return true;
        }
        if ack > self.snd_una {
            self.update_window(start, ack, window);
            self.on_new_ack(p, now, ack, s);
            return true;
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
        } else if ack == self.snd_una && self.snd_nxt == self.snd_una {
            // The answer to a probe: the peer lives (RFC 1122 section 4.2.2.17).
            self.retries = 0;
        }
        if ack == self.snd_una {
            self.on_echo(p, now, 0, s);
        }
        true
    }

    /// RFC 9293's window update rule: only newer segments move the window.
    pub(super) fn update_window(&mut self, start: u64, ack: u64, window: u64) {
        if ack < self.snd_una || start < self.snd_wl1 {
            return;
        }
        if window > self.snd_wnd {
            self.stop_probing();
        }
        self.snd_wnd = window;
        self.max_snd_wnd = self.max_snd_wnd.max(window);
        self.snd_wl1 = start;
    }

    pub(super) fn stop_probing(&mut self) {
        self.persist_deadline = Time::NEVER;
        self.persist_shift = 0;
        self.probe_now = false;
    }

    fn on_new_ack(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment) {
        let prior_in_flight = self.in_flight();
        let acked = ack - self.snd_una;
        let rtt = self.rtt_sample(p, now, ack, s);
        self.rto.on_progress(&p.stack.rto);
        self.snd_una = ack;
        self.snd_nxt = self.snd_nxt.max(ack);
        self.retries = 0;
        self.dup_acks = 0;
        self.stop_probing();

        let ce = self.marked_bytes(p, s, acked);
        let mut event = Ack { prior_in_flight, rtt, ce, ..Ack::of(acked) };
        if self.records {
            self.board.acknowledge(ack, |record, bytes| {
                self.sampler.on_delivered(now, bytes, record.end(), Some(&record.sent));
            });
            event.rate = self.sampler.sample(self.min_rtt);
        }
        let limits = self.limits(p, prior_in_flight);
        let conn = self.conn(now, limits);
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);

        let restart_timer = self.follow_recovery(p, now, ack);
        self.on_echo(p, now, acked, s);
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
            Phase::Loss | Phase::Cwr => {
                let over = match self.phase {
                    Phase::Cwr => self.echo_is_answered(),
                    _ => ack >= self.recover,
                };
                if over {
                    let flight = self.in_flight();
                    self.set_phase(p, now, Phase::Open, flight);
                }
                true
            }
            Phase::Recovery if self.style == Style::NewReno && ack < self.recover => {
                // RFC 6582 section 3.2 step 3: the next hole; only the first restarts the timer.
                self.retransmit_first = true;
                self.partial_acks += 1;
                self.partial_acks == 1
            }
            Phase::Recovery => {
                self.retransmit_first = false;
                let flight = self.in_flight();
                self.set_phase(p, now, Phase::Open, flight);
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
        if self.dup_acks == 1 {
            self.first_dup_nxt = self.snd_nxt;
        }
        let conn = self.conn(now, flags::CWND_LIMITED);
        let event = Ack { prior_in_flight: conn.in_flight, duplicate: true, ..Ack::default() };
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);
        // RFC 6582 section 3.2 step 2: acknowledgements of no more than `recover` may be echoes of
        // what an earlier recovery sent twice.
        if matches!(self.phase, Phase::Open | Phase::Cwr)
            && p.stack.fast_retransmit
            && self.dup_acks == p.stack.dupthresh
            && self.snd_una > self.recover
        {
            self.enter_recovery(p, now);
        }
    }

    fn enter_recovery(&mut self, p: &Profile, now: Time) {
        self.stats.fast_retransmits += 1;
        self.partial_acks = 0;
        let style = self.style;
        // Reno's recovery ends at the first new acknowledgement and may begin again at once.
        if style != Style::Reno {
            self.recover = self.snd_max;
        }
        let flight = self.first_dup_nxt.saturating_sub(self.snd_una);
        if style == Style::Tahoe {
            self.set_phase(p, now, Phase::Loss, flight);
            self.go_back(p);
        } else {
            self.set_phase(p, now, Phase::Recovery, flight);
            self.retransmit_first = true;
        }
        self.arm_rto(p, now);
    }

    /// Takes the RTT that this acknowledgement shows, if Karn's rule lets one be read from it.
    fn rtt_sample(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment) -> Span {
        if !self.timed_at.is_never() {
            if ack < self.timed_end {
                return Span::NONE;
            }
            let sample = now.since(self.timed_at);
            self.timed_at = Time::NEVER;
            return self.take_exact_sample(p, now, ack, sample, self.timed_retransmits);
        }
        // Timestamps tell a retransmission from the original, but only to a millisecond: they
        // serve the timer where no exact time could be kept, and nobody who looks for the least RTT.
        self.timestamp_sample(p, now, ack, s);
        Span::NONE
    }

    /// The timer gets the RTT by the clock that the peer echoes.
    pub(super) fn timestamp_sample(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment) {
        let Some(t) = s.options.timestamps.filter(|t| self.timestamps && t.echo != 0) else {
            return;
        };
        let ms = Endpoint::timestamp(now).wrapping_sub(t.echo);
        if ms <= i32::MAX as u32 {
            // Otherwise an echo from the future.
            self.feed_timer(p, now, ack, Span::from_millis(u64::from(ms)), 0);
        }
    }

    /// The timestamp clock: milliseconds, from one. Zero, which occurs once in 49 days, costs its
    /// peer's echo its sample.
    pub(super) fn timestamp(now: Time) -> u32 {
        ((now.0 / 1_000_000) as u32).wrapping_add(1)
    }
}
