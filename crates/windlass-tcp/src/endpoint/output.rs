//! Segments out.

use windlass_cc::{Phase, Span, Time, flags};

use super::{Endpoint, Profile, State};
use crate::segment::{Flags, MAX_SACK_BLOCKS, Options, SackBlock, Segment, Timestamps};

impl Endpoint {
    /// The next segment to send now, `None` when there is nothing more to say.
    #[inline]
    pub fn poll_transmit(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        match self.state {
            State::Closed | State::Listen => self.poll_reset(),
            State::SynSent | State::SynReceived => self.poll_handshake(p, now),
            _ => self.poll_data(p, now).or_else(|| self.poll_ack(p, now)),
        }
    }

    fn poll_reset(&mut self) -> Option<Segment> {
        if !std::mem::take(&mut self.reset_pending) {
            return None;
        }
        self.stats.segments_sent += 1;
        Some(Segment {
            seq: self.iss.add(self.snd_nxt),
            ack: self.irs.add(self.rcv_nxt),
            flags: Flags::RST.with(Flags::ACK),
            ..Segment::default()
        })
    }

    fn poll_handshake(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if self.snd_nxt > 0 {
            // A SYN that comes again is answered with ours again.
            if !std::mem::take(&mut self.ack_now) || self.state == State::SynSent {
                return None;
            }
        }
        let answer = self.state == State::SynReceived;
        let mut s = Segment {
            seq: self.iss,
            flags: if answer { Flags::SYN.with(Flags::ACK) } else { Flags::SYN },
            ..Segment::default()
        };
        s.options.mss = Some(p.mss().min(65_535) as u16);
        if p.stack.window_scaling && (!answer || self.rcv_scale > 0 || self.snd_scale > 0) {
            s.options.window_scale = Some(Endpoint::scale_for(p.stack.receive_buffer));
        }
        s.options.sack_permitted = if answer { self.sack } else { p.stack.sack };
        if if answer { self.timestamps } else { p.stack.timestamps } {
            s.options.timestamps = Some(self.stamp(now));
        }
        if answer {
            s.ack = self.irs.add(self.rcv_nxt);
            self.rcv_adv = self.rcv_nxt + p.stack.receive_buffer.min(0xffff);
        }
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        s.window = p.stack.receive_buffer.min(0xffff) as u16;
        if self.snd_max == 0 {
            self.timed_at = now;
            self.timed_end = 1;
        }
        self.snd_nxt = 1;
        self.snd_max = 1;
        self.ack_now = false;
        self.stats.segments_sent += 1;
        if self.rto_deadline.is_never() {
            self.arm_rto(p, now);
        }
        Some(s)
    }

    fn poll_ack(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if !self.ack_now {
            return None;
        }
        Some(self.finish(p, now, self.snd_nxt.max(self.snd_una), 0, Flags::ACK))
    }

    fn poll_data(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if self.retransmit_first {
            self.retransmit_first = false;
            return Some(self.retransmit(p, now));
        }
        if self.snd_nxt > self.snd_end {
            return None; // the FIN is out
        }
        let buffered = self.snd_end.min(self.snd_una.saturating_add(p.stack.send_buffer));
        let available = buffered.saturating_sub(self.snd_nxt);
        let fin = self.fin_queued && buffered == self.snd_end;
        if available == 0 && !fin {
            return None;
        }
        let usable = self.usable_window(p);
        let len = available.min(usable).min(u64::from(self.mss));
        let last = len == available && buffered == self.snd_end;
        if len == 0 && !(fin && last) || !self.worth_sending(p, len, available, fin && last) {
            return self.poll_probe(p, now, available);
        }
        self.persist_deadline = Time::NEVER;
        Some(self.send(p, now, len, fin && last))
    }

    /// Bytes that congestion and receive window leave beyond `snd_nxt`.
    fn usable_window(&self, p: &Profile) -> u64 {
        let mut cwnd = self.control.cwnd;
        // Limited transmit (RFC 3042): one new segment for each of the first duplicates.
        if p.stack.limited_transmit && self.phase == Phase::Open && self.dup_acks > 0 {
            let extra = self.dup_acks.min(p.stack.dupthresh.saturating_sub(1));
            cwnd = cwnd.saturating_add(u64::from(extra) * u64::from(self.mss));
        }
        (self.snd_una + cwnd.min(self.snd_wnd)).saturating_sub(self.snd_nxt)
    }

    /// Silly-window avoidance and Nagle (RFC 1122 sections 4.2.3.3 and 4.2.3.4).
    fn worth_sending(&self, p: &Profile, len: u64, available: u64, fin: bool) -> bool {
        let idle = self.snd_nxt == self.snd_una;
        len == u64::from(self.mss)
            || (len == available && (!p.stack.nagle || idle || fin))
            || (len > 0 && len * 2 >= self.max_snd_wnd)
            || (len > 0 && self.snd_nxt < self.snd_max)
    }

    /// Nothing may go although data waits: with nothing in flight only a timer can end that.
    fn poll_probe(&mut self, p: &Profile, now: Time, available: u64) -> Option<Segment> {
        let idle = self.snd_nxt == self.snd_una;
        if !idle || available == 0 {
            return None;
        }
        if !std::mem::take(&mut self.probe_now) {
            if self.persist_deadline.is_never() {
                let wait = p.stack.persist_timeout.0.saturating_mul(1 << self.persist_shift);
                let wait = Span(wait.min(p.stack.rto.max.0));
                self.persist_deadline = Endpoint::expiry(p, now, wait);
            }
            return None;
        }
        self.persist_shift = (self.persist_shift + 1).min(16);
        self.stats.window_probes += 1;
        // The probe's byte does not count as in flight: a closed window will not take it.
        let len = available.min(self.snd_wnd.max(1)).min(u64::from(self.mss));
        self.count_data(len, self.snd_nxt + len <= self.snd_max);
        self.snd_max = self.snd_max.max(self.snd_nxt + len);
        Some(self.finish(p, now, self.snd_nxt, len, Flags::ACK.with(Flags::PSH)))
    }

    /// The first unacknowledged segment again, `snd_nxt` staying where it is.
    fn retransmit(&mut self, p: &Profile, now: Time) -> Segment {
        let data_end = self.snd_max.min(self.snd_end);
        let len = data_end.saturating_sub(self.snd_una).min(u64::from(self.mss));
        let end = self.snd_una + len;
        let fin = self.fin_queued && end == self.snd_end && self.snd_max > self.snd_end;
        self.count_data(len, true);
        if p.stack.karn {
            self.timed_at = Time::NEVER;
        }
        self.last_sent = now;
        let flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        self.finish(p, now, self.snd_una, len, flags)
    }

    /// A segment at `snd_nxt`: new data, or old data once more after a timeout.
    fn send(&mut self, p: &Profile, now: Time, len: u64, fin: bool) -> Segment {
        let again = self.snd_nxt < self.snd_max;
        if !again && self.snd_nxt == self.snd_una {
            self.restart_after_idle(p, now);
        }
        let start = self.snd_nxt;
        self.snd_nxt += len + u64::from(fin);
        self.count_data(len, again);
        if again {
            if p.stack.karn {
                self.timed_at = Time::NEVER;
            }
        } else if self.timed_at.is_never() && len > 0 {
            self.timed_at = now;
            self.timed_end = self.snd_nxt;
        }
        self.snd_max = self.snd_max.max(self.snd_nxt);
        self.last_sent = now;
        if self.rto_deadline.is_never() {
            self.arm_rto(p, now);
        }
        let mut flags = Flags::ACK;
        if start + len == self.snd_end && len > 0 {
            flags = flags.with(Flags::PSH);
        }
        if fin {
            flags = flags.with(Flags::FIN);
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                same => same,
            };
        }
        self.finish(p, now, start, len, flags)
    }

    /// RFC 5681 section 4.1.
    fn restart_after_idle(&mut self, p: &Profile, now: Time) {
        let gap = now.since(self.last_sent);
        if p.stack.idle_restart && self.last_sent > Time::ZERO && gap > self.rto(p) {
            let mut params = p.params;
            params.initial_window = p.stack.initial_window.bytes(self.mss);
            let conn = self.conn(now, flags::APP_LIMITED);
            self.cc.on_idle_restart(&params, &conn, gap);
            self.control = self.cc.control(&params, &conn);
        }
    }

    fn count_data(&mut self, len: u64, again: bool) {
        if len > 0 {
            self.stats.data_segments += 1;
            self.stats.data_bytes += len;
            self.stats.retransmits += u64::from(again);
        }
    }

    fn stamp(&self, now: Time) -> Timestamps {
        Timestamps { value: Endpoint::timestamp(now), echo: self.ts_recent }
    }

    /// Puts acknowledgement, window and options into a segment, which settles every debt of
    /// acknowledgement.
    fn finish(&mut self, p: &Profile, now: Time, start: u64, len: u64, flags: Flags) -> Segment {
        let edge = self.window_edge(p);
        let field = (edge - self.rcv_nxt) >> self.rcv_scale;
        self.rcv_adv = self.rcv_adv.max(self.rcv_nxt + (field << self.rcv_scale));
        self.ack_now = false;
        self.delack_deadline = Time::NEVER;
        self.unacked_segments = 0;
        self.last_ack_sent = self.rcv_nxt;
        self.stats.segments_sent += 1;
        let mut options = Options::default();
        if self.timestamps {
            options.timestamps = Some(self.stamp(now));
        }
        if self.sack && !self.ranges.is_empty() {
            self.report_ranges(&mut options);
        }
        Segment {
            seq: self.iss.add(start),
            ack: self.irs.add(self.rcv_nxt),
            len: len as u32,
            window: field.min(0xffff) as u16,
            flags,
            options,
        }
    }

    fn report_ranges(&self, options: &mut Options) {
        for (start, end) in self.ranges.recent_first().take(MAX_SACK_BLOCKS) {
            options.sack[usize::from(options.sack_count)] =
                SackBlock { left: self.irs.add(start), right: self.irs.add(end) };
            options.sack_count += 1;
        }
    }
}
