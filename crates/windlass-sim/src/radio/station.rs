//! A station: its queue, its back-off and what it knows of the channel.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use crate::link::QueueLimit;
use crate::loss::LossProcess;
use crate::radio::beacons::Announcer;
use crate::radio::block_ack::Aggregator;
use crate::radio::channel::Frame;
use crate::radio::energy::{EnergyMeter, State};
use crate::radio::queued::{BROADCAST, Queued};
use crate::radio::rate_adaptation::Adapter;
use crate::radio::rates::DATA;
use crate::radio::scheduling::Scheduler;
use crate::radio::service::{Neighbours, Service, StationCounters};
use crate::radio::sleep::{Job, Sleep};
use crate::random::Stream;

/// What a station is doing with the first packet of its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Waiting for the channel, or for a packet.
    Contend,
    /// Transmitting an RTS.
    SendRts,
    /// Waiting for the CTS.
    AwaitCts,
    /// The SIFS between CTS and data.
    Gap,
    /// Transmitting data.
    SendData,
    /// Transmitting a beacon.
    SendBeacon,
    /// Waiting for the acknowledgement.
    AwaitAck,
    /// IEEE 802.15.4: the space before a frame, and what its station needs to prepare it; or before it is
    /// tried again.
    Pause,
    /// IEEE 802.15.4: the back-off, and the clear-channel assessment that ends it.
    Assess,
    /// IEEE 802.15.4: turning from receiving to transmitting.
    Turn,
}

/// A frame being received: the one that came while no other was.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Its place among the frames on the air.
    pub transmission: u32,
    /// When its first symbol came.
    pub began: Time,
    /// Received power, milliwatts.
    pub power: f64,
    /// Whether it is strong enough.
    pub receivable: bool,
    /// Whether another has destroyed it.
    pub destroyed: bool,
    /// Whether it is for this station, or for all.
    pub own: bool,
}

/// Slots and spaces that a station counts with.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Slot.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// DCF interframe space.
    pub difs: Span,
    /// What a station waits for after a frame that it could not receive.
    pub eifs: Span,
    /// See [`crate::radio::Phy::turnaround`].
    pub turnaround: Span,
    /// Least contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// For how long after a frame its answer is waited for.
    pub answer_wait: Span,
    /// Clear-channel assessment of IEEE 802.15.4.
    pub assessment: Span,
}

/// A station. What every frame on the air touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Station {
    /// Frames of others on the air here.
    pub signals: u32,
    /// Contention window: the next back-off is 0 … `window` slots.
    pub window: u32,
    /// Sum of their powers, milliwatts.
    pub energy: f64,
    /// End of its transmission.
    pub transmitting_until: Option<Time>,
    /// The frame being received.
    pub reception: Option<Reception>,
    /// When it may transmit, if nothing comes between.
    pub grant: Time,
    /// What it is doing.
    pub phase: Phase,
    /// When that ends by itself.
    pub phase_until: Time,
    /// When counting begins or began.
    pub slots_from: Time,
    /// When the channel was last left idle.
    pub idle_since: Time,
    /// Until when the channel is taken by what Duration fields said (NAV).
    pub nav: Time,
    /// A longer NAV that an RTS asked for, which counts if a frame is heard before this moment.
    pub nav_asked: Option<(Time, Time)>,
    /// Slots still to count down, `None` without a back-off.
    pub backoff: Option<u32>,
    /// Whether the last frame could not be received, so that an EIFS is due.
    pub after_error: bool,
    armed: [Time; 2],
    /// When it is to go off for ever, whatever its battery.
    pub off_at: Time,
    /// When it was switched off for ever.
    pub off_since: Option<Time>,
    /// A CTS or acknowledgement to send, and when.
    pub response: Option<(Time, Frame)>,
    /// Times, energy and battery.
    pub meter: EnergyMeter,
    /// Packets to transmit; the first is being tried.
    pub queue: VecDeque<Queued>,
    queued_bytes: u64,
    limit: QueueLimit,
    /// Chooses the next packet, `None` for the order of arrival.
    scheduler: Option<Box<Scheduler>>,
    changed: Time,
    /// Since when the first packet is the first.
    pub(super) head_since: Time,
    /// Whether the receiver has taken the first packet, which the station does not know: for the
    /// conservation check.
    pub taken: bool,
    /// Whether the first packet has been transmitted.
    pub tried: bool,
    /// Number of the first packet.
    pub sequence: u64,
    /// The highest number so far.
    issued: u64,
    /// Failed attempts of the first packet: RTS or data without it, and data after RTS. IEEE 802.15.4: of
    /// the frame being tried, and assessments of this attempt that found the channel busy.
    pub failed: [u32; 2],
    /// The part of the first packet that is being tried, from 0, and how many there are.
    pub part: [u8; 2],
    /// IEEE 802.15.4: when the space after its last frame ends.
    pub space_until: Time,
    /// What back-offs are drawn from.
    pub stream: Stream,
    /// Error model of what it receives.
    pub errors: Option<Box<LossProcess>>,
    /// What [`crate::radio::FrameErrors::Snr`] draws from.
    pub error_stream: Stream,
    /// IEEE 802.15.4: what the frame being tried is of.
    pub(super) job: Job,
    /// IEEE 802.15.4: what it does about sleep, its own or that of others.
    pub(super) sleep: Option<Box<Sleep>>,
    /// Place among the radio's rates of that of the data frame being tried.
    pub(super) rate: u8,
    /// Chooses it, `None` where it is fixed.
    pub(super) adapter: Option<Box<Adapter>>,
    /// Sends several packets in a frame.
    pub(super) aggregator: Option<Box<Aggregator>>,
    /// Sends beacons.
    pub(super) announcer: Option<Box<Announcer>>,
    /// Totals.
    pub counters: StationCounters,
    pub(super) neighbours: Option<Box<Neighbours>>,
}

impl Station {
    /// An idle station.
    pub fn new(
        limit: QueueLimit,
        timing: &Timing,
        streams: [Stream; 2],
        errors: Option<LossProcess>,
        meter: EnergyMeter,
        scheduler: Option<Scheduler>,
    ) -> Station {
        let [stream, error_stream] = streams;
        Station {
            queue: VecDeque::new(),
            queued_bytes: 0,
            limit,
            scheduler: scheduler.map(Box::new),
            changed: Time::ZERO,
            head_since: Time::ZERO,
            taken: false,
            tried: false,
            sequence: 0,
            issued: 0,
            failed: [0; 2],
            part: [0, 1],
            space_until: Time::ZERO,
            phase: Phase::Contend,
            phase_until: Time::NEVER,
            response: None,
            transmitting_until: None,
            window: timing.cw_min,
            backoff: None,
            // The channel is idle, and has been.
            slots_from: Time::ZERO,
            grant: Time::NEVER,
            signals: 0,
            energy: 0.0,
            reception: None,
            idle_since: Time::ZERO,
            after_error: false,
            nav: Time::ZERO,
            nav_asked: None,
            stream,
            errors: errors.map(Box::new),
            error_stream,
            armed: [Time::NEVER; 2],
            meter,
            off_at: Time::NEVER,
            off_since: None,
            job: Job::Packet,
            sleep: None,
            rate: DATA,
            adapter: None,
            aggregator: None,
            announcer: None,
            counters: StationCounters::default(),
            neighbours: None,
        }
    }

    /// A packet comes; whether there is room.
    pub fn enqueue(&mut self, now: Time, queued: Queued) -> bool {
        self.counters.offered += 1;
        if self.is_off() {
            self.counters.drops_off += 1;
            return false;
        }
        let (n, size) = (self.len(), u64::from(queued.handle.size));
        if !self.limit.has_room(n, self.queued_bytes, size) {
            self.counters.drops_queue += 1;
            return false;
        }
        self.account(now);
        self.queued_bytes += size;
        self.counters.max_held = self.counters.max_held.max(n + 1);
        if self.is_parent_of(queued.to) {
            self.keep(queued);
            return true;
        }
        self.queue.push_back(queued);
        if let Some(aggregator) = &mut self.aggregator {
            aggregator.push();
        }
        if self.queue.len() == 1 {
            self.serve(now);
        }
        true
    }

    /// Packets that it holds, those kept for stations that sleep included.
    fn len(&self) -> u64 {
        self.queue.len() as u64 + self.kept()
    }

    /// The first packet of the queue is the one to be tried now.
    pub(super) fn serve(&mut self, now: Time) {
        let Some(head) = self.queue.front() else { return };
        // With aggregation its turn comes when it is first sent.
        if self.aggregator.is_none() || head.to == BROADCAST {
            self.counters.waited_ns += now.since(head.since).0;
            self.counters.served += 1;
        }
        self.head_since = now;
        self.taken = false;
        self.tried = false;
        self.failed = [0; 2];
        self.part = [0, 1];
        self.renumber();
    }

    /// What is transmitted next is nothing that has been before.
    pub(super) fn renumber(&mut self) {
        self.issued += 1;
        self.sequence = self.issued;
    }

    /// `done` is done with: the scheduler, if there is one, puts another packet first.
    fn schedule(&mut self, now: Time, done: &Queued) {
        let Some(scheduler) = &mut self.scheduler else { return };
        scheduler.on_served(done, now.since(self.head_since), self.taken);
        let room = match self.limit {
            QueueLimit::Packets(n) => n,
            QueueLimit::Bytes(_) | QueueLimit::Unlimited => self.queue.len() as u64 + 1,
        };
        let place = scheduler.choose(now, &self.queue, room);
        if let Some(next) = self.queue.remove(place) {
            self.queue.push_front(next);
        }
    }

    /// The first packet is done with.
    pub fn finish_head(&mut self, now: Time) -> Option<Queued> {
        self.account(now);
        let head = self.queue.pop_front()?;
        if let Some(aggregator) = &mut self.aggregator {
            aggregator.pop();
        }
        self.schedule(now, &head);
        self.enter(now, &head);
        self.serve(now);
        Some(head)
    }

    /// The same of one that was kept for a station that sleeps; the next is not the first of the queue yet.
    pub(super) fn let_go(&mut self, now: Time) -> Option<Queued> {
        self.account(now);
        let head = self.queue.pop_front()?;
        self.enter(now, &head);
        Some(head)
    }

    pub(super) fn enter(&mut self, now: Time, done: &Queued) {
        self.note_neighbour(now, done);
        self.queued_bytes -= u64::from(done.handle.size);
        self.counters.service_ns += now.since(self.head_since).0;
        self.counters.finished += 1;
    }

    /// Integral of the queue length up to `now`.
    pub fn held_ns_by(&self, now: Time) -> u64 {
        self.counters.held_ns + self.len() * now.since(self.changed).0
    }

    /// Time on the air of its frames up to `now`, nanoseconds.
    pub fn airtime_ns_by(&self, now: Time) -> u64 {
        let ahead = self.transmitting_until.map_or(0, |until| until.since(now).0);
        self.counters.airtime_ns - ahead
    }

    pub(super) fn account(&mut self, now: Time) {
        self.counters.held_ns = self.held_ns_by(now);
        self.changed = now;
    }

    /// Packets queued that their receiver has not taken.
    pub fn inside(&self) -> u64 {
        let taken = self.taken && !self.queue.is_empty();
        let (held, accepted) = self.aggregator.as_ref().map_or((0, 0), |a| a.correction());
        self.len() + held - accepted - u64::from(taken) - self.kept_and_taken()
    }

    /// Whether everything handed in is accounted for.
    pub fn conserves_packets(&self) -> bool {
        let c = &self.counters;
        c.offered == c.delivered + self.dropped() + self.inside()
    }

    /// Packets dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        let c = &self.counters;
        c.drops_queue + c.drops_retry + c.drops_off
    }

    /// Most that it may hold.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// Whether it has been switched off, or its battery is empty.
    pub fn is_off(&self) -> bool {
        self.off_since.is_some()
    }

    /// Tells the meter what the radio does from now on.
    pub fn update_meter(&mut self, now: Time) {
        let asleep = self.is_asleep();
        if asleep {
            self.reception = None;
        }
        let state = match &self.reception {
            _ if self.is_off() => State::Off,
            _ if asleep => State::Sleep,
            _ if self.transmitting_until.is_some() => State::Transmit,
            Some(r) if r.own => State::Receive,
            _ if self.signals > 0 => State::Listen,
            _ => State::Idle,
        };
        self.meter.enter(state, now);
    }

    /// It falls silent for ever. Returns the packets that it queued and that nobody has taken.
    pub fn switch_off(&mut self, now: Time) -> Vec<Queued> {
        self.account(now);
        let ahead = self.transmitting_until.map_or(0, |until| until.since(now).0);
        self.counters.airtime_ns -= ahead;
        self.counters.unconfirmed += u64::from(self.taken && !self.queue.is_empty());
        let mut lost = self.drain_aggregated().unwrap_or_else(|| {
            self.queue.drain(..).skip(usize::from(std::mem::take(&mut self.taken))).collect()
        });
        self.drop_kept(&mut lost);
        self.counters.drops_off += lost.len() as u64;
        self.queued_bytes = 0;
        // A frame that is still arriving somewhere is of a packet that no longer exists.
        self.renumber();
        self.announcer = None;
        self.job = Job::Packet;
        (self.phase, self.phase_until) = (Phase::Contend, Time::NEVER);
        (self.grant, self.backoff) = (Time::NEVER, None);
        (self.response, self.reception, self.transmitting_until) = (None, None, None);
        self.off_since = Some(now);
        self.update_meter(now);
        lost
    }

    /// When the station must be looked after next.
    fn deadline(&self) -> Time {
        let own = self.transmitting_until.unwrap_or(Time::NEVER).min(self.phase_until);
        let ends = self.off_at.min(self.meter.check());
        let own = if self.is_off() { own } else { own.min(ends) };
        let own = own.min(self.sleep_deadline());
        let own = own.min(self.announcer.as_ref().map_or(Time::NEVER, |a| a.due));
        own.min(self.grant).min(self.response.map_or(Time::NEVER, |r| r.0))
    }

    /// The event to schedule, if none is pending early enough.
    pub fn arm(&mut self, now: Time) -> Option<Time> {
        let deadline = self.deadline();
        if deadline >= self.armed[0] {
            return None;
        }
        let at = deadline.max(now);
        self.armed = [at, self.armed[0]];
        Some(at)
    }

    /// An event fires; whether it still counts.
    pub fn disarm(&mut self, now: Time) -> bool {
        let counts = self.armed[0] == now;
        if counts {
            self.armed = [self.armed[1], Time::NEVER];
        }
        counts
    }
}

impl Station {
    /// From now on it keeps account of each next station.
    pub fn watch_neighbours(&mut self) {
        self.neighbours.get_or_insert_default();
    }

    /// How it got on with packets for a station since it was told to keep account.
    pub fn service_of(&self, to: u32) -> Service {
        let known = self.neighbours.iter().flat_map(|n| &n.0).find(|(s, _)| *s == to);
        known.map_or_else(Service::default, |(_, service)| *service)
    }

    /// Enters the first packet, which is done with, into the account of its next station.
    pub(super) fn note_neighbour(&mut self, now: Time, head: &Queued) {
        let Some(neighbours) = &mut self.neighbours else { return };
        let service = neighbours.of(head.to);
        service.finished += 1;
        service.given_up += u64::from(!self.taken);
        service.failures += self.failed.iter().map(|n| u64::from(*n)).sum::<u64>();
        service.service_ns += now.since(self.head_since).0;
        service.bytes += if self.taken { u64::from(head.handle.size) } else { 0 };
    }
}
