//! What the applications at the two ends of a flow send and how they read.

use std::fmt::Debug;

use windlass_cc::{Span, Time};

use crate::arrivals::Arrivals;
use crate::extension::{Custom, cloneable};
use crate::random::Stream;

/// What a flow sends.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Messages over TCP that fall due at random.
    Messages(Arrivals),
    /// A datagram of fixed size at fixed intervals, without any control. It is never fragmented.
    CbrUdp(Cbr),
    /// What an application of another crate does, over TCP.
    Custom(Custom<dyn Application>),
}

/// An application that another crate defines, as a configuration holds it in [`Traffic::Custom`].
pub trait Application: Debug + Send + Sync {
    /// Its two ends, at the flow's `from` and `to`. The flow starts at `start`; each draws from its own of these streams
    /// and from nothing else.
    fn start(&self, start: Time, streams: [Stream; 2]) -> [Box<dyn ApplicationEnd>; 2];
}

/// One end of an application of another crate at work.
pub trait ApplicationEnd: Debug + Send + Sync + CloneApplicationEnd {
    /// Whether this end opens the connection, by [`Socket::connect`]: one of the two does, and the other one listens.
    fn opens(&self) -> bool;
    /// When [`act`](ApplicationEnd::act) is to be called though nothing has happened, [`Time::NEVER`] for not at all; once it has
    /// been, in the future.
    fn deadline(&self) -> Time;
    /// Something has happened at its socket, or its deadline has come. What it reads counts as delivered to it.
    fn act(&mut self, now: Time, socket: &mut dyn Socket);
    /// Whether the last awaited byte has been read, which ends the flow for the results.
    fn is_complete(&self) -> bool;
}

cloneable! {
    /// That a copy of a simulation goes on by itself: whatever is an [`ApplicationEnd`] and `Clone` has it.
    CloneApplicationEnd, ApplicationEnd
}

/// One end of a byte stream as an application sees it: an endpoint, or a connection over several.
pub trait Socket {
    /// Active open; does nothing from the second time on.
    fn connect(&mut self);
    /// Offers so many bytes more to send.
    fn offer(&mut self, bytes: u64);
    /// No more will be offered.
    fn close(&mut self);
    /// Bytes that have arrived in order and not been read.
    fn readable(&self) -> u64;
    /// Reads up to `max` bytes; returns how many.
    fn read(&mut self, max: u64) -> u64;
    /// Whether the peer has closed and everything before that has been read.
    fn at_end(&self) -> bool;
    /// Payload of a full segment, bytes.
    fn mss(&self) -> u32;
}

/// Constant bit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cbr {
    /// Payload of a packet, bytes; at least 1.
    pub packet: u64,
    /// Time between packets; at least a nanosecond.
    pub interval: Span,
    /// Of datagrams: each time between two is up to so much shorter or longer, drawn evenly; less
    /// than `interval`.
    pub spread: Span,
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
