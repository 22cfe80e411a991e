//! A station: its queue, its back-off and its view of the channel.

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

/// Progress of the first packet of a station's queue.
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
    /// IEEE 802.15.4: the space before a frame and its preparation, or the delay before a retry.
    Pause,
    /// IEEE 802.15.4: back-off and clear-channel assessment.
    Assess,
    /// IEEE 802.15.4: turnaround from receiving to transmitting.
    Turn,
}

/// The frame that a station is receiving.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Its index among the frames on the air.
    pub transmission: u32,
    /// Time at which its first symbol arrived.
    pub began: Time,
    /// Received power, milliwatts.
    pub power: f64,
    /// True if it is strong enough to be received.
    pub receivable: bool,
    /// True if another frame has destroyed it.
    pub destroyed: bool,
    /// True if it is for this station or for all stations.
    pub own: bool,
}

/// Slots and spaces of a station.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Slot.
    pub slot: Span,
    /// Short interframe space.
    pub sifs: Span,
    /// DCF interframe space.
    pub difs: Span,
    /// Space after a frame that the station could not receive.
    pub eifs: Span,
    /// See [`crate::radio::Phy::turnaround`].
    pub turnaround: Span,
    /// Minimum contention window.
    pub cw_min: u32,
    /// Maximum contention window.
    pub cw_max: u32,
    /// Time from the end of a frame until its answer counts as missing.
    pub answer_wait: Span,
    /// Clear-channel assessment of IEEE 802.15.4.
    pub assessment: Span,
}

/// A station. The fields that every frame on the air reads or writes are first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Station {
    /// Number of frames of other stations on the air at this station.
    pub signals: u32,
    /// Contention window: the next back-off is 0 … `window` slots.
    pub window: u32,
    /// Sum of the powers of these frames, milliwatts.
    pub energy: f64,
    /// End of the station's transmission.
    pub transmitting_until: Option<Time>,
    /// The frame being received.
    pub reception: Option<Reception>,
    /// Time at which it may transmit, if the channel stays idle.
    pub grant: Time,
    /// Progress of the first packet.
    pub phase: Phase,
    /// Time at which the phase ends by its timer.
    pub phase_until: Time,
    /// Time from which back-off slots are counted.
    pub slots_from: Time,
    /// Time at which the channel last became idle.
    pub idle_since: Time,
    /// Time until which Duration fields have reserved the channel (NAV).
    pub nav: Time,
    /// Longer NAV of an RTS: `(before, until)`. It is applied if a frame arrives by `before`.
    pub nav_asked: Option<(Time, Time)>,
    /// Remaining slots of the back-off; `None` without a back-off.
    pub backoff: Option<u32>,
    /// True if the last frame could not be received, so that an EIFS follows.
    pub after_error: bool,
    armed: [Time; 2],
    /// Time at which it is switched off permanently, even with a charged battery.
    pub off_at: Time,
    /// Time at which it was switched off permanently.
    pub off_since: Option<Time>,
    /// CTS or acknowledgement to send, with its time.
    pub response: Option<(Time, Frame)>,
    /// Times, energy and battery.
    pub meter: EnergyMeter,
    /// Packets to transmit, beginning with the packet in transmission.
    pub queue: VecDeque<Queued>,
    queued_bytes: u64,
    limit: QueueLimit,
    /// Scheduler of the next packet; `None` for the order of arrival.
    scheduler: Option<Box<Scheduler>>,
    changed: Time,
    /// Time at which the first packet reached the head of the queue.
    pub(super) head_since: Time,
    /// True if the receiver has received the first packet. The station does not use this; it is needed for
    /// the conservation check.
    pub taken: bool,
    /// True if the first packet has been transmitted.
    pub tried: bool,
    /// Sequence number of the first packet.
    pub sequence: u64,
    /// Highest sequence number in use.
    issued: u64,
    /// IEEE 802.11: failed attempts of the first packet, for RTS or data without RTS, and for data after RTS.
    /// IEEE 802.15.4: failed attempts of the present frame, and assessments of this attempt that found the
    /// channel busy.
    pub failed: [u32; 2],
    /// Index of the first packet's part in transmission, from 0, and the number of parts.
    pub part: [u8; 2],
    /// IEEE 802.15.4: end of the space after its last frame.
    pub space_until: Time,
    /// Random numbers of back-offs.
    pub stream: Stream,
    /// Error model of received frames.
    pub errors: Option<Box<LossProcess>>,
    /// Random numbers of [`crate::radio::FrameErrors::Snr`].
    pub error_stream: Stream,
    /// IEEE 802.15.4: content of the frame in transmission.
    pub(super) job: Job,
    /// IEEE 802.15.4: its state as a sleeping station, or as a parent of sleeping stations.
    pub(super) sleep: Option<Box<Sleep>>,
    /// Index of the rate of the present data frame.
    pub(super) rate: u8,
    /// Rate adaptation; `None` if the rate is fixed.
    pub(super) adapter: Option<Box<Adapter>>,
    /// Aggregation of several packets into a frame.
    pub(super) aggregator: Option<Box<Aggregator>>,
    /// Transmission of beacons.
    pub(super) announcer: Option<Box<Announcer>>,
    /// Totals.
    pub counters: StationCounters,
    pub(super) neighbours: Option<Box<Neighbours>>,
}

impl Station {
    /// Returns an idle station.
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
            // The channel is and was idle.
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

    /// Adds a packet to the queue. Returns true if the queue had room.
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

    /// Number of packets that it holds, with the packets kept for sleeping stations.
    fn len(&self) -> u64 {
        self.queue.len() as u64 + self.kept()
    }

    /// Starts the service of the first packet of the queue.
    pub(super) fn serve(&mut self, now: Time) {
        let Some(head) = self.queue.front() else { return };
        // With aggregation, service begins with the first transmission.
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

    /// Gives the next transmission a new sequence number.
    pub(super) fn renumber(&mut self) {
        self.issued += 1;
        self.sequence = self.issued;
    }

    /// `done` is finished. The scheduler, if any, moves another packet to the head of the queue.
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

    /// Removes the first packet, which is finished.
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

    /// Removes a finished packet that was kept for a sleeping station. Unlike [`Station::finish_head`], it
    /// does not start the next packet.
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

    /// Airtime of its frames up to `now`, nanoseconds.
    pub fn airtime_ns_by(&self, now: Time) -> u64 {
        let ahead = self.transmitting_until.map_or(0, |until| until.since(now).0);
        self.counters.airtime_ns - ahead
    }

    pub(super) fn account(&mut self, now: Time) {
        self.counters.held_ns = self.held_ns_by(now);
        self.changed = now;
    }

    /// Number of queued packets that their receiver has not received.
    pub fn inside(&self) -> u64 {
        let taken = self.taken && !self.queue.is_empty();
        let (held, accepted) = self.aggregator.as_ref().map_or((0, 0), |a| a.correction());
        self.len() + held - accepted - u64::from(taken) - self.kept_and_taken()
    }

    /// True if every packet handed to the station is accounted for.
    pub fn conserves_packets(&self) -> bool {
        let c = &self.counters;
        c.offered == c.delivered + self.dropped() + self.inside()
    }

    /// Total number of dropped packets.
    pub fn dropped(&self) -> u64 {
        let c = &self.counters;
        c.drops_queue + c.drops_retry + c.drops_off
    }

    /// Limit of the queue.
    pub fn limit(&self) -> QueueLimit {
        self.limit
    }

    /// True if it has been switched off, or if its battery is empty.
    pub fn is_off(&self) -> bool {
        self.off_since.is_some()
    }

    /// Updates the state of the energy meter.
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

    /// Switches the station off permanently. Returns the queued packets that no station has received.
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
        // A frame that is still arriving at another station belongs to a packet that no longer exists.
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

    /// Time of the station's next event.
    fn deadline(&self) -> Time {
        let own = self.transmitting_until.unwrap_or(Time::NEVER).min(self.phase_until);
        let ends = self.off_at.min(self.meter.check());
        let own = if self.is_off() { own } else { own.min(ends) };
        let own = own.min(self.sleep_deadline());
        let own = own.min(self.announcer.as_ref().map_or(Time::NEVER, |a| a.due));
        own.min(self.grant).min(self.response.map_or(Time::NEVER, |r| r.0))
    }

    /// Returns the time of an event to schedule, unless an earlier one is pending.
    pub fn arm(&mut self, now: Time) -> Option<Time> {
        let deadline = self.deadline();
        if deadline >= self.armed[0] {
            return None;
        }
        let at = deadline.max(now);
        self.armed = [at, self.armed[0]];
        Some(at)
    }

    /// Handles an event that is due. Returns false if an earlier event has replaced it.
    pub fn disarm(&mut self, now: Time) -> bool {
        let counts = self.armed[0] == now;
        if counts {
            self.armed = [self.armed[1], Time::NEVER];
        }
        counts
    }
}

impl Station {
    /// Starts the recording of service by next station.
    pub fn watch_neighbours(&mut self) {
        self.neighbours.get_or_insert_default();
    }

    /// Service of packets for a station since recording began.
    pub fn service_of(&self, to: u32) -> Service {
        let known = self.neighbours.iter().flat_map(|n| &n.0).find(|(s, _)| *s == to);
        known.map_or_else(Service::default, |(_, service)| *service)
    }

    /// Records the first packet, which is finished, for its next station.
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
