//! Processing of received segments: RFC 9293 section 3.10.7.

use std::cmp::Ordering;

use windlass_cc::{Flavour, Span, Time};

use super::{Endpoint, Failure, Profile, State};
use crate::segment::{Flags, Segment};

/// `tcp_invalid_ratelimit`: minimum time between responses to unacceptable segments without data.
const CHALLENGE_INTERVAL: Span = Span::from_millis(500);
/// RFC 7323 section 5.5: a timestamp older than this is no longer comparable.
const TIMESTAMP_LIFE: Span = Span::from_secs(24 * 24 * 3600);

impl Endpoint {
    /// Processes a received segment. The results are available from
    /// [`poll_transmit`](Endpoint::poll_transmit), [`readable`](Endpoint::readable) and
    /// [`deadline`](Endpoint::deadline).
    pub fn on_segment(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.bursting = false;
        if !self.predict(p, now, s) {
            self.on_segment_in_full(p, now, s);
        }
    }

    /// Processes a received segment without [header prediction](Endpoint::predict). Only for tests; call
    /// [`on_segment`](Endpoint::on_segment).
    #[doc(hidden)]
    pub fn on_segment_in_full(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.recv.advertised &= self.established && s.seq_len() == 0;
        match self.state {
            State::Closed => self.on_segment_closed(s),
            State::Listen => self.on_segment_listen(p, now, s),
            State::SynSent => self.on_segment_syn_sent(p, now, s),
            _ => {
                let again = self.state == State::SynReceived && self.on_repeated_syn(p, now, s);
                if !again {
                    self.on_segment_synchronised(p, now, s);
                }
            }
        }
    }

    /// True if a segment is the SYN of a new connection that may replace this connection in TIME-WAIT (RFC
    /// 6191 section 2). The SYN's timestamp or sequence number must be above all that the peer has sent. Then
    /// no segment of the old connection can be mistaken for a segment of the new connection. The owner of the
    /// endpoint replaces it by an endpoint in LISTEN.
    // RFC 9293-3.6.1-SHLD-4
    pub fn gives_way_to(&self, s: &Segment) -> bool {
        let opens = s.flags.has(Flags::SYN)
            && !s.flags.has(Flags::ACK)
            && !s.flags.has(Flags::RST)
            && self.state == State::TimeWait;
        let beyond = (s.seq.0.wrapping_sub(self.recv.irs.add(self.recv.nxt).0) as i32) > 0;
        let later = match s.options.timestamps {
            Some(t) if self.agreed.timestamps => {
                (t.value.wrapping_sub(self.recv.ts_recent) as i32).cmp(&0)
            }
            // Only the new connection has timestamps, so no segment of the old connection is mistaken for a
            // new segment.
            Some(_) => Ordering::Greater,
            None => Ordering::Equal,
        };
        opens && (later == Ordering::Greater || (later == Ordering::Equal && beyond))
    }

    // RFC 7323-5.3-3
    #[inline(always)] // called in one place
    fn on_segment_synchronised(&mut self, p: &Profile, now: Time, s: &Segment) {
        // A segment from before the stream's start is unacceptable.
        let start = s.seq.unwrap_near(self.recv.irs, self.recv.nxt);
        let Some(start) = start.filter(|start| self.acceptable(p, *start, s)) else {
            self.on_unacceptable(p, now, start, s);
            return;
        };
        // RFC 7323-5.2-4
        if s.flags.has(Flags::RST) {
            self.on_reset(p, now, start);
            return;
        }
        // RFC 7323-3.2-9
        if self.agreed.timestamps && !self.passes_timestamps(p, now, start, s) {
            return;
        }
        if s.flags.has(Flags::SYN) {
            // RFC 9293-3.10.7.4-4
            self.challenge(p, now); // RFC 5961 section 4.2
            self.on_repeated_syn_ack(s);
            return;
        }
        // RFC 7323-3.2-3
        if !s.flags.has(Flags::ACK)
            || (self.state == State::SynReceived && !self.on_handshake_ack(p, now, s))
        {
            return;
        }
        let Some(ack) = s.ack.unwrap_near(self.send.iss, self.send.una) else {
            self.recv.ack_now = true;
            return;
        };
        let window = self.send.wnd;
        if !self.on_ack(p, now, ack, start, s) {
            return;
        }
        if self.agreed.timestamps {
            self.take_timestamp(now, start, s);
        }
        // RFC 9293-3.6.1-SHLD-3
        if self.stream.shut_read && s.len > 0 && start + u64::from(s.len) > self.recv.nxt {
            self.refuse(s);
            self.fail(Failure::Aborted);
            return;
        }
        if s.len > 0 || s.flags.has(Flags::FIN) {
            self.on_data(p, now, start, s);
        } else {
            self.on_empty_segment(p, s);
            self.reconsider_ack(p, now, window == self.send.wnd && s.options.sack_count == 0);
        }
        if self.stream.fin_queued || self.recv.fin_at.is_some() {
            self.follow_close(p, now);
        }
    }

    /// RFC 9293 section 3.10.7.4: the response to an unacceptable segment is an acknowledgement, except for a
    /// reset. A repeated SYN-ACK means that this end's ACK was lost. A repeated FIN in TIME-WAIT means that
    /// the last ACK was lost.
    // RFC 9293-3.10.7.4-1
    #[cold]
    fn on_unacceptable(&mut self, p: &Profile, now: Time, start: Option<u64>, s: &Segment) {
        self.answer_unacceptable(p, now, start, s);
        if self.state == State::TimeWait && s.flags.has(Flags::FIN) {
            self.start_time_wait(p, now);
        }
    }

    /// The response contains the next expected sequence number. Linux responds at most once per half second
    /// to segments without data, so that two ends do not respond to each other endlessly
    /// (`tcp_oow_rate_limited`).
    fn answer_unacceptable(&mut self, p: &Profile, now: Time, start: Option<u64>, s: &Segment) {
        if s.flags.has(Flags::RST) {
            return;
        }
        if (s.seq_len() == 0 || s.flags.has(Flags::SYN)) && !self.may_challenge(p, now) {
            return;
        }
        if let Some(start) = start {
            self.note_duplicate(p, start, start + u64::from(s.len));
            self.note_duplicate_for_ecn(start);
            if s.len > 0 && start < self.recv.nxt {
                self.acknowledge_quickly(p);
            }
        }
        self.recv.ack_now = true;
        if s.flags.has(Flags::SYN) {
            self.on_repeated_syn_ack(s);
        }
    }

    /// Sends a challenge acknowledgement (RFC 5961), if the rate limit allows it.
    #[cold]
    pub(super) fn challenge(&mut self, p: &Profile, now: Time) {
        self.recv.ack_now |= self.may_challenge(p, now);
    }

    fn may_challenge(&mut self, p: &Profile, now: Time) -> bool {
        let last = self.recv.challenged_at;
        let soon = !last.is_never() && now.since(last) < CHALLENGE_INTERVAL;
        if p.stack.rules == Flavour::Linux && soon {
            return false;
        }
        self.recv.challenged_at = now;
        true
    }

    /// RFC 5961 section 3.2: only an exact match resets the connection; other resets are challenged. In Linux
    /// the end of the highest reported range matches too (`tcp_validate_incoming`).
    // RFC 9293-3.5.3-SHLD-2, 9293-3.10.7.4-2
    #[cold]
    fn on_reset(&mut self, p: &Profile, now: Time, start: u64) {
        let reported = p.stack.rules == Flavour::Linux
            && self.agreed.sack
            && self.recv.ranges.highest_reported() == Some(start);
        // RFC 9293-3.10.7.4-3
        if start != self.recv.nxt && !reported {
            self.challenge(p, now);
            return;
        }
        match self.state {
            State::SynReceived => self.on_handshake_reset(p),
            // Both sides have closed, so a reset loses no data.
            State::Closing | State::LastAck | State::TimeWait if self.all_acknowledged() => {
                self.shut();
            }
            _ => self.fail(Failure::Reset),
        }
    }

    /// RFC 7323 sections 3.2 and 5: a segment without a timestamp is dropped. A segment with an older
    /// timestamp is an old duplicate and is answered. Returns true if processing may continue.
    // RFC 7323-3.2-7, 7323-3.2-8
    fn passes_timestamps(&mut self, p: &Profile, now: Time, start: u64, s: &Segment) -> bool {
        let Some(t) = s.options.timestamps else { return false };
        let behind = self.recv.ts_recent.wrapping_sub(t.value) as i32;
        // Linux tolerates one tick (`TCP_PAWS_WINDOW`).
        let linux = p.stack.rules == Flavour::Linux;
        let old = behind > i32::from(linux) && now.since(self.recv.ts_recent_at) < TIMESTAMP_LIFE;
        if !old || linux && self.is_disordered_ack(p, start, behind, s) {
            return true;
        }
        // RFC 7323-5.3-1
        self.answer_unacceptable(p, now, Some(start), s);
        false
    }

    /// True if a pure acknowledgement with an older timestamp is a duplicate that was reordered in the
    /// network. It may be older by at most 1.2 timeouts (`tcp_disordered_ack`).
    #[cold]
    fn is_disordered_ack(&self, p: &Profile, start: u64, behind: i32, s: &Segment) -> bool {
        let wnd = u64::from(s.window) << self.agreed.snd_scale;
        s.seq_len() == 0
            && start == self.recv.nxt
            && s.ack == self.send.iss.add(self.send.una)
            && wnd <= self.send.wnd
            && behind as u64 <= self.rto(p).0 / 1_000_000 * 6 / 5
    }

    /// RFC 7323 section 4.3: stores the timestamp to echo, from a segment with an acceptable acknowledgement.
    // RFC 7323-4.3-1, 7323-4.3-2, 7323-4.3-3
    fn take_timestamp(&mut self, now: Time, start: u64, s: &Segment) {
        let Some(t) = s.options.timestamps else { return };
        // RFC 7323-5.2-1
        let newer = (t.value.wrapping_sub(self.recv.ts_recent) as i32) >= 0;
        // RFC 7323-5.5-1
        let aged = now.since(self.recv.ts_recent_at) >= TIMESTAMP_LIFE;
        if start <= self.recv.last_ack_sent && (newer || aged) {
            self.recv.ts_recent = t.value;
            self.recv.ts_recent_at = now;
        }
    }

    /// RFC 9293 section 3.4's four cases, extended as in BSD and Linux. A segment that needs no buffer is
    /// acceptable at the window's right edge. A sender that filled the window sends its acknowledgements and
    /// its FIN there. If the window is closed, the acknowledgement of a segment is still processed (section
    /// 3.10.7.4). Linux also accepts a segment that ends at the last acknowledged offset (`tcp_sequence`).
    fn acceptable(&self, p: &Profile, start: u64, s: &Segment) -> bool {
        let right = self.recv.adv.max(self.recv.nxt);
        if p.stack.rules == Flavour::Linux && self.state != State::TimeWait {
            return start + u64::from(s.seq_len()) >= self.recv.last_ack_sent
                && (start < right || start == right && s.len == 0 || start == self.recv.nxt);
        }
        // RFC 9293-3.4-MUST-66
        if s.seq_len() == 0 {
            return (self.recv.nxt..=right).contains(&start);
        }
        start == self.recv.nxt
            || (start + u64::from(s.seq_len()) > self.recv.nxt
                && (start < right || (start == right && s.len == 0)))
    }

    /// Changes the state after an acknowledged or a received FIN (RFC 9293 figure 5).
    #[cold]
    fn follow_close(&mut self, p: &Profile, now: Time) {
        let fin_acked = self.stream.fin_queued && self.send.una > self.stream.end;
        let fin_received = self.recv.fin_received();
        match self.state {
            State::Established if fin_received => self.state = State::CloseWait,
            State::FinWait1 if fin_acked && fin_received => self.start_time_wait(p, now),
            State::FinWait1 if fin_acked => self.state = State::FinWait2,
            State::FinWait1 if fin_received => self.state = State::Closing,
            State::FinWait2 if fin_received => self.start_time_wait(p, now),
            State::Closing if fin_acked => self.start_time_wait(p, now),
            State::LastAck if fin_acked => self.shut(),
            _ => {}
        }
    }
}
