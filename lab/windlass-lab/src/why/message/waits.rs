//! The longest wait of a message, and its cause.

use windlass_cc::Time;
use windlass_sim::link_radio::RadioState;
use windlass_sim::session::What;

use super::events::{Event, Kind};
use super::ours::{Message, Ours};

impl Ours<'_> {
    /// The longest wait between two events, as sentences. After the last event, the message waits to the end of
    /// the run.
    pub(super) fn longest(&self, events: &[Event], m: &Message) -> String {
        let text = "the end of the run".to_owned();
        let end = Event { time: self.case.result.end, kind: Kind::End, text };
        let last = m.arrived.is_none().then_some(&end);
        let all: Vec<&Event> = events.iter().filter(|e| e.time >= m.due).chain(last).collect();
        let longest = all.windows(2).max_by_key(|pair| pair[1].time.since(pair[0].time).0);
        let Some([a, b]) = longest.map(|pair| [pair[0], pair[1]]) else {
            return "It was never sent.".to_owned();
        };
        let wait = b.time.since(a.time).0 as f64 / 1e9;
        let failure = match (&m.arrived, &self.case.result.flows[self.flow].failure) {
            (None, Some(failure)) => format!(" The connection failed: {failure}."),
            _ => String::new(),
        };
        format!(
            "Longest wait: {wait:.3} s, from \"{}\" to \"{}\".{}{}{failure}",
            a.text,
            b.text,
            self.cause([a, b], m),
            self.radio([a.time, b.time]),
        )
    }

    /// The cause of a wait.
    fn cause(&self, [a, b]: [&Event; 2], m: &Message) -> &'static str {
        match (a.kind, b.kind) {
            (Kind::Due, Kind::Put) if self.opened().is_none_or(|open| open > m.due) => {
                " The connection was not open when it was written."
            }
            (Kind::Due | Kind::Written, Kind::Put)
                if self.notes.is_empty() && self.outstanding(m) =>
            {
                " Earlier data of the flow was still on the way. It waited in the sender's buffer or in the queue of this link."
            }
            (Kind::Due | Kind::Written, Kind::Put) => {
                " It waited in the sender's buffer, in the queue of this link, or for its radio."
            }
            (_, Kind::Begun) if self.was_busy(b.time) => {
                " The connection before it was busy with an earlier message."
            }
            (_, Kind::Begun) => {
                " No connection was open, and the application waited before this attempt."
            }
            (_, Kind::Ready) => {
                " It waited for the handshake and the dialogues of this connection."
            }
            (Kind::Begun | Kind::Due | Kind::Lost, Kind::Gone) => {
                " The attempt to connect did not succeed, and no message can be written before it ends."
            }
            (_, Kind::Gone) => " The connection gave up only then.",
            (_, Kind::Timeout) => " Only the retransmission timer showed that something was lost.",
            (Kind::Timeout, Kind::Put) => {
                " The repeated packet waited in the queue of this link, or for its radio."
            }
            (Kind::Lost, Kind::Put) => {
                " The sender learned of the loss from later acknowledgements or a probe."
            }
            (Kind::Put | Kind::Left, Kind::Left | Kind::Arrived) => {
                " The packet was on its way: transmission, delay and jitter of the link, and the queues behind it."
            }
            (Kind::Arrived, Kind::Readable) => " It waited for an earlier part of the stream.",
            (Kind::Due, Kind::Lost) => " A connection was being set up.",
            (_, Kind::Written) => " The connection was busy with an earlier exchange.",
            _ => "",
        }
    }

    /// True if the connection that begins at this time follows a connection that was not lost.
    fn was_busy(&self, time: Time) -> bool {
        let begun = self.notes.iter().find(|n| n.what == What::Begun && n.time == time);
        let before = begun.and_then(|n| n.connection.checked_sub(1));
        before.is_some_and(|before| {
            let mut own = self.notes.iter().filter(|n| n.connection == before);
            !own.any(|n| matches!(n.what, What::Lost(_)) && n.time <= time)
        })
    }

    /// The states of the radios on the flow's links during a wait, other than connected.
    fn radio(&self, [from, to]: [Time; 2]) -> String {
        let mut out = String::new();
        for radio in &self.case.decisions().radios {
            if !self.packets.iter().any(|(e, _)| e.link as usize / 2 == radio.link) {
                continue;
            }
            let mut times = [0u64; 4];
            let ends = radio.states.iter().skip(1).map(|(time, _)| *time).chain([to]);
            for ((begin, state), end) in radio.states.iter().zip(ends) {
                let shared = end.min(to).since((*begin).max(from)).0;
                let place = match state {
                    RadioState::Connected => continue,
                    RadioState::Sleep => 0,
                    RadioState::Idle => 1,
                    RadioState::Connecting => 2,
                    RadioState::Off => 3,
                };
                times[place] += shared;
            }
            let words = ["asleep", "without a connection", "connecting", "without power"];
            let told = words.iter().zip(times).filter(|(_, ns)| *ns >= 1_000_000);
            let told: Vec<String> =
                told.map(|(word, ns)| format!("{word} for {:.3} s", ns as f64 / 1e9)).collect();
            if !told.is_empty() {
                let name = &self.case.config.links[radio.link].name;
                out +=
                    &format!(" In this time the radio of link `{name}` was {}.", told.join(", "));
            }
        }
        out
    }
}
