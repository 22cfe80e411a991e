//! Runs of packet-based stacks in simulated time.

use std::fmt;

use windlass_cc::Time;
use windlass_tcp::segment::Codepoint;
use windlass_tcp::wire::EmitError;

use super::{Egress, Report, packet};
use crate::addresses::FlowAddresses;
use crate::config::Config;
use crate::{ConfigError, ConservationError, RunResult, Simulation};

/// Maximum number of actions of an end at one time. More actions mean that the end does not stop.
const TOO_OFTEN: u32 = 100_000;

/// An end of a flow that sends and receives IPv4 packets: a TCP/IP stack with its application, in
/// simulated time. Its address and port are given by [`FlowAddresses::of_flow`].
pub trait PacketEnd {
    /// Receives a packet from the network.
    fn receive(&mut self, now: Time, packet: &[u8]);

    /// The next packet that the end sends at this time, or `None`.
    fn transmit(&mut self, now: Time) -> Option<Vec<u8>>;

    /// Time of the next action without an arrival; [`Time::NEVER`] if the end only waits. The next
    /// [`transmit`](PacketEnd::transmit) performs the actions that are due.
    fn deadline(&mut self, now: Time) -> Time;

    /// The present values of the end for the results of its flow, if they have changed. An end that
    /// reports nothing leaves them out.
    fn report(&mut self) -> Option<Report> {
        None
    }
}

/// External ends with their hosts.
pub type Ends<'a> = [(u32, &'a mut dyn PacketEnd)];

/// Reason why a run with external ends has no result.
#[derive(Clone, PartialEq, Debug)]
pub enum ExternalError {
    /// The network cannot be built.
    Config(ConfigError),
    /// The host is not an end of a TCP connection over one path.
    NoSuchEnd {
        /// The requested host.
        host: u32,
    },
    /// An end sent bytes that are neither a valid TCP segment nor a UDP datagram over IPv4.
    NoPacket {
        /// Its host.
        host: u32,
        /// Time of the packet.
        at: Time,
    },
    /// An end does not stop acting at one time.
    Endless {
        /// Its host.
        host: u32,
        /// Time of the actions.
        at: Time,
    },
    /// A segment of a simulated end has no wire format.
    NoFormat(EmitError),
    /// Packets are unaccounted for, which is a defect of the simulator.
    Conservation(ConservationError),
}

impl fmt::Display for ExternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternalError::Config(e) => e.fmt(f),
            ExternalError::NoSuchEnd { host } => {
                write!(
                    f,
                    "host {host} is not an end of a TCP connection over one path; the ends of flow i are 2i and 2i + 1"
                )
            }
            ExternalError::NoPacket { host, at } => {
                write!(
                    f,
                    "host {host} sent an invalid packet at {at}; expected a TCP segment or UDP datagram in a whole IPv4 packet"
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

/// Runs a network with these ends. Each end replaces its host: `2i` is the end of flow `i` that
/// sends the data, and `2i + 1` is the other end. The remaining ends are simulated.
///
/// # Errors
///
/// The network cannot be built, the host does not exist, an end sends an invalid packet, or an end
/// does not stop.
pub fn run(config: &Config, ends: &mut Ends<'_>) -> Result<RunResult, ExternalError> {
    let simulation = Simulation::new(config.clone()).map_err(ExternalError::Config)?;
    let mut carrier = Carrier::new(simulation, config, ends)?;
    carrier.run_until(config.duration)?;
    carrier.finish().map_err(ExternalError::Conservation)
}

/// A run with external ends. It carries packets between them and the network.
pub struct Carrier<'a, 'b> {
    simulation: Simulation,
    duration: Time,
    ends: &'a mut Ends<'b>,
    /// Index of the external end of each host, if it has one.
    outside: Vec<Option<usize>>,
    addresses: Vec<FlowAddresses>,
    /// Bytes of the packets in transit between two external ends, by packet number.
    bytes: Vec<Vec<u8>>,
}

impl<'a, 'b> Carrier<'a, 'b> {
    /// Makes the hosts of these ends external. The simulation of this configuration must not have
    /// begun.
    ///
    /// # Errors
    ///
    /// A host does not exist, or its flow has several paths.
    pub fn new(
        mut simulation: Simulation,
        config: &Config,
        ends: &'a mut Ends<'b>,
    ) -> Result<Carrier<'a, 'b>, ExternalError> {
        let mut outside = vec![None; 2 * config.flows.len()];
        for (place, (host, _)) in ends.iter().enumerate() {
            let one_path = |f: &crate::config::FlowConfig| f.multipath.is_none();
            if !config.flows.get(*host as usize / 2).is_some_and(one_path) {
                return Err(ExternalError::NoSuchEnd { host: *host });
            }
            simulation.make_external(*host);
            outside[*host as usize] = Some(place);
        }
        let addresses =
            (0..).zip(&config.flows).map(|(i, f)| FlowAddresses::of_flow(i, f)).collect();
        let duration = config.duration;
        Ok(Carrier { simulation, duration, ends, outside, addresses, bytes: Vec::new() })
    }

    /// Checks packet conservation and returns the results.
    ///
    /// # Errors
    ///
    /// Packets are unaccounted for.
    pub fn finish(self) -> Result<RunResult, ConservationError> {
        self.simulation.finish()
    }

    /// Runs up to this time, or to the configured duration if that is earlier. Returns true before
    /// the duration.
    ///
    /// # Errors
    ///
    /// An end sends an invalid packet, or does not stop.
    pub fn run_until(&mut self, until: Time) -> Result<bool, ExternalError> {
        let until = until.min(self.duration);
        let (mut at, mut times) = (Time::ZERO, 0);
        loop {
            let now = self.simulation.now();
            for place in 0..self.ends.len() {
                self.let_act(place, now)?;
            }
            let of_ends = self.ends.iter_mut().map(|(_, end)| end.deadline(now));
            let due = of_ends.min().unwrap_or(Time::NEVER);
            let next = self.simulation.next_event().unwrap_or(Time::NEVER).min(due).max(now);
            if next > until {
                self.simulation.run_until(until);
                return Ok(until < self.duration);
            }
            times = if next > at { 0 } else { times + 1 };
            at = next;
            if times > TOO_OFTEN {
                let mut due = self
                    .ends
                    .iter_mut()
                    .filter_map(|(host, end)| (end.deadline(now) <= now).then_some(*host));
                let host = due.next().unwrap_or_default();
                return Err(ExternalError::Endless { host, at });
            }
            self.simulation.run_until(next);
            let arrived: Vec<Egress> = self.simulation.take_egress().collect();
            // All packets are read before the first answer, because an answer may reuse the number
            // of an arrived packet.
            let packets: Result<Vec<_>, _> = arrived.iter().map(|one| self.packet(one)).collect();
            for (egress, packet) in arrived.iter().zip(packets?) {
                let Some(place) = self.outside[egress.host as usize] else { continue };
                self.ends[place].1.receive(egress.time, &packet);
                self.let_act(place, egress.time)?;
            }
        }
    }

    fn let_act(&mut self, place: usize, now: Time) -> Result<(), ExternalError> {
        let (host, end) = &mut self.ends[place];
        let host = *host;
        while let Some(bytes) = end.transmit(now) {
            let body = packet::body(&bytes).ok_or(ExternalError::NoPacket { host, at: now })?;
            let id = self.simulation.inject(host, bytes.len() as u32, body) as usize;
            if id >= self.bytes.len() {
                self.bytes.resize(id + 1, Vec::new());
            }
            self.bytes[id] = bytes;
        }
        if let Some(values) = end.report() {
            self.simulation.report(host, values);
        }
        Ok(())
    }

    /// The bytes of an arrived packet.
    fn packet(&self, egress: &Egress) -> Result<Vec<u8>, ExternalError> {
        let host = egress.host as usize;
        let mut bytes = Vec::new();
        if self.outside[host ^ 1].is_some() {
            bytes.clone_from(&self.bytes[egress.id as usize]);
            if egress.body.ecn() == Codepoint::Ce {
                packet::mark(&mut bytes);
            }
        } else {
            let addresses = self.addresses[host / 2].addresses(!host.is_multiple_of(2));
            packet::write(&egress.body, &addresses, &mut bytes).map_err(ExternalError::NoFormat)?;
        }
        Ok(bytes)
    }
}
