//! What a script is played against.

use windlass_cc::{Span, Time};
use windlass_tcp::{Segment, State};

use super::ast::{Action, Check, ErrorKind};

/// A segment that left the stack under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// When, since the begin of the script.
    pub at: Time,
    /// The segment.
    pub segment: Segment,
    /// Whether its payload is what the application wrote there.
    pub intact: bool,
}

/// Something that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// A count, a length or nanoseconds.
    Number(u64),
    /// A state of the connection.
    State(State),
    /// An answer.
    Answer(bool),
    /// How the connection failed.
    Error(ErrorKind),
}

/// How far from its time something may happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tolerance {
    /// Earlier by so much.
    pub early: Span,
    /// Later by so much.
    pub late: Span,
}

/// An end of one connection that a script acts on: it hands in what the peer sends, takes what
/// leaves, and keeps the time.
pub trait Stack {
    /// The time since the script began.
    fn now(&self) -> Time;

    /// How far off something may be that is expected so long after what went before.
    fn tolerance(&self, wait: Span) -> Tolerance;

    /// The application acts.
    ///
    /// # Errors
    ///
    /// It cannot: why, in one sentence.
    fn act(&mut self, action: Action) -> Result<(), String>;

    /// A segment arrives from the peer, now.
    ///
    /// # Errors
    ///
    /// It cannot be handed in: why, in one sentence.
    fn deliver(&mut self, segment: &Segment) -> Result<(), String>;

    /// The next segment that leaves until a time, which is waited for if there is none. What has
    /// left already is there at once.
    ///
    /// # Errors
    ///
    /// Nothing can be taken from the stack: why, in one sentence.
    fn next(&mut self, until: Time) -> Result<Option<Departure>, String>;

    /// What a check is about, as it stands now.
    ///
    /// # Errors
    ///
    /// It cannot be seen: why, in one sentence.
    fn look(&mut self, at: &Check) -> Result<Seen, String>;
}
