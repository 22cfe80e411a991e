//! The events of a message, in order of time.

use std::collections::BTreeMap;

use windlass_cc::Time;
use windlass_sim::session::{Note, What};
use windlass_sim::{PacketEvent, PacketFate};

use super::ours::{Message, Ours};

/// An event of a message.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) time: Time,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The application has the message.
    Due,
    /// An attempt to connect begins.
    Begun,
    /// The connection is ready for messages.
    Ready,
    /// The connection is lost.
    Gone,
    /// The application writes the message on a connection.
    Written,
    /// A packet is put on the first link.
    Put,
    /// The sender's retransmission timer expires.
    Timeout,
    /// A packet leaves the queue of a later link.
    Left,
    /// A packet is lost.
    Lost,
    /// A packet arrives.
    Arrived,
    /// The message is complete at the receiver.
    Readable,
    /// The run ends.
    End,
}

impl Ours<'_> {
    /// The events of a message.
    pub(super) fn events(&self, m: &Message, all: &[Message]) -> Vec<Event> {
        let due = if self.notes.is_empty() { "written" } else { "due" };
        let mut events = vec![Event { time: m.due, kind: Kind::Due, text: due.to_owned() }];
        self.add_connections(m, &mut events);
        self.add_packets(m, &mut events);
        self.add_timeouts(m, &mut events);
        if let Some(end) = m.arrived {
            let own = events.iter().filter(|e| e.kind == Kind::Arrived).map(|e| e.time);
            let own = own.filter(|time| *time <= end).max();
            let earlier = all.iter().rev().find(|o| o.number < m.number && o.arrived == m.arrived);
            let text = match (own, earlier) {
                (Some(own), Some(earlier)) if own < end => format!(
                    "complete and readable, with message {}, which came before it in the stream",
                    earlier.number
                ),
                _ => "complete and readable".to_owned(),
            };
            events.retain(|event| event.time <= end);
            events.push(Event { time: end, kind: Kind::Readable, text });
        }
        // A timeout precedes the packet that it repeats.
        let last = |kind| kind == Kind::Readable;
        events.sort_by_key(|e| (e.time, e.kind != Kind::Timeout, last(e.kind)));
        events
    }

    /// Adds the packets that carry the message.
    fn add_packets(&self, m: &Message, events: &mut Vec<Event>) {
        let mut sent: Vec<(u32, [u64; 2])> = Vec::new();
        for (e, [from, to], part) in self.carriers(m) {
            let link = &self.case.result.links[e.link as usize].name;
            let mut add = |kind, text: String| {
                let [first, last] = part.range;
                let which = if last - first > to - from {
                    format!(" bytes {} to {}", from.max(first) - first, to.min(last) - first)
                } else {
                    String::new()
                };
                events.push(Event { time: e.time, kind, text: text + &which });
            };
            if self.leaves(e) {
                let again = sent
                    .iter()
                    .any(|(p, known)| *p == part.connection && known[0] < to && known[1] > from);
                sent.push((part.connection, [from, to]));
                let how = if again { "again" } else { "for the first time" };
                add(Kind::Put, format!("put on {link} {how}"));
            }
            match e.fate {
                PacketFate::DroppedQueue | PacketFate::DroppedError => {
                    add(Kind::Lost, format!("{} {link}", lost(e)));
                }
                PacketFate::Sent if !self.leaves(e) => {
                    add(Kind::Left, format!("left the queue of {link}"));
                }
                PacketFate::Delivered if self.arrives(e) => {
                    add(Kind::Arrived, "arrived".to_owned())
                }
                _ => {}
            }
        }
    }

    /// Adds the timeouts after the message was sent, of its connections.
    fn add_timeouts(&self, m: &Message, events: &mut Vec<Event>) {
        let Some(sent) = events.iter().filter(|e| e.kind == Kind::Put).map(|e| e.time).min() else {
            return;
        };
        let end = m.arrived.unwrap_or(self.case.result.end);
        let own = |connection: u32| m.parts.iter().any(|part| part.connection == connection);
        for (time, rto, _) in self.timeouts().into_iter().filter(|(.., c)| own(*c)) {
            if (sent..end).contains(&time) {
                let text =
                    format!("the retransmission timer expired after {:.3} s", rto.0 as f64 / 1e9);
                events.push(Event { time, kind: Kind::Timeout, text });
            }
        }
    }

    /// The times in which the message waited for a connection: until it was written, and after the loss of a
    /// connection on which it had been written.
    fn without_connection(&self, m: &Message) -> Vec<[Time; 2]> {
        let end = m.arrived.unwrap_or(self.case.result.end);
        let (mut from, mut carrier, mut all) = (Some(m.due), None, Vec::new());
        for note in self.notes.iter().filter(|n| n.time <= end) {
            match note.what {
                What::Written { message, .. } if message + 1 == m.number => {
                    all.extend(from.take().map(|from| [from, note.time]));
                    carrier = Some(note.connection);
                }
                What::Lost(_) if carrier == Some(note.connection) => {
                    (from, carrier) = (Some(note.time), None);
                }
                _ => {}
            }
        }
        all.extend(from.map(|from| [from, end]));
        all
    }

    /// Adds the connections on which the message was written, and the attempts for which it waited.
    fn add_connections(&self, m: &Message, events: &mut Vec<Event>) {
        let end = m.arrived.unwrap_or(self.case.result.end);
        let number = m.number - 1;
        let wrote = |what: What| matches!(what, What::Written { message, .. } if message == number);
        let waits = self.without_connection(m);
        let mut by_connection: BTreeMap<u32, Vec<&Note>> = BTreeMap::new();
        for note in self.notes.iter().filter(|n| n.time <= end) {
            by_connection.entry(note.connection).or_default().push(note);
        }
        for notes in by_connection.values() {
            let own = || notes.iter().copied();
            let Some(begun) = own().find(|n| n.what == What::Begun) else { continue };
            let attempt = own().find(|n| matches!(n.what, What::Ready | What::Lost(_)));
            let until = attempt.map_or(end, |n| n.time);
            let carries = own().any(|n| wrote(n.what));
            let awaited = |[from, to]: &[Time; 2]| begun.time < *to && until >= *from;
            if !carries && !waits.iter().any(awaited) {
                continue;
            }
            let name = format!("connection {}", begun.connection + 1);
            let mut add = |time, kind, text| events.push(Event { time, kind, text });
            for note in own() {
                match note.what {
                    What::Begun if until >= m.due => {
                        add(note.time, Kind::Begun, format!("{name}: begun"));
                    }
                    What::Ready if until >= m.due => {
                        add(note.time, Kind::Ready, format!("{name}: ready"))
                    }
                    What::Lost(why) if note.time >= m.due => {
                        add(note.time, Kind::Gone, format!("{name}: lost: {why}"));
                    }
                    what if wrote(what) => {
                        add(note.time, Kind::Written, format!("written on {name}"));
                    }
                    _ => {}
                }
            }
            for e in self.packets.iter().map(|(e, _)| *e).chain(self.answers.iter().copied()) {
                let here = self.connection(e) == begun.connection;
                let lost = matches!(e.fate, PacketFate::DroppedQueue | PacketFate::DroppedError);
                if here && lost && (begun.time..until).contains(&e.time) && until >= m.due {
                    let link = &self.case.result.links[e.link as usize].name;
                    let text = format!("{name}: a packet of its opening {} {link}", self::lost(e));
                    add(e.time, Kind::Lost, text);
                }
            }
        }
    }
}

fn lost(e: &PacketEvent) -> &'static str {
    match e.fate {
        PacketFate::DroppedQueue => "dropped by the queue of",
        _ => "lost on",
    }
}
