//! What the applications at the two ends of a flow send and how they read.

use std::fmt::Debug;

use windlass_cc::{Span, Time, rto};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;

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
    /// Requests of CoAP over UDP, from `from`, each answered by `to`.
    Coap(Coap),
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

/// Requests and responses of CoAP over UDP (RFC 7252).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coap {
    /// When requests fall due, and their payload.
    pub requests: Arrivals,
    /// Payload of a response, bytes.
    pub response: u32,
    /// Bytes of the token that a request and its response carry, up to [`MAX_TOKEN`](Coap::MAX_TOKEN).
    pub token: u32,
    /// Bytes of the options of a request.
    pub options: u32,
    /// Whether requests are confirmable; others are sent once and not answered.
    pub confirmable: bool,
    /// Exchanges open at a time, NSTART; at least 1.
    pub nstart: u32,
    /// Retransmissions of a request before it is given up, MAX_RETRANSMIT.
    pub max_retransmit: u32,
    /// The retransmission timer. Each exchange begins with what it knows, draws its random factor once and backs off by itself.
    pub timer: rto::AnyParams,
}

impl Coap {
    /// Longest token, bytes (RFC 7252 section 3).
    pub const MAX_TOKEN: u32 = 8;
    /// Bytes before the token: version, type, length of the token, code, message id.
    const HEADER: u32 = 4;
    /// The byte that parts options and payload.
    const MARKER: u32 = 1;

    /// A request with so many bytes of payload as an IP packet, bytes.
    pub fn request_size(&self, payload: u32) -> u32 {
        Coap::message_size(self.token, self.options, payload)
    }

    /// A response as an IP packet, bytes. It has no options.
    pub fn response_size(&self) -> u32 {
        Coap::message_size(self.token, 0, self.response)
    }

    /// A message as an IP packet, bytes: headers of IPv4, UDP and CoAP, token, options, and the payload after its marker.
    pub fn message_size(token: u32, options: u32, payload: u32) -> u32 {
        let marker = if payload > 0 { Coap::MARKER } else { 0 };
        let headers = IPV4_HEADER + UDP_HEADER + Coap::HEADER + marker;
        headers.saturating_add(token).saturating_add(options).saturating_add(payload)
    }
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
