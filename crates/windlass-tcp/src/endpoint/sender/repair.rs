//! Repairing losses by the scoreboard: what goes next, and when recovery begins.
//!
//! With SACK it is RFC 6675's NextSeg. Without, a loss is the first segment that is missing (NewReno,
//! Reno), or everything after it too: going back N is to deem all of it lost (Tahoe, and whoever times
//! out). The window is held against what is in the network; Tahoe, Reno and NewReno instead leave what
//! duplicates stand for in the flight and [inflate](Endpoint::inflates) the window by it.

use windlass_cc::rate::RateSampler;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::Counting;
use windlass_cc::{Flavour, Phase, Time, flags};

use super::Sender;
use super::detect::Rack;
use super::undo::SpuriousDetector;
use super::usage::Usage;
use crate::decision::{Cause, LossRule};
use crate::endpoint::journal::lost_segment;
use crate::endpoint::{Endpoint, Profile};
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment};

impl Endpoint {
    /// The options are agreed on: which recovery runs. Without SACK, RFC 6675's is NewReno.
    pub(in crate::endpoint) fn choose_recovery(&mut self, p: &Profile, now: Time) {
        let wants = p.params.requirements();
        self.send.recovery = match p.stack.recovery.unwrap_or(wants.recovery) {
            LossRecovery::Sack if !self.agreed.sack => LossRecovery::NewReno,
            recovery => recovery,
        };
        self.limit_segment(p);
        self.send.selective = self.agreed.sack && !self.send.inflates();
        self.send.samples = wants.rate_samples;
        let unit = match p.stack.window_counting {
            Counting::Bytes => 0,
            Counting::Segments => self.agreed.mss,
        };
        self.send.scoreboard = Scoreboard::new(wants.rate_samples, unit);
        self.send.sampler = RateSampler::new(now);
        self.send.usage = Usage::default();
        self.send.rack = Rack::default();
        self.send.spurious = SpuriousDetector::default();
    }

    /// The next segment with data: a probe, what is lost, what is new, what may be lost.
    #[inline]
    pub(super) fn poll_data(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        if self.send.rack.probe_now
            && let Some(probe) = self.poll_tail_probe(p, now)
        {
            return Some(probe);
        }
        let first = std::mem::take(&mut self.send.retransmit_first);
        if self.send.scoreboard.pending() > 0
            && !self.send.spurious.prefers_new()
            && let Some(lost) = self.poll_lost(p, now, first)
        {
            return Some(lost);
        }
        let new = self.poll_new(p, now);
        if new.is_none() && self.send.phase != Phase::Open && !self.send.spurious.holds() {
            return self.poll_instead_of_new(p, now, first);
        }
        new
    }

    /// There is nothing new that may go: what may be lost, or what F-RTO had held back for it.
    #[cold]
    fn poll_instead_of_new(&mut self, p: &Profile, now: Time, first: bool) -> Option<Segment> {
        if self.send.spurious.prefers_new() && self.send.scoreboard.pending() > 0 {
            return self.poll_lost(p, now, first);
        }
        self.poll_perhaps_lost(p, now)
    }

    /// Something is lost: fast recovery begins, or for Tahoe slow start from the first segment missing.
    pub(super) fn enter_recovery(&mut self, p: &Profile, now: Time) {
        self.stats.fast_retransmits += 1;
        self.send.partial_acks = 0;
        let linux = p.stack.rules == Flavour::Linux;
        // Reno's recovery ends at the first new acknowledgement and may begin again at once.
        if !self.send.ends_at_first_ack() {
            // Within the round trip of a mark it ends where that does (`tcp_init_cwnd_reduction`).
            self.send.recover = match linux && self.send.phase == Phase::Cwr {
                true => self.answered_to(),
                false => self.send.max,
            };
        }
        self.send.rescued = false;
        self.send.scoreboard.set_high_rxt(self.send.una);
        // What limited transmit sent is no part of the flight (RFC 5681 section 3.2 step 2).
        let sent_to = if self.send.dup_acks > 0 { self.send.first_dup_nxt } else { self.send.nxt };
        let flight = sent_to.saturating_sub(self.send.una);
        if self.send.recovery == LossRecovery::Tahoe {
            self.go_back(p, now, LossRule::GoBack);
            self.set_phase(p, now, Phase::Loss, flight, Cause::Losses);
        } else {
            self.set_phase(p, now, Phase::Recovery, flight, Cause::Losses);
            self.watch_for_spurious(p, now, false);
            self.send.rack.forget_probe();
        }
        // Proportional rate reduction makes room for the first retransmission itself where there is to be any.
        self.send.retransmit_first = !linux || self.send.recovery != LossRecovery::Prr;
        self.arm_rto(p, now);
    }

    /// The record at a place is deemed lost, its last transmission too, and the controller told.
    pub(super) fn lose(&mut self, p: &Profile, now: Time, place: usize, rule: LossRule) {
        let Some(record) = self.send.scoreboard.lose(place) else { return };
        let len = record.len;
        if let Some(journal) = &mut self.journal {
            let which = (record.last_sent, u32::from(record.transmissions));
            journal.lose(lost_segment(now, self.send.iss, record, which, rule));
        }
        self.tell_loss(p, now, place, len);
    }

    /// The same of a record's first transmission.
    pub(super) fn lose_original(&mut self, p: &Profile, now: Time, place: usize, rule: LossRule) {
        let Some(record) = self.send.scoreboard.lose_original(place) else { return };
        let len = record.len;
        if let Some(journal) = &mut self.journal {
            let first = (record.first_sent, 1);
            journal.lose(lost_segment(now, self.send.iss, record, first, rule));
        }
        self.tell_loss(p, now, place, len);
    }

    fn tell_loss(&mut self, p: &Profile, now: Time, place: usize, len: u32) {
        let Sender { sampler, scoreboard, .. } = &mut self.send;
        let loss = match scoreboard.sample(place) {
            Some(sent) => sampler.on_lost(sent, scoreboard.volume(len)),
            // Who wants no samples is told no more than how much it was.
            None => sampler.on_lost(&{ *sampler }.on_sent(now, 0, 0, 0), scoreboard.volume(len)),
        };
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_loss(&p.params, &conn, &loss);
    }

    /// Goes back to the first segment missing: whatever the peer does not have is taken for lost, but where
    /// losses are found by time what was sent too lately for that.
    pub(in crate::endpoint) fn go_back(&mut self, p: &Profile, now: Time, rule: LossRule) {
        self.send.dup_acks = 0;
        self.note_going_back(p);
        self.send.rack.stop();
        self.send.rack.forget_probe();
        self.send.scoreboard.forget_duplicates();
        self.send.scoreboard.forget_reneged();
        for place in 0..self.send.scoreboard.len() {
            if place == 0 || !self.send.is_recent(p, now, place) {
                self.lose(p, now, place, rule);
            }
        }
        self.send.scoreboard.set_high_rxt(self.send.una);
    }

    /// Bytes that the congestion window leaves.
    #[inline]
    pub(super) fn congestion_room(&self, p: &Profile) -> u64 {
        let (mut cwnd, mut in_flight) = (self.control.cwnd, self.send.in_flight());
        let open = matches!(self.send.phase, Phase::Open | Phase::Cwr);
        if self.send.inflates() {
            // Limited transmit (RFC 3042): one new segment for each of the first duplicates.
            if p.stack.limited_transmit && self.send.phase == Phase::Open {
                let extra = self.send.dup_acks.min(p.stack.dupthresh.saturating_sub(1));
                cwnd = cwnd.saturating_add(u64::from(extra) * u64::from(self.agreed.mss));
            }
        } else if open && !p.stack.limited_transmit {
            // Before a loss is found, each delivered segment lets one more go only with it.
            in_flight = self.send.flight_size();
        }
        let room = cwnd.saturating_sub(in_flight);
        // Where segments are counted there is room for a whole one or for none, however small it is.
        if room < u64::from(self.send.scoreboard.unit()) { 0 } else { room }
    }

    /// NextSeg rule 1: the lowest segment that is lost and was not retransmitted. The first of a
    /// recovery or after a timeout goes whatever the windows say.
    fn poll_lost(&mut self, p: &Profile, now: Time, first: bool) -> Option<Segment> {
        let back =
            self.send.inflates() && self.send.phase == Phase::Loss && self.send.in_flight() == 0;
        if back && self.send.wnd == 0 && self.send.una < self.stream.end {
            // The window closed over data that had been sent, and all of it is retransmitted.
            return self.poll_probe(p, now, self.send.una, 0);
        }
        let place = self.send.scoreboard.next_pending()?;
        if self.send.inflates() && !self.layer.on {
            let limit = self.sequence_limit(self.send.scoreboard.get(place)?.start);
            self.send.scoreboard.join(place, limit);
        }
        let record = self.send.scoreboard.get(place)?;
        let len = u64::from(record.len).min(self.payload_limit());
        let offered = place == 0 || record.end() <= self.send.una + self.send.wnd;
        let room = self.congestion_room(p) >= len || self.send.in_flight() == 0;
        if !first && (!offered || !room || self.must_wait(p, now)) {
            return None;
        }
        let segment = self.resend(p, now, place)?;
        self.send
            .scoreboard
            .set_high_rxt(self.offset_after(&segment).max(self.send.scoreboard.high_rxt()));
        Some(segment)
    }

    /// NextSeg rules 3 and 4, when there is nothing else to send: a segment below what is delivered
    /// that nobody called lost yet, then once per recovery the last one that is missing, so that a
    /// lost tail does not wait for the timer.
    fn poll_perhaps_lost(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        // RFC 8985 has its probe for the tail.
        let counting =
            self.send.phase == Phase::Recovery && self.send.selective && !self.send.uses_rack(p);
        if !counting || self.send.scoreboard.pending() > 0 {
            return None;
        }
        if self.congestion_room(p) < u64::from(self.agreed.mss) {
            return None;
        }
        if let Some(place) = self.send.scoreboard.next_by_rule_3() {
            if self.must_wait(p, now) {
                return None;
            }
            let segment = self.resend(p, now, place)?;
            self.send.scoreboard.set_high_rxt(self.offset_after(&segment));
            return Some(segment);
        }
        // "HighACK is greater than RescueRxt (or RescueRxt is undefined)": once per recovery.
        let place = self.send.scoreboard.last_missing()?;
        let record = self.send.scoreboard.get(place)?;
        if self.send.rescued || record.resent || self.must_wait(p, now) {
            return None;
        }
        self.send.rescued = true;
        self.resend(p, now, place)
    }

    fn offset_after(&self, s: &Segment) -> u64 {
        s.seq.unwrap_near(self.send.iss, self.send.una).unwrap_or(0) + u64::from(s.seq_len())
    }

    /// Bytes of sequence space that a segment from `start` on can take: its payload, and the FIN if that
    /// follows at once.
    fn sequence_limit(&self, start: u64) -> u32 {
        let end = start + self.payload_limit();
        let end = if end >= self.stream.end { self.stream.end + 1 } else { end };
        (end - start) as u32
    }

    /// The record at a place is retransmitted.
    pub(super) fn resend(&mut self, p: &Profile, now: Time, place: usize) -> Option<Segment> {
        let limit = self.sequence_limit(self.send.scoreboard.get(place)?.start);
        let short = u64::from(self.send.scoreboard.get(place)?.len) < self.payload_limit();
        if p.stack.rules == Flavour::Linux && short && !self.layer.on {
            self.send.scoreboard.collapse(place, limit, self.send.una + self.send.wnd);
        }
        let outstanding = self.send.max - self.send.una;
        let sampler = &mut self.send.sampler;
        let record = self
            .send
            .scoreboard
            .resend(place, limit, |pipe, len| sampler.on_sent(now, outstanding, pipe, len))?;
        let (start, end) = (record.start, record.end());
        let data_end = end.min(self.stream.end);
        let len = data_end.saturating_sub(start);
        let fin = end > self.stream.end;
        self.count_data(len, true);
        self.send.resent += 1;
        self.send.sent += match self.send.scoreboard.unit() {
            0 => len,
            unit => u64::from(unit),
        };
        self.send.spurious.note_resent();
        if len > 0 {
            self.recv.acks.note_sent(now);
        }
        self.note_retransmission(p, start, end);
        self.pace(p, now, len);
        self.send.last_sent = now;
        // `tcp_xmit_retransmit_queue`: the first segment's time runs again.
        if self.timers.rto.is_never() || place == 0 && self.send.uses_rack(p) {
            self.arm_rto(p, now);
        }
        let mut flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        if len > 0 && data_end == self.stream.end {
            flags = flags.with(Flags::PSH);
        }
        Some(self.finish(p, now, start, len, flags))
    }
}
