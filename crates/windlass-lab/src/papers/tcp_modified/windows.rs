//! Figure 3: congestion windows of four flows, and what claims read from them.

use super::values::spaced;
use crate::papers::parts::commands;
use crate::papers::parts::series::seconds;
use crate::papers::parts::tables::section as titled;
use crate::papers::{Material, Trace, Traces};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale, Section,
};
use std::collections::BTreeMap;
use windlass_cc::Time;
use windlass_sim::Series;

/// The run of figure 3: four flows of TCP Modified at 1 Mbit/s.
const ALIKE: &str = "fig-3";
/// Two of TCP Modified and two of NewReno.
const MIXED: &str = "two-two";
const FLOWS: u32 = 4;
/// Initial threshold that the paper states, bytes.
const THRESHOLD: u64 = 65_535;
/// The paper's segment, bytes; what options leave of it is less.
const SEGMENT: u64 = 536;
/// The least threshold of 25 segments, bytes.
const FLOOR: f64 = 13_400.0;
/// Field of the algorithm's state with beta in units of 2⁻¹⁵.
const BETA: &str = "beta_q15";
/// Beta above which a loss leaves more than the flight: 1/1.25.
const OPENS: f64 = 0.8;

/// A series of one flow.
fn of_flow(trace: &Trace, flow: u32, series: Series) -> Vec<(Time, u64)> {
    let mine = |s: &&windlass_sim::Sample| s.flow == flow && s.series == series;
    trace.samples.iter().filter(mine).map(|s| (s.time, s.value)).collect()
}

/// The window as it was before a moment.
fn before(windows: &[(Time, u64)], moment: Time) -> Option<u64> {
    windows.iter().take_while(|(t, _)| *t < moment).last().map(|(_, w)| *w)
}

/// Moments at which the threshold became another one, with its new value.
fn cuts(thresholds: &[(Time, u64)]) -> impl Iterator<Item = (Time, u64)> + '_ {
    thresholds.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| w[1])
}

/// Of the events that changed the threshold of these flows, the share that left less than the window
/// of before; `None` without any.
fn below_window(trace: &Trace, flows: impl Iterator<Item = u32>) -> Option<f64> {
    let (mut below, mut all) = (0, 0);
    for flow in flows {
        let windows = of_flow(trace, flow, Series::Cwnd);
        for (moment, threshold) in cuts(&of_flow(trace, flow, Series::Ssthresh)) {
            let Some(window) = before(&windows, moment) else { continue };
            all += 1;
            below += u64::from(threshold < window);
        }
    }
    (all > 0).then(|| below as f64 / all as f64)
}

/// What claims read.
pub(super) fn quantities(traces: &Traces) -> BTreeMap<String, f64> {
    let Some(trace) = traces.get(ALIKE) else { return BTreeMap::new() };
    let (mut peak, mut second, mut lower) = (0, 0, 0);
    for flow in 0..FLOWS {
        let windows = of_flow(trace, flow, Series::Cwnd);
        let thresholds = of_flow(trace, flow, Series::Ssthresh);
        let first_cut = cuts(&thresholds).next().map_or(Time::NEVER, |(t, _)| t);
        let opening = windows.iter().take_while(|(t, _)| *t < first_cut).map(|(_, w)| *w);
        peak = peak.max(opening.max().unwrap_or(0));
        let restarts = |(t, w): &(Time, u64)| *t >= first_cut && *w <= SEGMENT;
        second += u64::from(windows.iter().any(restarts));
        lower += u64::from(thresholds.last().is_some_and(|(_, s)| *s < THRESHOLD));
    }
    let mut found = vec![
        ("fig3.first_peak_bytes", peak as f64),
        ("fig3.second_slow_starts", second as f64),
        ("fig3.lower_thresholds", lower as f64),
    ];
    found.extend(below_window(trace, 0..FLOWS).map(|share| ("fig3.cuts_below_flight", share)));
    found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Of the congestion events of figure 3's run that changed a threshold, the share that left less
/// than the window.
pub(super) fn closing_events(m: &Material) -> Option<f64> {
    below_window(m.traces.get(ALIKE)?, 0..FLOWS)
}

/// The picture that explains the finding: beta of four flows, and where it makes a loss open the
/// window.
pub(super) fn betas(m: &Material) -> Option<Chart> {
    let trace = m.traces.get(ALIKE)?;
    let point = |(t, beta): (Time, u64)| ChartPoint {
        x: seconds(t),
        y: beta as f64 / f64::from(1 << 15),
        ..ChartPoint::default()
    };
    let curve = |flow| ChartSeries {
        name: name(ALIKE, flow),
        mark: Mark::Step,
        points: of_flow(trace, flow, Series::State(BETA)).into_iter().map(point).collect(),
    };
    let mut series: Vec<ChartSeries> = (0..FLOWS).map(curve).collect();
    series.push(level("no back-off", OPENS, &series));
    Some(Chart {
        id: "betas".to_owned(),
        caption: format!(
            "Why so many packets are lost: beta of the four flows of figure 3 at {}. A loss leaves \
             1.25·beta of the flight, so that above 0.8 it opens the window; 1.1 is reached where \
             the shortest and the longest round trip since the last loss are alike",
            spaced("1Mbps")
        ),
        x: ChartAxis { label: "Time (s)".to_owned(), scale: Scale::Linear },
        y: ChartAxis { label: "Beta".to_owned(), scale: Scale::Linear },
        series,
        zoom: true,
    })
}

/// A line at a height, as long as the longest of these curves.
fn level(name: &str, y: f64, beside: &[ChartSeries]) -> ChartSeries {
    let end = beside.iter().flat_map(|s| &s.points).map(|p| p.x).fold(0.0, f64::max);
    let point = |x| ChartPoint { x, y, ..ChartPoint::default() };
    ChartSeries { name: name.to_owned(), mark: Mark::Line, points: vec![point(0.0), point(end)] }
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let charts = [
        (ALIKE, "fig-3", "Figure 3. Congestion windows of four flows of TCP Modified"),
        (MIXED, "windows-mixed", "Beside NewReno: windows of two flows each"),
    ];
    let blocks = charts.iter().filter_map(|(trace, id, caption)| {
        Some(Block::Chart(chart(m.traces.get(*trace)?, trace, id, caption)))
    });
    let about = "The windows of figure 3 with every change of the value, under `out/series`:";
    let command = commands::recording(m, about, ALIKE, ("record.series", "[\"cwnd_bytes\"]"));
    titled("figure-3", "Figure 3: congestion windows", blocks.collect(), command)
}

fn name(trace: &str, flow: u32) -> String {
    let algorithm = if trace == MIXED && flow >= 2 { "NewReno" } else { "TCP Modified" };
    format!("S{}, {algorithm}", flow + 1)
}

fn chart(trace: &Trace, kind: &str, id: &str, caption: &str) -> Chart {
    let point =
        |(t, w): (Time, u64)| ChartPoint { x: seconds(t), y: w as f64, ..Default::default() };
    let curve = |flow| ChartSeries {
        name: name(kind, flow),
        mark: Mark::Step,
        points: of_flow(trace, flow, Series::Cwnd).into_iter().map(point).collect(),
    };
    let mut series: Vec<ChartSeries> = (0..FLOWS).map(curve).collect();
    series.push(level("25 segments", FLOOR, &series));
    Chart {
        id: id.to_owned(),
        caption: format!(
            "{caption} at {}, seed 1. The bandwidth-delay product of the path is 12,500 bytes for \
             all four together",
            spaced("1Mbps")
        ),
        x: ChartAxis { label: "Time (s)".to_owned(), scale: Scale::Linear },
        y: ChartAxis { label: "Congestion window (bytes)".to_owned(), scale: Scale::Linear },
        series,
        zoom: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sim::Sample;

    fn trace(cwnd: &[(u64, u64)], ssthresh: &[(u64, u64)]) -> Trace {
        let all = |series, values: &[(u64, u64)]| -> Vec<Sample> {
            let one = |(t, value): &(u64, u64)| Sample {
                time: Time::from_secs(*t),
                flow: 0,
                series,
                value: *value,
            };
            values.iter().map(one).collect()
        };
        let samples = [all(Series::Cwnd, cwnd), all(Series::Ssthresh, ssthresh)].concat();
        Trace { samples, packets: vec![] }
    }

    /// One event leaves more than the window of before, one less; the second is a timeout.
    #[test]
    fn events_are_counted_by_what_they_leave_of_the_window() {
        let t = trace(
            &[(0, 5_360), (1, 20_000), (2, 24_000), (3, 40_000), (4, 536)],
            &[(0, 65_535), (2, 24_000), (4, 13_400)],
        );
        assert_eq!(below_window(&t, 0..1), Some(0.5));
        let found = quantities(&Traces::from([(ALIKE.to_owned(), t)]));
        assert_eq!(found["fig3.first_peak_bytes"], 20_000.0);
        assert_eq!(found["fig3.second_slow_starts"], 1.0);
        assert_eq!(found["fig3.lower_thresholds"], 1.0);
        assert_eq!(found["fig3.cuts_below_flight"], 0.5);
    }

    #[test]
    fn nothing_is_read_from_a_run_that_is_not_there() {
        assert!(quantities(&Traces::new()).is_empty());
    }
}
