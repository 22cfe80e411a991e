//! Fates of packets that were dropped or marked: the queue that dropped or marked them, its length,
//! and the flows of the packets in it. The module serves runs that keep the record of decisions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use windlass_cc::Time;

use crate::link_radio::RadioState;
use crate::session::Note;
use windlass_tcp::{Journal, Segment};

/// Fate of a packet in transit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The queue had no room for it.
    QueueFull,
    /// The queue had room, and its discipline dropped the packet.
    Discipline,
    /// The link lost the packet because of its error model or an outage.
    LinkError,
    /// The station had no room for it, or was off.
    StationRefused,
    /// The station gave up the packet at the retry limit.
    RetryLimit,
    /// The station that held the packet was switched off, or its battery ran out.
    StationOff,
    /// The routers of the cell had no route for the packet, or the packet had moved in a loop.
    NoRoute,
    /// The queue marked the packet (ECN) and forwarded it.
    Marked,
}

/// Contents of a queue at the time of a drop or a mark. A dropped packet is not included. A packet
/// that was marked on arrival, and stays, is included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
    /// Flows and their numbers of packets, in either direction; in descending order, at most 32
    /// flows.
    pub by_flow: Vec<(u32, u32)>,
    /// Number of flows with packets in the queue.
    pub flows: u32,
}

/// A packet and its fate.
#[derive(Clone, PartialEq, Debug)]
pub struct Incident {
    /// Time of the fate.
    pub time: Time,
    /// Time at which the host sent the packet.
    pub sent: Time,
    /// The link direction; `None` on a radio.
    pub link: Option<u32>,
    /// The flow of the packet.
    pub flow: u32,
    /// True from the flow's `from` node to its `to` node.
    pub forward: bool,
    /// The path of a multipath flow's packet.
    pub path: Option<u8>,
    /// The segment, or `None` for a datagram.
    pub segment: Option<Segment>,
    /// Fate of the packet.
    pub fate: Fate,
    /// Contents of the queue, if a queue acted.
    pub backlog: Option<Backlog>,
}

/// Decisions of the sender of a flow or subflow.
#[derive(Clone, PartialEq, Debug)]
pub struct Decided {
    /// The flow.
    pub flow: u32,
    /// The path of a multipath flow.
    pub path: Option<u8>,
    /// Decisions and losses of the sender.
    pub journal: Journal,
}

/// States of a link's radio.
#[derive(Clone, PartialEq, Debug)]
pub struct RadioStates {
    /// Index of the link.
    pub link: usize,
    /// Beginning of each state, ascending.
    pub states: Vec<(Time, RadioState)>,
}

/// The record of decisions of a run: decisions of senders, and fates of packets.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decisions {
    /// Senders in the order of the flows, and of the paths within a flow.
    pub senders: Vec<Decided>,
    /// Packets dropped or marked, in order of time.
    pub incidents: Vec<Incident>,
    /// Events of the connections of each flow that opens several.
    pub sessions: BTreeMap<u32, Vec<Note>>,
    /// States of the cellular radios.
    pub radios: Vec<RadioStates>,
}

/// Sending times of the packets in the network, by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentTimes(Vec<Time>);

impl SentTimes {
    /// Records that the packet in this slot is sent now.
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

/// The incidents of a run, recorded during the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) incidents: Vec<Incident>,
    /// Packets that wait for each link direction with a queue discipline, by flow.
    waiting: BTreeMap<u32, BTreeMap<u32, u32>>,
    /// Packets that waited for each link direction without a discipline at its last refusal.
    refused: BTreeMap<u32, Tally>,
}

/// Flows of the packets in a first-in-first-out queue. An update counts only the packets that
/// arrived or left since the last update.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Number of packets that preceded the first of these packets, since the start of the run.
    ahead: u64,
    /// The flow of each packet.
    flows: VecDeque<u32>,
    by_flow: BTreeMap<u32, u32>,
}

impl Tally {
    /// Removes the packets with fewer than `ahead` predecessors. Returns the number of packets that
    /// remain.
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

    /// Adds a packet of this flow at the end.
    pub(crate) fn enter(&mut self, flow: u32) {
        self.flows.push_back(flow);
        *self.by_flow.entry(flow).or_default() += 1;
    }
}

impl Evidence {
    /// Records that a packet of this flow starts to wait for a link direction.
    pub(crate) fn enter(&mut self, link: u32, flow: u32) {
        *self.waiting.entry(link).or_default().entry(flow).or_default() += 1;
    }

    /// Records that a packet of this flow no longer waits for a link direction.
    pub(crate) fn leave(&mut self, link: u32, flow: u32) {
        let flows = self.waiting.entry(link).or_default();
        if let Some(count) = flows.get_mut(&flow) {
            *count = count.saturating_sub(1);
        }
    }

    /// Contents of the queue of a link direction with a queue discipline. The arguments give its
    /// totals.
    pub(crate) fn backlog(&self, link: u32, packets: u64, bytes: u64) -> Backlog {
        Backlog::of(packets, bytes, self.waiting.get(&link))
    }

    /// The tally of the packets that wait for a link direction without a queue discipline.
    pub(crate) fn tally(&mut self, link: u32) -> &mut Tally {
        self.refused.entry(link).or_default()
    }

    /// Contents of the queue of a link direction without a queue discipline. The arguments give its
    /// totals.
    pub(crate) fn refused(&self, link: u32, packets: u64, bytes: u64) -> Backlog {
        Backlog::of(packets, bytes, self.refused.get(&link).map(|tally| &tally.by_flow))
    }
}

impl Backlog {
    /// Maximum number of named flows.
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
    fn an_incremental_tally_equals_a_full_count() {
        // A queue of the flows 0, 1, 4, 9 … (mod 7). Between two updates some packets arrive and
        // some leave.
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
