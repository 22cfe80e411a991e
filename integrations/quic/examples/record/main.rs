//! Records the events and answers of Windlass's algorithms in quinn, noq and, with the feature `s2n`, s2n-quic over the
//! networks of `windlass replay`: `cargo run --features command --example record -- FOLDER cubic bbr3`. The links, queues and losses are the
//! simulator's, and all ends use its time. `windlass replay --recorded FOLDER` compares.

#[cfg(feature = "s2n")]
mod s2n;

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use windlass_cc::{AnyParams, Setup, Time, slow_start};
use windlass_quic::{Factory, Recorder};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::Config;
use windlass_sim::external::{self, PacketEnd};

const NETWORKS: &str = "../../linux/windlass-testbed/src/twin/networks.toml";
const SEED: u64 = 1;
/// Bytes of an IPv4 and a UDP header.
#[cfg(feature = "s2n")]
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
    ($name:ident, $proto:ident) => {
        mod $name {
            use super::*;
            use windlass_quic::ends::$name::End;
            use $proto::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt};

            fn transport(factory: Factory) -> Arc<TransportConfig> {
                let mut transport = TransportConfig::default();
                transport.congestion_controller_factory(Arc::new(factory));
                transport.initial_mtu(PAYLOAD).min_mtu(PAYLOAD).mtu_discovery_config(None);
                transport.stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
                transport.receive_window(VarInt::from_u32(RECEIVE_WINDOW));
                transport.send_window(RECEIVE_WINDOW.into());
                Arc::new(transport)
            }

            /// The recorded client and the server of a flow. The client sends without end.
            fn ends(
                identity: &Identity,
                addresses: &FlowAddresses,
                params: AnyParams,
                recorder: Recorder,
            ) -> Result<[Box<dyn PacketEnd>; 2], Box<dyn Error>> {
                let (certificate, key) = (identity.certificate.clone(), identity.key.clone_key());
                let mut server = ServerConfig::with_single_cert(vec![certificate], key)?;
                server.transport_config(transport(Factory::new(params)));
                let mut client = ClientConfig::with_root_certificates(identity.roots.clone())?;
                client.transport_config(transport(Factory::new(params).recorded(recorder)));
                let config = || {
                    let mut config = EndpointConfig::default();
                    config.rng_seed(Some([7; 32]));
                    config
                };
                Ok([
                    Box::new(End::client(addresses, config(), client, Time::ZERO, None)),
                    Box::new(End::server(addresses, config(), server)),
                ])
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
                    all.extend(ends(&identity, &addresses, params, recorder)?);
                }
                let placed = all.iter_mut().map(|end| end.as_mut() as &mut dyn PacketEnd);
                let result = external::run(config, &mut (0..).zip(placed).collect::<Vec<_>>())?;
                match result.flows.into_iter().find_map(|flow| flow.failure) {
                    Some(failure) => Err(failure.into()),
                    None => Ok(()),
                }
            }
        }
    };
}

library!(quinn, quinn_proto);
library!(noq, noq_proto);

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
