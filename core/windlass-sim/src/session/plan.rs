//! Configuration of flows with successive connections.

use windlass_cc::{Span, Time};

use crate::arrivals::Arrivals;
use crate::limits::MAX_SPAN;

/// Traffic of a device that opens connections again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// The exchanges, and the end that begins them.
    pub exchanges: Exchanges,
    /// Number of exchanges on a connection.
    pub connect: Connect,
    /// Dialogues at the beginning of each connection, one after the other.
    pub opening: Vec<Dialogue>,
    /// The dialogue of each exchange.
    pub exchange: Dialogue,
    /// Behaviour after the loss of a connection; `None` to connect only once, or once per message.
    pub reconnect: Option<Reconnect>,
    /// Power cuts of the flow's `from` and `to`, each from … until before …, ascending.
    pub cuts: [Vec<[Time; 2]>; 2],
}

/// The exchanges of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchanges {
    /// Messages at random times. `from` opens the connections.
    Messages(Arrivals),
    /// Requests, each some time after the end of the previous exchange. `to` opens the connections.
    Requests {
        /// Payload of a response, bytes.
        response: u64,
        /// Number of requests.
        requests: u32,
        /// Pause between an exchange and the next.
        think: Span,
    },
}

impl Exchanges {
    /// The end that opens the connections: 0 for the flow's `from`, 1 for its `to`.
    pub const fn opener(&self) -> usize {
        match self {
            Exchanges::Messages(_) => 0,
            Exchanges::Requests { .. } => 1,
        }
    }
}

/// Number of exchanges on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connect {
    /// All exchanges, until the connection is lost.
    Once,
    /// One exchange; then the opener closes.
    PerMessage,
}

impl Connect {
    /// Every rule with its name in scenarios.
    pub const ALL: [(&'static str, Connect); 2] =
        [("once", Connect::Once), ("per-message", Connect::PerMessage)];
}

/// An end of a connection by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Connects, and begins each dialogue.
    Opener,
    /// Waits for connections.
    Listener,
}

/// A list of writes of both ends, in order. Each end writes when the write before is complete.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Dialogue {
    /// The writes; the first is the opener's.
    pub steps: Vec<Step>,
    /// Number of steps after which the opener begins the next dialogue, while the remaining steps
    /// follow on their own.
    pub release: usize,
}

/// A write in a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The end that writes.
    pub by: Side,
    /// Bytes, without the message.
    pub bytes: u64,
    /// True if the message is part of this step.
    pub message: bool,
    /// Bytes that a security layer adds to each record of up to [`Step::RECORD`] bytes.
    pub record: u32,
    /// Time from the end of the step before to this write.
    pub think: Span,
}

impl Step {
    /// Largest content of a record of TLS, bytes (RFC 8446 section 5.1).
    pub const RECORD: u64 = 1 << 14;

    /// Bytes of the write for a message of this size.
    pub const fn size(&self, message: u64) -> u64 {
        let content = self.bytes + if self.message { message } else { 0 };
        content + self.record as u64 * content.div_ceil(Step::RECORD)
    }
}

/// Largest sum of the fixed bytes of a dialogue, and its largest number of steps.
const MAX_BYTES: u64 = 1 << 40;
const MAX_STEPS: usize = 1_000;

impl Dialogue {
    /// A dialogue that the opener leaves after its last step.
    pub fn new(steps: Vec<Step>) -> Dialogue {
        Dialogue { release: steps.len(), steps }
    }

    fn check(&self) -> Result<(), String> {
        let first = self.steps.first().map(|step| step.by);
        if first != Some(Side::Opener) || self.steps.len() > MAX_STEPS {
            return Err(format!(
                "a dialogue has 1 to {MAX_STEPS} steps, and the end that connects writes the first"
            ));
        }
        if self.release == 0 || self.release > self.steps.len() {
            return Err("the opener leaves a dialogue after one of its steps".to_string());
        }
        let empty = |step: &Step| step.bytes == 0 && !step.message;
        let large = |step: &Step| step.bytes > MAX_BYTES || step.think > MAX_SPAN;
        if self.steps.iter().any(|step| empty(step) || large(step)) {
            return Err(format!("a step of a dialogue has 1 to {MAX_BYTES} bytes"));
        }
        Ok(())
    }
}

impl Sessions {
    pub(crate) fn check(&self) -> Result<(), String> {
        self.opening.iter().try_for_each(Dialogue::check)?;
        self.exchange.check()?;
        if self.opening.iter().flat_map(|d| &d.steps).any(|step| step.message)
            || self.exchange.steps.iter().filter(|step| step.message).count() != 1
            || self.exchange.release != self.exchange.steps.len()
        {
            return Err("the message is in one step of the exchange, which is awaited".to_string());
        }
        match &self.exchanges {
            Exchanges::Messages(arrivals) => arrivals.check()?,
            Exchanges::Requests { response, requests, .. } => {
                if *response == 0 || *requests == 0 {
                    return Err("responses and their number must be at least 1".to_string());
                }
            }
        }
        if !self.cuts.iter().all(|cuts| cuts.as_flattened().is_sorted_by(|a, b| a < b)) {
            return Err("power cuts must ascend and not touch".to_string());
        }
        self.reconnect.iter().try_for_each(Reconnect::check)
    }

    /// Time within which an attempt must make a connection ready; `None` for the limits of TCP alone.
    /// Without a rule of reconnection, only an attempt that another can follow has a limit.
    pub(super) fn time_limit(&self) -> Option<Span> {
        let per_message = || (self.connect == Connect::PerMessage).then_some(Reconnect::TIME_LIMIT);
        self.reconnect.map_or_else(per_message, |r| r.timeout)
    }

    /// The dialogue with this number. The dialogues of the opening come before the exchange.
    pub(super) fn dialogue(&self, number: usize) -> &Dialogue {
        self.opening.get(number).unwrap_or(&self.exchange)
    }
}

/// Behaviour of an application after the loss of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// First wait, before its random part.
    pub after: Span,
    /// Longest wait, before its random part.
    pub most: Span,
    /// Factor from each wait to the next, in thousandths; at least 1000.
    pub backoff: u32,
    /// Random part of each wait.
    pub jitter: Spread,
    /// Time for which a connection must have been ready so that the waits begin again at `after`.
    pub reset: Span,
    /// Attempts in a row that may fail before the application gives up; at least 1.
    pub attempts: u32,
    /// Time within which an attempt must make a connection ready; `None` for no limit.
    pub timeout: Option<Span>,
    /// After a power cut, the first attempt is uniformly within this time.
    pub spread: Span,
    /// Messages that wait for a connection; a further message is lost.
    pub queue: u32,
    /// True if messages that a lost connection had not confirmed are sent on the next connection.
    /// Otherwise they are lost.
    pub resend: bool,
    /// True if messages outlast a power cut, and messages that fall due during it wait for its end.
    /// Otherwise they are lost.
    pub stored: bool,
}

/// Random part of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// None: the wait itself.
    None,
    /// Uniform from zero to the wait.
    Full,
    /// Uniform from half the wait to the wait.
    Equal,
    /// Uniform from the first wait to three times the previous wait, and at most the longest wait.
    Decorrelated,
    /// Uniform from this share below the wait, in millionths, to the wait.
    Below(u32),
}

/// Most of a share, in millionths.
pub(super) const WHOLE: u32 = 1_000_000;

impl Reconnect {
    /// Factor of 1, which keeps the wait.
    pub const STEADY: u32 = 1_000;

    /// Default of `timeout`. Published clients allow 10 s (TLS in aws-c-io) to 30 s (CONNACK in
    /// Azure's SDK for C, connect in Paho for Go), which the slowest cellular radios exceed.
    pub const TIME_LIMIT: Span = Span::from_secs(60);

    fn check(&self) -> Result<(), String> {
        if self.most < self.after {
            return Err("the longest wait must not be below the first wait".to_string());
        }
        if self.backoff < Reconnect::STEADY || self.attempts == 0 {
            return Err("waits do not shrink, and at least 1 attempt may fail".to_string());
        }
        if self.most > MAX_SPAN || self.spread > MAX_SPAN || self.timeout == Some(Span::ZERO) {
            return Err("times must be at most 73 years, and a time limit above zero".to_string());
        }
        match self.jitter {
            Spread::Below(share) if share > WHOLE => Err("a share is at most 1".to_string()),
            _ => Ok(()),
        }
    }
}
