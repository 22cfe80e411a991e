//! The first difference of two stacks, and the state of both at that point.

use std::fmt;

use serde::{Deserialize, Serialize};
use windlass_tcp::Flags;

use crate::script::{
    Bounds, Check, INFINITE, STATES, Seen, SegmentSpec, Stack, milliseconds, name_of,
};
use windlass_cc::Time;

/// The result of a case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// Both stacks sent the same segments. This is their number.
    Equal(u32),
    /// They differ only because of the order of a timer and an event that is a few milliseconds away, or because of
    /// parts of a millisecond.
    Tie(Box<Finding>),
    /// They differ.
    Differs(Box<Finding>),
}

impl Outcome {
    /// The difference, if it counts.
    pub fn difference(&self) -> Option<&Finding> {
        match self {
            Outcome::Differs(finding) => Some(finding),
            _ => None,
        }
    }
}

/// Kind of difference between the two stacks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// The kernel sends a segment that the endpoint does not send.
    Missing,
    /// The endpoint sends a segment that the kernel does not send.
    Extra,
    /// The endpoint sends the same segment later.
    Late,
    /// The endpoint sends the same segment earlier.
    Early,
    /// Both send, and these fields of the segment differ.
    Parts(Vec<String>),
    /// An action gives different results.
    Application,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Missing => f.write_str("missing"),
            Kind::Extra => f.write_str("extra"),
            Kind::Late => f.write_str("late"),
            Kind::Early => f.write_str("early"),
            Kind::Parts(parts) => write!(f, "other {}", parts.join(", ")),
            Kind::Application => f.write_str("application"),
        }
    }
}

/// The first difference.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Kind of the difference.
    pub kind: Kind,
    /// The purpose of the segment.
    pub class: String,
    /// The event before.
    pub trigger: String,
    /// The segment that the kernel sent, and its time.
    pub kernel: String,
    /// The segment that the endpoint sent, and its time.
    pub endpoint: String,
    /// States of both stacks: the state of the connection now, and the numbers before the event.
    pub states: [State; 2],
    /// Time and kind of the first difference in cwnd, ssthresh or state, if it was before the differing
    /// segment.
    pub parted: Option<String>,
    /// The exchange up to this point, as a script that follows the kernel.
    pub script: String,
}

impl Finding {
    /// Returns the signature. Findings with the same signature are assumed to have one cause.
    pub fn signature(&self) -> String {
        format!("{} {}, after {}", self.kind, self.class, self.trigger)
    }
}

/// The visible state of a stack.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// State of the connection.
    pub state: String,
    /// Congestion window, segments.
    pub cwnd: Option<u64>,
    /// Slow-start threshold, segments.
    pub ssthresh: Option<u64>,
    /// Smoothed round-trip time, nanoseconds.
    pub srtt: Option<u64>,
    /// Retransmission timeout, nanoseconds.
    pub rto: Option<u64>,
}

impl State {
    /// Reads the numbers of a stack. Numbers that the stack does not show are missing. The state of the
    /// connection is missing too, because a kernel needs long to find it.
    pub(super) fn of(stack: &mut dyn Stack) -> State {
        let any = Bounds::ANY;
        let mut number = |check| match stack.look(&check) {
            Ok(Seen::Number(n)) => Some(n),
            _ => None,
        };
        State {
            state: String::new(),
            cwnd: number(Check::Cwnd(any)),
            ssthresh: number(Check::Ssthresh(any)),
            srtt: number(Check::Srtt(any)).filter(|srtt| *srtt > 0),
            rto: number(Check::Rto(any)),
        }
    }

    /// Adds the state of the connection.
    pub(super) fn with_state(mut self, stack: &mut dyn Stack) -> State {
        self.state = match stack.look(&Check::State(windlass_tcp::State::Closed)) {
            Ok(Seen::State(state)) => name_of(&STATES, &state).to_owned(),
            _ => "unknown".to_owned(),
        };
        self
    }

    /// True if the windows differ, and both stacks show them.
    pub(super) fn parts_from(&self, other: &State) -> bool {
        let apart = |a: Option<u64>, b: Option<u64>| a.is_some() && b.is_some() && a != b;
        let begun = self.srtt.is_some() && other.srtt.is_some();
        if !begun {
            return false;
        }
        apart(self.cwnd, other.cwnd) || apart(self.ssthresh, other.ssthresh)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: Option<u64>| match n {
            None => "unknown".to_owned(),
            Some(INFINITE) => "infinite".to_owned(),
            Some(n) => n.to_string(),
        };
        let time = |n: Option<u64>| n.map_or("unknown".to_owned(), |n| milliseconds(Time(n)));
        if !self.state.is_empty() {
            write!(f, "{}, ", self.state)?;
        }
        write!(f, "cwnd {}, ", count(self.cwnd))?;
        write!(f, "ssthresh {}, srtt {}, ", count(self.ssthresh), time(self.srtt))?;
        write!(f, "rto {}", time(self.rto))
    }
}

/// The purpose of a segment. `sent` is one past the highest number sent before it.
pub(super) fn class(spec: &SegmentSpec, sent: i64) -> &'static str {
    let has = |flag| spec.flags.has(flag);
    let seq = spec.seq.unwrap_or(0);
    if has(Flags::RST) {
        "reset"
    } else if has(Flags::SYN) {
        if sent > 0 { "repeated SYN" } else { "SYN" }
    } else if spec.len > 0 {
        if seq < sent { "retransmission" } else { "new data" }
    } else if has(Flags::FIN) {
        if seq < sent { "repeated FIN" } else { "FIN" }
    } else if seq < sent {
        "window probe"
    } else if !spec.options.sack.is_empty() {
        "acknowledgement with SACK"
    } else {
        "acknowledgement"
    }
}
