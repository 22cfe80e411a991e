//! How often MFVL detects a shared bottleneck, for networks with and without one: true and false alarms after
//! cycles of 50 s. In the first cycle, both subflows run MVegas.

use crate::common::{Traffic, cbr, drops, flow, link, network};
use windlass_cc::coupling::cycle::{CycleParams, Events, Reset, Selection};
use windlass_cc::coupling::detection::Matching;
use windlass_cc::group::COUPLED;
use windlass_cc::mfvl::Params;
use windlass_cc::{AnyParams, Setup, Time};
use windlass_sim::config::{Config, FlowConfig, LinkConfig, Multipath, SubflowConfig};
use windlass_sim::link::QueueLimit;
use windlass_sim::results::SubflowResult;
use windlass_sim::{RunResult, Simulation};
use windlass_tcp::Profile;
use windlass_tcp::mptcp::MultipathConfig;
use windlass_tcp::stack::RFC;

/// An interpretation of the paper: its name, the events and the matching.
type Reading = (&'static str, Events, Matching);

/// The paper as printed, and corrected.
const READINGS: [Reading; 3] = [
    ("every retransmission, every pair", Events::Literal, Matching::Pairs),
    ("every retransmission, one to one", Events::Literal, Matching::OneToOne),
    ("recoveries, one to one", Events::Entries, Matching::OneToOne),
];

/// Other traffic or losses on the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// This number of TCPs on each bottleneck.
    Tcps(u64),
    /// UDP of 1 Mbit/s on each from 5 to 15 s and from 35 to 45 s.
    Udp,
    /// No other traffic; random losses of 1 % on each path.
    Random,
}

/// A network that the subflows over nodes 2 and 3 cross from 0 to 1.
#[derive(Clone, Copy, Debug)]
struct Net {
    about: &'static str,
    /// One bottleneck of 4 Mbit/s, or one of 3 and one of 1 Mbit/s (10 and 10 with random losses).
    shared: bool,
    /// Limit of a queue, packets.
    queue: u64,
    /// Additional one-way delay of the second path before the bottleneck, ms.
    longer_ms: u64,
    load: Load,
}

const BASE: Net = Net { about: "", shared: true, queue: 100, longer_ms: 0, load: Load::Tcps(2) };

const NETS: [Net; 9] = [
    Net { about: "one bottleneck, 2 TCPs, 100 packets", ..BASE },
    Net { about: "one bottleneck, 2 TCPs, 25 packets", queue: 25, ..BASE },
    Net { about: "one bottleneck, 6 TCPs, 25 packets", queue: 25, load: Load::Tcps(6), ..BASE },
    Net {
        about: "the same, one path 200 ms longer",
        queue: 25,
        longer_ms: 100,
        load: Load::Tcps(6),
        ..BASE
    },
    Net {
        about: "two bottlenecks, a TCP on each, 100 packets",
        shared: false,
        load: Load::Tcps(1),
        ..BASE
    },
    Net {
        about: "two bottlenecks, a TCP on each, 25 packets",
        shared: false,
        queue: 25,
        load: Load::Tcps(1),
        ..BASE
    },
    Net {
        about: "two bottlenecks, 3 TCPs on each, 25 packets",
        shared: false,
        queue: 25,
        load: Load::Tcps(3),
        ..BASE
    },
    Net {
        about: "two bottlenecks, the paper's UDP on both",
        shared: false,
        load: Load::Udp,
        ..BASE
    },
    Net { about: "two paths with 1 % random loss", shared: false, load: Load::Random, ..BASE },
];

fn wire(ends: [usize; 2], mbps: u64, delay_ms: u64, queue: u64) -> LinkConfig {
    let mut link = link(ends, mbps * 1_000_000, delay_ms);
    link.queue = QueueLimit::Packets(queue);
    link
}

/// Nodes 0 and 1 are the ends, 2 and 3 the access nodes, 4 to 7 routers, 8 to 11 the ends of the other
/// traffic.
fn links(net: &Net) -> Vec<LinkConfig> {
    let access = |ends, delay_ms| wire(ends, 10, delay_ms, 1_000);
    let far = 10 + net.longer_ms;
    let mut links = vec![wire([0, 2], 100, 0, 1_000), wire([0, 3], 100, 0, 1_000)];
    let (third, fourth) = if net.shared { (4, 5) } else { (6, 7) };
    links.extend([access([2, 4], 10), access([3, third], far), access([5, 1], 10)]);
    links.extend([access([8, 4], 10), access([5, 9], 10)]);
    links.extend([access([10, third], 10), access([fourth, 11], 10)]);
    if net.shared {
        links.push(wire([4, 5], 4, 50, net.queue));
        return links;
    }
    links.push(access([7, 1], 10));
    let random = net.load == Load::Random;
    let (first, second) = if random { (10, 10) } else { (3, 1) };
    for (ends, mbps) in [([4, 5], first), ([6, 7], second)] {
        let mut bottleneck = wire(ends, mbps, 50, net.queue);
        bottleneck.loss[0] = if random { drops(0.01) } else { None };
        links.push(bottleneck);
    }
    links
}

/// The other flows on one of the bottlenecks.
fn others(net: &Net, ends: [usize; 2], seed: u64) -> Vec<FlowConfig> {
    let reno = |place: u64| FlowConfig {
        // Drop-tail queues are not random, so the start times must be.
        start: Time::from_millis((seed * 7_919 + place * 3_301 + ends[0] as u64 * 271) % 1_000),
        ..flow(ends, profile(AnyParams::by_name("reno").expect("known")), BULK)
    };
    let udp = |begin| FlowConfig {
        start: Time(Time::from_secs(begin).0 + seed * 1_000_000),
        ..flow(
            ends,
            profile(AnyParams::default()),
            Traffic::CbrUdp(cbr(972, 8_000, Time::from_secs(begin + 10))),
        )
    };
    match net.load {
        Load::Tcps(count) => (0..count).map(reno).collect(),
        Load::Udp => vec![udp(5), udp(35)],
        Load::Random => vec![],
    }
}

const BULK: Traffic = Traffic::Bulk { bytes: None };

/// Packets of 1000 bytes.
fn profile(params: AnyParams) -> Profile {
    Profile::new(RFC, params, 1000)
}

fn config(net: &Net, cycle: CycleParams, seed: u64, cycles: u64) -> Config {
    let slow_start = AnyParams::by_name("mfvl").expect("registered").common().slow_start;
    let own = Params { cycle, ..Params::default() };
    let profile = profile(AnyParams::Mfvl(Setup { own, slow_start, ..Setup::default() }));
    let subflow =
        |name: &str, via| SubflowConfig { name: name.to_owned(), via: vec![via], profile };
    let multipath = Some(Multipath {
        config: MultipathConfig::default(),
        subflows: vec![subflow("first", 2), subflow("second", 3)],
        disjoint: false,
    });
    let mut flows = vec![FlowConfig {
        start: Time::from_millis(1_500 + seed * 37),
        multipath: multipath.map(Box::new),
        ..flow([0, 1], profile, BULK)
    }];
    flows.extend(others(net, [8, 9], seed));
    if !net.shared {
        flows.extend(others(net, [10, 11], seed));
    }
    let mut config = network(links(net), flows, Time::from_secs(4 + 50 * cycles));
    config.seed = seed;
    config
}

/// For each cycle, true if it ends with coupled subflows; and the total retransmissions on each path.
fn alarms(net: &Net, reading: Reading, seed: u64, cycles: u64) -> (Vec<bool>, [u64; 2]) {
    let (_, events, matching) = reading;
    let own = CycleParams {
        events,
        matching,
        reset: Reset::EachCycle,
        selection: Selection::Exclusive,
        ..CycleParams::default()
    };
    let config = config(net, own, seed, cycles);
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    let alarm = |cycle| {
        simulation.run_until(Time::from_secs(4 + 50 * cycle));
        let modes =
            subflows(&simulation.clone().finish().expect("packets conserved")).map(|s| s.mode);
        assert_eq!(modes[0] >= u64::from(COUPLED), modes[1] >= u64::from(COUPLED));
        modes[0] >= u64::from(COUPLED)
    };
    let alarms = (1..=cycles).map(alarm).collect();
    let again = subflows(&simulation.finish().expect("packets conserved")).map(|s| s.retransmits);
    (alarms, again)
}

fn subflows(result: &RunResult) -> [SubflowResult; 2] {
    let multipath = result.flows[0].multipath.as_ref().expect("a multipath connection");
    multipath.subflows.clone().try_into().expect("two subflows")
}

/// Number of six seeds with an alarm after the first cycle, for each interpretation.
fn first_cycle(about: &str) -> [usize; 3] {
    let net = NETS.iter().find(|net| net.about == about).expect("a network");
    READINGS.map(|reading| (1..=6).filter(|seed| alarms(net, reading, *seed, 1).0[0]).count())
}

#[test]
fn one_bottleneck_is_sometimes_detected_and_two_never_cause_alarms() {
    let seen = first_cycle("one bottleneck, 2 TCPs, 25 packets");
    assert!(seen.iter().all(|seeds| *seeds >= 2), "{seen:?}");
    assert_eq!(first_cycle("two bottlenecks, a TCP on each, 100 packets"), [0; 3]);
}

#[test]
fn many_random_losses_cause_alarms_only_with_the_printed_matching() {
    let [pairs, single, recoveries] = first_cycle("two paths with 1 % random loss");
    assert!(pairs >= 2 && single == 0 && recoveries == 0, "{pairs}, {single}, {recoveries}");
}

#[test]
fn paths_that_differ_by_more_than_the_interval_do_not_match() {
    let [_, single, recoveries] = first_cycle("the same, one path 200 ms longer");
    assert_eq!((single, recoveries), (0, 0));
}

#[test]
#[ignore = "prints the table of docs/src/studies/shared-bottlenecks.md"]
fn table_of_alarms() {
    const SEEDS: u64 = 20;
    const CYCLES: u64 = 3;
    println!(
        "| network | retransmissions on each path per cycle | {} |",
        READINGS.map(|r| r.0).join(" | ")
    );
    println!("| --- | --- | --- | --- | --- |");
    for net in &NETS {
        let mut again = String::new();
        let cells = READINGS.map(|reading| {
            let all: Vec<_> = (1..=SEEDS).map(|seed| alarms(net, reading, seed, CYCLES)).collect();
            let mean = |path: usize| {
                let sum: u64 = all.iter().map(|(_, again)| again[path]).sum();
                sum as f64 / (SEEDS * CYCLES) as f64
            };
            again = format!("{:.0}, {:.0}", mean(0), mean(1));
            let percent = |cycle: usize| {
                let seen = all.iter().filter(|(alarms, _)| alarms[cycle]).count();
                format!("{:.0}", 100.0 * seen as f64 / SEEDS as f64)
            };
            (0..CYCLES as usize).map(percent).collect::<Vec<_>>().join(", ")
        });
        println!("| {} | {again} | {} |", net.about, cells.join(" | "));
    }
}
