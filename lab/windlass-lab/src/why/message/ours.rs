//! The messages of a flow and the packets that carry them.

use std::collections::BTreeMap;

use windlass_cc::{Span, Time};
use windlass_sim::arrivals::{ArrivalProcess, Arrivals};
use windlass_sim::config::Traffic;
use windlass_sim::session::{Exchanges, Note, What};
use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::{Cause, Flags, Segment};

use super::super::Case;

/// A message: its times, and the places in the streams where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// From 1, in the order of the due times.
    pub(super) number: u64,
    pub(super) due: Time,
    pub(super) size: u64,
    pub(super) parts: Vec<Part>,
    pub(super) arrived: Option<Time>,
}

/// A place of a message in the stream of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Number of the connection, from 0.
    pub(super) connection: u32,
    pub(super) range: [u64; 2],
}

/// The packets of a flow with messages.
pub(super) struct Ours<'a> {
    pub(super) case: &'a Case,
    pub(super) flow: usize,
    /// Those of the data sender.
    pub(super) packets: Vec<(&'a PacketEvent, &'a Segment)>,
    /// Those of the data receiver.
    pub(super) answers: Vec<&'a PacketEvent>,
    /// Events of successive connections; empty for a flow with one connection.
    pub(super) notes: &'a [Note],
    /// Sequence number of the first byte of each connection's stream.
    first: BTreeMap<u32, u32>,
    /// Beginnings of the connections with each port, ascending. A long run uses a port again.
    begun: BTreeMap<u16, Vec<(Time, u32)>>,
    ends: [usize; 2],
}

impl<'a> Ours<'a> {
    pub(super) fn of(
        case: &'a Case,
        packets: &'a [PacketEvent],
        flow: usize,
    ) -> Result<Ours<'a>, String> {
        let config = &case.config.flows[flow];
        if config.multipath.is_some() || !has_messages(&config.traffic) {
            let name = &case.scenario.flows[flow].name;
            return Err(format!(
                "`--message` explains the traffic `messages` and `cbr` over TCP on one path, and `{name}` has another \
                 traffic or several paths; `--at TIME` explains its reductions"
            ));
        }
        let own = packets.iter().filter(|e| e.flow == flow as u32);
        let (forward, answers): (Vec<&PacketEvent>, Vec<_>) = own.partition(|e| e.forward);
        let packets: Vec<_> =
            forward.into_iter().filter_map(|e| Some((e, e.segment.as_ref()?))).collect();
        let notes = case.decisions().sessions.get(&(flow as u32)).map_or(&[][..], Vec::as_slice);
        let mut begun: BTreeMap<u16, Vec<(Time, u32)>> = BTreeMap::new();
        for note in notes.iter().filter(|note| note.what == What::Begun) {
            begun.entry(note.connection as u16).or_default().push((note.time, note.connection));
        }
        let ends = [config.from, config.to];
        let first = BTreeMap::new();
        let mut ours = Ours { case, flow, packets, answers, notes, first, begun, ends };
        let syns = ours.packets.iter().filter(|(_, s)| s.flags.has(Flags::SYN));
        ours.first = syns.map(|(e, s)| (ours.connection(e), s.seq.0.wrapping_add(1))).collect();
        Ok(ours)
    }

    /// Number of a packet's connection: the newest with its port.
    pub(super) fn connection(&self, e: &PacketEvent) -> u32 {
        let port = e.path.map_or(0, |path| path.attempt);
        let known = self.begun.get(&port).map_or(&[][..], Vec::as_slice);
        let before = known.partition_point(|(time, _)| *time <= e.time);
        before.checked_sub(1).map_or(0, |last| known[last].1)
    }

    /// The connection, and the range of the stream that a segment carries; `None` without data.
    fn range(&self, e: &PacketEvent, segment: &Segment) -> Option<Part> {
        let connection = self.connection(e);
        let first = self.first.get(&connection).copied().unwrap_or_default();
        let from = u64::from(segment.seq.0.wrapping_sub(first));
        let range = [from, from + u64::from(segment.len)];
        (segment.len > 0).then_some(Part { connection, range })
    }

    pub(super) fn leaves(&self, e: &PacketEvent) -> bool {
        let begins = matches!(e.fate, PacketFate::Sent | PacketFate::DroppedQueue);
        begins && self.case.end_of_link(e.link, 0) == self.ends[0]
    }

    pub(super) fn arrives(&self, e: &PacketEvent) -> bool {
        e.fate == PacketFate::Delivered && self.case.end_of_link(e.link, 1) == self.ends[1]
    }

    /// Times at which the receiver had the stream without a gap up to these offsets.
    fn complete(&self) -> Vec<(u64, Time)> {
        let mut early: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut next, mut all) = (0, Vec::new());
        for (e, segment) in self.packets.iter().filter(|(e, _)| self.arrives(e)) {
            let Some(Part { range: [from, to], .. }) = self.range(e, segment) else { continue };
            let known = early.entry(from).or_insert(to);
            *known = to.max(*known);
            while let Some((from, to)) = early.first_key_value().map(|(a, b)| (*a, *b))
                && from <= next
            {
                early.remove(&from);
                next = next.max(to);
            }
            if all.last().is_none_or(|(offset, _)| *offset < next) {
                all.push((next, e.time));
            }
        }
        all
    }

    /// Every message that was due during the run.
    pub(super) fn messages(&self) -> Vec<Message> {
        let config = &self.case.config.flows[self.flow];
        let end = self.case.result.end;
        let mut all: Vec<Message> = Vec::new();
        let mut add = |due: Time, size: u64| {
            let number = all.len() as u64 + 1;
            all.push(Message { number, due, size, parts: Vec::new(), arrived: None });
        };
        if let Some(arrivals) = arrivals(&config.traffic) {
            let mut process = ArrivalProcess::new(arrivals, config.start);
            while let Some((due, size)) = process.next()
                && due <= end
            {
                add(due, size);
                process.advance();
            }
        } else if let Traffic::CbrTcp(cbr) = config.traffic {
            let mut due = config.start;
            while due < cbr.stop && due <= end {
                add(due, cbr.packet);
                due += Span(cbr.interval.0.max(1));
            }
        }
        match config.traffic {
            Traffic::Sessions(_) => self.follow_notes(&mut all),
            _ => self.follow_stream(&mut all),
        }
        all
    }

    /// Gives the messages of one connection their places in its stream, and their times of arrival.
    fn follow_stream(&self, all: &mut [Message]) {
        let complete = self.complete();
        let mut from = 0;
        for message in all {
            let to = from + message.size;
            let at = complete.partition_point(|(offset, _)| *offset < to);
            message.arrived = complete.get(at).map(|(_, time)| *time);
            message.parts.push(Part { connection: 0, range: [from, to] });
            from = to;
        }
    }

    /// Gives the messages of successive connections their places and times, as recorded.
    fn follow_notes(&self, all: &mut [Message]) {
        for note in self.notes {
            let connection = note.connection;
            match note.what {
                What::Written { message, range } => {
                    if let Some(m) = all.get_mut(message as usize) {
                        m.parts.push(Part { connection, range });
                    }
                }
                What::Arrived { message } => {
                    if let Some(m) = all.get_mut(message as usize) {
                        m.arrived = Some(note.time);
                    }
                }
                _ => {}
            }
        }
    }

    /// The packets that carry a part of the message, with their range of the stream, and the range of the
    /// message there.
    pub(super) fn carriers(&self, m: &Message) -> Vec<(&'a PacketEvent, [u64; 2], Part)> {
        let carrier = |(e, s): &(&'a PacketEvent, &'a Segment)| {
            let Part { connection, range: [from, to] } = self.range(e, s)?;
            let of = |p: &&Part| p.connection == connection && from < p.range[1] && to > p.range[0];
            Some((*e, [from, to], *m.parts.iter().find(of)?))
        };
        self.packets.iter().filter_map(carrier).collect()
    }

    /// Expiries of the sender's retransmission timer: their times, the timer, and the connection.
    pub(super) fn timeouts(&self) -> Vec<(Time, Span, u32)> {
        let noted = self.notes.iter().filter_map(|note| match note.what {
            What::Timeout(rto) => Some((note.time, rto, note.connection)),
            _ => None,
        });
        let own = self.case.decisions().senders.iter();
        let own = own.filter(|s| s.flow as usize == self.flow && self.notes.is_empty());
        let decided = own.flat_map(|s| s.journal.decisions()).filter_map(|d| match d.cause {
            Cause::Timeout { rto, .. } => Some((d.time, rto, 0)),
            _ => None,
        });
        noted.chain(decided).collect()
    }

    /// Time at which the sender put its first packet after the SYN on a link.
    pub(super) fn opened(&self) -> Option<Time> {
        let data = |(e, s): &&(&PacketEvent, &Segment)| self.leaves(e) && !s.flags.has(Flags::SYN);
        self.packets.iter().find(data).map(|(e, _)| e.time)
    }

    /// True if earlier data of the stream had not arrived when the message was written.
    pub(super) fn outstanding(&self, m: &Message) -> bool {
        let complete = self.complete();
        let arrived = complete.iter().take_while(|(_, time)| *time <= m.due).last();
        m.parts.first().is_some_and(|p| p.range[0] > arrived.map_or(0, |(offset, _)| *offset))
    }

    pub(super) fn deadline(&self) -> Option<Span> {
        let traffic = &self.case.config.flows[self.flow].traffic;
        match traffic {
            Traffic::CbrTcp(cbr) => cbr.deadline,
            _ => arrivals(traffic)?.deadline,
        }
    }
}

fn has_messages(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::CbrTcp(_)) || arrivals(traffic).is_some()
}

/// The due times and sizes of messages at random times.
fn arrivals(traffic: &Traffic) -> Option<Arrivals> {
    match traffic {
        Traffic::Messages(arrivals) => Some(*arrivals),
        Traffic::Sessions(plan) => match plan.exchanges {
            Exchanges::Messages(arrivals) => Some(arrivals),
            Exchanges::Requests { .. } => None,
        },
        _ => None,
    }
}
