//! Idle and application-limited senders.

use windlass_cc::{Span, Time};

use super::super::subject::{Law, Observed, Transport};
use super::super::verdict::{Finding, Verdict};

/// Time of the second write of the probe `idle`, and the period in which packets are a burst.
const SECOND: Time = Time::from_secs(16);
const BURST: Span = Span(1_000_000);
/// Largest burst, packets: the initial window, and two more.
const AT_ONCE: f64 = 12.0;
/// Flights before the pause per RTT that a sender may pace. Linux in slow start paces two windows per RTT. The window may be
/// twice the last flight, if the data end in slow start.
const PACE: f64 = 4.0;
/// Window before the pause that makes the burst visible, packets.
const LARGE: f64 = 30.0;
/// Time of the change of the probe `thin`, and packets in the round trip after it.
const CHANGE: Time = Time::from_secs(20);
const AFTER: f64 = 24.0;

/// Packets at once after an idle time.
pub fn idle(seen: &Observed, _: Law, _: Transport) -> Finding {
    let trace = &seen.trace;
    let before = trace.peak(Time::ZERO, SECOND);
    if before < LARGE {
        return Finding::none(format!("only {before:.0} packets in flight before the pause"));
    }
    let Some(first) = trace.packets.iter().find(|p| p.sent >= SECOND) else {
        return Finding::fails("nothing", SECOND, "the second write is not sent");
    };
    let burst = trace.amount(first.sent, first.sent + BURST);
    let most = AT_ONCE + PACE * before * BURST.0 as f64 / trace.rtt().0 as f64;
    let measured = format!(
        "{burst:.0} packets in 1 ms ({before:.0} in flight before the pause); bound {most:.0}"
    );
    match burst <= most {
        true => Finding::pass(measured),
        false => Finding::fails(measured, first.sent, "a burst after idle").at_most(
            most,
            first.sent,
            first.sent + BURST,
        ),
    }
}

/// Window of a stream that never uses it.
pub fn thin(seen: &Observed, law: Law, transport: Transport) -> Finding {
    let trace = &seen.trace;
    let Some(first) = trace.packets.iter().find(|p| p.sent >= CHANGE) else {
        return Finding::fails("nothing", CHANGE, "the bulk data is not sent");
    };
    let used = trace.peak(Time::from_secs(2), CHANGE);
    let end = first.sent + Span(trace.rtt().0 * 9 / 10);
    let after = trace.amount(first.sent, end);
    let measured = format!("{after:.0} packets in a round trip, after at most {used:.0} in flight");
    if after <= AFTER {
        return Finding::pass(measured);
    }
    let found = Finding::fails(measured, first.sent, "a window that was never used")
        .at_most(AFTER, first.sent, end);
    // RFC 5681 has no such rule, and RFC 7661 is optional.
    match (law, transport) {
        (Law::Reno, Transport::Tcp) => Finding { verdict: Verdict::Deviates, ..found },
        _ => found,
    }
}
