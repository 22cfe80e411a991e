//! quinn and noq. The libraries have a common origin; the arguments of the macro are their differences.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rustls::DigitallySignedStruct;
use rustls::SignatureScheme;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

use crate::protocol::{End, Greeting, NEVER, Role, Setting, Writes};

/// Flow-control windows, which never limit: bytes.
const WINDOW: u32 = 1 << 29;
const ALPN: &[u8] = b"windlass-audit";

/// The sender does not know the certificate of the receiver.
#[derive(Debug)]
struct TrustsAll;

impl ServerCertVerifier for TrustsAll {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        use SignatureScheme::*;
        vec![
            ECDSA_NISTP256_SHA256,
            ECDSA_NISTP384_SHA384,
            ED25519,
            RSA_PSS_SHA256,
            RSA_PKCS1_SHA256,
        ]
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn client_tls() -> Result<rustls::ClientConfig, String> {
    let mut tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(TrustsAll))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    Ok(tls)
}

fn server_tls() -> Result<rustls::ServerConfig, String> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]);
    let made = made.map_err(|e| e.to_string())?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .map_err(|e| e.to_string())?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    Ok(tls)
}

macro_rules! library {
    ($feature:literal, $module:ident, $proto:ident, $versions:literal, $endpoint:expr, $handle:expr, $one:expr, $record:expr) => {
        #[cfg(feature = $feature)]
        pub mod $module {
            use super::*;
            use $proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
            use $proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
                Endpoint, EndpointConfig, Event, ServerConfig, StreamEvent, StreamId,
                TransportConfig, VarInt,
            };

            struct Stack {
                setting: Setting,
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                client: Option<ClientConfig>,
                epoch: Instant,
                stream: Option<StreamId>,
                writes: Writes,
                answers: Vec<Vec<u8>>,
            }

            pub fn open(
                setting: &Setting,
                algorithm: &str,
            ) -> Result<(Greeting, Box<dyn End>), String> {
                let factory: Arc<dyn ControllerFactory + Send + Sync> = match algorithm {
                    "cubic" => Arc::new(CubicConfig::default()),
                    "newreno" => Arc::new(NewRenoConfig::default()),
                    _ => return Err("the algorithms are cubic and newreno".to_owned()),
                };
                let mut transport = TransportConfig::default();
                transport.stream_receive_window(VarInt::from_u32(WINDOW));
                transport.receive_window(VarInt::from_u32(WINDOW));
                transport.send_window(u64::from(WINDOW));
                transport.max_idle_timeout(None);
                transport.congestion_controller_factory(factory);
                let epoch = Instant::now();
                if setting.role == Role::Sender {
                    $record(&mut transport, epoch)?;
                }
                let transport = Arc::new(transport);
                let (mut client, mut server) = (None, None);
                match setting.role {
                    Role::Sender => {
                        let tls = QuicClientConfig::try_from(client_tls()?);
                        let mut config =
                            ClientConfig::new(Arc::new(tls.map_err(|e| e.to_string())?));
                        config.transport_config(transport);
                        client = Some(config);
                    }
                    Role::Receiver => {
                        let tls = QuicServerConfig::try_from(server_tls()?);
                        let tls = Arc::new(tls.map_err(|e| e.to_string())?);
                        let mut config = ServerConfig::with_crypto(tls);
                        config.transport_config(transport);
                        server = Some(Arc::new(config));
                    }
                }
                let config = Arc::new(EndpointConfig::default());
                let stack = Stack {
                    endpoint: $endpoint(config, server, setting.seed),
                    connection: None,
                    client,
                    epoch,
                    stream: None,
                    writes: Writes::new(setting),
                    answers: Vec::new(),
                    setting: setting.clone(),
                };
                let greeting = Greeting {
                    name: stringify!($proto),
                    version: env!($versions).to_owned(),
                    algorithm: algorithm.to_owned(),
                    carries: "udp",
                };
                Ok((greeting, Box::new(stack)))
            }

            impl Stack {
                fn at(&self, now: u64) -> Instant {
                    self.epoch + Duration::from_nanos(now)
                }

                fn connect(&mut self, now: u64) {
                    if self.connection.is_none() && now >= self.writes.start() {
                        let Some(client) = self.client.take() else { return };
                        let remote = SocketAddr::V4(self.setting.remote);
                        let at = self.at(now);
                        let connected = self.endpoint.connect(at, client, remote, "localhost");
                        self.connection = Some(connected.expect("the first connection"));
                    }
                }

                /// Processes due timers and events, and lets the application act.
                fn work(&mut self, now: u64) {
                    self.connect(now);
                    let at = self.at(now);
                    let Some((handle, connection)) = &mut self.connection else { return };
                    if connection.poll_timeout().is_some_and(|due| due <= at) {
                        connection.handle_timeout(at);
                    }
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(event) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(event);
                        }
                    }
                    while let Some(event) = connection.poll() {
                        match event {
                            Event::Connected if self.setting.role == Role::Sender => {
                                self.stream = connection.streams().open(Dir::Uni);
                            }
                            Event::Stream(StreamEvent::Opened { .. }) => {
                                self.stream = connection.streams().accept(Dir::Uni);
                            }
                            Event::ConnectionLost { reason } => {
                                eprintln!("connection lost: {reason}")
                            }
                            _ => {}
                        }
                    }
                    let Some(stream) = self.stream else { return };
                    match self.setting.role {
                        Role::Sender => write(connection, stream, &mut self.writes, now),
                        Role::Receiver => read(connection, stream),
                    }
                }
            }

            /// Writes the data that is due, until the library's buffer is full.
            fn write(connection: &mut Connection, stream: StreamId, writes: &mut Writes, now: u64) {
                let chunk = [7; 1 << 14];
                // A buffer of some megabytes never limits, and keeps the process small.
                let mut buffered = 0;
                while buffered < 1 << 23 {
                    let due = writes.due(now).min(chunk.len() as u64) as usize;
                    if due == 0 {
                        return;
                    }
                    let Ok(written) = connection.send_stream(stream).write(&chunk[..due]) else {
                        return;
                    };
                    writes.took(written as u64);
                    buffered += written;
                }
            }

            fn read(connection: &mut Connection, stream: StreamId) {
                let mut receive = connection.recv_stream(stream);
                let Ok(mut chunks) = receive.read(false) else { return };
                while let Ok(Some(_)) = chunks.next(usize::MAX) {}
                let _ = chunks.finalize();
            }

            impl End for Stack {
                fn receive(&mut self, now: u64, ecn: u8, packet: &[u8]) {
                    let at = self.at(now);
                    let (remote, own) = (self.setting.remote.into(), *self.setting.local.ip());
                    let mut answer = Vec::new();
                    let data = BytesMut::from(packet);
                    let ecn = EcnCodepoint::from_bits(ecn);
                    let event =
                        $handle(&mut self.endpoint, at, remote, own.into(), ecn, data, &mut answer);
                    match event {
                        Some(DatagramEvent::ConnectionEvent(_, event)) => {
                            if let Some((_, connection)) = &mut self.connection {
                                connection.handle_event(event);
                            }
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            let made = self.endpoint.accept(incoming, at, &mut answer, None);
                            self.connection = made.ok();
                        }
                        Some(DatagramEvent::Response(_)) => self.answers.push(answer),
                        None => {}
                    }
                }

                fn transmit(&mut self, now: u64) -> Option<(u8, Vec<u8>)> {
                    if let Some(answer) = self.answers.pop() {
                        return Some((0, answer));
                    }
                    self.work(now);
                    let at = self.at(now);
                    let (_, connection) = self.connection.as_mut()?;
                    let mut packet = Vec::new();
                    let sent = connection.poll_transmit(at, $one, &mut packet)?;
                    Some((sent.ecn.map_or(0, |ecn| ecn as u8), packet))
                }

                fn deadline(&mut self, now: u64) -> u64 {
                    let write = self.writes.next(now);
                    let timer = self.connection.as_mut().and_then(|(_, c)| c.poll_timeout());
                    let timer = timer.map_or(NEVER, |at| (at - self.epoch).as_nanos() as u64);
                    write.min(timer)
                }
            }
        }
    };
}

library!(
    "quinn",
    quinn,
    quinn_proto,
    "VERSIONS_quinn_proto",
    |config, server, seed: u64| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Endpoint::new(config, server, true, Some(bytes))
    },
    |endpoint: &mut Endpoint, now, remote, own: IpAddr, ecn, data, answer| endpoint.handle(
        now,
        remote,
        Some(own),
        ecn,
        data,
        answer
    ),
    1,
    |transport: &mut TransportConfig, start| {
        let Some(path) = std::env::var_os("WINDLASS_QLOG") else { return Ok(()) };
        let mut qlog = quinn_proto::QlogConfig::default();
        let file = std::fs::File::create(path).map_err(|e| format!("WINDLASS_QLOG: {e}"))?;
        qlog.writer(Box::new(file)).title(Some("quinn".to_owned())).start_time(start);
        transport.qlog_stream(qlog.into_stream());
        Ok::<(), String>(())
    }
);
library!(
    "noq",
    noq,
    noq_proto,
    "VERSIONS_noq_proto",
    |config, server, _: u64| Endpoint::new(config, server, true),
    |endpoint: &mut Endpoint, now, remote, own: IpAddr, ecn, data, answer| endpoint.handle(
        now,
        noq_proto::FourTuple::new(remote, Some(own)),
        ecn,
        data,
        answer
    ),
    std::num::NonZeroUsize::MIN,
    |_: &mut TransportConfig, _| Ok::<(), String>(())
);
