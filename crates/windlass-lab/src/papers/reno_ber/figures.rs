//! Figures 2 to 8 and 10, redrawn from our runs.

use super::closed_forms::PRINTED;
use super::ladder;
use crate::models::reno_ber::FILE_BYTES;
use crate::papers::parts::commands;
use crate::papers::parts::series::{rates, samples};
use crate::papers::parts::tables::section;
use crate::papers::{Material, Trace};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale, Section,
};
use windlass_sim::Series;

/// Length of the paper's runs, seconds.
const RUN_S: f64 = 2700.0;
/// What figures 3, 5 and 8 show of them, seconds.
const START_S: f64 = 80.0;

/// All figures with data of ours.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let pair = |whole: Chart, start: Chart| vec![Block::Chart(whole), Block::Chart(start)];
    let series = |name: &str| {
        let about = "The curve of 1 % with every change of the value, under `out/series`:";
        commands::recording(m, about, "p=1%", ("record.series", &format!("[\"{name}\"]")))
    };
    let mut all = vec![
        section(
            "figures-2-3",
            "Figures 2 and 3: congestion window",
            pair(
                window(m, "fig-2", "Figure 2. Congestion window of the server", RUN_S),
                window(m, "fig-3", "Figure 3. The same, first 80 s", START_S),
            ),
            series("cwnd_bytes"),
        ),
        section(
            "figures-4-5",
            "Figures 4 and 5: acknowledged bytes",
            pair(
                acknowledged(m, "fig-4", "Figure 4. ACK number that the client sent", RUN_S),
                acknowledged(m, "fig-5", "Figure 5. The same, first 80 s", START_S),
            ),
            series("ack_number_bytes"),
        ),
        section(
            "figure-6",
            "Figure 6: mean throughput",
            vec![Block::Chart(throughput(m))],
            commands::runs(m, "The bar of 1 %, as goodput:", "download", "mode=data-only,p=1%"),
        ),
        section(
            "figures-7-8",
            "Figures 7 and 8: traffic received",
            pair(
                received(
                    m,
                    "fig-7",
                    "Figure 7. Bytes that reached the client's application",
                    RUN_S,
                ),
                received(m, "fig-8", "Figure 8. The same, first 80 s", START_S),
            ),
            series("delivered_bytes"),
        ),
    ];
    all.extend(ladder::section(m));
    all
}

const OFFSET: &str = "The paper's downloads start 10 s into the run, ours at zero (RB-10).";

fn chart(
    m: &Material,
    id: &str,
    caption: &str,
    (label, scale, mark): (&str, Scale, Mark),
    points: impl Fn(&Trace) -> Vec<ChartPoint>,
) -> Chart {
    let series = PRINTED.iter().filter_map(|p| {
        let trace = m.traces.get(&format!("p={}", p.label))?;
        Some(ChartSeries { name: format!("p = {}", p.label), mark, points: points(trace) })
    });
    let series: Vec<ChartSeries> = series.collect();
    Chart {
        id: id.to_owned(),
        caption: format!("{caption}, one run a drop probability. {OFFSET}{}", hidden(&series)),
        x: ChartAxis { label: "Time (s)".to_owned(), scale: Scale::Linear },
        y: ChartAxis { label: label.to_owned(), scale },
        series,
        zoom: true,
    }
}

/// Says which curves cannot be seen because the next one covers them.
fn hidden(series: &[ChartSeries]) -> String {
    let covered = series.windows(2).filter(|w| {
        let points = |s: &ChartSeries| s.points.iter().map(|p| (p.x, p.y)).collect::<Vec<_>>();
        !w[0].points.is_empty() && points(&w[0]) == points(&w[1])
    });
    let said = |w: &[ChartSeries]| {
        format!(" The curve of {} lies under that of {}: the runs are alike.", w[0].name, w[1].name)
    };
    covered.map(said).collect()
}

fn window(m: &Material, id: &str, caption: &str, end: f64) -> Chart {
    let axis = ("Congestion window (bytes)", Scale::Log, Mark::Step);
    chart(m, id, caption, axis, |t| {
        let all = samples(t, Series::Cwnd, end);
        all.into_iter().filter(|p| p.y > 0.0).collect()
    })
}

fn acknowledged(m: &Material, id: &str, caption: &str, end: f64) -> Chart {
    let axis = ("ACK number (bytes)", Scale::Linear, Mark::Step);
    chart(m, id, caption, axis, |t| samples(t, Series::AckNumber, end))
}

fn received(m: &Material, id: &str, caption: &str, end: f64) -> Chart {
    // A longer step for the longer axis: what one could see in print.
    let step = if end > START_S { 10.0 } else { 1.0 };
    let caption = format!("{caption}, mean over {step} s");
    let axis = ("Received (bytes/s)", Scale::Linear, Mark::Step);
    chart(m, id, &caption, axis, |t| rates(&samples(t, Series::Delivered, end), step))
}

fn throughput(m: &Material) -> Chart {
    let category = |label: &str, y: f64, ci: Option<[f64; 2]>| ChartPoint {
        category: Some(label.to_owned()),
        y,
        lo: ci.map(|c| c[0]),
        hi: ci.map(|c| c[1]),
        ..ChartPoint::default()
    };
    let ours = PRINTED.iter().filter_map(|p| {
        let j = m.judgement(&format!("fig6.{}", p.key))?;
        Some(category(p.label, j.measured?, j.ci95))
    });
    let paper = |offset: f64| {
        PRINTED.iter().map(move |p| category(p.label, FILE_BYTES / (p.response_s - offset), None))
    };
    let series = |name: &str, mark, points: Vec<ChartPoint>| ChartSeries {
        name: name.to_owned(),
        mark,
        points,
    };
    Chart {
        id: "fig-6".to_owned(),
        caption: "Figure 6. File size over response time: medians with 95 % intervals beside the \
            paper's values, as printed and less the 10 s of RB-10"
            .to_owned(),
        x: ChartAxis { label: "Drop probability".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: "Mean throughput (bytes/s)".to_owned(), scale: Scale::Linear },
        series: vec![
            series("ours", Mark::Bars, ours.collect()),
            series("paper", Mark::Paper, paper(0.0).collect()),
            series("paper less 10 s", Mark::Paper, paper(10.0).collect()),
        ],
        zoom: false,
    }
}
