//! The traffic of a flow in its resolved form.

use windlass_cc::{Span, rto};
use windlass_sim::arrivals::Law;

use crate::presets::DtlsPreset;

/// The data that the applications of a flow send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A transfer as fast as the connection allows.
    Bulk {
        /// Bytes to send; `None` for a transfer without an end.
        bytes: Option<u64>,
    },
    /// `to` connects and sends requests, `from` responds. The last response closes the connection.
    RequestResponse {
        /// Bytes of each request.
        request: u64,
        /// Bytes of each response.
        response: u64,
        /// Number of requests.
        requests: u32,
        /// Time from the end of a response to the next request.
        think: Span,
    },
    /// Packets at equal intervals.
    Cbr {
        /// Payload rate in bits per second.
        rate_bps: u64,
        /// Payload of each packet, bytes.
        packet: u32,
        /// For datagrams: maximum deviation of the time between two packets from its mean.
        spread: Span,
        /// The transport protocol.
        transport: Transport,
        /// Simulated time of the last packet; `None` for the end of the run.
        stop: Option<Span>,
        /// For TCP: time within which the other application should read a packet.
        deadline: Option<Span>,
    },
    /// Messages over TCP at random times.
    Messages {
        /// Mean time from one to the next.
        every: Span,
        /// Distribution of these times.
        gaps: Law,
        /// Mean size, bytes.
        size: u64,
        /// Distribution of the sizes.
        sizes: Law,
        /// Shape of Pareto distributions, in thousandths.
        shape: u32,
        /// Largest size, bytes.
        most: u64,
        /// Mean lengths of the phases of sending and of silence.
        phases: Option<[Span; 2]>,
        /// Simulated time of the end, `None` for the end of the run.
        stop: Option<Span>,
        /// Time within which the other application should read a message.
        deadline: Option<Span>,
    },
    /// Requests of CoAP over UDP, at random or constant intervals.
    Coap(Coap),
    /// Media over UDP with NADA.
    Media(Media),
}

/// Media over UDP with the congestion control NADA (RFC 8698).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Payload of each packet, bytes.
    pub packet: u32,
    /// Minimum rate of the payload, bits per second.
    pub min_rate_bps: u64,
    /// Maximum rate of the payload, bits per second.
    pub max_rate_bps: u64,
    /// True if queues may mark the packets.
    pub ecn: bool,
    /// Simulated time of the end, `None` for the end of the run.
    pub stop: Option<Span>,
}

/// Requests and responses of CoAP over UDP (RFC 7252): `from` sends requests, `to` responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coap {
    /// Mean time from one request to the next.
    pub every: Span,
    /// Distribution of these times.
    pub gaps: Law,
    /// Shape of a Pareto distribution, in thousandths.
    pub shape: u32,
    /// Payload of a request, bytes.
    pub size: u32,
    /// Payload of a response, bytes; may be 0.
    pub response: u32,
    /// Bytes of the token.
    pub token: u32,
    /// Bytes of the options of a request.
    pub options: u32,
    /// True if requests are confirmable.
    pub confirmable: bool,
    /// Maximum number of open exchanges.
    pub nstart: u32,
    /// Maximum number of retransmissions of a request.
    pub max_retransmit: u32,
    /// The retransmission timer.
    pub timer: rto::AnyParams,
    /// The security layer.
    pub security: Option<&'static DtlsPreset>,
    /// True for a handshake before each request, with a security layer.
    pub per_request: bool,
    /// Mean lengths of the phases of sending and of silence.
    pub phases: Option<[Span; 2]>,
    /// Simulated time of the end, `None` for the end of the run.
    pub stop: Option<Span>,
    /// Time within which a request should arrive at the server.
    pub deadline: Option<Span>,
}

impl Traffic {
    /// True if the traffic can use successive connections.
    pub fn can_reconnect(&self) -> bool {
        matches!(self, Traffic::Messages { .. } | Traffic::RequestResponse { .. })
    }

    /// True if the flow sends datagrams, without a connection.
    pub fn is_datagrams(&self) -> bool {
        matches!(
            self,
            Traffic::Cbr { transport: Transport::Udp, .. } | Traffic::Coap(_) | Traffic::Media(_)
        )
    }

    /// Simulated time at which the traffic stops, if the scenario sets it.
    pub fn stop(&self) -> Option<Span> {
        match *self {
            Traffic::Cbr { stop, .. } | Traffic::Messages { stop, .. } => stop,
            Traffic::Coap(coap) => coap.stop,
            Traffic::Media(media) => media.stop,
            Traffic::Bulk { .. } | Traffic::RequestResponse { .. } => None,
        }
    }

    /// Time within which each message should be read.
    pub fn deadline(&self) -> Option<Span> {
        match *self {
            Traffic::Cbr { deadline, .. } | Traffic::Messages { deadline, .. } => deadline,
            Traffic::Coap(coap) => coap.deadline,
            Traffic::Bulk { .. } | Traffic::RequestResponse { .. } | Traffic::Media(_) => None,
        }
    }
}

/// Transport protocol of constant-bit-rate traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// A TCP connection; packets are written to it as they fall due.
    Tcp,
    /// UDP datagrams.
    Udp,
}

impl Transport {
    /// Every transport with its name in scenarios.
    pub const ALL: [(&'static str, Transport); 2] =
        [("tcp", Transport::Tcp), ("udp", Transport::Udp)];
}

/// The way in which the receiving application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Immediately.
    Immediate,
    /// All readable data, this long after data became readable.
    Delayed {
        /// More than zero.
        after: Span,
    },
    /// At this rate.
    Rate {
        /// Bits per second, more than zero.
        rate_bps: u64,
    },
}
