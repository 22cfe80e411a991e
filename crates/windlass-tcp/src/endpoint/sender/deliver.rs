//! What an acknowledgement delivers: entered on the scoreboard, and timed.

use windlass_cc::setup::Counting;
use windlass_cc::{Span, Time};

use super::Sender;
use super::summary::AckSummary;
use crate::endpoint::{Endpoint, Profile};
use crate::scoreboard::Record;
use crate::segment::{MAX_SACK_BLOCKS, Segment};
use crate::stack::LeastRtt;

impl AckSummary {
    /// A segment is delivered, `bytes` of it for the first time.
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
            self.repeated.get_or_insert((at, u32::from(r.transmissions - 1)));
            return;
        }
        let (first, last) = self.timed.unwrap_or((at, at));
        self.timed = Some((first.min(at), last.max(at)));
    }
}

impl Sender {
    /// Counts what has arrived, and duplicates; a segment has `mss` bytes.
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
            self.read_blocks(p, now, &mut a, s);
        }
        if a.acked > 0 {
            self.advance(p, now, &mut a, mss);
        } else if a.duplicate && self.counts_duplicates() {
            // Some segment has arrived, nobody knows which (RFC 9937 section 6).
            a.delivered = self.scoreboard.add_duplicate(u64::from(mss));
            self.sampler.on_delivered(now, a.delivered, self.una, None);
        }
        // RFC 6675 section 2: with SACK, a duplicate is one that reports something new.
        a.duplicate = a.acked == 0 && (a.delivered > 0 || a.duplicate && self.inflates());
        if a.duplicate {
            self.dup_acks += 1;
            if self.dup_acks == 1 {
                self.first_dup_nxt = self.nxt;
            }
        }
        a
    }

    /// RFC 2018 and 2883: the blocks of an acknowledgement.
    fn read_blocks(&mut self, p: &Profile, now: Time, a: &mut AckSummary, s: &Segment) {
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
            a.dsack = Some(first);
            blocks[0] = (0, 0);
        }
        blocks.sort_unstable(); // what RACK takes the round trip of is the last one that is read
        let min_rtt = self.min_rtt;
        let floor = a.ack.max(self.una);
        for (left, right) in blocks.iter().copied().filter(|b| b.0 < b.1 && b.0 >= floor) {
            self.scoreboard.sack(left, right, |record, sent| {
                let bytes = u64::from(record.len);
                a.take(record, bytes, p.stack.karn);
                self.sampler.on_delivered(now, bytes, record.end(), sent);
                // Above a hole the echo is that of the last segment below it (RFC 7323 section 4.3),
                // older than whatever was sent again since: it says nothing of this one.
                self.rack.on_delivered(now, record, min_rtt, |_| false);
            });
        }
        self.scoreboard.remember_blocks(blocks);
    }

    /// Everything below the acknowledgement has arrived.
    #[inline]
    fn advance(&mut self, p: &Profile, now: Time, a: &mut AckSummary, mss: u32) {
        let segments = self.scoreboard.len();
        if self.inflates() && !self.samples {
            // Nobody asks which segments these were.
            let delivered = &mut a.delivered;
            self.scoreboard.acknowledge(a.ack, |_, _, bytes| *delivered += bytes);
            self.sampler.on_delivered(now, a.delivered, a.ack, None);
        } else {
            self.advance_by_segment(p, now, a, mss);
        }
        a.piece = self.scoreboard.len() == segments && segments > 0;
        self.una = a.ack;
        self.nxt = self.nxt.max(a.ack);
        self.retries = 0;
        self.dup_acks = 0;
    }

    fn advance_by_segment(&mut self, p: &Profile, now: Time, a: &mut AckSummary, mss: u32) {
        let (min_rtt, older) = (self.min_rtt, echo_is_older(a.echo));
        let selective = self.selective;
        let counts_segments = p.stack.window_counting == Counting::Segments;
        // Without SACK, duplicates may have counted part of it.
        let mut counted = match self.counts_duplicates() {
            true => self.scoreboard.settle_duplicates(a.acked, u64::from(mss)),
            false => 0,
        };
        self.scoreboard.acknowledge(a.ack, |record, sent, bytes| {
            let known = counted.min(bytes);
            counted -= known;
            a.take(record, bytes, p.stack.karn);
            a.delivered -= known;
            if !record.sacked {
                self.held += bytes - known;
                // A piece is no delivery in `tcp_clean_rtx_queue`: taken for one, what is sent between the pieces would be
                // timed from the first of them and counted from the last, and the rate would come out too high.
                if !counts_segments || record.end() <= a.ack {
                    let fresh = std::mem::take(&mut self.held);
                    self.sampler.on_delivered(now, fresh, record.end(), sent);
                }
                if selective {
                    self.rack.on_delivered(now, record, min_rtt, &older);
                }
            }
        });
    }
}

impl Endpoint {
    /// What the delivery shows of the round trip, which the timer gets.
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

    /// The round trip that this acknowledgement shows. The timer gets the longest that can be read
    /// from it, a delayed acknowledgement included; the controller, and the least RTT, the shortest.
    fn round_trip(&mut self, p: &Profile, now: Time, a: &AckSummary) -> Span {
        if self.send.inflates() {
            return if a.acked > 0 { self.one_round_trip(p, now, a) } else { Span::NONE };
        }
        let una = self.send.una;
        let Some((first, last)) = a.timed else {
            if let Some((at, again)) = a.repeated.filter(|_| self.times_retransmissions(p)) {
                self.feed_timer(p, now, una, now.since(at), again);
                return Span::NONE;
            }
            // The clock that the peer echoes tells the transmissions apart. While a hole lasts
            // it echoes what came before the hole (RFC 7323 section 4.1's rule on RTTM).
            let rtt = if a.acked > 0 { self.timestamp_sample(p, now, a) } else { Span::NONE };
            if p.stack.least_rtt != LeastRtt::Data || !rtt.is_known() {
                return Span::NONE;
            }
            // Linux's controllers get it too (`tcp_ack_update_rtt`): through a long recovery there is no other.
            self.note_least_rtt(rtt);
            return rtt;
        };
        self.feed_timer(p, now, una, now.since(first), 0);
        let least = now.since(last);
        self.note_least_rtt(least);
        least
    }
}

/// Whether an acknowledgement's timestamp says that it answers a transmission before some moment
/// (RFC 8985 section 6.2 step 2).
fn echo_is_older(echo: Option<u32>) -> impl Fn(Time) -> bool {
    move |sent| {
        let stamp = Endpoint::timestamp(sent);
        echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }
}
