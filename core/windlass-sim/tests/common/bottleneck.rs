//! Flows that share a bottleneck of 10 Mbit/s, and their goodput after convergence.

use windlass_cc::Time;
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::{RunResult, Simulation};

use super::{Traffic, flow, link, network, rfc};

/// Rate of the bottleneck.
pub const RATE_BPS: f64 = 10e6;
/// Payload of a full segment with timestamps.
pub const SEGMENT: f64 = 1448.0;

/// One bulk flow per algorithm, with its base RTT in ms: a multiple of 4, and at least 20. Link 0 is the
/// bottleneck. Its queue of 50 kB is the bandwidth-delay product for 40 ms. Flow i begins on link 1 + 2i.
/// Flows start at least 1.7 s after one another, with an offset by seed.
pub fn bottleneck(flows: &[(&'static str, u64)], seed: u64) -> Config {
    let mut links = vec![link([0, 1], RATE_BPS as u64, 5)];
    links[0].queue = QueueLimit::Bytes(50_000);
    let mut all = Vec::new();
    for (i, &(algorithm, rtt_ms)) in flows.iter().enumerate() {
        let (left, right) = (2 + 2 * i, 3 + 2 * i);
        links.push(link([left, 0], 1_000_000_000, rtt_ms / 4));
        links.push(link([1, right], 1_000_000_000, rtt_ms / 4 - 5));
        let mut one = flow([left, right], rfc(algorithm), Traffic::Bulk { bytes: None });
        one.start = Time::from_millis((1700 + 113 * seed) * i as u64);
        all.push(one);
    }
    let mut config = network(links, all, Time::ZERO);
    config.seed = seed;
    config
}

/// Measurements between two times.
pub struct Settled {
    /// Goodput of each flow, bit/s.
    pub goodput: Vec<f64>,
    /// Share of the time for which the bottleneck transmitted.
    pub utilisation: f64,
    /// Mean number of packets in the bottleneck's queue.
    pub queue: f64,
    /// Result of the whole run.
    pub run: RunResult,
}

/// Runs until `to` seconds, and measures from `from` seconds.
pub fn settled(mut config: Config, from: u64, to: u64) -> Settled {
    config.duration = Time::from_secs(to);
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    simulation.run_until(Time::from_secs(from));
    let early = simulation.clone().finish().expect("packets conserved");
    simulation.run();
    let run = simulation.finish().expect("packets conserved");
    let span = (to - from) as f64;
    let mean = |of: fn(&RunResult) -> f64| (of(&run) * to as f64 - of(&early) * from as f64) / span;
    let pairs = run.flows.iter().zip(&early.flows);
    Settled {
        goodput: pairs
            .map(|(b, a)| (b.delivered_bytes - a.delivered_bytes) as f64 * 8.0 / span)
            .collect(),
        utilisation: mean(|r| r.links[0].utilisation),
        queue: mean(|r| r.links[0].mean_queue_packets),
        run,
    }
}
