//! Stacks that speak packets, in the simulation's time.

use std::fmt;

use windlass_cc::Time;
use windlass_tcp::segment::Codepoint;
use windlass_tcp::wire::EmitError;

use super::{Egress, packet};
use crate::addresses::FlowAddresses;
use crate::config::Config;
use crate::packet::Body;
use crate::{ConfigError, ConservationError, RunResult, Simulation};

/// How often an end may act at one moment: more often, and it does not stop.
const TOO_OFTEN: u32 = 100_000;

/// An end of a flow that speaks IPv4 packets: a TCP/IP stack with its application, which lives in the
/// simulation's time. Its address and port are those of [`FlowAddresses::of_flow`].
pub trait PacketEnd {
    /// A packet has come out of the network.
    fn receive(&mut self, now: Time, packet: &[u8]);

    /// The next packet that it sends at this moment, `None` if there is none.
    fn transmit(&mut self, now: Time) -> Option<Vec<u8>>;

    /// When it acts next though nothing comes; [`Time::NEVER`] if it only waits. What has become due is
    /// done by the next [`transmit`](PacketEnd::transmit).
    fn deadline(&mut self, now: Time) -> Time;
}

/// Why a run with ends outside has no result.
#[derive(Clone, PartialEq, Debug)]
pub enum ExternalError {
    /// The network cannot be built.
    Config(ConfigError),
    /// There is no such end of a TCP connection over one path.
    NoSuchEnd {
        /// The host asked for.
        host: u32,
    },
    /// An end sent what is no valid TCP segment and no UDP datagram over IPv4.
    NoPacket {
        /// Its host.
        host: u32,
        /// When.
        at: Time,
    },
    /// An end does not stop acting.
    Endless {
        /// Its host.
        host: u32,
        /// When.
        at: Time,
    },
    /// A segment of an end inside has no wire format.
    NoFormat(EmitError),
    /// Packets are missing, which is a defect of the simulator.
    Conservation(ConservationError),
}

impl fmt::Display for ExternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternalError::Config(e) => e.fmt(f),
            ExternalError::NoSuchEnd { host } => {
                write!(
                    f,
                    "host {host} is no end of a TCP connection over one path: those of flow i are 2i and 2i + 1"
                )
            }
            ExternalError::NoPacket { host, at } => {
                write!(
                    f,
                    "host {host} sent at {at} what is no TCP segment or UDP datagram in a whole IPv4 packet"
                )
            }
            ExternalError::Endless { host, at } => {
                write!(f, "host {host} acted {TOO_OFTEN} times at {at}: its deadline does not pass")
            }
            ExternalError::NoFormat(e) => e.fmt(f),
            ExternalError::Conservation(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for ExternalError {}

/// Runs a network with these ends, each in the place of its host: `2i` for the end of flow `i` that sends the
/// data, `2i + 1` for the other. The other ends stay what they are.
///
/// # Errors
///
/// The network cannot be built, there is no such host, or an end sends what is no packet or does not stop.
pub fn run(
    config: &Config,
    ends: &mut [(u32, &mut dyn PacketEnd)],
) -> Result<RunResult, ExternalError> {
    let mut simulation = Simulation::new(config.clone()).map_err(ExternalError::Config)?;
    let mut outside = vec![None; 2 * config.flows.len()];
    for (place, (host, _)) in ends.iter().enumerate() {
        let one_path = |f: &crate::config::FlowConfig| f.multipath.is_none();
        if !config.flows.get(*host as usize / 2).is_some_and(one_path) {
            return Err(ExternalError::NoSuchEnd { host: *host });
        }
        simulation.make_external(*host);
        outside[*host as usize] = Some(place);
    }
    let addresses = (0..).zip(&config.flows).map(|(i, f)| FlowAddresses::of_flow(i, f)).collect();
    let mut carrier = Carrier { simulation, outside, addresses, bytes: Vec::new() };
    carrier.go(config.duration, ends)?;
    carrier.simulation.finish().map_err(ExternalError::Conservation)
}

/// Carries packets between the ends and the network.
struct Carrier {
    simulation: Simulation,
    /// Which end each host is.
    outside: Vec<Option<usize>>,
    addresses: Vec<FlowAddresses>,
    /// The packets on their way whose both ends are outside, by their number.
    bytes: Vec<Vec<u8>>,
}

impl Carrier {
    fn go(
        &mut self,
        until: Time,
        ends: &mut [(u32, &mut dyn PacketEnd)],
    ) -> Result<(), ExternalError> {
        let (mut at, mut times) = (Time::ZERO, 0);
        loop {
            let now = self.simulation.now();
            for (host, end) in ends.iter_mut() {
                self.let_act(*host, *end, now)?;
            }
            let of_ends = ends.iter_mut().map(|(_, end)| end.deadline(now));
            let due = of_ends.min().unwrap_or(Time::NEVER);
            let next = self.simulation.next_event().unwrap_or(Time::NEVER).min(due).max(now);
            if next > until {
                self.simulation.run_until(until);
                return Ok(());
            }
            times = if next > at { 0 } else { times + 1 };
            at = next;
            if times > TOO_OFTEN {
                let mut due = ends
                    .iter_mut()
                    .filter_map(|(host, end)| (end.deadline(now) <= now).then_some(*host));
                let host = due.next().unwrap_or_default();
                return Err(ExternalError::Endless { host, at });
            }
            self.simulation.run_until(next);
            let arrived: Vec<Egress> = self.simulation.take_egress().collect();
            // All of them before any is answered: an answer may be given the number of one that has arrived.
            let packets: Result<Vec<_>, _> = arrived.iter().map(|one| self.packet(one)).collect();
            for (egress, packet) in arrived.iter().zip(packets?) {
                let Some(place) = self.outside[egress.host as usize] else { continue };
                let (host, end) = &mut ends[place];
                end.receive(egress.time, &packet);
                self.let_act(*host, *end, egress.time)?;
            }
        }
    }

    fn let_act(
        &mut self,
        host: u32,
        end: &mut dyn PacketEnd,
        now: Time,
    ) -> Result<(), ExternalError> {
        while let Some(bytes) = end.transmit(now) {
            let body = packet::body(&bytes).ok_or(ExternalError::NoPacket { host, at: now })?;
            let id = self.simulation.inject(host, bytes.len() as u32, body) as usize;
            if id >= self.bytes.len() {
                self.bytes.resize(id + 1, Vec::new());
            }
            self.bytes[id] = bytes;
        }
        Ok(())
    }

    /// The bytes of what has arrived.
    fn packet(&self, egress: &Egress) -> Result<Vec<u8>, ExternalError> {
        let host = egress.host as usize;
        let mut bytes = Vec::new();
        if self.outside[host ^ 1].is_some() {
            bytes.clone_from(&self.bytes[egress.id as usize]);
            if matches!(egress.body, Body::Segment(s) if s.ecn == Codepoint::Ce) {
                packet::mark(&mut bytes);
            }
        } else {
            let addresses = self.addresses[host / 2].addresses(!host.is_multiple_of(2));
            packet::write(&egress.body, &addresses, &mut bytes).map_err(ExternalError::NoFormat)?;
        }
        Ok(bytes)
    }
}
