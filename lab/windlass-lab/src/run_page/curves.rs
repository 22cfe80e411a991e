//! The charts of a run over time.

use windlass_cc::Time;
use windlass_cc::window::MAX_WINDOW;
use windlass_sim::{Decided, Series, Timeline};

use crate::report::model::{Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale};
use crate::report::numbers::rate_unit;
use crate::why::Case;

/// Maximum number of flows or subflows that are drawn.
pub(super) const DRAWN: usize = 6;
/// The recorded series.
pub(super) const SERIES: [Series; 5] =
    [Series::Cwnd, Series::Ssthresh, Series::InFlight, Series::Srtt, Series::Pacing];

fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e9
}

pub(super) fn point(x: f64, y: f64) -> ChartPoint {
    ChartPoint { x, y, ..ChartPoint::default() }
}

pub(super) fn chart(
    id: &str,
    caption: &str,
    label: &str,
    series: Vec<ChartSeries>,
) -> Option<Chart> {
    let some = series.iter().any(|s| !s.points.is_empty());
    some.then(|| Chart {
        id: id.to_owned(),
        caption: caption.to_owned(),
        x: ChartAxis { label: "Time (s)".to_owned(), scale: Scale::Linear },
        y: ChartAxis { label: label.to_owned(), scale: Scale::Linear },
        series: series.into_iter().filter(|s| !s.points.is_empty()).collect(),
        zoom: true,
    })
}

/// The charts of cwnd, data in flight, RTT, rate and queues. `chosen` has the indices of the flows with a curve of their goodput.
pub(super) fn charts(case: &Case, senders: &[&Decided], chosen: &[usize]) -> Vec<Chart> {
    let alone = senders.iter().all(|s| (s.flow, s.path) == (senders[0].flow, senders[0].path));
    let mut window = series(case, senders, Series::Cwnd, "cwnd", 1e3, alone);
    if alone {
        window.extend(series(case, senders, Series::Ssthresh, "ssthresh", 1e3, alone));
    }
    let flight = series(case, senders, Series::InFlight, "in flight", 1e3, alone);
    let rtt = series(case, senders, Series::Srtt, "smoothed RTT", 1e6, alone);
    let rates = rates(case, chosen);
    let most = rates.iter().flat_map(|s| &s.points).map(|p| p.y).fold(0.0, f64::max);
    let (unit, name) = rate_unit(std::iter::once(most));
    let rates = rates.into_iter().map(|mut s| {
        s.points.iter_mut().for_each(|p| p.y /= unit);
        s
    });
    let all = [
        chart("window", "Congestion window.", "Window (kB)", window),
        chart("flight", "Data in flight.", "In flight (kB)", flight),
        chart("rtt", "Smoothed round-trip time.", "RTT (ms)", rtt),
        chart(
            "rate",
            "Goodput of each application, by intervals.",
            &format!("Goodput ({name})"),
            rates.collect(),
        ),
        chart(
            "queue",
            "Queue length at the end of each interval, and at each drop.",
            "Queue (packets)",
            queues(case),
        ),
    ];
    all.into_iter().flatten().collect()
}

/// A recorded series of each sender, divided by `unit`. A single flow's curve has the name of the series instead of the
/// flow's.
fn series(
    case: &Case,
    senders: &[&Decided],
    of: Series,
    what: &str,
    unit: f64,
    alone: bool,
) -> Vec<ChartSeries> {
    let one = |sender: &&Decided| {
        let track = match sender.path {
            Some(path) => case.config.track(sender.flow as usize) as u32 + u32::from(path),
            None => sender.flow,
        };
        let mine = case.result.samples.iter().filter(|s| s.flow == track && s.series == of);
        let set = mine.filter(|s| s.value < MAX_WINDOW);
        ChartSeries {
            name: if alone { what.to_owned() } else { case.name(sender) },
            mark: Mark::Step,
            points: set.map(|s| point(seconds(s.time), s.value as f64 / unit)).collect(),
        }
    };
    // The successive connections of a flow have one series.
    let first = |(i, sender): &(usize, &&Decided)| {
        senders[..*i].iter().all(|s| (s.flow, s.path) != (sender.flow, sender.path))
    };
    senders.iter().enumerate().filter(first).map(|(_, sender)| one(sender)).collect()
}

fn ends(timeline: &Timeline) -> impl Iterator<Item = f64> {
    let bin = timeline.bin.0 as f64 / 1e9;
    (1..).map(move |n| f64::from(n) * bin)
}

/// Goodput in bits per second, by intervals that are ten times as long as for queues, because a rate needs several
/// packets.
fn rates(case: &Case, chosen: &[usize]) -> Vec<ChartSeries> {
    const TOGETHER: usize = 10;
    let Some(timeline) = &case.result.timeline else { return Vec::new() };
    let span = timeline.bin.0 as f64 / 1e9 * TOGETHER as f64;
    let flows = chosen.iter().map(|i| (&timeline.flows[*i], &case.scenario.flows[*i]));
    let one =
        |(flow, spec): (&windlass_sim::FlowTimeline, &crate::scenario::FlowSpec)| ChartSeries {
            name: spec.name.clone(),
            mark: Mark::Step,
            points: (flow.delivered_bytes.chunks(TOGETHER).enumerate())
                .filter(|(_, chunk)| chunk.len() == TOGETHER)
                .map(|(n, chunk)| {
                    point(n as f64 * span, chunk.iter().sum::<u64>() as f64 * 8.0 / span)
                })
                .collect(),
        };
    flows.map(one).collect()
}

/// Queue lengths of the link directions with the longest queues, without directions whose queue never exceeded one
/// packet.
fn queues(case: &Case) -> Vec<ChartSeries> {
    let Some(timeline) = &case.result.timeline else { return Vec::new() };
    let mut all = Vec::new();
    for (link, (result, waiting)) in case.result.links.iter().zip(&timeline.waiting).enumerate() {
        let mut points: Vec<ChartPoint> =
            ends(timeline).zip(waiting).map(|(x, n)| point(x, *n as f64)).collect();
        let here = case.decisions().incidents.iter().filter(|i| i.link == Some(link as u32));
        points.extend(
            here.filter_map(|i| Some(point(seconds(i.time), i.backlog.as_ref()?.packets as f64))),
        );
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let longest = points.iter().map(|p| p.y).fold(0.0, f64::max);
        all.push((longest, ChartSeries { name: result.name.clone(), mark: Mark::Step, points }));
    }
    all.retain(|(longest, _)| *longest > 1.0);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(DRAWN).map(|(_, series)| series).collect()
}
