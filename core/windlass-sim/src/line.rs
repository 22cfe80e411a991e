//! Delay lines. A link has a delay line if its delay varies, if it reorders packets, or if it thins
//! out acknowledgements. Packets pass through the line after their transmission.

mod acks;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use windlass_cc::{Span, Time};

use crate::config::Config;
use crate::core::{Core, Entity};
use crate::course::{Course, Distribution, Jitter, Reorder};
use crate::loss::step_at;
use crate::packet::{Body, PacketHandle};
use crate::random::{Chance, Purpose, Stream};
use crate::results::PacketFate;

use acks::{Admitted, Gates};

/// Pending actions of the line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// The delay of this packet has passed.
    Packet { id: u32, size: u32, hop: u32, held: bool },
    /// The packet has been held for the maximum time, regardless of the number of packets that
    /// passed it.
    LetGo { held: u64 },
    /// The acknowledgements for this host have been held for the maximum time, if this round has
    /// not ended.
    Acks { host: u32, round: u64 },
}

/// A packet that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Number of this packet among all packets held so far. It is needed because packet ids are
    /// reused.
    number: u64,
    handle: PacketHandle,
    /// Number of packets that still have to pass it.
    left: u32,
}

/// The delay line of one link direction.
#[derive(Clone, Debug)]
pub(crate) struct DelayLine {
    /// The link direction.
    pub(crate) link: u32,
    delay: Span,
    /// Later delays, in reverse order of time.
    changes: Vec<(Time, Span)>,
    /// Delays that repeat, with their period; empty without a period.
    cycle: (Vec<(Time, Span)>, Option<Span>),
    jitter: Option<Jitter>,
    reorder: Option<(Chance, Reorder)>,
    gates: Option<Gates>,
    stream: Stream,
    /// Pending actions, by time and then in order of insertion.
    due: BinaryHeap<Reverse<(Time, u64, Due)>>,
    held: Vec<Held>,
    /// Number of entries inserted into `due`.
    entries: u64,
    /// Latest arrival so far at the end of the line, without the additional time of held packets.
    last: Time,
    /// Time of the pending event.
    armed: Time,
    /// Packets in the line.
    pub(crate) inside: u64,
    /// Acknowledgements dropped in favour of newer acknowledgements.
    pub(crate) thinned: u64,
    /// Packets that leave the line now.
    pub(crate) out: Vec<PacketHandle>,
}

impl DelayLine {
    /// The lines of all link directions that need a line.
    pub(crate) fn all(config: &Config) -> Vec<DelayLine> {
        let directions = (0..2 * config.links.len()).filter_map(|direction| {
            let link = &config.links[direction / 2];
            let course = &link.course[direction % 2];
            course.has_line().then(|| DelayLine {
                link: direction as u32,
                delay: link.direction(direction % 2).delay,
                changes: match course.delays_repeat {
                    None => course.delays.iter().rev().copied().collect(),
                    Some(_) => Vec::new(),
                },
                cycle: (cycle(course, link.direction(direction % 2).delay), course.delays_repeat),
                jitter: course.jitter,
                reorder: course.reorder.map(|r| (Chance::new(r.share), r)),
                gates: course.acks.map(Gates::new),
                stream: Stream::new(config.seed, direction as u64, Purpose::Line),
                due: BinaryHeap::new(),
                held: Vec::new(),
                entries: 0,
                last: Time::ZERO,
                armed: Time::NEVER,
                inside: 0,
                thinned: 0,
                out: Vec::new(),
            })
        });
        directions.collect()
    }

    /// Receives a packet from the link.
    pub(crate) fn put(&mut self, core: &mut Core, number: u32, handle: PacketHandle) {
        self.inside += 1;
        let host = core.destination(handle);
        let admitted = match (&mut self.gates, core.packets.get(handle.id)) {
            (Some(gates), Body::Segment(segment)) => gates.admit(host, segment, handle),
            _ => Admitted::PASSES,
        };
        if let Some(dropped) = admitted.replaced {
            self.inside -= 1;
            self.thinned += 1;
            core.log(core.now, self.link, PacketFate::DroppedThinned, dropped);
            core.drop_packet(dropped);
        }
        if let Some((round, within)) = admitted.waits {
            self.add(core.now + within, Due::Acks { host, round });
        }
        if admitted.lets_go {
            self.let_acks_go(core.now, host);
        }
        if admitted.passes {
            self.send(core.now, handle);
        }
        self.arm(core, number);
    }

    /// Handles the event of the line. Afterwards `out` has the packets that leave.
    pub(crate) fn on_due(&mut self, core: &mut Core, number: u32) {
        if core.now >= self.armed {
            self.armed = Time::NEVER;
        }
        while let Some(Reverse((at, _, due))) = self.due.peek().copied()
            && at <= core.now
        {
            self.due.pop();
            match due {
                Due::Packet { id, size, hop, held } => {
                    self.come(core.now, PacketHandle { id, size, hop }, held);
                }
                Due::LetGo { held: number } => {
                    if let Some(place) = self.held.iter().position(|held| held.number == number) {
                        let held = self.held.remove(place);
                        self.out.push(held.handle);
                    }
                }
                Due::Acks { host, round } => {
                    if self.gates.as_ref().is_some_and(|gates| gates.is_round(host, round)) {
                        self.let_acks_go(core.now, host);
                    }
                }
            }
        }
        self.inside -= self.out.len() as u64;
        for handle in &self.out {
            core.write_log_at_end(core.now, self.link, PacketFate::Delivered, *handle);
        }
        self.arm(core, number);
    }

    /// The delay of a packet has passed: it is held for reordering, or it leaves the line. A packet
    /// that leaves counts as one that passes each held packet.
    fn come(&mut self, now: Time, handle: PacketHandle, held: bool) {
        if let (true, Some((_, reorder))) = (held, self.reorder) {
            let number = self.entries;
            self.held.push(Held { number, handle, left: reorder.packets });
            self.add(now + reorder.within, Due::LetGo { held: number });
            return;
        }
        self.out.push(handle);
        let out = &mut self.out;
        self.held.retain_mut(|held| {
            held.left -= 1;
            if held.left == 0 {
                out.push(held.handle);
            }
            held.left > 0
        });
    }

    fn let_acks_go(&mut self, now: Time, host: u32) {
        let held = self.gates.as_mut().map(|gates| gates.open(host)).unwrap_or_default();
        held.into_iter().for_each(|handle| self.send(now, handle));
    }

    /// Schedules a packet's arrival at the end of the line.
    fn send(&mut self, now: Time, handle: PacketHandle) {
        while let Some((_, delay)) = self.changes.pop_if(|(from, _)| *from <= now) {
            self.delay = delay;
        }
        if let (steps, Some(period)) = &self.cycle
            && let Some(delay) = step_at(steps, Some(*period), now)
        {
            self.delay = delay;
        }
        let delay = match self.jitter {
            Some(jitter) => drawn(jitter, self.delay, &mut self.stream),
            None => self.delay,
        };
        let mut comes = now + delay;
        if self.jitter.is_none_or(|jitter| !jitter.overtaking) {
            comes = comes.max(self.last);
        }
        self.last = self.last.max(comes);
        let held = self.reorder.is_some_and(|(chance, _)| chance.draw(&mut self.stream));
        let PacketHandle { id, size, hop } = handle;
        self.add(comes, Due::Packet { id, size, hop, held });
    }

    fn add(&mut self, at: Time, due: Due) {
        self.entries += 1;
        self.due.push(Reverse((at, self.entries, due)));
    }

    fn arm(&mut self, core: &mut Core, number: u32) {
        if let Some(Reverse((at, _, _))) = self.due.peek()
            && *at < self.armed
        {
            self.armed = *at;
            core.schedule(*at, Entity::Line(number));
        }
    }
}

/// The delays of a period, if the delays repeat.
fn cycle(course: &Course, first: Span) -> Vec<(Time, Span)> {
    let all = || std::iter::once((Time::ZERO, first)).chain(course.delays.iter().copied());
    course.delays_repeat.map_or_else(Vec::new, |_| all().collect())
}

/// Draws a delay around this delay.
fn drawn(jitter: Jitter, delay: Span, stream: &mut Stream) -> Span {
    let by = jitter.by.0 as f64;
    let difference = match jitter.distribution {
        Distribution::Uniform => by * (2.0 * stream.unit() - 1.0),
        Distribution::Exponential => -by * libm::log(stream.unit()),
        Distribution::Normal => loop {
            // Method of Box and Muller; only one of the two values is used.
            let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
            let drawn = radius * libm::cos(std::f64::consts::TAU * stream.unit());
            if drawn.abs() <= 3.0 {
                break by * drawn;
            }
        },
    };
    Span((delay.0 as f64 + difference).max(0.0) as u64)
}
