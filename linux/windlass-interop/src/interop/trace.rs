//! The events of a run, with the queries of the cases.

use std::fmt::Display;

use windlass_cc::{Span, Time};
use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_tcp::{Flags, Options, Segment};

use super::host::Standing;
use super::spans::Spans;
use super::steps::Step;
use super::{Direction, Side};
use windlass_testbed::live::Lateness;

/// The events of a run.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub direction: Direction,
    /// Every packet when an end sends it, and when it arrives at the other end or is lost.
    pub packets: Vec<PacketEvent>,
    /// Final state of each end.
    pub standings: [Standing; 2],
    /// Step that each application still waited for.
    pub waiting: [Option<Step>; 2],
    /// Faults that were not applied.
    pub unused: Vec<String>,
    /// Packets that the queue towards the receiver has marked.
    pub marks: u64,
    pub lateness: Lateness,
    /// Time at which both applications had finished.
    pub done: Time,
}

/// A segment that one end has sent, with data offsets, from 0 and for the first connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent<'a> {
    pub time: Time,
    pub segment: &'a Segment,
    pub start: u64,
}

impl Sent<'_> {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.segment.len)
    }
}

impl Trace {
    /// Creates a successful run with these packets.
    #[cfg(test)]
    pub fn of(packets: Vec<PacketEvent>) -> Trace {
        Trace {
            direction: Direction::OursSends,
            packets,
            standings: Default::default(),
            waiting: [None, None],
            unused: Vec::new(),
            marks: 0,
            lateness: Lateness::default(),
            done: Time::ZERO,
        }
    }

    fn with_fate(
        &self,
        from: Side,
        fate: PacketFate,
    ) -> impl Iterator<Item = (Time, &Segment)> + Clone {
        let forward = from == Side::Sender;
        let events = self.packets.iter().filter(move |p| p.forward == forward && p.fate == fate);
        events.filter_map(|p| Some((p.time, p.segment.as_ref()?)))
    }

    /// Returns the segments that an end has sent.
    pub fn sent(&self, from: Side) -> impl Iterator<Item = (Time, &Segment)> + Clone {
        self.with_fate(from, PacketFate::Sent)
    }

    /// Returns the segments of an end that have arrived at its peer.
    pub fn arrived(&self, from: Side) -> impl Iterator<Item = (Time, &Segment)> + Clone {
        self.with_fate(from, PacketFate::Delivered)
    }

    /// Returns the number of segments with all of these flags that an end has sent.
    pub fn count(&self, from: Side, flags: Flags) -> usize {
        self.sent(from).filter(|(_, s)| s.flags.has(flags)).count()
    }

    /// Returns the options of an end's first SYN.
    pub fn offered(&self, from: Side) -> Options {
        self.first_syn(from).map(|s| s.options).unwrap_or_default()
    }

    pub fn first_syn(&self, from: Side) -> Option<&Segment> {
        self.sent(from).map(|(_, s)| s).find(|s| s.flags.has(Flags::SYN))
    }

    /// Returns the segments with data that an end has sent, in order.
    pub fn data(&self, from: Side) -> Vec<Sent<'_>> {
        let base = self.first_syn(from).map_or(0, |s| s.seq.0.wrapping_add(1));
        self.sent(from)
            .filter(|(_, s)| s.len > 0)
            .map(|(time, segment)| Sent {
                time,
                segment,
                start: u64::from(segment.seq.0.wrapping_sub(base)),
            })
            .collect()
    }

    /// Returns the times at which the byte with this offset was sent.
    pub fn copies(&self, from: Side, offset: u64) -> Vec<Time> {
        let data = self.data(from).into_iter();
        data.filter(|s| (s.start..s.end()).contains(&offset)).map(|s| s.time).collect()
    }

    /// Returns the number of data segments with bytes that had been sent before.
    pub fn retransmissions(&self, from: Side) -> usize {
        let mut sent = Spans::default();
        let mut again = 0;
        for s in self.data(from) {
            again += usize::from(s.start < sent.contiguous());
            sent.insert(s.start, s.end());
        }
        again
    }

    /// Returns the maximum number of bytes that were sent and not acknowledged, as the sender saw it.
    pub fn most_in_flight(&self, from: Side) -> u64 {
        let base = self.first_syn(from).map_or(0, |s| s.seq.0.wrapping_add(1));
        let (mut sent, mut acknowledged, mut most) = (0, 0, 0);
        for p in &self.packets {
            let Some(s) = &p.segment else { continue };
            let mine = p.forward == (from == Side::Sender);
            if mine && p.fate == PacketFate::Sent && s.len > 0 {
                sent = sent.max(s.seq.0.wrapping_sub(base) + s.len);
            } else if !mine && p.fate == PacketFate::Delivered && s.flags.has(Flags::ACK) {
                let offset = s.ack.0.wrapping_sub(base);
                acknowledged = if offset <= sent { acknowledged.max(offset) } else { acknowledged };
            }
            most = most.max(sent - acknowledged);
        }
        most.into()
    }

    /// Returns the spans between consecutive times.
    pub fn gaps(times: &[Time]) -> Vec<Span> {
        times.windows(2).map(|pair| pair[1].since(pair[0])).collect()
    }
}

/// Formats a segment in one line.
pub(super) fn describe(s: &Segment) -> String {
    let names = [
        (Flags::SYN, "SYN "),
        (Flags::FIN, "FIN "),
        (Flags::RST, "RST "),
        (Flags::ACK, "ACK "),
        (Flags::ECE, "ECE "),
        (Flags::CWR, "CWR "),
    ];
    let flags: String =
        names.iter().filter(|(flag, _)| s.flags.has(*flag)).map(|(_, name)| *name).collect();
    let options = &s.options;
    let mut text = format!("{flags}seq {} len {} ack {} window {}", s.seq, s.len, s.ack, s.window);
    let mut add = |name: &str, value: Option<&dyn Display>| {
        if let Some(value) = value {
            text += &format!(" {name} {value}");
        }
    };
    add("mss", options.mss.as_ref().map(|v| v as &dyn Display));
    add("scale", options.window_scale.as_ref().map(|v| v as &dyn Display));
    add("sack", options.sack_permitted.then_some(&"permitted" as &dyn Display));
    add("timestamp", options.timestamps.as_ref().map(|t| &t.value as &dyn Display));
    add("echo", options.timestamps.as_ref().map(|t| &t.echo as &dyn Display));
    for block in options.sack_blocks() {
        text += &format!(" [{}, {})", block.left, block.right);
    }
    text
}
