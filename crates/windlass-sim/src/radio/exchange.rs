//! Exchanges of frames as their initiator sees them: RTS, data, success, failure.

use windlass_cc::{Span, Time};

use crate::radio::channel::{Frame, FrameKind, Transmission};
use crate::radio::mac::{CONTROL_BYTES, DATA_OVERHEAD, Outcome, RTS_BYTES, Radio};
use crate::radio::phy::Rate;
use crate::radio::queued::{BROADCAST, Queued};
use crate::radio::sleep::Job;
use crate::radio::station::{Phase, Reception};

impl Radio {
    /// The event of a station: whatever of its timers are due.
    pub(super) fn on_station(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        if s.transmitting_until.is_some_and(|t| t <= now) {
            self.on_transmitted(station, now);
        }
        let s = &mut self.stations[station as usize];
        if s.off_at <= now || s.meter.check() <= now && s.meter.is_empty(now) {
            self.switch_off(station, now);
            return;
        }
        let s = &mut self.stations[station as usize];
        if s.transmitting_until.is_none()
            && let Some((at, frame)) = s.response
            && at <= now
        {
            s.response = None;
            s.on_transmit(now, &self.timing);
            self.transmit(station, frame, self.control, now);
        }
        if self.stations[station as usize].phase_until <= now {
            self.on_phase_end(station, now);
        }
        let s = &mut self.stations[station as usize];
        if s.grant <= now && s.transmitting_until.is_none() {
            self.begin_exchange(station, now);
        }
        if self.stations[station as usize].sleep.is_some() {
            self.on_sleep(station, now);
        }
    }

    pub(super) fn on_phase_end(&mut self, station: u32, now: Time) {
        if self.lowpan.is_some() {
            self.on_csma_phase_end(station, now);
            return;
        }
        let preamble = self.phy.preamble(self.control);
        let s = &mut self.stations[station as usize];
        s.phase_until = Time::NEVER;
        match s.phase {
            Phase::Gap => self.send_data(station, now),
            Phase::AwaitCts | Phase::AwaitAck => {
                // A frame is being received: it decides.
                let receives = |r: Reception| r.receivable && now.since(r.began) >= preamble;
                if s.reception.is_some_and(receives) {
                    return;
                }
                self.on_failure(station, now);
                self.stations[station as usize].plan_access(now, &self.timing);
            }
            _ => {}
        }
    }

    /// The channel is a station's.
    pub(super) fn begin_exchange(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.grant = Time::NEVER;
        let Some(head) = s.queue.front().copied() else { return };
        s.backoff = None;
        let bytes = head.handle.size + DATA_OVERHEAD;
        if head.to == BROADCAST || !self.rts.asks_for(bytes) {
            self.send_data(station, now);
            return;
        }
        let control = self.phy.airtime(CONTROL_BYTES, self.control);
        let sifs = self.timing.sifs;
        let data = self.phy.airtime(bytes, self.data);
        s.phase = Phase::SendRts;
        s.counters.rts_sent += 1;
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Rts,
            from: station,
            to: head.to,
            nav: sifs + control + sifs + data + sifs + control,
            sequence: s.sequence,
            retry: s.failed[0] > 0,
            part: 0,
            parts: 1,
            pending: false,
            handle: head.handle,
            bytes: RTS_BYTES,
        };
        self.transmit(station, frame, self.control, now);
    }

    pub(super) fn send_data(&mut self, station: u32, now: Time) {
        let control = self.phy.airtime(CONTROL_BYTES, self.control);
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front().copied() else { return };
        let to_all = head.to == BROADCAST;
        s.phase = Phase::SendData;
        s.counters.transmissions += 1;
        s.counters.retransmissions += u64::from(s.tried);
        let [part, parts] = s.part;
        s.counters.later_parts += u64::from(part > 0 && !s.tried);
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Data,
            from: station,
            to: head.to,
            nav: if to_all { Span::ZERO } else { self.timing.sifs + control },
            sequence: s.sequence,
            retry: s.tried,
            part,
            parts,
            pending: s.announces_more(),
            handle: head.handle,
            bytes: match &self.lowpan {
                None => head.handle.size + DATA_OVERHEAD,
                Some(lowpan) => lowpan.framing().bytes(head.handle.size, u32::from(part)),
            },
        };
        s.tried = true;
        let rate = if to_all { self.broadcast } else { self.data };
        self.transmit(station, frame, rate, now);
    }

    /// Puts a frame on the air.
    pub(super) fn transmit(&mut self, station: u32, frame: Frame, rate: Rate, now: Time) {
        let airtime = self.phy.airtime(frame.bytes, rate);
        let s = &mut self.stations[station as usize];
        s.transmitting_until = Some(now + airtime);
        s.counters.airtime_ns += airtime.0;
        s.update_meter(now);
        if self.on_air == 0 {
            self.busy_since = now;
        }
        self.on_air += 1;
        let transmission = Transmission {
            frame,
            start: now,
            airtime,
            reached: 0,
            left: 0,
            leaves: false,
            cut: false,
        };
        let Some((at, _)) = transmission.next(&self.channel) else { return };
        let index = self.free.pop().unwrap_or(self.transmissions.len() as u32);
        match self.transmissions.get_mut(index as usize) {
            Some(place) => *place = transmission,
            None => self.transmissions.push(transmission),
        }
        self.events.schedule(at, self.stations.len() as u32 + index);
    }

    /// A station has transmitted a frame.
    pub(super) fn on_transmitted(&mut self, station: u32, now: Time) {
        self.on_air -= 1;
        if self.on_air == 0 {
            self.busy_ns += now.since(self.busy_since).0;
        }
        let t = &self.timing;
        let s = &mut self.stations[station as usize];
        s.transmitting_until = None;
        s.update_meter(now);
        if s.signals == 0 {
            s.on_idle(now, t);
        }
        let wait = t.answer_wait;
        match s.phase {
            Phase::SendRts => {
                s.phase = Phase::AwaitCts;
                s.phase_until = now + wait;
            }
            Phase::SendData
                if s.job == Job::Packet && s.queue.front().is_some_and(|h| h.to == BROADCAST) =>
            {
                self.on_broadcast(station, now);
            }
            Phase::SendData => {
                s.phase = Phase::AwaitAck;
                s.phase_until = now + wait;
            }
            _ => {}
        }
        self.stations[station as usize].plan_access(now, &self.timing);
    }

    pub(super) fn on_broadcast(&mut self, from: u32, now: Time) {
        if self.begin_next_part(from, now) {
            return;
        }
        let s = &mut self.stations[from as usize];
        let Some(Queued { handle, .. }) = s.queue.front().copied() else { return };
        s.counters.delivered += 1;
        s.counters.bytes += u64::from(handle.size);
        self.outcomes.push(Outcome::Broadcast { from, handle });
        self.finish(from, now);
    }

    /// The first packet is done with, and the next is tried from the least window.
    pub(super) fn finish(&mut self, station: u32, now: Time) -> Option<Queued> {
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.window = self.timing.cw_min;
        let queued = s.finish_head(now);
        match &self.lowpan {
            None => s.start_backoff(now, &self.timing),
            Some(lowpan) => s.begin_frame(now, lowpan, &self.timing),
        }
        queued
    }

    /// Switches a station off for ever. What it holds is lost, and so is the frame that it is
    /// transmitting, if any, although the channel stays busy for those around until that would have
    /// ended.
    pub fn switch_off(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        if s.is_off() {
            return;
        }
        let cut = s.transmitting_until.is_some_and(|until| until > now);
        let lost = s.switch_off(now);
        if cut {
            self.on_air -= 1;
            if self.on_air == 0 {
                self.busy_ns += now.since(self.busy_since).0;
            }
            let is_its =
                |f: &&mut Transmission| f.frame.from == station && f.start + f.airtime > now;
            if let Some(transmission) = self.transmissions.iter_mut().find(is_its) {
                transmission.cut = true;
            }
        }
        let gone = lost.into_iter().map(|h| Outcome::Lost { from: station, handle: h.handle });
        self.outcomes.extend(gone);
    }

    /// No CTS came, or no acknowledgement.
    pub(super) fn on_failure(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front() else { return };
        let after_rts = self.rts.asks_for(head.handle.size + DATA_OVERHEAD);
        let long = s.phase == Phase::AwaitAck && after_rts;
        let limit = if long { self.retries.long } else { self.retries.short };
        s.counters.failures += 1;
        let failed = &mut s.failed[usize::from(long)];
        *failed += 1;
        if *failed >= limit {
            self.give_up(station, now);
            return;
        }
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.window = (2 * s.window + 1).min(self.timing.cw_max);
        s.start_backoff(now, &self.timing);
    }

    pub(super) fn give_up(&mut self, from: u32, now: Time) {
        if self.stations[from as usize].job != Job::Packet {
            self.finish_job(from, None, now);
            return;
        }
        let taken = self.stations[from as usize].taken;
        let Some(Queued { handle, to, .. }) = self.finish(from, now) else { return };
        let c = &mut self.stations[from as usize].counters;
        c.unconfirmed += u64::from(taken);
        c.drops_retry += u64::from(!taken);
        self.outcomes.push(Outcome::GaveUp { from, to, handle, taken });
    }
}
