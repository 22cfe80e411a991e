//! Losses of connections and their causes.

use windlass_cc::Time;
use windlass_tcp::Failure;

/// Cause of the loss of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A SYN or SYN-ACK had no answer.
    NoAnswer,
    /// Data, or probes of a closed window, had no acknowledgement.
    Unacknowledged,
    /// The peer sent a reset.
    Reset,
    /// The node lost its power.
    PowerCut,
    /// The connection was not ready, or a message had no answer, within the time limit of the
    /// application.
    TimeLimit,
    /// A FIN had no acknowledgement, after all data had been acknowledged. The exchange was
    /// complete.
    Unclosed,
}

impl Cause {
    pub(super) const fn of(failure: Failure) -> Cause {
        match failure {
            Failure::ConnectTimeout => Cause::NoAnswer,
            Failure::DataTimeout | Failure::ProbeTimeout => Cause::Unacknowledged,
            Failure::FinTimeout => Cause::Unclosed,
            Failure::Reset => Cause::Reset,
            Failure::Aborted => Cause::TimeLimit,
        }
    }
}

/// The loss of a connection, as one end noticed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// The connection.
    pub(crate) number: u32,
    pub(crate) at: Time,
    pub(crate) cause: Cause,
    /// The cause as a phrase.
    pub(crate) text: &'static str,
}

/// Phrase for the loss of power.
pub(super) const POWER_CUT: &str = "the node lost its power";
/// Phrase for a message without an answer.
pub(super) const NO_ANSWER: &str = "a message had no answer within `timeout`";
/// Phrase for an attempt that took too long.
pub(super) const TIME_LIMIT: &str = "the connection was not ready within `timeout`";

/// The losses that both ends noticed, each connection once: by the end that noticed it first.
pub(crate) fn merged(ends: [&[Loss]; 2]) -> Vec<(usize, &Loss)> {
    let mut all: Vec<(usize, &Loss)> = ends
        .iter()
        .enumerate()
        .flat_map(|(end, l)| l.iter().map(move |loss| (end, loss)))
        .collect();
    all.sort_by_key(|(end, loss)| (loss.number, loss.at, *end));
    all.dedup_by_key(|(_, loss)| loss.number);
    all.sort_by_key(|(end, loss)| (loss.at, *end, loss.number));
    all
}
