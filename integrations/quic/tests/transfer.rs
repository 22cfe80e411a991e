//! Two endpoints of quinn or noq over a link in virtual time. They transfer a file with the library's controller and
//! with Windlass's, with the same packets lost.

mod common;

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use common::{FILE, Link, OURS, Outcome, show};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use windlass_cc::AnyParams;
use windlass_quic::adapter::Congestion;
use windlass_quic::{Adapter, Factory, Shared};

const LONGEST: Duration = Duration::from_secs(120);

/// One direction, with the packets in transit.
struct Pipe {
    link: Link,
    inside: VecDeque<(Instant, Vec<u8>)>,
}

impl Pipe {
    fn new(now: Instant, loses: bool) -> Pipe {
        Pipe { link: Link::new(now, loses), inside: VecDeque::new() }
    }

    fn offer(&mut self, now: Instant, packet: Vec<u8>) {
        if let Some(at) = self.link.offer(now, packet.len()) {
            self.inside.push_back((at, packet));
        }
    }

    fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        let ready = self.inside.front().is_some_and(|(at, _)| *at <= now);
        if ready { self.inside.pop_front().map(|(_, packet)| packet) } else { None }
    }
}

const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 1);

/// The server's address on a route.
fn server_at(route: usize) -> SocketAddr {
    SocketAddr::new(Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0, 2 + route as u16).into(), 2)
}

fn route_of(server: IpAddr) -> usize {
    (0..).find(|route| server_at(*route).ip() == server).expect("an address of the server's")
}

fn certificate() -> (CertificateDer<'static>, PrivateKeyDer<'static>, Arc<RootCertStore>) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    (made.cert.der().clone(), key, Arc::new(roots))
}

/// A module for each library. The libraries have a common origin; the arguments are their differences.
macro_rules! library {
    ($name:ident, $proto:ident, $endpoint:expr, $handle:expr, $path:expr, $open:expr, $one:expr) => {
        mod $name {
            use super::*;
            use $proto::congestion::ControllerFactory;
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint,
                EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig,
                VarInt,
            };

            struct Side {
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                serves: bool,
            }

            impl Side {
                fn receive(&mut self, now: Instant, route: usize, packet: Vec<u8>, out: &mut Pipe) {
                    let mut answer = Vec::new();
                    let data = BytesMut::from(packet.as_slice());
                    let (client, server) = (CLIENT, server_at(route));
                    let (peer, own) = if self.serves { (client, server) } else { (server, client) };
                    let path = $path(peer, own.ip());
                    let event = $handle(&mut self.endpoint, now, path, data, &mut answer);
                    match event {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            if let Some((_, connection)) = &mut self.connection {
                                connection.handle_event(event);
                            }
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            let made = self.endpoint.accept(incoming, now, &mut answer, None);
                            self.connection = made.ok();
                        }
                        Some(DatagramEvent::Response(_)) => out.offer(now, answer),
                        None => {}
                    }
                }

                /// Processes all events that are due, and sends packets.
                fn drive(&mut self, now: Instant, routes: &mut [[Pipe; 2]]) {
                    let Some((handle, connection)) = &mut self.connection else { return };
                    if connection.poll_timeout().is_some_and(|at| at <= now) {
                        connection.handle_timeout(now);
                    }
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    let mut packet = Vec::new();
                    while let Some(sent) = connection.poll_transmit(now, $one, &mut packet) {
                        let server =
                            if self.serves { sent.src_ip } else { Some(sent.destination.ip()) };
                        let route = server.map_or(0, route_of);
                        let link = &mut routes[route][usize::from(self.serves)];
                        link.offer(now, std::mem::take(&mut packet));
                    }
                }

                fn wakes(&mut self) -> Option<Instant> {
                    self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
                }
            }

            /// Writes data of the file that the library accepts. Returns the number of bytes left.
            fn write(connection: &mut Connection, stream: StreamId, left: usize) -> usize {
                let chunk = vec![7; left.min(65_536)];
                let mut left = left;
                while left > 0 {
                    let part = &chunk[..left.min(chunk.len())];
                    match connection.send_stream(stream).write(part) {
                        Ok(written) => left -= written,
                        Err(_) => return left,
                    }
                }
                connection.send_stream(stream).finish().unwrap();
                0
            }

            fn read(connection: &mut Connection, stream: StreamId) -> (usize, bool) {
                let mut bytes = 0;
                let mut receive = connection.recv_stream(stream);
                let Ok(mut chunks) = receive.read(true) else { return (0, false) };
                let mut ended = false;
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => {
                            assert!(chunk.bytes.iter().all(|byte| *byte == 7), "the file's bytes");
                            bytes += chunk.bytes.len();
                        }
                        Ok(None) => {
                            ended = true;
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let _ = chunks.finalize();
                (bytes, ended)
            }

            /// Transfers the file from client to server.
            pub fn transfer(
                factory: Arc<dyn ControllerFactory + Send + Sync + 'static>,
                routes: usize,
            ) -> Outcome {
                let (certificate, key, roots) = certificate();
                let mut transports = [TransportConfig::default(), TransportConfig::default()];
                for transport in &mut transports {
                    transport.stream_receive_window(VarInt::from_u32(8 << 20));
                    transport.receive_window(VarInt::from_u32(8 << 20));
                    $open.0(transport);
                }
                // The client's only, because coupled controllers see all controllers of one factory.
                transports[0].congestion_controller_factory(factory);
                let [client_transport, server_transport] = transports.map(Arc::new);
                let mut server = ServerConfig::with_single_cert(vec![certificate], key).unwrap();
                server.transport_config(server_transport);
                let mut client = ClientConfig::with_root_certificates(roots).unwrap();
                client.transport_config(client_transport);

                let config = || Arc::new(EndpointConfig::default());
                let began = Instant::now();
                let mut sides = [
                    Side { endpoint: $endpoint(config(), None), connection: None, serves: false },
                    Side {
                        endpoint: $endpoint(config(), Some(Arc::new(server))),
                        connection: None,
                        serves: true,
                    },
                ];
                let connected = sides[0].endpoint.connect(began, client, server_at(0), "localhost");
                sides[0].connection = Some(connected.unwrap());
                let link = |_| [Pipe::new(began, true), Pipe::new(began, false)];
                let mut links: Vec<[Pipe; 2]> = (0..routes).map(link).collect();
                let mut opened = 1;
                let (mut now, mut left, mut got) = (began, FILE, 0);
                let (mut up, mut down) = (None, None);
                while now < began + LONGEST {
                    for (route, links) in links.iter_mut().enumerate() {
                        for (side, other) in [(0, 1), (1, 0)] {
                            while let Some(packet) = links[other].arrived(now) {
                                sides[side].receive(now, route, packet, &mut links[side]);
                            }
                        }
                    }
                    if let Some((_, connection)) = &mut sides[0].connection {
                        while let Some(event) = connection.poll() {
                            if let Event::ConnectionLost { reason } = &event {
                                panic!("lost: {reason}");
                            }
                            if let Event::Connected = event {
                                up = connection.streams().open(Dir::Uni);
                            }
                        }
                        if up.is_some() && opened < routes && $open.1(connection, opened, now) {
                            opened += 1;
                        }
                        if let Some(stream) = up.filter(|_| left > 0) {
                            left = write(connection, stream, left);
                        }
                    }
                    if let Some((_, connection)) = &mut sides[1].connection {
                        while let Some(event) = connection.poll() {
                            if let Event::Stream(StreamEvent::Opened { .. }) = event {
                                down = connection.streams().accept(Dir::Uni);
                            }
                        }
                        if let Some(stream) = down {
                            let (bytes, ended) = read(connection, stream);
                            got += bytes;
                            if ended {
                                assert_eq!(got, FILE);
                                let there = links.iter().map(|pipes| &pipes[0].link);
                                return Outcome::of(now - began, there);
                            }
                        }
                    }
                    for side in &mut sides {
                        side.drive(now, &mut links);
                    }
                    let arrivals = links.iter().flatten().filter_map(|link| link.inside.front());
                    let next =
                        arrivals.map(|(at, _)| *at).chain(sides.iter_mut().filter_map(Side::wakes));
                    now = next.min().expect("something goes on").max(now + Duration::from_nanos(1));
                }
                panic!("{got} of {FILE} bytes in {LONGEST:?}");
            }
        }
    };
}

library!(
    quinn,
    quinn_proto,
    |config, server| Endpoint::new(config, server, true, None),
    |endpoint: &mut Endpoint, now, (peer, own), data, answer| endpoint.handle(
        now,
        peer,
        Some(own),
        None,
        data,
        answer
    ),
    |peer: SocketAddr, own: IpAddr| (peer, own),
    (
        |_: &mut TransportConfig| (),
        |_: &mut Connection, _: usize, _: Instant| -> bool { panic!("quinn has one path") }
    ),
    1
);
library!(
    noq,
    noq_proto,
    |config, server| Endpoint::new(config, server, true),
    |endpoint: &mut Endpoint, now, path, data, answer| endpoint
        .handle(now, path, None, data, answer),
    |peer, own| noq_proto::FourTuple::new(peer, Some(own)),
    (
        |transport: &mut TransportConfig| {
            transport.max_concurrent_multipath_paths(4);
        },
        |connection: &mut Connection, route, now| {
            let path = noq_proto::FourTuple::new(server_at(route), Some(CLIENT.ip()));
            connection.open_path(path, noq_proto::PathStatus::Available, now).is_ok()
        }
    ),
    std::num::NonZeroUsize::MIN
);

#[test]
fn a_file_crosses_a_lossy_link_by_quinn() {
    use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
    show("quinn", "its CUBIC", &quinn::transfer(Arc::new(CubicConfig::default()), 1));
    show("quinn", "its NewReno", &quinn::transfer(Arc::new(NewRenoConfig::default()), 1));
    show("quinn", "its BBR", &quinn::transfer(Arc::new(BbrConfig::default()), 1));
    for name in OURS {
        show("quinn", name, &quinn::transfer(Arc::new(Factory::by_name(name).unwrap()), 1));
    }
}

#[test]
fn a_file_crosses_a_lossy_link_by_noq() {
    use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};
    show("noq", "its CUBIC", &noq::transfer(Arc::new(CubicConfig::default()), 1));
    show("noq", "its NewReno", &noq::transfer(Arc::new(NewRenoConfig::default()), 1));
    show("noq", "its BBRv3", &noq::transfer(Arc::new(Bbr3Config::default()), 1));
    for name in OURS {
        show("noq", name, &noq::transfer(Arc::new(Factory::by_name(name).unwrap()), 1));
    }
}

/// LEDBAT increases its window only while the window is used completely.
#[test]
fn all_of_the_window_is_used_by_quinn() {
    let ledbat = Factory::by_name("ledbat").unwrap();
    show("quinn", "ledbat", &quinn::transfer(Arc::new(ledbat), 1));
}

#[test]
fn coupled_paths_of_a_connection_carry_a_file_together() {
    for name in ["reno", "lia", "olia", "mfvl"] {
        let factory = Factory::by_name(name).unwrap().of_one_connection();
        let outcome = noq::transfer(Arc::new(factory), 2);
        show("noq, two paths", name, &outcome);
        assert!(outcome.sent.iter().all(|sent| *sent > 500), "{name}: both are used: {outcome:?}");
    }
}

/// The effect of a sibling's window on the growth of a coupled path.
#[test]
fn a_controller_sees_only_the_paths_of_its_connection() {
    let grown = |name: &str, siblings: usize| {
        let params = AnyParams::by_name(name).unwrap();
        let (epoch, shared) = (Instant::now(), Shared::new(&params));
        let ms = |n: u64| epoch + Duration::from_millis(n);
        let path = || Adapter::new(params, epoch, epoch, 1200, &shared);
        let mut own = path();
        let mut others: Vec<_> = (0..siblings).map(|_| path()).collect();
        // A loss ends slow start; then rounds of ten packets open the window.
        for path in others.iter_mut().chain([&mut own]) {
            path.on_sent(ms(0), 1200);
            path.on_congestion(ms(40), Congestion { sent: ms(0), lost: 1200, persistent: false });
        }
        for round in 1..=40 {
            for path in others.iter_mut().chain([&mut own]) {
                (0..10).for_each(|_| path.on_sent(ms(round * 50), 1200));
                (0..10).for_each(|_| path.on_ack(ms(round * 50 + 40), ms(round * 50), 1200));
                path.on_end_acks(ms(round * 50 + 40), 0, false);
            }
        }
        own.window()
    };
    assert!(grown("lia", 1) < grown("lia", 0), "a sibling holds it back");
    assert_eq!(grown("reno", 1), grown("reno", 0));
}
