//! The charts of a comparison.

use crate::report::model::{Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale};

use super::text::{entry, order};
use super::{Findings, Harm, Measure, Ranking};

/// One measure of every algorithm, as bars in the order of the ranking.
pub(super) fn bars(f: &Findings, r: &Ranking) -> Chart {
    let point = |e: &super::ranking::Entry| {
        Some(ChartPoint {
            category: Some(f.algorithms[e.algorithm].clone()),
            y: e.mean?,
            lo: e.ci95.map(|c| c[0]),
            hi: e.ci95.map(|c| c[1]),
            ..ChartPoint::default()
        })
    };
    Chart {
        id: format!("ranking-{}-chart", r.measure.id()),
        caption: format!("Mean {} with 95 % intervals", r.measure.name()),
        x: axis("Algorithm", Scale::Category),
        y: axis(r.measure.name(), Scale::Linear),
        series: vec![ChartSeries {
            name: r.measure.name().to_owned(),
            mark: Mark::Bars,
            points: r.entries.iter().filter_map(point).collect(),
        }],
        zoom: false,
    }
}

/// Goodput against queueing delay; `None` if one of them is missing.
pub(super) fn scatter(f: &Findings) -> Option<Chart> {
    let of = |m: Measure| f.rankings.iter().find(|r| r.measure == m);
    let (goodput, delay) = (of(Measure::Goodput)?, of(Measure::QueueingDelay)?);
    let series = |a: usize| {
        let (x, y) = (entry(delay, a)?, entry(goodput, a)?);
        let point = ChartPoint {
            x: x.mean?,
            y: y.mean?,
            lo: y.ci95.map(|c| c[0]),
            hi: y.ci95.map(|c| c[1]),
            x_lo: x.ci95.map(|c| c[0]),
            x_hi: x.ci95.map(|c| c[1]),
            ..ChartPoint::default()
        };
        let name = f.algorithms[a].clone();
        Some(ChartSeries { name, mark: Mark::Points, points: vec![point] })
    };
    Some(Chart {
        id: "scatter-chart".to_owned(),
        caption: "Goodput against queueing delay, means with 95 % intervals both ways. Up and to \
                  the left is better"
            .to_owned(),
        x: axis(Measure::QueueingDelay.name(), Scale::Linear),
        y: axis(Measure::Goodput.name(), Scale::Linear),
        series: order(f).into_iter().filter_map(series).collect(),
        zoom: true,
    })
}

/// The harm to each algorithm by each algorithm, as groups of bars.
pub(super) fn harm(f: &Findings, h: &Harm) -> Chart {
    let order = order(f);
    let percent = |c: Option<[f64; 2]>, end: usize| c.map(|c| 100.0 * c[end]);
    let series = |by: &usize| {
        let of = |to: &usize| {
            let cell = h.cells.iter().find(|c| (c.by, c.to) == (*by, *to))?;
            Some(ChartPoint {
                category: Some(format!("to {}", f.algorithms[*to])),
                y: 100.0 * cell.harm?,
                lo: percent(cell.ci95, 0),
                hi: percent(cell.ci95, 1),
                ..ChartPoint::default()
            })
        };
        let name = f.algorithms[*by].clone();
        ChartSeries { name, mark: Mark::Bars, points: order.iter().filter_map(of).collect() }
    };
    Chart {
        id: format!("harm-{}-chart", h.measure.id()),
        caption: format!(
            "Harm in {} by the algorithm of each colour, with 95 % intervals",
            h.measure.name()
        ),
        x: axis("Harmed algorithm", Scale::Category),
        y: axis("Harm (%)", Scale::Linear),
        series: order.iter().map(series).collect(),
        zoom: false,
    }
}

fn axis(label: &str, scale: Scale) -> ChartAxis {
    ChartAxis { label: label.to_owned(), scale }
}
