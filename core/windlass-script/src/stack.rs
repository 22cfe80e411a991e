//! Interface of a stack under test.

use windlass_cc::{Phase, Span, Time};
use windlass_tcp::{Segment, State};

use super::ast::{Action, Check, ErrorKind};

/// A segment that left the stack under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// Time of departure since the start of the script.
    pub at: Time,
    /// The segment.
    pub segment: Segment,
    /// True if its payload equals the bytes that the application wrote there.
    pub intact: bool,
}

/// A value that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// A count, a length or nanoseconds.
    Number(u64),
    /// A state of the connection.
    State(State),
    /// A truth value.
    Answer(bool),
    /// Failure of the connection.
    Error(ErrorKind),
    /// Phase of loss recovery.
    Phase(Phase),
}

/// Tolerance of an event's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tolerance {
    /// Maximum time that the event may be early.
    pub early: Span,
    /// Maximum time that the event may be late.
    pub late: Span,
}

/// An end of one connection that a script plays against. It accepts the peer's segments, returns departures,
/// and has a clock.
pub trait Stack {
    /// Returns the time since the start of the script.
    fn now(&self) -> Time;

    /// Returns the tolerance of an event that is expected after this wait.
    fn tolerance(&self, wait: Span) -> Tolerance;

    /// Lets the application act.
    ///
    /// # Errors
    ///
    /// Returns the reason in one sentence if the action fails.
    fn act(&mut self, action: Action) -> Result<(), String>;

    /// Delivers a segment from the peer now.
    ///
    /// # Errors
    ///
    /// Returns the reason in one sentence if the delivery fails.
    fn deliver(&mut self, segment: &Segment) -> Result<(), String>;

    /// Returns the next departure until a time, and waits for one if necessary. An earlier departure is
    /// returned immediately.
    ///
    /// # Errors
    ///
    /// Returns the reason in one sentence if the stack cannot be read.
    fn next(&mut self, until: Time) -> Result<Option<Departure>, String>;

    /// Returns the present value for a check.
    ///
    /// # Errors
    ///
    /// Returns the reason in one sentence if the value is not visible.
    fn look(&mut self, at: &Check) -> Result<Seen, String>;
}
