//! Timeouts: the first, their back-off, and the window after an outage.

use windlass_cc::{Span, Time};

use super::super::subject::{Law, Observed, Transport};
use super::super::verdict::{Finding, Verdict, seconds};

/// Bounds of the first timeout, seconds.
const FIRST: [f64; 2] = [0.9, 1.6];
/// Minimum ratio of successive intervals.
const DOUBLE: f64 = 1.7;
/// Time that separates two timeouts; a QUIC endpoint may send two packets per probe timeout.
const APART: Span = Span(60_000_000);
/// The outage of the probe.
const OUTAGE: [Time; 2] = [Time::from_secs(3), Time::from_secs(15)];
/// Packets in the first round trip after an outage.
const AFTER: f64 = 5.1;
/// The pause of the probe `held`, and the minimum share of the window that remains after it.
const HELD: [Time; 2] = [Time::from_secs(3), Time::from_millis(4_500)];
const KEPT: f64 = 0.85;
/// Flight before the pause in which a reduction is visible, packets.
const VISIBLE: f64 = 20.0;

/// Times at which groups of packets begin.
fn groups(times: impl Iterator<Item = Time>) -> Vec<Time> {
    let mut groups: Vec<Time> = Vec::new();
    let mut last = None;
    for time in times {
        if last.is_none_or(|last| time.since(last) > APART) {
            groups.push(time);
        }
        last = Some(time);
    }
    groups
}

/// Time until the first packet is repeated.
pub fn first(seen: &Observed, _: Law, _: Transport) -> Finding {
    let heard = seen.trace.heard.first().copied().unwrap_or(Time::NEVER);
    let sent = groups(seen.trace.all.iter().copied().filter(|sent| *sent < heard));
    let [first, second, ..] = sent[..] else {
        return Finding::none("the first packet is not repeated");
    };
    let wait = second.since(first).0 as f64 / 1e9;
    let measured = format!("{wait:.3} s");
    let found = match wait {
        w if w < FIRST[0] => Finding::fails(measured, second, "the packet is repeated too early"),
        w if w > FIRST[1] => Finding::fails(measured, second, "the packet is repeated too late"),
        _ => Finding::pass(measured),
    };
    Finding { span: Some([Time::ZERO, heard.min(second + Span(1_000_000_000))]), ..found }
}

/// Intervals between timeouts during an outage.
pub fn back_off(seen: &Observed, _: Law, _: Transport) -> Finding {
    let trace = &seen.trace;
    let within = trace.all.iter().copied().filter(|sent| *sent < OUTAGE[1]);
    let silent = trace.heard.iter().copied().filter(|heard| *heard < OUTAGE[1]).max();
    let silent = silent.unwrap_or(OUTAGE[0]);
    let sent = groups(within.filter(|sent| *sent >= silent));
    let waits: Vec<f64> = sent.windows(2).map(|w| w[1].since(w[0]).0 as f64 / 1e9).collect();
    let told: Vec<String> = waits.iter().map(|w| format!("{w:.2}")).collect();
    let measured = format!("{} s between packets without answers", told.join(", "));
    if waits.len() < 3 {
        return Finding::none(format!("{} intervals in the outage: {measured}", waits.len()));
    }
    let wrong = (1..waits.len() - 1).find(|n| waits[n + 1] < DOUBLE * waits[*n]);
    match wrong {
        None => Finding::pass(measured),
        Some(n) => {
            let ratio = waits[n + 1] / waits[n];
            let what = format!("the interval grows by × {ratio:.2}");
            let found = Finding::fails(measured, sent[n + 2], what);
            Finding { span: Some([Time(silent.0.saturating_sub(500_000_000)), OUTAGE[1]]), ..found }
        }
    }
}

/// Packets in the first round trip after an outage.
pub fn after_outage(seen: &Observed, law: Law, _: Transport) -> Finding {
    if law == Law::Other {
        return Finding::none("the algorithm is neither Reno nor CUBIC");
    }
    let trace = &seen.trace;
    let Some(heard) = trace.hears(OUTAGE[1]) else {
        return Finding::fails("no acknowledgement", OUTAGE[1], "the connection does not resume");
    };
    let end = heard + Span(trace.rtt().0 * 9 / 10);
    let amount = trace.amount(heard, end);
    let measured = format!(
        "{amount:.1} packets in the round trip after the first acknowledgement, {:.1} s after the outage",
        seconds(heard) - seconds(OUTAGE[1])
    );
    if amount <= AFTER {
        return Finding::pass(measured);
    }
    let mut bytes = 0;
    let over = trace.sent(heard, end).find(|p| {
        bytes += i64::from(p.len);
        trace.in_packets(bytes) > AFTER
    });
    let at = over.map_or(heard, |p| p.sent);
    Finding::fails(measured, at, "the sixth packet").at_most(AFTER.floor(), heard, end)
}

/// Largest flight after a pause of the link that loses no packet.
pub fn spurious(seen: &Observed, _: Law, transport: Transport) -> Finding {
    let trace = &seen.trace;
    let before = trace.peak(Time(HELD[0].0 - trace.rtt().0), HELD[0]);
    if before < VISIBLE {
        return Finding::none(format!("only {before:.0} packets in flight before the pause"));
    }
    if !trace.sent(HELD[0] + APART, HELD[1]).any(|_| true) {
        return Finding::none("no timeout in the pause");
    }
    let Some(heard) = trace.hears(HELD[1]) else {
        return Finding::fails("no acknowledgement", HELD[1], "the connection does not resume");
    };
    let rounds = trace.rounds(heard);
    // A sender that repeats the late packets has these duplicates in flight in the first two round trips.
    let after = rounds.iter().skip(2).take(3).map(|round| round.peak).fold(0.0, f64::max);
    let share = after / before;
    let measured = format!(
        "{before:.0} packets in flight before the pause, {after:.0} after it, × {share:.2}"
    );
    if share >= KEPT {
        return Finding::pass(measured);
    }
    let found = Finding::fails(measured, heard, "the window stays reduced").at_most(
        KEPT * before,
        heard,
        heard + Span(5 * trace.rtt().0),
    );
    // RFC 5682 and RFC 4015 are optional.
    match transport {
        Transport::Tcp => Finding { verdict: Verdict::Deviates, ..found },
        Transport::Quic => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_packets_of_one_timeout_are_one_group() {
        let times = [0, 1, 1000, 1001, 3000].map(Time::from_millis);
        assert_eq!(groups(times.into_iter()), [0, 1000, 3000].map(Time::from_millis));
    }
}
