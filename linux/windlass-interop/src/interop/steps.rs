//! Steps of an end's application, which are independent of the stack.

use windlass_cc::{Span, Time};

use super::host::Host;
use windlass_testbed::live::Error;

/// A step of an application. Each step starts when the step before is done; reading continues in parallel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Starts to accept connections; done immediately.
    Listen,
    /// Opens a connection; done immediately. The previous connection must be over.
    Connect,
    /// Done when the connection with this number, from 1, is open.
    Open(u32),
    /// Offers this number of additional bytes; done immediately.
    Write(u64),
    /// Done when the application has read this number of bytes of this connection.
    Received(u64),
    /// Done when the peer has closed, and everything before that has been read.
    Eof,
    /// Closes the sending side after all offered bytes; done immediately.
    Shutdown,
    /// Drops the connection with a reset.
    Abort,
    /// Deletes the connection without sending a packet, like a machine that loses power.
    Vanish,
    /// Stops reading until the step `Resume`.
    Pause,
    /// Resumes reading.
    Resume,
    /// Done after this time.
    Wait(Span),
    /// Done at this time of the run.
    Until(Time),
    /// Done when the connection has ended in an orderly way; TIME-WAIT counts.
    Closed,
    /// Done when the peer's reset has ended the connection.
    Reset,
}

/// An application, with its position in its steps.
#[derive(Debug)]
pub(super) struct Actor {
    steps: Vec<Step>,
    at: usize,
    /// Start time of the present step, after its start.
    since: Option<Time>,
}

impl Actor {
    pub fn new(steps: Vec<Step>) -> Actor {
        Actor { steps, at: 0, since: None }
    }

    /// Returns the step that the application waits for, `None` after the last step.
    pub fn waits_for(&self) -> Option<Step> {
        self.steps.get(self.at).copied()
    }

    /// Returns the time of the next check if the stack has no event.
    pub fn deadline(&self) -> Time {
        match (self.waits_for(), self.since) {
            (Some(Step::Wait(span)), Some(since)) => since + span,
            (Some(Step::Until(time)), _) => time,
            _ => Time::NEVER,
        }
    }

    /// Does all steps that are possible now. Returns true if a step was done.
    pub fn advance(&mut self, now: Time, host: &mut dyn Host) -> Result<bool, Error> {
        let from = self.at;
        while let Some(step) = self.waits_for() {
            let since = *self.since.get_or_insert(now);
            if !do_step(step, since, now, host)? {
                break;
            }
            self.at += 1;
            self.since = None;
        }
        Ok(self.at > from)
    }
}

/// Does a step, or checks whether its condition is fulfilled.
fn do_step(step: Step, since: Time, now: Time, host: &mut dyn Host) -> Result<bool, Error> {
    let standing = host.standing();
    Ok(match step {
        Step::Open(number) => standing.opened >= number,
        Step::Received(bytes) => standing.received >= bytes,
        Step::Eof => standing.at_end,
        Step::Wait(span) => now >= since + span,
        Step::Until(time) => now >= time,
        Step::Closed => standing.over && !standing.reset,
        Step::Reset => standing.reset,
        act => {
            match act {
                Step::Listen => host.listen()?,
                Step::Connect => host.connect()?,
                Step::Write(bytes) => host.offer(bytes),
                Step::Shutdown => host.close(),
                Step::Abort => host.abort()?,
                Step::Vanish => host.vanish()?,
                Step::Pause => host.set_reading(false),
                _ => host.set_reading(true),
            }
            true
        }
    })
}
