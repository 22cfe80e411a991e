//! A log of packets as a trace of ns-2: a line for each event of a packet on a link, in the twelve columns of
//! the ns manual's chapter on trace support.
//!
//! A log has the starts of transmissions, but not the arrivals at queues. The trace therefore has the events
//! `-` (start of transmission), `r` (received) and `d` (dropped), but not `+` (enqueued).

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::segment::Codepoint;
use windlass_tcp::{Flags, Segment};

use super::Case;

/// The lines of these packets, which are all or some packets of the run, in order of time.
pub fn ns2(case: &Case, packets: &[PacketEvent]) -> String {
    let mut out = String::new();
    let mut way = Way::default();
    for e in packets {
        let kind = match e.fate {
            PacketFate::Sent => '-',
            PacketFate::Delivered => 'r',
            PacketFate::DroppedQueue | PacketFate::DroppedError | PacketFate::DroppedThinned => 'd',
        };
        let [from, to] = [0, 1].map(|end| case.end_of_link(e.link, end));
        let flow = &case.config.flows[e.flow as usize];
        let ends = if e.forward { [flow.from, flow.to] } else { [flow.to, flow.from] };
        let id = way.follow(e, [from, to], ends[1]);
        let (kind_of_packet, number) = what(e);
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            out,
            "{kind} {:.9} {from} {to} {kind_of_packet} {} {} {} {}.{} {}.{} {number} {id}",
            e.time.as_nanos() as f64 / 1e9,
            e.ip_len,
            flags(e.segment.as_ref()),
            e.flow,
            ends[0],
            e.flow,
            ends[1],
            e.flow,
        );
    }
    out
}

/// Type of the packet, and the number that ns-2 would show: the sequence number of data, or the acknowledgement number.
fn what(e: &PacketEvent) -> (&'static str, u32) {
    match &e.segment {
        None => ("cbr", 0),
        Some(s) if s.len > 0 => ("tcp", s.seq.0),
        Some(s) => ("ack", s.ack.0),
    }
}

/// The seven characters for ECN and priority: `E` is a mark, `N` an ECN-capable packet, `C` an echo (ECE),
/// and `A` a reduced cwnd (CWR).
fn flags(segment: Option<&Segment>) -> String {
    let Some(s) = segment else { return "-------".to_owned() };
    let or = |so: bool, letter: char| if so { letter } else { '-' };
    let echo = or(s.flags.has(Flags::ECE), 'C');
    let reduced = or(s.flags.has(Flags::CWR), 'A');
    let (mark, able) = (or(s.ecn == Codepoint::Ce, 'E'), or(s.ecn.is_capable(), 'N'));
    format!("{echo}--{reduced}{mark}-{able}")
}

/// Place of a packet: at a node, or in transit on a link direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(usize),
    Link(u32),
}

/// Tracks packets from link to link, so that each keeps its number.
#[derive(Default)]
struct Way {
    at: BTreeMap<Place, VecDeque<(PacketEvent, u64)>>,
    known: u64,
}

impl Way {
    /// The number of the packet of an event on a link between these nodes, on its way to the node `end`.
    fn follow(&mut self, e: &PacketEvent, [from, to]: [usize; 2], end: usize) -> u64 {
        let link = Place::Link(e.link);
        let (left, now) = match e.fate {
            PacketFate::Sent => (Place::Node(from), Some(link)),
            PacketFate::Delivered => (link, (to != end).then_some(Place::Node(to))),
            PacketFate::DroppedQueue => (Place::Node(from), None),
            PacketFate::DroppedError | PacketFate::DroppedThinned => (link, None),
        };
        let waiting = self.at.entry(left).or_default();
        let place = waiting.iter().position(|(other, _)| same(other, e));
        let known = place.and_then(|place| waiting.remove(place)).map(|(_, id)| id);
        let id = known.unwrap_or_else(|| {
            self.known += 1;
            self.known - 1
        });
        if let Some(now) = now {
            self.at.entry(now).or_default().push_back((*e, id));
        }
        id
    }
}

/// True if two events may belong to one packet. A queue may have marked it between them.
fn same(a: &PacketEvent, b: &PacketEvent) -> bool {
    let unmarked = |e: &PacketEvent| e.segment.map(|s| Segment { ecn: Codepoint::default(), ..s });
    (a.flow, a.forward, a.ip_len, a.path) == (b.flow, b.forward, b.ip_len, b.path)
        && unmarked(a) == unmarked(b)
}
