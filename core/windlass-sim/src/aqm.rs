//! A link direction whose queue has a discipline. The queue is in front of the link, and hands it a
//! packet whenever the link is idle.

use windlass_cc::Time;

use crate::config::Config;
use crate::core::{Core, Entity};
use crate::evidence::Fate;
use crate::link::{Link, Offer};
use crate::packet::PacketHandle;
use crate::queue::{Dropped, Queue, Waiting};
use crate::results::PacketFate;

/// Totals of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueCounters {
    /// Packets that arrived.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets dropped by a decision of the discipline although the queue had room; part of
    /// `dropped`.
    pub early: u64,
    /// Packets marked.
    pub marked: u64,
    /// Sum of the queueing delays of the packets that the link took, nanoseconds.
    pub taken_waited_ns: u64,
    /// Integral of the queue length over time, packets times nanoseconds, up to the last change.
    pub waited_ns: u64,
    /// Maximum number of packets that waited at the same time.
    pub max_waiting: u64,
}

/// A queue in front of a link.
#[derive(Clone, Debug)]
pub struct AqmQueue {
    /// The link direction.
    pub link: u32,
    /// The queue.
    pub queue: Queue,
    /// Totals.
    pub counters: QueueCounters,
    /// True if an event at the end of the transmission is pending.
    armed: bool,
    /// Time of the last change of the queue length.
    changed: Time,
    /// Packets dropped by the present call.
    drops: Vec<Dropped>,
}

impl AqmQueue {
    /// The queues of all link directions that have a discipline.
    pub fn all(config: &Config) -> Vec<AqmQueue> {
        let directions = (0..2 * config.links.len()).filter_map(|direction| {
            let l = &config.links[direction / 2];
            let own = l.direction(direction % 2);
            let queue = Queue::new(&own.discipline, own.queue, config.seed, direction as u64)?;
            l.radio.is_none().then(|| AqmQueue::new(direction, queue))
        });
        directions.collect()
    }

    /// The queue in front of a link direction whose transmitter another part controls.
    pub(crate) fn in_front(config: &Config, direction: usize) -> AqmQueue {
        let own = config.links[direction / 2].direction(direction % 2);
        let queue = Queue::always(&own.discipline, own.queue, config.seed, direction as u64);
        AqmQueue::new(direction, queue)
    }

    fn new(direction: usize, queue: Queue) -> AqmQueue {
        AqmQueue {
            link: direction as u32,
            queue,
            counters: QueueCounters::default(),
            armed: false,
            changed: Time::ZERO,
            drops: Vec::new(),
        }
    }

    /// Integral of the queue length up to `now`.
    pub fn waited_ns_by(&self, now: Time) -> u64 {
        self.counters.waited_ns + self.queue.len() * now.since(self.changed).0
    }

    /// Updates the integral before a change of the queue length.
    fn account(&mut self, now: Time) {
        self.counters.waited_ns = self.waited_ns_by(now);
        self.changed = now;
    }

    /// True if all packets that arrived are accounted for.
    pub fn conserves_packets(&self, link: &Link) -> bool {
        let c = &self.counters;
        c.offered == c.dropped + link.counters.offered + self.queue.len()
    }

    /// Enqueues a packet. Returns true if the packet is marked.
    fn enqueue(&mut self, now: Time, packet: Waiting, busy_until: Time) -> bool {
        self.account(now);
        self.counters.offered += 1;
        let idle = (busy_until <= now).then(|| now.since(busy_until));
        let marked = self.queue.enqueue(now, packet, idle, &mut self.drops);
        self.counters.marked += u64::from(marked);
        marked
    }

    /// Takes a packet for the idle link. The flag is true if the packet is marked.
    fn dequeue(&mut self, now: Time) -> Option<(PacketHandle, bool)> {
        if self.queue.is_empty() {
            return None;
        }
        self.account(now);
        let (packet, marked) = self.queue.dequeue(now, &mut self.drops)?;
        self.counters.taken_waited_ns += now.since(packet.since).0;
        self.counters.marked += u64::from(marked);
        Some((packet.handle, marked))
    }

    /// Hands a packet to this queue, which has this number in the network.
    pub(crate) fn put(&mut self, core: &mut Core, number: u32, handle: PacketHandle) {
        // A transmission that ends at the same time ends first, as with drop-tail.
        self.transmit(core);
        let busy_until = core.links[self.link as usize].busy_until();
        self.enter(core, handle, busy_until);
        self.transmit(core);
        self.note_length();
        self.wake_when_idle(core, number);
    }

    /// Enqueues a packet. The transmitter is free at `busy_until`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, core: &mut Core, handle: PacketHandle, busy_until: Time) {
        let flow = core.destination(handle);
        let link = &core.links[self.link as usize];
        let packet = Waiting {
            handle,
            since: core.now,
            transmission: link.transmission_time(handle.size),
            flow,
            ecn: core.packets.get(handle.id).ecn(),
        };
        if let Some(evidence) = &mut core.evidence {
            evidence.enter(self.link, flow / 2);
        }
        if self.enqueue(core.now, packet, busy_until) {
            self.mark(core, handle);
        }
        self.discard(core);
    }

    /// Counts the present length.
    #[inline(always)]
    pub(crate) fn note_length(&mut self) {
        self.counters.max_waiting = self.counters.max_waiting.max(self.queue.len());
    }

    /// Handles the queue's event: its link has finished a transmission.
    #[inline(never)]
    pub(crate) fn on_transmitted(&mut self, core: &mut Core, number: u32) {
        self.armed = false;
        self.transmit(core);
        self.wake_when_idle(core, number);
    }

    /// Gives the next packet to the link if the link is idle. Returns true if it took a packet.
    pub(crate) fn transmit(&mut self, core: &mut Core) -> bool {
        if core.links[self.link as usize].busy_until() > core.now {
            return false;
        }
        let taken = self.dequeue(core.now);
        self.discard(core);
        let Some((handle, marked)) = taken else { return false };
        self.note_departure(core, handle);
        if marked {
            self.mark(core, handle);
        }
        // An idle link always accepts.
        if let Offer::Accepted { wake: Some(at), .. } =
            core.links[self.link as usize].offer(core.now, handle)
        {
            core.schedule(at, Entity::Link(self.link));
        }
        core.log(core.now, self.link, PacketFate::Sent, handle);
        true
    }

    /// Schedules an event for the end of the link's transmission, if packets wait.
    fn wake_when_idle(&mut self, core: &mut Core, number: u32) {
        if !self.armed && !self.queue.is_empty() {
            self.armed = true;
            core.schedule(core.links[self.link as usize].busy_until(), Entity::Queue(number));
        }
    }

    /// Loses all packets of the queue, because the node that holds them is switched off.
    pub(crate) fn lose_all(&mut self, core: &mut Core) {
        while let Some((handle, _)) = self.dequeue(core.now) {
            self.drops.push(Dropped { handle, early: false });
        }
        self.discard_for(core, Some(Fate::StationOff));
    }

    /// Removes the packets that the queue has dropped from the network.
    fn discard(&mut self, core: &mut Core) {
        self.discard_for(core, None);
    }

    /// Removes the dropped packets for this cause, or for the cause that the queue has noted.
    fn discard_for(&mut self, core: &mut Core, cause: Option<Fate>) {
        self.counters.dropped += self.drops.len() as u64;
        for dropped in self.drops.drain(..) {
            self.counters.early += u64::from(dropped.early);
            core.log(core.now, self.link, PacketFate::DroppedQueue, dropped.handle);
            if core.evidence.is_some() {
                let flow = core.destination(dropped.handle) / 2;
                let (link, packets, bytes) = (self.link, self.queue.len(), self.queue.bytes());
                let backlog = core.evidence.as_mut().map(|evidence| {
                    evidence.leave(link, flow);
                    evidence.backlog(link, packets, bytes)
                });
                let own = if dropped.early { Fate::Discipline } else { Fate::QueueFull };
                let fate = cause.unwrap_or(own);
                core.testify(Some(link), dropped.handle, fate, backlog);
            }
            core.drop_packet(dropped.handle);
        }
    }

    /// Marks a packet that is in the queue or has just left it.
    fn mark(&self, core: &mut Core, handle: PacketHandle) {
        core.packets.mark(handle.id);
        let (packets, bytes) = (self.queue.len(), self.queue.bytes());
        let evidence = core.evidence.as_ref();
        let backlog = evidence.map(|evidence| evidence.backlog(self.link, packets, bytes));
        core.testify(Some(self.link), handle, Fate::Marked, backlog);
    }

    /// Records that a packet leaves the queue for the link.
    #[inline]
    fn note_departure(&self, core: &mut Core, handle: PacketHandle) {
        if core.evidence.is_none() {
            return;
        }
        let flow = core.destination(handle) / 2;
        if let Some(evidence) = &mut core.evidence {
            evidence.leave(self.link, flow);
        }
    }
}
