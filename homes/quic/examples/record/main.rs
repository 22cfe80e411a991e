//! Records the events and answers of Windlass's algorithms in quinn, noq and, with the feature `s2n`, s2n-quic over the
//! networks of `windlass replay`: `cargo run --example record -- FOLDER cubic bbr3`. The links, queues and losses are the
//! simulator's, and all ends use its time. `windlass replay --recorded FOLDER` compares.

#[cfg(feature = "s2n")]
mod s2n;

use std::collections::VecDeque;
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::net::{SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use windlass_cc::{AnyParams, Setup, Time, slow_start};
use windlass_quic::{Factory, Recorder};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::Config;
use windlass_sim::external::{self, PacketEnd};
use windlass_tcp::wire::{Addresses, emit_datagram};

const NETWORKS: &str = "../../crates/windlass-testbed/src/twin/networks.toml";
const SEED: u64 = 1;
/// Bytes of an IPv4 and a UDP header.
const HEADERS: usize = 28;
/// Payload of a datagram, which equals a segment's payload in the simulator's TCP.
const PAYLOAD: u16 = 1448;
/// Maximum number of bytes that a receiver allows in transit. It is small enough that they cannot arrive with 1024
/// gaps, at which quinn and noq close the connection.
const RECEIVE_WINDOW: u32 = 2 << 20;

/// Certificate and key of the two ends of a connection.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    roots: Arc<RootCertStore>,
}

impl Identity {
    fn new() -> Result<Identity, Box<dyn Error>> {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
        let certificate = made.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone())?;
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        Ok(Identity { certificate, key, roots: Arc::new(roots) })
    }
}

/// A module for each library. The libraries have a common origin; the arguments are their differences.
macro_rules! library {
    ($name:ident, $proto:ident, $endpoint:expr, $handle:expr, $one:expr) => {
        mod $name {
            use super::*;
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint,
                EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig,
                VarInt,
            };

            /// An end of a connection with its application. The client sends without end, and the server reads.
            struct End {
                epoch: Instant,
                addresses: Addresses,
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                stream: Option<StreamId>,
                sends: bool,
                out: VecDeque<Vec<u8>>,
            }

            fn transport(factory: Factory) -> Arc<TransportConfig> {
                let mut transport = TransportConfig::default();
                transport.congestion_controller_factory(Arc::new(factory));
                transport.initial_mtu(PAYLOAD).min_mtu(PAYLOAD).mtu_discovery_config(None);
                transport.stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
                transport.receive_window(VarInt::from_u32(RECEIVE_WINDOW));
                transport.send_window(RECEIVE_WINDOW.into());
                Arc::new(transport)
            }

            /// The recorded client and the server of a flow.
            fn ends(
                identity: &Identity,
                addresses: FlowAddresses,
                params: AnyParams,
                recorder: Recorder,
            ) -> Result<[Box<dyn PacketEnd>; 2], Box<dyn Error>> {
                let epoch = Instant::now();
                let (certificate, key) = (identity.certificate.clone(), identity.key.clone_key());
                let mut server = ServerConfig::with_single_cert(vec![certificate], key)?;
                server.transport_config(transport(Factory::new(params)));
                let mut client = ClientConfig::with_root_certificates(identity.roots.clone())?;
                client.transport_config(transport(Factory::new(params).recorded(recorder)));
                let end = |server: Option<Arc<ServerConfig>>| {
                    let mut config = EndpointConfig::default();
                    config.rng_seed(Some([7; 32]));
                    let sends = server.is_none();
                    End {
                        epoch,
                        addresses: addresses.addresses(sends),
                        endpoint: $endpoint(Arc::new(config), server),
                        connection: None,
                        stream: None,
                        sends,
                        out: VecDeque::new(),
                    }
                };
                let mut sender = end(None);
                let peer = SocketAddr::V4(addresses.to);
                sender.connection =
                    Some(sender.endpoint.connect(epoch, client, peer, "localhost")?);
                Ok([Box::new(sender), Box::new(end(Some(Arc::new(server))))])
            }

            /// A connection over each network, all in one simulation.
            pub fn cross(
                config: &Config,
                params: AnyParams,
                recorders: Vec<Recorder>,
            ) -> Result<(), Box<dyn Error>> {
                let identity = Identity::new()?;
                let mut all = Vec::new();
                for ((number, flow), recorder) in (0..).zip(&config.flows).zip(recorders) {
                    let addresses = FlowAddresses::of_flow(number, flow);
                    all.extend(ends(&identity, addresses, params, recorder)?);
                }
                let placed = all.iter_mut().map(|end| end.as_mut() as &mut dyn PacketEnd);
                external::run(config, &mut (0..).zip(placed).collect::<Vec<_>>())?;
                Ok(())
            }

            impl End {
                fn instant(&self, now: Time) -> Instant {
                    self.epoch + Duration::from_nanos(now.0)
                }

                /// Processes all events that are due.
                fn drive(&mut self, now: Instant) {
                    let Some((handle, connection)) = &mut self.connection else { return };
                    if connection.poll_timeout().is_some_and(|at| at <= now) {
                        connection.handle_timeout(now);
                    }
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    while let Some(event) = connection.poll() {
                        match event {
                            Event::ConnectionLost { reason } => panic!("lost: {reason}"),
                            Event::Connected if self.sends => {
                                self.stream = connection.streams().open(Dir::Uni);
                            }
                            Event::Stream(StreamEvent::Opened { .. }) => {
                                self.stream = connection.streams().accept(Dir::Uni);
                            }
                            _ => {}
                        }
                    }
                    match self.stream {
                        Some(stream) if self.sends => {
                            while connection.send_stream(stream).write(&[7; 65_536]).is_ok() {}
                        }
                        Some(stream) => read(connection, stream),
                        None => {}
                    }
                    let mut packet = Vec::new();
                    while connection.poll_transmit(now, $one, &mut packet).is_some() {
                        self.out.push_back(std::mem::take(&mut packet));
                    }
                }
            }

            fn read(connection: &mut Connection, stream: StreamId) {
                let mut receive = connection.recv_stream(stream);
                let Ok(mut chunks) = receive.read(true) else { return };
                while let Ok(Some(_)) = chunks.next(usize::MAX) {}
                let _ = chunks.finalize();
            }

            impl PacketEnd for End {
                fn receive(&mut self, now: Time, packet: &[u8]) {
                    let now = self.instant(now);
                    let mut answer = Vec::new();
                    let data = BytesMut::from(&packet[HEADERS..]);
                    let Addresses { source, destination, .. } = self.addresses;
                    let event =
                        $handle(&mut self.endpoint, now, (destination, source), data, &mut answer);
                    match event {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            if let Some((_, connection)) = &mut self.connection {
                                connection.handle_event(event);
                            }
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            self.connection =
                                self.endpoint.accept(incoming, now, &mut answer, None).ok();
                        }
                        Some(DatagramEvent::Response(_)) => self.out.push_back(answer),
                        None => {}
                    }
                }

                fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
                    if self.out.is_empty() {
                        self.drive(self.instant(now));
                    }
                    let payload = self.out.pop_front()?;
                    let mut packet = Vec::new();
                    let fill = |room: &mut [u8]| room.copy_from_slice(&payload);
                    emit_datagram(payload.len() as u32, &self.addresses, fill, &mut packet)
                        .expect("a small datagram");
                    Some(packet)
                }

                fn deadline(&mut self, now: Time) -> Time {
                    let timeout = self.connection.as_mut().and_then(|(_, c)| c.poll_timeout());
                    let at = |at: Instant| {
                        Time(at.saturating_duration_since(self.epoch).as_nanos() as u64)
                    };
                    timeout.map_or(Time::NEVER, at).max(now)
                }
            }
        }
    };
}

library!(
    quinn,
    quinn_proto,
    |config, server| Endpoint::new(config, server, true, None),
    |endpoint: &mut Endpoint,
     now,
     (peer, own): (SocketAddrV4, SocketAddrV4),
     data,
     answer: &mut Vec<u8>| {
        endpoint.handle(now, peer.into(), Some((*own.ip()).into()), None, data, answer)
    },
    1
);
library!(
    noq,
    noq_proto,
    |config, server| Endpoint::new(config, server, true),
    |endpoint: &mut Endpoint,
     now,
     (peer, own): (SocketAddrV4, SocketAddrV4),
     data,
     answer: &mut Vec<u8>| {
        let path = noq_proto::FourTuple::new(peer.into(), Some((*own.ip()).into()));
        endpoint.handle(now, path, None, data, answer)
    },
    std::num::NonZeroUsize::MIN
);

type Cross = fn(&Config, AnyParams, Vec<Recorder>) -> Result<(), Box<dyn Error>>;

/// Name of the library in recordings, prefix of its files, and the function that runs it over the networks.
const LIBRARIES: &[(&str, &str, Cross)] = &[
    ("quinn 0.11", "quinn", quinn::cross),
    ("noq 1.4", "noq", noq::cross),
    #[cfg(feature = "s2n")]
    ("s2n-quic 1.91", "s2n-quic", s2n::cross),
];

/// Writes one file per network.
fn record(
    folder: &Path,
    config: &Config,
    params: AnyParams,
    (about, name, cross): (&str, &str, Cross),
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (mut files, mut recorders) = (Vec::new(), Vec::new());
    for flow in &config.flows {
        let file = folder.join(format!("{}-{name}-{}.jsonl", params.info().id, flow.name));
        let out = BufWriter::new(File::create(&file)?);
        recorders.push(Recorder::new(out, &flow.name, about));
        files.push(file);
    }
    cross(config, params, recorders)?;
    Ok(files)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = PathBuf::from(words.next().ok_or("expected FOLDER and names of algorithms")?);
    fs::create_dir_all(&folder)?;
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join(NETWORKS);
    let config = compile(&Scenario::from_file(&networks)?, SEED)?;
    for id in words {
        let mut params = AnyParams::by_name(&id).ok_or(format!("algorithm {id} not found"))?;
        let slow_start = slow_start::AnyParams::default();
        params.set_common(&Setup { slow_start, ..params.common() });
        for library in LIBRARIES {
            for file in record(&folder, &config, params, *library)? {
                let outcome = windlass_conform::check_file(&file)?;
                if let Some(mismatch) = outcome.failure {
                    return Err(mismatch.to_string().into());
                }
                println!("{}: {} answers equal", file.display(), outcome.answers);
            }
        }
    }
    Ok(())
}
