//! The network between the namespaces: the simulation, run in real time.
//!
//! One thread reads the packets that the kernel sends from the TUN devices. It passes each packet to the
//! simulation as a segment and keeps its bytes. When the segment leaves its last link, the thread writes the
//! bytes to the device of the destination host.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags};
use windlass_cc::{Span, Time};
use windlass_sim::Simulation;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::Config;
use windlass_sim::external::{Egress, packet};
use windlass_sim::packet::Body;
use windlass_tcp::segment::Codepoint;

use super::clock::Clock;
use super::error::Error;
use super::lateness::{Lateness, Log};
use super::tun::Tun;
use super::vigil::Vigil;
use super::wiretap::Wiretap;

/// Maximum number of packets read from one device before the other devices have their turn.
const TURN: usize = 64;
/// Maximum sleep, so that a stall is noticed even if nothing was due.
const HEARTBEAT: Span = Span::from_millis(10);
/// Largest IPv4 packet.
const BUFFER: usize = 65_536;

/// The device of a host outside the simulation.
#[derive(Debug)]
pub(crate) struct Port {
    /// Host number.
    pub host: u32,
    /// TUN device of the host's namespace.
    pub tun: Tun,
    /// Maximum window field that the host may send.
    pub pin: Option<u16>,
}

/// Data of the network after it has stopped.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub simulation: Simulation,
    pub lateness: Lateness,
    pub wiretap: Wiretap,
}

/// The simulation, with the bytes of its packets.
pub(crate) struct Emulator<'a> {
    ports: &'a [Port],
    clock: Clock,
    end: Time,
    /// Port of each gate, for hosts outside the simulation.
    by_gate: Vec<Option<usize>>,
    /// Gates of each port.
    gates: Vec<Vec<u32>>,
    /// Addresses of each flow.
    addresses: Vec<FlowAddresses>,
    simulation: Simulation,
    /// Bytes of each packet, by packet number.
    bytes: Vec<Vec<u8>>,
    arrived: Vec<Egress>,
    /// Buffer for a packet that is read.
    buffer: Vec<u8>,
    /// Buffer for a packet of an end inside the simulation that is written.
    written: Vec<u8>,
    log: Log,
    wiretap: Wiretap,
}

impl<'a> Emulator<'a> {
    /// Creates a network in which the hosts of `ports` are outside the simulation.
    pub fn new(config: &Config, ports: &'a [Port], clock: Clock) -> Result<Emulator<'a>, Error> {
        let mut simulation = Simulation::new(config.clone())?;
        let mut by_gate = vec![None; 2 * (config.flows.len() + config.subflows())];
        let mut gates = Vec::new();
        for (i, port) in ports.iter().enumerate() {
            let of_port = simulation.make_external(port.host);
            of_port.iter().for_each(|gate| by_gate[*gate as usize] = Some(i));
            gates.push(of_port);
        }
        let addresses = (0..).zip(&config.flows).map(|(i, flow)| FlowAddresses::of_flow(i, flow));
        Ok(Emulator {
            ports,
            clock,
            end: config.duration,
            wiretap: Wiretap::new(config, &by_gate),
            by_gate,
            gates,
            addresses: addresses.collect(),
            simulation,
            bytes: Vec::new(),
            arrived: Vec::new(),
            buffer: vec![0; BUFFER],
            written: Vec::new(),
            log: Log::default(),
        })
    }

    /// Runs the network until the configured duration is over, or until the applications have closed `done`
    /// and the network is empty. In the second case time jumps to the end, as nothing can happen before it.
    /// During the last `spin` before an event is due, the thread polls the clock instead of sleeping.
    pub fn run(
        mut self,
        mut vigil: Vigil,
        done: &UnixStream,
        spin: Span,
    ) -> Result<Stopped, Error> {
        let failed = || Error::on("carrying packets");
        let ports = self.ports;
        let readable = |fd: BorrowedFd<'a>| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds: Vec<PollFd<'_>> = ports.iter().map(|p| readable(p.tun.as_fd())).collect();
        fds.push(PollFd::new(done.as_fd(), PollFlags::POLLIN));
        let mut hung_up = false;
        loop {
            self.catch_up().map_err(failed())?;
            let next = self.simulation.next_event();
            if self.clock.now() >= self.end || (hung_up && next.is_none()) {
                break;
            }
            if hung_up && self.simulation.packets_inside() == 0 {
                // Only timers of ends inside the simulation are left, such as the TIME-WAIT timer.
                self.clock.skip_to(next.unwrap_or(self.end).min(self.end));
            }
            self.wait(&mut vigil, &mut fds, next, spin).map_err(failed())?;
            for (i, fd) in (0..ports.len()).zip(&fds) {
                if fd.any().unwrap_or(false) {
                    self.read(i).map_err(failed())?;
                }
            }
            if !hung_up && fds.last().is_some_and(|fd| fd.any().unwrap_or(false)) {
                hung_up = true;
                fds.pop();
            }
        }
        self.simulation.run_until(self.end);
        Ok(Stopped {
            simulation: self.simulation,
            lateness: self.log.summary(),
            wiretap: self.wiretap,
        })
    }

    /// Sleeps until a device has a packet to read or an event in the network is nearly due.
    fn wait(
        &mut self,
        vigil: &mut Vigil,
        fds: &mut [PollFd<'_>],
        next: Option<Time>,
        spin: Span,
    ) -> io::Result<()> {
        let due = self.clock.until(next.unwrap_or(Time::NEVER).min(self.end));
        let sleep = Span(due.0.saturating_sub(vigil.spin(spin).0)).min(HEARTBEAT);
        if let Some(late) = vigil.wait(fds, Some(sleep))? {
            self.log.add_stall(late);
        }
        Ok(())
    }

    /// Advances the simulation to the clock's time, and delivers the packets that have arrived.
    fn catch_up(&mut self) -> io::Result<()> {
        self.simulation.run_until(self.clock.now());
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.extend(self.simulation.take_egress());
        for egress in arrived.drain(..) {
            self.deliver(&egress)?;
        }
        self.arrived = arrived; // the vector's memory is reused
        Ok(())
    }

    fn deliver(&mut self, egress: &Egress) -> io::Result<()> {
        let host = egress.host as usize;
        let Some(port) = self.by_gate[host].map(|i| &self.ports[i]) else { return Ok(()) };
        let bytes = if self.by_gate[host ^ 1].is_some() {
            let bytes = &mut self.bytes[egress.id as usize];
            if egress.body.ecn() == Codepoint::Ce {
                packet::mark(bytes);
            }
            &*bytes
        } else {
            self.written.clear();
            let addresses = self.addresses[host / 2].addresses(!host.is_multiple_of(2));
            packet::write(&egress.body, &addresses, &mut self.written).map_err(io::Error::other)?;
            &self.written
        };
        self.log.add(self.clock.now().since(egress.time));
        port.tun.write(bytes)
    }

    /// Puts the packets that a namespace sends on their first link.
    fn read(&mut self, place: usize) -> io::Result<()> {
        let port = &self.ports[place];
        for _ in 0..TURN {
            let Some(len) = port.tun.read(&mut self.buffer)? else { break };
            let mut taken = std::mem::take(&mut self.buffer);
            self.catch_up()?;
            if self.simulation.now() < self.end {
                self.send(place, &mut taken, len);
            }
            self.buffer = taken;
        }
        Ok(())
    }

    fn send(&mut self, place: usize, buffer: &mut [u8], len: usize) {
        let (port, bytes) = (&self.ports[place], &mut buffer[..len]);
        let gate = self.gate(place, bytes);
        let (Some(mut body), Some(gate)) = (packet::body(bytes), gate) else {
            self.log.add_lost(u64::from(packet::is_of_a_flow(bytes)));
            return;
        };
        if let (Some(most), Body::Segment(segment)) = (port.pin, &mut body) {
            packet::pin_window(bytes, most);
            segment.window = segment.window.min(most);
        }
        if let Body::Segment(segment) = &body {
            self.wiretap.sent(self.simulation.now(), gate, segment);
        }
        let id = self.simulation.inject(gate, len as u32, body) as usize;
        if id >= self.bytes.len() {
            self.bytes.resize(id + 1, Vec::new());
        }
        self.bytes[id].clear();
        self.bytes[id].extend_from_slice(bytes);
    }

    /// Returns the gate for a packet of this port: its only gate, or the gate of the path that the client's
    /// address belongs to.
    fn gate(&self, place: usize, packet: &[u8]) -> Option<u32> {
        let gates = &self.gates[place];
        if let [only] = gates[..] {
            return Some(only);
        }
        let flow = &self.addresses[self.ports[place].host as usize / 2];
        let ends = packet::ends(packet)?;
        let mut paths = (0..).zip(gates);
        paths.find(|(path, _)| ends.contains(&flow.client(*path))).map(|(_, gate)| *gate)
    }
}
