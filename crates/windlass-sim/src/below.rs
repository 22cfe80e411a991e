//! What a sending node's MAC, queue, battery and route know, for controllers that want it
//! ([`windlass_cc::Wants::cross_layer`]) and for schedulers of subflows that do
//! ([`Scheduler::wants_layers`](windlass_tcp::mptcp::Scheduler::wants_layers)): one snapshot before
//! each event that the endpoint handles. Nothing is computed for others.
//!
//! A controller sees its node's station as a whole, a scheduler of each path what concerns packets for
//! the next hop of that path.

use windlass_cc::{CrossLayer, Rate, Span, Time};

use crate::config::Config;
use crate::host::{Host, Kind};
use crate::link::QueueLimit;
use crate::radio::mac::{CONTROL_BYTES, DATA_OVERHEAD, Radio};
use crate::radio::network::Hop;
use crate::radio::service::Service;
use crate::radio::station::Station;
use crate::routing::aodv::Key;
use crate::simulation::Simulation;

/// Rates and shares are taken over at least this long.
const INTERVAL: Span = Span::from_millis(100);
/// Weight of the newest interval is one over two to this power.
const SHIFT: u32 = 2;
/// One, of shares.
const WHOLE: u64 = 65_536;

/// A hop of a route.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Over a link; one way with a full packet, without a queue.
    Link { direction: u32, time: Span },
    /// Over a radio, the acknowledgement included.
    Air { radio: u32, station: u32, to: u32, time: Span },
    /// Over as many stations as it takes.
    Mesh { radio: u32, station: u32, key: Key, time: Span },
}

/// Whose packets count at the sending station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    /// Everybody's.
    Station,
    /// Those for the next hop: the station looked at last.
    NextHop(Option<u32>),
}

/// What is watched for one host.
#[derive(Clone, Debug)]
pub(crate) struct Sensor {
    route: Vec<Step>,
    mtu: u32,
    scope: Scope,
    /// What was last looked at, and when.
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

    /// Takes in what was done since it was last looked at.
    fn look(&mut self, now: Time, service: Service) {
        if now.since(self.looked) < INTERVAL {
            return;
        }
        let last = std::mem::replace(&mut self.last, service);
        self.looked = now;
        let finished = service.finished - last.finished;
        let service_ns = service.service_ns - last.service_ns;
        if finished == 0 || service_ns == 0 {
            return; // nothing new is known
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

    /// The next hop is this station. Of another than before nothing is known yet.
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

/// Time of a packet's exchange on an idle channel without a back-off: DIFS, frame, SIFS and
/// acknowledgement. Propagation over a few hundred metres is about a microsecond and left out.
fn exchange(radio: &Radio, mtu: u32) -> Span {
    let [data, control] = [radio.data, radio.control];
    radio.timing.difs
        + radio.phy.airtime(mtu + DATA_OVERHEAD, data)
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

impl Simulation {
    /// Puts sensors at the hosts whose controllers want them, and at the ports of paths whose
    /// controllers or schedulers do.
    pub(crate) fn place_sensors(&mut self) {
        for host in 0..self.hosts.len() {
            match self.hosts[host].kind {
                Kind::Tcp { .. } if self.profile_of(host).params.wants().cross_layer => {
                    self.watch(host);
                }
                Kind::Port { owner, path } => self.watch_path(host, owner, path as usize),
                _ => {}
            }
        }
    }

    /// Puts a sensor at a host, so that [`Simulation::look_below`] knows it, whatever its controller
    /// wants. To be called before the run begins.
    pub fn watch(&mut self, host: usize) {
        let mtu = self.profile_of(host).mtu;
        let sensor = Sensor::new(self.steps(host, mtu), mtu, Scope::Station);
        self.sensors.resize_with(self.hosts.len(), || None);
        self.sensors[host] = Some(Box::new(sensor));
    }

    fn watch_path(&mut self, port: usize, owner: u32, path: usize) {
        let Kind::Multipath(end) = &self.hosts[owner as usize].kind else { return };
        let profile = end.profile(&self.multipath_profiles);
        let (by_scheduler, of_path) =
            (profile.config().scheduler.wants_layers(), profile.path(path));
        let (by_controller, mtu) = (of_path.params.wants().cross_layer, of_path.mtu);
        let steps = self.steps(port, mtu);
        if by_controller {
            let sensor = Sensor::new(steps.clone(), mtu, Scope::Station);
            self.sensors.resize_with(self.hosts.len(), || None);
            self.sensors[port] = Some(Box::new(sensor));
        }
        if by_scheduler {
            if let Some(&(Step::Air { radio, station, .. } | Step::Mesh { radio, station, .. })) =
                steps.first()
            {
                let radio = &mut self.radios.all[radio as usize];
                radio.stations[station as usize].watch_neighbours();
            }
            let sensor = Sensor::new(steps, mtu, Scope::NextHop(None));
            self.path_sensors.resize_with(self.hosts.len(), || None);
            self.path_sensors[port] = Some(Box::new(sensor));
        }
    }

    fn steps(&self, host: usize, mtu: u32) -> Vec<Step> {
        let hops = self.route_of(host).map(|hop| match hop {
            Ok(direction) => {
                let link = &self.links[direction as usize];
                let time = link.transmission_time(mtu) + link.delay();
                Step::Link { direction, time }
            }
            Err(hop) => {
                let Hop { radio, from: station, to, .. } = hop;
                let time = exchange(&self.radios.all[radio as usize], mtu);
                let key = Key { node: hop.to, circuit: hop.circuit };
                match self.radios.meshes[radio as usize].is_some() {
                    true => Step::Mesh { radio, station, key, time },
                    false => Step::Air { radio, station, to, time },
                }
            }
        });
        hops.collect()
    }

    /// Tells a host's controller what it wants to know, if it does.
    #[cold]
    pub(crate) fn tell_below(&mut self, host: u32) {
        if !self.hosts[host as usize].is_tcp() {
            return; // a port: its connection's end is told
        }
        let Some(layers) = self.observe_below(host) else { return };
        let now = self.now;
        let Host { profile, kind, .. } = &mut self.hosts[host as usize];
        let profile = &self.profiles[*profile as usize];
        // Being told draws on the endpoint's entropy: a controller that is only watched must not be.
        if let Kind::Tcp { endpoint, .. } = kind
            && profile.params.wants().cross_layer
        {
            endpoint.below(profile, now, &layers);
        }
    }

    /// Tells a multipath connection's controllers and its scheduler what they want to know of its paths.
    #[cold]
    pub(crate) fn tell_paths(&mut self, owner: u32) {
        let Kind::Multipath(end) = &self.hosts[owner as usize].kind else { return };
        for path in 0..end.connection.paths() {
            let Kind::Multipath(end) = &self.hosts[owner as usize].kind else { return };
            let port = end.paths[path].port;
            let (by_controller, by_scheduler) = (self.observe_below(port), self.observe_path(port));
            let now = self.now;
            let Kind::Multipath(end) = &mut self.hosts[owner as usize].kind else { return };
            let profile = end.profile(&self.multipath_profiles);
            if let Some(layers) = by_controller
                && profile.path(path).params.wants().cross_layer
            {
                end.connection.below(profile, now, path, &layers);
            }
            if let Some(layers) = by_scheduler {
                end.connection.tell_scheduler(path, &layers);
            }
        }
    }

    /// What the lower layers of a host's node know now, `None` unless its controller wants to know or it is
    /// [watched](Simulation::watch). Looking changes nothing.
    pub fn look_below(&self, host: u32) -> Option<CrossLayer> {
        let sensor = self.sensors.get(host as usize)?.as_ref()?;
        Some(self.snapshot(&mut sensor.as_ref().clone()))
    }

    /// What they know of the path that begins at a port, `None` unless the scheduler wants to know. The
    /// ports come after the hosts of all flows, two for each subflow.
    pub fn look_at_path(&self, port: u32) -> Option<CrossLayer> {
        let sensor = self.path_sensors.get(port as usize)?.as_ref()?;
        Some(self.snapshot(&mut sensor.as_ref().clone()))
    }

    /// What [`look_below`](Simulation::look_below) says; the sensor takes it in.
    fn observe_below(&mut self, host: u32) -> Option<CrossLayer> {
        let mut sensor = self.sensors.get_mut(host as usize)?.take()?;
        let layers = self.snapshot(&mut sensor);
        self.sensors[host as usize] = Some(sensor);
        Some(layers)
    }

    /// The same of [`look_at_path`](Simulation::look_at_path).
    fn observe_path(&mut self, port: u32) -> Option<CrossLayer> {
        let mut sensor = self.path_sensors.get_mut(port as usize)?.take()?;
        let layers = self.snapshot(&mut sensor);
        self.path_sensors[port as usize] = Some(sensor);
        Some(layers)
    }

    fn snapshot(&self, sensor: &mut Sensor) -> CrossLayer {
        let now = self.now;
        let (mut hops, mut one_way, mut known) = (0, Span::ZERO, true);
        for step in &sensor.route {
            let (n, time) = match *step {
                Step::Link { time, .. } | Step::Air { time, .. } => (1, time),
                Step::Mesh { radio, station, key, time } => {
                    let mesh = self.radios.meshes[radio as usize].as_deref();
                    let n = mesh.and_then(|mesh| mesh.route_hops(now, station, key));
                    known &= n.is_some();
                    (n.unwrap_or(0), Span(time.0 * u64::from(n.unwrap_or(0))))
                }
            };
            hops += n;
            one_way = one_way + time;
        }
        let mut layers = match sensor.route.first().copied() {
            Some(Step::Air { radio, station, to, .. }) => {
                self.station_layers(sensor, radio as usize, station as usize, Some(to))
            }
            Some(Step::Mesh { radio, station, key, .. }) => {
                let mesh = self.radios.meshes[radio as usize].as_deref();
                let next = mesh.and_then(|mesh| mesh.next_of(now, station, key));
                self.station_layers(sensor, radio as usize, station as usize, next)
            }
            Some(Step::Link { direction, .. }) => self.link_layers(sensor.mtu, direction),
            None => NOTHING,
        };
        layers.hops = if known { hops } else { 0 };
        layers.base_rtt = if known { one_way + one_way } else { Span::NONE };
        layers
    }

    fn station_layers(
        &self,
        sensor: &mut Sensor,
        radio: usize,
        station: usize,
        next: Option<u32>,
    ) -> CrossLayer {
        let s = &self.radios.all[radio].stations[station];
        let waiting = match (sensor.scope, next) {
            (Scope::Station, _) => {
                sensor.look(self.now, s.counters.service());
                s.queue.len()
            }
            (Scope::NextHop(_), Some(next)) => {
                let service = s.service_of(next);
                sensor.turn_to(next, service);
                sensor.look(self.now, service);
                s.queue.iter().filter(|held| held.to == next).count()
            }
            (Scope::NextHop(_), None) => 0,
        };
        CrossLayer {
            queue_len: waiting.try_into().unwrap_or(u32::MAX),
            queue_limit: packets(s.limit(), sensor.mtu),
            failure_share: sensor.failure_share as u32,
            battery: charge(s, self.now),
            service_rate: Rate(sensor.service_rate),
            service_time: Span(sensor.service_time),
            ..NOTHING
        }
    }

    /// A node whose first hop is a link: its queue, and the link's own rate.
    fn link_layers(&self, mtu: u32, direction: u32) -> CrossLayer {
        let link = &self.links[direction as usize];
        let managed = self.managed.iter().find(|m| m.link == direction);
        let waiting = managed.map_or(link.waiting_at(self.now), |m| m.queue.len());
        let limit = queue_limit(&self.config, direction);
        let time = link.transmission_time(mtu);
        CrossLayer {
            queue_len: waiting.try_into().unwrap_or(u32::MAX),
            queue_limit: packets(limit, mtu),
            service_rate: Rate(u64::from(mtu) * 1_000_000_000 / time.0.max(1)),
            service_time: time,
            ..NOTHING
        }
    }
}

fn queue_limit(config: &Config, direction: u32) -> QueueLimit {
    config.links[direction as usize / 2].queue
}

/// A node about which nothing is known, on the mains.
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
