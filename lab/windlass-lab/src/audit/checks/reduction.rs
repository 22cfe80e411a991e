//! Reductions of the window after losses and marks.

use windlass_cc::{Span, Time};

use super::super::subject::{Law, Observed, Transport};
use super::super::trace::Trace;
use super::super::verdict::Finding;

/// Tolerance of the factor in congestion avoidance: 5 of 100 packets, for growth in the RTTs after recovery and a window
/// that is not full.
const CLOSE: f64 = 0.05;
/// Tolerance below the factor in slow start.
const NEAR: f64 = 0.08;
/// Tolerance above the factor in slow start: a sender that paces has a window larger than its flight.
const PACED: f64 = 0.15;
/// Tolerance after several losses.
const WIDE: f64 = 0.1;
/// Ratio of windows that growth in some round trips of congestion avoidance does not reach.
const JUMP: f64 = 1.25;
/// Largest factor after marks (RFC 8511 section 3).
const ABE: f64 = 0.85;

/// Windows before and after a reduction.
struct Reduction {
    before: f64,
    after: f64,
    /// Detection of the loss.
    at: Time,
    /// Beginning of the RTT whose largest flight is the window after it.
    settled: Time,
}

impl Reduction {
    fn judged(&self, least: f64, most: f64) -> Finding {
        let ratio = self.after / self.before;
        let measured = format!(
            "from {:.0} to {:.0} packets, × {ratio:.2}; bound {least:.2} to {most:.2}",
            self.before, self.after
        );
        let found = match ratio {
            r if r < least => Finding::fails(measured, self.at, "the window is reduced too much"),
            r if r > most => Finding::fails(measured, self.at, "the window is not reduced enough"),
            _ => return Finding::pass(measured),
        };
        let end = self.settled + Span(self.settled.since(self.at).0.max(50_000_000));
        let bound =
            |factor: f64| [self.settled, end].map(|time| (time, factor * self.before)).to_vec();
        found.bounded([bound(least), bound(most)])
    }
}

/// The reduction that the loss or mark of the packet at this place causes. The sender learns of it at
/// `known`. The window after it is the largest flight of the first RTT after recovery from which on
/// flights do not jump. Recovery lasts at most `rounds` RTTs.
fn reduction(trace: &Trace, place: usize, known: Time, rounds: usize) -> Option<Reduction> {
    let before = trace.peak(trace.packets[place].sent, known);
    let recovered = trace.answered(known + Span(1))?;
    let all = trace.rounds(recovered + Span(trace.rtt().0 / 10));
    let peaks: Vec<f64> = all.iter().take(rounds + 1).map(|round| round.peak).collect();
    let settled = |at: &usize| peaks[at + 1..].iter().all(|peak| *peak <= JUMP * peaks[*at]);
    let settled = (0..peaks.len()).find(settled)?;
    let after = peaks[settled];
    let settled = all[settled].start;
    (before > 0.0).then_some(Reduction { before, after, at: known, settled })
}

/// The reduction after the n-th loss.
fn after_loss(seen: &Observed, n: usize, rounds: usize) -> Result<Reduction, Finding> {
    let trace = &seen.trace;
    let place = trace.losses().nth(n);
    let place = place.ok_or_else(|| Finding::none("the packet to lose was never sent"))?;
    let known = trace.known_lost(place);
    let known = known.ok_or_else(|| Finding::none("too few packets follow the loss"))?;
    reduction(trace, place, known, rounds)
        .ok_or_else(|| Finding::fails("no data after the loss", known, "the transfer stops"))
}

fn around(
    factor: Option<f64>,
    found: Result<Reduction, Finding>,
    below: f64,
    above: f64,
) -> Finding {
    let Some(factor) = factor else {
        return Finding::none("the algorithm is neither Reno nor CUBIC");
    };
    match found {
        Ok(reduction) => reduction.judged(factor - below, factor + above),
        Err(finding) => finding,
    }
}

/// One loss in slow start.
pub fn one(seen: &Observed, law: Law, _: Transport) -> Finding {
    around(law.factor(), after_loss(seen, 0, 2), NEAR, PACED)
}

/// A second loss in congestion avoidance, before the window has its former size.
pub fn second(seen: &Observed, law: Law, _: Transport) -> Finding {
    around(law.factor(), after_loss(seen, 1, 2), CLOSE, CLOSE)
}

/// Five losses in one round trip. Without SACK each takes an RTT of recovery.
pub fn burst(seen: &Observed, law: Law, _: Transport) -> Finding {
    around(law.factor(), after_loss(seen, 0, 8), WIDE, PACED)
}

/// Marks in one round trip.
pub fn marks(seen: &Observed, law: Law, _: Transport) -> Finding {
    let trace = &seen.trace;
    let Some(place) = seen.marked.first().copied() else {
        return Finding::none("the sender does not mark its packets as ECN-capable");
    };
    let known = trace.packets.get(place).and_then(|p| p.acked);
    let Some(known) = known else { return Finding::none("the marked packet is not acknowledged") };
    let found = reduction(trace, place, known, 3);
    let found =
        found.ok_or_else(|| Finding::fails("no data after the mark", known, "the transfer stops"));
    let above = law.factor().map_or(0.0, |factor| ABE + 0.05 - factor);
    around(law.factor(), found, WIDE, above)
}
