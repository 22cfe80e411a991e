//! RFC 6675's scoreboard: each segment that was sent and is not yet acknowledged.
//!
//! The scoreboard tracks the data in the network ([`Scoreboard::pipe`]), the lost data and the data to
//! retransmit. The endpoint decides when to use this information. Records are in order of their offsets,
//! without a gap, from the first unacknowledged byte to the last byte sent. One ring holds them, so that a
//! connection allocates only while its largest flight grows.

mod overtaken;
mod prediction;
mod resend;
mod rfc6675;

use std::collections::VecDeque;

use windlass_cc::Time;
use windlass_cc::rate::SentRecord;

use crate::ring;

/// Maximum number of ranges in one acknowledgement.
const MAX_BLOCKS: usize = crate::segment::MAX_SACK_BLOCKS;

/// One segment sent. Two records share a cache line. A record is written when its segment leaves, and read
/// one RTT later from a cold cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Stream offset of its first byte.
    pub start: u64,
    /// Time of the first transmission.
    pub first_sent: Time,
    /// Time of the last transmission.
    pub last_sent: Time,
    /// Bytes of sequence space, a FIN included.
    pub len: u32,
    /// Number of transmissions; 255 means 255 or more.
    pub transmissions: u8,
    /// True if the receiver has reported the segment as received.
    pub sacked: bool,
    /// True if the first or a later transmission is deemed lost.
    pub lost: bool,
    /// True if the segment was retransmitted and the retransmission is neither delivered nor deemed lost.
    pub resent: bool,
}

impl Record {
    /// Stream offset after its last byte.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Copies of it in the network (RFC 6675 section 4, SetPipe): none, one or two.
    // RFC 6675-4-3
    fn copies(&self) -> u64 {
        if self.sacked { 0 } else { u64::from(!self.lost) + u64::from(self.resent) }
    }

    /// True if the segment is delivered, deemed lost or retransmitted.
    fn is_marked(&self) -> bool {
        self.sacked | self.lost | self.resent
    }

    /// True if the segment must be retransmitted.
    fn is_pending(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// Records that an acknowledgement has removed.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    /// Volume of all of them.
    pub volume: u64,
    /// Sending time of the first.
    pub first_sent: Time,
    /// The last.
    pub last: Record,
    /// State of the delivery-rate sampler at the transmission of the last, if the controller uses samples.
    pub sample: Option<SentRecord>,
}

/// Records of a sender. Volumes are bytes of sequence space. If segments are counted as in Linux
/// (`packets_out`), each segment has a fixed volume instead, independent of its length. A part of a segment
/// has no volume then.
// RFC 6675-4-1
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Volume of each segment, bytes; zero if the volume is the segment's length.
    unit: u32,
    records: VecDeque<Record>,
    /// State of the delivery-rate sampler at the last transmission of each record, in the order of the
    /// records. `None` if the controller does not use samples.
    samples: Option<VecDeque<SentRecord>>,
    /// Sum of the bytes in flight over all records.
    pipe: u64,
    /// Bytes that the receiver has above the first missing byte.
    sacked: u64,
    /// Bytes deemed lost and not retransmitted.
    pending: u64,
    /// Every record that must be retransmitted is at or above this offset.
    pending_from: u64,
    /// One past the highest byte that the receiver has.
    high_sacked: u64,
    /// Every record below this offset is delivered, or was deemed lost by counting.
    counted_to: u64,
    /// RFC 6675's HighRxt: one past the highest byte retransmitted in this recovery.
    high_rxt: u64,
    /// Without SACK: bytes that the duplicate acknowledgements represent.
    duplicates: u64,
    /// Blocks of the last acknowledgement. The records that they cover need no second check.
    seen: [(u64, u64); MAX_BLOCKS],
    /// Every record below this offset is delivered or deemed lost.
    settled_to: u64,
    /// RACK has examined all segments below this offset for the last time: an undo does not make it examine them again.
    examined_to: u64,
    /// The last segment sent: the time in its record, and the offset of its end.
    latest: (Time, u64),
    /// Times of retransmissions and the offsets of their ends, in the order of sending. An entry may remain
    /// after its segment is delivered, lost or retransmitted once more.
    again: VecDeque<(Time, u64)>,
}

impl Scoreboard {
    /// An empty scoreboard, with or without delivery-rate samples. Each segment has a volume of `unit` bytes,
    /// or of its length if `unit` is zero.
    pub fn new(samples: bool, unit: u32) -> Scoreboard {
        Scoreboard { unit, samples: samples.then(VecDeque::new), ..Scoreboard::default() }
    }

    /// Volume of each segment, bytes; zero if the volume is the segment's length.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// The volume of a segment with this number of bytes of sequence space.
    #[inline]
    pub fn volume(&self, len: u32) -> u64 {
        u64::from(if self.unit == 0 { len } else { self.unit })
    }

    /// True if no data are outstanding.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Number of outstanding records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The records in order.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> + ExactSizeIterator {
        self.records.iter()
    }

    /// The record at index `place`.
    pub fn get(&self, place: usize) -> Option<&Record> {
        self.records.get(place)
    }

    /// State of the sampler at the last transmission of the record at index `place`; `None` without samples.
    pub fn sample(&self, place: usize) -> Option<&SentRecord> {
        self.samples.as_ref()?.get(place)
    }

    /// RFC 6675's `pipe`: bytes in the network. Without SACK, each duplicate acknowledgement reduces it.
    pub fn pipe(&self) -> u64 {
        self.pipe.saturating_sub(self.duplicates)
    }

    /// Bytes that the receiver has above the first missing byte. Without SACK, the bytes that the duplicate
    /// acknowledgements represent.
    pub fn sacked(&self) -> u64 {
        self.sacked + self.duplicates
    }

    /// Bytes deemed lost and not retransmitted.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// One past the highest byte that the receiver has.
    pub fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    /// Removes all records and resets the counters.
    pub fn clear(&mut self) {
        self.records.clear();
        self.samples.iter_mut().for_each(VecDeque::clear);
        let (records, samples) = (std::mem::take(&mut self.records), self.samples.take());
        *self = Scoreboard { unit: self.unit, records, samples, ..Scoreboard::default() };
    }

    /// Adds the record of a segment that was sent above all others.
    // RFC 8985-4-2
    #[inline]
    pub fn push(&mut self, start: u64, len: u32, sent: SentRecord, again: bool) {
        let end = start + u64::from(len);
        let last_sent = self.moment(sent.sent_time, end);
        let record = Record {
            start,
            first_sent: sent.sent_time,
            last_sent,
            len,
            transmissions: 1 + u8::from(again),
            sacked: false,
            lost: false,
            resent: false,
        };
        self.pipe += self.volume(len);
        ring::push(&mut self.records, record);
        if let Some(samples) = &mut self.samples {
            ring::push(samples, sent);
        }
    }

    /// The next segment is recorded one nanosecond after the previous one if both are sent at the same time.
    pub fn send_apart(&mut self) {
        self.latest.1 = u64::MAX;
    }

    /// Returns the time to record for a segment that ends at `end`. Times and ends together give the order of
    /// sending. The time is one nanosecond later if the previous segment had the same time and did not end
    /// below `end`.
    fn moment(&mut self, now: Time, end: u64) -> Time {
        let (time, last_end) = self.latest;
        let after = if end > last_end { time } else { Time(time.0 + 1) };
        self.latest = (now.max(after), end);
        self.latest.0
    }

    /// Index of the first record that ends above `offset`. The first guess assumes that all records have the
    /// first record's length.
    pub fn place_of(&self, offset: u64) -> usize {
        let guess = self.records.front().map_or(0, |first| {
            let before = offset.saturating_sub(first.start);
            before.checked_div(u64::from(first.len)).unwrap_or(0) as usize
        });
        if self.records.get(guess).is_some_and(|r| r.start <= offset && offset < r.end()) {
            return guess;
        }
        self.records.partition_point(|r| r.end() <= offset)
    }

    /// Removes all data below `una`, which is acknowledged. Calls `delivered` for each record that has a
    /// volume, with its sample, its volume and the part of the volume that was not delivered before.
    // RFC 6675-4-2
    pub fn acknowledge(
        &mut self,
        una: u64,
        mut delivered: impl FnMut(&Record, Option<&SentRecord>, u64, u64),
    ) {
        while let Some(front) = self.records.front_mut() {
            if front.start >= una {
                break;
            }
            let gone = front.end().min(una) - front.start;
            let whole = gone == u64::from(front.len);
            let volume = match self.unit {
                0 => gone,
                unit => u64::from(unit) * u64::from(whole),
            };
            if volume > 0 {
                let sample = self.samples.as_ref().and_then(VecDeque::front);
                delivered(front, sample, volume, if front.sacked { 0 } else { volume });
            }
            if front.is_marked() {
                self.pipe -= volume * front.copies();
                self.sacked -= if front.sacked { volume } else { 0 };
                self.pending -= if front.is_pending() { volume } else { 0 };
            } else {
                self.pipe -= volume;
            }
            if whole {
                self.records.pop_front();
                if let Some(samples) = &mut self.samples {
                    samples.pop_front();
                }
            } else {
                front.start = una;
                front.len -= gone as u32;
            }
        }
        self.high_sacked = self.high_sacked.max(una);
        self.counted_to = self.counted_to.max(una);
        self.pending_from = self.pending_from.max(una);
    }

    /// Volume of the segments that an acknowledgement up to `una` removes.
    pub fn volume_below(&self, una: u64) -> u64 {
        let first = self.records.front().map_or(una, |r| r.start);
        match self.unit {
            0 => una.saturating_sub(first),
            unit => u64::from(unit) * self.place_of(una) as u64,
        }
    }

    /// Processes a reported range `[left, right)` (RFC 2018). Calls `delivered` for each record that is
    /// covered for the first time, with its sample. A record that is covered in part does not count as
    /// delivered. In the worst case it is retransmitted.
    pub fn sack(
        &mut self,
        left: u64,
        right: u64,
        mut delivered: impl FnMut(&Record, Option<&SentRecord>),
    ) {
        let mut from = left;
        while from < right {
            // The next range that was processed before.
            let known = self.seen.iter().filter(|s| from <= s.0 && s.1 <= right && s.0 < s.1);
            let (to, resume) = *known.min_by_key(|s| s.0).unwrap_or(&(right, right));
            let mut place = if from < to { self.place_of(from) } else { usize::MAX };
            while let Some(record) = self.records.get_mut(place) {
                // A record may cross the edge of the range that was processed before.
                if record.start >= to {
                    break;
                }
                if !record.sacked && record.start >= left && record.end() <= right {
                    let before = *record;
                    record.sacked = true;
                    (record.lost, record.resent) = (false, false);
                    let volume = self.volume(before.len);
                    self.pipe -= volume * before.copies();
                    self.pending -= if before.is_pending() { volume } else { 0 };
                    self.sacked += volume;
                    self.high_sacked = self.high_sacked.max(before.end());
                    delivered(&before, self.samples.as_ref().and_then(|all| all.get(place)));
                }
                place += 1;
            }
            from = resume;
        }
    }

    /// Stores the blocks of the acknowledgement that was processed last.
    pub fn remember_blocks(&mut self, blocks: [(u64, u64); MAX_BLOCKS]) {
        self.seen = blocks;
    }

    /// Counts a duplicate acknowledgement without SACK: one more segment has left the network, but not the
    /// missing segment. Returns the added volume.
    // RFC 9937-6.2-3
    pub fn add_duplicate(&mut self, segment: u64) -> u64 {
        let missing = self.records.front().map_or(0, |r| self.volume(r.len));
        let most = self.outstanding().saturating_sub(missing);
        let more = segment.min(most.saturating_sub(self.duplicates));
        self.duplicates += more;
        more
    }

    /// Counts an acknowledgement of new data without SACK. It covers the segments that the duplicates
    /// represented, and the segment that was missing. Returns the bytes that had been counted as delivered
    /// already.
    // RFC 9937-6.2-2
    pub fn settle_duplicates(&mut self, acked: u64, segment: u64) -> u64 {
        let settled = self.duplicates.min(acked.saturating_sub(segment.min(acked)));
        self.duplicates -= settled;
        self.duplicates = self.duplicates.min(self.outstanding());
        settled
    }

    /// Resets the volume that duplicates represent.
    pub fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// Volume sent and not cumulatively acknowledged.
    #[inline]
    pub fn outstanding(&self) -> u64 {
        match (self.unit, self.records.front(), self.records.back()) {
            (0, Some(first), Some(last)) => last.end() - first.start,
            (unit, ..) => u64::from(unit) * self.records.len() as u64,
        }
    }

    /// Marks the record at index `place`, or its latest transmission, as lost. Returns the record if this is
    /// a change.
    #[inline]
    pub fn lose(&mut self, place: usize) -> Option<&Record> {
        let volume = self.volume(self.records.get(place)?.len);
        let record = &mut self.records[place];
        if record.sacked || record.is_pending() {
            return None;
        }
        self.pipe -= volume * record.copies();
        (record.lost, record.resent) = (true, false);
        self.pending += volume;
        self.pending_from = self.pending_from.min(record.start);
        Some(record)
    }

    /// Marks the first transmission of the record at index `place` as lost, because enough data sent after it
    /// has arrived. A retransmission of it stays in the network. (In RFC 6675 section 4, SetPipe counts the
    /// data up to HighRxt, and rule 1 of NextSeg sends data above it.) Returns the record if this is a
    /// change.
    pub fn lose_original(&mut self, place: usize) -> Option<&Record> {
        let volume = self.volume(self.records.get(place)?.len);
        let record = &mut self.records[place];
        if record.sacked || record.lost {
            return None;
        }
        record.lost = true;
        self.pipe -= volume;
        if !record.resent {
            self.pending += volume;
            self.pending_from = self.pending_from.min(record.start);
        }
        Some(record)
    }

    /// True if a segment that was deemed lost has not arrived yet, retransmitted or not.
    pub fn misses_lost(&self) -> bool {
        self.records.iter().any(|r| r.lost && !r.sacked)
    }

    /// Removes all loss marks, because the losses were not real. A retransmitted segment then has two copies
    /// in the network. With `once`, RACK does not examine the segments again that it has marked.
    pub fn forgive(&mut self, once: bool) {
        let unit = self.unit;
        let una = self.records.front().map_or(0, |r| r.start);
        let first = self.place_of(self.settled_to);
        let marked = self.records.range(first..).take_while(|r| r.lost || r.sacked).last();
        if let Some(last) = marked.filter(|_| once) {
            self.examined_to = last.end();
        }
        for record in self.records.iter_mut().filter(|r| r.lost && !r.sacked) {
            record.lost = false;
            self.pipe += u64::from(if unit == 0 { record.len } else { unit });
        }
        self.pending = 0;
        (self.counted_to, self.settled_to) = (una, una);
    }

    /// RACK has examined all segments below this offset for the last time.
    pub fn examined_to(&self) -> u64 {
        self.examined_to
    }

    /// Discards all SACK information if the receiver has reneged (RFC 2018 section 8). A receiver has reneged
    /// if it reported the first outstanding segment but does not acknowledge it.
    // RFC 6675-5.1-5
    pub fn forget_reneged(&mut self) {
        if !self.records.front().is_some_and(|r| r.sacked) {
            return;
        }
        let unit = self.unit;
        for record in self.records.iter_mut().filter(|r| r.sacked) {
            self.pipe += u64::from(if unit == 0 { record.len } else { unit });
            record.sacked = false;
        }
        self.sacked = 0;
        self.seen = Default::default();
        let una = self.records.front().map_or(0, |r| r.start);
        (self.high_sacked, self.counted_to, self.pending_from) = (una, una, una);
        self.settled_to = una;
    }

    /// Index of the lowest record that is lost and was not retransmitted.
    pub fn next_pending(&mut self) -> Option<usize> {
        if self.pending == 0 {
            return None;
        }
        let first = self.place_of(self.pending_from);
        let more = self.records.range(first..).position(Record::is_pending)?;
        self.pending_from = self.records[first + more].start;
        Some(first + more)
    }

    /// Index of the highest record that the receiver does not have.
    // RFC 6675-4-7
    pub fn last_missing(&self) -> Option<usize> {
        self.records.iter().rposition(|r| !r.sacked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_records_share_a_cache_line() {
        assert_eq!(size_of::<Record>(), 32);
    }
}
