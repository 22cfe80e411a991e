//! What the application of an end does, step by step, whichever stack is below it.

use windlass_cc::{Span, Time};

use super::host::Host;
use windlass_testbed::live::Error;

/// A step of an application. Steps follow each other as each is done; reading goes on meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Awaits connections from now on; done at once.
    Listen,
    /// Opens a connection; done at once. A former connection must be over.
    Connect,
    /// Done when the connection with this number, from 1, is open.
    Open(u32),
    /// Offers this number of bytes more; done at once.
    Send(u64),
    /// Done when the application has read this number of bytes of this connection.
    Received(u64),
    /// Done when the peer has closed and all before that has been read.
    End,
    /// Closes the sending side once all that was offered is sent; done at once.
    Close,
    /// Drops the connection with a reset.
    Abort,
    /// Forgets the connection without a word, as a machine does that loses power.
    Vanish,
    /// Reads no more until told to.
    StopReading,
    /// Reads again.
    Read,
    /// Done when so much time has passed.
    Pause(Span),
    /// Done when the run is so old.
    Until(Time),
    /// Done when the connection is over in an orderly way; TIME-WAIT counts.
    Over,
    /// Done when the peer's reset has ended the connection.
    Reset,
}

/// An application as it goes through its script.
#[derive(Debug)]
pub(super) struct Actor {
    steps: Vec<Step>,
    at: usize,
    /// When the present step began, once it has.
    since: Option<Time>,
}

impl Actor {
    pub fn new(steps: Vec<Step>) -> Actor {
        Actor { steps, at: 0, since: None }
    }

    /// The step that is waited for, `None` when all are done.
    pub fn waits_for(&self) -> Option<Step> {
        self.steps.get(self.at).copied()
    }

    /// When to look again, whatever the stack says.
    pub fn deadline(&self) -> Time {
        match (self.waits_for(), self.since) {
            (Some(Step::Pause(span)), Some(since)) => since + span,
            (Some(Step::Until(time)), _) => time,
            _ => Time::NEVER,
        }
    }

    /// Goes as far as it can. Returns whether a step was done.
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

/// Does a step, or finds whether what it waits for has come.
fn do_step(step: Step, since: Time, now: Time, host: &mut dyn Host) -> Result<bool, Error> {
    let standing = host.standing();
    Ok(match step {
        Step::Open(number) => standing.opened >= number,
        Step::Received(bytes) => standing.received >= bytes,
        Step::End => standing.at_end,
        Step::Pause(span) => now >= since + span,
        Step::Until(time) => now >= time,
        Step::Over => standing.over && !standing.reset,
        Step::Reset => standing.reset,
        act => {
            match act {
                Step::Listen => host.listen()?,
                Step::Connect => host.connect()?,
                Step::Send(bytes) => host.offer(bytes),
                Step::Close => host.close(),
                Step::Abort => host.abort()?,
                Step::Vanish => host.vanish()?,
                Step::StopReading => host.set_reading(false),
                _ => host.set_reading(true),
            }
            true
        }
    })
}
