//! Delivery of data by an acknowledgement: the updates of the scoreboard and the RTT samples.

use windlass_cc::{Flavour, Phase, Span, Time};

use super::Sender;
use super::summary::AckSummary;
use crate::endpoint::{Endpoint, Profile};
use crate::scoreboard::Record;
use crate::segment::{MAX_SACK_BLOCKS, Segment};
use crate::stack::LeastRtt;

impl AckSummary {
    /// Adds a delivered segment; `volume` of it is delivered for the first time. `beyond` is true if a SACK
    /// block reports it beyond a hole.
    fn take(&mut self, r: &Record, volume: u64, karn: bool, beyond: bool) {
        self.delivered += volume;
        let again = r.transmissions > 1;
        self.covers_retransmission |= again && !beyond;
        if volume == 0 {
            return;
        }
        let at = r.first_sent;
        if !again {
            self.first_time = Some(self.first_time.map_or(r.start, |lowest| lowest.min(r.start)));
        }
        if karn && again {
            self.repeated.get_or_insert((at, u32::from(r.transmissions - 1)));
            return;
        }
        let times = if beyond { &mut self.reported } else { &mut self.timed };
        let (first, last) = times.unwrap_or((at, at));
        *times = Some((first.min(at), last.max(at)));
    }
}

impl Sender {
    /// True if Linux counts no duplicates: a recovery without SACK waits for an acknowledgement above its data
    /// (`tcp_is_non_sack_preventing_reopen`), or no new data were sent since a timeout (`tcp_process_loss`).
    fn ignores_duplicates(&self, p: &Profile) -> bool {
        let idle = match self.phase {
            Phase::Open | Phase::Cwr => false,
            Phase::Recovery => self.una >= self.recover,
            Phase::Loss => self.una >= self.recover || self.max <= self.recover,
        };
        idle && p.stack.rules == Flavour::Linux
    }

    /// Counts delivered data and duplicates; a segment has `mss` bytes.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        p: &Profile,
        now: Time,
        mut a: AckSummary,
        s: &Segment,
        mss: u32,
    ) -> AckSummary {
        if self.selective {
            self.rack.begin_acknowledgement();
            self.read_blocks(p, now, &mut a, s, mss);
        }
        if a.acked > 0 {
            self.advance(p, now, &mut a, mss);
        } else if a.duplicate && self.counts_duplicates() && !self.ignores_duplicates(p) {
            // RFC 9937-6.2-2
            // An unknown segment has arrived (RFC 9937 section 6).
            a.delivered = self.scoreboard.add_duplicate(u64::from(mss));
            self.sampler.on_delivered(now, a.delivered, self.una, None);
        }
        let linux = p.stack.rules == Flavour::Linux;
        if linux && !self.selective && a.covers_retransmission {
            // Duplicates do not show which of these data arrived first (`tcp_clean_rtx_queue`).
            a.first_time = None;
        }
        if self.selective {
            self.rack.measure_reordering(self.una, mss);
        } else if linux
            && self.counts_duplicates()
            && a.acked > 0
            && (self.phase != Phase::Recovery || self.una >= self.recover)
        {
            // `tcp_reset_reno_sack`: the segments that the duplicates represented are acknowledged.
            self.scoreboard.forget_duplicates();
        }
        // RFC 6675 section 2: with SACK, a duplicate is an acknowledgement that reports new data.
        // RFC 5681-3.2-6
        a.duplicate = a.acked == 0 && (a.delivered > 0 || a.duplicate && self.inflates());
        if a.duplicate {
            self.dup_acks += 1;
            if self.dup_acks == 1 {
                self.first_dup_nxt = self.nxt;
            }
        }
        if a.twice > 0 && linux {
            // An unnecessary retransmission has been delivered too (`tcp_dsack_seen`).
            let volume = u64::from(a.twice) * u64::from(mss);
            a.delivered += volume;
            self.sampler.on_delivered(now, volume, self.una, None);
        }
        a
    }

    /// Processes the SACK blocks of an acknowledgement (RFC 2018 and 2883).
    // RFC 6675-5-1
    fn read_blocks(&mut self, p: &Profile, now: Time, a: &mut AckSummary, s: &Segment, mss: u32) {
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        for (slot, block) in blocks.iter_mut().zip(s.options.sack_blocks()) {
            let left = block.left.unwrap_near(self.iss, self.una);
            let right = block.right.unwrap_near(self.iss, self.una);
            if let (Some(left), Some(right)) = (left, right)
                && left < right
                && right <= self.max
            {
                *slot = (left, right);
            }
        }
        // RFC 2883 section 4: the first block is below the acknowledgement or within the second.
        let (first, second) = (blocks[0], blocks[1]);
        let within = second.0 <= first.0 && first.1 <= second.1;
        if first.0 < first.1 && (first.1 <= a.ack || within) {
            self.take_duplicate(p, a, first, mss);
            blocks[0] = (0, 0);
        }
        blocks.sort_unstable(); // RACK takes the RTT of the last segment that is processed
        let (min_rtt, unit) = (self.min_rtt, self.scoreboard.unit());
        let floor = a.ack.max(self.una);
        for (left, right) in blocks.iter().copied().filter(|b| b.0 < b.1 && b.0 >= floor) {
            self.scoreboard.sack(left, right, |record, sent| {
                let volume = match unit {
                    0 => u64::from(record.len),
                    unit => u64::from(unit),
                };
                // RFC 9937-6.2-1
                a.take(record, volume, p.stack.karn, true);
                self.sampler.on_delivered(now, volume, record.end(), sent);
                // Beyond a hole, the echo belongs to the last segment below the hole (RFC 7323 section 4.3).
                // It is older than any later retransmission, and therefore has no information about this
                // segment.
                self.rack.on_delivered(now, record, min_rtt, |_| false);
            });
        }
        self.scoreboard.remember_blocks(blocks);
    }

    /// Records duplicate data that the peer reports. Linux ignores more duplicates than retransmissions
    /// (`tcp_dsack_seen`).
    fn take_duplicate(&mut self, p: &Profile, a: &mut AckSummary, block: (u64, u64), mss: u32) {
        let segments = (block.1 - block.0).div_ceil(u64::from(mss)).max(1) as u32;
        self.rack.duplicates = self.rack.duplicates.saturating_add(segments);
        let linux = p.stack.rules == Flavour::Linux;
        if linux && self.rack.duplicates > self.resent {
            return;
        }
        (a.dsack, a.twice, a.explained) = (Some(block), segments, segments);
        if linux {
            self.rack.note_duplicate(block.1);
        }
        if linux && block.1 > self.una {
            // For outstanding data the records show the retransmissions. If the original had already arrived,
            // it was late and not lost (`tcp_sacktag_one`).
            let record = self.scoreboard.get(self.scoreboard.place_of(block.0));
            let again = record.filter(|r| r.transmissions > 1);
            a.explained = u32::from(again.is_some());
            if let Some(record) = again.filter(|r| r.sacked) {
                self.rack.note_reordering(record.start);
            }
        }
    }

    /// Processes the cumulative acknowledgement: everything below it has arrived.
    #[inline]
    fn advance(&mut self, p: &Profile, now: Time, a: &mut AckSummary, mss: u32) {
        if self.inflates() && !self.samples {
            // The individual segments do not matter here.
            let (counted, delivered) = (&mut a.counted, &mut a.delivered);
            self.scoreboard.acknowledge(a.ack, |_, _, volume, fresh| {
                *counted += volume;
                *delivered += fresh;
            });
            self.sampler.on_delivered(now, a.delivered, a.ack, None);
        } else {
            self.advance_by_segment(p, now, a, mss);
        }
        self.una = a.ack;
        self.nxt = self.nxt.max(a.ack);
        self.retries = 0;
        // RFC 6675-5-2
        self.dup_acks = 0;
    }

    // RFC 9937-6.2-1
    fn advance_by_segment(&mut self, p: &Profile, now: Time, a: &mut AckSummary, mss: u32) {
        let (min_rtt, older) = (self.min_rtt, echo_is_older(a.echo));
        let selective = self.selective;
        // Without SACK, duplicates may have counted a part of these data.
        let mut known = match self.counts_duplicates() {
            true => self
                .scoreboard
                .settle_duplicates(self.scoreboard.volume_below(a.ack), u64::from(mss)),
            false => 0,
        };
        self.scoreboard.acknowledge(a.ack, |record, sent, volume, fresh| {
            let before = known.min(fresh);
            known -= before;
            a.counted += volume;
            a.take(record, fresh, p.stack.karn, false);
            a.delivered -= before;
            if !record.sacked {
                self.sampler.on_delivered(now, fresh - before, record.end(), sent);
                if selective {
                    self.rack.on_delivered(now, record, min_rtt, &older);
                }
            }
        });
    }
}

impl Endpoint {
    /// Takes the RTT sample of the delivery and passes it to the timer.
    #[inline]
    pub(super) fn measure(&mut self, p: &Profile, now: Time, mut a: AckSummary) -> AckSummary {
        if a.acked > 0 || a.duplicate {
            a.rtt = self.round_trip(p, now, &a);
        }
        if a.acked > 0 {
            self.stop_probing();
            self.send.rto.on_progress(&p.stack.rto);
        }
        self.stats.dup_acks += u64::from(a.duplicate);
        a
    }

    /// The RTT sample of an acknowledgement. The timer receives the longest RTT of the acknowledged segments,
    /// the delay of the acknowledgement included. The controller and the minimum RTT receive the shortest.
    // RFC 7323-4.1-2
    fn round_trip(&mut self, p: &Profile, now: Time, a: &AckSummary) -> Span {
        if self.send.inflates() {
            return if a.acked > 0 {
                self.one_round_trip(p, now, a.ack, a.echo)
            } else {
                Span::NONE
            };
        }
        let una = self.send.una;
        let Some((first, last)) = a.times(p.stack.karn) else {
            if let Some((at, again)) = a.repeated.filter(|_| self.times_retransmissions(p)) {
                self.feed_timer(p, now, una, now.since(at), again);
                return Span::NONE;
            }
            // The echoed timestamps distinguish the transmissions. As long as a hole exists, the echo is from
            // before the hole (RFC 7323 section 4.1's rule on RTTM).
            let rtt =
                if a.acked > 0 { self.timestamp_sample(p, now, a.ack, a.echo) } else { Span::NONE };
            if p.stack.least_rtt != LeastRtt::Data || !rtt.is_known() {
                return Span::NONE;
            }
            // Linux's controllers receive it too (`tcp_ack_update_rtt`); a long recovery has no other
            // samples.
            self.note_least_rtt(rtt);
            return rtt;
        };
        self.feed_timer(p, now, una, now.since(first), 0);
        let least = now.since(last);
        self.note_least_rtt(least);
        least
    }
}

/// A test: true if an acknowledgement's timestamp is older than a transmission at the given time (RFC 8985
/// section 6.2 step 2).
fn echo_is_older(echo: Option<u32>) -> impl Fn(Time) -> bool {
    move |sent| {
        let stamp = Endpoint::timestamp(sent);
        echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }
}
