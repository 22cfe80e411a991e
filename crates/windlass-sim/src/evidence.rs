//! What became of packets that did not get through, or not as they were sent: which queue dropped or marked them, how full it
//! was, and whose packets filled it. For runs that keep the record of decisions.

use std::collections::BTreeMap;

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
    /// Flows and how many of the packets are theirs, in either direction; most first.
    pub by_flow: Vec<(u32, u32)>,
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
        let flows = self.waiting.get(&link).into_iter().flatten().map(|(flow, n)| (*flow, *n));
        Backlog { packets, bytes, by_flow: most_first(flows.collect()) }
    }
}

/// Flows with packets, those with most of them first.
pub(crate) fn most_first(mut by_flow: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    by_flow.retain(|(_, count)| *count > 0);
    by_flow.sort_by_key(|(flow, count)| (std::cmp::Reverse(*count), *flow));
    by_flow
}
