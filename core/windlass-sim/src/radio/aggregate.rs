//! Transmission and reception of frames with several packets: see [`aggregation`](crate::radio::aggregation).

use windlass_cc::Time;

use crate::radio::aggregation::{DELIMITER, WINDOW, joined};
use crate::radio::block_ack::{Mark, Slot};
use crate::radio::channel::Frame;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::phy::{Phy, Rate};
use crate::radio::queued::Queued;
use crate::radio::station::{Phase, Station};

impl Station {
    /// The station has the channel. Chooses the packets that are transmitted with the first packet: as many as fit,
    /// or no others if `alone` is true.
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

    /// Counts the frames that are transmitted now.
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

    /// Removes a finished packet from the queue. Returns it with its mark.
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
    /// True if no frame of an aggregate arrives without errors. At the receiver, each frame has independent
    /// errors.
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

    /// A station has received frames of a station that aggregates. It hands on the new frames up to the first
    /// missing one.
    #[inline(never)]
    pub(super) fn take_mpdus(&mut self, at: u32, data: &Frame) {
        let sender = &mut self.stations[data.from as usize];
        if sender.sequence != data.sequence {
            return; // the sender is so far away that it has given up already
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

    /// A receiver hands on the packets that it has in order.
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

    /// The attempt of the frames in flight is over. Acknowledged packets leave the queue, and the other
    /// packets have failed once more.
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
        // From the last to the first, so that the remaining places stay valid.
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

    /// The first packet has had its last attempt, and no CTS arrived. It is given up, and the window is
    /// reset.
    pub(super) fn give_up_reserved(&mut self, station: u32, now: Time) {
        self.give_up_at(station, 0, now);
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.window = self.timing.cw_min;
        s.start_backoff(now, &self.timing);
    }

    /// Gives up the packet at this place of the queue. Its receiver no longer waits for it.
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

    /// A station is switched off. The receivers hand on the packets that they keep from it, because no
    /// earlier packet will arrive.
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
    /// Empties the queue. Returns the packets that their receivers do not have.
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
