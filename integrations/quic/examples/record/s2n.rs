//! s2n-quic: its endpoints run in the virtual time of its test network, whose links are the simulator's.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::network::{Buffers, Network, Packet};
use s2n_quic::provider::io::testing::{Handle, Io, now, primary, spawn, test, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};
use s2n_quic_core::time::Timestamp;
use windlass_cc::{AnyParams, Time};
use windlass_quic::{Factory, Recorder};
use windlass_sim::Simulation;
use windlass_sim::config::Config;
use windlass_sim::packet::Body;
use windlass_tcp::segment::Codepoint;

use crate::{HEADERS, PAYLOAD, RECEIVE_WINDOW};

/// The port of the first endpoint of the library. Later endpoints have the following ports, in the order of the
/// simulator's hosts.
const FIRST_PORT: u16 = 49_152;
/// Resolution of the library's clock. Its time begins at one step.
const TICK: u64 = 1_000;

/// The simulation, which follows the library's clock.
struct Links {
    simulation: Simulation,
    /// The library's time at the beginning.
    start: Option<Timestamp>,
    /// Packets in transit, by number.
    packets: Vec<Option<Packet>>,
    /// The next time at which the library wakes up for the simulation.
    awaited: Time,
}

impl Links {
    fn new(config: &Config) -> Result<Links, Box<dyn Error>> {
        let mut simulation = Simulation::new(config.clone())?;
        (0..2 * config.flows.len()).for_each(|host| {
            simulation.make_external(host as u32);
        });
        Ok(Links { simulation, start: None, packets: Vec::new(), awaited: Time::NEVER })
    }

    /// Gives packets that have crossed the network to their endpoints.
    fn deliver(&mut self, buffers: &Buffers) -> usize {
        let arrived = self.simulation.take_egress();
        let packets = arrived.filter_map(|egress| self.packets[egress.id as usize].take());
        let arrive = |mut packet: Packet| {
            packet.switch();
            buffers.rx(*packet.path.local_address, |queue| queue.enqueue(packet));
        };
        packets.map(arrive).count()
    }

    /// Puts packets of the endpoints into the network.
    fn take(&mut self, buffers: &Buffers) -> usize {
        let mut count = 0;
        buffers.drain_pending_transmissions(|packet| {
            let host = packet.path.local_address.0.port() - FIRST_PORT;
            let len = packet.payload.len() as u32;
            let body = Body::Datagram { len, ecn: Codepoint::NotEct };
            let id = self.simulation.inject(host.into(), len + HEADERS as u32, body) as usize;
            self.packets.resize(self.packets.len().max(id + 1), None);
            self.packets[id] = Some(packet);
            count += 1;
            Ok(())
        });
        count
    }

    /// Makes the library's clock stop at the simulation's next event.
    fn wake(&mut self, now: Time) {
        let Some(next) = self.simulation.next_event() else { return };
        let next = Time(next.0.next_multiple_of(TICK));
        if self.awaited <= now || next < self.awaited {
            self.awaited = next;
            let rest = Duration::from_nanos(next.since(now).0 + TICK);
            spawn(time::delay(rest));
        }
    }
}

impl Network for Links {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let passed = now() - *self.start.get_or_insert_with(now);
        let now = Time(passed.as_nanos() as u64);
        self.simulation.run_until(now);
        let count = self.deliver(buffers) + self.take(buffers);
        self.wake(now);
        count
    }
}

fn limits() -> Result<Limits, Box<dyn Error>> {
    let window = RECEIVE_WINDOW.into();
    let limits = Limits::new().with_data_window(window)?.with_unidirectional_data_window(window)?;
    Ok(limits.with_max_send_buffer_size(RECEIVE_WINDOW)?)
}

fn socket(handle: &Handle) -> Result<Io, Box<dyn Error>> {
    let mtu = PAYLOAD + HEADERS as u16;
    let socket = handle.builder().with_max_mtu(mtu).with_initial_mtu(mtu).with_base_mtu(mtu);
    Ok(socket.build()?)
}

/// The recorded client, which sends without end, and the server of a flow.
fn connect(
    handle: &Handle,
    params: AnyParams,
    recorder: Recorder,
    (certificate, key): (&str, &str),
) -> Result<(), Box<dyn Error>> {
    let client = Client::builder()
        .with_io(socket(handle)?)?
        .with_tls(certificate)?
        .with_limits(limits()?)?
        .with_congestion_controller(Factory::new(params).recorded(recorder))?
        .start()?;
    let mut server = Server::builder()
        .with_io(socket(handle)?)?
        .with_tls((certificate, key))?
        .with_limits(limits()?)?
        .with_congestion_controller(Factory::new(params))?
        .start()?;
    let address = server.local_addr()?;
    spawn(async move {
        let to = Connect::new(address).with_server_name("localhost");
        let mut connection = client.connect(to).await.expect("a server");
        let mut stream = connection.open_send_stream().await.expect("a stream");
        while stream.send(Bytes::from_static(&[7; 65_536])).await.is_ok() {}
    });
    spawn(async move {
        let mut connection = server.accept().await.expect("a client");
        let stream = connection.accept_receive_stream().await;
        let mut stream = stream.expect("a connection").expect("a stream");
        while let Ok(Some(_)) = stream.receive().await {}
    });
    Ok(())
}

/// A connection over each network.
pub fn cross(
    config: &Config,
    params: AnyParams,
    recorders: Vec<Recorder>,
) -> Result<(), Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let duration = Duration::from_nanos(config.duration.since(Time::ZERO).0);
    test(Links::new(config)?, |handle| {
        for recorder in recorders {
            connect(handle, params, recorder, (&certificate, &key))?;
        }
        // The run ends when this has ended.
        primary::spawn(time::delay(duration));
        Ok(())
    })?;
    Ok(())
}
