//! The scoreboard's part of header prediction: an acknowledgement of whole segments that were sent once.

use super::{Gone, Record, Scoreboard};

impl Scoreboard {
    /// True if no segment is reported, waits for a retransmission or was retransmitted recently.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.sacked == 0 && self.pending == 0 && self.duplicates == 0 && self.again.is_empty()
    }

    /// Removes all records below `una` from a [clean](Scoreboard::is_clean) scoreboard, like
    /// [`acknowledge`](Scoreboard::acknowledge). Returns `None`, and changes nothing, if one of them is acknowledged
    /// in part, marked or was sent again.
    #[inline]
    pub fn acknowledge_whole(&mut self, una: u64) -> Option<Gone> {
        let once = |r: &Record| !r.is_marked() && r.transmissions == 1;
        let first = self.records.front()?;
        let (start, first_sent) = (first.start, first.first_sent);
        let (mut last, mut count) = (*first, 1);
        while last.end() < una && once(&last) {
            last = *self.records.get(count)?;
            count += 1;
        }
        if last.end() != una || !once(&last) {
            return None;
        }
        self.records.drain(..count);
        let sample = self.samples.as_mut().and_then(|samples| samples.drain(..count).next_back());
        let volume = match self.unit {
            0 => una - start,
            unit => u64::from(unit) * count as u64,
        };
        self.pipe -= volume;
        self.high_sacked = self.high_sacked.max(una);
        self.counted_to = self.counted_to.max(una);
        self.pending_from = self.pending_from.max(una);
        Some(Gone { volume, first_sent, last, sample })
    }
}
