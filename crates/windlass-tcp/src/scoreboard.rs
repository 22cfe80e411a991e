//! What was sent and is not yet acknowledged, segment by segment: RFC 6675's scoreboard.
//!
//! It says what is in the network ([`Scoreboard::pipe`]), what is lost and what is to be retransmitted;
//! when any of that is done is up to the endpoint. Records are in order of their offsets, without a
//! gap, from the first unacknowledged byte to the last one sent. They stay in one ring, so that a
//! connection allocates only while its largest flight grows.

mod overtaken;
mod resend;
mod rfc6675;

use std::collections::VecDeque;

use windlass_cc::Time;
use windlass_cc::rate::SentRecord;

/// Most ranges that one acknowledgement reports.
const MAX_BLOCKS: usize = crate::segment::MAX_SACK_BLOCKS;

/// One segment sent. Two share a cache line: a record is written when its segment leaves, and read a round trip later from
/// a cold cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Stream offset of its first byte.
    pub start: u64,
    /// When it was sent first.
    pub first_sent: Time,
    /// When it was sent last.
    pub last_sent: Time,
    /// Bytes of sequence space, a FIN included.
    pub len: u32,
    /// Times it was sent; 255 stands for more too.
    pub transmissions: u8,
    /// The peer has it.
    pub sacked: bool,
    /// Its first or a later transmission is deemed lost.
    pub lost: bool,
    /// It was retransmitted and that transmission is neither delivered nor deemed lost.
    pub resent: bool,
}

impl Record {
    /// Stream offset after its last byte.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Copies of it in the network (RFC 6675 section 4, SetPipe): none, one or two.
    fn copies(&self) -> u64 {
        if self.sacked { 0 } else { u64::from(!self.lost) + u64::from(self.resent) }
    }

    /// Whether anything has become of it since it was sent.
    fn is_marked(&self) -> bool {
        self.sacked | self.lost | self.resent
    }

    /// Whether it is to be retransmitted.
    fn is_pending(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// Records of a sender. Volumes are bytes of sequence space. If segments are counted as in Linux (`packets_out`), each
/// segment has a fixed volume instead, however small it is. A part of a segment has no volume then.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// Bytes that each segment counts for; zero where its own bytes count.
    unit: u32,
    records: VecDeque<Record>,
    /// What the sampler of the delivery rate knew when each of the records was sent last, in their order, if the
    /// controller wants samples.
    samples: Option<VecDeque<SentRecord>>,
    /// Sum over the records of what is in flight.
    pipe: u64,
    /// Bytes that the peer has beyond the first missing one.
    sacked: u64,
    /// Bytes deemed lost and not retransmitted.
    pending: u64,
    /// No record before this offset is to be retransmitted.
    pending_from: u64,
    /// One past the highest byte that the peer has.
    high_sacked: u64,
    /// Every record below that the peer does not have was deemed lost by counting.
    counted_to: u64,
    /// RFC 6675's HighRxt: one past the highest byte retransmitted in this recovery.
    high_rxt: u64,
    /// Without SACK: bytes that duplicate acknowledgements stand for.
    duplicates: u64,
    /// The blocks of the last acknowledgement: what they cover need not be looked at again.
    seen: [(u64, u64); MAX_BLOCKS],
    /// Every record below has been delivered or deemed lost.
    settled_to: u64,
    /// The segment sent last: the moment that its record has, and where it ends.
    latest: (Time, u64),
    /// When segments were retransmitted and where they end, in the order of sending. One that has been delivered or lost
    /// since, or sent once more, may still be there.
    again: VecDeque<(Time, u64)>,
}

impl Scoreboard {
    /// An empty one, with or without what the samples of the delivery rate are made of. Each segment counts for `unit`
    /// bytes, or for its own if that is zero.
    pub fn new(samples: bool, unit: u32) -> Scoreboard {
        Scoreboard { unit, samples: samples.then(VecDeque::new), ..Scoreboard::default() }
    }

    /// Bytes that each segment counts for; zero where its own bytes count.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// The volume of a segment with this number of bytes of sequence space.
    #[inline]
    pub fn volume(&self, len: u32) -> u64 {
        u64::from(if self.unit == 0 { len } else { self.unit })
    }

    /// Whether nothing is outstanding.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Records outstanding.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The records in order.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> + ExactSizeIterator {
        self.records.iter()
    }

    /// The record at a place.
    pub fn get(&self, place: usize) -> Option<&Record> {
        self.records.get(place)
    }

    /// What the sampler knew when the record at a place was sent last; `None` where no samples are wanted.
    pub fn sample(&self, place: usize) -> Option<&SentRecord> {
        self.samples.as_ref()?.get(place)
    }

    /// RFC 6675's `pipe`: bytes in the network. Without SACK, what duplicates stand for is out of it.
    pub fn pipe(&self) -> u64 {
        self.pipe.saturating_sub(self.duplicates)
    }

    /// Bytes that the peer has beyond the first missing one; without SACK, those that duplicate
    /// acknowledgements stand for.
    pub fn sacked(&self) -> u64 {
        self.sacked + self.duplicates
    }

    /// Bytes deemed lost and not retransmitted.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// One past the highest byte that the peer has.
    pub fn high_sacked(&self) -> u64 {
        self.high_sacked
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.records.clear();
        self.samples.iter_mut().for_each(VecDeque::clear);
        let (records, samples) = (std::mem::take(&mut self.records), self.samples.take());
        *self = Scoreboard { unit: self.unit, records, samples, ..Scoreboard::default() };
    }

    /// A segment beyond all others was sent.
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
        self.records.push_back(record);
        if let Some(samples) = &mut self.samples {
            samples.push_back(sent);
        }
    }

    /// The moment that stands for the sending of a segment up to `end`. Moments and ends together give the order of sending:
    /// the moment is later by a nanosecond if a segment that ends beyond was sent just before at the same time.
    fn moment(&mut self, now: Time, end: u64) -> Time {
        let (time, last_end) = self.latest;
        let after = if end > last_end { time } else { Time(time.0 + 1) };
        self.latest = (now.max(after), end);
        self.latest.0
    }

    /// Place of the first record that ends beyond `offset`: mostly where it is if all are as long as the first.
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

    /// Everything below `una` is acknowledged. Each record that counts for something is shown with its sample, its volume
    /// and how much of that had not been delivered before.
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

    /// Volume of the segments that an acknowledgement up to `una` takes off.
    pub fn volume_below(&self, una: u64) -> u64 {
        let first = self.records.front().map_or(una, |r| r.start);
        match self.unit {
            0 => una.saturating_sub(first),
            unit => u64::from(unit) * self.place_of(una) as u64,
        }
    }

    /// The peer reports `[left, right)` (RFC 2018). Each record that is covered for the first time
    /// is shown with its sample. One that is covered in part is not taken for delivered: at worst it is retransmitted.
    pub fn sack(
        &mut self,
        left: u64,
        right: u64,
        mut delivered: impl FnMut(&Record, Option<&SentRecord>),
    ) {
        let known = self.seen.iter().copied().find(|s| left <= s.0 && s.1 <= right && s.0 < s.1);
        let (middle, resume) = known.unwrap_or((right, right));
        for (from, to) in [(left, middle), (resume, right)] {
            let mut place = self.place_of(from);
            while let Some(record) = self.records.get_mut(place) {
                // A record may reach across the edge of what was seen before.
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
        }
    }

    /// The blocks of the acknowledgement that was read last.
    pub fn remember_blocks(&mut self, blocks: [(u64, u64); MAX_BLOCKS]) {
        self.seen = blocks;
    }

    /// A duplicate acknowledgement without SACK: one segment more has left the network, but not
    /// what is missing. Returns how much that makes.
    pub fn add_duplicate(&mut self, segment: u64) -> u64 {
        let missing = self.records.front().map_or(0, |r| self.volume(r.len));
        let most = self.outstanding().saturating_sub(missing);
        let more = segment.min(most.saturating_sub(self.duplicates));
        self.duplicates += more;
        more
    }

    /// New data were acknowledged without SACK: what duplicates stood for is among them, but not
    /// the segment that had been missing. Returns the bytes that are not delivered again.
    pub fn settle_duplicates(&mut self, acked: u64, segment: u64) -> u64 {
        let settled = self.duplicates.min(acked.saturating_sub(segment.min(acked)));
        self.duplicates -= settled;
        self.duplicates = self.duplicates.min(self.outstanding());
        settled
    }

    /// Duplicates do not stand for anything any more.
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

    /// The record at a place is deemed lost, or its latest transmission is. Returns it if that is news.
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

    /// The first transmission of the record at a place is deemed lost, since enough that was sent after it
    /// has arrived. What was retransmitted meanwhile stays in the network (RFC 6675 section 4: SetPipe
    /// counts what is up to HighRxt, and NextSeg's rule 1 asks for what is beyond it). Returns the record if
    /// that is news.
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

    /// Whether something that was deemed lost has not arrived yet, retransmitted or not.
    pub fn misses_lost(&self) -> bool {
        self.records.iter().any(|r| r.lost && !r.sacked)
    }

    /// What was deemed lost is not lost after all; of what was retransmitted, two are in the network.
    pub fn forgive(&mut self) {
        let unit = self.unit;
        for record in self.records.iter_mut().filter(|r| r.lost && !r.sacked) {
            record.lost = false;
            self.pipe += u64::from(if unit == 0 { record.len } else { unit });
        }
        self.pending = 0;
        let una = self.records.front().map_or(0, |r| r.start);
        (self.counted_to, self.settled_to) = (una, una);
    }

    /// RFC 2018 section 8: a peer that has the first segment but does not acknowledge it has thrown
    /// away what it reported. Nothing that it said before counts then.
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

    /// The place of the lowest record that is lost and was not retransmitted.
    pub fn next_pending(&mut self) -> Option<usize> {
        if self.pending == 0 {
            return None;
        }
        let first = self.place_of(self.pending_from);
        let more = self.records.range(first..).position(Record::is_pending)?;
        self.pending_from = self.records[first + more].start;
        Some(first + more)
    }

    /// The place of the highest record that the peer does not have.
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
