//! FQ-CoDel (RFC 8290): separate queues for flows, served in turn, each with its own CoDel.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use super::codel::{CoDel, Source, State};
use super::state::QueueState;
use super::waiting::{Dropped, Waiting};
use crate::link::QueueLimit;
use crate::random::mix;

/// The FlowQueue-CoDel packet scheduler (RFC 8290).
///
/// A flow is one direction of a flow of the scenario. A hash keyed by the run's seed assigns it to
/// one of the queues. A queue without remaining credit waits for the next round, as in Linux. When
/// the limit is exceeded, packets are dropped from the head of the longest queue, in bytes, until
/// the limit is met (section 4.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCoDel {
    /// Number of queues that flows are hashed into, 1 to 65536 (section 4.1.3).
    pub flows: u32,
    /// Bytes that a queue may send per turn, at least 1 (section 5.2.4).
    pub quantum: u32,
    /// Acceptable standing delay of each queue, as in CoDel (section 5.2.1).
    pub target: Span,
    /// Time for which the delay may exceed the target, as in CoDel (section 5.2.2); at least 1 ns.
    pub interval: Span,
    /// True to mark ECN-capable packets instead of dropping them (section 5.2.6).
    pub ecn: bool,
}

/// Maximum number of queues.
pub const MAX_FLOWS: u32 = 65_536;

impl FqCoDel {
    /// Values of RFC 8290 section 5.2.
    pub const DEFAULT: FqCoDel = FqCoDel {
        flows: 1024,
        quantum: 1514,
        target: CoDel::DEFAULT.target,
        interval: CoDel::DEFAULT.interval,
        ecn: true,
    };

    pub(super) fn check(&self) -> Result<(), String> {
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(format!("FQ-CoDel has 1 to {MAX_FLOWS} queues, not {}", self.flows));
        }
        if self.quantum == 0 {
            return Err("FQ-CoDel's quantum must be at least 1 byte".to_string());
        }
        self.codel().check()
    }

    /// The CoDel of each queue.
    fn codel(&self) -> CoDel {
        CoDel { target: self.target, interval: self.interval, ecn: self.ecn }
    }
}

/// No packet.
const NONE: u32 = u32::MAX;

/// All waiting packets, as one linked list per queue. Each packet has the slot of the next packet.
/// The free slots are a list too; the slot freed last is reused first.
#[derive(Clone, Debug)]
struct Chains {
    places: Vec<(Waiting, u32)>,
    free: u32,
}

impl Chains {
    fn insert(&mut self, packet: Waiting) -> u32 {
        if self.free == NONE {
            self.places.push((packet, NONE));
            return (self.places.len() - 1) as u32;
        }
        let place = self.free;
        self.free = self.places[place as usize].1;
        self.places[place as usize] = (packet, NONE);
        place
    }

    /// Frees a slot. Returns its packet and the slot of the next packet in the list.
    fn remove(&mut self, place: u32) -> (Waiting, u32) {
        let taken = self.places[place as usize];
        self.places[place as usize].1 = self.free;
        self.free = place;
        taken
    }
}

/// List of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum List {
    None,
    New,
    Old,
}

/// The queue of the flows with one hash value.
#[derive(Clone, Debug)]
struct Flow {
    head: u32,
    tail: u32,
    bytes: u64,
    /// Bytes that the queue may still send in its turn. It is negative if the last packet exceeded
    /// the credit.
    credit: i64,
    list: List,
    codel: State,
}

impl Flow {
    const EMPTY: Flow =
        Flow { head: NONE, tail: NONE, bytes: 0, credit: 0, list: List::None, codel: State::NEW };

    fn push(&mut self, chains: &mut Chains, packet: Waiting) {
        let place = chains.insert(packet);
        match self.tail {
            NONE => self.head = place,
            tail => chains.places[tail as usize].1 = place,
        }
        self.tail = place;
        self.bytes += u64::from(packet.handle.size);
    }

    fn pop(&mut self, chains: &mut Chains) -> Option<Waiting> {
        if self.head == NONE {
            return None;
        }
        let (packet, next) = chains.remove(self.head);
        self.head = next;
        if next == NONE {
            self.tail = NONE;
        }
        self.bytes -= u64::from(packet.handle.size);
        Some(packet)
    }
}

/// The packets of a flow, as a source for CoDel.
struct OfFlow<'a> {
    flow: &'a mut Flow,
    chains: &'a mut Chains,
}

impl Source for OfFlow<'_> {
    fn pop(&mut self) -> Option<Waiting> {
        self.flow.pop(self.chains)
    }
    fn bytes(&self) -> u64 {
        self.flow.bytes
    }
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct FqCoDelQueue {
    p: FqCoDel,
    limit: QueueLimit,
    key: u64,
    flows: Vec<Flow>,
    chains: Chains,
    /// Queues before the end of their first turn, and the other queues with packets.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
    largest: u32,
}

impl FqCoDelQueue {
    pub fn new(p: FqCoDel, limit: QueueLimit, key: u64) -> FqCoDelQueue {
        FqCoDelQueue {
            p,
            limit,
            key,
            flows: vec![Flow::EMPTY; p.flows as usize],
            chains: Chains { places: Vec::new(), free: NONE },
            new: VecDeque::with_capacity(p.flows as usize),
            old: VecDeque::with_capacity(p.flows as usize),
            packets: 0,
            bytes: 0,
            largest: 0,
        }
    }

    /// Index of the queue of a flow.
    fn hash(&self, flow: u32) -> u32 {
        (mix(self.key ^ u64::from(flow)) % u64::from(self.p.flows)) as u32
    }

    /// Drops packets from the head of the longest queue until the limit is met.
    fn shorten(&mut self, drops: &mut Vec<Dropped>) {
        let exceeded = |q: &FqCoDelQueue| match q.limit {
            QueueLimit::Packets(n) => q.packets > n,
            QueueLimit::Bytes(n) => q.bytes > n,
            QueueLimit::Unlimited => false,
        };
        while exceeded(self) {
            let listed = self.new.iter().chain(&self.old);
            let Some(&longest) = listed.max_by_key(|i| self.flows[**i as usize].bytes) else {
                return;
            };
            let Some(packet) = self.flows[longest as usize].pop(&mut self.chains) else { return };
            self.packets -= 1;
            self.bytes -= u64::from(packet.handle.size);
            drops.push(Dropped { handle: packet.handle, early: false });
        }
    }
}

impl QueueState for FqCoDelQueue {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        let size = u64::from(packet.handle.size);
        self.largest = self.largest.max(packet.handle.size);
        self.packets += 1;
        self.bytes += size;
        let index = self.hash(packet.flow);
        let flow = &mut self.flows[index as usize];
        flow.push(&mut self.chains, packet);
        if flow.list == List::None {
            flow.list = List::New;
            flow.credit = i64::from(self.p.quantum);
            self.new.push_back(index);
        }
        if idle.is_none() {
            self.shorten(drops);
        }
        false
    }

    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.credit <= 0 {
                flow.credit += i64::from(self.p.quantum);
                flow.list = List::Old;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let before = drops.len();
            let mut source = OfFlow { flow, chains: &mut self.chains };
            let mut codel = source.flow.codel;
            let taken = codel.dequeue(now, &self.p.codel(), &mut source, self.largest, drops);
            flow.codel = codel;
            for dropped in &drops[before..] {
                self.packets -= 1;
                self.bytes -= u64::from(dropped.handle.size);
            }
            let Some((packet, marked)) = taken else {
                // An emptied new queue moves behind all old queues. Otherwise it could return as
                // new with each packet and starve the others (section 4.2).
                flow.list = if is_new { List::Old } else { List::None };
                list.pop_front();
                if is_new {
                    self.old.push_back(index);
                }
                continue;
            };
            flow.credit -= i64::from(packet.handle.size);
            self.packets -= 1;
            self.bytes -= u64::from(packet.handle.size);
            return Some((packet, marked));
        }
    }

    fn len(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::plain;
    use super::*;

    fn of(flow: u32, id: u32, size: u32) -> Waiting {
        Waiting { flow, ..plain(id, size) }
    }

    /// Flows that the key hashes into different queues.
    fn apart(q: &FqCoDelQueue, n: usize) -> Vec<u32> {
        let mut flows: Vec<u32> = Vec::new();
        for flow in 0.. {
            if flows.iter().all(|f| q.hash(*f) != q.hash(flow)) {
                flows.push(flow);
            }
            if flows.len() == n {
                return flows;
            }
        }
        unreachable!()
    }

    fn queue(limit: QueueLimit) -> FqCoDelQueue {
        FqCoDelQueue::new(FqCoDel::DEFAULT, limit, 7)
    }

    #[test]
    fn flows_share_bytes_equally_and_a_new_flow_is_first() {
        let mut q = queue(QueueLimit::Unlimited);
        let [big, small, late] = apart(&q, 3).try_into().expect("three");
        let mut drops = Vec::new();
        for i in 0..30 {
            q.enqueue(Time::ZERO, of(big, i, 1500), None, &mut drops);
            q.enqueue(Time::ZERO, of(small, i, 500), None, &mut drops);
        }
        let mut next = |q: &mut FqCoDelQueue| q.dequeue(Time::ZERO, &mut drops).expect("more").0;
        let mut bytes = [0u64; 2];
        for _ in 0..24 {
            let packet = next(&mut q);
            bytes[usize::from(packet.flow == small)] += u64::from(packet.handle.size);
        }
        // The difference is at most a quantum and a packet.
        assert!(bytes[0].abs_diff(bytes[1]) <= 1514 + 1500, "{bytes:?}");
        q.enqueue(Time::ZERO, of(late, 99, 100), None, &mut Vec::new());
        assert_eq!(next(&mut q).handle.id, 99, "a sparse flow overtakes");
        assert_eq!(q.len(), 60 - 24);
    }

    #[test]
    fn a_limit_in_bytes_is_met_exactly_and_drops_no_packet_below_it() {
        let mut q = queue(QueueLimit::Bytes(3000));
        let [fat, thin] = apart(&q, 2).try_into().expect("two");
        let mut drops = Vec::new();
        q.enqueue(Time::ZERO, of(fat, 0, 1500), None, &mut drops);
        q.enqueue(Time::ZERO, of(fat, 1, 1500), None, &mut drops);
        assert_eq!((drops.len(), q.bytes(), q.len()), (0, 3000, 2));
        q.enqueue(Time::ZERO, of(thin, 2, 1), None, &mut drops);
        assert_eq!((drops.len(), q.bytes(), q.len()), (1, 1501, 2));
        assert_eq!(drops[0].handle.id, 0);
    }

    #[test]
    fn packets_above_the_limit_are_dropped_from_the_head_of_the_longest_queue() {
        let mut q = queue(QueueLimit::Packets(10));
        let [fat, thin] = apart(&q, 2).try_into().expect("two");
        let mut drops = Vec::new();
        q.enqueue(Time::ZERO, of(thin, 100, 1000), None, &mut drops);
        for i in 0..12 {
            q.enqueue(Time::ZERO, of(fat, i, 1000), None, &mut drops);
        }
        q.enqueue(Time::ZERO, of(thin, 101, 1000), None, &mut drops);
        let ids: Vec<u32> = drops.iter().map(|d| d.handle.id).collect();
        assert_eq!(ids, [0, 1, 2, 3]);
        assert!(drops.iter().all(|d| !d.early));
        assert_eq!((q.len(), q.bytes()), (10, 10_000));
    }

    #[test]
    fn an_emptied_queue_waits_a_round_before_it_is_new_again() {
        let mut q = queue(QueueLimit::Unlimited);
        let [bulk, blinker] = apart(&q, 2).try_into().expect("two");
        let mut drops = Vec::new();
        for i in 0..10 {
            q.enqueue(Time::ZERO, of(bulk, i, 1514), None, &mut drops);
        }
        let mut order = Vec::new();
        for i in 0..6 {
            q.enqueue(Time::ZERO, of(blinker, 100 + i, 1514), None, &mut drops);
            order.push(q.dequeue(Time::ZERO, &mut drops).expect("more").0.flow == blinker);
        }
        // The flow sends at most its share, although at most one of its packets waits.
        let share = order.iter().filter(|b| **b).count();
        assert!((2..=4).contains(&share), "{order:?}");
    }

    #[test]
    fn slots_of_departed_packets_are_reused() {
        let mut q = queue(QueueLimit::Unlimited);
        let mut drops = Vec::new();
        for i in 0..10_000 {
            q.enqueue(Time::ZERO, of(i % 50, i, 1000), None, &mut drops);
            if i >= 20 {
                q.dequeue(Time::ZERO, &mut drops).expect("more");
            }
        }
        assert_eq!((q.len(), q.chains.places.len()), (20, 21));
    }

    #[test]
    fn another_key_puts_flows_into_other_queues() {
        let queues = |key| {
            let q = FqCoDelQueue::new(FqCoDel::DEFAULT, QueueLimit::Unlimited, key);
            (0..100).map(|flow| q.hash(flow)).collect::<Vec<_>>()
        };
        assert_eq!(queues(1), queues(1));
        let (a, b) = (queues(1), queues(2));
        assert!(a.iter().zip(&b).filter(|(a, b)| a == b).count() < 5);
    }
}
