//! The distributed coordination function: what stations do with packets, and what becomes of frames.
//!
//! After IEEE 802.11-2016 section 10.3, without fragments, bursts and rate adaptation. Points where
//! simulators differ:
//!
//! * A station does not notice what begins to arrive during its last turnaround before it
//!   transmits, so that stations whose back-off ends in the same slot collide wherever they stand.
//! * After a missing CTS or acknowledgement the new back-off counts in slots of the idle period that
//!   is under way, without a second DIFS.
//! * A frame that can be sensed but not received is received in error: an EIFS follows.
//! * The NAV that an RTS asks for lapses if nothing is heard of the frames that it announced.

use windlass_cc::{Span, Time};

use crate::agenda::Agenda;
use crate::loss::{BerFormula, LossProcess, frame_error_rate};
use crate::packet::Ticket;
use crate::radio::channel::{BROADCAST, Channel, Flight, Frame, FrameKind, Neighbour};
use crate::radio::config::{FrameErrors, RadioConfig, Retries, RtsThreshold};
use crate::radio::phy::{Phy, Rate};
use crate::radio::propagation::from_db;
use crate::radio::station::{Held, Phase, Reception, Station, Timing};
use crate::random::{Chance, Purpose, Stream};

/// Bytes that a data frame adds to an IP packet: MAC header 24, LLC and SNAP header 8, check
/// sequence 4.
pub const DATA_OVERHEAD: u32 = 36;
/// Bytes of an RTS.
pub const RTS_BYTES: u32 = 20;
/// Bytes of a CTS and of an acknowledgement.
pub const CONTROL_BYTES: u32 = 14;

/// What a radio tells those above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The next station has taken a packet.
    Delivered {
        /// Transmitter.
        from: u32,
        /// Receiver.
        to: u32,
        /// The packet.
        ticket: Ticket,
    },
    /// A station has received a broadcast.
    Heard {
        /// Transmitter.
        from: u32,
        /// Receiver.
        at: u32,
        /// The packet.
        ticket: Ticket,
    },
    /// A broadcast has been transmitted; who is in range may still hear it, less than half a
    /// millisecond later.
    Broadcast {
        /// Transmitter.
        from: u32,
        /// The packet.
        ticket: Ticket,
    },
    /// The retry limit was reached: the next station is out of reach, or the channel too bad.
    GaveUp {
        /// Transmitter.
        from: u32,
        /// The station that did not answer.
        to: u32,
        /// The packet.
        ticket: Ticket,
        /// Whether that station has taken the packet all the same, and only its acknowledgements
        /// were lost.
        taken: bool,
    },
}

/// A radio in the course of a run. It keeps an agenda of its own: [`Radio::next_event`] says when
/// it wants to be looked after, [`Radio::step`] does that.
#[derive(Clone, Debug)]
pub struct Radio {
    pub(crate) stations: Vec<Station>,
    channel: Channel,
    phy: Phy,
    timing: Timing,
    data: Rate,
    control: Rate,
    broadcast: Rate,
    rts: RtsThreshold,
    retries: Retries,
    /// Ratio of powers at which a frame survives others.
    capture: Option<f64>,
    by_snr: bool,
    /// For each receiver and transmitter the number of the last packet taken.
    last_taken: Vec<u64>,
    flights: Vec<Flight>,
    free: Vec<u32>,
    /// Stations by their index, then flights.
    agenda: Agenda,
    /// What has happened and those above have not been told.
    pub(crate) outcomes: Vec<Outcome>,
    on_air: u32,
    busy_since: Time,
    busy_ns: u64,
}

impl Radio {
    /// An idle radio; `index` is its place among the network's radios, which its random numbers
    /// depend on.
    ///
    /// # Panics
    ///
    /// If the configuration has not been checked and names a rate that the PHY lacks.
    pub fn new(config: &RadioConfig, seed: u64, index: usize) -> Radio {
        let phy = config.phy;
        let rate = |bps| phy.rate(bps).expect("a checked configuration");
        let lowest = rate(phy.lowest_mandatory());
        let difs = phy.difs();
        let timing = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            difs,
            eifs: match config.eifs {
                true => phy.sifs + phy.airtime(CONTROL_BYTES, lowest) + difs,
                false => difs,
            },
            turnaround: phy.turnaround,
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
        };
        let n = config.stations.len();
        let stations = config.stations.iter().enumerate().map(|(i, s)| {
            let entity = (index as u64) << 32 | i as u64;
            let stream = |purpose| Stream::new(seed, entity, purpose);
            let errors = match &config.errors {
                FrameErrors::Model(model) => {
                    Some(LossProcess::new(model, stream(Purpose::RadioErrors)))
                }
                _ => None,
            };
            let streams = [stream(Purpose::Backoff), stream(Purpose::RadioErrors)];
            Station::new(s.queue, &timing, streams, errors)
        });
        Radio {
            stations: stations.collect(),
            channel: Channel::new(config),
            phy,
            timing,
            data: rate(config.data_rate_bps),
            control: rate(config.control_rate_bps),
            broadcast: rate(config.broadcast_rate_bps),
            rts: config.rts,
            retries: config.retries,
            capture: config.capture_db.map(from_db),
            by_snr: config.errors == FrameErrors::Snr,
            last_taken: vec![0; n * n],
            flights: Vec::with_capacity(n),
            free: Vec::with_capacity(n),
            agenda: Agenda::with_capacity(4 * n),
            outcomes: Vec::with_capacity(16),
            on_air: 0,
            busy_since: Time::ZERO,
            busy_ns: 0,
        }
    }

    /// Its stations, in the configuration's order.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<Time> {
        self.agenda.next().map(|(time, _)| time)
    }

    /// Hands a packet to a station for the next one, or for all in range ([`BROADCAST`]). Returns
    /// whether the queue had room.
    pub fn offer(&mut self, now: Time, from: u32, to: u32, ticket: Ticket) -> bool {
        let station = &mut self.stations[from as usize];
        let room = station.enqueue(now, Held { ticket, to, since: now });
        if room && station.queue.len() == 1 && station.phase == Phase::Contend {
            station.request_access(now, &self.timing);
            self.wake(from, now);
        }
        room
    }

    /// Does one thing that is due. What it comes to is among the [outcomes](Radio::take_outcomes).
    pub fn step(&mut self, now: Time) {
        let Some((time, entity)) = self.agenda.next() else { return };
        if time > now {
            return;
        }
        let n = self.stations.len() as u32;
        if entity >= n {
            self.on_flight(entity - n, now);
            return;
        }
        self.agenda.finish_next();
        if self.stations[entity as usize].disarm(now) {
            self.on_station(entity, now);
            self.wake(entity, now);
        }
    }

    /// Takes what has happened, in order.
    pub fn take_outcomes(&mut self) -> std::vec::Drain<'_, Outcome> {
        self.outcomes.drain(..)
    }

    /// Time up to `now` during which somebody transmitted, nanoseconds.
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        let current = if self.on_air > 0 { now.since(self.busy_since).0 } else { 0 };
        self.busy_ns + current
    }

    /// Time on the air of all frames up to `now`, nanoseconds.
    pub fn airtime_ns_by(&self, now: Time) -> u64 {
        self.stations.iter().map(|s| s.airtime_ns_by(now)).sum()
    }

    /// Timers are lazy: an event is added only if none is pending early enough.
    fn wake(&mut self, station: u32, now: Time) {
        if let Some(at) = self.stations[station as usize].arm(now) {
            self.agenda.schedule(at, station);
        }
    }

    // ---- frames on the air

    /// A frame, whose event is at the root of the agenda, reaches a station or leaves it.
    fn on_flight(&mut self, flight: u32, now: Time) {
        let f = &mut self.flights[flight as usize];
        let Some((_, leaves)) = f.next(&self.channel) else {
            self.agenda.finish_next();
            return;
        };
        let place = if leaves { f.left } else { f.reached };
        f.left += usize::from(leaves);
        f.reached += usize::from(!leaves);
        let frame = f.frame;
        let entity = self.stations.len() as u32 + flight;
        match f.next(&self.channel) {
            Some((at, _)) => self.agenda.replace_next(at, entity),
            None => {
                self.agenda.finish_next();
                self.free.push(flight);
            }
        }
        let neighbour = self.channel.neighbour(frame.from, place);
        if leaves {
            self.on_end(flight, &frame, place, neighbour, now);
        } else {
            self.on_start(flight, neighbour, now);
        }
        self.wake(neighbour.station, now);
    }

    fn captures(&self, power: f64, others: f64) -> bool {
        self.capture.is_some_and(|ratio| power >= ratio * others)
    }

    /// A frame begins to arrive at a station.
    fn on_start(&mut self, flight: u32, neighbour: Neighbour, now: Time) {
        let Neighbour { station, receivable, power, .. } = neighbour;
        let s = &mut self.stations[station as usize];
        if !s.senses_busy() {
            s.on_busy(now, &self.timing);
        }
        s.signals += 1;
        let others = s.energy;
        s.energy += power;
        let (alone, all) = (s.signals == 1, s.energy);
        if s.transmitting_until.is_some() {
            return;
        }
        if receivable {
            s.confirm_nav(now);
        }
        let before = s.reception;
        let strongest = self.captures(power, others) && receivable;
        let survives = before.is_some_and(|r| self.captures(r.power, (all - r.power).max(0.0)));
        let s = &mut self.stations[station as usize];
        let reception =
            Reception { flight, began: now, power, receivable, destroyed: !alone && !strongest };
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

    /// A frame has arrived at a station whole, if that was listening to it.
    fn on_end(&mut self, flight: u32, frame: &Frame, place: usize, n: Neighbour, now: Time) {
        let s = &mut self.stations[n.station as usize];
        s.signals -= 1;
        s.energy = if s.signals == 0 { 0.0 } else { (s.energy - n.power).max(0.0) };
        if let Some(reception) = s.reception
            && reception.flight == flight
        {
            s.reception = None;
            self.on_reception(n.station, frame, place, reception, now);
        }
        let s = &mut self.stations[n.station as usize];
        if !s.senses_busy() {
            s.on_idle(now, &self.timing);
            s.plan_access(now, &self.timing);
        }
    }

    /// Whether the error model takes a frame that nothing has destroyed.
    fn has_error(&mut self, station: u32, frame: &Frame, place: usize) -> bool {
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

    fn on_reception(&mut self, at: u32, frame: &Frame, place: usize, r: Reception, now: Time) {
        let failed = if !r.receivable {
            true
        } else if r.destroyed {
            self.stations[at as usize].counters.collisions_seen += 1;
            true
        } else {
            let error = self.has_error(at, frame, place);
            self.stations[at as usize].counters.frame_errors += u64::from(error);
            error
        };
        let s = &mut self.stations[at as usize];
        s.after_error = failed;
        let awaited = match s.phase {
            Phase::AwaitCts => Some(FrameKind::Cts),
            Phase::AwaitAck => Some(FrameKind::Ack),
            _ => None,
        };
        let answers = !failed && frame.to == at && awaited == Some(frame.kind);
        // Whatever is received while an answer is awaited, and is not that, is in its place.
        if awaited.is_some() && r.receivable && !answers {
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
                FrameKind::Ack if answers => self.on_success(at, now),
                FrameKind::Cts | FrameKind::Ack => {}
            }
        } else if frame.to == BROADCAST {
            self.stations[at as usize].counters.broadcasts_received += 1;
            let (from, ticket) = (frame.from, frame.ticket);
            self.outcomes.push(Outcome::Heard { from, at, ticket });
        } else {
            self.set_nav(at, frame, now);
        }
    }

    fn set_nav(&mut self, at: u32, frame: &Frame, now: Time) {
        let s = &mut self.stations[at as usize];
        let until = now + frame.nav;
        if frame.kind != FrameKind::Rts {
            s.nav = s.nav.max(until);
            return;
        }
        // Section 10.3.2.4: if no frame is heard by then, the NAV may be reset.
        let (t, answer) = (&self.timing, self.phy.airtime(CONTROL_BYTES, self.control));
        let wait = t.sifs + t.sifs + answer + self.phy.preamble(self.control) + t.slot + t.slot;
        s.nav = s.nav.max(until.min(now + wait));
        s.nav_asked = (until > now + wait).then_some((now + wait, until));
    }

    // ---- exchanges

    fn answer_rts(&mut self, at: u32, rts: &Frame, now: Time) {
        let s = &mut self.stations[at as usize];
        if s.nav > now {
            return;
        }
        let taken = self.timing.sifs + self.phy.airtime(CONTROL_BYTES, self.control);
        let nav = Span(rts.nav.0.saturating_sub(taken.0));
        let answer = Frame { kind: FrameKind::Cts, from: at, to: rts.from, nav, ..*rts };
        let answer = Frame { bytes: CONTROL_BYTES, ..answer };
        s.response = Some((now + self.timing.sifs, answer));
    }

    fn take_data(&mut self, at: u32, data: &Frame, now: Time) {
        let (from, to, ticket) = (data.from, at, data.ticket);
        let ack = Frame { kind: FrameKind::Ack, from: at, to: from, nav: Span::ZERO, ..*data };
        let ack = Frame { bytes: CONTROL_BYTES, ..ack };
        let n = self.stations.len();
        let last = &mut self.last_taken[at as usize * n + from as usize];
        let duplicate = data.retry && *last == data.sequence;
        *last = data.sequence;
        let s = &mut self.stations[at as usize];
        s.response = Some((now + self.timing.sifs, ack));
        s.counters.duplicates += u64::from(duplicate);
        if duplicate {
            return;
        }
        let sender = &mut self.stations[from as usize];
        debug_assert!(!sender.taken && sender.sequence == data.sequence, "taken twice");
        sender.taken = true;
        sender.counters.delivered += 1;
        sender.counters.bytes += u64::from(ticket.size);
        self.outcomes.push(Outcome::Delivered { from, to, ticket });
    }

    /// The event of a station: whatever of its timers are due.
    fn on_station(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        if s.transmitting_until.is_some_and(|t| t <= now) {
            self.on_transmitted(station, now);
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
    }

    fn on_phase_end(&mut self, station: u32, now: Time) {
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
            Phase::Contend | Phase::SendRts | Phase::SendData => {}
        }
    }

    /// The channel is a station's.
    fn begin_exchange(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.grant = Time::NEVER;
        let Some(head) = s.queue.front().copied() else { return };
        s.backoff = None;
        let bytes = head.ticket.size + DATA_OVERHEAD;
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
            ticket: head.ticket,
            bytes: RTS_BYTES,
        };
        self.transmit(station, frame, self.control, now);
    }

    fn send_data(&mut self, station: u32, now: Time) {
        let control = self.phy.airtime(CONTROL_BYTES, self.control);
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front().copied() else { return };
        let to_all = head.to == BROADCAST;
        s.phase = Phase::SendData;
        s.counters.transmissions += 1;
        s.counters.retransmissions += u64::from(s.tried);
        s.on_transmit(now, &self.timing);
        let frame = Frame {
            kind: FrameKind::Data,
            from: station,
            to: head.to,
            nav: if to_all { Span::ZERO } else { self.timing.sifs + control },
            sequence: s.sequence,
            retry: s.tried,
            ticket: head.ticket,
            bytes: head.ticket.size + DATA_OVERHEAD,
        };
        s.tried = true;
        let rate = if to_all { self.broadcast } else { self.data };
        self.transmit(station, frame, rate, now);
    }

    /// Puts a frame on the air.
    fn transmit(&mut self, station: u32, frame: Frame, rate: Rate, now: Time) {
        let airtime = self.phy.airtime(frame.bytes, rate);
        let s = &mut self.stations[station as usize];
        s.transmitting_until = Some(now + airtime);
        s.counters.airtime_ns += airtime.0;
        if self.on_air == 0 {
            self.busy_since = now;
        }
        self.on_air += 1;
        let flight = Flight { frame, start: now, airtime, reached: 0, left: 0 };
        let Some((at, _)) = flight.next(&self.channel) else { return };
        let index = self.free.pop().unwrap_or(self.flights.len() as u32);
        match self.flights.get_mut(index as usize) {
            Some(place) => *place = flight,
            None => self.flights.push(flight),
        }
        self.agenda.schedule(at, self.stations.len() as u32 + index);
    }

    /// A station has transmitted a frame.
    fn on_transmitted(&mut self, station: u32, now: Time) {
        self.on_air -= 1;
        if self.on_air == 0 {
            self.busy_ns += now.since(self.busy_since).0;
        }
        let t = &self.timing;
        let s = &mut self.stations[station as usize];
        s.transmitting_until = None;
        if s.signals == 0 {
            s.on_idle(now, t);
        }
        // aSIFSTime + aSlotTime + aRxPHYStartDelay, section 10.3.2.9.
        let wait = t.sifs + t.slot + self.phy.preamble(self.control);
        match s.phase {
            Phase::SendRts => {
                s.phase = Phase::AwaitCts;
                s.phase_until = now + wait;
            }
            Phase::SendData if s.queue.front().is_some_and(|h| h.to == BROADCAST) => {
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

    fn on_broadcast(&mut self, from: u32, now: Time) {
        let s = &mut self.stations[from as usize];
        let Some(Held { ticket, .. }) = s.queue.front().copied() else { return };
        s.counters.delivered += 1;
        s.counters.bytes += u64::from(ticket.size);
        self.outcomes.push(Outcome::Broadcast { from, ticket });
        self.finish(from, now);
    }

    fn on_success(&mut self, station: u32, now: Time) {
        self.finish(station, now);
    }

    /// The first packet is done with, and the next is tried from the least window.
    fn finish(&mut self, station: u32, now: Time) -> Option<Held> {
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.phase_until = Time::NEVER;
        s.window = self.timing.cw_min;
        let held = s.finish_head(now);
        s.start_backoff(now, &self.timing);
        held
    }

    /// No CTS came, or no acknowledgement.
    fn on_failure(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        let Some(head) = s.queue.front() else { return };
        let after_rts = self.rts.asks_for(head.ticket.size + DATA_OVERHEAD);
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

    fn give_up(&mut self, from: u32, now: Time) {
        let taken = self.stations[from as usize].taken;
        let Some(Held { ticket, to, .. }) = self.finish(from, now) else { return };
        let c = &mut self.stations[from as usize].counters;
        c.unconfirmed += u64::from(taken);
        c.drops_retry += u64::from(!taken);
        self.outcomes.push(Outcome::GaveUp { from, to, ticket, taken });
    }
}
