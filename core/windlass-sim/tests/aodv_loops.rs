//! For all losses of messages and all switched-off stations, following next hops from any node reaches the
//! destination or ends. Sequence numbers only grow.

use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::packet::PacketHandle;
use windlass_sim::radio::BROADCAST;
use windlass_sim::random::{Purpose, Stream};
use windlass_sim::routing::aodv::table::newer;
use windlass_sim::routing::aodv::{Action, AodvParams, Detection, Key, Message, Router};

/// Routers connected by a topology that loses messages, without a radio.
struct World {
    params: AodvParams,
    routers: Vec<Router>,
    /// True for each pair of routers that receive each other.
    near: Vec<Vec<bool>>,
    off: Vec<bool>,
    /// Messages on their way: arrival time, sender, receiver, message.
    air: Vec<(Time, u32, u32, Message)>,
    /// Data packets on their way.
    data: Vec<(Time, u32, u32, PacketHandle)>,
    stream: Stream,
    /// Number of lost messages per thousand.
    lossy: u64,
    /// Last sequence numbers, by owner and destination.
    numbers: Vec<Vec<u32>>,
    delivered: u32,
}

impl World {
    fn new(n: usize, edges: &[(usize, usize)], params: AodvParams, seed: u64, lossy: u64) -> World {
        let mut near = vec![vec![false; n]; n];
        for &(a, b) in edges {
            (near[a % n][b % n], near[b % n][a % n]) = (a % n != b % n, a % n != b % n);
        }
        let router = |i| Router::new(&params, i, Stream::new(seed, i.into(), Purpose::Routing));
        World {
            params,
            routers: (0..n as u32).map(router).collect(),
            near,
            off: vec![false; n],
            air: Vec::new(),
            data: Vec::new(),
            stream: Stream::new(seed, 99, Purpose::Loss),
            lossy,
            numbers: vec![vec![0; n]; n],
            delivered: 0,
        }
    }

    /// Sends a packet to a node. The handle's hop is the destination instead of a route position.
    fn send(&mut self, now: Time, from: u32, to: u32) {
        self.forward(now, from, from, None, PacketHandle { id: from, size: 100, hop: to });
    }

    fn forward(
        &mut self,
        now: Time,
        source: u32,
        at: u32,
        from: Option<u32>,
        handle: PacketHandle,
    ) {
        if self.off[at as usize] {
            return;
        }
        if handle.hop == at {
            self.delivered += 1;
            return;
        }
        let (p, router) = (self.params, &mut self.routers[at as usize]);
        let key = Key::shared(handle.hop);
        match (router.next_hop(&p, now, key, source, from), from) {
            (Some(next), _) => self.data.push((now + Span::from_millis(2), at, next, handle)),
            (None, None) => router.seek(&p, now, key, handle),
            (None, Some(from)) => router.refuse(&p, now, key, from),
        }
        self.carry_out(now, at);
    }

    fn lost(&mut self, from: u32, to: u32) -> bool {
        let apart = !self.near[from as usize][to as usize] || self.off[to as usize];
        apart || self.stream.next_u64() % 1000 < self.lossy
    }

    fn carry_out(&mut self, now: Time, at: u32) {
        for action in std::mem::take(&mut self.routers[at as usize].actions) {
            let soon = now + Span::from_micros(500 + self.stream.next_u64() % 4000);
            match action {
                Action::Send { to, message } if to == BROADCAST => {
                    for i in 0..self.routers.len() as u32 {
                        if i != at && !self.lost(at, i) {
                            self.air.push((soon, at, i, message.clone()));
                        }
                    }
                }
                Action::Send { to, message } => self.unicast(now, soon, at, to, message),
                Action::Forward { handle, next } => self.data.push((soon, at, next, handle)),
                Action::Drop { .. } => {}
            }
        }
    }

    fn unicast(&mut self, now: Time, soon: Time, at: u32, to: u32, message: Message) {
        if self.lost(at, to) {
            let p = self.params;
            self.routers[at as usize].link_failed(&p, now, to);
            self.carry_out(now, at);
        } else {
            self.air.push((soon, at, to, message));
        }
    }

    /// Processes all events until `end`, in order of time.
    fn run_until(&mut self, end: Time) {
        while let Some(now) = self.next().filter(|at| *at <= end) {
            let p = self.params;
            for i in 0..self.routers.len() as u32 {
                if self.routers[i as usize].deadline() <= now && !self.off[i as usize] {
                    self.routers[i as usize].on_deadline(&p, now);
                    self.carry_out(now, i);
                }
            }
            let (due, later) = std::mem::take(&mut self.air).into_iter().partition(|m| m.0 <= now);
            self.air = later;
            let due: Vec<(Time, u32, u32, Message)> = due;
            for (_, from, at, message) in due {
                if !self.off[at as usize] {
                    self.routers[at as usize].receive(&p, now, from, &message);
                    self.carry_out(now, at);
                }
            }
            let (due, later) = std::mem::take(&mut self.data).into_iter().partition(|m| m.0 <= now);
            self.data = later;
            let due: Vec<(Time, u32, u32, PacketHandle)> = due;
            for (_, from, at, handle) in due {
                if self.lost(from, at) {
                    self.routers[from as usize].link_failed(&p, now, at);
                    self.carry_out(now, from);
                } else {
                    self.forward(now, handle.id, at, Some(from), handle);
                }
            }
            self.check(now);
        }
    }

    fn next(&self) -> Option<Time> {
        let routers = self.routers.iter().zip(&self.off).filter(|(_, off)| !**off);
        let deadlines = routers.map(|(r, _)| r.deadline());
        let air = self.air.iter().map(|m| m.0);
        let data = self.data.iter().map(|m| m.0);
        deadlines.chain(air).chain(data).min().filter(|at| !at.is_never())
    }

    fn check(&mut self, now: Time) {
        let n = self.routers.len() as u32;
        for to in 0..n {
            for from in (0..n).filter(|from| *from != to) {
                let mut at = from;
                for _ in 0..=n {
                    let Some(route) = self.routers[at as usize].table.valid(now, Key::shared(to))
                    else {
                        break;
                    };
                    at = route.next;
                    if at == to {
                        break;
                    }
                }
                let goes_on = at != to
                    && self.routers[at as usize].table.valid(now, Key::shared(to)).is_some();
                assert!(!goes_on, "from {from} to {to}: packets go in circles");
                let entry = self.routers[from as usize].table.look(now, Key::shared(to));
                let seq = entry.map_or(0, |route| route.seq);
                let before = &mut self.numbers[from as usize][to as usize];
                assert!(seq == *before || newer(seq, *before), "{seq} after {before}");
                *before = seq;
            }
        }
    }
}

fn edges() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0usize..12, 0usize..12), 8..30)
}

/// Events: a packet from one node to another, a node that is switched off, or a link between two nodes that
/// breaks or returns. The first number is the time to the next event, ms.
fn happenings() -> impl Strategy<Value = Vec<(u64, u8, usize, usize)>> {
    prop::collection::vec((1u64..1500, 0u8..12, 0usize..12, 0usize..12), 10..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn routes_have_no_loops_and_sequence_numbers_only_grow(
        n in 3usize..12,
        edges in edges(),
        happenings in happenings(),
        seed in 0u64..1000,
        lossy in prop_oneof![Just(0u64), Just(100), Just(400)],
        hello in any::<bool>(),
        short in any::<bool>(),
    ) {
        let mut params = AodvParams::RFC3561;
        if hello {
            params.detection = Detection::Both;
        }
        if short {
            // Short lifetimes, so that routes expire in all situations.
            params.active_route_timeout = Span::from_millis(300);
            params.my_route_timeout = Span::from_millis(500);
        }
        let mut world = World::new(n, &edges, params, seed, lossy);
        let mut now = Time::ZERO;
        for (after, what, a, b) in happenings {
            now += Span::from_millis(after);
            world.run_until(now);
            let (a, b) = (a % n, b % n);
            match what {
                _ if a == b => {}
                0 => world.off[a] = true,
                1 | 2 => {
                    world.near[a][b] ^= true;
                    world.near[b][a] = world.near[a][b];
                }
                _ => world.send(now, a as u32, b as u32),
            }
        }
        world.run_until(now + Span::from_secs(20));
    }
}

#[test]
fn the_test_network_delivers_packets() {
    let ring: Vec<(usize, usize)> = (0..8).map(|i| (i, i + 1)).collect();
    let mut world = World::new(8, &ring, AodvParams::RFC3561, 1, 0);
    for i in 0..10 {
        world.send(Time::from_secs(i), 0, 4);
        world.run_until(Time::from_secs(i + 1));
    }
    assert_eq!(world.delivered, 10);
    // The used path breaks, and the other path is found.
    let on_way = world.routers[0].table.valid(Time::from_secs(10), Key::shared(4)).map(|r| r.next);
    world.off[on_way.expect("a route") as usize] = true;
    for i in 10..20 {
        world.send(Time::from_secs(i), 0, 4);
        world.run_until(Time::from_secs(i + 1));
    }
    assert!(world.delivered >= 18, "{}", world.delivered);
}
