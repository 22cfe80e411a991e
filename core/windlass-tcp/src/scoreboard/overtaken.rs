//! Queries of RACK: segments in the network that were sent before a segment that has arrived (RFC 8985
//! section 6.2). The order of the records is the sending order of the first transmissions. A separate queue
//! keeps the sending order of the retransmissions. An acknowledgement does not scan either of them from the
//! beginning.

use windlass_cc::Time;

use super::{Record, Scoreboard};

impl Scoreboard {
    /// Time of the oldest retransmission that is neither delivered nor lost.
    pub fn oldest_retransmission(&self) -> Option<Time> {
        let waiting = self.again.iter().find(|again| self.retransmission(**again).is_some());
        waiting.map(|(sent_at, _)| *sent_at)
    }

    /// Number of retransmissions that are neither delivered nor lost.
    pub fn retransmissions(&self) -> u32 {
        self.again.iter().filter(|again| self.retransmission(**again).is_some()).count() as u32
    }

    /// The record of a retransmission, if the retransmission is neither delivered nor lost.
    fn retransmission(&self, (sent_at, end): (Time, u64)) -> Option<&Record> {
        let record = self.records.get(self.place_of(end - 1))?;
        let waits = record.resent && !record.sacked;
        (waits && (record.last_sent, record.end()) == (sent_at, end)).then_some(record)
    }

    /// True if a segment in the network may have been sent last before `newest`. `newest` is the sending time
    /// of a segment and the offset of its end.
    #[inline]
    pub fn may_be_overtaken(&self, newest: (Time, u64)) -> bool {
        let first = self.records.front().map(|r| (r.first_sent, r.end()));
        first.is_some_and(|first| first <= newest) || !self.again.is_empty()
    }

    /// Finds the segments in the network that were sent last before `newest`. Adds the start offsets of the
    /// segments sent until `late` to `found`, in ascending order. Returns the latest sending time of the
    /// other segments.
    pub fn find_overtaken(
        &mut self,
        newest: (Time, u64),
        late: Option<Time>,
        found: &mut Vec<u64>,
    ) -> Option<Time> {
        let first = self.place_of(self.settled_to.max(self.examined_to));
        let (mut settled, mut latest) = (true, None);
        for record in self.records.range(first..) {
            if (record.first_sent, record.end()) > newest {
                break; // all later records were also sent after `newest`
            }
            let original = !record.sacked && !record.lost;
            settled &= !original;
            if settled {
                self.settled_to = record.end();
            } else if original && (record.last_sent, record.end()) < newest {
                if late >= Some(record.last_sent) {
                    found.push(record.start);
                } else {
                    latest = latest.max(Some(record.last_sent));
                }
            }
        }
        match self.again.is_empty() {
            true => latest,
            false => latest.max(self.find_overtaken_again(newest, late, found)),
        }
    }

    /// Finds the retransmissions in the network that were sent before `newest`. The arguments and the result
    /// are the same as those in [`Scoreboard::find_overtaken`].
    fn find_overtaken_again(
        &mut self,
        newest: (Time, u64),
        late: Option<Time>,
        found: &mut Vec<u64>,
    ) -> Option<Time> {
        while self.again.front().is_some_and(|again| self.retransmission(*again).is_none()) {
            self.again.pop_front();
        }
        let (before, mut latest) = (found.len(), None);
        let overtaken = self.again.iter().take_while(|again| again.0 <= newest.0);
        for again in overtaken.filter(|again| **again < newest) {
            let Some(record) = self.retransmission(*again).filter(|r| r.lost) else { continue };
            if late >= Some(again.0) {
                found.push(record.start);
            } else {
                latest = Some(again.0);
            }
        }
        if found.len() > before {
            found.sort_unstable();
            found.dedup(); // retransmitted twice at the same time
        }
        latest
    }
}
