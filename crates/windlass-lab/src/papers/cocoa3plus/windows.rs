//! Figure 14 and Table III: windows of traced runs.

use std::collections::{BTreeMap, BTreeSet};

use windlass_sim::Series;

use super::measures::{OURS, RIVALS};
use crate::papers::parts::charts::{over_time, series};
use crate::papers::parts::series::seconds;
use crate::papers::{Material, Trace, Traces};
use crate::report::model::{Chart, ChartPoint, Mark};

/// Moments and values, seconds and segments.
type Course = [(f64, f64)];

/// Payload of a packet of 2000 bytes: what windows are counted in.
const SEGMENT: f64 = 1960.0;

/// The window of a flow over time, seconds and segments.
fn window(trace: &Trace, flow: u32) -> Vec<(f64, f64)> {
    let values = trace.values_of(flow, Series::Cwnd);
    values.map(|(t, v)| (seconds(t), v as f64 / SEGMENT)).collect()
}

/// The flows that have windows.
fn flows(trace: &Trace) -> BTreeSet<u32> {
    let windows = trace.samples.iter().filter(|s| s.series == Series::Cwnd);
    windows.map(|s| s.flow).collect()
}

fn largest(course: &Course) -> Option<f64> {
    course.iter().map(|(_, v)| *v).reduce(f64::max)
}

/// Where the window comes to rest when it falls for the first time after its largest value.
fn after(course: &Course) -> Option<f64> {
    let top = largest(course)?;
    let peak = course.iter().rposition(|(_, v)| *v == top)?;
    let falls = course[peak..].windows(2).take_while(|pair| pair[1].1 <= pair[0].1);
    falls.last().map(|pair| pair[1].1)
}

/// Mean up to `end`, each value counting for as long as it held.
fn mean(course: &Course, end: f64) -> Option<f64> {
    let (first, _) = course.first()?;
    let ends = course.iter().skip(1).map(|(t, _)| *t).chain([end]);
    let sum: f64 = course.iter().zip(ends).map(|((t, v), until)| v * (until - t)).sum();
    (end > *first).then(|| sum / (end - first))
}

/// When the last thing of a trace happened, seconds.
fn end_of(trace: &Trace) -> f64 {
    trace.samples.last().map_or(0.0, |s| seconds(s.time))
}

/// What claims read: means over the senders of a trace.
pub(super) fn quantities(traces: &Traces) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (id, trace) in traces {
        let end = end_of(trace);
        let courses: Vec<_> = flows(trace).into_iter().map(|f| window(trace, f)).collect();
        let over = |of: &dyn Fn(&Course) -> Option<f64>| {
            let all: Vec<f64> = courses.iter().filter_map(|c| of(c)).collect();
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
        };
        let read = [
            ("largest", over(&largest)),
            ("after", over(&after)),
            ("mean", over(&|course| mean(course, end))),
        ];
        found.extend(read.into_iter().filter_map(|(what, v)| Some((format!("{id}.{what}"), v?))));
    }
    found
}

/// The window of the first sender under each of the paper's protocols.
pub(super) fn chart(m: &Material) -> Chart {
    let line = |(label, name): &(&str, &str)| {
        let trace = m.traces.get(&format!("fig14.{label}"));
        let course = trace.map(|t| {
            let mut course = window(t, flows(t).first().copied().unwrap_or(0));
            // What held last holds to the end.
            course.extend(course.last().map(|(_, v)| (end_of(t), *v)));
            course
        });
        let points = course.unwrap_or_default().into_iter();
        let points = points.map(|(x, y)| ChartPoint { x, y, ..ChartPoint::default() });
        series(name, Mark::Step, points.collect())
    };
    let caption = "Figure 14. Congestion window of one sender, the same under each protocol, first seed, \
        packets of 2000 bytes. The paper's windows are 27, 23 and 21 at most";
    let all = [OURS].iter().chain(&RIVALS).map(line).collect();
    over_time("fig-14", caption, "Congestion window (segments)", all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_cc::Time;
    use windlass_sim::Sample;

    const COURSE: [(f64, f64); 6] =
        [(0.0, 2.0), (2.0, 8.0), (3.0, 6.0), (4.0, 4.0), (5.0, 5.0), (6.0, 1.0)];

    #[test]
    fn a_fall_ends_where_the_window_grows_again() {
        assert_eq!(largest(&COURSE), Some(8.0));
        assert_eq!(after(&COURSE), Some(4.0));
        assert_eq!(after(&COURSE[..2]), None);
        assert_eq!(mean(&COURSE, 8.0), Some((4.0 + 8.0 + 6.0 + 4.0 + 5.0 + 2.0) / 8.0));
    }

    #[test]
    fn quantities_are_means_over_the_senders_that_have_windows() {
        let sample = |s: u64, flow, segments: u64| Sample {
            time: Time(s * 1_000_000_000),
            flow,
            series: Series::Cwnd,
            value: segments * 1960,
        };
        let samples = vec![
            sample(0, 0, 4),
            sample(0, 3, 8),
            sample(1, 0, 2),
            sample(1, 3, 6),
            sample(2, 0, 2),
        ];
        let traces = Traces::from([("fig14.x".to_owned(), Trace { samples, packets: vec![] })]);
        let found = quantities(&traces);
        assert_eq!((found["fig14.x.largest"], found["fig14.x.after"]), (6.0, 4.0));
        assert_eq!(found["fig14.x.mean"], (3.0 + 7.0) / 2.0);
    }
}
