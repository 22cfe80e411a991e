//! The event loop, which moves packets from one part of the network to the next.

mod finish;
mod outside;

use windlass_cc::{CrossLayer, Time};
use windlass_tcp::CongestionControl;

use crate::app::Bound;
use crate::aqm::AqmQueue;
use crate::config::{Config, ConfigError};
use crate::core::{Core, Entity};
use crate::cross_layer::{Sensors, Surroundings};
use crate::delays::Delays;
use crate::external::Egress;
use crate::host::{Host, Kind};
use crate::line::DelayLine;
use crate::link_radio::gate::Gate;
use crate::packet::{Body, PacketHandle};
use crate::quick_start::{self, QuickStartRouters};
use crate::radio::network::Radios;
use crate::recorder::Recorder;
use crate::route::Step;
use crate::routing::Direction;
use crate::setup::Network;
use crate::timeline::Bins;
use crate::view::View;

/// A network during a run: the core, the parts that act on it, and the observers.
#[derive(Clone, Debug)]
pub struct Simulation {
    core: Core,
    /// Queues with a discipline, in front of links.
    queues: Vec<AqmQueue>,
    /// Delay lines after links with more than a constant delay.
    lines: Vec<DelayLine>,
    radios: Radios,
    /// Radios of links.
    gates: Vec<Gate>,
    /// `None` if no connection requests a rate from its routers.
    quick_start: Option<Box<QuickStartRouters>>,
    /// `None` if no controller or scheduler requires cross-layer values.
    sensors: Option<Box<Sensors>>,
    recorder: Option<Box<Recorder>>,
    delays: Option<Box<Delays>>,
    bins: Option<Box<Bins>>,
    /// End of the present interval; [`Time::NEVER`] without [`Bins`].
    next_bin: Time,
    /// Packets that have reached an external end, and have not been taken.
    egress: Vec<Egress>,
    /// Events processed.
    processed: u64,
    config: Config,
}

impl Simulation {
    /// Sets up a run at time zero.
    ///
    /// # Errors
    ///
    /// The configuration refers to an item that does not exist, has a value outside its range, or
    /// has a flow between nodes without a route.
    pub fn new(config: Config) -> Result<Simulation, ConfigError> {
        config.check()?;
        let Network { mut core, queues, lines, mut radios, gates, quick_start, .. } =
            Network::new(&config)?;
        for host in 0..core.hosts.len() as u32 {
            core.arm(host);
        }
        radios.start(&mut core);
        if config.record.decisions {
            core.hosts.iter_mut().step_by(2).for_each(Host::keep_journal);
            core.hosts.iter_mut().for_each(Host::keep_notes);
        }
        let bins = Bins::new(&config).map(Box::new);
        Ok(Simulation {
            sensors: Sensors::new(&core, &queues, &mut radios, &config),
            core,
            queues,
            lines,
            radios,
            gates,
            quick_start,
            recorder: Recorder::new(&config).map(Box::new),
            delays: Delays::new(&config),
            next_bin: bins.as_ref().map_or(Time::NEVER, |bins| bins.next),
            bins,
            egress: Vec::new(),
            processed: 0,
            config,
        })
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.core.now
    }

    /// Frames put on links so far, and packets transmitted by stations of radios.
    pub fn packet_hops(&self) -> u64 {
        let links = self.core.links.iter();
        let on_links = links.map(|l| l.counters.offered - l.counters.dropped_queue);
        on_links.sum::<u64>() + self.radios.packet_hops()
    }

    /// Number of pending events: about one per busy link direction and per waiting host.
    pub fn pending_events(&self) -> usize {
        self.core.events.len()
    }

    /// Time of the next event, `None` if no event is pending. It is not before
    /// [`now`](Simulation::now).
    pub fn next_event(&self) -> Option<Time> {
        self.core.events.next().map(|(time, _)| time)
    }

    /// Packets in the network: in queues, on links and in stations.
    pub fn packets_inside(&self) -> u64 {
        self.core.packets.len()
    }

    /// Processes events up to `end`, or to the configured duration if that is earlier. Returns true
    /// if events remain before the configured duration.
    pub fn run_until(&mut self, end: Time) -> bool {
        let end = end.min(self.config.duration).max(self.core.now);
        while let Some((time, number)) = self.core.events.next() {
            if time > end {
                self.core.now = end;
                return time <= self.config.duration;
            }
            if time > self.next_bin {
                self.close_bins(time);
            }
            self.core.now = time;
            self.processed += 1;
            match self.core.entities.of(number) {
                Entity::Link(link) => {
                    if let Some(handle) = self.core.take_off_link(link) {
                        self.forward(handle);
                    }
                }
                other => self.on_other_event(other, end),
            }
        }
        self.core.now = end;
        false
    }

    /// Runs to the end of the configured duration, or until no event is pending.
    pub fn run(&mut self) {
        self.run_until(self.config.duration);
    }

    /// Handles an event that is not of a link, at the root of the event queue.
    #[inline(never)]
    fn on_other_event(&mut self, entity: Entity, end: Time) {
        // The entry of a host stays until its next event replaces it.
        if let Entity::Host(host) = entity {
            return self.on_host_event(host);
        }
        self.core.events.finish_next();
        match entity {
            Entity::Link(_) | Entity::Host(_) => {}
            Entity::Queue(n) => self.queues[n as usize].on_transmitted(&mut self.core, n),
            Entity::Radio(radio) => self.on_radio_event(radio, end),
            Entity::Mesh(radio) => self.radios.on_mesh_event(&mut self.core, radio),
            Entity::Line(n) => self.on_line_event(n),
            Entity::Gate(n) => self.gates[n as usize].on_due(&mut self.core, n),
        }
    }

    /// Puts a host's packet on the first hop of its route.
    #[inline(always)]
    fn launch(&mut self, handle: PacketHandle) {
        self.core.counts.sent += 1;
        if let Some(times) = &mut self.core.sent_times {
            times.note(self.core.now, handle.id);
        }
        self.put(handle);
    }

    /// Puts a packet on its next hop.
    #[inline(always)]
    fn forward(&mut self, mut handle: PacketHandle) {
        handle.hop += 1;
        self.put(handle);
    }

    /// Puts a packet on the hop of its handle.
    #[inline(always)]
    fn put(&mut self, handle: PacketHandle) {
        match self.core.routes.at(handle.hop).step() {
            Step::Link(link) => self.core.put_on_link(link, handle),
            Step::Host(host) => self.deliver(host, handle.id),
            other => self.put_elsewhere(other, handle),
        }
    }

    /// Handles the less frequent hops. They are in a separate function for the speed of the others.
    #[inline(never)]
    fn put_elsewhere(&mut self, step: Step, handle: PacketHandle) {
        match step {
            Step::Link(link) => self.core.put_on_link(link, handle),
            Step::Queue(n) => self.queues[n as usize].put(&mut self.core, n, handle),
            Step::Radio(hop) => self.radios.put(&mut self.core, hop, handle),
            Step::Line(n) => self.lines[n as usize].put(&mut self.core, n, handle),
            Step::Gate(n) => {
                let (gate, way) = (n / 2, n as usize % 2);
                self.gates[gate as usize].put(&mut self.core, gate, way, handle);
            }
            Step::Host(host) => self.deliver(host, handle.id),
            Step::WithOption(hop) => self.pass_with_option(hop.step(), handle),
        }
    }

    /// Puts a packet with a Quick-Start option on this hop.
    fn pass_with_option(&mut self, step: Step, handle: PacketHandle) {
        if let Step::Host(host) = step {
            if !quick_start::deliver(&mut self.core, host, handle.id) {
                return self.deliver(host, handle.id);
            }
            return self.delivered(host, handle.id);
        }
        let link = self.link_of(step);
        if let Some(routers) = &mut self.quick_start {
            routers.pass(&mut self.core, link, handle);
        }
        self.put_elsewhere(step, handle);
    }

    /// The link direction of a hop; `None` for a hop of another kind.
    fn link_of(&self, step: Step) -> Option<Direction> {
        match step {
            Step::Link(link) => Some(link),
            Step::Queue(n) => Some(self.queues[n as usize].link),
            Step::Host(_)
            | Step::Radio(_)
            | Step::Line(_)
            | Step::Gate(_)
            | Step::WithOption(_) => None,
        }
    }

    /// Delivers a packet to its destination host.
    fn deliver(&mut self, host: u32, id: u32) {
        if let Some(delays) = &mut self.delays {
            delays.on_arrival(&self.core, host, id);
        }
        if self.sensors.is_some() {
            self.tell_below(host);
        }
        let core = &mut self.core;
        let Host { profile, kind, .. } = &mut core.hosts[host as usize];
        if let (Kind::Tcp { endpoint, app }, Body::Segment(segment)) = (kind, core.packets.get(id))
        {
            let profile = &core.profiles[*profile as usize];
            endpoint.on_segment(profile, core.now, segment);
            app.act(core.now, &mut Bound { socket: endpoint, profile, now: core.now });
            return self.delivered(host, id);
        }
        self.deliver_other(host, id);
    }

    /// Delivers a packet that is not a segment of a TCP flow.
    #[inline(never)] // keeps the path of segments short
    fn deliver_other(&mut self, host: u32, id: u32) {
        let core = &mut self.core;
        match (&mut core.hosts[host as usize].kind, core.packets.get(id)) {
            (Kind::DatagramSink { bytes, last }, Body::Datagram { len, .. }) => {
                *bytes += u64::from(*len);
                *last = core.now;
            }
            (Kind::CoapClient(client), Body::Coap(message)) => client.receive(core.now, message),
            (Kind::CoapServer(server), Body::Coap(message)) => server.receive(core.now, message),
            (Kind::MediaSource(source), Body::Media(packet)) => source.receive(core.now, packet),
            (Kind::MediaSink(sink), Body::Media(packet)) => sink.receive(core.now, packet),
            (Kind::Session(_), _) => core.deliver_to_session(host, id),
            (Kind::Port { owner, path }, _) => {
                let (owner, path) = (*owner, *path as usize);
                return self.deliver_to_port(owner, path, id);
            }
            (Kind::External { .. }, body) => {
                self.egress.push(Egress { time: core.now, host, id, body: *body });
            }
            _ => {}
        }
        self.delivered(host, id);
    }

    /// Delivers a packet to a port of this multipath end.
    #[cold]
    #[inline(never)]
    fn deliver_to_port(&mut self, owner: u32, path: usize, id: u32) {
        if self.sensors.is_some() {
            self.tell_below(owner);
        }
        let core = &mut self.core;
        if let Kind::Multipath(end) = &mut core.hosts[owner as usize].kind {
            end.receive(&core.multipath_profiles, core.now, path, &core.packets, id);
        }
        self.delivered(owner, id);
    }

    /// Counts a delivered packet, and sends the host's answer.
    #[inline(always)]
    fn delivered(&mut self, host: u32, id: u32) {
        self.core.counts.received += 1;
        // The slot is freed first, so that the answer reuses it.
        self.core.packets.remove(id);
        if let Some(delays) = &mut self.delays {
            delays.on_delivered(&self.core, host);
        }
        self.flush(host);
    }

    fn on_host_event(&mut self, host: u32) {
        if !self.core.hosts[host as usize].disarm(self.core.now) {
            return self.core.events.finish_next(); // an earlier event replaced it
        }
        if self.sensors.is_some() {
            self.tell_below(host);
        }
        let core = &mut self.core;
        let Host { profile, kind, .. } = &mut core.hosts[host as usize];
        match kind {
            Kind::Tcp { endpoint, app } => {
                let profile = &core.profiles[*profile as usize];
                endpoint.on_deadline(profile, core.now);
                app.act(core.now, &mut Bound { socket: endpoint, profile, now: core.now });
            }
            Kind::Multipath(end) => end.wake(&core.multipath_profiles, core.now),
            Kind::Session(_) => core.wake_session(host),
            Kind::DatagramSource(_)
            | Kind::DatagramSink { .. }
            | Kind::CoapClient(_)
            | Kind::CoapServer(_)
            | Kind::MediaSource(_)
            | Kind::MediaSink(_)
            | Kind::Port { .. }
            | Kind::External { .. } => {}
        }
        self.send_all(host);
        self.core.rearm(host);
    }

    /// Sends the packets of a host, and schedules its timer.
    #[inline]
    fn flush(&mut self, host: u32) {
        self.send_all(host);
        self.core.arm(host);
    }

    /// Sends the packets of a host, and records its values.
    #[inline(never)] // its two callers share the code in the cache
    fn send_all(&mut self, host: u32) {
        if self.quick_start.is_some() {
            self.flush_options(host);
        }
        while let Some((handle, last)) = self.core.next_packet(host) {
            self.launch(handle);
            if last {
                break;
            }
        }
        self.radios.tell_expectation(&mut self.core, host);
        if let Some(recorder) = &mut self.recorder {
            recorder.record(&self.core, host);
        }
    }

    #[cold]
    fn flush_options(&mut self, host: u32) {
        let next = |s: &mut Simulation| s.quick_start.as_ref()?.next_packet(&mut s.core, host);
        while let Some(handle) = next(self) {
            self.launch(handle);
        }
    }

    /// Handles the event of a radio, and the radio's following events while no other event precedes
    /// them. These events would also be next in the event queue, but need not enter it.
    #[inline(never)]
    fn on_radio_event(&mut self, radio: u32, end: Time) {
        if self.radios.is_stale(self.core.now, radio) {
            return; // an earlier event replaced it
        }
        let end = end.min(self.next_bin);
        let others = |core: &Core| core.events.next().map_or(Time::NEVER, |(time, _)| time);
        loop {
            let now = self.core.now;
            if let Some(passed) = self.radios.step(now, radio, others(&self.core), end) {
                self.core.now = passed.now;
                self.processed += passed.moments;
                if !self.radios.outcomes(radio).is_empty() {
                    self.on_outcomes(radio);
                }
                continue;
            }
            let Some(next) = self.radios.next_alone(radio, others(&self.core)) else { break };
            if next > end {
                break;
            }
            self.core.now = next;
            self.processed += 1;
        }
        self.radios.arm(&mut self.core, radio);
    }

    fn on_line_event(&mut self, number: u32) {
        let line = &mut self.lines[number as usize];
        line.on_due(&mut self.core, number);
        let mut out = std::mem::take(&mut line.out);
        for handle in out.drain(..) {
            self.forward(handle);
        }
        self.lines[number as usize].out = out; // reuses the allocation
    }

    fn on_outcomes(&mut self, radio: u32) {
        let mut outcomes = std::mem::take(self.radios.outcomes(radio));
        for outcome in outcomes.drain(..) {
            if let Some(handle) = self.radios.on_outcome(&mut self.core, radio, outcome) {
                self.forward(handle);
            }
        }
        *self.radios.outcomes(radio) = outcomes; // reuses the allocation
    }

    /// Passes cross-layer values to a host before each of its events, if it requires them.
    #[cold]
    fn tell_below(&mut self, host: u32) {
        if let Some(sensors) = &mut self.sensors {
            let around = Surroundings { queues: &self.queues, radios: &self.radios };
            sensors.tell(&mut self.core, around, host);
        }
    }

    /// Puts a sensor at a host, so that [`cross_layer`](Simulation::cross_layer) returns its values
    /// even if its controller does not require them. Call this before the run begins.
    pub fn watch_cross_layer(&mut self, host: usize) {
        let around = Surroundings { queues: &self.queues, radios: &self.radios };
        let sensors = self.sensors.get_or_insert_default();
        sensors.watch(&self.core, around, &self.config, host);
    }

    /// Present cross-layer values of a host's node. `None` unless its controller requires them or
    /// the host is [watched](Simulation::watch_cross_layer). The call does not change the
    /// simulation.
    pub fn cross_layer(&self, host: u32) -> Option<CrossLayer> {
        let around = Surroundings { queues: &self.queues, radios: &self.radios };
        self.sensors.as_ref()?.look(&self.core, around, host)
    }

    /// Present cross-layer values of the path that begins at a port. `None` unless the scheduler
    /// requires them. The ports come after the hosts of all flows, two per subflow.
    pub fn cross_layer_of_path(&self, port: u32) -> Option<CrossLayer> {
        let around = Surroundings { queues: &self.queues, radios: &self.radios };
        self.sensors.as_ref()?.look_at_path(&self.core, around, port)
    }

    /// Replaces the algorithm at the data sender of a flow. Returns true if the flow is an ordinary
    /// TCP connection. Other flows keep their algorithms.
    ///
    /// # Panics
    ///
    /// If the run has begun or the flow does not exist.
    pub fn set_controller(&mut self, flow: usize, controller: Box<dyn CongestionControl>) -> bool {
        assert_eq!(self.processed, 0, "an algorithm is set before the run begins");
        match &mut self.core.hosts[2 * flow].kind {
            Kind::Tcp { endpoint, .. } => endpoint.set_controller(controller),
            Kind::Session(end) => end.set_controller(controller),
            _ => return false,
        }
        true
    }

    fn view(&self) -> View<'_> {
        View {
            config: &self.config,
            core: &self.core,
            queues: &self.queues,
            lines: &self.lines,
            radios: &self.radios,
            gates: &self.gates,
            delays: self.delays.as_deref(),
        }
    }

    /// Closes the intervals of the timeline that end before `now`, the time of the next event.
    #[cold]
    fn close_bins(&mut self, now: Time) {
        let Some(mut bins) = self.bins.take() else { return };
        bins.close(self.view(), now);
        self.next_bin = bins.next;
        self.bins = Some(bins);
    }
}
