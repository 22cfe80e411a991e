//! What RFC 6675 asks of the scoreboard: which segments are lost, by what has arrived above them, and what goes next.

use super::{Record, Scoreboard};

impl Scoreboard {
    /// RFC 6675 section 4, IsLost: records with `dupthresh` separate ranges, or more than
    /// `dupthresh − 1` segments, delivered above them. Returns the places of those for which it was
    /// not known, from the first to one past the last; some between may be delivered.
    pub fn lost_by_count(&mut self, dupthresh: u32, segment: u32) -> std::ops::Range<usize> {
        let most = u64::from(dupthresh.saturating_sub(1)) * u64::from(segment);
        let (mut bytes, mut ranges, mut inside) = (0, 0, false);
        let mut first = self.place_of(self.counted_to);
        // What is delivered there need not be passed again by each acknowledgement.
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

    /// RFC 6675 section 4, NextSeg rule 3: the lowest record above all that was retransmitted and
    /// below what is delivered, lost or not.
    pub fn next_by_rule_3(&self) -> Option<usize> {
        let first = self.place_of(self.high_rxt);
        let record = |r: &Record| !r.sacked && !r.resent;
        let below = self.records.range(first..).take_while(|r| r.start < self.high_sacked);
        Some(first + below.enumerate().find(|(_, r)| record(r))?.0)
    }

    /// What was retransmitted, as RFC 6675's HighRxt.
    pub fn set_high_rxt(&mut self, offset: u64) {
        self.high_rxt = offset;
    }

    /// RFC 6675's HighRxt.
    pub fn high_rxt(&self) -> u64 {
        self.high_rxt
    }
}
