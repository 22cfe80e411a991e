//! Repairing losses by the scoreboard: RFC 6675's NextSeg, with RFC 9937's or its own window.

use windlass_cc::rate::RateSampler;
use windlass_cc::recovery::Style;
use windlass_cc::{Phase, Time, flags};

use super::rack::Rack;
use super::undo::Evidence;
use super::{Endpoint, Profile, Usage};
use crate::scoreboard::{Record, Scoreboard};
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// The options are agreed on: which recovery runs, and whether it needs a scoreboard. Without
    /// SACK, RFC 6675's is NewReno; proportional rate reduction counts duplicates instead.
    pub(super) fn choose_recovery(&mut self, p: &Profile, now: Time) {
        let wants = p.params.wants();
        self.style = match p.stack.recovery.unwrap_or(wants.recovery) {
            Style::Sack if !self.sack => Style::NewReno,
            style => style,
        };
        self.by_board = matches!(self.style, Style::Sack | Style::Prr);
        self.records = self.by_board || wants.rate_samples || self.layer.on;
        self.board = Scoreboard::default();
        self.sampler = RateSampler::new(now);
        self.usage = Usage::default();
        self.rack = Rack::default();
        self.evidence = Evidence::default();
    }

    /// The next segment with data: a probe, what is lost, what is new, what may be lost.
    pub(super) fn poll_by_board(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if let Some(probe) = self.poll_tail_probe(p, now) {
            return Some(probe);
        }
        if self.evidence.prefer_new
            && let Some(new) = self.poll_new(p, now)
        {
            return Some(new);
        }
        let again = self.poll_pending(p, now);
        again.or_else(|| self.poll_new(p, now)).or_else(|| self.poll_unsure(p, now))
    }

    /// Fast recovery begins: something is lost.
    pub(super) fn enter_recovery_by_board(&mut self, p: &Profile, now: Time) {
        self.stats.fast_retransmits += 1;
        self.recover = self.snd_max;
        self.rescued = false;
        self.board.set_high_rxt(self.snd_una);
        // What limited transmit sent is no part of the flight (RFC 5681 section 3.2 step 2).
        let sent_to = if self.dup_acks > 0 { self.first_dup_nxt } else { self.snd_nxt };
        let flight = sent_to.saturating_sub(self.snd_una);
        self.set_phase(p, now, Phase::Recovery, flight);
        self.watch_for_evidence(p, now, false);
        self.rack.forget_probe();
        self.retransmit_first = true;
        self.arm_rto(p, now);
    }

    /// The record at a place is deemed lost, its last transmission too, and the controller told.
    pub(super) fn lose(&mut self, p: &Profile, now: Time, place: usize) {
        let lost = self.board.lose(place);
        self.tell_loss(p, now, lost);
    }

    /// The same of a record's first transmission.
    pub(super) fn lose_original(&mut self, p: &Profile, now: Time, place: usize) {
        let lost = self.board.lose_original(place);
        self.tell_loss(p, now, lost);
    }

    fn tell_loss(&mut self, p: &Profile, now: Time, lost: Option<Record>) {
        let Some(record) = lost else { return };
        let loss = self.sampler.on_lost(&record.sent, u64::from(record.len));
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_loss(&p.params, &conn, &loss);
    }

    /// The retransmission timer expired: whatever the peer does not have is taken for lost, but where
    /// losses are found by time what was sent too lately for that.
    pub(super) fn lose_everything(&mut self, p: &Profile, now: Time) {
        self.dup_acks = 0;
        self.rack.stop();
        self.rack.forget_probe();
        self.board.forget_duplicates();
        self.board.forget_reneged();
        for place in 0..self.board.len() {
            if place == 0 || !self.is_recent(p, now, place) {
                self.lose(p, now, place);
            }
        }
        self.board.set_high_rxt(self.snd_una);
    }

    /// Bytes that the congestion window leaves. Before a loss is found, each delivered segment lets
    /// one more go only with limited transmit (RFC 3042).
    pub(super) fn congestion_room(&self, p: &Profile) -> u64 {
        let open = matches!(self.phase, Phase::Open | Phase::Cwr);
        let held = open && !p.stack.limited_transmit;
        let in_flight = if held { self.flight_size() } else { self.board.pipe() };
        self.control.cwnd.saturating_sub(in_flight)
    }

    /// NextSeg rule 1: the lowest segment that is lost and was not sent again. The first of a
    /// recovery or after a timeout goes whatever the windows say.
    pub(super) fn poll_pending(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        let first = std::mem::take(&mut self.retransmit_first);
        let place = self.board.next_pending()?;
        let record = self.board.get(place)?;
        let len = u64::from(record.len).min(self.payload_limit());
        let offered = place == 0 || record.end() <= self.snd_una + self.snd_wnd;
        let room = self.congestion_room(p) >= len || self.board.pipe() == 0;
        if !first && (!offered || !room || self.must_wait(p, now)) {
            return None;
        }
        let segment = self.resend(p, now, place)?;
        self.board.set_high_rxt(self.offset_after(&segment).max(self.board.high_rxt()));
        Some(segment)
    }

    /// NextSeg rules 3 and 4, when there is nothing else to send: a segment below what is delivered
    /// that nobody called lost yet, then once per recovery the last one that is missing, so that a
    /// lost tail does not wait for the timer.
    pub(super) fn poll_unsure(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        // RFC 8985 has its probe for the tail.
        let counting = self.phase == Phase::Recovery && self.sack && !self.uses_rack(p);
        if !counting || self.board.pending() > 0 {
            return None;
        }
        if self.congestion_room(p) < u64::from(self.mss) {
            return None;
        }
        if let Some(place) = self.board.next_unsure() {
            if self.must_wait(p, now) {
                return None;
            }
            let segment = self.resend(p, now, place)?;
            self.board.set_high_rxt(self.offset_after(&segment));
            return Some(segment);
        }
        // "HighACK is greater than RescueRxt (or RescueRxt is undefined)": once per recovery.
        let place = self.board.last_missing()?;
        let record = self.board.get(place)?;
        if self.rescued || record.resent || self.must_wait(p, now) {
            return None;
        }
        self.rescued = true;
        self.resend(p, now, place)
    }

    fn offset_after(&self, s: &Segment) -> u64 {
        s.seq.unwrap_near(self.iss, self.snd_una).unwrap_or(0) + u64::from(s.seq_len())
    }

    /// The record at a place goes again.
    pub(super) fn resend(&mut self, p: &Profile, now: Time, place: usize) -> Option<Segment> {
        let limit = self.payload_limit() as u32;
        let sampler = &mut self.sampler;
        let record =
            self.board.resend(place, limit, |pipe, len| sampler.on_sent(now, pipe, len))?;
        let data_end = record.end().min(self.snd_end);
        let len = data_end.saturating_sub(record.start);
        let fin = record.end() > self.snd_end;
        self.count_data(len, true);
        self.note_resent();
        self.pace(p, now, len);
        self.last_sent = now;
        // `tcp_xmit_retransmit_queue`: the first segment's time runs anew.
        if self.rto_deadline.is_never() || place == 0 && self.uses_rack(p) {
            self.arm_rto(p, now);
        }
        let flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        Some(self.finish(p, now, record.start, len, flags))
    }

    /// Nothing more goes out now, with so many bytes left to send: what was it that stopped us? The
    /// answer for a window is that for its fullest moment (RFC 7661 section 4.3, as Linux has it).
    pub(super) fn note_usage(&mut self, available: u64) {
        if !self.records {
            return;
        }
        let available = self.layer.backlog(available);
        let (cwnd, mss) = (self.control.cwnd, u64::from(self.mss));
        let in_flight = self.in_flight();
        let full = in_flight + mss > cwnd;
        let used = self.flight_size();
        let usage = &mut self.usage;
        if self.snd_una >= usage.end || full || (!usage.full && used > usage.most) {
            let receiver = used + mss > self.snd_wnd;
            *usage = Usage { end: self.snd_nxt, most: used, full, receiver };
        }
        if available < mss && in_flight < cwnd && self.board.pending() == 0 {
            self.sampler.on_app_limited(in_flight);
        }
    }

    /// What limited the sender within the last window, as the controller is to see it. In slow
    /// start half a window suffices, since the window doubles before the flight can.
    pub(super) fn usage_limits(&self, p: &Profile) -> u32 {
        let cwnd = self.control.cwnd;
        let slow_start = cwnd < self.control.ssthresh && cwnd < 2 * self.usage.most;
        if !p.stack.window_validation || self.usage.full || slow_start {
            flags::CWND_LIMITED
        } else if self.usage.receiver {
            flags::RWND_LIMITED
        } else {
            flags::APP_LIMITED
        }
    }
}
