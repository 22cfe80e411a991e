//! Growth in congestion avoidance, compared with Reno's slope and CUBIC's curve.

use windlass_cc::{Span, Time};

use super::super::subject::{Law, Observed, Transport};
use super::super::trace::Trace;
use super::super::verdict::{Finding, seconds};

/// Bounds of Reno's slope, packets per round trip.
const SLOPE: [f64; 2] = [0.4, 1.15];
/// Minimum number of rounds to judge growth.
const ROUNDS: usize = 15;
/// CUBIC's constants (RFC 9438 sections 4.1 and 4.6).
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Tolerances around CUBIC's curve: a share, and packets.
const SHARE: f64 = 0.15;
const PACKETS: f64 = 4.0;

/// A window during congestion avoidance.
struct Point {
    at: Time,
    window: f64,
}

/// Windows per round trip after the recovery of the first loss, and the window before the loss.
fn curve(trace: &Trace) -> Result<(f64, Vec<Point>), Finding> {
    let none = |why: &str| Finding::none(why.to_owned());
    let place = trace.losses().next().ok_or_else(|| none("the packet to lose was never sent"))?;
    let known = trace.known_lost(place).ok_or_else(|| none("too few packets follow the loss"))?;
    let before = trace.peak(trace.packets[place].sent, known);
    let recovered = trace.answered(known + Span(1));
    let recovered = recovered.ok_or_else(|| none("nothing is acknowledged after the loss"))?;
    let rounds = trace.rounds(recovered + Span(trace.rtt().0 / 10));
    // The last round may end with the observation.
    let whole = rounds.iter().filter(|r| r.end <= trace.end);
    let points: Vec<Point> = whole.map(|r| Point { at: r.start, window: r.peak }).collect();
    if points.len() < ROUNDS {
        return Err(none("too few round trips after the loss"));
    }
    Ok((before, points))
}

/// Compares growth with the stack's law.
pub fn avoidance(seen: &Observed, law: Law, _: Transport) -> Finding {
    let (before, points) = match curve(&seen.trace) {
        Ok(curve) => curve,
        Err(finding) => return finding,
    };
    match law {
        Law::Reno => reno(&points),
        Law::Cubic => cubic(before, &points, seen.trace.rtt()),
        Law::Other => Finding::none("the algorithm is neither Reno nor CUBIC"),
    }
}

fn reno(points: &[Point]) -> Finding {
    let (first, last) = (&points[1], &points[points.len() - 1]);
    let rounds = (points.len() - 2) as f64;
    let slope = (last.window - first.window) / rounds;
    let measured = format!(
        "{slope:.2} packets per round trip: from {:.0} to {:.0} packets in {rounds:.0} round trips",
        first.window, last.window
    );
    if (SLOPE[0]..=SLOPE[1]).contains(&slope) {
        return Finding::pass(measured);
    }
    let steep = slope > SLOPE[1];
    let outside = |(n, point): &(usize, &Point)| match steep {
        true => point.window > first.window + SLOPE[1] * *n as f64 + PACKETS,
        false => point.window < first.window + SLOPE[0] * *n as f64 - PACKETS,
    };
    let beyond = points[1..].iter().enumerate().find(outside);
    let at = beyond.map_or(last.at, |(_, point)| point.at);
    let what = if steep { "the window grows too fast" } else { "the window grows too slowly" };
    let line = |slope: f64| {
        let end = first.window + slope * rounds;
        vec![(first.at, first.window), (last.at, end)]
    };
    Finding::fails(measured, at, what).bounded(SLOPE.map(line))
}

/// CUBIC's window (RFC 9438 sections 4.2 to 4.5) at the times of the points, packets. After the estimate
/// of Reno's window has reached the window before the loss, it grows by `late` per round trip.
fn expected(before: f64, points: &[Point], rtt: Span, late: f64) -> Vec<f64> {
    let (start, rtt) = (&points[0], seconds(Time(rtt.0)));
    let k = libm::cbrt((before - start.window).max(0.0) / C);
    let mut estimate = start.window;
    let mut last = start.at;
    let of = |point: &Point| {
        let t = seconds(point.at) - seconds(start.at);
        let grown = seconds(point.at) - seconds(last);
        estimate += if estimate < before { ALPHA } else { late } * grown / rtt;
        last = point.at;
        (C * (t - k) * (t - k) * (t - k) + before).max(estimate)
    };
    points.iter().map(of).collect()
}

fn cubic(before: f64, points: &[Point], rtt: Span) -> Finding {
    // RFC 9438 increases the slope of the estimate to 1, RFC 8312 did not.
    let least = expected(before, points, rtt, ALPHA);
    let most = expected(before, points, rtt, 1.0);
    let bounds: Vec<[f64; 2]> = least
        .iter()
        .zip(&most)
        .map(|(least, most)| [least * (1.0 - SHARE) - PACKETS, most * (1.0 + SHARE) + PACKETS])
        .collect();
    let outside =
        |(point, [low, high]): &(&Point, &[f64; 2])| point.window < *low || point.window > *high;
    let end = points.len() - 1;
    let measured = format!(
        "from {:.0} packets ({before:.0} before the loss) to {:.0} after {:.1} s; the curve has {:.0}{}",
        points[0].window,
        points[end].window,
        seconds(points[end].at) - seconds(points[0].at),
        least[end],
        if most[end] > least[end] + 1.0 { format!(" to {:.0}", most[end]) } else { String::new() },
    );
    // A single round may be an artefact of bursts.
    let pairs: Vec<_> = points.iter().zip(&bounds).collect();
    let Some(wrong) = pairs.windows(3).find(|three| three.iter().all(outside)) else {
        return Finding::pass(measured);
    };
    let (point, [low, high]) = wrong[0];
    let what = format!(
        "{:.0} packets, {:.1} s after the recovery; bound {low:.0} to {high:.0}",
        point.window,
        seconds(point.at) - seconds(points[0].at)
    );
    let curve = |side: usize| pairs.iter().map(|(point, bound)| (point.at, bound[side])).collect();
    Finding::fails(measured, point.at, what).bounded([curve(0), curve(1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::verdict::Verdict;

    fn points(window: impl Fn(f64) -> f64) -> Vec<Point> {
        (0..100)
            .map(|n| Point { at: Time::from_millis(100 * n), window: window(n as f64 / 10.0) })
            .collect()
    }

    #[test]
    fn slope_of_one_packet_passes_and_of_two_fails() {
        assert_eq!(reno(&points(|t| 50.0 + 10.0 * t)).verdict, Verdict::Pass);
        let fast = reno(&points(|t| 50.0 + 20.0 * t));
        assert_eq!(fast.verdict, Verdict::Fails);
        // 0.85 packets per round trip above the bound are 4 packets after 5 of them.
        assert!((fast.event.unwrap().at_s - 0.6).abs() < 0.11);
        assert_eq!(reno(&points(|_| 50.0)).verdict, Verdict::Fails);
    }

    #[test]
    fn curve_has_its_plateau_at_the_window_before_the_loss() {
        // K = cbrt((100 - 70) / 0.4) = 4.217 s.
        let points = points(|_| 70.0);
        let right = expected(100.0, &points, Span::from_millis(1_000), 1.0);
        assert!((right[42] - 100.0).abs() < 0.1, "{}", right[42]);
        assert!((right[0] - 70.0).abs() < 0.1, "{}", right[0]);
    }

    #[test]
    fn estimate_of_reno_exceeds_the_curve_with_a_short_rtt() {
        let points = points(|_| 70.0);
        let right = expected(100.0, &points, Span::from_millis(10), 1.0);
        // 0.53 packets per 10 ms reach 100 packets after 0.57 s, and then a packet per 10 ms.
        assert!((right[20] - (100.0 + 143.0)).abs() < 10.0, "{}", right[20]);
    }

    #[test]
    fn window_that_stays_fails_the_curve_at_its_first_point_outside() {
        let found = cubic(100.0, &points(|_| 70.0), Span::from_millis(100));
        assert_eq!(found.verdict, Verdict::Fails);
        assert!(found.event.unwrap().at_s < 2.0);
    }
}
