//! Why a message was late: its packets in order of time, and the longest wait between two of these events.

use std::collections::BTreeMap;

use windlass_cc::{Span, Time};
use windlass_sim::arrivals::ArrivalProcess;
use windlass_sim::config::Traffic;
use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::{Cause, Segment};

use super::Case;
use super::words::{at, bytes, plural};

/// The message to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// This one in the order of writing, from 1.
    Number(u64),
    /// The one with the largest latency. A message that never arrived is the worst.
    Worst,
}

impl std::str::FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Which, String> {
        match text.parse() {
            Ok(number) if number > 0 => Ok(Which::Number(number)),
            _ if text == "worst" => Ok(Which::Worst),
            _ => Err("write the number of a message, from 1, or `worst`".to_owned()),
        }
    }
}

/// A message: its place in the stream, and the times of its writing and of its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Message {
    number: u64,
    due: Time,
    from: u64,
    to: u64,
    arrived: Option<Time>,
}

/// Explains a message of the flow with this index, one event per line. `packets` has the packets of every link.
///
/// # Errors
///
/// The flow has no messages over one TCP connection, or no message has this number.
pub fn message(
    case: &Case,
    packets: &[PacketEvent],
    flow: usize,
    which: Which,
) -> Result<String, String> {
    let ours = Ours::of(case, packets, flow)?;
    let all = ours.messages();
    let end = case.result.end;
    let longest = all.iter().filter_map(|m| Some(m.arrived?.since(m.due).0)).max();
    let bound = deadline(case, flow).map(|span| span.0).or(longest).unwrap_or(0);
    // A message that was written just before the end may still be in time.
    let wait = |m: &&Message| match m.arrived {
        Some(arrived) => arrived.since(m.due).0,
        None if end.since(m.due).0 > bound => u64::MAX,
        None => 0,
    };
    let chosen = match which {
        Which::Number(n) => all.iter().find(|m| m.number == n),
        Which::Worst => all.iter().max_by_key(|m| (wait(m), std::cmp::Reverse(m.number))),
    };
    let name = &case.scenario.flows[flow].name;
    let Some(message) = chosen else {
        let n = plural(all.len(), "message", "messages");
        return Err(format!("`{name}` wrote {n} in this run; name one of them"));
    };
    Ok(told(case, name, message, &all, &ours))
}

/// The packets of the data sender of a flow.
struct Ours<'a> {
    case: &'a Case,
    flow: usize,
    packets: Vec<(&'a PacketEvent, &'a Segment)>,
    /// Sequence number of the first byte of the stream.
    first: u32,
    ends: [usize; 2],
}

impl<'a> Ours<'a> {
    fn of(case: &'a Case, packets: &'a [PacketEvent], flow: usize) -> Result<Ours<'a>, String> {
        let config = &case.config.flows[flow];
        let name = &case.scenario.flows[flow].name;
        let has_messages = matches!(config.traffic, Traffic::Messages(_) | Traffic::CbrTcp(_));
        if !has_messages || config.multipath.is_some() {
            return Err(format!(
                "`--message` explains the traffic `messages` and `cbr` over one TCP connection, and `{name}` has another traffic, \
                 several paths, or one of the keys `connect`, `reconnect` and `dialogue`; `--at TIME` explains its reductions"
            ));
        }
        let forward = packets.iter().filter(|e| e.flow == flow as u32 && e.forward);
        let packets: Vec<_> = forward.filter_map(|e| Some((e, e.segment.as_ref()?))).collect();
        let syn = packets.iter().find(|(_, s)| s.flags.has(windlass_tcp::Flags::SYN));
        let first = syn.map_or(0, |(_, s)| s.seq.0.wrapping_add(1));
        Ok(Ours { case, flow, packets, first, ends: [config.from, config.to] })
    }

    /// The range of the stream that a segment carries; `None` without data.
    fn range(&self, segment: &Segment) -> Option<[u64; 2]> {
        let from = u64::from(segment.seq.0.wrapping_sub(self.first));
        (segment.len > 0).then(|| [from, from + u64::from(segment.len)])
    }

    fn leaves(&self, e: &PacketEvent) -> bool {
        let begins = matches!(e.fate, PacketFate::Sent | PacketFate::DroppedQueue);
        begins && self.case.end_of_link(e.link, 0) == self.ends[0]
    }

    fn arrives(&self, e: &PacketEvent) -> bool {
        e.fate == PacketFate::Delivered && self.case.end_of_link(e.link, 1) == self.ends[1]
    }

    /// Times at which the receiver had the stream without a gap up to these offsets.
    fn complete(&self) -> Vec<(u64, Time)> {
        let mut early: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut next, mut all) = (0, Vec::new());
        for (e, segment) in self.packets.iter().filter(|(e, _)| self.arrives(e)) {
            let Some([from, to]) = self.range(segment) else { continue };
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

    /// Every message that was written during the run.
    fn messages(&self) -> Vec<Message> {
        let config = &self.case.config.flows[self.flow];
        let (end, complete) = (self.case.result.end, self.complete());
        let mut all: Vec<Message> = Vec::new();
        let mut add = |due: Time, size: u64| {
            let from = all.last().map_or(0, |m| m.to);
            let to = from + size;
            let at = complete.partition_point(|(offset, _)| *offset < to);
            let arrived = complete.get(at).map(|(_, time)| *time);
            all.push(Message { number: all.len() as u64 + 1, due, from, to, arrived });
        };
        match config.traffic {
            Traffic::Messages(arrivals) => {
                let mut process = ArrivalProcess::new(arrivals, config.start);
                while let Some((due, size)) = process.next()
                    && due <= end
                {
                    add(due, size);
                    process.advance();
                }
            }
            Traffic::CbrTcp(cbr) => {
                let mut due = config.start;
                while due < cbr.stop && due <= end {
                    add(due, cbr.packet);
                    due += Span(cbr.interval.0.max(1));
                }
            }
            _ => {}
        }
        all
    }

    /// The packets that carry a part of the message.
    fn of_message(&self, m: &Message) -> Vec<(&'a PacketEvent, [u64; 2])> {
        let part = |(e, s): &(&'a PacketEvent, &'a Segment)| {
            let range = self.range(s)?;
            (range[0] < m.to && range[1] > m.from).then_some((*e, range))
        };
        self.packets.iter().filter_map(part).collect()
    }

    /// True if the sender's timer expired at this time.
    fn timed_out(&self, time: Time) -> Option<Span> {
        let senders = &self.case.decisions().senders;
        let sender = senders.iter().find(|s| s.flow as usize == self.flow)?;
        sender.journal.decisions().iter().find_map(|d| match d.cause {
            Cause::Timeout { rto, .. } if d.time == time => Some(rto),
            _ => None,
        })
    }
}

/// The events of a message, and the longest wait between two of them.
fn told(case: &Case, name: &str, m: &Message, all: &[Message], ours: &Ours<'_>) -> String {
    let mut events: Vec<(Time, String)> = vec![(m.due, "written".to_owned())];
    let mut sent_before: Vec<[u64; 2]> = Vec::new();
    let parts = ours.of_message(m);
    for (e, range) in &parts {
        let link = &case.result.links[e.link as usize].name;
        let which = if m.to - m.from > range[1] - range[0] {
            format!(" bytes {} to {}", range[0].max(m.from) - m.from, range[1].min(m.to) - m.from)
        } else {
            String::new()
        };
        if ours.leaves(e) {
            let again = sent_before.iter().any(|known| known[0] < range[1] && known[1] > range[0]);
            sent_before.push(*range);
            let how = match (again, ours.timed_out(e.time)) {
                (false, _) => format!("put on {link} for the first time"),
                (true, Some(rto)) => {
                    format!("put on {link} again, after a timeout of {:.3} s", rto.0 as f64 / 1e9)
                }
                (true, None) => format!("put on {link} again"),
            };
            events.push((e.time, format!("{how}{which}")));
        }
        match e.fate {
            PacketFate::DroppedQueue => {
                events.push((e.time, format!("dropped by the queue of {link}{which}")))
            }
            PacketFate::DroppedError => events.push((e.time, format!("lost on {link}{which}"))),
            PacketFate::Sent if !ours.leaves(e) => {
                events.push((e.time, format!("left the queue of {link}{which}")));
            }
            PacketFate::Delivered if ours.arrives(e) => {
                events.push((e.time, format!("arrived{which}")))
            }
            _ => {}
        }
    }
    let own = parts.iter().filter(|(e, _)| ours.arrives(e)).map(|(e, _)| e.time).max();
    if let Some(end) = m.arrived {
        let earlier = all.iter().rev().find(|o| o.number < m.number && o.arrived == m.arrived);
        let text = match (own, earlier) {
            (Some(own), Some(earlier)) if own < end => {
                format!(
                    "complete and readable, with message {}, which came before it in the stream",
                    earlier.number
                )
            }
            _ => "complete and readable".to_owned(),
        };
        events.retain(|(time, _)| *time <= end);
        events.push((end, text));
    }
    let size = bytes(m.to - m.from);
    let deadline = deadline(case, ours.flow)
        .map_or(String::new(), |d| format!(", with a deadline of {} s", d.0 as f64 / 1e9));
    let outcome = match m.arrived {
        Some(end) => format!("readable after {:.3} s", end.since(m.due).0 as f64 / 1e9),
        None => "never complete at the receiver in this run".to_owned(),
    };
    let mut out = format!("Message {} of {name}: {size} B{deadline}, {outcome}.\n\n", m.number);
    for (time, text) in &events {
        out += &format!("  {:>14}  {text}\n", at(*time));
    }
    out += &format!("\n{}\n", longest(&events, m, case, ours));
    out
}

/// The longest wait between two events, as a sentence. After the last event the message waits to the end of the run.
fn longest(events: &[(Time, String)], m: &Message, case: &Case, ours: &Ours<'_>) -> String {
    let end = (case.result.end, "the end of the run".to_owned());
    let last = m.arrived.is_none().then_some(&end);
    let all: Vec<&(Time, String)> = events.iter().chain(last).collect();
    let longest = all.windows(2).max_by_key(|pair| pair[1].0.since(pair[0].0).0);
    let Some([a, b]) = longest.map(|pair| [pair[0], pair[1]]) else {
        return "It was never sent.".to_owned();
    };
    let wait = b.0.since(a.0).0 as f64 / 1e9;
    let why = match (a.1.as_str(), b.1.as_str()) {
        ("written", _) if ours.opened().is_none_or(|open| open > m.due) => {
            " The connection was not open when it was written."
        }
        ("written", _) if ours.outstanding(m) => {
            " Earlier data of the flow was still on the way. It waited in the sender's buffer or in the queue of this link."
        }
        ("written", _) => " It waited in the queue of this link, or for its radio.",
        _ => "",
    };
    let failure = match (&m.arrived, &case.result.flows[ours.flow].failure) {
        (None, Some(failure)) => format!(" The connection failed: {failure}."),
        _ => String::new(),
    };
    format!("Longest wait: {wait:.3} s, from \"{}\" to \"{}\".{why}{failure}", a.1, b.1)
}

impl Ours<'_> {
    /// Time at which the sender put its first packet after the SYN on a link.
    fn opened(&self) -> Option<Time> {
        let syn = |s: &Segment| s.flags.has(windlass_tcp::Flags::SYN);
        let first = self.packets.iter().find(|(e, s)| self.leaves(e) && !syn(s));
        first.map(|(e, _)| e.time)
    }

    /// True if earlier data of the stream had not arrived when the message was written.
    fn outstanding(&self, m: &Message) -> bool {
        let complete = self.complete();
        let arrived = complete.iter().take_while(|(_, time)| *time <= m.due).last();
        m.from > arrived.map_or(0, |(offset, _)| *offset)
    }
}

fn deadline(case: &Case, flow: usize) -> Option<Span> {
    match case.config.flows[flow].traffic {
        Traffic::Messages(arrivals) => arrivals.deadline,
        Traffic::CbrTcp(cbr) => cbr.deadline,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    /// A burst of loss on the uplink from 10.0 to 10.5 s drops the message of 10.2 s.
    const METER: &str = r#"
duration = "20s"
[[link]]
name = "radio"
between = ["meter", "server"]
rate = "100kbps"
delay = "100ms"
down = [["10.1s", "10.5s"]]
[[flow]]
name = "alarms"
from = "meter"
to = "server"
algorithm = "newreno"
traffic = { kind = "messages", every = "2.05s", gaps = "constant", size = "100B", deadline = "1s" }
"#;

    fn explained(which: Which) -> Result<String, String> {
        let scenario = Scenario::from_str(METER, "meter.toml").expect("a scenario");
        let case = Case::of(&scenario, 1).expect("a run");
        message(&case, &case.packets().expect("packets"), 0, which)
    }

    #[test]
    fn the_story_of_a_lost_message_has_its_loss_its_timeout_and_the_longest_wait() {
        let story = explained(Which::Worst).expect("a story");
        assert!(
            story
                .starts_with("Message 5 of alarms: 100 B, with a deadline of 1 s, readable after "),
            "{story}"
        );
        for part in
            ["10.250000 s  written", "lost on radio", "again, after a timeout of ", "arrived"]
        {
            assert!(story.contains(part), "{part}: {story}");
        }
        assert!(story.contains("Longest wait: "), "{story}");
        let fine = explained(Which::Number(2)).expect("a story");
        assert!(fine.contains("readable after 0.1"), "{fine}");
        assert!(!fine.contains("again"), "{fine}");
    }

    #[test]
    fn a_message_that_does_not_exist_is_an_error_with_their_number() {
        assert_eq!(
            explained(Which::Number(99)).unwrap_err(),
            "`alarms` wrote 9 messages in this run; name one of them"
        );
        assert!("0".parse::<Which>().is_err() && "worst".parse() == Ok(Which::Worst));
    }
}
