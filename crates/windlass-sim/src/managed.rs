//! A link direction whose queue has a discipline: the queue stands before the link and hands it a
//! packet whenever it is idle.

use windlass_cc::Time;

use crate::config::Config;
use crate::link::{Link, Offer};
use crate::packet::Ticket;
use crate::queue::{Dropped, Queue, Waiting};
use crate::results::PacketFate;
use crate::simulation::Simulation;

/// Totals of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueCounters {
    /// Packets that came.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Of `dropped`: there was room, and the discipline decided so.
    pub early: u64,
    /// Packets marked.
    pub marked: u64,
    /// Sum of the waits of the packets that the link took, nanoseconds.
    pub taken_waited_ns: u64,
    /// Integral of the queue length over time, packets times nanoseconds, up to the last change.
    pub waited_ns: u64,
    /// Most packets that waited at once.
    pub max_waiting: u64,
}

/// A queue before a link.
#[derive(Clone, Debug)]
pub struct Managed {
    /// The link direction.
    pub link: u32,
    /// The queue.
    pub queue: Queue,
    /// Totals.
    pub counters: QueueCounters,
    /// Whether an event at the end of the transmission is pending.
    armed: bool,
    /// When the queue length changed last.
    changed: Time,
    /// What was dropped just now.
    drops: Vec<Dropped>,
}

impl Managed {
    /// The queues of all link directions that have a discipline.
    pub fn all(config: &Config) -> Vec<Managed> {
        let directions = (0..2 * config.links.len()).filter_map(|direction| {
            let l = &config.links[direction / 2];
            let queue = Queue::new(&l.discipline, l.queue, config.seed, direction as u64)?;
            Some(Managed {
                link: direction as u32,
                queue,
                counters: QueueCounters::default(),
                armed: false,
                changed: Time::ZERO,
                drops: Vec::new(),
            })
        });
        directions.collect()
    }

    /// Integral of the queue length up to `now`.
    pub fn waited_ns_by(&self, now: Time) -> u64 {
        self.counters.waited_ns + self.queue.len() * now.since(self.changed).0
    }

    /// The queue length is about to change.
    fn account(&mut self, now: Time) {
        self.counters.waited_ns = self.waited_ns_by(now);
        self.changed = now;
    }

    /// Whether everything handed in is accounted for.
    pub fn books_close(&self, link: &Link) -> bool {
        let c = &self.counters;
        c.offered == c.dropped + link.counters.offered + self.queue.len()
    }

    /// A packet comes; whether it is marked.
    fn enqueue(&mut self, now: Time, packet: Waiting, busy_until: Time) -> bool {
        self.account(now);
        self.counters.offered += 1;
        let idle = (busy_until <= now).then(|| now.since(busy_until));
        let marked = self.queue.enqueue(now, packet, idle, &mut self.drops);
        self.counters.marked += u64::from(marked);
        marked
    }

    /// A packet for the idle link, and whether it is marked.
    fn dequeue(&mut self, now: Time) -> Option<(Ticket, bool)> {
        if self.queue.is_empty() {
            return None;
        }
        self.account(now);
        let (packet, marked) = self.queue.dequeue(now, &mut self.drops)?;
        self.counters.taken_waited_ns += now.since(packet.since).0;
        self.counters.marked += u64::from(marked);
        Some((packet.ticket, marked))
    }
}

impl Simulation {
    /// Hands a packet to a queue. Out of the way of links without a discipline, as is everything
    /// below.
    pub(crate) fn put_in_queue(&mut self, index: u32, ticket: Ticket) {
        let index = index as usize;
        // A transmission that ends at this very moment ends before, as with drop-tail.
        self.transmit(index);
        let flow = self.destination(ticket);
        let m = &mut self.managed[index];
        let link = &self.links[m.link as usize];
        let packet = Waiting {
            ticket,
            since: self.now,
            transmission: link.transmission_time(ticket.size),
            flow,
            capable: self.packets.get(ticket.id).is_capable(),
        };
        if m.enqueue(self.now, packet, link.busy_until()) {
            self.packets.mark(ticket.id);
        }
        self.discard(index);
        self.transmit(index);
        let c = &mut self.managed[index];
        c.counters.max_waiting = c.counters.max_waiting.max(c.queue.len());
        self.wake_when_idle(index);
    }

    /// The event of a queue: its link has finished a transmission.
    #[inline(never)]
    pub(crate) fn on_transmitted(&mut self, index: u32) {
        let index = index as usize;
        self.managed[index].armed = false;
        self.transmit(index);
        self.wake_when_idle(index);
    }

    /// An idle link takes the next packet.
    fn transmit(&mut self, index: usize) {
        let m = &mut self.managed[index];
        let direction = m.link;
        if self.links[direction as usize].busy_until() > self.now {
            return;
        }
        let taken = m.dequeue(self.now);
        self.discard(index);
        let Some((ticket, marked)) = taken else { return };
        if marked {
            self.packets.mark(ticket.id);
        }
        // An idle link always accepts.
        if let Offer::Accepted { wake: Some(at), .. } =
            self.links[direction as usize].offer(self.now, ticket)
        {
            self.agenda.schedule(at, direction);
        }
        self.log(self.now, direction, PacketFate::Sent, ticket);
    }

    /// Sees that the queue is looked after when its link is idle again, if anything waits.
    fn wake_when_idle(&mut self, index: usize) {
        let entity = self.links.len() + self.hosts.len() + index;
        let m = &mut self.managed[index];
        if !m.armed && !m.queue.is_empty() {
            m.armed = true;
            self.agenda.schedule(self.links[m.link as usize].busy_until(), entity as u32);
        }
    }

    /// Takes what the queue has dropped out of the network.
    fn discard(&mut self, index: usize) {
        let m = &mut self.managed[index];
        if m.drops.is_empty() {
            return;
        }
        let (direction, mut drops) = (m.link, std::mem::take(&mut m.drops));
        m.counters.dropped += drops.len() as u64;
        for dropped in drops.drain(..) {
            self.managed[index].counters.early += u64::from(dropped.early);
            self.log(self.now, direction, PacketFate::DroppedQueue, dropped.ticket);
            self.drop_packet(dropped.ticket);
        }
        self.managed[index].drops = drops; // its room is used again
    }
}
