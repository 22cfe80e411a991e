//! A queue discipline, an error model and an application from outside the crate, each added through the
//! public interface, with their effect on a run.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::common::{Traffic, cbr, flow, link, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, Multipath, SubflowConfig};
use windlass_sim::extension::Custom;
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::{ErrorModel, ErrorProcess, LossModel};
use windlass_sim::queue::{Discipline, Dropped, QueueDiscipline, QueueState, Waiting};
use windlass_sim::random::Stream;
use windlass_sim::traffic::{Application, ApplicationEnd, Socket};
use windlass_sim::{RunResult, Simulation};
use windlass_tcp::mptcp::MultipathConfig;

const MBPS: u64 = 1_000_000;

// A queue discipline: last in, first out.

#[derive(Debug)]
struct Lifo {
    /// A defect: every n-th packet is forgotten; 0 for no defect.
    forgets: u64,
}

#[derive(Clone, Debug)]
struct Stack {
    packets: VecDeque<Waiting>,
    limit: QueueLimit,
    forgets: u64,
    seen: u64,
}

impl QueueDiscipline for Lifo {
    fn start(&self, limit: QueueLimit, _stream: Stream) -> Box<dyn QueueState> {
        Box::new(Stack { packets: VecDeque::new(), limit, forgets: self.forgets, seen: 0 })
    }
}

impl QueueState for Stack {
    fn enqueue(
        &mut self,
        _now: Time,
        packet: Waiting,
        _idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.seen += 1;
        if self.forgets > 0 && self.seen.is_multiple_of(self.forgets) {
            return false;
        }
        self.packets.push_front(packet);
        if let QueueLimit::Packets(n) = self.limit
            && self.len() > n
            && let Some(oldest) = self.packets.pop_back()
        {
            drops.push(Dropped { handle: oldest.handle, early: false });
        }
        false
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.packets.pop_front().map(|packet| (packet, false))
    }

    fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.handle.size)).sum()
    }
}

/// Datagrams at twice the rate of a link whose queue holds ten packets.
fn overload(discipline: Discipline) -> Config {
    let end = Time::from_secs(1);
    let mut wire = link([0, 1], 8 * MBPS, 1);
    (wire.queue, wire.discipline) = (QueueLimit::Packets(10), discipline);
    let source = flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(972, 500, end)));
    let mut config = network(vec![wire], vec![source], Time::from_secs(2));
    config.record.delays = true;
    config
}

fn lifo(forgets: u64) -> Discipline {
    Discipline::Custom(Custom::new(Arc::new(Lifo { forgets })))
}

#[test]
fn lifo_serves_the_newest_packets_and_drops_the_oldest() {
    let fifo = run(overload(Discipline::DropTail));
    let newest = run(overload(lifo(0)));
    let transit = |r: &RunResult| *r.flows[0].transit.as_deref().expect("measured");
    // With both disciplines, the link transmits every other packet and ten more. With first in, first
    // out, most packets wait in a full queue of 10 ms. With last in, first out, the newest packets wait only
    // for the packet in transmission, except for the packets that are left when the source stops.
    let fates = |r: &RunResult| (r.links[0].delivered, r.links[0].drops_queue);
    assert_eq!(fates(&fifo), fates(&newest));
    assert!(transit(&fifo).mean_ms > 11.0, "{:?}", transit(&fifo));
    assert!(transit(&newest).mean_ms < 2.6, "{:?}", transit(&newest));
    assert!(transit(&newest).max_ms > transit(&fifo).max_ms);
}

#[test]
fn a_queue_that_forgets_packets_is_detected() {
    let mut simulation = Simulation::new(overload(lifo(100))).expect("valid");
    simulation.run();
    let error = simulation.finish().expect_err("packets are missing");
    assert!(error.account.contains("queue of 0-1:n0>n1"), "{error}");
}

// An error model: each frame longer than the limit in bytes is lost with probability 1/2.

#[derive(Debug)]
struct LongFrames(u32);

#[derive(Clone, Debug)]
struct LongFramesAtWork(u32, Stream);

impl ErrorModel for LongFrames {
    fn start(&self, stream: Stream) -> Box<dyn ErrorProcess> {
        Box::new(LongFramesAtWork(self.0, stream))
    }
}

impl ErrorProcess for LongFramesAtWork {
    fn takes(&mut self, frame_bytes: u32) -> bool {
        frame_bytes > self.0 && self.1.next_u64() >> 63 == 1
    }
}

fn noisy(seed: u64) -> Config {
    let end = Time::from_secs(10);
    let mut wire = link([0, 1], 8 * MBPS, 1);
    let model = LongFrames(500);
    wire.loss[0] = Some(LossModel::Custom(Custom::new(Arc::new(model))));
    let of = |bytes| flow([0, 1], rfc("reno"), Traffic::CbrUdp(cbr(bytes, 5000, end)));
    let mut config = network(vec![wire], vec![of(100), of(1000)], end);
    config.seed = seed;
    config
}

#[test]
fn a_custom_error_model_destroys_only_its_frames() {
    let result = run(noisy(1));
    assert_eq!(result.flows[0].loss_rate, 0.0);
    // Half of 2000 packets, within four standard deviations.
    assert!((result.flows[1].loss_rate - 0.5).abs() < 4.0 * 0.5 / 2000f64.sqrt(), "{result:?}");
    assert_eq!(run(noisy(1)), result, "the same seed");
    assert_ne!(run(noisy(2)).flows[1].loss_rate, result.flows[1].loss_rate, "another seed");
}

// An application: a game with a number of rounds, in which each end sends back one byte more than it has
// received.

#[derive(Debug)]
struct Rally {
    rounds: u64,
}

#[derive(Clone, Debug)]
struct Player {
    opens: bool,
    serves: Option<Time>,
    rounds: u64,
    hits: u64,
    awaited: u64,
    done: bool,
}

impl Application for Rally {
    fn start(&self, start: Time, _streams: [Stream; 2]) -> [Box<dyn ApplicationEnd>; 2] {
        let rounds = self.rounds;
        let serves = Some(start);
        let server = Player { opens: true, serves, rounds, hits: 0, awaited: 2, done: false };
        let other = Player { opens: false, serves: None, awaited: 1, ..server.clone() };
        [Box::new(server), Box::new(other)]
    }
}

impl ApplicationEnd for Player {
    fn opens(&self) -> bool {
        self.opens
    }

    fn deadline(&self) -> Time {
        self.serves.unwrap_or(Time::NEVER)
    }

    fn act(&mut self, now: Time, socket: &mut dyn Socket) {
        if self.serves.take_if(|at| *at <= now).is_some() {
            socket.connect();
            socket.offer(1);
        }
        while !self.done && socket.readable() >= self.awaited {
            let got = socket.read(self.awaited);
            self.hits += 1;
            self.awaited += 2;
            self.done = self.hits == self.rounds;
            // The other end waits for the last ball.
            if !self.done || got % 2 == 1 {
                socket.offer(got + 1);
            }
            if self.done {
                socket.close();
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.done
    }
}

fn rally(rounds: u64) -> Config {
    let traffic = Traffic::Custom(Custom::new(Arc::new(Rally { rounds })));
    let mut profile = rfc("cubic");
    profile.stack.nagle = false;
    let mut game = flow([0, 1], profile, traffic);
    game.start = Time::from_secs(1);
    network(vec![link([0, 1], 1000 * MBPS, 50)], vec![game], Time::from_secs(60))
}

#[test]
fn a_custom_application_runs_over_a_connection() {
    let f = run(rally(20)).flows.remove(0);
    // The receiving end receives 1 + 3 + ... + 39 bytes.
    assert_eq!(f.delivered_bytes, 400);
    // The handshake takes one RTT, and each pair of hits takes one.
    let seconds = f.completion_s.expect("the game ends");
    let expected = 0.1 + 0.05 + 19.0 * 0.1;
    assert!((seconds - expected).abs() < 0.001, "{seconds} s, {expected} expected");
    assert_eq!((f.failure, f.retransmits), (None, 0));
}

#[test]
fn a_custom_application_runs_over_a_multipath_connection() {
    let mut config = rally(20);
    let subflow = |name: &str| SubflowConfig {
        name: name.into(),
        via: Vec::new(),
        profile: *config.flows[0].profile,
    };
    let subflows = vec![subflow("one"), subflow("two")];
    let settings = MultipathConfig::default();
    config.flows[0].multipath =
        Some(Box::new(Multipath { config: settings, subflows, disjoint: false }));
    let f = run(config).flows.remove(0);
    assert_eq!((f.delivered_bytes, f.failure), (400, None));
    assert!(f.completion_s.is_some());
}

/// A copy taken in the middle of a run continues independently, also with extensions.
#[test]
fn a_copy_of_a_simulation_has_the_results_of_the_original() {
    for config in [overload(lifo(0)), noisy(1), rally(20)] {
        let mut original = Simulation::new(config).expect("valid");
        original.run_until(Time::from_millis(500));
        let mut copy = original.clone();
        copy.run();
        let copied = copy.finish().expect("closed");
        original.run();
        assert_eq!(original.finish().expect("closed"), copied);
    }
}
