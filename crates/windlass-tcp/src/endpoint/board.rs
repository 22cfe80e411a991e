//! Acknowledgements where a scoreboard is kept: what they deliver, what they prove lost, and what
//! recovery makes of it.

use windlass_cc::{Ack, Phase, Span, Time};

use super::{Endpoint, Profile};
use crate::scoreboard::Record;
use crate::segment::{Flags, MAX_SACK_BLOCKS, Segment};

/// What one acknowledgement delivered.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct News {
    /// Bytes delivered that had not been before.
    pub(super) delivered: u64,
    /// When the first and the last of the delivered segments were sent, of those that a round trip
    /// can be read from.
    timed: Option<(Time, Time)>,
    /// The first that was sent more than once: when first, and how often again.
    repeated: Option<(Time, u32)>,
    /// The lowest that was sent once only.
    pub(super) first_time: Option<u64>,
    /// Data that the peer reports to have received twice (RFC 2883).
    pub(super) dsack: Option<(u64, u64)>,
}

impl News {
    fn take(&mut self, r: &Record, bytes: u64, karn: bool) {
        self.delivered += bytes;
        let at = r.first_sent;
        if bytes == 0 {
            return;
        }
        if r.transmissions == 1 {
            self.first_time = Some(self.first_time.map_or(r.start, |lowest| lowest.min(r.start)));
        }
        if karn && r.transmissions > 1 {
            self.repeated.get_or_insert((at, r.transmissions - 1));
            return;
        }
        let (first, last) = self.timed.unwrap_or((at, at));
        self.timed = Some((first.min(at), last.max(at)));
    }
}

impl Endpoint {
    /// A valid acknowledgement of everything below `ack`, of a segment that starts at `start`.
    pub(super) fn on_ack_by_board(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        start: u64,
        window: u64,
        s: &Segment,
    ) {
        let prior_in_flight = self.board.pipe();
        let acked = ack.saturating_sub(self.snd_una);
        // RFC 5681 section 2, the definition of a duplicate acknowledgement.
        let repeated = ack == self.snd_una
            && s.len == 0
            && !s.flags.has(Flags::FIN)
            && window == self.snd_wnd
            && self.snd_nxt > self.snd_una;
        self.update_window(start, ack, window);
        let mut news = News::default();
        self.rack.begin_acknowledgement();
        if self.sack {
            self.read_blocks(p, now, ack, s, &mut news);
        }
        if acked > 0 {
            self.advance(p, now, ack, s, &mut news);
        } else if repeated && !self.sack {
            self.count_duplicate(now, &mut news);
        }
        // RFC 6675 section 2: with SACK, one that reports something new.
        let duplicate = acked == 0 && news.delivered > 0;
        self.adapt_reordering_window(&news);
        let repaired = self.judge_probe(ack, acked > 0, &news);
        let unfounded = self.find_evidence(acked > 0, &news, s);
        if duplicate {
            self.dup_acks += 1;
            self.stats.dup_acks += 1;
            if self.dup_acks == 1 {
                self.first_dup_nxt = self.snd_nxt;
            }
        } else if acked == 0 {
            // Nothing new; but a peer that answers with a closed window lives.
            if ack == self.snd_una && (self.snd_nxt == self.snd_una || self.snd_wnd == 0) {
                self.retries = 0;
            }
            if let Some(why) = unfounded {
                self.undo(p, now, why);
                self.follow_phase(p, now, true);
            }
            if ack == self.snd_una {
                self.on_echo(p, now, 0, s);
            }
            return;
        }
        let rtt = self.round_trip(p, now, &news, s, acked > 0);
        if acked > 0 {
            self.rto.on_progress(&p.stack.rto);
        }
        let lost_before = self.sampler.lost();
        match unfounded {
            Some(why) => self.undo(p, now, why),
            None => self.find_losses(p, now, acked > 0),
        }
        let limits = self.usage_limits(p);
        let conn = self.conn(now, limits);
        let event = Ack {
            acked,
            delivered: news.delivered,
            lost: conn.lost - lost_before,
            ce: self.marked_bytes(p, s, news.delivered),
            prior_in_flight,
            rtt,
            rate: self.sampler.sample(self.min_rtt),
            duplicate,
        };
        self.cc.on_ack(&p.params, &conn, &event);
        self.control = self.cc.control(&p.params, &conn);
        self.follow_phase(p, now, unfounded.is_some());
        if repaired {
            self.answer_repaired_loss(p, now);
        }
        self.on_echo(p, now, acked, s);
        if self.snd_una == self.snd_max {
            self.rto_deadline = Time::NEVER;
            self.rack.stop();
        } else if acked > 0 || self.uses_rack(p) && self.predates_head(&news) {
            self.arm_rto(p, now);
        }
        self.arm_probe(p, now);
    }

    /// RFC 2018 and 2883: the blocks of an acknowledgement.
    fn read_blocks(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment, news: &mut News) {
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        for (slot, block) in blocks.iter_mut().zip(s.options.sack_blocks()) {
            let left = block.left.unwrap_near(self.iss, self.snd_una);
            let right = block.right.unwrap_near(self.iss, self.snd_una);
            if let (Some(left), Some(right)) = (left, right)
                && left < right
                && right <= self.snd_max
            {
                *slot = (left, right);
            }
        }
        // RFC 2883 section 4: the first block is below the acknowledgement or within the second.
        let (first, second) = (blocks[0], blocks[1]);
        let within = second.0 <= first.0 && first.1 <= second.1;
        if first.0 < first.1 && (first.1 <= ack || within) {
            news.dsack = Some(first);
            blocks[0] = (0, 0);
        }
        blocks.sort_unstable(); // what RACK takes the round trip of is the last one that is read
        let min_rtt = self.min_rtt;
        let floor = ack.max(self.snd_una);
        for (left, right) in blocks.iter().copied().filter(|b| b.0 < b.1 && b.0 >= floor) {
            self.board.sack(left, right, |record| {
                let bytes = u64::from(record.len);
                news.take(record, bytes, p.stack.karn);
                self.sampler.on_delivered(now, bytes, record.end(), Some(&record.sent));
                // Above a hole the echo is that of the last segment below it (RFC 7323 section 4.3),
                // older than whatever was sent again since: it says nothing of this one.
                self.rack.on_delivered(now, record, min_rtt, |_| false);
            });
        }
        self.board.remember_blocks(blocks);
    }

    /// Everything below `ack` has arrived.
    fn advance(&mut self, p: &Profile, now: Time, ack: u64, s: &Segment, news: &mut News) {
        let (min_rtt, older) = (self.min_rtt, Endpoint::echo_is_older(s));
        // Without SACK, duplicates have counted part of it.
        let mut counted = match self.sack {
            true => 0,
            false => self.board.settle_duplicates(ack - self.snd_una, u64::from(self.mss)),
        };
        self.board.acknowledge(ack, |record, bytes| {
            let known = counted.min(bytes);
            counted -= known;
            news.take(record, bytes, p.stack.karn);
            news.delivered -= known;
            if !record.sacked {
                let fresh = bytes - known;
                self.sampler.on_delivered(now, fresh, record.end(), Some(&record.sent));
                self.rack.on_delivered(now, record, min_rtt, &older);
            }
        });
        self.snd_una = ack;
        self.snd_nxt = self.snd_nxt.max(ack);
        self.retries = 0;
        self.dup_acks = 0;
        self.stop_probing();
    }

    /// Whether an acknowledgement's timestamp says that it answers a transmission before some
    /// moment (RFC 8985 section 6.2 step 2).
    fn echo_is_older(s: &Segment) -> impl Fn(Time) -> bool + use<> {
        let echo = s.options.timestamps.map(|t| t.echo).filter(|echo| *echo != 0);
        move |sent| {
            let stamp = Endpoint::timestamp(sent);
            echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
        }
    }

    /// A duplicate without SACK: some segment has arrived, nobody knows which (RFC 9937 section 6).
    fn count_duplicate(&mut self, now: Time, news: &mut News) {
        news.delivered = self.board.add_duplicate(u64::from(self.mss));
        self.sampler.on_delivered(now, news.delivered, self.snd_una, None);
    }

    /// The round trip that this acknowledgement shows. The timer gets the longest that can be read
    /// from it, a delayed acknowledgement included; the controller, and the least RTT, the shortest.
    fn round_trip(
        &mut self,
        p: &Profile,
        now: Time,
        news: &News,
        s: &Segment,
        advanced: bool,
    ) -> Span {
        let una = self.snd_una;
        let Some((first, last)) = news.timed else {
            match news.repeated.filter(|_| self.times_retransmissions(p)) {
                Some((at, again)) => self.feed_timer(p, now, una, now.since(at), again),
                // The clock that the peer echoes tells the transmissions apart. While a hole lasts
                // it echoes what came before the hole (RFC 7323 section 4.1's rule on RTTM).
                None if advanced => self.timestamp_sample(p, now, una, s),
                None => {}
            }
            return Span::NONE;
        };
        self.feed_timer(p, now, una, now.since(first), 0);
        let least = now.since(last);
        self.note_least_rtt(least);
        least
    }

    /// Whether what was delivered had been sent before the first segment that is missing was last
    /// sent: then nothing can have been heard of that yet (`tcp_clean_rtx_queue`).
    fn predates_head(&self, news: &News) -> bool {
        let head = self.board.get(0).map(Record::sent_at);
        news.timed.zip(head).is_some_and(|((first, _), head)| first < head)
    }

    fn find_losses(&mut self, p: &Profile, now: Time, advanced: bool) {
        if !p.stack.fast_retransmit {
            return;
        }
        if self.uses_rack(p) {
            return self.find_late(p, now);
        }
        let enough = self.dup_acks >= p.stack.dupthresh;
        if self.sack {
            for place in self.board.lost_by_count(p.stack.dupthresh, self.mss) {
                self.lose_original(p, now, place);
            }
            if enough && self.phase == Phase::Open {
                self.lose_original(p, now, 0);
            }
            return;
        }
        // RFC 6582 section 3.2 steps 2 and 3: duplicates up to `recover` may be echoes of what an
        // earlier recovery sent twice; a partial acknowledgement shows the next hole.
        let open = matches!(self.phase, Phase::Open | Phase::Cwr);
        let first = open && enough && self.snd_una > self.recover;
        let partial = self.phase == Phase::Recovery && advanced && self.snd_una < self.recover;
        let head_resent = self.board.get(0).is_some_and(|r| r.resent);
        if first || (partial && !head_resent) {
            self.lose(p, now, 0);
        }
    }

    /// Where recovery stands after an acknowledgement, which may have shown that it was `undone`.
    fn follow_phase(&mut self, p: &Profile, now: Time, undone: bool) {
        let over = match self.phase {
            Phase::Open => false,
            Phase::Cwr => self.echo_is_answered(),
            Phase::Recovery | Phase::Loss => self.snd_una >= self.recover,
        };
        if over {
            self.retransmit_first = false;
            if matches!(self.phase, Phase::Recovery | Phase::Loss) {
                self.relax_reordering_window();
            }
            if !self.sack {
                self.board.forget_duplicates();
            }
            let flight = self.flight_size();
            self.set_phase(p, now, Phase::Open, flight);
        }
        // What was sent since recovery began and lost is a loss of its own, though it has been sent
        // again already (`tcp_time_to_recover` goes by what is lost, sent again or not).
        if over && !undone && self.uses_rack(p) && self.board.misses_lost() {
            self.enter_recovery_by_board(p, now);
            return;
        }
        if matches!(self.phase, Phase::Open | Phase::Cwr) && self.board.pending() > 0 {
            self.enter_recovery_by_board(p, now);
        }
    }
}
