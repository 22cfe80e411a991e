//! One end of a flow: an endpoint with its application, or a source or sink of datagrams.

use windlass_cc::Time;
use windlass_tcp::Endpoint;

use crate::app::App;
use crate::config::Cbr;

/// One end of a flow.
#[derive(Clone, Debug)]
pub struct Host {
    /// The moment of the pending event; others that fire are stale.
    pub armed: Time,
    /// Where its packets begin in the table of routes.
    pub route: u32,
    /// What it is.
    pub kind: Kind,
}

/// What a host is.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // nearly all hosts are TCP
pub enum Kind {
    /// A TCP endpoint and its application.
    Tcp {
        /// The endpoint.
        endpoint: Endpoint,
        /// The application.
        app: App,
    },
    /// A source of datagrams.
    DatagramSource {
        /// Size and interval.
        cbr: Cbr,
        /// When the next one leaves.
        next: Time,
        /// Datagrams sent.
        sent: u64,
    },
    /// A sink of datagrams.
    DatagramSink {
        /// Payload bytes received.
        bytes: u64,
        /// When the last one came.
        last: Time,
    },
}

impl Host {
    /// When the host must be looked after next.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.kind {
            Kind::Tcp { endpoint, app } => endpoint.deadline().min(app.deadline()),
            Kind::DatagramSource { next, .. } => *next,
            Kind::DatagramSink { .. } => Time::NEVER,
        }
    }
}
