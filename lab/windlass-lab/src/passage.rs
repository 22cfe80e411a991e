//! The transit of each packet between the two ends of a flow, from the captures of the path's links.

use windlass_cc::Time;
use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::{Flags, Segment};

/// Transit of one packet between the two ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// Start of the transmission on the first link.
    pub(crate) sent: Time,
    /// Time of arrival. `None` if the packet was lost, or had not arrived at the end of the capture.
    pub(crate) received: Option<Time>,
    /// True if the packet was lost.
    pub(crate) lost: bool,
    /// True from the flow's `from` node, which sends the data, to its `to` node.
    pub(crate) forward: bool,
    /// The segment.
    pub(crate) segment: Segment,
}

impl Passage {
    /// True if the segment echoes a congestion mark to the sender (ECE).
    pub(crate) fn echoes(&self) -> bool {
        self.segment.flags.has(Flags::ECE)
    }
}

/// The transits of all packets in a log. The log must begin before the first packet: the first link that a
/// direction's packets use is the link of their sender.
pub(crate) fn passages(packets: &[PacketEvent]) -> Vec<Passage> {
    joined(packets, |forward| {
        let mut links: Vec<(Time, u32)> = Vec::new();
        for e in packets.iter().filter(|e| e.forward == forward) {
            if links.iter().all(|(_, link)| *link != e.link) {
                links.push((e.time, e.link));
            }
        }
        Some((links.first()?.1, links.last()?.1))
    })
}

/// Joins the captures of a path's links. `ends` returns the first and the last link of a direction. A packet
/// is sent on the first link and arrives at the end of the last link. Links are FIFO, so equal segments are
/// matched in order.
pub(crate) fn joined(
    packets: &[PacketEvent],
    ends: impl Fn(bool) -> Option<(u32, u32)>,
) -> Vec<Passage> {
    let mut all: Vec<Passage> = Vec::new();
    for forward in [true, false] {
        let Some((first, last)) = ends(forward) else { continue };
        let at = |link: u32, fate: PacketFate| {
            let here =
                move |e: &&PacketEvent| e.forward == forward && e.link == link && e.fate == fate;
            packets.iter().filter(here)
        };
        let mut arrivals: Vec<&PacketEvent> = at(last, PacketFate::Delivered).collect();
        let mut losses: Vec<&PacketEvent> = packets
            .iter()
            .filter(|e| e.forward == forward)
            .filter(|e| matches!(e.fate, PacketFate::DroppedError | PacketFate::DroppedQueue))
            .collect();
        for sent in at(first, PacketFate::Sent) {
            let Some(segment) = sent.segment else { continue };
            let matching = |list: &[&PacketEvent]| {
                list.iter().position(|e| e.segment == sent.segment && e.time >= sent.time)
            };
            let loss = matching(&losses);
            let arrival = matching(&arrivals);
            // The loss belongs to this copy unless a copy arrived before the loss.
            let lost = match (loss, arrival) {
                (Some(l), Some(a)) => losses[l].time < arrivals[a].time,
                (loss, _) => loss.is_some(),
            };
            let received = if lost {
                loss.map(|l| losses.remove(l));
                None
            } else {
                arrival.map(|a| arrivals.remove(a).time)
            };
            all.push(Passage { sent: sent.time, received, lost, forward, segment });
        }
    }
    all.sort_by_key(|p| (p.sent, !p.forward));
    all
}
