//! Segments in: RFC 9293 section 3.10.7.

use windlass_cc::{Span, Time};

use super::{Endpoint, Failure, Profile, State};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// A segment arrived. What it provokes is read with
    /// [`poll_transmit`](Endpoint::poll_transmit), [`readable`](Endpoint::readable) and
    /// [`deadline`](Endpoint::deadline).
    pub fn on_segment(&mut self, p: &Profile, now: Time, s: &Segment) {
        match self.state {
            State::Closed => {}
            State::Listen => self.on_segment_listen(p, s),
            State::SynSent => self.on_segment_syn_sent(p, now, s),
            _ => self.on_segment_synchronised(p, now, s),
        }
    }

    fn on_segment_listen(&mut self, p: &Profile, s: &Segment) {
        if s.flags.has(Flags::SYN) && !s.flags.has(Flags::RST) && !s.flags.has(Flags::ACK) {
            self.take_syn(p, s);
            self.state = State::SynReceived;
            self.snd_nxt = 0;
        }
    }

    fn on_segment_syn_sent(&mut self, p: &Profile, now: Time, s: &Segment) {
        let acks_syn = s.flags.has(Flags::ACK)
            && s.ack.unwrap_near(self.iss, 1) == Some(1)
            && self.snd_max >= 1;
        if s.flags.has(Flags::RST) {
            if acks_syn {
                self.fail(Failure::Reset);
            }
            return;
        }
        if !s.flags.has(Flags::SYN) || (s.flags.has(Flags::ACK) && !acks_syn) {
            return;
        }
        self.take_syn(p, s);
        self.ack_now = true;
        if acks_syn {
            self.take_handshake_sample(p, now);
            self.snd_una = 1;
            self.state = State::Established;
            self.establish(p, now);
        } else {
            // Simultaneous open: our SYN goes again, now with an acknowledgement.
            self.state = State::SynReceived;
            self.snd_nxt = 0;
        }
        self.set_window(s, u64::from(s.window));
    }

    /// Takes the peer's sequence number and options from its SYN.
    fn take_syn(&mut self, p: &Profile, s: &Segment) {
        self.irs = s.seq;
        self.rcv_nxt = 1;
        self.rcv_adv = 1;
        self.last_ack_sent = 1;
        let o = &s.options;
        self.timestamps = p.stack.timestamps && o.timestamps.is_some();
        self.sack = p.stack.sack && o.sack_permitted;
        if let Some(t) = o.timestamps {
            self.ts_recent = t.value;
        }
        if let (true, Some(shift)) = (p.stack.window_scaling, o.window_scale) {
            self.snd_scale = shift.min(14);
            self.rcv_scale = Endpoint::scale_for(p.stack.receive_buffer);
        }
        // RFC 9293 section 3.7.1: 536 when the option is missing.
        let peer = u32::from(o.mss.unwrap_or(536));
        let options = if self.timestamps { 12 } else { 0 };
        self.mss = p.mss().min(peer).saturating_sub(options).max(1);
        self.set_window(s, u64::from(s.window));
    }

    /// Least shift that lets 16 bits describe the buffer.
    pub(super) fn scale_for(buffer: u64) -> u8 {
        (0u8..14).find(|shift| buffer >> shift <= 0xffff).unwrap_or(14)
    }

    fn set_window(&mut self, s: &Segment, window: u64) {
        self.snd_wnd = window;
        self.max_snd_wnd = self.max_snd_wnd.max(window);
        self.snd_wl1 = s.seq.unwrap_near(self.irs, self.rcv_nxt).unwrap_or(0);
        self.snd_wl2 = self.snd_una;
    }

    fn take_handshake_sample(&mut self, p: &Profile, now: Time) {
        if !self.timed_at.is_never() && !(p.stack.karn && self.syn_retransmitted) {
            self.take_rtt_sample(p, now.since(self.timed_at));
        }
        self.timed_at = Time::NEVER;
    }

    fn on_segment_synchronised(&mut self, p: &Profile, now: Time, s: &Segment) {
        let Some(start) = s.seq.unwrap_near(self.irs, self.rcv_nxt) else {
            self.ack_now = true;
            return;
        };
        if self.timestamps_are_old(s) || !self.acceptable(start, s) {
            // RFC 9293: an unacceptable segment is answered with an acknowledgement, a reset with
            // nothing. A SYN-ACK that comes again means that our ACK was lost.
            self.ack_now |= !s.flags.has(Flags::RST);
            return;
        }
        if s.flags.has(Flags::RST) {
            // RFC 5961 section 3.2: only an exact match resets; the rest is challenged.
            if start == self.rcv_nxt {
                self.fail(Failure::Reset);
            } else {
                self.ack_now = true;
            }
            return;
        }
        if s.flags.has(Flags::SYN) {
            self.ack_now = true;
            return;
        }
        if !s.flags.has(Flags::ACK) {
            return;
        }
        if let (true, Some(t)) = (self.timestamps, s.options.timestamps)
            && start <= self.last_ack_sent
        {
            self.ts_recent = t.value;
        }
        let Some(ack) = s.ack.unwrap_near(self.iss, self.snd_una) else { return };
        if self.state == State::SynReceived && !self.complete_passive_open(p, now, ack) {
            return;
        }
        self.on_ack(p, now, ack, start, s);
        if self.state == State::Closed {
            return;
        }
        if s.len > 0 || s.flags.has(Flags::FIN) {
            self.on_data(p, now, start, s);
        }
        self.follow_close(p, now);
    }

    /// RFC 7323 section 5 (PAWS): a timestamp from the past marks an old duplicate.
    fn timestamps_are_old(&self, s: &Segment) -> bool {
        match s.options.timestamps {
            Some(t) if self.timestamps && !s.flags.has(Flags::RST) => {
                (t.value.wrapping_sub(self.ts_recent) as i32) < 0
            }
            _ => false,
        }
    }

    /// RFC 9293 section 3.4's four cases.
    fn acceptable(&self, start: u64, s: &Segment) -> bool {
        let end = start + u64::from(s.seq_len());
        let right = self.rcv_adv.max(self.rcv_nxt);
        if s.seq_len() == 0 {
            return start == self.rcv_nxt || (self.rcv_nxt..right).contains(&start);
        }
        // A segment that starts beyond the window, or ends before it, is not acceptable.
        (start < right || (start == self.rcv_nxt && s.len == 0)) && end > self.rcv_nxt
    }

    fn complete_passive_open(&mut self, p: &Profile, now: Time, ack: u64) -> bool {
        if ack != 1 {
            return false;
        }
        self.take_handshake_sample(p, now);
        self.snd_una = 1;
        self.snd_nxt = self.snd_nxt.max(1);
        self.state = State::Established;
        self.establish(p, now);
        true
    }

    /// State changes that an acknowledged FIN or a received one bring (RFC 9293 figure 5).
    fn follow_close(&mut self, p: &Profile, now: Time) {
        let fin_acked = self.fin_queued && self.snd_una > self.snd_end;
        let fin_received = self.fin_at.is_some_and(|end| self.rcv_nxt > end);
        let next = match self.state {
            State::Established if fin_received => State::CloseWait,
            State::FinWait1 if fin_acked && fin_received => State::TimeWait,
            State::FinWait1 if fin_acked => State::FinWait2,
            State::FinWait1 if fin_received => State::Closing,
            State::FinWait2 if fin_received => State::TimeWait,
            State::Closing if fin_acked => State::TimeWait,
            State::LastAck if fin_acked => State::Closed,
            same => same,
        };
        if next == State::TimeWait && self.state != State::TimeWait {
            self.time_wait_deadline = now + p.stack.time_wait.max(Span(1));
        }
        self.state = next;
    }
}
