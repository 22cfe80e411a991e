//! One end of a flow: an endpoint with its application, a source or sink of datagrams, or an
//! external end.

use windlass_cc::{Span, Time};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;
use windlass_tcp::{Endpoint, State};

use crate::app::App;
use crate::coap::{Client, Server};
use crate::external::Report;
use crate::media;
use crate::multipath::MultipathEnd;
use crate::random::{Purpose, Stream};
use crate::session::SessionEnd;
use crate::traffic::Cbr;

/// One end of a flow.
#[derive(Clone, Debug)]
pub struct Host {
    /// Times of the two earliest pending events. With two, a short timer that is set before a long
    /// timer keeps the event of the long timer in use. The event queue then does not fill with
    /// obsolete events.
    armed: [Time; 2],
    /// First hop of its packets in the route table.
    pub route: u32,
    /// Index of its stack and algorithm in the simulation's table of profiles.
    pub profile: u32,
    /// Kind of the host.
    pub kind: Kind,
}

/// Kind of a host.
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
    DatagramSource(DatagramSource),
    /// A sink of datagrams.
    DatagramSink {
        /// Payload bytes received.
        bytes: u64,
        /// Arrival time of the last datagram.
        last: Time,
    },
    /// A CoAP client.
    CoapClient(Box<Client>),
    /// A CoAP server.
    CoapServer(Box<Server>),
    /// The end of a media flow that sends media.
    MediaSource(Box<media::Source>),
    /// The end of a media flow that receives media.
    MediaSink(Box<media::Sink>),
    /// An end of a multipath connection, whose packets leave and arrive at its ports.
    Multipath(Box<MultipathEnd>),
    /// An end of a flow with successive connections.
    Session(Box<SessionEnd>),
    /// The port at which packets of one path of a multipath connection arrive.
    Port {
        /// The host of the connection's end.
        owner: u32,
        /// The path, from 0.
        path: u32,
    },
    /// An external end, such as a kernel's, or its gate to a path: see [`crate::external`].
    External {
        /// The host of the end.
        owner: u32,
        /// Packets injected here.
        sent: Sent,
        /// The latest report of the end, if it reports.
        report: Option<Box<Report>>,
    },
}

/// A source of datagrams at a constant rate.
#[derive(Clone, Debug)]
pub struct DatagramSource {
    /// Size and interval.
    pub cbr: Cbr,
    /// Departure time of the next datagram.
    next: Time,
    /// Datagrams sent.
    pub sent: u64,
    /// Pauses that have not begun, in reverse order of time.
    pauses: Vec<[Time; 2]>,
    /// Draws the times between datagrams, if they vary.
    stream: Stream,
}

impl DatagramSource {
    /// A source at the host with this number, in a run with this seed. It begins at `start`. The
    /// pauses are in ascending order.
    pub fn new(
        cbr: Cbr,
        start: Time,
        pauses: &[[Time; 2]],
        seed: u64,
        host: u32,
    ) -> DatagramSource {
        let pauses = pauses.iter().rev().copied().collect();
        let stream = Stream::new(seed, u64::from(host), Purpose::Datagrams);
        DatagramSource { cbr, next: start, sent: 0, pauses, stream }
    }

    /// Time at which the next datagram leaves, or a pause may begin or end.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Draws the time to the next datagram.
    fn interval(&mut self) -> Span {
        let Cbr { interval, spread, .. } = self.cbr;
        if spread == Span::ZERO {
            return interval;
        }
        let drawn = self.stream.next_u64() % (2 * spread.0 + 1);
        Span(interval.0 - spread.0 + drawn)
    }

    /// The datagram that is due: its payload and its size as an IP packet, bytes.
    pub fn poll(&mut self, now: Time) -> Option<(u32, u32)> {
        if now < self.next {
            return None;
        }
        if now >= self.cbr.stop {
            self.next = Time::NEVER;
            return None;
        }
        while let Some([_, until]) = self.pauses.pop_if(|[from, _]| *from <= now) {
            self.next = until;
            if now < until {
                return None;
            }
        }
        self.next = now + self.interval();
        self.sent += 1;
        let len = self.cbr.packet as u32;
        Some((len, IPV4_HEADER + UDP_HEADER + len))
    }
}

/// True if a connection awaits an acknowledgement or the FIN of the peer.
fn is_open(endpoint: &Endpoint) -> bool {
    endpoint.has_outstanding() || endpoint.state() == State::FinWait2
}

/// Packets that an end has sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Packets of any kind.
    pub packets: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Payload, bytes, including retransmissions.
    pub data_bytes: u64,
}

impl Host {
    /// A host without a pending event.
    pub fn new(route: u32, profile: u32, kind: Kind) -> Host {
        Host { armed: [Time::NEVER; 2], route, profile, kind }
    }

    /// The report of an external end, if it reports.
    pub(crate) fn report(&self) -> Option<&Report> {
        match &self.kind {
            Kind::External { report, .. } => report.as_deref(),
            _ => None,
        }
    }

    /// Starts the record of decisions of its endpoints.
    pub(crate) fn keep_journal(&mut self) {
        match &mut self.kind {
            Kind::Tcp { endpoint, .. } => endpoint.keep_journal(),
            Kind::Multipath(end) => end.connection.keep_journals(),
            Kind::Session(end) => end.keep_journal(),
            _ => {}
        }
    }

    /// Starts the record of the events of successive connections.
    pub(crate) fn keep_notes(&mut self) {
        if let Kind::Session(end) = &mut self.kind {
            end.keep_notes();
        }
    }

    /// True if the host awaits an answer: it has unacknowledged data or an unanswered request, or
    /// it has closed and the peer has not.
    pub fn expects_answer(&self) -> bool {
        match &self.kind {
            Kind::Tcp { endpoint, app } => app.awaits_response() || is_open(endpoint),
            Kind::Multipath(end) => {
                let connection = &end.connection;
                let mut paths = (0..connection.paths()).map(|path| connection.subflow(path));
                end.app.awaits_response() || paths.any(is_open)
            }
            Kind::CoapClient(client) => client.has_open(),
            Kind::Session(end) => end.expects_answer(is_open),
            _ => false,
        }
    }

    /// Time of the event to schedule, or `None` if an event is already pending before the deadline.
    #[inline]
    pub fn arm(&mut self, now: Time) -> Option<Time> {
        let deadline = self.deadline();
        if deadline >= self.armed[0] {
            return None;
        }
        let at = deadline.max(now);
        self.armed = [at, self.armed[0]];
        Some(at)
    }

    /// Handles an event of the host. Returns true if the event is not obsolete.
    #[inline]
    pub fn disarm(&mut self, now: Time) -> bool {
        let counts = self.armed[0] == now;
        if counts {
            self.armed = [self.armed[1], Time::NEVER];
        }
        counts
    }

    /// Time at which the host must be served next.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.kind {
            Kind::Tcp { endpoint, app } => endpoint.deadline().min(app.deadline()),
            Kind::DatagramSource(source) => source.next,
            Kind::Multipath(end) => end.connection.deadline().min(end.app.deadline()),
            Kind::CoapClient(client) => client.deadline(),
            Kind::MediaSource(source) => source.deadline(),
            Kind::MediaSink(sink) => sink.deadline(),
            Kind::Session(end) => end.deadline(),
            Kind::DatagramSink { .. }
            | Kind::CoapServer(_)
            | Kind::Port { .. }
            | Kind::External { .. } => Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times between 1000 datagrams, microseconds.
    fn gaps(spread_us: u64, seed: u64) -> Vec<u64> {
        let cbr = Cbr {
            packet: 972,
            interval: Span::from_micros(8_000),
            spread: Span::from_micros(spread_us),
            stop: Time::NEVER,
            deadline: None,
        };
        let mut source = DatagramSource::new(cbr, Time::ZERO, &[], seed, 2);
        let mut at = Time::ZERO;
        (0..1000)
            .map(|_| {
                assert!(source.poll(at).is_some());
                let gap = source.next.since(at);
                at = source.next;
                gap.0 / 1000
            })
            .collect()
    }

    #[test]
    fn spread_datagrams_keep_their_mean_rate_and_differ_by_seed_alone() {
        assert_eq!(gaps(0, 1), vec![8_000; 1000]);
        let some = gaps(4_000, 1);
        assert!(some.iter().all(|gap| (4_000..=12_000).contains(gap)));
        assert!(some.iter().any(|gap| *gap < 4_500) && some.iter().any(|gap| *gap > 11_500));
        let mean = some.iter().sum::<u64>() / 1000;
        assert!((7_750..8_250).contains(&mean), "{mean}");
        assert_eq!(gaps(4_000, 1), some);
        assert_ne!(gaps(4_000, 2), some);
    }
}
