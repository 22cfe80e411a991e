//! What is read from traced runs: windows of the two paths, goodput and drops in the course of time.

use std::collections::BTreeMap;

use windlass_sim::{PacketFate, Series};

use crate::papers::parts::series::seconds;
use crate::papers::{Trace, Traces};
use crate::report::model::ChartPoint;

/// Payload of a packet of 1000 bytes (MF-31): what windows are counted in.
pub(super) const SEGMENT: f64 = 920.0;
/// Most packets in flight on a path (MF-25).
const LIMIT: f64 = 100.0;
/// The multipath flow, and the first of its subflows, among the flows of the scenario.
const METER: u32 = 0;
const FIRST_SUBFLOW: u32 = 3;
/// The flows of datagrams.
const DATAGRAMS: [u32; 2] = [1, 2];
/// The transfer begins, seconds.
const START_S: f64 = 1.5;
/// The datagrams begin and end for the first time, seconds.
const CBR_S: [f64; 2] = [5.0, 15.0];
/// Without datagrams and after the recovery from them, seconds.
const QUIET_S: [f64; 2] = [25.0, 35.0];
/// A window of at most so many packets is almost zero: a twentieth of the largest.
const ALMOST_ZERO: f64 = 5.0;
/// Time between points of curves of averages, seconds.
const STEP_S: f64 = 0.25;

/// The window of a path over time, seconds and packets: what may be in flight, which the limit of
/// 100 packets bounds whatever the algorithm would allow (MF-25).
pub(super) fn window(trace: &Trace, path: u32) -> Vec<(f64, f64)> {
    let values = of_path(trace, path, Series::Cwnd).into_iter();
    values.map(|(t, v)| (t, v.min(LIMIT))).collect()
}

/// A series of a path, seconds and packets.
fn of_path(trace: &Trace, path: u32, series: Series) -> Vec<(f64, f64)> {
    let values = trace.values_of(FIRST_SUBFLOW + path, series);
    values.map(|(t, v)| (seconds(t), v as f64 / SEGMENT)).collect()
}

/// What held at a moment.
fn at(course: &[(f64, f64)], moment: f64) -> Option<f64> {
    course.iter().take_while(|(t, _)| *t <= moment).last().map(|(_, v)| *v)
}

/// What held at any moment of an interval, its beginning included.
fn within(course: &[(f64, f64)], [from, until]: [f64; 2]) -> impl Iterator<Item = (f64, f64)> + '_ {
    let first = at(course, from).map(|v| (from, v));
    let later = course.iter().filter(move |(t, _)| *t > from && *t <= until).copied();
    first.into_iter().chain(later)
}

fn largest(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    values.map(|(_, v)| v).reduce(f64::max)
}

fn least(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    values.map(|(_, v)| v).reduce(f64::min)
}

/// Mean over an interval, each value counting for as long as it held.
fn mean(course: &[(f64, f64)], interval: [f64; 2]) -> Option<f64> {
    let values: Vec<(f64, f64)> = within(course, interval).collect();
    let ends = values.iter().skip(1).map(|(t, _)| *t).chain([interval[1]]);
    let sum: f64 = values.iter().zip(ends).map(|((t, v), end)| v * (end - t)).sum();
    (!values.is_empty()).then(|| sum / (interval[1] - interval[0]))
}

/// Moments at which packets of the connection were dropped, and were first put on a bottleneck, by the
/// capture of both.
fn moments(trace: &Trace, fate: PacketFate) -> impl Iterator<Item = f64> + '_ {
    let mine = move |p: &&windlass_sim::PacketEvent| p.flow == METER && p.forward && p.fate == fate;
    trace.packets.iter().filter(mine).map(|p| seconds(p.time))
}

/// The moments of drops.
fn drops(trace: &Trace) -> Vec<f64> {
    moments(trace, PacketFate::DroppedQueue).collect()
}

fn end(trace: &Trace) -> f64 {
    trace.samples.last().map_or(0.0, |s| seconds(s.time))
}

/// What claims read.
pub(super) fn quantities(traces: &Traces) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (id, trace) in traces {
        let first = drops(trace).first().copied().unwrap_or(end(trace));
        found.insert(format!("{id}.first_drop_s"), first);
        for path in 0..2 {
            let name = format!("{id}.path-{}", path + 1);
            found.extend(read(trace, path).map(|(what, v)| (format!("{name}.{what}"), v)));
        }
    }
    found
}

fn read(trace: &Trace, path: u32) -> impl Iterator<Item = (&'static str, f64)> {
    let course = window(trace, path);
    let threshold = of_path(trace, path, Series::Ssthresh);
    let end = end(trace);
    let zero = within(&course, [CBR_S[0], end]).find(|(_, v)| *v <= ALMOST_ZERO);
    let below = |(t, v): (f64, f64)| at(&threshold, t).is_some_and(|s| v < s);
    let restarts = within(&course, [CBR_S[1], CBR_S[1] + 5.0]).any(below);
    let all = [
        ("peak", largest(course.iter().copied())),
        ("peak_start", largest(within(&course, [0.0, CBR_S[0]]))),
        ("peak_later", largest(within(&course, [CBR_S[1], end]))),
        ("at_5s", at(&course, CBR_S[0])),
        ("least_cbr", least(within(&course, CBR_S))),
        ("almost_zero_s", Some(zero.map_or(end, |(t, _)| t))),
        ("mean_quiet", mean(&course, QUIET_S)),
        ("slow_start_after", Some(f64::from(u8::from(restarts)))),
    ];
    let known = !course.is_empty();
    all.into_iter().filter(move |_| known).filter_map(|(name, v)| Some((name, v?)))
}

/// Moments at which averages are drawn.
fn steps(end: f64) -> impl Iterator<Item = f64> {
    let n = ((end - START_S) / STEP_S).max(0.0) as u32;
    (1..=n).map(|i| START_S + f64::from(i) * STEP_S)
}

fn point(x: f64, y: f64) -> ChartPoint {
    ChartPoint { x, y, ..ChartPoint::default() }
}

/// Goodput since the transfer began, Mbit/s, over time.
pub(super) fn goodput(trace: &Trace) -> Vec<ChartPoint> {
    let delivered: Vec<(f64, f64)> =
        trace.values_of(METER, Series::Delivered).map(|(t, v)| (seconds(t), v as f64)).collect();
    let mut next = 0;
    let mut so_far = 0.0;
    steps(end(trace))
        .map(|t| {
            while let Some((_, bytes)) = delivered.get(next).filter(|(at, _)| *at <= t) {
                so_far = *bytes;
                next += 1;
            }
            point(t, so_far * 8.0 / (t - START_S) / 1e6)
        })
        .collect()
}

/// Packets dropped since the transfer began: a second (reading 1), or per cent of those that came
/// to the bottlenecks (reading 2).
pub(super) fn drop_rate(trace: &Trace, of_sent: bool) -> Vec<ChartPoint> {
    let dropped = drops(trace);
    let sent: Vec<f64> = moments(trace, PacketFate::Sent).collect();
    let until = |all: &[f64], t: f64| all.partition_point(|at| *at <= t) as f64;
    let value = |t: f64| {
        let (lost, passed) = (until(&dropped, t), until(&sent, t));
        match of_sent {
            false => lost / (t - START_S),
            true if lost + passed > 0.0 => 100.0 * lost / (lost + passed),
            true => 0.0,
        }
    };
    steps(end(trace)).map(|t| point(t, value(t))).collect()
}

/// Datagrams that came out of the bottlenecks, Mbit/s of whole packets, second by second.
pub(super) fn datagrams(trace: &Trace) -> Vec<ChartPoint> {
    let mut seconds_of = vec![0.0; end(trace) as usize + 1];
    for p in &trace.packets {
        if DATAGRAMS.contains(&p.flow) && p.fate == PacketFate::Delivered && p.forward {
            let bin = (seconds(p.time) as usize).min(seconds_of.len() - 1);
            seconds_of[bin] += f64::from(p.ip_len) * 8.0 / 1e6;
        }
    }
    seconds_of.iter().enumerate().map(|(i, mbps)| point(i as f64, *mbps)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COURSE: [(f64, f64); 4] = [(1.0, 10.0), (4.0, 80.0), (6.0, 4.0), (20.0, 50.0)];

    #[test]
    fn what_holds_at_the_beginning_of_an_interval_belongs_to_it() {
        assert_eq!(at(&COURSE, 5.0), Some(80.0));
        assert_eq!(at(&COURSE, 0.5), None);
        assert_eq!(largest(within(&COURSE, [5.0, 15.0])), Some(80.0));
        assert_eq!(least(within(&COURSE, [7.0, 15.0])), Some(4.0));
        // 80 for one second of ten, 4 for nine.
        assert_eq!(mean(&COURSE, [5.0, 15.0]), Some((80.0 + 9.0 * 4.0) / 10.0));
    }
}
