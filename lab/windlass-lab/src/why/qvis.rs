//! The record of decisions with its packets, for qvis: qlog 0.3 as JSON text sequences, with the events of
//! draft-ietf-quic-qlog-quic-events-02.
//!
//! qvis finds packets by number, and does not draw a sender without packets. Each transmission has a number,
//! as in QUIC: a retransmission gets a new number, and an acknowledgement names the transmissions that it
//! covers.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_cc::Time;
use windlass_sim::{Decided, PacketEvent, PacketFate};
use windlass_tcp::{Flags, LostSegment, Segment, Seq};

use super::Case;
use super::qlog::{
    Carried, Data, Events, Frame, Names, PacketHeader, Raw, decisions, description, event, file,
    losses,
};

const NAMES: Names = Names {
    metrics: "recovery:metrics_updated",
    state: "recovery:congestion_state_updated",
    lost: "recovery:packet_lost",
};

#[derive(Serialize)]
struct Header<'a> {
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: &'a str,
    description: String,
    trace: Trace,
}

#[derive(Serialize)]
struct Trace {
    vantage_point: VantagePoint,
    common_fields: CommonFields,
}

#[derive(Serialize)]
struct VantagePoint {
    r#type: &'static str,
}

#[derive(Serialize)]
struct CommonFields {
    protocol_type: &'static str,
    time_format: &'static str,
    reference_time: u64,
}

/// The packets, acknowledgements, decisions and losses of these senders, as the text of one `.sqlog` file.
/// Each sender is a group. `packets` has the packets of every link.
pub fn qvis(case: &Case, senders: &[&Decided], packets: &[PacketEvent]) -> String {
    let names: Vec<String> = senders.iter().map(|s| case.name(s)).collect();
    let mut events = Vec::new();
    for (sender, name) in senders.iter().zip(&names) {
        let sent = sent(case, sender, packets);
        carried(case, sender, name, &sent, packets, &mut events);
        losses(case, sender, name, &NAMES, |lost| number(&sent, lost), &mut events);
        decisions(sender, name, &NAMES, &mut events);
    }
    let header = Header {
        qlog_version: "0.3",
        qlog_format: "JSON-SEQ",
        title: &case.scenario.name,
        description: description(case),
        trace: Trace {
            vantage_point: VantagePoint { r#type: "server" },
            common_fields: CommonFields {
                protocol_type: "TCP",
                time_format: "relative",
                reference_time: 0,
            },
        },
    };
    file(&header, events)
}

/// A transmission. Its index in the list is its number.
struct Sent<'a> {
    event: &'a PacketEvent,
    segment: &'a Segment,
}

impl Sent<'_> {
    /// The first sequence number after it.
    fn end(&self) -> Seq {
        Seq(self.segment.seq.0.wrapping_add(self.segment.seq_len()))
    }
}

fn of<'a>(sender: &Decided, packets: &'a [PacketEvent]) -> impl Iterator<Item = &'a PacketEvent> {
    let (flow, path) = (sender.flow, sender.path);
    // Packets of successive connections have a port, although their flow has one path.
    let on_path = move |e: &&PacketEvent| path.is_none() || e.path.map(|p| p.path) == path;
    packets.iter().filter(move |e| e.flow == flow && on_path(e))
}

/// The transmissions with sequence space, at the first link: transmitted there, or dropped by its queue.
fn sent<'a>(case: &Case, sender: &Decided, packets: &'a [PacketEvent]) -> Vec<Sent<'a>> {
    let from = case.config.flows[sender.flow as usize].from;
    let leaves = |e: &&PacketEvent| {
        let begins = matches!(e.fate, PacketFate::Sent | PacketFate::DroppedQueue);
        e.forward && begins && case.end_of_link(e.link, 0) == from
    };
    let data = of(sender, packets).filter(leaves);
    let segment = |event: &'a PacketEvent| {
        let segment = event.segment.as_ref().filter(|s| s.seq_len() > 0)?;
        Some(Sent { event, segment })
    };
    data.filter_map(segment).collect()
}

/// Number of the transmission that was deemed lost: the first transmission of its sequence number since the time of
/// sending.
fn number(sent: &[Sent<'_>], lost: &LostSegment) -> Option<u64> {
    let since = sent.partition_point(|s| s.event.time < lost.sent);
    let at = sent[since..].iter().position(|s| {
        let into = lost.seq.0.wrapping_sub(s.segment.seq.0);
        into < s.segment.seq_len()
    })?;
    Some((since + at) as u64)
}

fn carried<'a>(
    case: &Case,
    sender: &Decided,
    group: &'a str,
    sent: &[Sent<'_>],
    packets: &[PacketEvent],
    out: &mut Events<'a>,
) {
    let first = sent.first().map_or(0, |s| s.segment.seq.0);
    for (number, s) in sent.iter().enumerate() {
        let offset = s.segment.seq.0.wrapping_sub(first);
        let frame = Frame::Stream { stream_id: 0, offset, length: s.segment.len };
        let data = packet(number as u64, s.event, vec![frame]);
        out.push(event(s.event.time, "transport:packet_sent", group, data));
    }
    let to = case.config.flows[sender.flow as usize].from;
    let arrives = |e: &&PacketEvent| {
        !e.forward && e.fate == PacketFate::Delivered && case.end_of_link(e.link, 1) == to
    };
    let mut open = Open { sent, next: 0, waiting: Vec::new() };
    for (number, e) in of(sender, packets).filter(arrives).enumerate() {
        let Some(segment) = &e.segment else { continue };
        let acked_ranges = open.answered(e.time, segment);
        let frames = match acked_ranges.is_empty() {
            true => Vec::new(),
            false => vec![Frame::Ack { acked_ranges }],
        };
        let data = packet(number as u64, e, frames);
        out.push(event(e.time, "transport:packet_received", group, data));
    }
}

fn packet(number: u64, event: &PacketEvent, frames: Vec<Frame>) -> Data {
    let raw = Raw { length: event.ip_len };
    Data::Carried(Box::new(Carried { header: PacketHeader::of(number), raw, frames }))
}

/// Transmissions that are not acknowledged yet.
struct Open<'a> {
    sent: &'a [Sent<'a>],
    /// Number of the first transmission that is not yet sent.
    next: usize,
    waiting: Vec<usize>,
}

impl Open<'_> {
    /// The transmissions that an acknowledgement is the first to cover. A retransmitted segment counts with its latest
    /// transmission.
    fn answered(&mut self, now: Time, ack: &Segment) -> Vec<[u64; 2]> {
        let due = self.sent.partition_point(|s| s.event.time < now);
        self.waiting.extend(self.next..due);
        self.next = self.next.max(due);
        if !ack.flags.has(Flags::ACK) {
            return Vec::new();
        }
        let blocks = ack.options.sack_blocks();
        let covered = |n: &usize| {
            let s = &self.sent[*n];
            let inside =
                |left: Seq, right: Seq| reached(s.segment.seq, left) && reached(right, s.end());
            reached(ack.ack, s.end()) || blocks.iter().any(|b| inside(b.left, b.right))
        };
        let (answered, waiting) = self.waiting.iter().partition(|n| covered(n));
        self.waiting = waiting;
        let answered: Vec<usize> = answered;
        let latest: BTreeMap<u32, usize> =
            answered.into_iter().map(|n| (self.sent[n].segment.seq.0, n)).collect();
        ranges(latest.into_values())
    }
}

/// True if a sequence number is equal to another or up to half of the sequence space after it.
fn reached(number: Seq, other: Seq) -> bool {
    number.0.wrapping_sub(other.0) < 1 << 31
}

/// Numbers as ranges of first and last.
fn ranges(numbers: impl Iterator<Item = usize>) -> Vec<[u64; 2]> {
    let mut numbers: Vec<u64> = numbers.map(|n| n as u64).collect();
    numbers.sort_unstable();
    let mut out: Vec<[u64; 2]> = Vec::new();
    for n in numbers {
        match out.last_mut() {
            Some(last) if last[1] + 1 == n => last[1] = n,
            _ => out.push([n, n]),
        }
    }
    out
}
