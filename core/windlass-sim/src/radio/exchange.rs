//! Frame exchanges at the station that starts them: RTS, data, success, failure.

use windlass_cc::{Span, Time};

use crate::radio::aggregation::BLOCK_ACK_BYTES;
use crate::radio::block_ack::Aggregator;
use crate::radio::channel::{Frame, FrameKind, Transmission};
use crate::radio::mac::{CONTROL_BYTES, Outcome, RTS_BYTES, Radio};
use crate::radio::queued::{BROADCAST, Queued};
use crate::radio::rates::{BROADCAST_RATE, CONTROL};
use crate::radio::sleep::Job;
use crate::radio::station::{Phase, Reception};

impl Radio {
    /// Handles all timers of a station that are due.
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
            self.transmit(station, frame, now);
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
        if self.stations[station as usize].announcer.is_some() {
            self.on_target_time(station, now);
        }
    }

    pub(super) fn on_phase_end(&mut self, station: u32, now: Time) {
        if self.lowpan.is_some() {
            self.on_csma_phase_end(station, now);
            return;
        }
        let preamble = self.phy.preamble(self.rates.at(CONTROL));
        let s = &mut self.stations[station as usize];
        s.phase_until = Time::NEVER;
        match s.phase {
            Phase::Gap => self.send_data(station, now),
            Phase::AwaitCts | Phase::AwaitAck => {
                // A frame is being received. Its reception decides about success or failure.
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

    /// Starts a frame exchange when the station gets the channel.
    pub(super) fn begin_exchange(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.grant = Time::NEVER;
        if s.announcer.is_some() && self.send_beacon(station, now) {
            return;
        }
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front().copied() else { return };
        s.backoff = None;
        if head.to != BROADCAST {
            self.prepare(station, head.to, now);
        }
        let bytes = self.data_bytes(station, &head);
        if head.to == BROADCAST || !self.rts.asks_for(bytes) {
            self.send_data(station, now);
            return;
        }
        let rate = self.stations[station as usize].rate;
        let control = self.phy.airtime(CONTROL_BYTES, self.rates.at(CONTROL));
        let sifs = self.timing.sifs;
        let data = self.phy.airtime(bytes, self.rates.at(rate));
        let answer = self.answer_time(station, self.mpdus(station, &head));
        let s = &mut self.stations[station as usize];
        s.phase = Phase::SendRts;
        s.counters.rts_sent += 1;
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Rts,
            from: station,
            to: head.to,
            nav: sifs + control + sifs + data + sifs + answer,
            sequence: s.sequence,
            retry: s.failed[0] > 0,
            part: 0,
            parts: 1,
            mpdus: 1,
            rate: CONTROL,
            pending: false,
            handle: head.handle,
            bytes: RTS_BYTES,
        };
        self.transmit(station, frame, now);
    }

    /// Chooses the rate of the first packet of the queue, and the packets that are sent with it.
    fn prepare(&mut self, station: u32, to: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        let mut alone = false;
        if let Some(adapter) = s.adapter.as_deref_mut() {
            let tries = |a: &Aggregator| a.unanswered();
            let failed = s.aggregator.as_deref().map_or(s.failed[0] + s.failed[1], tries);
            let choice = adapter.choose(to, failed, now);
            (s.rate, alone) = (choice.place, choice.sample);
        }
        if s.aggregator.is_some() {
            s.gather(&self.phy, self.rates.at(s.rate), alone, now);
        }
    }

    /// Size of the frame with the first packet of the queue, from MAC header to check sequence, in bytes.
    fn data_bytes(&self, station: u32, head: &Queued) -> u32 {
        match &self.stations[station as usize].aggregator {
            Some(aggregator) if head.to != BROADCAST => aggregator.bytes(),
            _ => head.handle.size + self.phy.data_overhead(),
        }
    }

    /// Number of packets in the frame with the first packet of the queue.
    fn mpdus(&self, station: u32, head: &Queued) -> u8 {
        match &self.stations[station as usize].aggregator {
            Some(aggregator) if head.to != BROADCAST => aggregator.frames() as u8,
            _ => 1,
        }
    }

    /// Size of the answer to a frame with `mpdus` packets, bytes.
    pub(super) fn answer_bytes(&self, mpdus: u8) -> u32 {
        if mpdus > 1 { BLOCK_ACK_BYTES } else { self.ack_bytes }
    }

    /// Airtime of the answer to the frame that a station is about to send.
    #[inline]
    fn answer_time(&self, station: u32, mpdus: u8) -> Span {
        let s = &self.stations[station as usize];
        self.phy.airtime(self.answer_bytes(mpdus), self.rates.at(self.rates.answer(s.rate)))
    }

    /// Maximum number of attempts of the first packet in this phase.
    pub(super) fn retry_limit(&self, station: u32, phase: Phase) -> u32 {
        let long = self.is_long(station, phase);
        if long { self.retries.long } else { self.retries.short }
    }

    /// True if the long retry limit applies: data after an RTS.
    fn is_long(&self, station: u32, phase: Phase) -> bool {
        let head = self.stations[station as usize].queue.front();
        phase == Phase::AwaitAck
            && head.is_some_and(|head| self.rts.asks_for(self.data_bytes(station, head)))
    }

    pub(super) fn send_data(&mut self, station: u32, now: Time) {
        let Some(head) = self.stations[station as usize].queue.front().copied() else { return };
        let to_all = head.to == BROADCAST;
        let mpdus = self.mpdus(station, &head);
        let answer = if to_all { Span::ZERO } else { self.answer_time(station, mpdus) };
        let s = &self.stations[station as usize];
        let bytes = match &self.lowpan {
            None => self.data_bytes(station, &head),
            Some(lowpan) => {
                lowpan.framing_of(head.saved).bytes(head.handle.size, u32::from(s.part[0]))
            }
        };
        let rate = if to_all { BROADCAST_RATE } else { s.rate };
        let s = &mut self.stations[station as usize];
        s.phase = Phase::SendData;
        if s.aggregator.is_some() && !to_all {
            s.count_flight();
        } else {
            s.counters.transmissions += 1;
            s.counters.retransmissions += u64::from(s.tried);
        }
        if !to_all && s.adapter.is_some() {
            let kbps = self.rates.at(rate).bps / 1000;
            s.counters.rates_kbps += u64::from(mpdus) * kbps;
        }
        let [part, parts] = s.part;
        s.counters.later_parts += u64::from(part > 0 && !s.tried);
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Data,
            from: station,
            to: head.to,
            nav: if to_all { Span::ZERO } else { self.timing.sifs + answer },
            sequence: s.sequence,
            retry: s.tried,
            part,
            parts,
            mpdus,
            rate,
            pending: s.announces_more(),
            handle: head.handle,
            bytes,
        };
        s.tried = true;
        self.transmit(station, frame, now);
    }

    /// Starts the transmission of a frame.
    pub(super) fn transmit(&mut self, station: u32, frame: Frame, now: Time) {
        let airtime = self.phy.airtime(frame.bytes, self.rates.at(frame.rate));
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

    /// The transmission of a station's frame has ended.
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
            Phase::SendBeacon => self.on_beacon_sent(station, now),
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

    /// Removes the first packet, which is finished. The next packet starts with the minimum contention
    /// window.
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

    /// Switches a station off permanently. The packets in its queue and a frame in transmission are lost.
    /// Stations in range still sense the channel as busy until the scheduled end of this frame.
    pub fn switch_off(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        if s.is_off() {
            return;
        }
        let cut = s.transmitting_until.is_some_and(|until| until > now);
        let lost = s.switch_off(now);
        self.release_all(station);
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

    /// Handles a missing CTS or acknowledgement.
    pub(super) fn on_failure(&mut self, station: u32, now: Time) {
        let phase = self.stations[station as usize].phase;
        let long = self.is_long(station, phase);
        let limit = self.retry_limit(station, phase);
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front() else { return };
        s.counters.failures += 1;
        if phase == Phase::AwaitAck {
            if s.aggregator.is_some() {
                self.end_flight(station, false, now);
                return;
            }
            if let Some(adapter) = s.adapter.as_deref_mut() {
                adapter.report(head.to, s.rate, 1, 0);
            }
        }
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
        if self.stations[from as usize].aggregator.is_some() {
            self.give_up_reserved(from, now);
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
