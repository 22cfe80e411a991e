//! Compares retransmission timers on the same RTTs and losses, and in the same networks.
//!
//! `cargo run --release -p windlass-sim --example timers [SEEDS] [SECONDS]` writes two tables in
//! Markdown, with 95 % intervals over the seeds.
//!
//! 1. Replay: The program simulates and records a connection with RFC 6298's timer. Each timer
//!    receives the connection's samples, and computes a timeout whenever the connection sends new
//!    data. A segment that was acknowledged after this timeout counts as a spurious timeout. The
//!    timeout of a lost segment counts as its wait. (A real timer restarts with each
//!    acknowledgement, so that far fewer spurious timeouts occur: see 2.) The cost is the objective
//!    of CoCoA3+'s timer (C3-14), over the minimum of the objective at the same time. No timer backs
//!    off in the replay.
//! 2. Closed loop: The same networks with each timer in the sender's stack.

mod judge;
mod networks;
mod record;

use judge::Verdict;
use networks::{NETWORKS, Network};
use windlass_cc::Span;
use windlass_cc::rto::cmbo::{Bounds, Order, Reading, Solver};
use windlass_cc::rto::{AnyParams, CmboParams, LinuxParams, Rfc6298Params};
use windlass_sim::Simulation;

/// Two-sided 97.5 % quantiles of Student's distribution with 1 to 19 degrees of freedom.
const STUDENT: [f64; 19] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
];

/// The timers, without a floor if the parameters permit it.
fn timers() -> Vec<(&'static str, AnyParams)> {
    let named = |id| AnyParams::by_name(id).expect("a timer");
    let best = CmboParams { min: Span::ZERO, ..Default::default() };
    let with = AnyParams::Cmbo;
    let margin = CmboParams { reading: Reading::Margin, ..best };
    let literal = CmboParams { reading: Reading::Literal, ..best };
    let no_floor = Rfc6298Params { min: Span::ZERO, ..Default::default() };
    let linux = LinuxParams::default();
    vec![
        ("RFC 6298, floor 1 s", named("rfc6298")),
        ("RFC 6298, no floor", AnyParams::Rfc6298(no_floor)),
        ("Linux", AnyParams::Linux(linux)),
        ("CoCoA+", named("cocoa+")),
        ("ICC-TCP (approximate)", named("icc")),
        ("Peakhopper", named("peakhopper")),
        ("CMBO, margin", with(margin)),
        ("CMBO, margin, floor 200 ms", with(CmboParams { min: Span::from_millis(200), ..margin })),
        ("CMBO, best", with(best)),
        ("CMBO, best, mice first", with(CmboParams { order: Order::Paper, ..best })),
        ("CMBO, best, 1 ms to 60 s", {
            with(CmboParams { bounds: Bounds::Timer, min: Span::from_millis(1), ..best })
        }),
        ("CMBO, literal", with(literal)),
        ("exact, best", with(CmboParams { solver: Solver::Exact, ..best })),
        ("exact, best, floor 200 ms", {
            with(CmboParams { solver: Solver::Exact, min: Span::from_millis(200), ..best })
        }),
    ]
}

/// Formats `mean ± half width` of the 95 % interval; `mean` for one value, and `none` without
/// values.
fn interval(values: &[f64], digits: usize) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let Some(t) = STUDENT.get(values.len().saturating_sub(2)).filter(|_| values.len() > 1) else {
        return format!("{mean:.digits$}");
    };
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    format!("{mean:.digits$} ± {:.digits$}", t * (variance / n).sqrt())
}

fn column<T>(all: &[T], value: impl Fn(&T) -> f64, digits: usize) -> String {
    let known = all.iter().map(value).filter(|v| v.is_finite());
    interval(&known.collect::<Vec<f64>>(), digits)
}

fn replay(network: &Network, seeds: u64, seconds: u64) {
    println!("\n## Replay: {}\n", network.about);
    println!(
        "| timer | spurious, % of segments | wait after a loss, ms | cost over the minimum | off the \
         optimum, % |\n| --- | ---: | ---: | ---: | ---: |"
    );
    let standard = AnyParams::by_name("rfc6298").expect("a timer");
    let recorded: Vec<_> =
        (1..=seeds).map(|seed| record::record(network.config(seed, seconds, standard))).collect();
    for (name, params) in timers() {
        let verdicts: Vec<Verdict> =
            (1..).zip(&recorded).map(|(s, r)| r.judge(&params, s)).collect();
        println!(
            "| {name} | {} | {} | {} | {} |",
            column(&verdicts, |v| 100.0 * v.spurious, 2),
            column(&verdicts, |v| 1e3 * v.wait, 0),
            column(&verdicts, |v| v.cost, 2),
            column(&verdicts, |v| 100.0 * v.distance, 1),
        );
    }
    let (n, losses): (Vec<f64>, Vec<f64>) = recorded.iter().map(record::Recorded::size).unzip();
    println!("\nSegments {}, of them lost {}.", interval(&n, 0), interval(&losses, 0));
}

fn closed_loop(network: &Network, seeds: u64, seconds: u64) {
    println!("\n## Closed loop: {}\n", network.about);
    println!(
        "| timer | goodput, kbit/s | timeouts per minute | unnecessary retransmissions, % |\n\
         | --- | ---: | ---: | ---: |"
    );
    for (name, params) in timers() {
        let runs: Vec<[f64; 3]> = (1..=seeds)
            .map(|seed| {
                let mut simulation =
                    Simulation::new(network.config(seed, seconds, params)).expect("valid");
                simulation.run();
                let result = simulation.finish().expect("conserved packets");
                let flow = &result.flows[0];
                let dropped = flow.loss_rate * flow.packets_sent as f64;
                let vain = flow.retransmits as f64 - dropped.round();
                [
                    flow.goodput_bps / 1e3,
                    flow.rto_count as f64 * 60.0 / seconds as f64,
                    100.0 * vain.max(0.0) / flow.data_segments as f64,
                ]
            })
            .collect();
        println!(
            "| {name} | {} | {} | {} |",
            column(&runs, |r| r[0], 0),
            column(&runs, |r| r[1], 1),
            column(&runs, |r| r[2], 2),
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual: u64| {
        arguments
            .next()
            .map_or(usual, |text| text.parse().expect("SEEDS and SECONDS are whole numbers"))
    };
    let (seeds, seconds) = (number(10).clamp(1, 20), number(120).max(10));
    println!("# Retransmission timers\n\n{seeds} seeds, {seconds} s each; mean and 95 % interval.");
    for network in &NETWORKS {
        replay(network, seeds, seconds);
    }
    for network in &NETWORKS {
        closed_loop(network, seeds, seconds);
    }
}
