//! Queries of RFC 6675: the segments that are lost because data above them has arrived, and the next segment
//! to send.

use super::{Record, Scoreboard};

impl Scoreboard {
    /// RFC 6675 section 4, IsLost: records with `dupthresh` separate ranges, or more than `dupthresh − 1`
    /// segments, delivered above them. Returns the range of indices of the records that are newly lost. Some
    /// records in the range may be delivered.
    // RFC 6675-4-1
    pub fn lost_by_count(&mut self, dupthresh: u32, segment: u32) -> std::ops::Range<usize> {
        let most = u64::from(dupthresh.saturating_sub(1)) * u64::from(segment);
        let (mut bytes, mut ranges, mut inside) = (0, 0, false);
        let mut first = self.place_of(self.counted_to);
        // Later acknowledgements skip the records that are delivered here.
        while let Some(record) = self.records.get(first).filter(|r| r.sacked) {
            self.counted_to = record.end();
            first += 1;
        }
        let mut place = first;
        if self.counted_to < self.high_sacked {
            place = (self.place_of(self.high_sacked - 1) + 1).min(self.records.len());
        }
        while place > first {
            let record = &self.records[place - 1];
            if record.sacked {
                bytes += u64::from(record.len);
                ranges += u32::from(!inside);
            } else if ranges >= dupthresh || bytes > most {
                self.counted_to = record.end();
                return first..place;
            }
            inside = record.sacked;
            place -= 1;
        }
        first..first
    }

    /// RFC 6675 section 4, rule 3 of NextSeg: the lowest record above the retransmitted data and below the
    /// delivered data, lost or not.
    // RFC 6675-4-6
    pub fn next_by_rule_3(&self) -> Option<usize> {
        let first = self.place_of(self.high_rxt);
        let record = |r: &Record| !r.sacked && !r.resent;
        let below = self.records.range(first..).take_while(|r| r.start < self.high_sacked);
        Some(first + below.enumerate().find(|(_, r)| record(r))?.0)
    }

    /// Sets RFC 6675's HighRxt: one past the highest byte retransmitted in this recovery.
    pub fn set_high_rxt(&mut self, offset: u64) {
        self.high_rxt = offset;
    }

    /// RFC 6675's HighRxt.
    pub fn high_rxt(&self) -> u64 {
        self.high_rxt
    }
}
