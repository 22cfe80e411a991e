//! Stations that put several packets into a frame, and those that receive them: see
//! [`aggregation`](crate::radio::aggregation).

use windlass_cc::Time;

use crate::radio::aggregation::{DELIMITER, WINDOW, joined};
use crate::radio::block_ack::{Mark, Slot};
use crate::radio::channel::Frame;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::phy::{Phy, Rate};
use crate::radio::queued::Queued;
use crate::radio::station::{Phase, Station};

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
