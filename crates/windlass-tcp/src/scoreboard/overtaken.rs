//! What RACK asks of the scoreboard: which segments in the network were sent before one that has arrived (RFC 8985
//! section 6.2). Originals are in the order of sending as they stand; for those sent again that order is kept beside them.
//! Neither is walked from its beginning by each acknowledgement.

use windlass_cc::Time;

use super::{Record, Scoreboard};

impl Scoreboard {
    /// When the oldest retransmission was sent of which nothing is known yet.
    pub fn oldest_retransmission(&self) -> Option<Time> {
        let waiting = self.again.iter().find(|again| self.retransmission(**again).is_some());
        waiting.map(|(sent_at, _)| *sent_at)
    }

    /// Retransmissions of which nothing is known yet.
    pub fn retransmissions(&self) -> u32 {
        self.again.iter().filter(|again| self.retransmission(**again).is_some()).count() as u32
    }

    /// The record of a retransmission of which nothing is known yet.
    fn retransmission(&self, (sent_at, end): (Time, u64)) -> Option<&Record> {
        let record = self.records.get(self.place_of(end - 1))?;
        let waits = record.resent && !record.sacked;
        (waits && (record.last_sent, record.end()) == (sent_at, end)).then_some(record)
    }

    /// Whether anything in the network may have been sent last before `newest`: the moment when a segment was sent, and
    /// the offset of its end.
    #[inline]
    pub fn may_be_overtaken(&self, newest: (Time, u64)) -> bool {
        let first = self.records.front().map(|r| (r.first_sent, r.end()));
        first.is_some_and(|first| first <= newest) || !self.again.is_empty()
    }

    /// What is in the network and was sent last before `newest`: of what was sent until `late`, adds the offsets where
    /// it starts to `found`, ascending; of the rest returns the latest moment.
    pub fn find_overtaken(
        &mut self,
        newest: (Time, u64),
        late: Option<Time>,
        found: &mut Vec<u64>,
    ) -> Option<Time> {
        let first = self.place_of(self.settled_to);
        let (mut settled, mut latest) = (true, None);
        for record in self.records.range(first..) {
            if (record.first_sent, record.end()) > newest {
                break; // as was everything beyond
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

    /// The same of what was retransmitted.
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
            found.dedup(); // sent again twice at the same moment
        }
        latest
    }
}
