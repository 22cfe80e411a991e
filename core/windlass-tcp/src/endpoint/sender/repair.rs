//! Repair of losses with the scoreboard: the next segment to send, and the beginning of recovery.
//!
//! With SACK this is RFC 6675's NextSeg. Without SACK, the loss is the first missing segment (NewReno, Reno),
//! or everything after it too. Going back N marks all of it as lost (Tahoe, and every algorithm at a
//! timeout). cwnd is compared with the data in the network. Tahoe, Reno and NewReno instead keep the data
//! that duplicates represent in the flight, and [inflate](Sender::inflates) cwnd by them.

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
    /// Selects the recovery when the options are negotiated. Without SACK, RFC 6675's recovery becomes
    /// NewReno.
    // RFC 5681-4.3-1
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
        self.send.rack = Rack::new(self.send.rto.srtt().is_known());
        self.send.spurious = SpuriousDetector::default();
    }

    /// The next segment with data, in this order: a probe, lost data, new data, possibly lost data.
    // RFC 5681-3.2-11
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
        // RFC 6675-4-5
        let new = self.poll_new(p, now);
        if new.is_none() && self.send.phase != Phase::Open && !self.send.spurious.holds() {
            return self.poll_instead_of_new(p, now, first);
        }
        new
    }

    /// The segment to send if no new data may be sent: possibly lost data, or retransmissions that F-RTO had
    /// delayed.
    #[cold]
    fn poll_instead_of_new(&mut self, p: &Profile, now: Time, first: bool) -> Option<Segment> {
        if self.send.spurious.prefers_new() && self.send.scoreboard.pending() > 0 {
            return self.poll_lost(p, now, first);
        }
        self.poll_perhaps_lost(p, now)
    }

    /// Begins fast recovery or, for Tahoe, slow start from the first missing segment.
    // RFC 5681-3.2-7, 6675-5-6
    pub(in crate::endpoint) fn enter_recovery(&mut self, p: &Profile, now: Time) {
        self.stats.fast_retransmits += 1;
        self.send.partial_acks = 0;
        let linux = p.stack.rules == Flavour::Linux;
        // Reno's recovery ends at the first new acknowledgement and may begin again at once.
        if !self.send.ends_at_first_ack() {
            // During the response to a mark, it ends together with that response (`tcp_init_cwnd_reduction`).
            self.send.recover = match linux && self.send.phase == Phase::Cwr {
                true => self.answered_to(),
                false => self.send.max,
            };
        }
        self.send.rescued = false;
        self.send.scoreboard.set_high_rxt(self.send.una);
        // Segments sent by limited transmit do not count as flight (RFC 5681 section 3.2 step 2).
        // RFC 5681-3.2-8
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
        // Proportional rate reduction itself allows the first retransmission, if one is due, but Careful
        // Resume may set cwnd far below the flight.
        self.send.retransmit_first =
            !linux || self.send.recovery != LossRecovery::Prr || p.resumes();
        self.arm_rto(p, now);
    }

    /// Marks the record at index `place` and its last transmission as lost, and notifies the controller.
    pub(super) fn lose(&mut self, p: &Profile, now: Time, place: usize, rule: LossRule) {
        let Some(record) = self.send.scoreboard.lose(place) else { return };
        let len = record.len;
        if let Some(journal) = &mut self.journal {
            let which = (record.last_sent, u32::from(record.transmissions));
            journal.lose(lost_segment(now, self.send.iss, record, which, rule));
        }
        self.tell_loss(p, now, place, len);
    }

    /// Marks the first transmission of the record at index `place` as lost, and notifies the controller.
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
            // A controller without rate samples receives only the volume.
            None => sampler.on_lost(&{ *sampler }.on_sent(now, 0, 0, 0), scoreboard.volume(len)),
        };
        let conn = self.conn(now, flags::CWND_LIMITED);
        self.cc.on_loss(&p.params, &conn, &loss);
    }

    /// Goes back to the first missing segment: all segments that the peer does not have are deemed lost. If
    /// losses are detected by time, segments that were sent too recently are excepted.
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

    /// Bytes that cwnd allows in addition to the flight.
    // RFC 5681-3-1, 6675-5-5
    #[inline]
    pub(super) fn congestion_room(&self, p: &Profile) -> u64 {
        let (mut cwnd, mut in_flight) = (self.control.cwnd, self.send.in_flight());
        let open = matches!(self.send.phase, Phase::Open | Phase::Cwr);
        if self.send.inflates() {
            // Limited transmit (RFC 3042): one new segment per duplicate, for the first duplicates.
            // RFC 5681-3.2-4, 5681-3.2-5
            if p.stack.limited_transmit && self.send.phase == Phase::Open {
                let extra = self.send.dup_acks.min(p.stack.dupthresh.saturating_sub(1));
                cwnd = cwnd.saturating_add(u64::from(extra) * u64::from(self.agreed.mss));
            }
        } else if open && !p.stack.limited_transmit {
            // Without limited transmit, a delivered segment allows no other segment before a loss is
            // detected.
            in_flight = self.send.flight_size();
        }
        let room = cwnd.saturating_sub(in_flight);
        // If segments are counted, there is space for a whole segment or for none, independent of its length.
        if room < u64::from(self.send.scoreboard.unit()) { 0 } else { room }
    }

    /// NextSeg rule 1: the lowest segment that is lost and not retransmitted. The first retransmission of a
    /// recovery or after a timeout is sent regardless of the windows.
    // RFC 6675-4-4
    fn poll_lost(&mut self, p: &Profile, now: Time, first: bool) -> Option<Segment> {
        let back =
            self.send.inflates() && self.send.phase == Phase::Loss && self.send.in_flight() == 0;
        if back && self.send.wnd == 0 && self.send.una < self.stream.end {
            // The peer's window closed over data that had been sent, and all of these data are retransmitted.
            // RFC 9293-3.8.6-MUST-35
            return self.poll_probe(p, now, self.send.una, 0);
        }
        let place = self.send.scoreboard.next_pending()?;
        if self.send.inflates() && !self.layer.on {
            let limit = self.sequence_limit(self.send.scoreboard.get(place)?.start);
            self.send.scoreboard.join(place, limit);
        }
        let record = self.send.scoreboard.get(place)?;
        let len = u64::from(record.len).min(self.payload_limit());
        // RFC 9293-3.8.6-SHLD-16
        let offered = place == 0 || record.end() <= self.send.una + self.send.wnd;
        // RFC 6675-5-10
        let room = self.congestion_room(p) >= len || self.send.in_flight() == 0;
        // RFC 8985-9.3-1
        if !first && (!offered || !room || self.must_wait(p, now)) {
            return None;
        }
        let segment = self.resend(p, now, place)?;
        self.send
            .scoreboard
            // RFC 6675-5-11
            .set_high_rxt(self.offset_after(&segment).max(self.send.scoreboard.high_rxt()));
        Some(segment)
    }

    /// NextSeg rules 3 and 4, if there is no other segment to send. By rule 3, it is a segment below delivered
    /// data that is not deemed lost yet. Rule 4 sends, once per recovery, the last missing segment, so that a
    /// lost tail does not wait for the timer.
    // RFC 6675-4-7, 6675-4-9
    #[cold]
    fn poll_perhaps_lost(&mut self, p: &Profile, now: Time) -> Option<Segment> {
        // RFC 8985 has a probe for the tail.
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
        // RFC 6675-4-8
        self.send.rescued = true;
        self.resend(p, now, place)
    }

    fn offset_after(&self, s: &Segment) -> u64 {
        s.seq.unwrap_near(self.send.iss, self.send.una).unwrap_or(0) + u64::from(s.seq_len())
    }

    /// Bytes of sequence space of a segment that starts at `start`: its payload, and the FIN if it follows
    /// directly.
    fn sequence_limit(&self, start: u64) -> u32 {
        let end = start + self.payload_limit();
        let end = if end >= self.stream.end { self.stream.end + 1 } else { end };
        (end - start) as u32
    }

    /// Retransmits the record at index `place`.
    pub(super) fn resend(&mut self, p: &Profile, now: Time, place: usize) -> Option<Segment> {
        self.repeat(p, now, place, true)
    }

    /// Sends the record at index `place` once more. `counts` is false for the copy of a probe, which takes no room
    /// of cwnd and is not a retransmission that an undo must explain.
    pub(super) fn repeat(
        &mut self,
        p: &Profile,
        now: Time,
        place: usize,
        counts: bool,
    ) -> Option<Segment> {
        let limit = self.sequence_limit(self.send.scoreboard.get(place)?.start);
        let short = u64::from(self.send.scoreboard.get(place)?.len) < self.payload_limit();
        if p.stack.rules == Flavour::Linux && short && !self.layer.on {
            self.send.scoreboard.collapse(place, limit, self.send.una + self.send.wnd);
        }
        let outstanding = self.send.max - self.send.una;
        let sampler = &mut self.send.sampler;
        let record = self.send.scoreboard.resend(place, limit, counts, |pipe, len| {
            sampler.on_sent(now, outstanding, pipe, len)
        })?;
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
        if counts {
            self.send.spurious.note_resent();
        }
        if len > 0 {
            self.recv.acks.note_sent(now);
        }
        self.note_filled(p);
        self.note_retransmission(p, start, end);
        self.pace(p, now, len);
        self.send.last_sent = now;
        // `tcp_xmit_retransmit_queue`: the timer of the first segment restarts.
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
