//! Connections of quinn and noq as external ends of simulated flows. The client is the flow's sender: it writes one
//! stream, with or without end. The server reads.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use windlass_cc::{Span, Time};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{PacketEnd, Report, packet};
use windlass_tcp::wire::{Addresses, UDP_HEADER, emit_datagram};

/// Bytes of an IPv4 and a UDP header.
const HEADERS: usize = 20 + UDP_HEADER as usize;
/// Bytes that are written at once.
const CHUNK: usize = 65_536;

/// The application of an end, and the values of the end that are reported.
#[derive(Debug, Default)]
struct Application {
    /// Bytes left to write.
    left: u64,
    /// True if the end sends.
    sends: bool,
    values: Report,
}

/// Values of a connection of any library.
struct Values {
    /// True if there is an RTT sample.
    sampled: bool,
    /// Packets considered lost.
    lost: u64,
    cwnd: u64,
    ssthresh: Option<u64>,
    rtt: Duration,
    /// The minimum RTT, if the library reports it.
    min_rtt: Option<Duration>,
}

/// A module for each library. The libraries have a common origin; the arguments are their differences.
macro_rules! library {
    ($name:ident, $proto:ident, $endpoint:expr, $handle:expr, $values:expr, $one:expr) => {
        /// The ends of a connection of this library.
        pub mod $name {
            use super::*;
            use $proto::{
                ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir,
                EcnCodepoint, Endpoint, EndpointConfig, Event, ServerConfig, StreamEvent, StreamId,
                VarInt,
            };

            /// An end of a connection with its application.
            pub struct End {
                /// The library's time at the beginning of the run.
                epoch: Instant,
                addresses: Addresses,
                endpoint: Endpoint,
                /// The client's configuration and the time of its start, until it starts.
                waiting: Option<(Time, ClientConfig)>,
                connection: Option<(ConnectionHandle, Connection)>,
                stream: Option<StreamId>,
                application: Application,
                /// Packets to send, with their ECN fields.
                out: VecDeque<(u8, Vec<u8>)>,
                /// Time of the next action without an arrival.
                due: Time,
                /// True if the values have changed since the last report.
                news: bool,
            }

            impl End {
                fn new(
                    addresses: Addresses,
                    config: EndpointConfig,
                    server: Option<ServerConfig>,
                ) -> End {
                    End {
                        epoch: Instant::now(),
                        addresses,
                        endpoint: $endpoint(config.into(), server.map(Into::into)),
                        waiting: None,
                        connection: None,
                        stream: None,
                        application: Application::default(),
                        out: VecDeque::new(),
                        due: Time::NEVER,
                        news: false,
                    }
                }

                /// The sender of a flow. It connects at `start` and writes `bytes`, or without end.
                pub fn client(
                    addresses: &FlowAddresses,
                    config: EndpointConfig,
                    client: ClientConfig,
                    start: Time,
                    bytes: Option<u64>,
                ) -> End {
                    let left = bytes.unwrap_or(u64::MAX);
                    End {
                        waiting: Some((start, client)),
                        due: start,
                        application: Application { left, sends: true, ..Application::default() },
                        ..End::new(addresses.addresses(true), config, None)
                    }
                }

                /// The receiver of a flow.
                pub fn server(
                    addresses: &FlowAddresses,
                    config: EndpointConfig,
                    server: ServerConfig,
                ) -> End {
                    End::new(addresses.addresses(false), config, Some(server))
                }

                fn instant(&self, now: Time) -> Instant {
                    self.epoch + Duration::from_nanos(now.0)
                }

                fn connect(&mut self, now: Time) {
                    let Some((_, client)) = self.waiting.take_if(|(start, _)| *start <= now) else {
                        return;
                    };
                    let (now, peer) = (self.instant(now), self.addresses.destination.into());
                    match self.endpoint.connect(now, client, peer, "localhost") {
                        Ok(connected) => self.connection = Some(connected),
                        Err(e) => self.application.values.failure = Some(e.to_string()),
                    }
                }

                /// Processes all events that are due, and makes the packets to send.
                fn drive(&mut self, now: Time) {
                    self.connect(now);
                    let instant = self.instant(now);
                    self.due = self.waiting.as_ref().map_or(Time::NEVER, |(start, _)| *start);
                    let Some((handle, connection)) = &mut self.connection else { return };
                    if connection.poll_timeout().is_some_and(|at| at <= instant) {
                        connection.handle_timeout(instant);
                    }
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    let application = &mut self.application;
                    while let Some(event) = connection.poll() {
                        match event {
                            Event::Connected if application.sends => {
                                self.stream = connection.streams().open(Dir::Uni);
                            }
                            Event::Stream(StreamEvent::Opened { .. }) => {
                                self.stream = connection.streams().accept(Dir::Uni);
                            }
                            // All data is acknowledged.
                            Event::Stream(StreamEvent::Finished { .. }) => {
                                connection.close(instant, VarInt::from_u32(0), Bytes::new());
                            }
                            Event::ConnectionLost { reason } => {
                                self.stream = None;
                                application.values.failure = failure(&reason);
                            }
                            _ => {}
                        }
                    }
                    if let Some(stream) = self.stream {
                        let open = match application.sends {
                            true => write(connection, stream, &mut application.left),
                            false => read(connection, stream, &mut application.values, now),
                        };
                        self.stream = Some(stream).filter(|_| open);
                    }
                    let mut packet = Vec::new();
                    while let Some(sent) = connection.poll_transmit(instant, $one, &mut packet) {
                        let ecn = sent.ecn.map_or(0, |ecn| ecn as u8);
                        self.out.push_back((ecn, std::mem::take(&mut packet)));
                    }
                    let since = |at: Instant| at.saturating_duration_since(self.epoch).as_nanos();
                    let timeout = connection.poll_timeout();
                    self.due = timeout.map_or(Time::NEVER, |at| Time(since(at) as u64));
                    self.news = true;
                }
            }

            /// The reason for the end of a connection, unless one of the applications closed it.
            fn failure(reason: &ConnectionError) -> Option<String> {
                let closed = matches!(
                    reason,
                    ConnectionError::LocallyClosed | ConnectionError::ApplicationClosed(_)
                );
                (!closed).then(|| reason.to_string())
            }

            /// Writes data that the library accepts. Returns false after the end of the stream.
            fn write(connection: &mut Connection, stream: StreamId, left: &mut u64) -> bool {
                let chunk = [0; CHUNK];
                while *left > 0 {
                    let part = &chunk[..usize::try_from(*left).map_or(CHUNK, |n| n.min(CHUNK))];
                    match connection.send_stream(stream).write(part) {
                        Ok(written) => *left -= written as u64,
                        Err(_) => return true,
                    }
                }
                let _ = connection.send_stream(stream).finish();
                false
            }

            /// Reads all data that has arrived. Returns false after the end of the stream.
            fn read(
                connection: &mut Connection,
                stream: StreamId,
                values: &mut Report,
                now: Time,
            ) -> bool {
                let mut receive = connection.recv_stream(stream);
                let Ok(mut chunks) = receive.read(true) else { return false };
                let open = loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => values.delivered += chunk.bytes.len() as u64,
                        Ok(None) => {
                            values.completed = Some(now);
                            break false;
                        }
                        Err(_) => break true,
                    }
                };
                let _ = chunks.finalize();
                open
            }

            impl PacketEnd for End {
                fn receive(&mut self, now: Time, packet: &[u8]) {
                    let instant = self.instant(now);
                    let mut answer = Vec::new();
                    let data = BytesMut::from(packet.get(HEADERS..).unwrap_or_default());
                    let Addresses { source, destination, .. } = self.addresses;
                    let ecn = EcnCodepoint::from_bits(packet::ecn(packet) as u8);
                    let path = (destination.into(), source.ip().to_owned().into());
                    let event = $handle(&mut self.endpoint, instant, path, ecn, data, &mut answer);
                    match event {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            if let Some((_, connection)) = &mut self.connection {
                                connection.handle_event(event);
                            }
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            self.connection =
                                self.endpoint.accept(incoming, instant, &mut answer, None).ok();
                        }
                        Some(DatagramEvent::Response(_)) => self.out.push_back((0, answer)),
                        None => {}
                    }
                    self.due = now;
                }

                fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
                    if self.out.is_empty() && self.due <= now {
                        self.drive(now);
                    }
                    let (ecn, payload) = self.out.pop_front()?;
                    let mut bytes = Vec::new();
                    let fill = |room: &mut [u8]| room.copy_from_slice(&payload);
                    emit_datagram(payload.len() as u32, &self.addresses, fill, &mut bytes)
                        .expect("a QUIC packet fits a datagram");
                    packet::set_ecn(&mut bytes, ecn);
                    Some(bytes)
                }

                fn deadline(&mut self, now: Time) -> Time {
                    if self.out.is_empty() { self.due.max(now) } else { now }
                }

                fn report(&mut self) -> Option<Report> {
                    if !std::mem::take(&mut self.news) {
                        return None;
                    }
                    let values = &mut self.application.values;
                    if let Some((_, connection)) = &mut self.connection {
                        let Values { sampled, lost, cwnd, ssthresh, rtt, min_rtt } =
                            $values(connection);
                        let span = |time: Duration| Span(time.as_nanos() as u64);
                        values.retransmits = lost;
                        (values.cwnd, values.ssthresh) = (cwnd, ssthresh);
                        values.srtt = sampled.then(|| span(rtt));
                        values.min_rtt = min_rtt.filter(|_| sampled).map(span);
                    }
                    Some(values.clone())
                }
            }
        }
    };
}

library!(
    quinn,
    quinn_proto,
    |config, server| Endpoint::new(config, server, true, None),
    |endpoint: &mut Endpoint, now, (peer, own): (SocketAddr, IpAddr), ecn, data, answer: &mut _| {
        endpoint.handle(now, peer, Some(own), ecn, data, answer)
    },
    |connection: &mut Connection| {
        let (stats, metrics) = (connection.stats(), connection.congestion_state().metrics());
        Values {
            sampled: stats.frame_rx.acks > 0,
            lost: stats.path.lost_packets,
            cwnd: metrics.congestion_window,
            ssthresh: metrics.ssthresh,
            rtt: stats.path.rtt,
            min_rtt: Some(connection.min_rtt()),
        }
    },
    1
);
library!(
    noq,
    noq_proto,
    |config, server| Endpoint::new(config, server, true),
    |endpoint: &mut Endpoint, now, (peer, own): (SocketAddr, IpAddr), ecn, data, answer: &mut _| {
        let path = noq_proto::FourTuple::new(peer, Some(own));
        endpoint.handle(now, path, ecn, data, answer)
    },
    |connection: &mut Connection| {
        let stats = connection.path_stats(noq_proto::PathId::ZERO).unwrap_or_default();
        let state = connection.congestion_state(noq_proto::PathId::ZERO);
        let metrics = state.map(|state| state.metrics()).unwrap_or_default();
        Values {
            sampled: stats.frame_rx.acks > 0,
            lost: stats.lost_packets,
            cwnd: metrics.congestion_window,
            ssthresh: metrics.ssthresh,
            rtt: stats.rtt,
            min_rtt: None,
        }
    },
    std::num::NonZeroUsize::MIN
);
