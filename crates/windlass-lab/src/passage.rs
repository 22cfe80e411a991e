//! The ways of packets between the two ends of a flow, from the captures of the links between them.

use windlass_cc::Time;
use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::{Flags, Segment};

/// One packet's way between the two ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// When its first transmission began.
    pub(crate) sent: Time,
    /// When it arrived; `None` when it was lost or still under way at the end.
    pub(crate) received: Option<Time>,
    /// Whether it was lost.
    pub(crate) lost: bool,
    /// From the flow's `from` node, which sends the data, to its `to` node.
    pub(crate) forward: bool,
    /// The segment.
    pub(crate) segment: Segment,
}

impl Passage {
    /// Whether it tells the sender of a congestion mark.
    pub(crate) fn echoes(&self) -> bool {
        self.segment.flags.has(Flags::ECE)
    }
}

/// The way of every packet in a log that begins before the first of them: those of a direction are sent on the link that is met first.
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

/// Joins the captures of the links of a path, of which `ends` tells the first and the last in a direction: a packet leaves where
/// it is first sent and arrives where it is last delivered. Links are FIFO, so equal segments are matched in order.
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
            // The loss belongs to this copy unless a copy arrived before it happened.
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
