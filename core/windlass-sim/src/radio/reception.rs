//! Arrival of frames at a station: carrier sense, reception and answers.

use windlass_cc::{Span, Time};

use crate::loss::{BerFormula, frame_error_rate};
use crate::radio::channel::{Frame, FrameKind, Neighbour, Passed};
use crate::radio::config::LateCapture;
use crate::radio::mac::{CONTROL_BYTES, Outcome, Radio};
use crate::radio::queued::BROADCAST;
use crate::radio::rates::CONTROL;
use crate::radio::sleep::Job;
use crate::radio::station::{Phase, Reception};
use crate::random::Chance;

impl Radio {
    /// Processes the beginning or end of a frame at a station; the event of the frame is at the root of the
    /// event queue. It continues with the next stations until `last`, while the frame has the next event and
    /// no outcome has occurred.
    pub(super) fn on_frame_event(&mut self, transmission: u32, now: Time, last: Time) -> Passed {
        let mut passed = Passed { now, moments: 0 };
        let entity = self.stations.len() as u32 + transmission;
        loop {
            let now = passed.now;
            let f = &mut self.transmissions[transmission as usize];
            let hearing = self.channel.of(f.frame.from);
            let leaves = f.leaves;
            let place = if leaves { f.left } else { f.reached };
            f.left += usize::from(leaves);
            f.reached += usize::from(!leaves);
            let neighbour = hearing[place];
            let Some((at, leaves_next)) = f.next_of(hearing) else {
                self.events.finish_next();
                self.free.push(transmission);
                self.passes(transmission, place, neighbour, now);
                return passed;
            };
            f.leaves = leaves_next;
            let ticket = self.events.ticket(at, entity);
            if leaves {
                self.passes(transmission, place, neighbour, now);
            } else {
                self.on_start(transmission, neighbour, now);
                self.has_reached(neighbour.station, now);
            }
            if at > last || !self.outcomes.is_empty() || !self.events.comes_next(ticket) {
                self.events.replace_next_by(ticket);
                return passed;
            }
            passed.moments += u64::from(at > now);
            passed.now = at;
        }
    }

    /// Handles the end of a frame at a station.
    fn passes(&mut self, transmission: u32, place: usize, neighbour: Neighbour, now: Time) {
        self.on_end(transmission, place, neighbour, now);
        self.stations[neighbour.station as usize].update_meter(now);
        self.wake(neighbour.station, now);
    }

    /// Updates the energy meter at the beginning of a frame at a station. Only the end of a battery can
    /// become earlier.
    #[inline]
    fn has_reached(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.update_meter(now);
        if s.meter.has_battery() {
            self.wake(station, now);
        }
    }

    pub(super) fn captures(&self, power: f64, others: f64) -> bool {
        self.capture.is_some_and(|ratio| power >= ratio * others)
    }

    /// True if a receiver of the frame `current` may still switch to a stronger frame.
    fn turns_to_late(&self, current: &Option<Reception>, now: Time) -> bool {
        let Some(current) = current else { return true };
        self.late_capture == LateCapture::Always || {
            let frame = &self.transmissions[current.transmission as usize].frame;
            now < current.began + self.phy.preamble(self.rates.at(frame.rate))
        }
    }

    /// A frame begins to arrive at a station.
    pub(super) fn on_start(&mut self, transmission: u32, neighbour: Neighbour, now: Time) {
        let Neighbour { station, receivable, power, .. } = neighbour;
        let s = &mut self.stations[station as usize];
        if !s.senses_busy() {
            s.on_busy(now, &self.timing);
        }
        s.signals += 1;
        let others = s.energy;
        s.energy += power;
        let (alone, all) = (s.signals == 1, s.energy);
        if s.transmitting_until.is_some() || s.is_off() || s.is_asleep() {
            return;
        }
        if receivable {
            s.confirm_nav(now);
        }
        let before = s.reception;
        let strongest =
            self.captures(power, others) && receivable && self.turns_to_late(&before, now);
        let survives = before.is_some_and(|r| self.captures(r.power, (all - r.power).max(0.0)));
        let s = &mut self.stations[station as usize];
        let to = self.transmissions[transmission as usize].frame.to;
        let own = receivable && (to == station || to == BROADCAST);
        let destroyed = !alone && !strongest;
        let reception = Reception { transmission, began: now, power, receivable, destroyed, own };
        match &mut s.reception {
            None => s.reception = Some(reception),
            Some(current) if strongest => {
                s.counters.collisions_seen += u64::from(current.receivable);
                *current = reception;
            }
            Some(current) => {
                current.destroyed |= !survives;
                s.counters.collisions_seen += u64::from(receivable);
            }
        }
    }

    /// The end of a frame reaches a station. If the station was receiving this frame, it receives it.
    pub(super) fn on_end(&mut self, transmission: u32, place: usize, n: Neighbour, now: Time) {
        let s = &mut self.stations[n.station as usize];
        s.signals -= 1;
        s.energy = if s.signals == 0 { 0.0 } else { (s.energy - n.power).max(0.0) };
        if let Some(reception) = s.reception
            && reception.transmission == transmission
        {
            s.reception = None;
            let frame = self.transmissions[transmission as usize].frame;
            self.on_reception(n.station, &frame, place, reception, now);
        }
        let s = &mut self.stations[n.station as usize];
        if !s.senses_busy() {
            s.on_idle(now, &self.timing);
            s.plan_access(now, &self.timing);
        }
    }

    /// True if the error model destroys a frame that nothing else has destroyed.
    #[inline]
    pub(super) fn has_error(&mut self, station: u32, frame: &Frame, place: usize) -> bool {
        let s = &mut self.stations[station as usize];
        if let Some(process) = &mut s.errors {
            return process.takes(frame.bytes);
        }
        if !self.by_snr {
            return false;
        }
        let ber = self.channel.bit_error_rate(frame, place);
        let per = frame_error_rate(ber, 8 * u64::from(frame.bytes), BerFormula::Exact);
        Chance::new(per).draw(&mut s.error_stream)
    }

    /// True if a frame or a whole aggregate has errors. Counts the errors at the receiver.
    #[inline]
    fn arrives_in_error(&mut self, at: u32, frame: &Frame, place: usize) -> bool {
        if !self.has_errors && frame.mpdus == 1 {
            return false;
        }
        self.draws_error(at, frame, place)
    }

    #[inline(never)]
    fn draws_error(&mut self, at: u32, frame: &Frame, place: usize) -> bool {
        if frame.mpdus > 1 && frame.kind == FrameKind::Data {
            return self.aggregate_has_error(at, frame, place);
        }
        let error = self.has_error(at, frame, place);
        self.stations[at as usize].counters.frame_errors += u64::from(error);
        error
    }

    pub(super) fn on_reception(
        &mut self,
        at: u32,
        frame: &Frame,
        place: usize,
        r: Reception,
        now: Time,
    ) {
        let failed = if !r.receivable || self.transmissions[r.transmission as usize].cut {
            true
        } else if r.destroyed {
            self.stations[at as usize].counters.collisions_seen += 1;
            true
        } else {
            self.arrives_in_error(at, frame, place)
        };
        let s = &mut self.stations[at as usize];
        s.after_error = failed;
        let awaited = match s.phase {
            Phase::AwaitCts => Some(FrameKind::Cts),
            Phase::AwaitAck => Some(FrameKind::Ack),
            _ => None,
        };
        let answers = !failed && frame.to == at && awaited == Some(frame.kind);
        // DCF: if any other frame is received while an answer is awaited, the answer is missing.
        if self.lowpan.is_none() && awaited.is_some() && r.receivable && !answers {
            self.on_failure(at, now);
        }
        if failed {
            return;
        }
        if frame.to == at {
            match frame.kind {
                FrameKind::Rts => self.answer_rts(at, frame, now),
                FrameKind::Data => self.take_data(at, frame, now),
                FrameKind::Cts if answers => {
                    let s = &mut self.stations[at as usize];
                    s.phase = Phase::Gap;
                    s.phase_until = now + self.timing.sifs;
                }
                FrameKind::Ack if answers => self.on_ack(at, frame, now),
                FrameKind::Request => self.answer_request(at, frame, now),
                FrameKind::Cts | FrameKind::Ack | FrameKind::Beacon => {}
            }
        } else if frame.kind == FrameKind::Beacon {
            self.stations[at as usize].counters.beacons_heard += 1;
        } else if frame.to == BROADCAST {
            if !self.has_all(at, frame) {
                return;
            }
            self.stations[at as usize].counters.broadcasts_received += 1;
            let (from, handle) = (frame.from, frame.handle);
            self.outcomes.push(Outcome::Heard { from, at, handle });
        } else {
            self.set_nav(at, frame, now);
        }
    }

    /// Records a frame. Returns true if the station has the whole packet for the first time now.
    fn has_all(&mut self, at: u32, frame: &Frame) -> bool {
        if frame.parts == 1 {
            return true;
        }
        let n = self.stations.len();
        let last = &mut self.last_taken[at as usize * n + frame.from as usize];
        let next = frame.part == 0 || *last + 1 == frame.token();
        if next {
            *last = frame.token();
        }
        next && frame.is_last()
    }

    fn on_ack(&mut self, at: u32, ack: &Frame, now: Time) {
        let s = &mut self.stations[at as usize];
        if s.aggregator.is_some() {
            self.end_flight(at, true, now);
            return;
        }
        if let (Some(adapter), Some(head)) = (s.adapter.as_deref_mut(), s.queue.front()) {
            adapter.report(head.to, s.rate, 1, 1);
        }
        if self.stations[at as usize].job != Job::Packet {
            self.finish_job(at, Some(*ack), now);
        } else if !self.begin_next_part(at, now) {
            self.finish(at, now);
        }
    }

    pub(super) fn set_nav(&mut self, at: u32, frame: &Frame, now: Time) {
        let s = &mut self.stations[at as usize];
        let until = now + frame.nav;
        if frame.kind != FrameKind::Rts {
            s.nav = s.nav.max(until);
            return;
        }
        // Section 10.3.2.4: if no frame arrives by then, the NAV may be reset.
        let (t, control) = (&self.timing, self.rates.at(CONTROL));
        let answer = self.phy.airtime(CONTROL_BYTES, control);
        let wait = t.sifs + t.sifs + answer + self.phy.preamble(control) + t.slot + t.slot;
        s.nav = s.nav.max(until.min(now + wait));
        s.nav_asked = (until > now + wait).then_some((now + wait, until));
    }

    pub(super) fn answer_rts(&mut self, at: u32, rts: &Frame, now: Time) {
        let s = &mut self.stations[at as usize];
        if s.nav > now {
            return;
        }
        let taken = self.timing.sifs + self.phy.airtime(CONTROL_BYTES, self.rates.at(CONTROL));
        let nav = Span(rts.nav.0.saturating_sub(taken.0));
        let answer = Frame { kind: FrameKind::Cts, from: at, to: rts.from, nav, ..*rts };
        let answer = Frame { bytes: CONTROL_BYTES, ..answer };
        s.response = Some((now + self.timing.sifs, answer));
    }

    pub(super) fn take_data(&mut self, at: u32, data: &Frame, now: Time) {
        let (from, to, handle) = (data.from, at, data.handle);
        let ack = Frame { kind: FrameKind::Ack, from: at, to: from, nav: Span::ZERO, ..*data };
        let rate = self.rates.answer(data.rate);
        let ack = Frame { bytes: self.answer_bytes(data.mpdus), rate, pending: false, ..ack };
        if self.stations[from as usize].aggregator.is_some() {
            self.stations[at as usize].response = Some((now + self.timing.sifs, ack));
            self.take_mpdus(at, data);
            return;
        }
        let n = self.stations.len();
        let last = &mut self.last_taken[at as usize * n + from as usize];
        let duplicate = data.retry && *last == data.token();
        *last = data.token();
        let s = &mut self.stations[at as usize];
        s.response = Some((now + self.timing.sifs, ack));
        s.counters.duplicates += u64::from(duplicate);
        if let Some(device) = s.device_mut() {
            device.receive(data.pending, now);
        }
        if duplicate {
            return;
        }
        let sender = &mut self.stations[from as usize];
        if sender.sequence != data.sequence {
            return; // the sender is so far away that it has given up already
        }
        if !data.is_last() {
            return; // the datagram is not complete
        }
        debug_assert!(!sender.taken, "taken twice");
        sender.taken = true;
        sender.counters.delivered += 1;
        sender.counters.bytes += u64::from(handle.size);
        self.outcomes.push(Outcome::Delivered { from, to, handle });
    }
}
