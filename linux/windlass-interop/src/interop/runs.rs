//! One run of a case: two ends, the links between them and the faults before the links, in one thread that
//! keeps real time.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use windlass_cc::{Span, Time};
use windlass_sim::Simulation;
use windlass_sim::external::{Egress, packet};
use windlass_sim::packet::Body;
use windlass_sim::results::{PacketEvent, PacketFate, PathPacket};
use windlass_tcp::mptcp::Numbers;
use windlass_tcp::segment::Codepoint;
use windlass_tcp::{Seq, wire};

use super::faults::{Faults, What};
use super::host::{Host, Passing, Stack};
use super::kernel::Kernel;
use super::multipath::Ours as MultipathOurs;
use super::ours::Ours;
use super::plan::{KernelSocket, Outage, Plan};
use super::steps::Actor;
use super::trace::Trace;
use super::{Direction, Side};
use windlass_testbed::live::Error;
use windlass_testbed::live::clock::Clock;
use windlass_testbed::live::lateness::Log;
use windlass_testbed::live::path_manager::Multihomed;

/// Time from the set-up to time zero.
const LEAD: Duration = Duration::from_millis(5);
/// Time for which the network is watched after both applications have finished, in addition to the RTT.
const AFTERMATH: Span = Span::from_millis(60);
/// First sequence number of Windlass's endpoint, chosen so that its stream passes 2³² early.
const ISS: Seq = Seq(0xffff_e000);
/// Largest IPv4 packet.
const BUFFER: usize = 65_536;

/// A packet that a fault delays.
#[derive(Debug)]
struct Held {
    /// The packet is held until this time, or
    due: Time,
    /// until this number of later packets of the same end has passed.
    overtaking: u32,
    from: Side,
    packet: Passing,
}

struct Bench {
    clock: Clock,
    now: Time,
    ours_side: Side,
    ours: Box<dyn Stack>,
    kernel: Kernel,
    /// Applications of the sender and the receiver.
    actors: [Actor; 2],
    simulation: Simulation,
    /// Packets in the simulation, by their number.
    passing: Vec<Option<Passing>>,
    /// Packets that have left the simulation and are not delivered yet.
    arrived: Vec<(Egress, Passing)>,
    /// The connection's data sequence numbers so far.
    numbers: Numbers,
    /// Faults of each path.
    faults: Vec<Faults>,
    outages: Vec<Outage>,
    held: Vec<Held>,
    packets: Vec<PacketEvent>,
    multipath: bool,
    log: Log,
}

/// Runs a plan; `seed` determines the random losses.
pub(super) fn run(plan: &Plan, direction: Direction, seed: u64) -> Result<Trace, Error> {
    let mut bench = Bench::new(plan, direction, seed)?;
    bench.clock.wait_for_start();
    let done = bench.go(plan)?;
    let unused = bench.faults.iter().flat_map(Faults::unused);
    let unused = unused.map(|fault| format!("{fault:?}")).collect();
    let standings = Side::BOTH.map(|side| bench.host(side).standing());
    let result = bench.simulation.finish()?;
    // The log already contains the sent and arrived packets, but not the packets that the links lost.
    let lost = result.packets.iter().filter(|p| is_loss(p.fate));
    let mut packets = bench.packets;
    let lost: Vec<PacketEvent> = lost.map(|p| as_sent(p, &packets)).collect();
    packets.extend(lost);
    packets.sort_by_key(|p| p.time);
    Ok(Trace {
        direction,
        packets,
        standings,
        waiting: bench.actors.map(|actor| actor.waits_for()),
        unused,
        marks: result.links.first().map_or(0, |link| link.marks),
        lateness: bench.log.summary(),
        done,
    })
}

/// Returns a packet that a link has lost, as its end has sent it.
fn as_sent(lost: &PacketEvent, log: &[PacketEvent]) -> PacketEvent {
    let same = |p: &&PacketEvent| {
        p.fate == PacketFate::Sent && p.link == lost.link && p.segment == lost.segment
    };
    let sent = log.iter().rev().filter(|p| p.time <= lost.time).find(same).unwrap_or(lost);
    PacketEvent { time: lost.time, fate: PacketFate::DroppedError, ..*sent }
}

fn is_loss(fate: PacketFate) -> bool {
    matches!(fate, PacketFate::DroppedQueue | PacketFate::DroppedError)
}

/// Returns the kernel's set-up for Multipath TCP. A client has more than one address.
fn multihomed(plan: &Plan, theirs: Side) -> Option<Multihomed> {
    let kernel = plan.multipath.as_ref()?.kernel;
    let further = if plan.client() == theirs { 1..plan.paths() } else { 0..0 };
    (kernel != KernelSocket::Plain).then(|| Multihomed {
        addresses: further.map(|path| plan.client_address(path)).collect(),
        checksums: kernel == KernelSocket::Checksums,
    })
}

impl Bench {
    fn new(plan: &Plan, direction: Direction, seed: u64) -> Result<Bench, Error> {
        let (ours, theirs) = (direction.ours(), direction.ours().other());
        let of = |side: Side| plan.addresses().addresses(side == Side::Sender);
        let ends = (of(theirs).source, of(theirs).destination);
        let mut simulation = Simulation::new(plan.network(seed))?;
        (0..2 * u32::from(plan.paths())).for_each(|host| drop(simulation.make_external(host)));
        let kernel = Kernel::new(plan.flow(theirs), ends, multihomed(plan, theirs))?;
        Ok(Bench {
            ours_side: ours,
            ours: match &plan.multipath {
                Some(multipath) => Box::new(MultipathOurs::new(plan, multipath, ours, seed)?),
                None => Box::new(Ours::new(plan.profile(ours), of(ours), ISS)),
            },
            kernel,
            actors: Side::BOTH.map(|side| Actor::new(plan.ends[side as usize].steps.clone())),
            simulation,
            passing: Vec::new(),
            arrived: Vec::new(),
            numbers: Numbers::default(),
            faults: [Some(&plan.faults), plan.multipath.as_ref().map(|m| &m.faults)]
                .into_iter()
                .flatten()
                .map(|faults| Faults::new(faults.clone()))
                .collect(),
            outages: plan.multipath.iter().flat_map(|m| m.outages.clone()).collect(),
            held: Vec::new(),
            packets: Vec::new(),
            multipath: plan.multipath.is_some(),
            log: Log::default(),
            now: Time::ZERO,
            clock: Clock::starting_in(LEAD),
        })
    }

    /// Runs until both applications have finished and no packet can be in flight, or until the plan's time
    /// limit. Returns the time at which the applications had finished.
    fn go(&mut self, plan: &Plan) -> Result<Time, Error> {
        let mut done = None;
        let delay = plan.multipath.as_ref().map_or(plan.delay, |m| m.delay.max(plan.delay));
        let quiet = delay + delay + AFTERMATH;
        loop {
            self.now = self.clock.now();
            if self.now >= plan.patience {
                return Ok(done.unwrap_or(plan.patience));
            }
            self.turn()?;
            if self.actors.iter().all(|actor| actor.waits_for().is_none()) {
                done.get_or_insert(self.now);
            }
            let end = done.map_or(plan.patience, |at| at + quiet);
            if self.now >= end {
                return Ok(done.unwrap_or(self.now));
            }
            self.wait(end).map_err(Error::on("waiting for packets"))?;
            self.read(plan)?;
        }
    }

    /// Processes everything that is due.
    fn turn(&mut self) -> Result<(), Error> {
        self.release();
        self.catch_up();
        for (egress, packet) in std::mem::take(&mut self.arrived) {
            self.deliver(&egress, packet)?;
        }
        self.kernel.act(self.now)?;
        loop {
            self.let_ours_act()?;
            let mut moved = false;
            for side in Side::BOTH {
                let host: &mut dyn Host =
                    if side == self.ours_side { &mut *self.ours } else { &mut self.kernel };
                moved |= self.actors[side as usize].advance(self.now, host)?;
            }
            if !moved {
                return self.let_ours_act();
            }
            self.kernel.act(self.now)?;
        }
    }

    fn let_ours_act(&mut self) -> Result<(), Error> {
        let mut sent = Vec::new();
        self.ours.act(self.now, &mut sent)?;
        for packet in sent {
            if let Some(option) = &packet.option {
                self.numbers.sent(option);
            }
            self.send(self.ours_side, packet);
        }
        Ok(())
    }

    /// Processes a packet that an end has sent.
    fn send(&mut self, from: Side, packet: Passing) {
        self.note(from, PacketFate::Sent, &packet);
        for held in self.held.iter_mut() {
            if held.from == from && held.packet.path == packet.path {
                held.overtaking = held.overtaking.saturating_sub(1);
            }
        }
        let silent = |o: &Outage| o.path == packet.path && (o.from..o.to).contains(&self.now);
        let fault = self.faults[usize::from(packet.path)].judge(from, &packet.segment);
        match fault.or(self.outages.iter().any(silent).then_some(What::Drop)) {
            None => self.launch(from, packet),
            Some(What::Drop) => self.note(from, PacketFate::DroppedError, &packet),
            Some(What::Behind(overtaking)) => {
                self.held.push(Held { due: Time::NEVER, overtaking, from, packet });
            }
            Some(What::Twice(span)) => {
                let (due, overtaking) = (self.now + span, u32::MAX);
                self.held.push(Held { due, overtaking, from, packet: packet.clone() });
                self.launch(from, packet);
            }
        }
        self.release();
    }

    /// Sends the delayed packets that are due.
    fn release(&mut self) {
        let now = self.now;
        let due = self.held.extract_if(.., |held| held.due <= now || held.overtaking == 0);
        for held in due.collect::<Vec<Held>>() {
            self.launch(held.from, held.packet);
        }
    }

    /// Puts a packet on its link.
    fn launch(&mut self, from: Side, packet: Passing) {
        self.catch_up();
        let Some(body) = packet::body(&packet.bytes) else { return };
        let host = 2 * u32::from(packet.path) + from as u32;
        let id = self.simulation.inject(host, packet.bytes.len() as u32, body) as usize;
        if id >= self.passing.len() {
            self.passing.resize(id + 1, None);
        }
        self.passing[id] = Some(packet);
    }

    /// Advances the simulation to the clock. Packets that have left the simulation are removed from
    /// `passing`, because the next packet may reuse their number.
    fn catch_up(&mut self) {
        self.simulation.run_until(self.now);
        for egress in self.simulation.take_egress() {
            let packet = self.passing.get_mut(egress.id as usize).and_then(Option::take);
            self.arrived.extend(packet.map(|packet| (egress, packet)));
        }
    }

    fn deliver(&mut self, egress: &Egress, mut packet: Passing) -> Result<(), Error> {
        if matches!(egress.body, Body::Segment(s) if s.ecn == Codepoint::Ce) {
            packet::mark(&mut packet.bytes);
            packet.segment.ecn = Codepoint::Ce;
        }
        // Two packets must not arrive at the same time, because RACK orders transmissions by their times.
        self.now = self.clock.now();
        let to = if egress.host.is_multiple_of(2) { Side::Sender } else { Side::Receiver };
        self.note(to.other(), PacketFate::Delivered, &packet);
        self.log.add(self.now.since(egress.time));
        if to == self.ours_side {
            if let Ok(parsed) = wire::parse(&packet.bytes) {
                self.ours.take(self.now, &parsed);
            }
            return self.let_ours_act();
        }
        self.kernel.tun().write(&packet.bytes).map_err(Error::on("carrying packets"))
    }

    fn note(&mut self, from: Side, fate: PacketFate, packet: &Passing) {
        let Passing { path, segment, option, bytes } = packet;
        // The SYN identifies the attempt of a subflow.
        let of_path = PathPacket { path: *path, attempt: 0, option: *option };
        self.packets.push(PacketEvent {
            time: self.now,
            link: 2 * u32::from(*path) + from as u32,
            flow: 0,
            forward: from == Side::Sender,
            fate,
            segment: Some(*segment),
            ip_len: bytes.len() as u32,
            path: self.multipath.then_some(of_path),
            quick_start: None,
        });
    }

    /// Sleeps until the kernel has sent a packet or an event is due.
    fn wait(&self, end: Time) -> std::io::Result<()> {
        let due = [
            self.simulation.next_event().unwrap_or(Time::NEVER),
            self.held.iter().map(|held| held.due).min().unwrap_or(Time::NEVER),
            self.actors[0].deadline(),
            self.actors[1].deadline(),
            self.ours.deadline(),
            self.kernel.deadline(),
        ];
        let due = due.into_iter().min().unwrap_or(end).min(end);
        let ns = self.clock.until(due).0;
        let timeout = TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64);
        let mut fds = vec![PollFd::new(self.kernel.tun().as_fd(), PollFlags::POLLIN)];
        if let Some((socket, events)) = self.kernel.waits_for() {
            fds.push(PollFd::new(socket.as_fd(), events));
        }
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    /// Reads the packets that the kernel has sent.
    fn read(&mut self, plan: &Plan) -> Result<(), Error> {
        self.now = self.clock.now();
        let mut buffer = vec![0; BUFFER];
        while let Some(len) =
            self.kernel.tun().read(&mut buffer).map_err(Error::on("carrying packets"))?
        {
            let bytes = buffer[..len].to_vec();
            let Ok(parsed) = wire::parse(&bytes) else { continue };
            let Some(path) = plan.path_of(&parsed.addresses) else { continue };
            let segment = parsed.segment;
            let option = parsed.multipath.map(|signal| self.numbers.complete(&signal));
            self.send(self.ours_side.other(), Passing { path, segment, option, bytes });
        }
        Ok(())
    }

    fn host(&self, side: Side) -> &dyn Host {
        if side == self.ours_side { &*self.ours } else { &self.kernel }
    }
}
