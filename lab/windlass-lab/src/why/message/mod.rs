//! Why a message was late: its events in order of time, and the longest wait between two of them.

mod events;
mod ours;
mod waits;

use windlass_sim::PacketEvent;

use super::Case;
use super::words::{at, bytes, plural};
use ours::{Message, Ours};

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

/// Explains a message of the flow with this index, one event per line. `packets` has the packets of every link.
///
/// # Errors
///
/// The flow has no messages over TCP on one path, or no message has this number.
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
    let bound = ours.deadline().map(|span| span.0).or(longest).unwrap_or(0);
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
    Ok(told(name, message, &all, &ours))
}

/// The events of a message, and the longest wait between two of them.
fn told(name: &str, m: &Message, all: &[Message], ours: &Ours<'_>) -> String {
    let events = ours.events(m, all);
    let deadline = ours
        .deadline()
        .map_or(String::new(), |d| format!(", with a deadline of {} s", d.0 as f64 / 1e9));
    let outcome = match m.arrived {
        Some(end) => format!("readable after {:.3} s", end.since(m.due).0 as f64 / 1e9),
        None => "never complete at the receiver in this run".to_owned(),
    };
    let size = bytes(m.size);
    let mut out = format!("Message {} of {name}: {size} B{deadline}, {outcome}.\n\n", m.number);
    for event in &events {
        out += &format!("  {:>14}  {}\n", at(event.time), event.text);
    }
    out += &format!("\n{}\n", ours.longest(&events, m));
    out
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
        story_of(METER, which)
    }

    fn story_of(text: &str, which: Which) -> Result<String, String> {
        let scenario = Scenario::from_str(text, "meter.toml").expect("a scenario");
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
        for part in [
            "10.250000 s  written",
            "lost on radio",
            "the retransmission timer expired after ",
            "again",
            "arrived",
        ] {
            assert!(story.contains(part), "{part}: {story}");
        }
        assert!(story.contains("Longest wait: "), "{story}");
        let fine = explained(Which::Number(2)).expect("a story");
        assert!(fine.contains("readable after 0.1"), "{fine}");
        assert!(!fine.contains("again"), "{fine}");
    }

    /// The link is down from 20.1 to 40 s, so that no attempt of 30 s for the message of 20 s succeeds before 50 s.
    #[test]
    fn a_message_of_a_new_connection_has_its_attempts_and_the_states_of_its_radio() {
        let text = METER
            .replace(
                "down = [[\"10.1s\", \"10.5s\"]]",
                "down = [[\"20.1s\", \"40s\"]]\nradio = { preset = \"nb-iot-ce0\", inactivity = \"1s\" }",
            )
            .replace("duration = \"20s\"", "duration = \"70s\"")
            .replace("every = \"2.05s\"", "every = \"20s\"")
            + "connect = \"per-message\"\n\
               dialogue = { connection = [\"tls-1.3\"] }\n\
               reconnect = { timeout = \"10s\", after = \"1s\", jitter = \"none\" }\n";
        let story = story_of(&text, Which::Worst).expect("a story");
        for part in [
            "Message 1 of alarms: 100 B",
            "due",
            "connection 1: begun",
            "connection 1: a packet of its opening lost on radio:meter>server",
            "connection 1: lost: the connection was not ready within `timeout`",
            "connection 2: begun",
            "ready\n",
            "written on connection ",
            "complete and readable",
            "Longest wait: ",
            "the radio of link `radio` was ",
        ] {
            assert!(story.contains(part), "{part}: {story}");
        }
        let times: Vec<f64> = story
            .lines()
            .filter_map(|line| line.trim_start().split_once(" s  ")?.0.parse().ok())
            .collect();
        assert!(times.len() > 8 && times.is_sorted(), "{story}");
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
