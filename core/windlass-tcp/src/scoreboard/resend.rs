//! Retransmission of records: whole, merged with others, or split in two.

use windlass_cc::rate::SentRecord;

use super::{Record, Scoreboard};

impl Scoreboard {
    /// Retransmits the record at index `place`, or its first `limit` bytes if it is longer. `sent` returns
    /// the sampler's record. Its arguments are the bytes in flight before the retransmission and the volume
    /// of the segment. `counts` is false for a copy that is not in flight by itself.
    pub fn resend(
        &mut self,
        place: usize,
        limit: u32,
        counts: bool,
        sent: impl FnOnce(u64, u64) -> SentRecord,
    ) -> Option<&Record> {
        self.cut(place, limit);
        let pipe = self.pipe();
        let una = self.records.front()?.start;
        while self.again.front().is_some_and(|(_, end)| *end <= una) {
            self.again.pop_front();
        }
        let (len, end) = self.records.get(place).map(|r| (r.len, r.end()))?;
        let volume = self.volume(len);
        let sent = sent(pipe, volume);
        // RFC 8985-4-2
        let last_sent = self.moment(sent.sent_time, end);
        let record = &mut self.records[place];
        self.pipe -= volume * record.copies();
        self.pending -= if record.is_pending() { volume } else { 0 };
        record.last_sent = last_sent;
        if let Some(sample) = self.samples.as_mut().and_then(|all| all.get_mut(place)) {
            *sample = sent;
        }
        record.transmissions = record.transmissions.saturating_add(1);
        // A probe may repeat data that have arrived; they are not in flight.
        if counts {
            record.resent = !record.sacked;
        }
        self.pipe += volume * record.copies();
        self.again.push_back((record.last_sent, record.end()));
        Some(record)
    }

    /// Merges the following records into the record at index `place`, up to `limit` bytes, as long as both
    /// must be retransmitted.
    pub fn join(&mut self, place: usize, limit: u32) {
        while let Some(next) = self.records.get(place + 1).filter(|r| r.is_pending()) {
            let (len, transmissions) = (next.len, next.transmissions);
            let record = &mut self.records[place];
            let take = len.min(limit.saturating_sub(record.len));
            if take == 0 || !record.is_pending() {
                return;
            }
            record.len += take;
            record.transmissions = record.transmissions.max(transmissions);
            if take == len {
                self.pending -= u64::from(self.unit);
                self.records.remove(place + 1);
                if let Some(samples) = &mut self.samples {
                    samples.remove(place + 1);
                }
            } else {
                let rest = &mut self.records[place + 1];
                rest.start += u64::from(take);
                rest.len -= take;
            }
        }
    }

    /// Merges the following records into the record at index `place` if they have not arrived. Each is merged
    /// only as a whole, if the result is at most `limit` long and ends by `edge`
    /// (`tcp_retrans_try_collapse`).
    pub fn collapse(&mut self, place: usize, limit: u32, edge: u64) {
        while let Some(&next) = self.records.get(place + 1) {
            let record = &mut self.records[place];
            if next.sacked || record.sacked || record.len + next.len > limit || next.end() > edge {
                return;
            }
            record.len += next.len;
            record.transmissions = record.transmissions.max(next.transmissions);
            // The merged record has the state of its first part.
            let (volume, own) = match self.unit {
                0 => (u64::from(next.len), *record),
                unit => (u64::from(unit), next),
            };
            self.pipe -= volume * next.copies();
            self.pending -= if next.is_pending() { volume } else { 0 };
            // A duplicate stands for a segment, and there is one less (`tcp_adjust_pcount`).
            self.duplicates = self.duplicates.saturating_sub(volume);
            if self.unit == 0 {
                self.pipe += volume * own.copies();
                self.pending += if own.is_pending() { volume } else { 0 };
            }
            self.records.remove(place + 1);
            if let Some(samples) = &mut self.samples {
                samples.remove(place + 1);
            }
        }
    }

    /// Splits the record at index `place` in two if it is longer than `limit`.
    fn cut(&mut self, place: usize, limit: u32) {
        let Some(record) = self.records.get_mut(place) else { return };
        if limit == 0 || record.len <= limit {
            return;
        }
        let rest =
            Record { start: record.start + u64::from(limit), len: record.len - limit, ..*record };
        record.len = limit;
        if self.unit > 0 {
            let unit = u64::from(self.unit);
            self.pipe += unit * rest.copies();
            self.sacked += if rest.sacked { unit } else { 0 };
            self.pending += if rest.is_pending() { unit } else { 0 };
        }
        self.records.insert(place + 1, rest);
        if let Some(samples) = &mut self.samples {
            samples.insert(place + 1, samples[place]);
        }
    }
}
