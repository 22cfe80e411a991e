//! Radios as part of a network: hops of routes, packet conservation and results.

use windlass_cc::Time;

use crate::config::Config;
use crate::core::{Core, Entity};
use crate::evidence::Fate;
use crate::host::{Host, Kind};
use crate::packet::PacketHandle;
use crate::radio::channel::Passed;
use crate::radio::config::{Hops, RadioConfig};
use crate::radio::energy::{EnergyMeter, State};
use crate::radio::mac::{Outcome, Radio};
use crate::radio::scheduling::{Rule, Scheduling, Users};
use crate::radio::station::Station;
use crate::results::{RadioResult, RadioUse, StationResult};
use crate::route::RadioHop;
use crate::routing::aodv::mesh::{Air, Mesh};
use crate::routing::disjoint::DisjointPaths;

/// The radios of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Radios {
    pub(crate) cells: Vec<Cell>,
    /// Hops that routes may use: each pair of stations in both directions.
    hops: Vec<RadioHop>,
    /// For each host, the station of its node that polls faster while an answer is expected. Empty if no
    /// station does so.
    eager: Vec<Option<Eager>>,
}

/// A station that polls faster while an answer is expected.
#[derive(Clone, Copy, Debug)]
struct Eager {
    radio: u32,
    station: u32,
    expects: bool,
}

/// A radio with the network's data about it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) radio: Radio,
    /// The AODV routers of its stations, if the radio uses AODV.
    pub(crate) mesh: Option<Box<Mesh>>,
    /// Times of its two earliest pending events, as for a host.
    armed: [Time; 2],
    /// The scheduler's user for each host or port that sends. Empty if the stations have no scheduler.
    users: Vec<u32>,
}

impl Radios {
    /// Returns the radios of a configuration that has been checked.
    pub(crate) fn new(config: &Config) -> Radios {
        let cell = |(i, r): (usize, &RadioConfig)| Cell {
            radio: Radio::new(r, config.seed, i),
            mesh: match &r.hops {
                Hops::Aodv(aodv) => {
                    Some(Box::new(Mesh::new(aodv, r.stations.len(), config.seed, i)))
                }
                _ => None,
            },
            armed: [Time::NEVER; 2],
            users: Vec::new(),
        };
        let mut hops = Vec::new();
        for (radio, r) in config.radios.iter().enumerate() {
            for [a, b] in r.pairs() {
                let (radio, path_id) = (radio as u32, 0);
                let hop = |from, to| RadioHop { radio, from: from as u32, to: to as u32, path_id };
                hops.extend([hop(a, b), hop(b, a)]);
            }
        }
        Radios {
            cells: config.radios.iter().enumerate().map(cell).collect(),
            hops,
            eager: Vec::new(),
        }
    }

    /// Returns the hop to use in place of `hop`: a new hop if the flow has a disjoint path on this radio,
    /// otherwise `hop`.
    pub(crate) fn hop_on(&mut self, hop: u32, paths: &DisjointPaths) -> u32 {
        let shared = self.hops[hop as usize];
        let Some((_, path_id)) = paths.iter().find(|(radio, _)| *radio == shared.radio) else {
            return hop;
        };
        self.hops.push(RadioHop { path_id: *path_id, ..shared });
        self.hops.len() as u32 - 1
    }

    /// Returns a hop by its number.
    pub(crate) fn hop(&self, hop: u32) -> RadioHop {
        self.hops[hop as usize]
    }

    /// Assigns the senders (hosts and ports) to the users of the stations' schedulers.
    pub(crate) fn know_users(&mut self, config: &Config, hosts: &[Host]) {
        for (cell, r) in self.cells.iter_mut().zip(&config.radios) {
            let Scheduling { rule, users, .. } = r.scheduling;
            if rule == Rule::Fifo {
                continue;
            }
            let user = |(sender, host): (usize, &Host)| {
                let owner = match &host.kind {
                    Kind::Port { owner, .. } => *owner as usize,
                    _ => sender,
                };
                let flow = &config.flows[owner / 2];
                match users {
                    Users::Flows => owner as u32,
                    Users::Sources => [flow.from, flow.to][owner % 2] as u32,
                }
            };
            cell.users = hosts.iter().enumerate().map(user).collect();
        }
    }

    /// Finds the stations whose polling depends on the hosts of their nodes.
    pub(crate) fn know_eager(&mut self, config: &Config, hosts: &[Host]) {
        let stations = || {
            let radios = config.radios.iter().enumerate();
            let all = radios.flat_map(|(r, c)| c.sleepers().map(move |(s, p)| (r, c, s, p)));
            all.filter(|(.., polling)| polling.fast_poll.is_some())
        };
        if stations().next().is_none() {
            return;
        }
        let eager = |(host, kind): (usize, &Host)| {
            let flow =
                config.flows.get(host / 2).filter(|_| !matches!(kind.kind, Kind::Port { .. }))?;
            let node = [flow.from, flow.to][host % 2];
            let (radio, _, station, _) =
                stations().find(|(_, c, s, _)| c.stations[*s].node == node)?;
            Some(Eager { radio: radio as u32, station: station as u32, expects: false })
        };
        self.eager = hosts.iter().enumerate().map(eager).collect();
    }

    /// Notifies the station of a host's node if the host starts or stops waiting for an answer. Only for
    /// stations that poll faster meanwhile.
    #[inline]
    pub(crate) fn tell_expectation(&mut self, core: &mut Core, host: u32) {
        if let Some(Some(eager)) = self.eager.get_mut(host as usize) {
            let expects = core.hosts[host as usize].expects_answer();
            if std::mem::replace(&mut eager.expects, expects) != expects {
                let Eager { radio, station, .. } = *eager;
                self.cells[radio as usize].radio.expect_answer(station, expects, core.now);
                self.arm(core, radio);
            }
        }
    }

    /// Schedules the first events of radios and routers.
    pub(crate) fn start(&mut self, core: &mut Core) {
        for number in 0..self.cells.len() as u32 {
            if let Some(mesh) = &mut self.cells[number as usize].mesh {
                mesh.start(core, number);
            }
        }
        for number in 0..self.cells.len() as u32 {
            self.arm(core, number);
        }
    }

    fn air<'a>(&'a mut self, core: &'a mut Core, number: u32) -> (Air<'a>, Option<&'a mut Mesh>) {
        let Cell { radio, mesh, users, .. } = &mut self.cells[number as usize];
        (Air { number, core, radio, users, hops: &self.hops }, mesh.as_deref_mut())
    }

    /// Starts the transmission of a packet over this hop.
    pub(crate) fn put(&mut self, core: &mut Core, hop: u32, handle: PacketHandle) {
        let RadioHop { radio, from, to, .. } = self.hop(hop);
        let (mut air, mesh) = self.air(core, radio);
        match mesh {
            Some(mesh) => mesh.route(&mut air, from, None, handle),
            None => air.offer(from, to, handle),
        }
        self.arm(core, radio);
    }

    /// The event of a radio is due. Returns true if an earlier event has replaced it.
    pub(crate) fn is_stale(&mut self, now: Time, number: u32) -> bool {
        let armed = &mut self.cells[number as usize].armed;
        let stale = armed[0] != now;
        if !stale {
            *armed = [armed[1], Time::NEVER];
        }
        stale
    }

    /// Processes the event of a radio, and the events that follow at once. It stops before the event of any
    /// `others`, and at `end`. The results are in the radio's outcomes.
    pub(crate) fn step(
        &mut self,
        now: Time,
        number: u32,
        others: Time,
        end: Time,
    ) -> Option<Passed> {
        let Cell { radio, armed, .. } = &mut self.cells[number as usize];
        let last = Time(others.min(armed[0]).0.saturating_sub(1)).min(end);
        let passed = radio.step_until(now, last)?;
        if passed.moments > 0 {
            armed[1] = Time::NEVER; // scheduling these events would have removed it
        }
        Some(passed)
    }

    /// Returns the time of the radio's next event if it is before all `others` and before the radio's
    /// scheduled event. The caller must process this event.
    pub(crate) fn next_alone(&mut self, number: u32, others: Time) -> Option<Time> {
        let Cell { radio, armed, .. } = &mut self.cells[number as usize];
        let next = radio.next_event().filter(|at| *at < others.min(armed[0]))?;
        armed[1] = Time::NEVER;
        Some(next)
    }

    /// The radio's outcomes. The caller returns the vector so that its memory is used again.
    pub(crate) fn outcomes(&mut self, number: u32) -> &mut Vec<Outcome> {
        &mut self.cells[number as usize].radio.outcomes
    }

    /// Handles an outcome of a radio. Returns the packet if it has crossed the radio and continues on its
    /// route.
    pub(crate) fn on_outcome(
        &mut self,
        core: &mut Core,
        number: u32,
        outcome: Outcome,
    ) -> Option<PacketHandle> {
        let (mut air, mesh) = self.air(core, number);
        if let Some(mesh) = mesh {
            return mesh.on_outcome(&mut air, outcome);
        }
        match outcome {
            Outcome::Delivered { handle, .. } => return Some(handle),
            Outcome::GaveUp { handle, taken: false, .. } => {
                core.drop_on_radio(handle, Fate::RetryLimit);
            }
            Outcome::Lost { handle, .. } => core.drop_on_radio(handle, Fate::StationOff),
            // A received packet has continued. Routes lead to single stations, never to all stations.
            Outcome::GaveUp { taken: true, .. }
            | Outcome::Heard { .. }
            | Outcome::Broadcast { .. } => {}
        }
        None
    }

    /// Handles the event of the routers of a radio.
    #[inline(never)]
    pub(crate) fn on_mesh_event(&mut self, core: &mut Core, number: u32) {
        let (mut air, mesh) = self.air(core, number);
        let Some(mesh) = mesh else { return };
        if mesh.on_event(&mut air) {
            self.arm(core, number);
            if let Some(mesh) = &mut self.cells[number as usize].mesh {
                mesh.arm(core, number);
            }
        }
    }

    /// Schedules the radio's next event, if it is earlier than the scheduled one.
    pub(crate) fn arm(&mut self, core: &mut Core, number: u32) {
        let Cell { radio, armed, .. } = &mut self.cells[number as usize];
        if let Some(at) = radio.next_event().filter(|at| *at < armed[0]) {
            *armed = [at, armed[0]];
            core.schedule(at, Entity::Radio(number));
        }
    }

    fn routers(&self) -> impl Iterator<Item = &Mesh> {
        self.cells.iter().filter_map(|cell| cell.mesh.as_deref())
    }

    /// Pairs of nodes between which packets may be routed, in the order of the hops.
    pub(crate) fn ends(config: &Config) -> impl Iterator<Item = [usize; 2]> + '_ {
        config.radios.iter().flat_map(|r| {
            r.pairs().into_iter().map(|pair| pair.map(|station| r.stations[station].node))
        })
    }

    fn stations(&self) -> impl Iterator<Item = &Station> {
        self.cells.iter().flat_map(|cell| &cell.radio.stations)
    }

    /// Number of flow packets that are in stations and not yet received, or that wait for routes.
    pub(crate) fn inside(&self) -> u64 {
        let waiting: u64 = self.routers().map(Mesh::waiting).sum();
        let messages: u64 = self.routers().map(Mesh::control_inside).sum();
        (self.stations().map(Station::inside).sum::<u64>() + waiting).saturating_sub(messages)
    }

    /// Number of flow packets that stations and routers have dropped.
    pub(crate) fn dropped(&self) -> u64 {
        let by_routers: u64 = self.routers().map(Mesh::dropped).sum();
        let messages: u64 = self.routers().map(Mesh::control_dropped).sum();
        (self.stations().map(Station::dropped).sum::<u64>() + by_routers).saturating_sub(messages)
    }

    /// Number of packets transmitted at least once.
    pub(crate) fn packet_hops(&self) -> u64 {
        let first = |s: &Station| {
            let c = &s.counters;
            c.transmissions - c.retransmissions - c.later_parts
        };
        self.stations().map(first).sum()
    }

    /// Describes the first radio or station whose account is not balanced at `now`. The accounts are a
    /// radio's routing messages, and a station's packets and time.
    pub(crate) fn open_account(&self, config: &Config, now: Time) -> Option<String> {
        let open = |(cell, c): (&Cell, &RadioConfig)| {
            let mesh = cell.mesh.as_ref().filter(|mesh| !mesh.conserves_packets())?;
            Some(format!("messages on radio {}: {}", c.name, mesh.account()))
        };
        let messages = self.cells.iter().zip(&config.radios).find_map(open);
        messages.or_else(|| self.open_station(config, now))
    }

    fn open_station(&self, config: &Config, now: Time) -> Option<String> {
        self.cells.iter().zip(&config.radios).find_map(|(Cell { radio, .. }, c)| {
            let i = radio
                .stations
                .iter()
                .position(|s| !s.conserves_packets() || s.meter.all_ns_by(now) != now.0)?;
            let name = &config.nodes[c.stations[i].node];
            Some(format!("radio {}, {name}: {:?}", c.name, radio.stations[i].counters))
        })
    }

    /// Radio time and energy of the stations at the two ends of a flow, `from` and `to`.
    pub(crate) fn used_by(&self, config: &Config, ends: [usize; 2], now: Time) -> Option<RadioUse> {
        radio_use(self, config, ends, now)
    }

    /// Results up to `now`.
    pub(crate) fn results(&self, config: &Config, now: Time) -> Vec<RadioResult> {
        let radios = self.cells.iter().zip(&config.radios);
        let results = radios.map(|(Cell { radio, mesh, .. }, c)| RadioResult {
            name: c.name.clone(),
            busy: ratio(radio.busy_ns_by(now), now.0),
            airtime: ratio(radio.airtime_ns_by(now), now.0),
            stations: radio
                .stations
                .iter()
                .zip(&c.stations)
                .map(|(s, c)| station_result(s, config.nodes[c.node].clone(), now))
                .collect(),
            link: false,
            routing: mesh.as_ref().map(|mesh| mesh.result(now)),
        });
        results.collect()
    }
}

/// Radio time and energy of the stations of two nodes, the sender first; `None` if neither node has a
/// station.
fn radio_use(radios: &Radios, config: &Config, nodes: [usize; 2], now: Time) -> Option<RadioUse> {
    let of = |node: usize| {
        let pairs = radios.cells.iter().zip(&config.radios);
        let stations = pairs.flat_map(|(cell, c)| cell.radio.stations.iter().zip(&c.stations));
        stations.filter(move |(_, c)| c.node == node).map(|(s, _)| &s.meter)
    };
    let active =
        |m: &EnergyMeter| m.time_ns_by(State::Transmit, now) + m.time_ns_by(State::Receive, now);
    let [sender_s, receiver_s] = nodes.map(|n| of(n).map(active).sum::<u64>() as f64 / 1e9);
    let spent = |m: &EnergyMeter| m.spent_j_by(now);
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
        polls: c.polls,
        beacons: c.beacons,
        beacons_heard: c.beacons_heard,
        aggregates: c.aggregates,
        aggregated: c.aggregated,
        mean_rate_mbps: s.adapter.as_ref().map(|_| ratio(c.rates_kbps, c.transmissions) / 1e3),
        access_failures: c.access_failures,
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
        connect_s: 0.0,
        connections: 0,
        rest_j: None,
        sleep_s: in_state(State::Sleep),
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
