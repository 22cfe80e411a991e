//! Scenarios and formulas for several tests.
#![allow(dead_code, unused_imports)] // each test binary uses some of them

pub mod bottleneck;
pub mod pftk;
pub mod radio;
pub mod trace;
pub mod wifi;

use proptest::test_runner::TestCaseError;
use windlass_cc::{AnyParams, Span, Time, rto};
use windlass_sim::config::{Cbr, Config, FlowConfig, LinkConfig, ReadPolicy, Record};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_sim::{RunResult, Simulation};
use windlass_tcp::stack::{RFC, RIVERBED, StackConfig};
use windlass_tcp::{InitialWindow, Profile};

pub use windlass_sim::config::Traffic;

/// Payload of a full segment on an MTU of 1500 bytes without options.
pub const MSS: u64 = 1460;
/// Bytes of Reno-BER's download.
pub const DOWNLOAD: u64 = 10_000_000;

/// An unlimited, lossless link without framing between two nodes.
pub fn link(ends: [usize; 2], rate_bps: u64, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        name: format!("{}-{}", ends[0], ends[1]),
        ends,
        rate_bps,
        delay: Span::from_millis(delay_ms),
        queue: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
        framing: Framing::NONE,
        loss: Default::default(),
        down: Vec::new(),
        quick_start: None,
        back: None,
        radio: None,
        course: Default::default(),
    }
}

/// A flow from node to node that starts at zero, and whose receiver reads at once.
pub fn flow(ends: [usize; 2], profile: Profile, traffic: Traffic) -> FlowConfig {
    FlowConfig {
        name: format!("{}>{}", ends[0], ends[1]),
        from: ends[0],
        to: ends[1],
        profile: profile.into(),
        traffic,
        read: ReadPolicy::Immediate,
        start: Time::ZERO,
        multipath: None,
        pauses: Vec::new(),
    }
}

/// A stack with an algorithm on an MTU of 1500 bytes.
pub fn profile(stack: StackConfig, algorithm: &'static str) -> Profile {
    Profile::new(stack, AnyParams::by_name(algorithm).unwrap(), 1500)
}

/// A profile of present standards.
pub fn rfc(algorithm: &'static str) -> Profile {
    profile(RFC, algorithm)
}

/// Table 2 of Reno-BER with exact timers, for formulas without timer ticks.
pub fn exact_riverbed() -> StackConfig {
    let mut stack = RIVERBED;
    stack.timer_tick = Span::ZERO;
    if let rto::AnyParams::Rfc6298(rto) = &mut stack.rto {
        rto.granularity = Span::from_millis(1);
    }
    stack
}

/// Constant bit rate until `stop`.
pub fn cbr(packet: u64, interval_us: u64, stop: Time) -> Cbr {
    Cbr {
        packet,
        interval: Span::from_micros(interval_us),
        spread: Span::ZERO,
        stop,
        deadline: None,
    }
}

/// A network with the nodes of its links.
pub fn network(links: Vec<LinkConfig>, flows: Vec<FlowConfig>, duration: Time) -> Config {
    let nodes = links.iter().flat_map(|l| l.ends).max().unwrap_or(0) + 1;
    Config {
        nodes: (0..nodes).map(|n| format!("n{n}")).collect(),
        links,
        radios: Vec::new(),
        flows,
        duration,
        seed: 1,
        record: Record::default(),
    }
}

/// Reno-BER's download: server, cloud and client on 10 Mbit/s Ethernet, with 20 ms between cloud and client.
/// Only packets from cloud to client are lost (RB-5's `data-only`).
pub fn download(stack: StackConfig, bytes: u64, loss: Option<LossModel>) -> Config {
    let wire = |ends, delay_ms| LinkConfig {
        framing: Framing::ETHERNET,
        ..link(ends, 10_000_000, delay_ms)
    };
    let mut links = vec![wire([0, 1], 0), wire([1, 2], 20)];
    links[1].loss[0] = loss;
    let bulk = Traffic::Bulk { bytes: Some(bytes) };
    network(links, vec![flow([0, 2], profile(stack, "reno"), bulk)], Time::from_secs(200_000))
}

/// `n` bulk flows through a bottleneck of 10 Mbit/s for each flow: access of 100 Mbit/s and 5 ms on both
/// sides, 30 ms between, a queue of 67 packets per flow, PPP framing.
pub fn dumbbell(n: usize, algorithm: &'static str, duration: Time) -> Config {
    let wire = |ends, mbps: u64, delay_ms, packets| LinkConfig {
        queue: QueueLimit::Packets(packets),
        framing: Framing::PPP,
        ..link(ends, mbps * 1_000_000, delay_ms)
    };
    let mut links = vec![wire([0, 1], 10 * n as u64, 30, 67 * n as u64)];
    let mut flows = Vec::new();
    for i in 0..n {
        let (left, right) = (2 + 2 * i, 3 + 2 * i);
        links.push(wire([left, 0], 100, 5, 1000));
        links.push(wire([1, right], 100, 5, 1000));
        flows.push(flow([left, right], rfc(algorithm), Traffic::Bulk { bytes: None }));
    }
    network(links, flows, duration)
}

/// Present standards, with an initial window of `segments` segments.
pub fn rfc_with_initial_window(segments: u32) -> StackConfig {
    StackConfig { initial_window: InitialWindow::Segments(segments), ..RFC }
}

/// Runs to the end. Panics if the configuration is not valid or packets are not conserved.
pub fn run(config: Config) -> RunResult {
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

/// Independent losses of a probability.
pub fn drops(probability: f64) -> Option<LossModel> {
    Some(LossModel::Drop { probability })
}

/// Losses of the frames with these numbers.
pub fn listed(packets: &[u64]) -> Option<LossModel> {
    Some(LossModel::List { packets: packets.to_vec() })
}

/// Mean and standard error of the mean.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Jain's fairness index: 1 for equal shares, `1/n` if one flow has everything.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|s| s * s).sum::<f64>())
}

/// Runs up to this share of the duration and then to the end. Returns the results at both times.
pub fn run_by_way_of(
    stop_at: f64,
    config: &Config,
    check: impl Fn(&RunResult) -> Result<(), TestCaseError>,
) -> Result<RunResult, TestCaseError> {
    let mut s = Simulation::new(config.clone()).expect("a valid configuration");
    s.run_until(Time((config.duration.0 as f64 * stop_at) as u64));
    let stopped = s.clone().finish().map_err(|e| TestCaseError::fail(e.to_string()))?;
    check(&stopped)?;
    s.run();
    let ended = s.finish().map_err(|e| TestCaseError::fail(e.to_string()))?;
    check(&ended)?;
    Ok(ended)
}
