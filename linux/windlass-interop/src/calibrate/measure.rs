//! Conversion of a probe's trace to rows.

use std::collections::BTreeSet;

use windlass_cc::{Span, Time};
use windlass_sim::results::{PacketFate, RunResult};

use super::point::{FULL, Point, SMALL};
use super::row::{Quantity, Row, Tolerance};
use windlass_testbed::live::{Arrival, Outcome, Trace};

/// One-way delays of the datagrams that found the link idle, in ascending order. A delayed sender sends
/// several datagrams at once, which then wait for each other; these are left out.
fn one_way_times(point: &Point, trace: &Trace) -> Vec<Span> {
    let transmission = point.transmission(SMALL);
    let spaced = |number: usize| {
        number == 0 || trace.sent[number].since(trace.sent[number - 1]) >= transmission
    };
    let mut times: Vec<Span> = numbered(trace)
        .filter(|(number, ..)| spaced(*number))
        .map(|(_, sent, arrived)| arrived.since(sent))
        .collect();
    times.sort_unstable();
    times
}

/// Number, send time and arrival time of all datagrams that have arrived.
fn numbered(trace: &Trace) -> impl Iterator<Item = (usize, Time, Time)> {
    trace.arrived.iter().filter_map(|a| {
        let number = usize::try_from(a.number).ok()?;
        Some((number, *trace.sent.get(number)?, a.time))
    })
}

/// Returns the value that this share of the ascending values does not exceed.
fn quantile(ascending: &[Span], percent: usize) -> Span {
    let rank = (ascending.len() * percent).div_ceil(100).max(1);
    ascending.get(rank - 1).copied().unwrap_or(Span::ZERO)
}

/// Minimum, median, 99th percentile and maximum of the one-way delay.
pub(crate) fn delay(point: &Point, trace: &Trace, tolerance: &Tolerance) -> Vec<Row> {
    let times = one_way_times(point, trace);
    let asked = (point.transmission(SMALL) + point.delay).0 as f64;
    let wanted = [
        (Quantity::OneWayMin, 0),
        (Quantity::OneWayMedian, 50),
        (Quantity::OneWayP99, 99),
        (Quantity::OneWayMax, 100),
    ];
    wanted
        .into_iter()
        .map(|(quantity, percent)| {
            tolerance.row(quantity, asked, quantile(&times, percent).0 as f64)
        })
        .collect()
}

/// Rate and spacing over the middle half of the datagrams. By then the link has been busy for a while, and
/// its backlog is longer than any pause of the sender.
pub(crate) fn rate(point: &Point, trace: &Trace, tolerance: &Tolerance) -> Vec<Row> {
    let sent = trace.sent.len() as u64;
    let middle: Vec<Time> = trace
        .arrived
        .iter()
        .filter(|a| (sent / 4..sent * 3 / 4).contains(&a.number))
        .map(|a| a.time)
        .collect();
    let mut gaps: Vec<Span> = middle.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    gaps.sort_unstable();
    let busy: u64 = gaps.iter().map(|gap| gap.0).sum();
    let bits = gaps.len() as f64 * f64::from(FULL) * 8.0;
    let rate = if busy == 0 { 0.0 } else { bits / (busy as f64 / 1e9) };
    let asked = point.transmission(FULL).0 as f64;
    vec![
        tolerance.row(Quantity::Rate, point.rate_bps as f64, rate),
        tolerance.row(Quantity::SpacingMedian, asked, quantile(&gaps, 50).0 as f64),
    ]
}

/// Number of losses, and the number of differences from the losses that the error model draws.
pub(crate) fn loss(point: &Point, trace: &Trace, tolerance: &Tolerance) -> Vec<Row> {
    let drawn: BTreeSet<u64> = point.draws(trace.sent.len() as u64).into_iter().collect();
    let arrived: BTreeSet<u64> = trace.arrived.iter().map(|a| a.number).collect();
    let lost: BTreeSet<u64> =
        (0..trace.sent.len() as u64).filter(|n| !arrived.contains(n)).collect();
    let differently = drawn.symmetric_difference(&lost).count();
    vec![
        tolerance.row(Quantity::Lost, drawn.len() as f64, lost.len() as f64),
        tolerance.row(Quantity::LostDifferently, 0.0, differently as f64),
    ]
}

/// Number of datagrams of a burst that passed, and the time for which the queue held the last datagram.
pub(crate) fn queue(point: &Point, trace: &Trace, tolerance: &Tolerance) -> Vec<Row> {
    let places = point.places().unwrap_or(0);
    // The first datagram is transmitted immediately; each place in the queue adds one transmission time.
    let asked = point.transmission(FULL).0 * places;
    let times = || trace.arrived.iter().map(|a| a.time);
    let [first, last] = [times().min(), times().max()].map(Option::unwrap_or_default);
    vec![
        tolerance.row(Quantity::BurstPassed, (places + 1) as f64, trace.arrived.len() as f64),
        tolerance.row(Quantity::BurstWait, asked as f64, last.since(first).0 as f64),
    ]
}

/// Time over which a burst reached the link, from its packet log.
pub(crate) fn spread(result: &RunResult) -> Span {
    let offered = |fate| result.packets.iter().filter(move |p| p.forward && p.fate == fate);
    let first = offered(PacketFate::Sent).map(|p| p.time).min();
    let last = offered(PacketFate::DroppedQueue).map(|p| p.time).max();
    last.unwrap_or_default().since(first.unwrap_or_default())
}

/// Number of datagrams that arrived after a later datagram, or a second time.
pub(crate) fn out_of_order(arrived: &[Arrival]) -> u64 {
    arrived.windows(2).filter(|pair| pair[1].number <= pair[0].number).count() as u64
}

/// Number of planned datagrams that were not offered to the link, plus datagrams that left the link and did
/// not arrive.
pub(crate) fn beside(outcome: &Outcome, planned: u64) -> u64 {
    let Some((link, trace)) = outcome.result.links.first().zip(outcome.traces.first()) else {
        return planned;
    };
    planned.abs_diff(link.sent) + link.delivered.abs_diff(trace.arrived.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::point::points;

    const TOLERANCE: fn() -> Tolerance = Tolerance::in_virtual_time;

    /// Creates a trace of datagrams sent at these microseconds. `arrived` has the numbers and arrival times.
    fn trace(sent: &[u64], arrived: &[(u64, u64)]) -> Trace {
        let time = |us: u64| Time(us * 1_000);
        Trace {
            sent: sent.iter().copied().map(time).collect(),
            arrived: arrived
                .iter()
                .map(|(n, us)| Arrival { number: *n, time: time(*us) })
                .collect(),
        }
    }

    fn delivered(rows: &[Row], quantity: Quantity) -> f64 {
        rows.iter().find(|row| row.quantity == quantity).unwrap().delivered
    }

    fn is_ok(rows: &[Row], quantity: Quantity) -> bool {
        rows.iter().find(|row| row.quantity == quantity).unwrap().is_ok()
    }

    #[test]
    fn delay_ignores_datagrams_sent_within_one_transmission_time() {
        // 8 ms of transmission and 50 ms of delay; the third datagram waits for the second.
        let point = &points()[0];
        let trace = trace(&[0, 20_000, 20_010], &[(0, 58_000), (1, 78_050), (2, 86_050)]);
        let rows = delay(point, &trace, &TOLERANCE());
        assert_eq!(delivered(&rows, Quantity::OneWayMin), 58e6);
        assert_eq!(delivered(&rows, Quantity::OneWayMax), 58.05e6);
        assert!(rows.iter().all(Row::is_ok), "{rows:?}");
    }

    #[test]
    fn early_datagram_is_out_of_bounds_like_a_late_one() {
        let point = &points()[0];
        for (arrived, ok) in [(57_999, false), (58_000, true), (58_050, true), (58_051, false)] {
            let rows = delay(point, &trace(&[0], &[(0, arrived)]), &TOLERANCE());
            assert_eq!(is_ok(&rows, Quantity::OneWayMin), ok, "{arrived}");
        }
    }

    #[test]
    fn trace_without_arrivals_is_out_of_bounds() {
        let point = &points()[0];
        let silent = trace(&[0, 10, 20, 30], &[]);
        assert!(!delay(point, &silent, &TOLERANCE()).iter().any(Row::is_ok));
        assert!(!rate(point, &silent, &TOLERANCE()).iter().any(Row::is_ok));
        assert!(!queue(point, &silent, &TOLERANCE()).iter().any(Row::is_ok));
        assert!(!is_ok(&loss(point, &silent, &TOLERANCE()), Quantity::LostDifferently));
    }

    #[test]
    fn rate_uses_the_middle_half_of_the_datagrams() {
        // 1500 bytes at 2 Mbps take 6 ms; a slow start and a slow end do not count.
        let point = &points()[1];
        let sent: Vec<u64> = (0..40).collect();
        let arrived: Vec<(u64, u64)> = (0..40)
            .map(|n| (n, if (10..30).contains(&n) { n * 6_000 } else { n * 6_000 + n * n * 1_000 }))
            .collect();
        let rows = rate(point, &trace(&sent, &arrived), &TOLERANCE());
        assert_eq!(delivered(&rows, Quantity::Rate), 2e6);
        assert_eq!(delivered(&rows, Quantity::SpacingMedian), 6e6);
    }

    #[test]
    fn equal_number_of_other_losses_is_found() {
        let point = &points()[3];
        let drawn = point.draws(60);
        assert_eq!(drawn, [0, 1, 49, 50, 51]);
        let sent: Vec<u64> = (0..60).collect();
        let without = |lost: &[u64]| -> Vec<(u64, u64)> {
            (0..60).filter(|n| !lost.contains(n)).map(|n| (n, n)).collect()
        };
        let rows = loss(point, &trace(&sent, &without(&drawn)), &TOLERANCE());
        assert!(rows.iter().all(Row::is_ok), "{rows:?}");
        let rows = loss(point, &trace(&sent, &without(&[0, 1, 48, 50, 51])), &TOLERANCE());
        assert!(is_ok(&rows, Quantity::Lost));
        assert_eq!(delivered(&rows, Quantity::LostDifferently), 2.0);
    }

    #[test]
    fn one_datagram_too_many_or_too_few_of_a_burst_is_out_of_bounds() {
        let point = &points()[0];
        let sent: Vec<u64> = (0..20).collect();
        for (passed, ok) in [(10, false), (11, true), (12, false)] {
            let arrived: Vec<(u64, u64)> =
                (0..passed).map(|n| (n, (n + 1) * 48_000 + 50_000)).collect();
            let rows = queue(point, &trace(&sent, &arrived), &TOLERANCE());
            assert_eq!(is_ok(&rows, Quantity::BurstPassed), ok, "{passed}");
            assert_eq!(is_ok(&rows, Quantity::BurstWait), ok, "{passed}");
        }
    }

    #[test]
    fn reordered_and_duplicate_datagrams_are_counted() {
        let order = |numbers: &[u64]| {
            let arrived: Vec<Arrival> =
                numbers.iter().map(|n| Arrival { number: *n, time: Time::ZERO }).collect();
            out_of_order(&arrived)
        };
        assert_eq!([order(&[0, 1, 5]), order(&[0, 2, 1, 3]), order(&[0, 1, 1])], [0, 1, 1]);
    }
}
