//! Record of the connections and messages of a flow, for explanations.

use windlass_cc::{Span, Time};

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Time of the event.
    pub time: Time,
    /// Number of the connection, from 0. Its low 16 bits are the `attempt` of its packets.
    pub connection: u32,
    /// Kind of the event.
    pub what: What,
}

/// Kind of an event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The end that connects sends its SYN.
    Begun,
    /// The dialogues at the beginning of the connection are complete.
    Ready,
    /// The retransmission timer of the end that connects expires, after this time.
    Timeout(Span),
    /// The connection is lost, for this reason.
    Lost(&'static str),
    /// The message with this number, from 0, is written as these bytes of the stream.
    Written {
        /// Number of the message.
        message: u64,
        /// Offsets of its first byte, and of the byte after its last byte.
        range: [u64; 2],
    },
    /// The message with this number, from 0, is complete at the receiver for the first time.
    Arrived {
        /// Number of the message.
        message: u64,
    },
}
