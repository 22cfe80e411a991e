//! Goodput of one flow, and shares of two.

use windlass_cc::Time;

use super::super::subject::{Law, Observed, Transport};
use super::super::trace::Trace;
use super::super::verdict::Finding;

/// Period of the probe `heavy-loss` that counts, its rate, and the minimum share of the rate.
const LATE: [Time; 2] = [Time::from_secs(40), Time::from_secs(50)];
const RATE: f64 = 10e6;
const HALF: f64 = 0.5;
/// Period of the probes with two flows that counts, and the minimum share of a flow.
const SHARED: [Time; 2] = [Time::from_secs(35), Time::from_secs(65)];
const LEAST: f64 = 0.2;
/// Minimum share of a flow with a rival of another algorithm.
const STARVED: f64 = 0.1;

/// Bytes that arrived in a period.
fn arrived(trace: &Trace, [from, to]: [Time; 2]) -> f64 {
    let arrived =
        |p: &&super::super::trace::Packet| p.arrived.is_some_and(|at| at >= from && at < to);
    let bytes: u64 = trace.packets.iter().filter(arrived).map(|p| u64::from(p.len)).sum();
    bytes as f64
}

/// Rate long after heavy losses have ended.
pub fn after_heavy_loss(seen: &Observed, _: Law, _: Transport) -> Finding {
    let trace = &seen.trace;
    let rate = 8.0 * arrived(trace, LATE) / 10.0;
    let peak = trace.peak(LATE[0], LATE[1]);
    let measured = format!(
        "{:.1} Mbit/s of 10 Mbit/s, at most {peak:.0} packets in flight, 28 s after the losses",
        rate / 1e6
    );
    let found = match rate >= HALF * RATE {
        true => Finding::pass(measured),
        false => Finding::fails(measured, LATE[0], "the window does not grow again"),
    };
    Finding { span: Some([Time::ZERO, LATE[1]]), ..found }
}

/// Shares of two flows of the stack.
pub fn copies(seen: &Observed, _: Law, _: Transport) -> Finding {
    shares(seen, LEAST)
}

/// Shares of the stack and of CUBIC.
pub fn with_cubic(seen: &Observed, _: Law, _: Transport) -> Finding {
    shares(seen, STARVED)
}

fn shares(seen: &Observed, least: f64) -> Finding {
    let Some(rival) = &seen.rival else { return Finding::none("no second flow") };
    let bytes = [arrived(&seen.trace, SHARED), arrived(rival, SHARED)];
    let total = bytes[0] + bytes[1];
    if total <= 0.0 {
        return Finding::fails("nothing arrived", SHARED[0], "both flows have stopped");
    }
    let shares = bytes.map(|b| b / total);
    let measured = format!("{:.0} % and {:.0} %", 100.0 * shares[0], 100.0 * shares[1]);
    let found = match shares[0].min(shares[1]) >= least {
        true => Finding::pass(measured),
        false => Finding::fails(measured, SHARED[0], "one flow starves the other"),
    };
    Finding { span: Some([Time::ZERO, SHARED[1]]), ..found }
}
