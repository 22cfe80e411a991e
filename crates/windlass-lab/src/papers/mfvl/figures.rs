//! Figures 5 to 20, redrawn from our runs.

use super::courses;
use super::measures::{Measure, at, by_seed, drop_share, drops_per_s, goodput};
use crate::papers::parts::charts::{axis, over_time, series};
use crate::papers::parts::commands;
use crate::papers::parts::tables::section;
use crate::papers::{Material, Trace};
use crate::report::model::{Block, Chart, ChartPoint, ChartSeries, Mark, Scale, Section};

/// The lines of set-ups 1 to 3: trace, and name.
const SETUP_1: [(&str, &str); 3] = [("mfast", "MFast"), ("mvegas", "MVegas"), ("lia", "LIA")];
const SETUP_2: [(&str, &str); 2] = [("setup-2", "MVegas on 1, MFast on 2"), ("lia", "LIA")];
const SETUP_3: [(&str, &str); 3] =
    [("mfvl", "MFVL"), ("mfvl-repaired", "MFVL, put right"), ("lia", "LIA")];
const SETUP_4: [(&str, &str); 2] = [("mfvl-2Mbps", "MFVL"), ("lia-2Mbps", "LIA")];

/// A curve of a traced run.
type Curve = fn(&Trace) -> Vec<ChartPoint>;

/// All figures.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let seed = "first seed";
    let averages = |numbers: [u32; 2], lines: &[(&str, &str)], rate: &str| {
        let [g, d] = numbers;
        let goodput = format!("Figure {g}. Goodput since the transfer began, {rate}, {seed}");
        let drops = format!("Figure {d}. Packets dropped a second since then (reading 1 of MF-22)");
        let share = format!("Figure {d}, the other reading: dropped of those sent");
        vec![
            curves(m, &format!("fig-{g}"), &goodput, "Goodput (Mbit/s)", lines, courses::goodput),
            curves(m, &format!("fig-{d}"), &drops, "Drops (1/s)", lines, |t| {
                courses::drop_rate(t, false)
            }),
            curves(m, &format!("fig-{d}-share"), &share, "Dropped (%)", lines, |t| {
                courses::drop_rate(t, true)
            }),
        ]
    };
    let mut setup_1 = averages([6, 7], &SETUP_1, "set-up 1");
    setup_1.push(windows(m, "fig-8", "Figure 8. Windows of MVegas", "mvegas"));
    setup_1.push(windows(m, "fig-9", "Figure 9. Windows of MFast", "mfast"));
    let mut setup_2 = averages([10, 11], &SETUP_2, "set-up 2");
    setup_2.push(windows(m, "fig-12", "Figure 12. Windows of set-up 2", "setup-2"));
    let mut setup_3 = averages([13, 14], &SETUP_3, "set-up 3");
    setup_3.push(windows(m, "fig-15", "Figure 15. Windows of LIA", "lia"));
    setup_3.push(windows(m, "fig-16", "Figure 16. Windows of MFVL", "mfvl"));
    let mut setup_4 = averages([17, 18], &SETUP_4, "datagrams at 2 Mbit/s");
    setup_4.extend([
        sweep(m, "fig-19", "Figure 19. Goodput", "Goodput (Mbit/s)", goodput),
        sweep(m, "fig-20", "Figure 20. Packets dropped (reading 1)", "Drops (1/s)", drops_per_s),
        sweep(m, "fig-20-share", "Figure 20, the other reading", "Dropped (%)", drop_share),
    ]);
    let recorded = |trace: &str| {
        let about = "The windows, as series under `out/series`:";
        commands::recording(m, about, trace, ("record.series", "[\"cwnd_bytes\"]"))
    };
    let datagrams = curves(
        m,
        "fig-5",
        "Figures 4 and 5. Datagrams that leave the two bottlenecks, by the second, while LIA and MFVL run",
        "Datagrams (Mbit/s)",
        &[("lia", "LIA"), ("mfvl", "MFVL")],
        courses::datagrams,
    );
    let charts = |all: Vec<Chart>| all.into_iter().map(Block::Chart).collect::<Vec<Block>>();
    vec![
        section("figure-5", "Figures 4 and 5: the datagrams", charts(vec![datagrams]), None),
        section(
            "setup-1",
            "Set-up 1: one algorithm on both paths",
            charts(setup_1),
            recorded("mfast"),
        ),
        section("setup-2", "Set-up 2: the other way round", charts(setup_2), recorded("setup-2")),
        section("setup-3", "Set-up 3: MFVL", charts(setup_3), recorded("mfvl")),
        section(
            "setup-4",
            "Set-up 4: the rate of the datagrams",
            charts(setup_4),
            recorded("mfvl-2Mbps"),
        ),
    ]
}

fn curves(
    m: &Material,
    id: &str,
    caption: &str,
    y: &str,
    lines: &[(&str, &str)],
    curve: Curve,
) -> Chart {
    let all = lines
        .iter()
        .filter_map(|(trace, name)| Some(series(name, Mark::Step, curve(m.traces.get(*trace)?))));
    over_time(id, caption, y, all.collect())
}

fn windows(m: &Material, id: &str, caption: &str, trace: &str) -> Chart {
    let of = |path: u32| -> Vec<ChartPoint> {
        let Some(t) = m.traces.get(trace) else { return Vec::new() };
        let course = courses::window(t, path);
        course.into_iter().map(|(x, y)| ChartPoint { x, y, ..ChartPoint::default() }).collect()
    };
    let all = (0..2).map(|path| series(&format!("path {}", path + 1), Mark::Step, of(path)));
    let caption = format!("{caption}, first seed; datagrams from 5 to 15 s and from 35 to 45 s");
    over_time(id, &caption, "Congestion window (packets)", all.collect())
}

/// Labels of the rates that have runs.
pub(super) fn rates(m: &Material) -> Vec<String> {
    let axes = m.plan.experiment("cbr").map(|e| &e.axes);
    let axis = axes.and_then(|axes| axes.iter().find(|a| a.name == "rate"));
    let labels = axis.into_iter().flat_map(|a| a.values.iter().map(|v| v.label.clone()));
    labels.collect()
}

fn sweep(m: &Material, id: &str, caption: &str, y: &str, measure: Measure) -> Chart {
    let line = |(cc, name): (&str, &str)| -> ChartSeries {
        let points = rates(m).into_iter().filter_map(|rate| {
            let runs = by_seed(m, "cbr", &format!("rate={rate},cc={cc}"), measure);
            at(rate.parse().ok()?, &runs)
        });
        series(name, Mark::Points, points.collect())
    };
    let lines = [("mfvl", "MFVL"), ("mfvl-repaired", "MFVL, put right"), ("lia", "LIA")];
    Chart {
        id: id.to_owned(),
        caption: format!("{caption} by the rate of the datagrams: medians with 95 % intervals"),
        x: axis("Datagrams on each path (Mbit/s)", Scale::Linear),
        y: axis(y, Scale::Linear),
        series: lines.map(line).into_iter().filter(|s| !s.points.is_empty()).collect(),
        zoom: false,
    }
}
