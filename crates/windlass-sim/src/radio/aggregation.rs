//! Aggregation of frames (A-MPDU) under block acknowledgement, as HT has them (IEEE 802.11-2016 sections 9.7 and 10.24).
//!
//! A station that has the channel sends the oldest packet that waits, and with it, in one frame of the PHY, as many of
//! those behind it for the same receiver as the limits allow. Each has a number, a check sequence and so a fate of its
//! own; one block acknowledgement a SIFS later says which arrived. What did not goes out again with the next frame to
//! that receiver, until its own attempts are used up. The receiver hands packets on in order: it keeps what came after one that is missing.
//! A packet alone is a frame as without aggregation, with an ordinary acknowledgement.
//!
//! Points where simulators and chips differ:
//!
//! * Every receiver has a block-ack agreement from the beginning; ADDBA and DELBA are not sent.
//! * If no block acknowledgement comes, the frames are sent again; no BlockAckReq is. After a packet was
//!   given up, the receiver waits for it no longer, as if a BlockAckReq had told it at no cost.
//! * An overlap destroys an aggregate whole, or not at all. Errors by noise hit each of its frames for itself;
//!   who overhears it does so by its first.
//! * Between aggregates the window doubles when no block acknowledgement came, and is reset when one did, whatever it said.
//! * Frames begin on multiples of four bytes and need no spacing in time.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;
use crate::radio::channel::Frame;
use crate::radio::config::RadioConfig;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::phy::{Phy, Rate};
use crate::radio::queued::Queued;
use crate::radio::scheduling::Rule;
use crate::radio::station::{Phase, Station};

/// Bytes of a compressed block acknowledgement.
pub const BLOCK_ACK_BYTES: u32 = 32;
/// Numbers that a block acknowledgement covers.
pub const WINDOW: u32 = 64;
/// Bytes before each frame of an aggregate.
const DELIMITER: u32 = 4;
/// Most bytes of an aggregate of HT.
pub const MAX_BYTES: u32 = 65_535;
/// Longest frame of HT (aPPDUMaxTime); the signal field of the older preamble can announce 5.484 ms.
pub const MAX_AIRTIME: Span = Span::from_micros(10_000);

/// What limits an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Frames, at most [`WINDOW`].
    pub max_frames: u32,
    /// Bytes, delimiters and padding included, at most [`MAX_BYTES`].
    pub max_size: u32,
    /// Time on the air.
    pub max_airtime: Span,
}

impl Default for Aggregation {
    /// What a block acknowledgement, HT and the older signal field allow.
    fn default() -> Aggregation {
        let max_airtime = Span::from_micros(5_484);
        Aggregation { max_frames: WINDOW, max_size: MAX_BYTES, max_airtime }
    }
}

impl Aggregation {
    /// Whether the stations of this radio can do so.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, as a sentence.
    pub fn check(&self, radio: &RadioConfig) -> Result<(), String> {
        if !radio.phy.is_ht() {
            let name = radio.phy.name;
            return Err(format!("{name} aggregates no frames; 802.11n does"));
        }
        if radio.scheduling.rule != Rule::Fifo {
            return Err("frames are aggregated in the order of arrival (`fifo`) only".into());
        }
        if !(1..=WINDOW).contains(&self.max_frames) {
            return Err(format!("an aggregate holds 1 to {WINDOW} frames"));
        }
        if !(1..=MAX_BYTES).contains(&self.max_size) {
            return Err(format!("an aggregate holds 1 to {MAX_BYTES} bytes"));
        }
        if self.max_airtime == Span::ZERO || self.max_airtime > MAX_AIRTIME {
            return Err("an aggregate takes at most 10 ms, and some time".into());
        }
        Ok(())
    }

    /// Whether one more frame fits into an aggregate of so many bytes that holds so many.
    fn takes(&self, frames: u32, bytes: u32, mpdu: u32, phy: &Phy, rate: Rate) -> bool {
        let bytes = joined(bytes, mpdu);
        frames < self.max_frames
            && bytes <= self.max_size
            && phy.airtime(bytes, rate) <= self.max_airtime
    }

    /// Frames of so many bytes each that go into one aggregate at this rate, one at least, and the aggregate's bytes.
    pub fn fill(&self, mpdu: u32, phy: &Phy, rate: Rate) -> (u32, u32) {
        let (mut frames, mut bytes) = (1, DELIMITER + mpdu);
        while self.takes(frames, bytes, mpdu, phy, rate) {
            (frames, bytes) = (frames + 1, joined(bytes, mpdu));
        }
        (frames, if frames == 1 { mpdu } else { bytes })
    }
}

/// Bytes of an aggregate to which a frame is added: what is there is padded first.
fn joined(bytes: u32, mpdu: u32) -> u32 {
    bytes.next_multiple_of(4) + DELIMITER + mpdu
}

/// What a station knows of a packet in its queue.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Its number among those for its receiver, from 1; 0 before it is first sent.
    number: u64,
    /// When it was first sent.
    since: Time,
    /// Attempts that failed.
    tries: u32,
    /// Whether the receiver has it, which the station does not know yet.
    accepted: bool,
    /// Whether the frame that ends just now brought it.
    arrived: bool,
}

/// What the receiver has of a number.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Missing,
    Held(PacketHandle),
    GivenUp,
}

/// Packets on their way to one receiver.
#[derive(Clone, Debug)]
struct Window {
    receiver: u32,
    /// The highest number so far.
    issued: u64,
    /// The number that the receiver hands on next, and what it has from there on.
    next: u64,
    slots: VecDeque<Slot>,
}

impl Window {
    fn set(&mut self, number: u64, slot: Slot) {
        let Some(place) = number.checked_sub(self.next).map(|place| place as usize) else { return };
        if self.slots.len() <= place {
            self.slots.resize(place + 1, Slot::Missing);
        }
        self.slots[place] = slot;
    }

    /// What the receiver hands on, in order.
    fn release(&mut self) -> Option<Option<PacketHandle>> {
        let released = match self.slots.front()? {
            Slot::Missing => return None,
            Slot::Held(handle) => Some(*handle),
            Slot::GivenUp => None,
        };
        self.slots.pop_front();
        self.next += 1;
        Some(released)
    }
}

/// The aggregation of a station.
#[derive(Clone, Debug)]
pub(super) struct Aggregator {
    limits: Aggregation,
    /// Beside the packets of the queue.
    marks: VecDeque<Mark>,
    /// Places in the queue of those that are in the frame being tried.
    flight: Vec<usize>,
    /// Its bytes.
    bytes: u32,
    windows: Vec<Window>,
    /// How often in a row no answer came.
    unanswered: u32,
    /// Packets in the queue that their receiver has.
    accepted: u64,
    /// Packets that receivers keep until an earlier one comes.
    held: u64,
}

impl Aggregator {
    pub(super) fn new(limits: Aggregation) -> Aggregator {
        Aggregator {
            limits,
            marks: VecDeque::new(),
            flight: Vec::new(),
            bytes: 0,
            windows: Vec::new(),
            unanswered: 0,
            accepted: 0,
            held: 0,
        }
    }

    fn window(&mut self, receiver: u32) -> &mut Window {
        let known = self.windows.iter().position(|w| w.receiver == receiver);
        let place = known.unwrap_or(self.windows.len());
        if known.is_none() {
            let slots = VecDeque::new();
            self.windows.push(Window { receiver, issued: 0, next: 1, slots });
        }
        &mut self.windows[place]
    }

    /// A packet comes into the queue.
    pub(super) fn push(&mut self) {
        self.marks.push_back(Mark::default());
    }

    /// The first packet, a broadcast, leaves it.
    pub(super) fn pop(&mut self) {
        self.marks.pop_front();
    }

    /// Attempts of what is being tried that nothing answered. Frames that are sent again after a block acknowledgement
    /// begin anew.
    pub(super) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// What has to be added to the queue's length for those that no receiver has handed on, and subtracted from it.
    pub(super) fn correction(&self) -> (u64, u64) {
        (self.held, self.accepted)
    }

    /// Frames in flight.
    pub(super) fn frames(&self) -> u32 {
        self.flight.len() as u32
    }

    /// Bytes of what is in flight.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }
}

impl Station {
    /// The channel is its own: what goes out with the first packet, whether for one packet only or for as many as fit.
    pub(super) fn gather(&mut self, phy: &Phy, rate: Rate, alone: bool, now: Time) {
        let (Some(aggregator), Some(head)) = (self.aggregator.as_deref_mut(), self.queue.front())
        else {
            return;
        };
        aggregator.flight.clear();
        let limits = aggregator.limits;
        let (to, mut first, mut bytes, mut alone_bytes) = (head.to, 0, 0, 0);
        for (place, queued) in self.queue.iter().enumerate() {
            if queued.to != to {
                continue;
            }
            let mpdu = queued.handle.size + phy.data_overhead();
            let frames = aggregator.frames();
            let mark = aggregator.marks[place];
            let number =
                if mark.number > 0 { mark.number } else { aggregator.window(to).issued + 1 };
            if frames == 0 {
                (first, bytes, alone_bytes) = (number, DELIMITER + mpdu, mpdu);
            } else if !alone
                && number < first + u64::from(WINDOW)
                && limits.takes(frames, bytes, mpdu, phy, rate)
            {
                bytes = joined(bytes, mpdu);
            } else {
                break;
            }
            if mark.number == 0 {
                aggregator.window(to).issued = number;
                aggregator.marks[place] = Mark { number, since: now, ..mark };
                self.counters.waited_ns += now.since(queued.since).0;
                self.counters.served += 1;
            }
            aggregator.flight.push(place);
        }
        aggregator.bytes = if aggregator.frames() == 1 { alone_bytes } else { bytes };
        self.renumber();
    }

    /// What is in flight goes on the air: its frames are counted.
    pub(super) fn count_flight(&mut self) {
        let Some(aggregator) = self.aggregator.as_deref() else { return };
        let frames = u64::from(aggregator.frames());
        let again = aggregator.flight.iter().filter(|place| aggregator.marks[**place].tries > 0);
        self.counters.retransmissions += again.count() as u64;
        self.counters.transmissions += frames;
        if frames > 1 {
            self.counters.aggregates += 1;
            self.counters.aggregated += frames;
        }
    }

    /// Takes a packet out of the queue that is done with, and whether its receiver has it.
    fn take_from(&mut self, place: usize, now: Time) -> Option<(Queued, Mark)> {
        self.account(now);
        let queued = self.queue.remove(place)?;
        let aggregator = self.aggregator.as_deref_mut()?;
        let mark = aggregator.marks.remove(place)?;
        aggregator.accepted -= u64::from(mark.accepted);
        (self.head_since, self.taken, self.failed) = (mark.since, mark.accepted, [mark.tries, 0]);
        self.enter(now, &queued);
        (self.taken, self.failed) = (false, [0; 2]);
        Some((queued, mark))
    }
}

impl Radio {
    /// Whether nothing of a frame of several arrives whole. At its receiver each has errors of its own.
    #[inline(never)]
    pub(super) fn aggregate_has_error(&mut self, at: u32, frame: &Frame, place: usize) -> bool {
        let from = frame.from as usize;
        if frame.to != at || self.stations[from].sequence != frame.sequence {
            let each = frame.bytes / u32::from(frame.mpdus).max(1);
            return self.has_error(at, &Frame { bytes: each, ..*frame }, place);
        }
        let overhead = self.phy.data_overhead();
        let mut any = false;
        for i in 0..usize::from(frame.mpdus) {
            let sender = &self.stations[from];
            let Some(aggregator) = sender.aggregator.as_deref() else { return true };
            let place_in_queue = aggregator.flight[i];
            let bytes = sender.queue[place_in_queue].handle.size + overhead;
            let error = self.has_error(at, &Frame { bytes, ..*frame }, place);
            self.stations[at as usize].counters.frame_errors += u64::from(error);
            if let Some(aggregator) = self.stations[from].aggregator.as_deref_mut() {
                aggregator.marks[place_in_queue].arrived = !error;
            }
            any |= !error;
        }
        !any
    }

    /// A station has received frames of one that aggregates. Those that are new it hands on as far as nothing before
    /// them is missing.
    #[inline(never)]
    pub(super) fn take_mpdus(&mut self, at: u32, data: &Frame) {
        let sender = &mut self.stations[data.from as usize];
        if sender.sequence != data.sequence {
            return; // from so far away that the sender has given up already
        }
        let Some(aggregator) = sender.aggregator.as_deref_mut() else { return };
        let mut duplicates = 0;
        for i in 0..aggregator.flight.len() {
            let place = aggregator.flight[i];
            let mark = &mut aggregator.marks[place];
            if data.mpdus > 1 && !std::mem::take(&mut mark.arrived) {
                continue;
            }
            if std::mem::replace(&mut mark.accepted, true) {
                duplicates += 1;
                continue;
            }
            let number = mark.number;
            let handle = sender.queue[place].handle;
            aggregator.accepted += 1;
            aggregator.held += 1;
            aggregator.window(at).set(number, Slot::Held(handle));
        }
        self.stations[at as usize].counters.duplicates += duplicates;
        self.hand_on(data.from, at);
    }

    /// A receiver hands on what it has in order.
    fn hand_on(&mut self, from: u32, to: u32) {
        let sender = &mut self.stations[from as usize];
        let Some(aggregator) = sender.aggregator.as_deref_mut() else { return };
        while let Some(released) = aggregator.window(to).release() {
            let Some(handle) = released else { continue };
            aggregator.held -= 1;
            sender.counters.delivered += 1;
            sender.counters.bytes += u64::from(handle.size);
            self.outcomes.push(Outcome::Delivered { from, to, handle });
        }
    }

    /// The attempt of what is in flight is over: what has arrived is done with if the sender has heard so, and the rest
    /// has failed once more.
    #[inline(never)]
    pub(super) fn end_flight(&mut self, station: u32, answered: bool, now: Time) {
        let limit = self.retry_limit(station, Phase::AwaitAck);
        let s = &mut self.stations[station as usize];
        let Some(aggregator) = s.aggregator.as_deref_mut() else { return };
        let flight = std::mem::take(&mut aggregator.flight);
        let Some(to) = s.queue.front().map(|head| head.to) else { return };
        let acknowledged = |place: &&usize| answered && aggregator.marks[**place].accepted;
        let done = flight.iter().filter(acknowledged).count() as u32;
        if let Some(adapter) = s.adapter.as_deref_mut() {
            adapter.report(to, s.rate, flight.len() as u32, done);
        }
        let mut first_is_out = answered;
        // From the last to the first, so that places stay what they are.
        for place in flight.iter().rev() {
            let s = &mut self.stations[station as usize];
            let Some(aggregator) = s.aggregator.as_deref_mut() else { return };
            let mark = &mut aggregator.marks[*place];
            if answered && mark.accepted {
                s.take_from(*place, now);
                continue;
            }
            mark.tries += 1;
            if mark.tries >= limit {
                first_is_out |= *place == 0;
                self.give_up_at(station, *place, now);
            }
        }
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.failed = [0; 2];
        s.window = match first_is_out {
            true => self.timing.cw_min,
            false => (2 * s.window + 1).min(self.timing.cw_max),
        };
        s.renumber();
        s.start_backoff(now, &self.timing);
        if let Some(aggregator) = s.aggregator.as_deref_mut() {
            aggregator.unanswered = if first_is_out { 0 } else { aggregator.unanswered + 1 };
            let mut flight = flight;
            flight.clear();
            aggregator.flight = flight;
        }
    }

    /// No CTS came for the first packet as often as it may be tried: it is given up, and the window is reset.
    pub(super) fn give_up_reserved(&mut self, station: u32, now: Time) {
        self.give_up_at(station, 0, now);
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.window = self.timing.cw_min;
        s.start_backoff(now, &self.timing);
    }

    /// The packet at this place of the queue is given up, and its receiver waits for it no longer.
    pub(super) fn give_up_at(&mut self, from: u32, place: usize, now: Time) {
        let s = &mut self.stations[from as usize];
        let Some((Queued { handle, to, .. }, mark)) = s.take_from(place, now) else { return };
        let taken = mark.accepted;
        s.counters.unconfirmed += u64::from(taken);
        s.counters.drops_retry += u64::from(!taken);
        if let Some(aggregator) = s.aggregator.as_deref_mut().filter(|_| !taken && mark.number > 0)
        {
            aggregator.window(to).set(mark.number, Slot::GivenUp);
        }
        self.outcomes.push(Outcome::GaveUp { from, to, handle, taken });
        self.hand_on(from, to);
    }

    /// A station goes off: what receivers keep of it, they hand on, since nothing before it will come.
    pub(super) fn release_all(&mut self, from: u32) {
        let Some(aggregator) = self.stations[from as usize].aggregator.as_deref_mut() else {
            return;
        };
        aggregator.marks.clear();
        aggregator.flight.clear();
        let mut receivers = Vec::new();
        for window in &mut aggregator.windows {
            let missing = window.slots.iter_mut().filter(|slot| matches!(slot, Slot::Missing));
            missing.for_each(|slot| *slot = Slot::GivenUp);
            receivers.push(window.receiver);
        }
        for to in receivers {
            self.hand_on(from, to);
        }
    }
}

impl Station {
    /// Of packets in the queue, those at these places that their receivers have.
    pub(super) fn drain_aggregated(&mut self) -> Option<Vec<Queued>> {
        let aggregator = self.aggregator.as_deref_mut()?;
        let marks = aggregator.marks.iter();
        let lost = self.queue.iter().zip(marks).filter(|(_, mark)| !mark.accepted);
        let lost = lost.map(|(queued, _)| *queued).collect();
        self.counters.unconfirmed += std::mem::take(&mut aggregator.accepted);
        self.queue.clear();
        Some(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aggregate_is_filled_up_to_the_first_limit() {
        let rate = |bps| Phy::N.rate(bps).unwrap();
        let fill = |limits: Aggregation, bps| limits.fill(1538, &Phy::N, rate(bps));
        let all = Aggregation::default();
        // 42 frames of 4 + 1538 bytes, padded to 1544, but for the last: 64846 bytes.
        assert_eq!(fill(Aggregation { max_airtime: MAX_AIRTIME, ..all }, 65_000_000), (42, 64_846));
        // 5484 µs at 6.5 Mbit/s: 42 µs of preamble and extension, 1360 symbols of 26 bits.
        assert_eq!(fill(all, 6_500_000), (2, 1544 + 1542));
        assert_eq!(fill(Aggregation { max_frames: 1, ..all }, 65_000_000), (1, 1538));
        let (frames, bytes) = fill(all, 65_000_000);
        assert!(Phy::N.airtime(bytes, rate(65_000_000)) <= all.max_airtime);
        assert!(Phy::N.airtime(bytes + 1544, rate(65_000_000)) > all.max_airtime, "{frames}");
    }
}
