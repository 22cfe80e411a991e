//! Snapshots of a sending node's MAC, queue, battery and route. They are for controllers that
//! require them ([`windlass_cc::Requirements::cross_layer`]) and for schedulers of subflows that
//! require them ([`Scheduler::wants_layers`](windlass_tcp::mptcp::Scheduler::wants_layers)). The
//! endpoint receives one snapshot before each event that it handles. Nothing is computed for other
//! endpoints.
//!
//! A controller receives values of its node's whole station. A scheduler receives, for each path,
//! values of the packets for the next hop of that path.

use windlass_cc::{CrossLayer, Rate, Span, Time};

use crate::aqm::AqmQueue;
use crate::config::Config;
use crate::core::Core;
use crate::host::{Host, Kind};
use crate::link::{Link, QueueLimit};
use crate::link_radio::gate::Gate;
use crate::radio::mac::{CONTROL_BYTES, Radio};
use crate::radio::network::Radios;
use crate::radio::rates::{CONTROL, DATA};
use crate::radio::service::Service;
use crate::radio::station::Station;
use crate::route::{self, RadioHop};
use crate::routing::Direction;
use crate::routing::aodv::Key;

/// Minimum interval over which rates and shares are measured.
const INTERVAL: Span = Span::from_millis(100);
/// Weight of the newest interval: one over two to this power.
const SHIFT: u32 = 2;
/// Fixed-point representation of a share of one.
const WHOLE: u64 = 65_536;

/// A hop of a route.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A link: one-way time of a full packet without queueing.
    Link { direction: Direction, time: Span, limit: QueueLimit },
    /// A radio hop: time of the exchange, including the acknowledgement.
    Air { radio: u32, station: u32, to: u32, time: Span },
    /// A route over any number of stations.
    Mesh { radio: u32, station: u32, key: Key, time: Span },
}

/// Packets that the values describe, at the sending station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    /// Packets of all flows.
    Station,
    /// Packets for the next hop. The value is the station of the last measurement.
    NextHop(Option<u32>),
}

/// Measurements for one host.
#[derive(Clone, Debug)]
struct Sensor {
    route: Vec<Step>,
    mtu: u32,
    scope: Scope,
    /// Counters of the last measurement, and its time.
    last: Service,
    looked: Time,
    failure_share: u64,
    service_rate: u64,
    service_time: u64,
}

impl Sensor {
    fn new(route: Vec<Step>, mtu: u32, scope: Scope) -> Sensor {
        Sensor {
            route,
            mtu,
            scope,
            last: Service::default(),
            looked: Time::ZERO,
            failure_share: 0,
            service_rate: 0,
            service_time: 0,
        }
    }

    /// Updates the averages with the service since the last measurement.
    fn look(&mut self, now: Time, service: Service) {
        if now.since(self.looked) < INTERVAL {
            return;
        }
        let last = std::mem::replace(&mut self.last, service);
        self.looked = now;
        let finished = service.finished - last.finished;
        let service_ns = service.service_ns - last.service_ns;
        if finished == 0 || service_ns == 0 {
            return; // no new measurement
        }
        let failures = service.failures - last.failures;
        let successes = finished.saturating_sub(service.given_up - last.given_up);
        let attempts = (failures + successes).max(1);
        let bytes = (service.bytes - last.bytes).saturating_mul(1_000_000_000);
        let first = self.service_time == 0;
        blend(&mut self.failure_share, WHOLE * failures / attempts, first);
        blend(&mut self.service_rate, bytes / service_ns, first);
        blend(&mut self.service_time, service_ns / finished, first);
    }

    /// Sets the next hop. After a change of the next hop, the averages restart.
    fn turn_to(&mut self, next: u32, service: Service) {
        if self.scope != Scope::NextHop(Some(next)) {
            self.scope = Scope::NextHop(Some(next));
            self.last = service;
            (self.failure_share, self.service_rate, self.service_time) = (0, 0, 0);
        }
    }
}

fn blend(mean: &mut u64, newest: u64, first: bool) {
    *mean = if first { newest } else { *mean - (*mean >> SHIFT) + (newest >> SHIFT) };
}

/// Time of a packet's exchange on an idle channel without back-off: DIFS, frame, SIFS and
/// acknowledgement, or the corresponding times of IEEE 802.15.4. The propagation delay is left out;
/// it is about a microsecond over a few hundred metres.
fn exchange(radio: &Radio, mtu: u32) -> Span {
    if let Some(lowpan) = &radio.lowpan {
        return lowpan.exchange(&radio.phy, mtu);
    }
    let [data, control] = [DATA, CONTROL].map(|place| radio.rates.at(place));
    radio.timing.difs
        + radio.phy.airtime(mtu + radio.phy.data_overhead(), data)
        + radio.timing.sifs
        + radio.phy.airtime(CONTROL_BYTES, control)
}

fn packets(limit: QueueLimit, mtu: u32) -> u32 {
    match limit {
        QueueLimit::Packets(n) => n.try_into().unwrap_or(u32::MAX),
        QueueLimit::Bytes(n) => (n / u64::from(mtu.max(1))).try_into().unwrap_or(u32::MAX),
        QueueLimit::Unlimited => u32::MAX,
    }
}

fn charge(station: &Station, now: Time) -> u32 {
    station.meter.charge_by(now).unwrap_or(WHOLE as u32)
}

/// The sensors of a network, at least one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sensors {
    /// Measurements for controllers, by host and port; `None` where the controller does not require
    /// them.
    controllers: Vec<Option<Box<Sensor>>>,
    /// Measurements for schedulers of subflows, by port; `None` where the scheduler does not
    /// require them.
    schedulers: Vec<Option<Box<Sensor>>>,
}

/// Parts of the simulation that sensors read.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) queues: &'a [AqmQueue],
    pub(crate) radios: &'a Radios,
}

impl Sensors {
    /// Creates sensors at the hosts whose controllers require them, and at the ports of paths whose
    /// controllers or schedulers require them. `None` if there are no sensors.
    pub(crate) fn new(
        core: &Core,
        queues: &[AqmQueue],
        radios: &mut Radios,
        config: &Config,
    ) -> Option<Box<Sensors>> {
        let mut sensors = Sensors::default();
        for host in 0..core.hosts.len() {
            match core.hosts[host].kind {
                Kind::Tcp { .. } | Kind::Session(_)
                    if core.profile_of(host).params.requirements().cross_layer =>
                {
                    sensors.watch(core, Surroundings { queues, radios }, config, host);
                }
                Kind::Port { owner, path } => {
                    sensors.watch_path(core, queues, radios, config, [host, owner as usize], path);
                }
                _ => {}
            }
        }
        let any = !(sensors.controllers.is_empty() && sensors.schedulers.is_empty());
        any.then(|| Box::new(sensors))
    }

    /// Puts a sensor at a host, even if its controller does not require it.
    pub(crate) fn watch(
        &mut self,
        core: &Core,
        around: Surroundings,
        config: &Config,
        host: usize,
    ) {
        let mtu = core.profile_of(host).mtu;
        let sensor = Sensor::new(steps(core, around, config, host, mtu), mtu, Scope::Station);
        put(&mut self.controllers, core.hosts.len(), host, sensor);
    }

    fn watch_path(
        &mut self,
        core: &Core,
        queues: &[AqmQueue],
        radios: &mut Radios,
        config: &Config,
        [port, owner]: [usize; 2],
        path: u32,
    ) {
        let Kind::Multipath(end) = &core.hosts[owner].kind else { return };
        let profile = end.profile(&core.multipath_profiles);
        let of_path = profile.path(path as usize);
        let steps = steps(core, Surroundings { queues, radios }, config, port, of_path.mtu);
        if of_path.params.requirements().cross_layer {
            let sensor = Sensor::new(steps.clone(), of_path.mtu, Scope::Station);
            put(&mut self.controllers, core.hosts.len(), port, sensor);
        }
        if profile.config().scheduler.wants_layers() {
            if let Some(&(Step::Air { radio, station, .. } | Step::Mesh { radio, station, .. })) =
                steps.first()
            {
                let radio = &mut radios.cells[radio as usize].radio;
                radio.stations[station as usize].watch_neighbours();
            }
            let sensor = Sensor::new(steps, of_path.mtu, Scope::NextHop(None));
            put(&mut self.schedulers, core.hosts.len(), port, sensor);
        }
    }

    /// Passes snapshots to a host's controllers and to a multipath connection's scheduler, if they
    /// require them.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell(&mut self, core: &mut Core, around: Surroundings, host: u32) {
        let now = core.now;
        let paths = match &core.hosts[host as usize].kind {
            Kind::Tcp { .. } | Kind::Session(_) => return self.tell_controller(core, around, host),
            Kind::Multipath(end) => end.connection.paths(),
            _ => return,
        };
        for path in 0..paths {
            let Kind::Multipath(end) = &core.hosts[host as usize].kind else { return };
            let port = end.paths[path].port as usize;
            let layers = [&mut self.controllers, &mut self.schedulers]
                .map(|sensors| Some(sensors.get_mut(port)?.as_mut()?.snapshot(core, around)));
            let Kind::Multipath(end) = &mut core.hosts[host as usize].kind else { return };
            end.tell(&core.multipath_profiles, now, path, layers);
        }
    }

    fn tell_controller(&mut self, core: &mut Core, around: Surroundings, host: u32) {
        let Some(Some(sensor)) = self.controllers.get_mut(host as usize) else { return };
        let layers = sensor.snapshot(core, around);
        let now = core.now;
        let Host { profile, kind, .. } = &mut core.hosts[host as usize];
        let profile = &core.profiles[*profile as usize];
        // The notification draws on the endpoint's entropy. A controller that is only observed must
        // not receive it.
        if !profile.params.requirements().cross_layer {
            return;
        }
        match kind {
            Kind::Tcp { endpoint, .. } => endpoint.on_cross_layer(profile, now, &layers),
            Kind::Session(end) => {
                end.endpoints_mut().for_each(|e| e.on_cross_layer(profile, now, &layers));
            }
            _ => {}
        }
    }

    /// Returns the present snapshot of the sensor for a host's controller, without a change of the
    /// sensor.
    pub(crate) fn look(&self, core: &Core, around: Surroundings, host: u32) -> Option<CrossLayer> {
        let sensor = self.controllers.get(host as usize)?.as_ref()?;
        Some(sensor.as_ref().clone().snapshot(core, around))
    }

    /// Returns the present snapshot of the sensor for a scheduler at a port, without a change of
    /// the sensor.
    pub(crate) fn look_at_path(
        &self,
        core: &Core,
        around: Surroundings,
        port: u32,
    ) -> Option<CrossLayer> {
        let sensor = self.schedulers.get(port as usize)?.as_ref()?;
        Some(sensor.as_ref().clone().snapshot(core, around))
    }
}

fn put(sensors: &mut Vec<Option<Box<Sensor>>>, hosts: usize, at: usize, sensor: Sensor) {
    sensors.resize_with(hosts, || None);
    sensors[at] = Some(Box::new(sensor));
}

/// The hops of a host's route.
fn steps(core: &Core, around: Surroundings, config: &Config, host: usize, mtu: u32) -> Vec<Step> {
    let over_link = |direction: Direction| {
        let link = &core.links[direction as usize];
        let own = config.links[direction as usize / 2].direction(direction as usize % 2);
        let time = link.transmission_time(mtu) + own.delay;
        Step::Link { direction, time, limit: own.queue }
    };
    let over_radio = |hop: u32| {
        let RadioHop { radio, from: station, to, path_id } = around.radios.hop(hop);
        let cell = &around.radios.cells[radio as usize];
        let time = exchange(&cell.radio, mtu);
        match cell.mesh.is_some() {
            true => Step::Mesh { radio, station, key: Key { node: to, path_id }, time },
            false => Step::Air { radio, station, to, time },
        }
    };
    let hops = core.routes.route(core.hosts[host].route).filter_map(|hop| match hop.step() {
        route::Step::Link(direction) => Some(over_link(direction)),
        route::Step::Queue(queue) => Some(over_link(around.queues[queue as usize].link)),
        route::Step::Radio(hop) => Some(over_radio(hop)),
        // The time on a line is included in the link's time.
        route::Step::Gate(number) => Some(over_link(Gate::direction_of(config, number)?)),
        route::Step::Host(_) | route::Step::Line(_) | route::Step::WithOption(_) => None,
    });
    hops.collect()
}

impl Sensor {
    /// Takes a measurement and returns the snapshot.
    fn snapshot(&mut self, core: &Core, around: Surroundings) -> CrossLayer {
        let now = core.now;
        let mesh = |radio: u32| around.radios.cells[radio as usize].mesh.as_deref();
        let (mut hops, mut one_way, mut known) = (0, Span::ZERO, true);
        for step in &self.route {
            let (n, time) = match *step {
                Step::Link { time, .. } | Step::Air { time, .. } => (1, time),
                Step::Mesh { radio, station, key, time } => {
                    let n = mesh(radio).and_then(|mesh| mesh.route_hops(now, station, key));
                    known &= n.is_some();
                    (n.unwrap_or(0), Span(time.0 * u64::from(n.unwrap_or(0))))
                }
            };
            hops += n;
            one_way = one_way + time;
        }
        let station_of = |radio: u32, station: u32| {
            &around.radios.cells[radio as usize].radio.stations[station as usize]
        };
        let mut layers = match self.route.first().copied() {
            Some(Step::Air { radio, station, to, .. }) => {
                self.station_layers(now, station_of(radio, station), Some(to))
            }
            Some(Step::Mesh { radio, station, key, .. }) => {
                let next = mesh(radio).and_then(|mesh| mesh.next_of(now, station, key));
                self.station_layers(now, station_of(radio, station), next)
            }
            Some(Step::Link { direction, limit, .. }) => {
                let link = &core.links[direction as usize];
                let queue = around.queues.iter().find(|queue| queue.link == direction);
                let waiting = queue.map_or(link.waiting_at(now), |queue| queue.queue.len());
                self.link_layers(link, waiting, limit)
            }
            None => NOTHING,
        };
        layers.hops = if known { hops } else { 0 };
        layers.base_rtt = if known { one_way + one_way } else { Span::NONE };
        layers
    }

    fn station_layers(&mut self, now: Time, s: &Station, next: Option<u32>) -> CrossLayer {
        let waiting = match (self.scope, next) {
            (Scope::Station, _) => {
                self.look(now, s.counters.service());
                s.holds(None)
            }
            (Scope::NextHop(_), Some(next)) => {
                let service = s.service_of(next);
                self.turn_to(next, service);
                self.look(now, service);
                s.holds(Some(next))
            }
            (Scope::NextHop(_), None) => 0,
        };
        CrossLayer {
            queue_len: waiting.try_into().unwrap_or(u32::MAX),
            queue_limit: packets(s.limit(), self.mtu),
            failure_share: self.failure_share as u32,
            battery: charge(s, now),
            service_rate: Rate(self.service_rate),
            service_time: Span(self.service_time),
            ..NOTHING
        }
    }

    /// Values of a node with a link as its first hop: the link's queue and rate.
    fn link_layers(&self, link: &Link, waiting: u64, limit: QueueLimit) -> CrossLayer {
        let time = link.transmission_time(self.mtu);
        CrossLayer {
            queue_len: waiting.try_into().unwrap_or(u32::MAX),
            queue_limit: packets(limit, self.mtu),
            service_rate: Rate(u64::from(self.mtu) * 1_000_000_000 / time.0.max(1)),
            service_time: time,
            ..NOTHING
        }
    }
}

/// Values of a node without measurements and without a battery.
const NOTHING: CrossLayer = CrossLayer {
    queue_len: 0,
    queue_limit: 0,
    hops: 0,
    failure_share: 0,
    battery: WHOLE as u32,
    service_rate: Rate(0),
    service_time: Span::ZERO,
    base_rtt: Span::NONE,
};
