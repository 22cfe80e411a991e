//! `windlass bench`: packet-hops per CPU-second.

use serde::Serialize;
use windlass_cc::Time;
use windlass_lab::compile::compile;
use windlass_lab::scenario::Scenario;
use windlass_sim::{RunResult, Simulation};

use crate::args::Bench;
use crate::output::{Chatter, Failure, print};

/// The cases: name and scenario.
const CASES: &[(&str, &str)] = &[
    ("dumbbell-4", include_str!("../../../../scenarios/bench/dumbbell-4.toml")),
    ("dumbbell-100", include_str!("../../../../scenarios/bench/dumbbell-100.toml")),
    ("dumbbell-1000", include_str!("../../../../scenarios/bench/dumbbell-1000.toml")),
    ("grid-aodv", include_str!("../../../../scenarios/bench/grid-aodv.toml")),
    ("reno-ber", include_str!("../../../../papers/reno-ber/download.toml")),
];

/// Least processor time of a timed run, seconds.
const LEAST_CPU_S: f64 = 0.2;

/// What one case measured. A packet-hop is one frame put on one link, data or ACK, or one
/// packet transmitted by a station, retries not counted.
#[derive(Serialize)]
struct Measured {
    name: &'static str,
    packet_hops: u64,
    events: u64,
    /// Processor time of the event loop, the network's construction left out: median of the runs.
    cpu_s: f64,
    hops_per_cpu_s: f64,
    /// Sum over the flows.
    goodput_bps: f64,
    runs: u32,
}

/// Runs the cases.
pub fn run(args: &Bench, chatter: &Chatter) -> Result<(), Failure> {
    for wanted in &args.cases {
        if !CASES.iter().any(|c| c.0 == wanted) {
            let known: Vec<&str> = CASES.iter().map(|c| c.0).collect();
            return Err(Failure::unknown("case", wanted, &known));
        }
    }
    if cfg!(debug_assertions) {
        chatter.say("note: this is a debug build; measure with `cargo run --release`");
    }
    let wanted = |name: &str| args.cases.is_empty() || args.cases.iter().any(|c| c == name);
    for &(name, text) in CASES.iter().filter(|c| wanted(c.0)) {
        let measured = measure(name, text, args.runs)?;
        let line = if args.json {
            serde_json::to_string(&measured).map_err(Failure::work)?
        } else {
            format!(
                "{:<14} {:>12} hops {:>9.4} CPU-s {:>7.2} million hops per CPU-second {:>9.1} Mbps",
                name,
                measured.packet_hops,
                measured.cpu_s,
                measured.hops_per_cpu_s / 1e6,
                measured.goodput_bps / 1e6
            )
        };
        print(&format!("{line}\n"))?;
    }
    Ok(())
}

fn measure(name: &'static str, text: &str, runs: u32) -> Result<Measured, Failure> {
    let scenario = Scenario::from_str(text, name).map_err(Failure::work)?;
    let (mut cpu_s, result) = once(&scenario)?;
    // A short case is repeated within a timed run until the clock can tell.
    let repeats = (LEAST_CPU_S / cpu_s.max(1e-6)).ceil().clamp(1.0, 10_000.0) as u32;
    let mut times = Vec::new();
    for _ in 0..runs {
        let mut total = 0.0;
        for _ in 0..repeats {
            total += once(&scenario)?.0;
        }
        times.push(total / f64::from(repeats));
    }
    times.sort_by(f64::total_cmp);
    cpu_s = times[times.len() / 2];
    Ok(Measured {
        name,
        packet_hops: result.packet_hops,
        events: result.events,
        cpu_s,
        hops_per_cpu_s: result.packet_hops as f64 / cpu_s.max(1e-9),
        goodput_bps: result.flows.iter().map(|f| f.goodput_bps).sum(),
        runs,
    })
}

/// Simulates once; the processor time of the event loop, and the result.
fn once(scenario: &Scenario) -> Result<(f64, RunResult), Failure> {
    let config = compile(scenario, scenario.seed).map_err(Failure::work)?;
    let mut simulation = Simulation::new(config).map_err(Failure::work)?;
    let begun = cpu_now();
    simulation.run_until(Time::NEVER);
    let cpu_s = cpu_now() - begun;
    Ok((cpu_s, simulation.finish().map_err(Failure::work)?))
}

/// Processor time of this process, seconds.
#[cfg(unix)]
fn cpu_now() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// Without a process clock, wall time: right on an idle machine.
#[cfg(not(unix))]
fn cpu_now() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64()
}
