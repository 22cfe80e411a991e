//! What the applications at the two ends of a flow send and how they read.

use windlass_cc::{Span, Time};

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// As much as goes, or so many bytes and then a close. `from` opens the connection.
    Bulk {
        /// Bytes to send; `None` for no end.
        bytes: Option<u64>,
    },
    /// `to` opens the connection and asks, `from` answers, like a download by FTP or HTTP.
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// How many, one after the other, on one connection.
        requests: u32,
        /// Pause between a response and the next request.
        think: Span,
    },
    /// A packet of fixed size at fixed intervals over TCP.
    CbrTcp(Cbr),
    /// A datagram of fixed size at fixed intervals, without any control. It is never fragmented.
    CbrUdp(Cbr),
}

/// Constant bit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cbr {
    /// Payload of a packet, bytes; at least 1.
    pub packet: u64,
    /// Time between packets; at least a nanosecond.
    pub interval: Span,
    /// When to stop.
    pub stop: Time,
    /// Over TCP: each packet is a message that the receiving application should have read whole so
    /// long after it was written; `None` to keep no account of that.
    pub deadline: Option<Span>,
}

/// How the receiving application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPolicy {
    /// At once.
    Immediate,
    /// Everything, this long after data became readable.
    Delayed(Span),
    /// At most so many bytes per second, in reads of up to one segment.
    Rate(u64),
}
