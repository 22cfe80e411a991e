//! Traffic of the applications at the two ends of a flow, and their reading policies.

use std::fmt::Debug;
use std::sync::Arc;

use windlass_cc::{Span, Time, rto};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;

use crate::arrivals::Arrivals;
use crate::dtls::Dtls;
use crate::extension::{Custom, cloneable};
use crate::media::Media;
use crate::random::Stream;
use crate::session::plan::Sessions;

/// Traffic pattern of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// An endless stream, or a number of bytes followed by a close. `from` opens the connection.
    Bulk {
        /// Bytes to send; `None` for no end.
        bytes: Option<u64>,
    },
    /// `to` opens the connection and sends requests, and `from` answers them, as in a download by
    /// FTP or HTTP.
    RequestResponse {
        /// Bytes of a request.
        request: u64,
        /// Bytes of a response.
        response: u64,
        /// Number of successive requests on one connection.
        requests: u32,
        /// Pause between a response and the next request.
        think: Span,
    },
    /// Packets of fixed size at fixed intervals over TCP.
    CbrTcp(Cbr),
    /// Messages over TCP at random times.
    Messages(Arrivals),
    /// Datagrams of fixed size at fixed intervals, without congestion control. They are never
    /// fragmented.
    CbrUdp(Cbr),
    /// CoAP requests over UDP from `from`. `to` answers each request.
    Coap(Coap),
    /// Media over UDP, with the congestion control NADA (RFC 8698).
    Media(Media),
    /// Exchanges of a device over successive connections.
    Sessions(Arc<Sessions>),
    /// An application of another crate, over TCP.
    Custom(Custom<dyn Application>),
}

/// An application that another crate defines, as a configuration holds it in [`Traffic::Custom`].
pub trait Application: Debug + Send + Sync {
    /// Its two ends, at the flow's `from` and `to`. The flow starts at `start`. Each end draws
    /// random values only from its stream.
    fn start(&self, start: Time, streams: [Stream; 2]) -> [Box<dyn ApplicationEnd>; 2];
}

/// State of one end of an application of another crate.
pub trait ApplicationEnd: Debug + Send + Sync + CloneApplicationEnd {
    /// True if this end opens the connection by [`Socket::connect`]. Exactly one end does, and the
    /// other end listens.
    fn opens(&self) -> bool;
    /// Time of the next call of [`act`](ApplicationEnd::act) without an event; [`Time::NEVER`] for
    /// none. After a call, it must be in the future.
    fn deadline(&self) -> Time;
    /// Handles an event at the socket or the deadline. The bytes that it reads count as delivered.
    fn act(&mut self, now: Time, socket: &mut dyn Socket);
    /// True if the last awaited byte has been read. This ends the flow for the results.
    fn is_complete(&self) -> bool;
}

cloneable! {
    /// Copies of a simulation copy their applications. Every [`ApplicationEnd`] that is `Clone`
    /// implements this trait.
    CloneApplicationEnd, ApplicationEnd
}

/// One end of a byte stream as an application sees it: an endpoint, or a multipath connection.
pub trait Socket {
    /// Active open; repeated calls have no effect.
    fn connect(&mut self);
    /// Offers `bytes` more bytes to send.
    fn offer(&mut self, bytes: u64);
    /// Ends the offered data.
    fn close(&mut self);
    /// Bytes that have arrived in order and not been read.
    fn readable(&self) -> u64;
    /// Reads up to `max` bytes, and returns the number of bytes read.
    fn read(&mut self, max: u64) -> u64;
    /// True if the peer has closed and all earlier data has been read.
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
    /// Spread of the time between datagrams. Each time is drawn uniformly from `interval` ±
    /// `spread`; less than `interval`. Zero over TCP.
    pub spread: Span,
    /// Time of the stop.
    pub stop: Time,
    /// Deadline of messages over TCP. Each packet is a message, and the deadline counts from its
    /// writing until it is read completely. `None` to keep no record of deadlines.
    pub deadline: Option<Span>,
}

/// Requests and responses of CoAP over UDP (RFC 7252).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coap {
    /// Due times and payload of requests.
    pub requests: Arrivals,
    /// Payload of a response, bytes.
    pub response: u32,
    /// Bytes of the token that a request and its response carry, up to [`MAX_TOKEN`](Coap::MAX_TOKEN).
    pub token: u32,
    /// Bytes of the options of a request.
    pub options: u32,
    /// True if requests are confirmable. Other requests are sent once and not answered.
    pub confirmable: bool,
    /// Maximum number of open exchanges, NSTART; at least 1.
    pub nstart: u32,
    /// Maximum number of retransmissions per request, MAX_RETRANSMIT.
    pub max_retransmit: u32,
    /// The retransmission timer. Each exchange starts with a copy of its state, draws its random
    /// factor once, and has its own back-off.
    pub timer: rto::AnyParams,
    /// The security layer.
    pub security: Option<Dtls>,
}

impl Traffic {
    /// True if the flow sends datagrams, without a connection.
    pub fn is_datagrams(&self) -> bool {
        matches!(self, Traffic::CbrUdp(_) | Traffic::Coap(_) | Traffic::Media(_))
    }

    /// True if the flow's `to` opens the connections: it sends requests, which `from` answers.
    pub fn to_opens(&self) -> bool {
        match self {
            Traffic::RequestResponse { .. } => true,
            Traffic::Sessions(sessions) => sessions.exchanges.opener() == 1,
            _ => false,
        }
    }
}

impl Coap {
    /// Maximum length of a token, bytes (RFC 7252 section 3).
    pub const MAX_TOKEN: u32 = 8;
    /// Bytes before the token: version, type, length of the token, code, message id.
    const HEADER: u32 = 4;
    /// The byte between options and payload.
    const MARKER: u32 = 1;

    /// Size of a request with this payload as an IP packet, bytes.
    pub fn request_size(&self, payload: u32) -> u32 {
        Coap::message_size(self.token, self.options, payload).saturating_add(self.record())
    }

    /// Size of a response as an IP packet, bytes. A response has no options.
    pub fn response_size(&self) -> u32 {
        Coap::message_size(self.token, 0, self.response).saturating_add(self.record())
    }

    /// Bytes that the security layer adds to a message.
    pub fn record(&self) -> u32 {
        self.security.map_or(0, |dtls| dtls.record)
    }

    /// Size of a flight of a handshake as an IP packet, bytes.
    pub fn flight_size(payload: u32) -> u32 {
        payload.saturating_add(IPV4_HEADER + UDP_HEADER)
    }

    /// Size of a message as an IP packet, bytes: headers of IPv4, UDP and CoAP, token, options,
    /// payload marker and payload.
    pub fn message_size(token: u32, options: u32, payload: u32) -> u32 {
        let marker = if payload > 0 { Coap::MARKER } else { 0 };
        let headers = IPV4_HEADER + UDP_HEADER + Coap::HEADER + marker;
        headers.saturating_add(token).saturating_add(options).saturating_add(payload)
    }
}

/// Reading policy of the receiving application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadPolicy {
    /// Reads all data immediately.
    Immediate,
    /// Reads all data, this long after data became readable.
    Delayed(Span),
    /// Reads at most this number of bytes per second, with at most one segment per read.
    Rate(u64),
}
