//! What became of packets that did not get through, or not as they were sent: which queue dropped or marked them, how full it
//! was, and whose packets filled it. For runs that keep the record of decisions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use windlass_cc::Time;
use windlass_tcp::{Journal, Segment};

/// What befell a packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The queue had no room for it.
    QueueFull,
    /// There was room, and the queue's discipline dropped it.
    Discipline,
    /// The link lost it: its error model, or it was down.
    LinkError,
    /// The station had no room for it, or was off.
    StationRefused,
    /// The station gave it up at the retry limit.
    RetryLimit,
    /// The station that held it was switched off, or its battery ran out.
    StationOff,
    /// The routers of the cell had no route for it, or it had gone in circles.
    NoRoute,
    /// The queue marked it (ECN), and it went on.
    Marked,
}

/// What waited in a queue when it dropped or marked a packet. One that was dropped is not among them; one that was marked as it
/// came, and stays, is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Flows and how many of the packets are theirs, in either direction; most first, and the first 32 of them.
    pub by_flow: Vec<(u32, u32)>,
    /// How many flows it has packets of.
    pub flows: u32,
}

/// A packet, and what befell it.
#[derive(Clone, PartialEq, Debug)]
pub struct Incident {
    /// When.
    pub time: Time,
    /// When its host had sent it.
    pub sent: Time,
    /// The link direction; `None` on a radio.
    pub link: Option<u32>,
    /// The flow that it belongs to.
    pub flow: u32,
    /// From the flow's `from` node to its `to` node.
    pub forward: bool,
    /// Its path, of a multipath flow's packet.
    pub path: Option<u8>,
    /// The segment, or `None` for a datagram.
    pub segment: Option<Segment>,
    /// What befell it.
    pub fate: Fate,
    /// What waited in the queue, where a queue acted.
    pub backlog: Option<Backlog>,
}

/// What the sender of a flow or subflow decided.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    /// The flow.
    pub flow: u32,
    /// The path, of a multipath flow.
    pub path: Option<u8>,
    /// Its decisions and losses.
    pub journal: Journal,
}

/// The record of decisions of a run: what senders decided, and what the network did to packets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decisions {
    /// Senders in the order of the flows, and of the paths of each.
    pub senders: Vec<Decided>,
    /// Packets dropped or marked, in order of time.
    pub incidents: Vec<Incident>,
}

/// When the packets in the network were sent, by their slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentTimes(Vec<Time>);

impl SentTimes {
    /// The packet in this slot is sent now.
    #[cold]
    pub(crate) fn note(&mut self, now: Time, id: u32) {
        let slot = id as usize;
        self.0.resize(self.0.len().max(slot + 1), Time::ZERO);
        self.0[slot] = now;
    }

    pub(crate) fn of(&self, id: u32) -> Time {
        self.0.get(id as usize).copied().unwrap_or_default()
    }
}

/// The incidents of a run as they grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) incidents: Vec<Incident>,
    /// Packets that wait before each link direction with a queue discipline, by flow.
    waiting: BTreeMap<u32, BTreeMap<u32, u32>>,
    /// What waited before each link direction without one when it last refused a packet.
    refused: BTreeMap<u32, Tally>,
}

/// Whose packets wait in a queue that is served in order. From one look to the next only what came and what left is counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Packets that were ahead of the first of these, since the beginning.
    ahead: u64,
    /// The flow of each.
    flows: VecDeque<u32>,
    by_flow: BTreeMap<u32, u32>,
}

impl Tally {
    /// Only packets with so many ahead of them, or more, still wait; how many of those are known.
    pub(crate) fn leave(&mut self, ahead: u64) -> usize {
        while self.ahead < ahead {
            let Some(flow) = self.flows.pop_front() else { break };
            self.ahead += 1;
            if let Some(count) = self.by_flow.get_mut(&flow) {
                *count -= 1;
            }
        }
        self.ahead = ahead;
        self.flows.len()
    }

    /// One of this flow waits behind them.
    pub(crate) fn enter(&mut self, flow: u32) {
        self.flows.push_back(flow);
        *self.by_flow.entry(flow).or_default() += 1;
    }
}

impl Evidence {
    /// A packet of this flow has come to wait before a link direction.
    pub(crate) fn enter(&mut self, link: u32, flow: u32) {
        *self.waiting.entry(link).or_default().entry(flow).or_default() += 1;
    }

    /// It waits no more.
    pub(crate) fn leave(&mut self, link: u32, flow: u32) {
        let flows = self.waiting.entry(link).or_default();
        if let Some(count) = flows.get_mut(&flow) {
            *count = count.saturating_sub(1);
        }
    }

    /// What waits before a link direction with a queue discipline, whose totals these are.
    pub(crate) fn backlog(&self, link: u32, packets: u64, bytes: u64) -> Backlog {
        Backlog::of(packets, bytes, self.waiting.get(&link))
    }

    /// What is known of the packets before a link direction without one.
    pub(crate) fn tally(&mut self, link: u32) -> &mut Tally {
        self.refused.entry(link).or_default()
    }

    /// What waits before such a link direction, whose totals these are.
    pub(crate) fn refused(&self, link: u32, packets: u64, bytes: u64) -> Backlog {
        Backlog::of(packets, bytes, self.refused.get(&link).map(|tally| &tally.by_flow))
    }
}

impl Backlog {
    /// Flows that are named.
    const NAMED: usize = 32;

    fn of(packets: u64, bytes: u64, by_flow: Option<&BTreeMap<u32, u32>>) -> Backlog {
        let all = by_flow.into_iter().flatten().map(|(flow, n)| (*flow, *n));
        let mut by_flow: Vec<(u32, u32)> = all.filter(|(_, n)| *n > 0).collect();
        let flows = by_flow.len() as u32;
        let key = |(flow, n): &(u32, u32)| (Reverse(*n), *flow);
        if by_flow.len() > Backlog::NAMED {
            by_flow.select_nth_unstable_by_key(Backlog::NAMED, key);
            by_flow.truncate(Backlog::NAMED);
            by_flow.shrink_to_fit();
        }
        by_flow.sort_by_key(key);
        Backlog { packets, bytes, by_flow, flows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_that_follows_a_queue_counts_as_one_that_reads_it_whole() {
        // A queue of the flows 0, 1, 4, 9 … (mod 7), of which at each look some have come and some have left.
        let flow = |place: u64| (place * place % 7) as u32;
        let mut tally = Tally::default();
        for (ahead, end) in [(0, 5), (0, 9), (3, 9), (8, 30), (40, 90), (90, 90), (91, 200)] {
            let known = tally.leave(ahead) as u64;
            (ahead + known..end).for_each(|place| tally.enter(flow(place)));
            let mut whole = BTreeMap::new();
            (ahead..end).for_each(|place| *whole.entry(flow(place)).or_default() += 1);
            let backlog = |by_flow| Backlog::of(end - ahead, 0, Some(by_flow));
            assert_eq!(backlog(&tally.by_flow), backlog(&whole), "{ahead} to {end}");
        }
    }

    #[test]
    fn a_backlog_names_the_flows_with_most_packets_and_counts_all() {
        let by_flow = (0..100).map(|flow| (flow, flow / 2)).collect();
        let backlog = Backlog::of(0, 0, Some(&by_flow));
        assert_eq!((backlog.flows, backlog.by_flow.len()), (98, 32));
        assert_eq!((backlog.by_flow[0], backlog.by_flow[31]), ((98, 49), (69, 34)));
    }
}
