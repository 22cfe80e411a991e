//! Ends of flows outside the simulation. Here they are endpoints of the test.

use crate::common::{self, flow, link, network, profile};
use windlass_cc::{Span, Time};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::app::{App, Bound, Role};
use windlass_sim::config::{
    Config, FlowConfig, Multipath, ReadPolicy, Record, SubflowConfig, Traffic,
};
use windlass_sim::external::{self, ExternalError, PacketEnd, Report, packet};
use windlass_sim::loss::LossModel;
use windlass_sim::packet::Body;
use windlass_sim::queue::{CoDel, Discipline};
use windlass_sim::random::{Purpose, Stream};
use windlass_sim::{FlowResult, RunResult, Series, Simulation};
use windlass_tcp::mptcp::MultipathConfig;
use windlass_tcp::segment::Codepoint;
use windlass_tcp::stack::LINUX;
use windlass_tcp::wire::{self, Addresses};
use windlass_tcp::{Endpoint, Profile, Seq};

const BYTES: u64 = 300_000;

/// A lossy path with a packet log.
fn config() -> Config {
    let mut wire = link([0, 1], 2_000_000, 20);
    wire.loss = [Some(LossModel::Drop { probability: 0.02 }), None].into();
    let transfer = flow([0, 1], profile(LINUX, "cubic"), Traffic::Bulk { bytes: Some(BYTES) });
    let mut config = network(vec![wire], vec![transfer], Time::from_secs(60));
    config.record = Record { capture: vec![0], ..Record::default() };
    config
}

/// An end outside the simulation: like a host of the simulation, but driven by the test.
struct End {
    profile: Profile,
    addresses: Addresses,
    endpoint: Endpoint,
    app: App,
    /// True if the end reports its values.
    reports: bool,
}

impl End {
    fn new(config: &Config, host: u32, role: Role) -> End {
        let mut iss = Stream::new(config.seed, host.into(), Purpose::InitialSequence);
        let iss = Seq(iss.next_u64() as u32);
        let flow = &config.flows[host as usize / 2];
        let profile = *flow.profile;
        let mut endpoint = Endpoint::new(&profile, iss);
        if matches!(role, Role::Receiver) {
            endpoint.listen();
        }
        let addresses = FlowAddresses::of_flow(host / 2, flow).addresses(host.is_multiple_of(2));
        let app = App::new(role, ReadPolicy::Immediate, Time::ZERO);
        End { profile, addresses, endpoint, app, reports: false }
    }
}

impl PacketEnd for End {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        let packet = wire::parse(packet).expect("a segment was sent");
        assert_eq!(packet.addresses, self.addresses.reversed());
        self.endpoint.on_segment(&self.profile, now, &packet.segment);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.endpoint.deadline() <= now {
            self.endpoint.on_deadline(&self.profile, now);
        }
        self.app.act(now, &mut Bound { socket: &mut self.endpoint, profile: &self.profile, now });
        let segment = self.endpoint.poll_transmit(&self.profile, now)?;
        let mut packet = Vec::new();
        packet::write(&Body::Segment(segment), &self.addresses, &mut packet).unwrap();
        Some(packet)
    }

    fn deadline(&mut self, _: Time) -> Time {
        self.endpoint.deadline().min(self.app.deadline())
    }

    fn report(&mut self) -> Option<Report> {
        let App { delivered, completed, .. } = self.app;
        let known = |span: Span| Some(span).filter(|span| span.is_known());
        self.reports.then(|| Report {
            delivered,
            completed,
            retransmits: self.endpoint.stats().retransmits,
            cwnd: self.endpoint.control().cwnd,
            ssthresh: Some(self.endpoint.control().ssthresh),
            srtt: known(self.endpoint.srtt()),
            min_rtt: known(self.endpoint.min_rtt()),
            failure: self.endpoint.failure_text().map(str::to_owned),
        })
    }
}

/// Runs the simulation with these hosts outside.
fn with_outside<const N: usize>(config: &Config, hosts: [u32; N]) -> (RunResult, [End; N]) {
    run_outside(config, hosts, false)
}

fn run_outside<const N: usize>(
    config: &Config,
    hosts: [u32; N],
    reports: bool,
) -> (RunResult, [End; N]) {
    let mut ends = hosts.map(|host| {
        let sender = Role::Sender { bytes: Some(BYTES) };
        let role = if host.is_multiple_of(2) { sender } else { Role::Receiver };
        End { reports, ..End::new(config, host, role) }
    });
    let mut outside: Vec<(u32, &mut dyn PacketEnd)> = Vec::new();
    for (host, end) in hosts.iter().zip(&mut ends) {
        outside.push((*host, end));
    }
    (external::run(config, &mut outside).unwrap(), ends)
}

fn datagram(len: u32) -> Body {
    Body::Datagram { len, ecn: Codepoint::NotEct }
}

/// A defective end: it sends these bytes at once, or always has an action that is due.
struct Broken(Option<Vec<u8>>);

impl PacketEnd for Broken {
    fn receive(&mut self, _: Time, _: &[u8]) {}

    fn transmit(&mut self, _: Time) -> Option<Vec<u8>> {
        self.0.take()
    }

    fn deadline(&mut self, now: Time) -> Time {
        now
    }
}

#[test]
fn a_defective_end_is_an_error() {
    let config = config();
    let with =
        |host: u32, mut end: Broken| external::run(&config, &mut [(host, &mut end)]).unwrap_err();
    let at = Time::ZERO;
    assert_eq!(with(0, Broken(Some(vec![7; 40]))), ExternalError::NoPacket { host: 0, at });
    assert_eq!(with(1, Broken(None)), ExternalError::Endless { host: 1, at });
    assert_eq!(with(2, Broken(None)), ExternalError::NoSuchEnd { host: 2 });
}

#[test]
fn the_network_is_the_same_for_ends_inside_and_outside() {
    let config = config();
    let (theirs, ends) = with_outside(&config, [0, 1]);
    let ours = common::run(config.clone());
    assert_eq!(ends[1].app.delivered, BYTES);
    assert!(ours.links[0].drops_error > 0, "nothing was lost");
    assert_eq!(theirs.packets, ours.packets);
    assert_eq!(theirs.links[0].drops_error, ours.links[0].drops_error);
}

#[test]
fn packets_that_arrive_at_the_same_time_keep_their_bytes() {
    let transfer = |ends| flow(ends, profile(LINUX, "cubic"), Traffic::Bulk { bytes: Some(BYTES) });
    let links = [[0, 1], [2, 3]].map(|ends| link(ends, 2_000_000, 20)).to_vec();
    let flows = [[0, 1], [2, 3]].map(transfer).to_vec();
    // Each end rejects packets of other flows.
    let (result, ends) = with_outside(&network(links, flows, Time::from_secs(10)), [0, 1, 2, 3]);
    assert_eq!((ends[1].app.delivered, ends[3].app.delivered), (BYTES, BYTES));
    assert_eq!(result.flows[0].packets_sent, result.flows[1].packets_sent, "in step");
}

#[test]
fn packets_from_outside_are_counted_for_their_flow() {
    let config = config();
    let (theirs, _) = with_outside(&config, [0, 1]);
    let ours = common::run(config.clone());
    let (theirs, ours) = (&theirs.flows[0], &ours.flows[0]);
    assert_eq!(theirs.packets_sent, ours.packets_sent);
    assert_eq!(theirs.peer_packets_sent, ours.peer_packets_sent);
    assert_eq!(theirs.data_segments, ours.data_segments);
    assert_eq!(theirs.loss_rate, ours.loss_rate);
    assert_eq!(theirs.algorithm, ours.algorithm);
}

#[test]
fn the_result_of_an_inside_end_does_not_depend_on_the_outside_end() {
    let config = config();
    let all_inside = common::run(config.clone()).flows.remove(0);
    let (mut receiver_outside, _) = with_outside(&config, [1]);
    let sender = receiver_outside.flows.remove(0);
    let of_sender =
        |f: &FlowResult| (f.retransmits, f.fast_retransmits, f.rto_count, f.srtt_ms, f.cwnd_bytes);
    assert!(all_inside.retransmits > 0, "nothing was lost");
    assert_eq!(of_sender(&sender), of_sender(&all_inside));
    assert_eq!((sender.delivered_bytes, sender.completion_s), (0, None));
    let (mut sender_outside, _) = with_outside(&config, [0]);
    let receiver = sender_outside.flows.remove(0);
    let of_receiver = |f: &FlowResult| (f.delivered_bytes, f.completion_s, f.active_s);
    assert_eq!(of_receiver(&receiver), of_receiver(&all_inside));
    let rates = |f: &FlowResult| [f.goodput_bps, f.throughput_bps].map(|bps| bps.round());
    assert_eq!(rates(&receiver), rates(&all_inside));
    assert_eq!((receiver.retransmits, receiver.srtt_ms), (0, None));
}

#[test]
fn ends_that_report_have_the_results_of_ends_inside() {
    let mut config = config();
    config.record.bins = Span::from_millis(500);
    config.record.series = vec![Series::Cwnd, Series::Ssthresh, Series::Srtt, Series::Delivered];
    let mut inside = common::run(config.clone());
    let (mut outside, _) = run_outside(&config, [0, 1], true);
    let (ours, theirs) = (inside.flows.remove(0), outside.flows.remove(0));
    assert!(ours.retransmits > 0 && ours.completion_s.is_some(), "{ours:?}");
    // The network does not see the counts of a TCP.
    let (fast_retransmits, rto_count) = (0, 0);
    assert_eq!(theirs, FlowResult { fast_retransmits, rto_count, uncounted: true, ..ours });
    assert_eq!(outside.timeline, inside.timeline);
    // Several packets at one time are one report.
    let last = |result: &RunResult, series| {
        let mut samples = result.samples.iter().filter(|sample| sample.series == series);
        samples.next_back().map(|sample| sample.value)
    };
    for series in &config.record.series {
        assert_eq!(last(&outside, *series), last(&inside, *series), "{series:?}");
    }
}

/// Sends a datagram every 2 ms, with this ECN field, and counts the marked datagrams that arrive.
struct Blaster {
    addresses: Addresses,
    next: Time,
    ecn: Codepoint,
    marked: u32,
}

impl PacketEnd for Blaster {
    fn receive(&mut self, _: Time, packet: &[u8]) {
        self.marked += u32::from(packet::ecn(packet) == Codepoint::Ce);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if now < self.next {
            return None;
        }
        self.next = now + Span::from_millis(2);
        let mut bytes = Vec::new();
        wire::emit_datagram(1_000, &self.addresses, |_| {}, &mut bytes).unwrap();
        packet::set_ecn(&mut bytes, self.ecn as u8);
        Some(bytes)
    }

    fn deadline(&mut self, _: Time) -> Time {
        self.next
    }
}

#[test]
fn a_queue_marks_the_datagrams_of_ends_that_support_it() {
    let mut config = config();
    config.duration = Time::from_secs(5);
    config.links[0].loss = [None, None].into();
    config.links[0].discipline = Discipline::CoDel(CoDel { ecn: true, ..CoDel::DEFAULT });
    let marked = |ecn: Codepoint| {
        let end = |sends: bool| Blaster {
            addresses: FlowAddresses::of_flow(0, &config.flows[0]).addresses(sends),
            next: if sends { Time::ZERO } else { Time::NEVER },
            ecn,
            marked: 0,
        };
        let [mut from, mut to] = [true, false].map(end);
        let result = external::run(&config, &mut [(0, &mut from), (1, &mut to)]).unwrap();
        (u64::from(to.marked), result.links[0].marks)
    };
    let (arrived, marks) = marked(Codepoint::Ect0);
    assert!(
        arrived > 10 && marks - arrived < 10,
        "{arrived} of {marks}; the others are in transit"
    );
    assert_eq!(marked(Codepoint::NotEct), (0, 0));
}

/// A flow with a single path, and a flow over two paths, through the nodes 1 and 2, to the node 3.
fn two_paths() -> Config {
    let path = |via: usize| SubflowConfig {
        name: via.to_string(),
        via: vec![via],
        profile: profile(LINUX, "cubic"),
    };
    let subflows = vec![path(1), path(2)];
    let multipath = Multipath { config: MultipathConfig::default(), subflows, disjoint: false };
    let endless = Traffic::Bulk { bytes: None };
    let plain = flow([0, 1], profile(LINUX, "cubic"), endless.clone());
    let both = FlowConfig {
        multipath: Some(Box::new(multipath)),
        ..flow([0, 3], profile(LINUX, "cubic"), endless)
    };
    let wires = [([0, 1], 10), ([1, 3], 10), ([0, 2], 30), ([2, 3], 30)];
    let links = wires.map(|(ends, ms)| link(ends, 1_000_000, ms)).to_vec();
    network(links, vec![plain, both], Time::from_secs(1))
}

#[test]
fn a_multipath_end_outside_has_a_gate_for_each_path() {
    let mut simulation = Simulation::new(two_paths()).unwrap();
    simulation.make_external(0);
    simulation.make_external(1);
    assert_eq!(
        (simulation.make_external(2), simulation.make_external(3)),
        (vec![4, 6], vec![5, 7])
    );
    for (gate, len) in [(4, 100), (6, 200), (7, 300)] {
        simulation.inject(gate, 40 + len, datagram(len));
    }
    simulation.run_until(Time::from_millis(900));
    let arrived: Vec<(u32, u64)> =
        simulation.take_egress().map(|d| (d.host, d.time.0 / 10_000_000)).collect();
    assert_eq!(arrived, [(5, 2), (7, 6), (6, 6)], "each packet takes its own path");
    let result = simulation.finish().expect("packets are conserved");
    let paths = &result.flows[1].multipath.as_ref().expect("paths").subflows;
    let told: Vec<_> =
        paths.iter().map(|p| (p.name.as_str(), p.packets_sent, p.peer_packets_sent)).collect();
    assert_eq!(told, [("1", 1, 0), ("2", 1, 1)]);
    assert_eq!((result.flows[1].packets_sent, result.flows[1].peer_packets_sent), (2, 1));
}

#[test]
fn packets_inside_are_counted() {
    let config = config();
    let mut simulation = Simulation::new(config).unwrap();
    simulation.make_external(0);
    simulation.make_external(1);
    assert_eq!(simulation.packets_inside(), 0);
    for len in 0..3 {
        simulation.inject(1, 40 + len, datagram(len));
    }
    assert_eq!(simulation.packets_inside(), 3);
    simulation.run_until(Time::from_secs(1));
    assert_eq!((simulation.packets_inside(), simulation.take_egress().count()), (0, 3));
}

#[test]
fn a_packet_keeps_its_number_until_it_leaves() {
    let mut config = config();
    config.links[0].loss = [None, None].into();
    let mut simulation = Simulation::new(config).unwrap();
    simulation.make_external(0);
    simulation.make_external(1);
    let sent: Vec<u32> = (0..5).map(|len| simulation.inject(0, 40 + len, datagram(len))).collect();
    simulation.run_until(Time::from_secs(1));
    let arrived: Vec<(u32, u32, Body)> =
        simulation.take_egress().map(|d| (d.host, d.id, d.body)).collect();
    let expected: Vec<(u32, u32, Body)> =
        sent.iter().zip(0..).map(|(id, len)| (1, *id, datagram(len))).collect();
    assert_eq!(arrived, expected);
    assert!(simulation.finish().is_ok(), "packets are conserved");
}
