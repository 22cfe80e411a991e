//! Flows of scenarios whose ends are connections of quinn: `algorithm = "quinn:cubic"` has Windlass's algorithm,
//! `quinn:own-cubic` quinn's own.

use std::sync::Arc;

use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, ConnectionId, EndpointConfig, MtuDiscoveryConfig, ServerConfig, TransportConfig,
};
use windlass_scenario::{LibraryEnds, LibraryHost, host_library};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{FlowConfig, Traffic};
use windlass_sim::random::{Purpose, Stream};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;

use crate::Factory;
use crate::ends::quinn::End;
use crate::plain::{Counter, Plain};

/// The largest payload of a datagram that quinn tries by default.
const LARGEST_PAYLOAD: u16 = 1452;
/// Bytes of the identifier that a client invents for its server, as quinn's.
const FIRST_IDENTIFIER: usize = 20;

/// quinn's controllers that need no random numbers. Its BBR takes them from the operating system.
const OWN: [&str; 2] = ["own-cubic", "own-newreno"];

/// Lets scenarios of this process have flows of quinn.
pub fn register() {
    host_library(Box::new(Quinn { version: version() }));
}

/// quinn in the version of this build.
struct Quinn {
    version: &'static str,
}

/// The version of quinn-proto in `Cargo.lock`.
fn version() -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let package = lock.split("[[package]]").find(|p| p.contains("name = \"quinn-proto\""));
    package.and_then(|p| p.split("version = \"").nth(1)?.split('"').next()).unwrap_or("unknown")
}

impl LibraryHost for Quinn {
    fn version(&self) -> &str {
        self.version
    }

    fn own(&self) -> &'static [&'static str] {
        &OWN
    }

    fn ends(&self, own: Option<&str>, place: u32, flow: &FlowConfig, seed: u64) -> LibraryEnds {
        let addresses = FlowAddresses::of_flow(place, flow);
        let headers = IPV4_HEADER + UDP_HEADER;
        let payload = u16::try_from(flow.profile.mtu.saturating_sub(headers)).unwrap_or(u16::MAX);
        let transport = || {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound(payload.min(LARGEST_PAYLOAD));
            let mut transport = TransportConfig::default();
            transport.mtu_discovery_config(Some(discovery));
            transport.congestion_controller_factory(factory(own, flow));
            Arc::new(transport)
        };
        let mut client = ClientConfig::new(Arc::new(Plain));
        client.transport_config(transport());
        client.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[1; FIRST_IDENTIFIER])));
        let mut server = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
        server.transport_config(transport());
        let bytes = match flow.traffic {
            Traffic::Bulk { bytes } => bytes,
            // A scenario has no other traffic in a library.
            _ => None,
        };
        let [from, to] = [2 * place, 2 * place + 1].map(|host| endpoint(seed, host));
        [
            Box::new(End::client(&addresses, from, client, flow.start, bytes)),
            Box::new(End::server(&addresses, to, server)),
        ]
    }
}

/// The factory of quinn's own controller, or of the flow's algorithm.
fn factory(own: Option<&str>, flow: &FlowConfig) -> Arc<dyn ControllerFactory + Send + Sync> {
    match own {
        Some("own-cubic") => Arc::new(CubicConfig::default()),
        Some(_) => Arc::new(NewRenoConfig::default()),
        None => Arc::new(Factory::new(flow.profile.params)),
    }
}

/// The configuration of the endpoint at a host. Its random values depend on the seed and the host.
fn endpoint(seed: u64, host: u32) -> EndpointConfig {
    let mut stream = Stream::new(seed, host.into(), Purpose::InitialSequence);
    let mut config = EndpointConfig::new(Arc::new(Plain));
    let first = stream.next_u64();
    config.cid_generator(move || Box::new(Counter(first)));
    let mut random = [0; 32];
    random.chunks_mut(8).for_each(|part| part.copy_from_slice(&stream.next_u64().to_be_bytes()));
    config.rng_seed(Some(random));
    config
}
