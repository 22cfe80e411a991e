//! Numbers of a value over time.

use crate::papers::ask::{Course, fate};
use crate::papers::material::Trace;
use crate::papers::parts::series::seconds;

type Point = (f64, f64);

/// A series of a flow.
pub(super) fn series(trace: &Trace, name: &str, flow: u32) -> Option<Course> {
    let values = trace.values_of(flow, crate::experiment::series(name).ok()?);
    Some(Course(values.map(|(t, v)| (seconds(t), v as f64)).collect()))
}

/// Number of a flow's packets with a fate, up to each moment.
pub(super) fn packets(trace: &Trace, name: &str, flow: u32) -> Option<Course> {
    let fate = fate(name).ok()?;
    let mine = trace.packets.iter().filter(|p| p.flow == flow && p.forward && p.fate == fate);
    Some(Course(mine.zip(1u32..).map(|(p, n)| (seconds(p.time), f64::from(n))).collect()))
}

/// The time of the last sample.
pub(super) fn end(trace: &Trace) -> f64 {
    trace.samples.last().map_or(0.0, |s| seconds(s.time))
}

/// Seconds as whole nanoseconds, the unit of the trace.
fn nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round()
}

/// The moments at which the value changes, with the new values.
pub(super) fn changes(all: &Course) -> impl Iterator<Item = Point> {
    all.0.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| w[1])
}

/// The values without direct repetitions.
pub(super) fn distinct(all: &Course) -> Vec<f64> {
    let first = all.0.first().copied().into_iter();
    first.chain(changes(all)).map(|(_, v)| v).collect()
}

/// Time from the decrease to `low` until the value is at least `high`, in units of the value of `clock` at that
/// time.
pub(super) fn regrowth(all: &Course, low: f64, high: f64, clock: &Course) -> Option<f64> {
    let start = 1 + all.0.windows(2).position(|w| w[0].1 > low && w[1].1 == low)?;
    let (to, _) = all.0[start..].iter().find(|(_, v)| *v >= high)?;
    let (from, to) = (nanoseconds(all.0[start].0), nanoseconds(*to));
    let (_, unit) = clock.0.iter().take_while(|(t, _)| nanoseconds(*t) <= to).last()?;
    (*unit > 0.0).then(|| (to - from) / unit)
}

/// The value at the end of the first decrease after the largest value.
pub(super) fn rest_after_peak(all: &Course) -> Option<f64> {
    let top = all.0.iter().map(|(_, v)| *v).reduce(f64::max)?;
    let peak = all.0.iter().rposition(|(_, v)| *v == top)?;
    let falls = all.0[peak..].windows(2).take_while(|pair| pair[1].1 <= pair[0].1);
    falls.last().map(|pair| pair[1].1)
}

/// True if the value is at most the other course's value and is above it later.
pub(super) fn passes(all: &Course, other: &Course) -> bool {
    let mut under = false;
    let mut passed = |(t, v): &Point| {
        let Some(limit) = other.at(*t) else { return false };
        under |= *v <= limit;
        under && *v > limit
    };
    all.0.iter().any(&mut passed)
}

/// The sum of the increases, and the seconds, of the steps in which the value was at least the other course's value
/// at the end of the step.
pub(super) fn growth(all: &Course, other: &Course) -> (f64, f64) {
    let (mut up, mut time) = (0.0, 0.0);
    for w in all.0.windows(2) {
        let [(begin, before), (end, after)] = [w[0], w[1]];
        if before > 0.0 && other.at(end).is_some_and(|limit| before >= limit) {
            time = time + end - begin;
            up += (after - before).max(0.0);
        }
    }
    (up, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(values: &[Point]) -> Course {
        Course(values.to_vec())
    }

    #[test]
    fn the_rest_after_the_peak_is_the_end_of_the_first_decrease() {
        let all = [(0.0, 2.0), (2.0, 8.0), (3.0, 6.0), (4.0, 4.0), (5.0, 5.0), (6.0, 1.0)];
        assert_eq!(rest_after_peak(&course(&all)), Some(4.0));
        assert_eq!(rest_after_peak(&course(&all[..2])), None);
    }

    #[test]
    fn regrowth_is_counted_from_the_end_of_recovery() {
        let cwnd = [(0.0, 2920.0), (0.02, 4380.0), (0.04, 20_000.0), (0.1, 4380.0), (0.34, 9000.0)];
        let srtt = course(&[(0.01, 99e6), (0.03, 40e6)]);
        // In slow start, the value 4380 is on the way up and is not the start.
        assert_eq!(regrowth(&course(&cwnd), 4380.0, 8760.0, &srtt), Some(6.0));
    }

    #[test]
    fn growth_counts_only_while_the_value_is_at_least_the_other_course() {
        let all = course(&[(0.0, 5.0), (1.0, 11.0), (3.0, 14.0), (4.0, 12.0)]);
        let limit = course(&[(0.0, 10.0)]);
        assert_eq!(growth(&all, &limit), (3.0, 3.0));
        assert!(passes(&all, &limit));
        assert!(!passes(&course(&[(0.0, 12.0), (1.0, 15.0)]), &limit));
    }

    #[test]
    fn distinct_values_drop_repetitions_only() {
        let all = course(&[(0.0, 0.0), (1.0, 0.0), (2.0, 6.0), (3.0, 0.0)]);
        assert_eq!(distinct(&all), [0.0, 6.0, 0.0]);
        assert_eq!(changes(&all).collect::<Vec<_>>(), [(2.0, 6.0), (3.0, 0.0)]);
    }
}
