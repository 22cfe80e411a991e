//! Figures 12 to 14, redrawn from our runs, and what the paper does not draw: differences with their
//! intervals, and the map over queue and round trip.

use super::measures::{Measure, change, drops, goodput, labels, pair, runs, summary};
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::series::seconds;
use crate::papers::parts::tables::section;
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, HeatCell, HeatMap, Mark, Scale, Section,
};
use crate::run::RunRecord;
use crate::stats::Summary;
use windlass_sim::Series;

/// Slow starts in the order of the legends: label in the plan, and name.
const STARTS: [(&str, &str); 3] =
    [("hystart", "HyStart"), ("ccm-ss", "CCM-SS"), ("literal", "CCM-SS, literal")];
/// Seconds over which losses are averaged.
const STEP_S: f64 = 10.0;
/// The path of figures 13 a and 14.
const EXAMPLE: &str = "path=100-90";

/// All figures with data of ours.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let losses = |id, caption, experiment| Block::Chart(losses(m, id, caption, experiment));
    let run =
        |about: &str, experiment: &str, point: &str| commands::runs(m, about, experiment, point);
    let traced = commands::recording(
        m,
        "The windows of CCM-SS, as series under `out/series`:",
        "fig14-ccm-ss",
        ("record.series", "[\"cwnd_bytes\"]"),
    );
    vec![
        section(
            "figure-12",
            "Figure 12: packet loss rate",
            vec![
                losses(
                    "fig-12a",
                    "Figure 12 (a). Drops of the bottleneck, long round trips",
                    "long",
                ),
                losses("fig-12b", "Figure 12 (b). The same, short round trips", "short"),
                Block::Chart(forest(m)),
            ],
            run("One of the runs behind the curve of CCM-SS:", "long", "start=ccm-ss,path=100-90"),
        ),
        section(
            "figure-13",
            "Figure 13: goodput",
            vec![
                Block::Chart(by_rate(m)),
                Block::Chart(by_rtt(m, "long")),
                Block::Chart(by_rtt(m, "short")),
            ],
            run("CCM-SS at 50 Mbps:", "bandwidth", "start=ccm-ss,rate=50"),
        ),
        section(
            "figure-14",
            "Figure 14: two windows",
            vec![
                Block::Chart(windows(m, "fig-14a", "Figure 14 (a). CCM-SS", "fig14-ccm-ss")),
                Block::Chart(windows(m, "fig-14b", "Figure 14 (b). HyStart", "fig14-hystart")),
            ],
            traced,
        ),
        section(
            "queue-and-rtt",
            "Goodput and losses over queue and round trip",
            vec![
                map(m, "map-goodput", "Goodput", "goodput", goodput),
                map(m, "map-drops", "Drops of the bottleneck", "drops", drops),
            ],
            [commands::whole(m)],
        ),
    ]
}

fn axis(label: &str, scale: Scale) -> ChartAxis {
    ChartAxis { label: label.to_owned(), scale }
}

fn series(name: &str, mark: Mark, points: Vec<ChartPoint>) -> ChartSeries {
    ChartSeries { name: name.to_owned(), mark, points }
}

/// One series for each slow start that has points.
fn by_start(mark: Mark, points: impl Fn(&str) -> Vec<ChartPoint>) -> Vec<ChartSeries> {
    let all = STARTS.iter().map(|(label, name)| series(name, mark, points(label)));
    all.filter(|s| !s.points.is_empty()).collect()
}

fn at(category: &str, s: &Summary) -> ChartPoint {
    ChartPoint {
        category: Some(category.to_owned()),
        y: s.mean,
        lo: s.ci95_mean.map(|ci| ci[0]),
        hi: s.ci95_mean.map(|ci| ci[1]),
        ..ChartPoint::default()
    }
}

/// Mean drops a second in steps of [`STEP_S`] over all runs of an experiment with a slow start.
fn losses(m: &Material, id: &str, caption: &str, experiment: &str) -> Chart {
    let points = |start: &str| {
        let paths = labels(m, experiment, "path");
        let points: Vec<String> = paths.iter().map(|p| format!("start={start},path={p}")).collect();
        let all: Vec<&RunRecord> = points.iter().flat_map(|p| runs(m, experiment, p)).collect();
        curve(&all)
    };
    Chart {
        id: id.to_owned(),
        caption: format!(
            "{caption}: mean over {STEP_S} s, over the eight round trips of flow 2 and all seeds. The \
             paper's axis runs to 800 s, its runs to 600 s (CS-10); its unit is not said (CS-11)."
        ),
        x: axis("Time (s)", Scale::Linear),
        y: axis("Packets dropped (1/s)", Scale::Linear),
        series: by_start(Mark::Step, points),
        zoom: true,
    }
}

fn curve(all: &[&RunRecord]) -> Vec<ChartPoint> {
    let courses: Vec<_> = all.iter().filter_map(|r| r.course.as_ref()).collect();
    let end = all.iter().map(|r| r.end_s).fold(0.0, f64::max);
    let Some(bin_s) = courses.first().map(|c| c.bin_s) else { return Vec::new() };
    let per_step = (STEP_S / bin_s).round().max(1.0) as usize;
    let mut sums = vec![0u64; (end / bin_s) as usize];
    for course in &courses {
        let dropped = course.dropped(sums.len());
        sums.iter_mut().zip(dropped).for_each(|(sum, n)| *sum += n);
    }
    let scale = courses.len() as f64 * per_step as f64 * bin_s;
    let step = |(i, bins): (usize, &[u64])| ChartPoint {
        x: (i * per_step) as f64 * bin_s,
        y: bins.iter().sum::<u64>() as f64 / scale,
        ..ChartPoint::default()
    };
    sums.chunks_exact(per_step).enumerate().map(step).collect()
}

/// Paired differences in drops, path by path.
fn forest(m: &Material) -> Chart {
    let points = |other: &str| {
        let of = |experiment: &'static str| {
            labels(m, experiment, "path").into_iter().filter_map(move |path| {
                let (a, b) = pair(other, &format!("path={path}"));
                Some(at(path, &change(m, experiment, (&a, &b), drops)?))
            })
        };
        of("long").chain(of("short")).collect::<Vec<ChartPoint>>()
    };
    let mut all = by_start(Mark::Points, points);
    all.retain(|s| s.name != STARTS[0].1);
    Chart {
        id: "forest".to_owned(),
        caption:
            "Drops of the bottleneck in 600 s against HyStart on the same path and from the same \
            starts: mean of the paired differences with 95 % intervals (Student), where there are \
            several seeds. An interval that holds zero is no difference"
                .to_owned(),
        x: axis("Round trips of flow 1 and flow 2 (ms)", Scale::Category),
        y: axis("Change in drops against HyStart (%)", Scale::Linear),
        series: all,
        zoom: false,
    }
}

fn goodput_chart(id: &str, caption: &str, x: &str, series: Vec<ChartSeries>) -> Chart {
    Chart {
        id: id.to_owned(),
        caption: format!("{caption}: both flows together, means with 95 % intervals"),
        x: axis(x, Scale::Category),
        y: axis("Goodput (Mbit/s)", Scale::Linear),
        series,
        zoom: false,
    }
}

fn by_rate(m: &Material) -> Chart {
    let points = |start: &str| {
        let rates = labels(m, "bandwidth", "rate").into_iter();
        let one = |rate: &str| {
            let point = format!("start={start},rate={rate}");
            Some(at(rate, &summary(m, "bandwidth", &point, goodput)?))
        };
        rates.filter_map(one).collect()
    };
    let caption =
        "Figure 13 (a). Goodput against the bottleneck's rate, round trips of 100 and 90 ms";
    goodput_chart("fig-13a", caption, "Bottleneck (Mbps)", by_start(Mark::Bars, points))
}

fn by_rtt(m: &Material, experiment: &str) -> Chart {
    let points = |start: &str| {
        let one = |path: &str| {
            let point = format!("start={start},path={path}");
            Some(at(path, &summary(m, experiment, &point, goodput)?))
        };
        labels(m, experiment, "path").into_iter().filter_map(one).collect()
    };
    let id = format!("fig-13b-{experiment}");
    let caption = format!("Figure 13 (b). Goodput against the round trips, {experiment} ones");
    let x = "Round trips of flow 1 and flow 2 (ms)";
    goodput_chart(&id, &caption, x, by_start(Mark::Bars, points))
}

fn windows(m: &Material, id: &str, caption: &str, trace: &str) -> Chart {
    let flow = |flow: u32| match m.traces.get(trace) {
        None => Vec::new(),
        Some(t) => t
            .values_of(flow, Series::Cwnd)
            .map(|(t, v)| ChartPoint { x: seconds(t), y: v as f64, ..ChartPoint::default() })
            .collect(),
    };
    Chart {
        id: id.to_owned(),
        caption: format!(
            "{caption}: congestion windows, round trips of {} ms, flow 2 from 150 s on, first seed",
            EXAMPLE.trim_start_matches("path=").replace('-', " and ")
        ),
        x: axis("Time (s)", Scale::Linear),
        y: axis("Congestion window (bytes)", Scale::Linear),
        series: vec![series("flow 1", Mark::Step, flow(0)), series("flow 2", Mark::Step, flow(1))],
        zoom: true,
    }
}

/// Change by queue and round trip, or a sentence while there are no such runs.
fn map(m: &Material, id: &str, what: &str, short: &str, measure: Measure) -> Block {
    let paths = labels(m, "queue", "path");
    let cell = |queue: &&str, path: &&str| {
        let (a, b) = pair("ccm-ss", &format!("queue={queue},path={path}"));
        let value = change(m, "queue", (&a, &b), measure).filter(|s| s.mean.is_finite())?.mean;
        Some(HeatCell { x: path.to_string(), y: queue.to_string(), value })
    };
    let queues = labels(m, "queue", "queue");
    let cells: Vec<HeatCell> =
        queues.iter().flat_map(|q| paths.iter().filter_map(move |p| cell(q, p))).collect();
    if cells.is_empty() {
        let text =
            format!("{what} over queue and round trip: no runs yet; `--quick` leaves them out.");
        return Block::Text { text };
    }
    Block::Heat(HeatMap {
        id: id.to_owned(),
        caption: format!(
            "{what} with CCM-SS against HyStart, by queue and round trip at 250 Mbps: means of the \
             paired differences"
        ),
        x: "Round trips of flow 1 and flow 2 (ms)".to_owned(),
        y: "Queue (BDP of flow 1)".to_owned(),
        value: format!("Change in {short} (%)"),
        cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;
    use crate::run::{Course, Drops};

    #[test]
    fn losses_are_averaged_over_steps_and_runs() {
        let with = |bins: Vec<(u32, u64)>| {
            let drops = vec![Drops { link: "l:a>b".to_owned(), bins }];
            let course =
                Course { bin_s: 1.0, convergence_cwnd_s: None, convergence_rate_s: None, drops };
            RunRecord { end_s: 30.0, course: Some(course), ..run("e", "p", 1, 1.0) }
        };
        let (a, b) = (with(vec![(0, 20), (29, 40)]), with(vec![(9, 20)]));
        let points = curve(&[&a, &b]);
        let all: Vec<(f64, f64)> = points.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(all, [(0.0, 2.0), (10.0, 0.0), (20.0, 2.0)]);
        assert!(super::super::measures::early_drops(&a).is_some_and(|n| n == 20.0));
        assert!(curve(&[]).is_empty());
    }
}
