//! Radios as part of a network: hops of routes, books and results.

use windlass_cc::Time;

use crate::config::Config;
use crate::host::Kind;
use crate::packet::Ticket;
use crate::radio::config::{Hops, RadioConfig};
use crate::radio::energy::{Meter, State};
use crate::radio::mac::{Outcome, Radio};
use crate::radio::scheduling::{NOBODY, Rule, Scheduling, Users};
use crate::radio::station::Station;
use crate::results::{RadioResult, RadioUse, StationResult};
use crate::routing::Direction;
use crate::routing::aodv::mesh::Mesh;
use crate::routing::disjoint::Circuits;
use crate::simulation::Simulation;

/// A hop over a radio; where packets find their own way, the stretch between two stations that they
/// cross.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) radio: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// See [`crate::routing::aodv::Circuit`].
    pub(crate) circuit: u32,
}

/// The radios of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Radios {
    /// The radios.
    pub(crate) all: Vec<Radio>,
    /// Of each radio the routers, where packets find their own way.
    pub(crate) meshes: Vec<Option<Box<Mesh>>>,
    /// Moments of each radio's two earliest pending events, as for a host.
    armed: Vec<[Time; 2]>,
    /// The hops that routes may use: each pair of stations there and back.
    hops: Vec<Hop>,
}

impl Radios {
    /// The radios of a configuration that has been checked.
    pub(crate) fn new(config: &Config) -> Radios {
        let radios = config.radios.iter().enumerate();
        let all: Vec<Radio> = radios.map(|(i, r)| Radio::new(r, config.seed, i)).collect();
        let mut hops = Vec::new();
        for (radio, r) in config.radios.iter().enumerate() {
            for [a, b] in r.pairs() {
                let (radio, circuit) = (radio as u32, 0);
                let hop = |from, to| Hop { radio, from: from as u32, to: to as u32, circuit };
                hops.extend([hop(a, b), hop(b, a)]);
            }
        }
        let mesh = |(i, r): (usize, &RadioConfig)| match &r.hops {
            Hops::Aodv(aodv) => Some(Box::new(Mesh::new(aodv, r.stations.len(), config.seed, i))),
            _ => None,
        };
        let meshes = config.radios.iter().enumerate().map(mesh).collect();
        Radios { armed: vec![[Time::NEVER; 2]; all.len()], all, meshes, hops }
    }

    /// The hop to take in place of this one: another for who goes by a circuit of its own.
    pub(crate) fn hop_on(&mut self, hop: u32, circuits: &Circuits) -> u32 {
        let shared = self.hops[hop as usize];
        let Some((_, circuit)) = circuits.iter().find(|(radio, _)| *radio == shared.radio) else {
            return hop;
        };
        self.hops.push(Hop { circuit: *circuit, ..shared });
        self.hops.len() as u32 - 1
    }

    /// A hop by its number.
    pub(crate) fn hop(&self, hop: u32) -> Hop {
        self.hops[hop as usize]
    }

    fn routers(&self) -> impl Iterator<Item = &Mesh> {
        self.meshes.iter().flatten().map(|mesh| &**mesh)
    }

    /// Pairs of nodes between which packets may be routed, in the order of the hops.
    pub(crate) fn ends(config: &Config) -> impl Iterator<Item = [usize; 2]> + '_ {
        config.radios.iter().flat_map(|r| {
            r.pairs().into_iter().map(|pair| pair.map(|station| r.stations[station].node))
        })
    }

    fn stations(&self) -> impl Iterator<Item = &Station> {
        self.all.iter().flat_map(|r| &r.stations)
    }

    /// Packets of flows that stations hold and whose receivers have not taken them, and that wait for
    /// routes.
    pub(crate) fn inside(&self) -> u64 {
        let waiting: u64 = self.routers().map(Mesh::waiting).sum();
        let messages: u64 = self.routers().map(Mesh::control_inside).sum();
        (self.stations().map(Station::inside).sum::<u64>() + waiting).saturating_sub(messages)
    }

    /// Packets of flows that stations and routers have dropped.
    pub(crate) fn dropped(&self) -> u64 {
        let by_routers: u64 = self.routers().map(Mesh::dropped).sum();
        let messages: u64 = self.routers().map(Mesh::control_dropped).sum();
        (self.stations().map(Station::dropped).sum::<u64>() + by_routers).saturating_sub(messages)
    }

    /// Packets transmitted at least once.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.stations().map(|s| s.counters.transmissions - s.counters.retransmissions).sum()
    }

    /// The account of messages of a radio, or of a station, that does not close at `now`, if there is
    /// one: of its packets or of its time.
    pub(crate) fn open_account(&self, config: &Config, now: Time) -> Option<String> {
        let open = |(mesh, c): (&Option<Box<Mesh>>, &RadioConfig)| {
            let mesh = mesh.as_ref().filter(|mesh| !mesh.books_close())?;
            Some(format!("messages on radio {}: {}", c.name, mesh.account()))
        };
        let messages = self.meshes.iter().zip(&config.radios).find_map(open);
        messages.or_else(|| self.open_station(config, now))
    }

    fn open_station(&self, config: &Config, now: Time) -> Option<String> {
        self.all.iter().zip(&config.radios).find_map(|(radio, c)| {
            let i = radio
                .stations
                .iter()
                .position(|s| !s.books_close() || s.meter.all_ns_by(now) != now.0)?;
            let name = &config.nodes[c.stations[i].node];
            Some(format!("radio {}, {name}: {:?}", c.name, radio.stations[i].counters))
        })
    }

    /// What the stations at the two ends of a flow did, `from` and `to`.
    pub(crate) fn used_by(&self, config: &Config, ends: [usize; 2], now: Time) -> Option<RadioUse> {
        radio_use(self, config, ends, now)
    }

    /// The results up to `now`.
    pub(crate) fn results(&self, config: &Config, now: Time) -> Vec<RadioResult> {
        let radios = self.all.iter().zip(&self.meshes).zip(&config.radios);
        let results = radios.map(|((radio, mesh), c)| RadioResult {
            name: c.name.clone(),
            busy: ratio(radio.busy_ns_by(now), now.0),
            airtime: ratio(radio.airtime_ns_by(now), now.0),
            stations: radio
                .stations
                .iter()
                .zip(&c.stations)
                .map(|(s, c)| station_result(s, config.nodes[c.node].clone(), now))
                .collect(),
            routing: mesh.as_ref().map(|mesh| mesh.result(now)),
        });
        results.collect()
    }
}

/// Radio time and energy of the stations of two nodes, the sender's first; `None` if there are none.
fn radio_use(radios: &Radios, config: &Config, nodes: [usize; 2], now: Time) -> Option<RadioUse> {
    let of = |node: usize| {
        let pairs = radios.all.iter().zip(&config.radios);
        let stations = pairs.flat_map(|(r, c)| r.stations.iter().zip(&c.stations));
        stations.filter(move |(_, c)| c.node == node).map(|(s, _)| &s.meter)
    };
    let active = |m: &Meter| m.time_ns_by(State::Transmit, now) + m.time_ns_by(State::Receive, now);
    let [sender_s, receiver_s] = nodes.map(|n| of(n).map(active).sum::<u64>() as f64 / 1e9);
    let spent = |m: &Meter| m.spent_j_by(now);
    let [sender_j, receiver_j] = nodes.map(|n| {
        let all: Vec<f64> = of(n).filter_map(spent).collect();
        (!all.is_empty()).then(|| all.iter().sum())
    });
    let any = nodes.iter().any(|n| of(*n).next().is_some());
    any.then_some(RadioUse { sender_s, receiver_s, sender_j, receiver_j })
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

fn station_result(s: &Station, name: String, now: Time) -> StationResult {
    let c = &s.counters;
    let in_state = |state| s.meter.time_ns_by(state, now) as f64 / 1e9;
    StationResult {
        name,
        offered: c.offered,
        delivered: c.delivered,
        drops_queue: c.drops_queue,
        drops_retry: c.drops_retry,
        drops_off: c.drops_off,
        inside: s.inside(),
        unconfirmed: c.unconfirmed,
        transmissions: c.transmissions,
        retransmissions: c.retransmissions,
        rts_sent: c.rts_sent,
        failures: c.failures,
        collisions_seen: c.collisions_seen,
        frame_errors: c.frame_errors,
        duplicates: c.duplicates,
        broadcasts_received: c.broadcasts_received,
        bytes: c.bytes,
        airtime_s: s.airtime_ns_by(now) as f64 / 1e9,
        transmit_s: in_state(State::Transmit),
        receive_s: in_state(State::Receive),
        listen_s: in_state(State::Listen),
        idle_s: in_state(State::Idle),
        off_s: in_state(State::Off),
        energy_j: s.meter.spent_j_by(now),
        battery_left_j: s.meter.left_j_by(now),
        died_s: s.off_since.map(|at| at.0 as f64 / 1e9),
        mean_queue_packets: ratio(s.held_ns_by(now), now.0),
        mean_queue_delay_ms: ratio(c.waited_ns, c.served) / 1e6,
        mean_service_ms: ratio(c.service_ns, c.finished) / 1e6,
        max_queue_packets: c.max_held,
    }
}

impl Simulation {
    /// The entry in the table of routes for a direction beyond those of the links.
    pub(crate) fn is_radio_hop(&self, direction: Direction) -> Option<u32> {
        (direction as usize).checked_sub(self.links.len()).map(|hop| hop as u32)
    }

    /// A packet is to go over a radio.
    pub(crate) fn put_on_radio(&mut self, hop: u32, ticket: Ticket) {
        let Hop { radio, from, to, .. } = self.radios.hops[hop as usize];
        if self.radios.meshes[radio as usize].is_some() {
            self.route(from, None, ticket);
            self.arm_radio(radio);
            return;
        }
        let user = self.user_of(radio, ticket);
        if !self.radios.all[radio as usize].offer_for(self.now, from, to, ticket, user) {
            self.drop_packet(ticket);
        }
        self.arm_radio(radio);
    }

    /// Who a packet belongs to, as far as the scheduler of a radio's stations asks.
    pub(crate) fn user_of(&self, radio: u32, ticket: Ticket) -> u32 {
        let Scheduling { rule, users, .. } = self.config.radios[radio as usize].scheduling;
        if rule == Rule::Fifo {
            return NOBODY;
        }
        let port = self.destination(ticket) ^ 1;
        let sender = match &self.hosts[port as usize].kind {
            Kind::Port { owner, .. } => *owner,
            _ => port,
        };
        match users {
            Users::Flows => sender,
            Users::Sources => {
                let flow = &self.config.flows[sender as usize / 2];
                (if sender.is_multiple_of(2) { flow.from } else { flow.to }) as u32
            }
        }
    }

    /// The event of a radio.
    #[inline(never)]
    pub(crate) fn on_radio_event(&mut self, index: u32) {
        let i = index as usize;
        let [first, second] = self.radios.armed[i];
        if first != self.now {
            return; // an earlier event took its place
        }
        self.radios.armed[i] = [second, Time::NEVER];
        while self.radios.all[i].next_event().is_some_and(|at| at <= self.now) {
            self.radios.all[i].step(self.now);
            self.on_outcomes(i);
        }
        self.arm_radio(index);
    }

    fn on_outcomes(&mut self, radio: usize) {
        if self.radios.all[radio].outcomes.is_empty() {
            return;
        }
        let mut outcomes = std::mem::take(&mut self.radios.all[radio].outcomes);
        let finds_its_way = self.radios.meshes[radio].is_some();
        for outcome in outcomes.drain(..) {
            if finds_its_way {
                self.on_mesh_outcome(radio as u32, outcome);
                continue;
            }
            match outcome {
                Outcome::Delivered { ticket, .. } => self.forward(ticket),
                Outcome::GaveUp { ticket, taken: false, .. } | Outcome::Lost { ticket, .. } => {
                    self.drop_packet(ticket);
                }
                // What was taken has gone on; routes lead to single stations, never to all.
                Outcome::GaveUp { taken: true, .. }
                | Outcome::Heard { .. }
                | Outcome::Broadcast { .. } => {}
            }
        }
        self.radios.all[radio].outcomes = outcomes; // its room is used again
    }

    /// The hop over a radio that a packet is making.
    pub(crate) fn radio_hop(&self, ticket: Ticket) -> Hop {
        self.radios.hop(self.radio_entry(ticket))
    }

    /// Sees that a radio is looked after in time.
    pub(crate) fn arm_radio(&mut self, index: u32) {
        let next = self.radios.all[index as usize].next_event();
        let armed = &mut self.radios.armed[index as usize];
        if let Some(at) = next.filter(|at| *at < armed[0]) {
            *armed = [at, armed[0]];
            let before = self.links.len() + self.hosts.len() + self.managed.len();
            self.agenda.schedule(at, before as u32 + index);
        }
    }
}
