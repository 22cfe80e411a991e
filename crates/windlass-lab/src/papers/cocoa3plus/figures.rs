//! Figures 5 to 14, redrawn from our runs with the paper's stated values beside them.

use super::measures::{
    EXCESS, GOODPUT, JITTER, LOSS, Measure, OURS, THROUGHPUT, labels, point, protocol,
};
use super::windows;
use crate::papers::Material;
use crate::papers::parts::charts::{axis, series};
use crate::papers::parts::commands;
use crate::papers::parts::tables::section;
use crate::report::model::{Block, Chart, ChartPoint, ChartSeries, Mark, Scale, Section};

/// A figure: its number, what it sweeps, what it shows, and the values that the paper states for
/// CoCoA3+, ICC-TCP and BC-CPS at the end of the sweep.
struct Figure {
    number: u32,
    sweep: &'static str,
    measure: Measure,
    stated: [f64; 3],
}

const FIGURES: [Figure; 9] = [
    Figure { number: 5, sweep: "size", measure: THROUGHPUT, stated: [20.0, 14.0, 11.0] },
    Figure { number: 6, sweep: "time", measure: THROUGHPUT, stated: [20.0, 14.0, 11.0] },
    Figure { number: 7, sweep: "size", measure: GOODPUT, stated: [800.0, 680.0, 600.0] },
    Figure { number: 8, sweep: "time", measure: GOODPUT, stated: [800.0, 660.0, 600.0] },
    Figure { number: 9, sweep: "size", measure: LOSS, stated: [5.0, 25.0, 30.0] },
    Figure { number: 10, sweep: "size", measure: EXCESS, stated: [20.0, 50.0, 70.0] },
    Figure { number: 11, sweep: "time", measure: EXCESS, stated: [20.0, 48.0, 68.0] },
    Figure { number: 12, sweep: "size", measure: JITTER, stated: [15.0, 50.0, 60.0] },
    Figure { number: 13, sweep: "time", measure: JITTER, stated: [15.0, 47.0, 58.0] },
];

/// Of each sweep: its axis, that axis in words, and its last value.
fn swept(sweep: &str) -> (&'static str, &'static str, &'static str) {
    match sweep {
        "size" => ("packet", "Packet size (bytes)", "2100"),
        _ => ("time", "Time (s; the paper: ms)", "300"),
    }
}

/// The sections.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let charts = |sweep: &str| -> Vec<Block> {
        let mine = FIGURES.iter().filter(|f| f.sweep == sweep);
        mine.map(|f| Block::Chart(chart(m, f))).collect()
    };
    let run =
        |about: &str, experiment: &str, point: &str| commands::runs(m, about, experiment, point);
    let recorded = commands::recording(
        m,
        "The windows of CoCoA3+, as series under `out/series`:",
        "fig14.cocoa3plus",
        ("record.series", "[\"cwnd_bytes\"]"),
    );
    vec![
        section(
            "figures-size",
            "Figures 5, 7, 9, 10 and 12: packet sizes",
            charts("size"),
            run("CoCoA3+ with packets of 2100 bytes:", "size", "protocol=cocoa3plus,packet=2100"),
        ),
        section(
            "figures-time",
            "Figures 6, 8, 11 and 13: times",
            charts("time"),
            run("CoCoA3+ for 300 s:", "time", "protocol=cocoa3plus,time=300"),
        ),
        section("figure-14", "Figure 14: windows", vec![Block::Chart(windows::chart(m))], recorded),
    ]
}

fn chart(m: &Material, f: &Figure) -> Chart {
    let (over, words, last) = swept(f.sweep);
    let protocols = labels(m, f.sweep, "protocol");
    let line = |label: &String| -> ChartSeries {
        let at = |x: String| {
            let place = format!("protocol={label},{over}={x}");
            point(&x, &f.measure.at(m, f.sweep, &place))
        };
        let points = labels(m, f.sweep, over).into_iter().filter_map(at);
        series(&protocol(label), Mark::Points, points.collect())
    };
    let mut all: Vec<ChartSeries> = protocols.iter().map(line).collect();
    all.retain(|s| !s.points.is_empty());
    let papers = [OURS.0, "icc-tcp", "bc-cps"].iter().zip(f.stated);
    all.extend(papers.map(|(label, y)| {
        let stated = ChartPoint { category: Some(last.to_owned()), y, ..ChartPoint::default() };
        series(&format!("{} (paper)", protocol(label)), Mark::Paper, vec![stated])
    }));
    Chart {
        id: format!("fig-{}", f.number),
        caption: format!(
            "Figure {}. {}: means over the seeds with 95 % intervals (Student), and what the paper states \
             for the end of the sweep. The radio is another (C3-32): the order of the protocols is what \
             can be compared",
            f.number,
            sentence(f.measure.name)
        ),
        x: axis(words, Scale::Category),
        y: axis(&sentence(&f.measure.label()), Scale::Linear),
        series: all,
        zoom: false,
    }
}

/// With a capital letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
