//! Measures the cost of one simulated scenario. `bench/speed` runs this program and has the list of cases.
//!
//! `bench SCENARIO.toml [--set KEY=VALUE]... [--runs N] [--copies N] [--decisions]` prints one line of JSON. With one
//! run the event loop runs exactly once, inside `event_loop`, so a profiler can count this function alone. `--copies N`
//! puts N copies of the network next to each other, like N gateways with their devices. `--decisions` records the
//! decisions.

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::json;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::config::Config;
use windlass_sim::{RunResult, Simulation};

/// Minimum processor time of a timed run, seconds. A shorter case is repeated, because the clock is too coarse for it.
const LEAST_CPU_S: f64 = 0.2;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator. It also counts the bytes that are allocated now, and their maximum.
struct Measured;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(live, Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Relaxed);
        grow(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Measured = Measured;

struct Arguments {
    scenario: String,
    set: Vec<(String, String)>,
    runs: usize,
    copies: usize,
    decisions: bool,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut parsed = Arguments {
        scenario: String::new(),
        set: Vec::new(),
        runs: 3,
        copies: 1,
        decisions: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--runs" => parsed.runs = value()?.parse()?,
            "--decisions" => parsed.decisions = true,
            "--copies" => parsed.copies = value()?.parse()?,
            "--set" => {
                let value = value()?;
                let (key, value) = value.split_once('=').ok_or("--set: write KEY=VALUE")?;
                parsed.set.push((key.to_owned(), value.to_owned()));
            }
            _ if parsed.scenario.is_empty() && !word.starts_with('-') => parsed.scenario = word,
            _ => return Err(format!("unexpected `{word}`").into()),
        }
    }
    if parsed.scenario.is_empty() || parsed.runs == 0 || parsed.copies == 0 {
        return Err(
            "bench SCENARIO.toml [--set KEY=VALUE]... [--runs N] [--copies N] [--decisions]".into(),
        );
    }
    Ok(parsed)
}

/// N copies of the network in one configuration. Only links and plain flows are copied.
fn side_by_side(one: Config, copies: usize) -> Result<Config, Box<dyn Error>> {
    let plain = one.radios.is_empty() && one.flows.iter().all(|flow| flow.multipath.is_none());
    if copies > 1 && !(plain && one.record == Default::default()) {
        return Err("--copies: radios, multipath flows and records are not copied".into());
    }
    let mut all = one.clone();
    all.links.reserve_exact(one.links.len() * (copies - 1));
    all.flows.reserve_exact(one.flows.len() * (copies - 1));
    for copy in 1..copies {
        let first = copy * one.nodes.len();
        all.nodes.extend(one.nodes.iter().map(|name| format!("{name}-{copy}")));
        for link in &one.links {
            let mut link = link.clone();
            link.name = format!("{}-{copy}", link.name);
            link.ends = link.ends.map(|node| node + first);
            all.links.push(link);
        }
        for flow in &one.flows {
            let mut flow = flow.clone();
            flow.name = format!("{}-{copy}", flow.name);
            (flow.from, flow.to) = (flow.from + first, flow.to + first);
            all.flows.push(flow);
        }
    }
    Ok(all)
}

/// The part of the program that a profiler counts.
#[inline(never)]
fn event_loop(simulation: &mut Simulation) {
    simulation.run_until(Time::NEVER);
}

/// One run.
struct Run {
    setup_cpu_s: f64,
    cpu_s: f64,
    /// Maximum of the bytes that the simulation had allocated.
    bytes: usize,
    result: RunResult,
}

fn once(config: Config) -> Result<Run, Box<dyn Error>> {
    let before = LIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    let begun = cpu_now();
    let mut simulation = Simulation::new(config)?;
    let built = cpu_now();
    event_loop(&mut simulation);
    let cpu_s = cpu_now() - built;
    let bytes = MOST.load(Relaxed) - before;
    Ok(Run { setup_cpu_s: built - begun, cpu_s, bytes, result: simulation.finish()? })
}

/// Processor times of the given number of timed runs, ascending. One run takes about `cpu_s`.
fn timed(config: &Config, runs: usize, cpu_s: f64) -> Result<Vec<f64>, Box<dyn Error>> {
    let repeats = (LEAST_CPU_S / cpu_s.max(1e-6)).ceil().clamp(1.0, 10_000.0) as u32;
    let mut times = Vec::new();
    for _ in 0..runs {
        let mut total = 0.0;
        for _ in 0..repeats {
            total += once(config.clone())?.cpu_s;
        }
        times.push(total / f64::from(repeats));
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

/// Processor time of this process, seconds.
#[cfg(unix)]
fn cpu_now() -> f64 {
    let clock = nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID;
    let t = nix::time::clock_gettime(clock).expect("POSIX has this clock");
    t.tv_sec() as f64 + t.tv_nsec() as f64 / 1e9
}

/// Wall time, for systems without a process clock. It is right on a machine without other load.
#[cfg(not(unix))]
fn cpu_now() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    BEGUN.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { scenario, set, runs, copies, decisions } = arguments()?;
    let scenario = Scenario::from_file_with(&scenario, &set)?;
    let mut config = side_by_side(compile(&scenario, scenario.seed)?, copies)?;
    config.record.decisions = decisions;
    let (run, times) = if runs == 1 {
        let run = once(config)?; // large ones have no room for a second configuration
        let cpu_s = run.cpu_s;
        (run, vec![cpu_s])
    } else {
        let run = once(config.clone())?;
        let times = timed(&config, runs, run.cpu_s)?;
        (run, times)
    };
    let cpu_s = times[times.len() / 2];
    let Run { setup_cpu_s, bytes, result, .. } = run;
    let line = json!({
        "name": scenario.name,
        "flows": result.flows.len(),
        "packet_hops": result.packet_hops,
        "events": result.events,
        "setup_cpu_s": setup_cpu_s,
        "cpu_s": cpu_s,
        "hops_per_cpu_s": result.packet_hops as f64 / cpu_s.max(1e-9),
        "goodput_bps": result.flows.iter().map(|f| f.goodput_bps).sum::<f64>(),
        "bytes_per_flow": bytes / result.flows.len().max(1),
    });
    println!("{line}");
    Ok(())
}
