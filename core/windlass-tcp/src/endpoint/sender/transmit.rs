//! Transmission of segments.

use windlass_cc::setup::Counting;
use windlass_cc::{Flavour, Phase, Span, Time, flags};

use crate::decision::Cause;
use crate::endpoint::{Endpoint, Profile, State};
use crate::segment::{Codepoint, Flags, MAX_SACK_BLOCKS, Options, SackBlock, Segment, Timestamps};
use crate::stack::Lies;

/// After this number of halvings every cwnd is at most the initial cwnd.
const MAX_HALVINGS: u64 = 32;

impl Endpoint {
    /// The next segment to send now; `None` if there is no segment to send.
    #[inline]
    pub fn poll_transmit(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        match self.state {
            State::Closed | State::Listen | State::SynSent | State::SynReceived => {
                self.poll_unsynchronised(p, now)
            }
            _ => {
                self.drained = false;
                if self.recv.flushed.is_some() {
                    return self.recv.flushed.take();
                }
                if self.at_rest {
                    return self.poll_ack(p, now);
                }
                if self.ecn.is_accurate() {
                    self.plan_ecn_option(p, now);
                }
                if let Some(pending) = self.poll_pending_ack(p, now) {
                    return Some(pending);
                }
                if let Some(data) = self.poll_data(p, now) {
                    return Some(data);
                }
                self.poll_ack(p, now)
            }
        }
    }

    /// True if only an event other than data in order can give an end without new data something to send.
    fn comes_to_rest(&self) -> bool {
        self.send.una == self.send.max
            && self.send.nxt == self.stream.end
            && matches!(self.state, State::Established | State::CloseWait)
            && !self.stream.fin_queued
            && self.send.phase == Phase::Open
            && !self.send.rack.probe_now
            && !self.ecn.is_agreed()
            && !self.layer.on
            && self.quick.is_none()
    }

    /// Like [`poll_transmit`](Endpoint::poll_transmit), but takes nothing over from the segment before. Only for tests.
    #[doc(hidden)]
    pub fn poll_transmit_in_full(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        (self.bursting, self.at_rest, self.recv.advertised) = (false, false, false);
        self.poll_transmit(p, now)
    }

    // RFC 5681-4.2-5, 9293-3.10.7.4-MUST-58, 9293-3.10.7.4-MUST-59
    #[inline]
    fn poll_ack(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if !self.recv.ack_now {
            return None;
        }
        if p.stack.lies == Lies::SplitsAcks
            && let Some(part) = self.poll_part_of_ack(p, now)
        {
            return Some(part);
        }
        self.drained = !self.ecn.is_accurate();
        Some(self.acknowledgement(p, now))
    }

    /// True if no other segment follows the segment that [`poll_transmit`](Endpoint::poll_transmit) has just returned.
    /// The caller can then omit the call that returns `None`. Valid until the next call that may change the endpoint.
    #[inline]
    pub fn is_drained(&self) -> bool {
        self.drained
    }

    /// A pure acknowledgement.
    pub(in crate::endpoint) fn acknowledgement(&mut self, p: &Profile, now: Time) -> Segment {
        self.finish(p, now, self.empty_segment_start(), 0, Flags::ACK)
    }

    /// Offset of a segment without payload. During retransmissions it does not move back with `snd_nxt`,
    /// because the peer would treat the segment as old and respond to it. If the peer's window is closed, the
    /// offset must not be beyond the window, where the probe's byte may be.
    pub(in crate::endpoint) fn empty_segment_start(&self) -> u64 {
        if self.send.nxt == self.send.una { self.send.una } else { self.send.max }
    }

    /// Maximum payload of a segment with the SACK blocks that are due (RFC 6691).
    #[inline]
    pub(in crate::endpoint) fn payload_limit(&self) -> u64 {
        let alone = self.recv.ranges.is_empty() && self.recv.dsack.is_none();
        match alone && !self.ecn.is_accurate() {
            true => u64::from(self.send.segment),
            false => self.payload_beside_options(),
        }
    }

    #[cold]
    fn payload_beside_options(&self) -> u64 {
        match self.sack_blocks_beside_data() {
            blocks if self.ecn.is_accurate() => self.payload_beside_ecn_option(blocks),
            0 => u64::from(self.send.segment),
            blocks => u64::from(self.send.segment) - (4 + 8 * blocks as u64),
        }
    }

    /// Number of SACK blocks in a segment with payload. They may take half of the segment.
    #[cold]
    fn sack_blocks_beside_data(&self) -> usize {
        let blocks = self.recv.ranges.len() + usize::from(self.recv.dsack.is_some());
        if !self.agreed.sack || blocks == 0 || self.layer.on {
            return 0;
        }
        let room = (self.send.segment as usize / 2).saturating_sub(4) / 8;
        room.min(blocks).min(MAX_SACK_BLOCKS)
    }

    /// The next segment at `snd_nxt`, or a probe of a closed window.
    // RFC 9293-3.9.1.2-MUST-60
    #[inline]
    pub(in crate::endpoint) fn poll_new(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if self.send.nxt > self.stream.end {
            return None; // the FIN was sent
        }
        let buffered = self.buffered(p);
        let available = buffered.saturating_sub(self.send.nxt);
        let fin = self.awaits_fin(buffered);
        if available == 0 && !fin {
            self.note_usage(p, available);
            self.at_rest = self.comes_to_rest();
            return None;
        }
        let limit = self.payload_limit();
        let usable = self.usable_window(p);
        // RFC 9293-3.9.1.2-SHLD-27
        let len = available.min(usable).min(limit);
        // A FIN takes one unit of sequence space, which both windows must allow (RFC 9293 section 3.8.6).
        let fin = fin && len == available && usable > len;
        if len == 0 && !fin || len < limit && !self.short_is_worth_sending(p, len, available, fin) {
            self.note_usage(p, available);
            let held_back = self.send.nxt == self.send.una;
            return if held_back { self.poll_probe(p, now, self.send.nxt, len) } else { None };
        }
        if self.must_wait(p, now) {
            self.note_usage(p, u64::MAX);
            return None;
        }
        self.timers.persist = Time::NEVER;
        self.send.probe_now = false;
        Some(self.send(p, now, len, fin))
    }

    /// True if the FIN follows the buffered data and was not sent yet.
    pub(super) fn awaits_fin(&self, buffered: u64) -> bool {
        self.stream.fin_queued && buffered == self.stream.end && self.send.nxt <= buffered
    }

    /// Bytes beyond `snd_nxt` that cwnd and the receive window allow.
    // RFC 5681-2-1, 7323-2.4-4, 9293-3.8.6-SHLD-15
    #[inline]
    pub(in crate::endpoint) fn usable_window(&self, p: &Profile) -> u64 {
        let window = self.send.wnd.min(self.flight_limit(p));
        let offered = (self.send.una + window).saturating_sub(self.send.nxt);
        self.congestion_room(p).min(offered)
    }

    /// Bytes that the stack allows in flight, regardless of the windows.
    #[inline]
    fn flight_limit(&self, p: &Profile) -> u64 {
        u64::from(p.stack.flight_limit.max(1)) * u64::from(self.agreed.mss)
    }

    /// True if a segment that is not full is large enough: silly-window avoidance and Nagle (RFC 1122 sections 4.2.3.3
    /// and 4.2.3.4).
    // RFC 9293-3.7.4-SHLD-7, 9293-3.8.6.2.1-MUST-38, 9293-3.9.1.2-SHLD-28
    #[cold]
    fn short_is_worth_sending(&self, p: &Profile, len: u64, available: u64, fin: bool) -> bool {
        let idle = self.send.nxt == self.send.una;
        // Minshall's rule: only an unacknowledged small segment delays another (`tcp_nagle_check`).
        let free = p.stack.rules == Flavour::Linux && self.send.small <= self.send.una;
        (len == available && (!p.stack.nagle || idle || fin || free || self.layer.on))
            || (len > 0 && len * 2 >= self.send.max_wnd)
            // A byte that has probed the window is not delayed.
            || (len > 0 && self.send.nxt < self.send.max)
    }

    /// Returns a probe, or sets its timer. Data wait from `at` on but must not be sent, and without data in
    /// flight only a timer can end this state. `len` is the number of bytes that the windows allow.
    // RFC 9293-3.8.6.1-MUST-36
    #[cold]
    pub(super) fn poll_probe(
        &mut self,
        p: &Profile,
        now: Time,
        at: u64,
        len: u64,
    ) -> Option<Segment> {
        if !std::mem::take(&mut self.send.probe_now) {
            if self.timers.persist.is_never() {
                // RFC 9293-3.8.6.1-SHLD-29
                let first = match p.stack.persist_timeout {
                    Span::ZERO => self.rto(p),
                    fixed => fixed,
                };
                // RFC 9293-3.8.6.1-SHLD-30
                let wait = first.0.saturating_mul(1 << self.send.persist_shift);
                let wait = Span(wait.min(p.stack.rto.max().0));
                self.timers.persist = Endpoint::expiry(p, now, wait);
                // The window closed over data that had been sent. Probes replace the retransmission timer.
                self.timers.rto = Time::NEVER;
            }
            return None;
        }
        if len > 0 {
            // The window is open, but small: RFC 1122's override timeout.
            let probe = self.send(p, now, len, false);
            if p.stack.rules == Flavour::Linux {
                self.send.rack.probe_deadline = Time::NEVER; // `tcp_write_wakeup` sets no timer for a tail
            }
            return Some(probe);
        }
        self.send.persist_shift = (self.send.persist_shift + 1).min(16);
        self.stats.window_probes += 1;
        let linux = p.stack.rules == Flavour::Linux && !self.layer.on;
        if linux || at >= self.stream.end {
            // `tcp_xmit_probe_skb`: an old sequence number, to which the peer must respond as well.
            return Some(self.finish(p, now, self.send.una - 1, 0, Flags::ACK));
        }
        // The probe's byte does not count as in flight, because a closed window does not accept it.
        self.count_data(1, at < self.send.max);
        self.send.max = self.send.max.max(at + 1);
        Some(self.finish(p, now, at, 1, Flags::ACK.with(Flags::PSH)))
    }

    /// Sends a segment at `snd_nxt`: new data, or a byte that may have probed the window.
    #[inline]
    pub(in crate::endpoint) fn send(
        &mut self,
        p: &Profile,
        now: Time,
        len: u64,
        fin: bool,
    ) -> Segment {
        let again = self.send.nxt < self.send.max;
        let follows = self.bursting && self.send.last_sent == now && !self.layer.on;
        // With delivery-rate samples, the sampler shows whether data were available (Linux's
        // `CA_EVENT_TX_START` of BBR, draft-ietf-ccwg-bbr section 5.4.1). A paced sender may have no data in
        // flight and a full buffer.
        let paced = self.send.samples && !self.send.sampler.is_app_limited();
        if self.send.nxt == self.send.una && (self.stream.resumed || self.send.una == 1) {
            self.send.written_at = now;
        }
        if !again && self.send.nxt == self.send.una && !paced {
            self.restart_after_idle(p, now);
        }
        let start = self.send.nxt;
        let (outstanding, in_flight) = (self.send.max - self.send.una, self.send.in_flight());
        let space = (len + u64::from(fin)) as u32;
        let volume = self.send.scoreboard.volume(space);
        let sent = self.send.sampler.on_sent(now, outstanding, in_flight, volume);
        if self.send.written_at == now && p.stack.rules == Flavour::Linux {
            self.send.scoreboard.send_apart();
        }
        self.send.scoreboard.push(start, space, sent, again);
        self.note_filled(p);
        self.pace(p, now, len);
        self.send.nxt += u64::from(space);
        self.count_data(len, again);
        self.send.sent += if self.send.scoreboard.unit() == 0 { len } else { volume };
        self.send.resent += u32::from(again);
        if len < self.payload_limit() {
            self.send.small = self.send.nxt;
        }
        if len > 0 {
            self.recv.acks.note_sent(now);
        }
        if again {
            self.note_retransmission(p, start, self.send.nxt);
        } else if len > 0 {
            self.send.timed.watch(now, self.send.nxt);
        }
        self.send.max = self.send.max.max(self.send.nxt);
        self.send.last_sent = now;
        // RFC 6298-5.1-1
        if self.timers.rto.is_never() {
            self.arm_rto(p, now);
        }
        let mut flags = Flags::ACK;
        // RFC 9293-3.9.1.2-MUST-61
        if len > 0 && (start + len == self.stream.end || !again && self.pushes(p, start + len)) {
            flags = flags.with(Flags::PSH);
        }
        if fin {
            flags = flags.with(Flags::FIN);
        }
        let new_data = len > 0 && !again;
        if self.send.selective && !(follows && self.probe_stays_armed()) {
            // RFC 8985-7.2-1
            self.arm_probe(p, now, false);
        }
        let flags = flags.with(self.ecn_news(new_data));
        let mut segment = self.finish(p, now, start, len, flags);
        if new_data {
            segment.ecn = self.codepoint(p);
        }
        self.bursting = true;
        segment
    }

    /// RFC 5681 section 4.1.
    // RFC 5681-4.1-1
    #[cold]
    fn restart_after_idle(&mut self, p: &Profile, now: Time) {
        let resumed = std::mem::take(&mut self.stream.resumed);
        if self.send.last_sent == Time::ZERO {
            return;
        }
        let gap = now.since(self.send.last_sent);
        let (idle, rto) = match p.stack.wheel_tick.0 {
            0 => (gap, self.rto(p)),
            // In ticks of the kernel's clock.
            tick => {
                let ticks = now.0 / tick - self.send.last_sent.0 / tick;
                (Span(ticks * tick), Span(self.rto(p).0.div_ceil(tick) * tick))
            }
        };
        // A sender that waited for the receive window was not idle (`tcp_slow_start_after_idle_check`).
        let resumed = resumed || p.stack.rules != Flavour::Linux;
        let reset = p.stack.idle_restart && resumed && idle > rto;
        let params = p.params_for(self.agreed.mss);
        let conn = self.conn(now, flags::APP_LIMITED);
        self.cc.on_idle_restart(&params, &conn, gap, reset);
        if reset && p.stack.window_counting == Counting::Segments {
            // `tcp_cwnd_restart` halves cwnd for each timeout that has passed.
            let halvings = idle.0.div_ceil(rto.0.max(1)).saturating_sub(1);
            let mut before = self.cc.control(&params, &conn).cwnd;
            for _ in 1..halvings.min(MAX_HALVINGS) {
                self.cc.on_idle_restart(&params, &conn, Span::ZERO, true);
                let cwnd = self.cc.control(&params, &conn).cwnd;
                // The restart window is reached.
                if cwnd == before {
                    break;
                }
                before = cwnd;
            }
        }
        self.control = self.cc.control(&params, &conn);
        self.note(p, now, Cause::Idle(gap), self.send.phase, conn.flight_size);
    }

    pub(in crate::endpoint) fn count_data(&mut self, len: u64, again: bool) {
        if len > 0 {
            self.stats.data_segments += 1;
            self.stats.data_bytes += len;
            self.stats.retransmits += u64::from(again);
        }
    }

    // RFC 7323-3.2-2
    pub(in crate::endpoint) fn stamp(&self, now: Time) -> Timestamps {
        Timestamps { value: Endpoint::timestamp(now), echo: self.recv.ts_recent }
    }

    /// Puts acknowledgement, window and options into a segment, and resets the state of pending
    /// acknowledgements.
    #[inline(always)] // called per segment; avoids a copy of the segment
    pub(in crate::endpoint) fn finish(
        &mut self,
        p: &Profile,
        now: Time,
        start: u64,
        len: u64,
        flags: Flags,
    ) -> Segment {
        let field = match self.recv.advertised && !self.layer.on {
            true => (self.recv.adv - self.recv.nxt) >> self.agreed.rcv_scale,
            false => self.advance_window(p),
        };
        self.recv.ack_now = false;
        self.timers.delack = Time::NEVER;
        self.recv.unacked_segments = 0;
        self.note_ack_sent(p);
        self.recv.last_ack_sent = self.recv.nxt;
        self.stats.segments_sent += 1;
        let mut options = Options::default();
        // RFC 7323-3.2-4
        if self.agreed.timestamps {
            options.timestamps = Some(self.stamp(now));
        }
        if self.agreed.sack && (!self.recv.ranges.is_empty() || self.recv.dsack.is_some()) {
            let blocks = if len > 0 { self.sack_blocks_beside_data() } else { MAX_SACK_BLOCKS };
            if blocks > 0 {
                self.report_ranges(&mut options, blocks);
            }
        }
        let ecn = match self.ecn.is_accurate() {
            true => self.finish_accurate(p, now, len, &mut options),
            false => Codepoint::NotEct,
        };
        Segment {
            seq: self.send.iss.add(start),
            ack: self.recv.irs.add(self.recv.nxt),
            len: len as u32,
            window: field.min(0xffff) as u16,
            flags: flags.with(self.ecn_echo()),
            ecn,
            options,
        }
    }

    /// Adds the SACK blocks: first the duplicate (RFC 2883), then the held ranges, most recent first.
    pub(in crate::endpoint) fn report_ranges(&mut self, options: &mut Options, blocks: usize) {
        let twice = self.recv.dsack.take();
        for (start, end) in twice.into_iter().chain(self.recv.ranges.recent_first()).take(blocks) {
            options.sack[usize::from(options.sack_count)] =
                SackBlock { left: self.recv.irs.add(start), right: self.recv.irs.add(end) };
            options.sack_count += 1;
        }
    }
}
