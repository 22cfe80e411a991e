//! The first round trips.

use super::super::subject::{Law, Observed, Transport};
use super::super::verdict::{Finding, seconds};

/// Rounds above this window are not slow start for every stack: a link or a buffer may limit them.
const SMALL: f64 = 100.0;

/// Number of packets in the first flight.
pub fn initial_window(seen: &Observed, _: Law, transport: Transport) -> Finding {
    let trace = &seen.trace;
    let most = match transport {
        Transport::Tcp => 10.1,
        Transport::Quic => 12.1,
    };
    let Some(first) = trace.heard.first().copied() else {
        return Finding::none("the receiver never answered");
    };
    let Some(end) = trace.answered(first) else {
        return Finding::none("no data was acknowledged");
    };
    let flight = trace.peak(first, end);
    let measured = format!("{flight:.1} packets of {} B", trace.full);
    if flight <= most {
        return Finding::pass(measured);
    }
    let mut bytes = 0;
    let over = trace.sent(first, end).find(|p| {
        bytes += i64::from(p.len);
        trace.in_packets(bytes) > most
    });
    let at = over.map_or(first, |p| p.sent);
    Finding::fails(
        measured,
        at,
        format!("packet beyond {most:.0} before the first acknowledgement"),
    )
    .at_most(most.floor(), first, end)
}

/// Growth per round trip.
pub fn slow_start(seen: &Observed, _: Law, _: Transport) -> Finding {
    let trace = &seen.trace;
    let Some(first) = trace.heard.first().copied() else {
        return Finding::none("the receiver never answered");
    };
    let rounds = trace.rounds(first);
    let growing =
        rounds.iter().zip(rounds.iter().skip(1)).take_while(|(_, b)| b.peak <= 2.2 * SMALL);
    let growing: Vec<_> = growing.filter(|(a, _)| a.peak <= SMALL).collect();
    if growing.len() < 2 {
        return Finding::none(format!("{} round trips below {SMALL} packets", growing.len()));
    }
    let peaks: Vec<String> = rounds.iter().take(7).map(|r| format!("{:.0}", r.peak)).collect();
    let measured = format!("{} packets in flight in successive round trips", peaks.join(", "));
    for (a, b) in &growing {
        let ratio = b.peak / a.peak;
        // A fraction of a packet is large compared with a small window.
        if b.peak > 2.15 * a.peak + 1.0 {
            return Finding::fails(measured, b.start, format!("× {ratio:.2} in a round trip"));
        }
        if b.peak < 1.2 * a.peak && b.peak < SMALL / 2.0 {
            let what = format!(
                "× {ratio:.2} in a round trip without loss, from {:.3} s",
                seconds(a.start)
            );
            return Finding::fails(measured, b.start, what);
        }
    }
    Finding::pass(measured)
}
