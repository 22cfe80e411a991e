//! One run of a case: two ends, the links between them and the faults before the links, in one thread
//! that keeps real time.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use windlass_cc::{Span, Time};
use windlass_sim::Simulation;
use windlass_sim::outside::Departure;
use windlass_sim::packet::Body;
use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_tcp::segment::Codepoint;
use windlass_tcp::{Segment, Seq, wire};

use super::faults::{Faults, What};
use super::host::Host;
use super::kernel::Kernel;
use super::ours::Ours;
use super::plan::Plan;
use super::script::Actor;
use super::trace::Trace;
use super::{Direction, Side};
use crate::live::Error;
use crate::live::clock::Clock;
use crate::live::lateness::Log;
use crate::live::packet;

/// From set-up to time zero.
const LEAD: Duration = Duration::from_millis(5);
/// How long the network is watched after both applications are done, beyond the round trip.
const AFTERMATH: Span = Span::from_millis(60);
/// First sequence number of our endpoint: its stream passes the number 2³² early on.
const ISS: Seq = Seq(0xffff_e000);
/// Largest IPv4 packet.
const BUFFER: usize = 65_536;

/// A packet that a fault holds back.
#[derive(Debug)]
struct Held {
    /// Until then, or
    due: Time,
    /// until so many packets of the same end have gone.
    overtaking: u32,
    from: Side,
    bytes: Vec<u8>,
}

struct Bench {
    clock: Clock,
    now: Time,
    ours_side: Side,
    ours: Ours,
    kernel: Kernel,
    /// Sender and receiver.
    actors: [Actor; 2],
    simulation: Simulation,
    /// Bytes of each packet by its number.
    bytes: Vec<Vec<u8>>,
    /// What has come out of the simulation and is not delivered yet.
    arrived: Vec<(Departure, Vec<u8>)>,
    faults: Faults,
    held: Vec<Held>,
    packets: Vec<PacketEvent>,
    log: Log,
}

/// Runs a plan; `seed` is of the random losses.
pub(super) fn run(plan: &Plan, direction: Direction, seed: u64) -> Result<Trace, Error> {
    let mut bench = Bench::new(plan, direction, seed)?;
    bench.clock.wait_for_start();
    let done = bench.go(plan)?;
    let unused = bench.faults.unused().map(|fault| format!("{fault:?}")).collect();
    let standings = Side::BOTH.map(|side| bench.host(side).standing());
    let result = bench.simulation.finish()?;
    // What was sent and what arrived is in the log already; what the links lost is not.
    let lost = result.packets.iter().filter(|p| is_loss(p.fate));
    let mut packets = bench.packets;
    packets.extend(lost.map(|p| PacketEvent { fate: PacketFate::DroppedError, ..*p }));
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

fn is_loss(fate: PacketFate) -> bool {
    matches!(fate, PacketFate::DroppedQueue | PacketFate::DroppedError)
}

impl Bench {
    fn new(plan: &Plan, direction: Direction, seed: u64) -> Result<Bench, Error> {
        let (ours, theirs) = (direction.ours(), direction.ours().other());
        let addresses = super::addresses();
        let of = |side: Side| addresses.addresses(side == Side::Sender);
        let ends = (of(theirs).source, of(theirs).destination);
        let mut simulation = Simulation::new(plan.network(seed))?;
        simulation.detach(0);
        simulation.detach(1);
        let kernel = Kernel::new(plan.flow(theirs), ends)?;
        Ok(Bench {
            ours_side: ours,
            ours: Ours::new(plan.profile(ours), of(ours), ISS),
            kernel,
            actors: Side::BOTH.map(|side| Actor::new(plan.ends[side as usize].script.clone())),
            simulation,
            bytes: Vec::new(),
            arrived: Vec::new(),
            faults: Faults::new(plan.faults.clone()),
            held: Vec::new(),
            packets: Vec::new(),
            log: Log::new(),
            now: Time::ZERO,
            clock: Clock::starting_in(LEAD),
        })
    }

    /// Runs until both applications are done and nothing can be on its way any more, or until patience
    /// is at its end. Returns when the applications were done.
    fn go(&mut self, plan: &Plan) -> Result<Time, Error> {
        let mut done = None;
        let quiet = plan.delay + plan.delay + AFTERMATH;
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
            self.read()?;
        }
    }

    /// Lets everything happen that is due.
    fn turn(&mut self) -> Result<(), Error> {
        self.release();
        self.catch_up();
        for (departure, bytes) in std::mem::take(&mut self.arrived) {
            self.deliver(&departure, bytes)?;
        }
        self.kernel.act(self.now)?;
        loop {
            self.let_ours_act()?;
            let mut moved = false;
            for side in Side::BOTH {
                let host: &mut dyn Host =
                    if side == self.ours_side { &mut self.ours } else { &mut self.kernel };
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
        self.ours.act(self.now, |segment, bytes| sent.push((segment, bytes.to_vec())))?;
        for (segment, bytes) in sent {
            self.send(self.ours_side, segment, bytes);
        }
        Ok(())
    }

    /// An end has sent a packet.
    fn send(&mut self, from: Side, segment: Segment, bytes: Vec<u8>) {
        self.note(from, PacketFate::Sent, segment);
        for held in self.held.iter_mut().filter(|held| held.from == from) {
            held.overtaking = held.overtaking.saturating_sub(1);
        }
        match self.faults.judge(from, &segment) {
            None => self.launch(from, bytes),
            Some(What::Drop) => self.note(from, PacketFate::DroppedError, segment),
            Some(What::Behind(overtaking)) => {
                self.held.push(Held { due: Time::NEVER, overtaking, from, bytes });
            }
            Some(What::Twice(span)) => {
                let (due, overtaking) = (self.now + span, u32::MAX);
                self.held.push(Held { due, overtaking, from, bytes: bytes.clone() });
                self.launch(from, bytes);
            }
        }
        self.release();
    }

    /// What has been held back long enough goes.
    fn release(&mut self) {
        let now = self.now;
        let due = self.held.extract_if(.., |held| held.due <= now || held.overtaking == 0);
        for held in due.collect::<Vec<Held>>() {
            self.launch(held.from, held.bytes);
        }
    }

    /// Puts a packet on its link.
    fn launch(&mut self, from: Side, bytes: Vec<u8>) {
        self.catch_up();
        let Some(body) = packet::body(&bytes) else { return };
        let id = self.simulation.inject(from as u32, bytes.len() as u32, body) as usize;
        if id >= self.bytes.len() {
            self.bytes.resize(id + 1, Vec::new());
        }
        self.bytes[id] = bytes;
    }

    /// Lets the simulation come up to the clock. What has come out of it gets its bytes at once: a
    /// packet that is launched next may have its number.
    fn catch_up(&mut self) {
        self.simulation.run_until(self.now);
        for departure in self.simulation.take_departures() {
            let bytes = std::mem::take(&mut self.bytes[departure.id as usize]);
            self.arrived.push((departure, bytes));
        }
    }

    fn deliver(&mut self, departure: &Departure, mut bytes: Vec<u8>) -> Result<(), Error> {
        if matches!(departure.body, Body::Segment(s) if s.ecn == Codepoint::Ce) {
            packet::mark(&mut bytes);
        }
        let Ok(parsed) = wire::parse(&bytes) else { return Ok(()) };
        // No two packets come at the same moment: RACK tells the order of transmissions by their times.
        self.now = self.clock.now();
        let to = if departure.host == 0 { Side::Sender } else { Side::Receiver };
        self.note(to.other(), PacketFate::Delivered, parsed.segment);
        self.log.add(self.now.since(departure.time));
        if to == self.ours_side {
            self.ours.take(self.now, &parsed.segment, parsed.payload);
            return self.let_ours_act();
        }
        self.kernel.tun().write(&bytes).map_err(Error::on("carrying packets"))
    }

    fn note(&mut self, from: Side, fate: PacketFate, segment: Segment) {
        self.packets.push(PacketEvent {
            time: self.now,
            link: from as u32,
            flow: 0,
            forward: from == Side::Sender,
            fate,
            segment: Some(segment),
            ip_len: segment.ip_len(),
            path: None,
        });
    }

    /// Sleeps until the kernel has something for us or something is due.
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

    /// Takes what the kernel has sent.
    fn read(&mut self) -> Result<(), Error> {
        self.now = self.clock.now();
        let mut buffer = vec![0; BUFFER];
        while let Some(len) =
            self.kernel.tun().read(&mut buffer).map_err(Error::on("carrying packets"))?
        {
            let bytes = buffer[..len].to_vec();
            let segment = match wire::parse(&bytes) {
                Ok(parsed) => parsed.segment,
                Err(_) => continue,
            };
            self.send(self.ours_side.other(), segment, bytes);
        }
        Ok(())
    }

    fn host(&self, side: Side) -> &dyn Host {
        if side == self.ours_side { &self.ours } else { &self.kernel }
    }
}
