//! Tables and charts of a cross-check.

use windlass_cc::Flavour;

use super::compare::{Comparison, Line, MEDIAN_GOAL, Means, P95_GOAL, lines};
use crate::catalogue::{Difference, differences};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Row, Scale, Section, Table,
};

/// What the report is about.
pub(super) const SUMMARY: &str = "Every congestion control that Linux and Windlass both have, over \
    the same bottleneck, with the same packets lost at random: the kernel's own TCP beside \
    Windlass's with the stack preset `linux`. A difference is our goodput over the kernel's, less \
    one; goodput is what the receiving applications have read.";

/// The tables for terminal and page.
pub(super) fn tables(names: &[&str], comparisons: &[Comparison]) -> Vec<Table> {
    let (single, mixed) = split(comparisons);
    let mut tables = Vec::new();
    if !single.is_empty() {
        tables.push(summary("single", "Single flows", &lines(names, &single)));
    }
    if !mixed.is_empty() {
        tables.push(mixes(&mixed));
    }
    tables.extend(beyond(comparisons));
    tables
}

/// Everything of the report.
pub(super) fn all(names: &[&str], comparisons: &[Comparison], traces: Vec<Chart>) -> Vec<Section> {
    let section = |id: &str, title: &str, blocks| Section {
        id: id.to_string(),
        title: title.to_string(),
        blocks,
    };
    let mut blocks: Vec<Block> = tables(names, comparisons).into_iter().map(Block::Table).collect();
    blocks.push(Block::Chart(spread(comparisons)));
    let mut sections = vec![section("differences", "How far apart", blocks)];
    if !traces.is_empty() {
        let traces = traces.into_iter().map(Block::Chart).collect();
        sections.push(section("traces", "Congestion windows", traces));
    }
    sections.push(section("parameters", "Parameters", vec![Block::Table(parameters(names))]));
    sections
}

/// Single flows, and two together.
fn split(comparisons: &[Comparison]) -> (Vec<Comparison>, Vec<Comparison>) {
    comparisons.iter().cloned().partition(|c| c.cell.rival.is_none())
}

fn summary(id: &str, what: &str, lines: &[Line]) -> Table {
    let row = |line: &Line| {
        vec![
            line.name.clone(),
            line.cells.to_string(),
            signed(line.signed_median),
            percent(line.median),
            percent(line.p95),
            percent(line.within),
            if line.is_met() { "yes" } else { "no" }.to_string(),
        ]
    };
    table(
        id,
        &format!(
            "{what}: distance of our goodput from the kernel's. The goal is a median of at most \
             {} and a 95th percentile of at most {}.",
            percent(MEDIAN_GOAL),
            percent(P95_GOAL)
        ),
        &["algorithm", "cells", "signed median", "median", "95th percentile", "within 10 %", "met"],
        lines.iter().map(row).collect(),
    )
}

fn mixes(comparisons: &[Comparison]) -> Table {
    let row = |c: &Comparison| {
        vec![
            c.cell.label(),
            c.cell.network.name(),
            mbps(c.kernel.goodput_bps),
            mbps(c.ours.goodput_bps),
            signed(c.difference()),
            percent(c.kernel.share),
            percent(c.ours.share),
        ]
    };
    let columns = [
        "flows",
        "network",
        "Mbps kernel",
        "ours",
        "difference",
        "first flow's share kernel",
        "share ours",
    ];
    table(
        "mixed",
        "Two flows over one bottleneck, the second 0.73 s later: goodput of both together, and \
         the share of the first.",
        &columns,
        comparisons.iter().map(row).collect(),
    )
}

/// Cells further apart than is aimed at, the furthest first.
fn beyond(comparisons: &[Comparison]) -> Option<Table> {
    let mut far: Vec<&Comparison> =
        comparisons.iter().filter(|c| c.difference().abs() > P95_GOAL).collect();
    far.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    let pair = |c: &Comparison, f: fn(&Means) -> f64, digits: usize| {
        format!("{:.digits$} / {:.digits$}", f(&c.kernel), f(&c.ours))
    };
    let srtt = |m: &Means| m.srtt_ms.map_or("–".to_string(), |ms| format!("{ms:.0}"));
    let row = |c: &&Comparison| {
        vec![
            c.cell.label(),
            c.cell.network.name(),
            pair(c, |m| m.goodput_bps / 1e6, 3),
            signed(c.difference()),
            pair(c, |m| m.drops_queue, 0),
            pair(c, |m| m.drops_error, 0),
            pair(c, |m| m.retransmits, 0),
            pair(c, |m| m.timeouts, 0),
            format!("{} / {}", srtt(&c.kernel), srtt(&c.ours)),
            pair(c, |m| m.queue_packets, 1),
        ]
    };
    let columns = [
        "flows",
        "network",
        "Mbps kernel / ours",
        "difference",
        "dropped",
        "lost",
        "resent",
        "timeouts",
        "srtt (ms)",
        "mean queue",
    ];
    let rows: Vec<Vec<String>> = far.iter().map(row).collect();
    let caption = format!("Cells more than {} apart, kernel / ours.", percent(P95_GOAL));
    (!rows.is_empty()).then(|| table("beyond", &caption, &columns, rows))
}

/// Every cell's difference, by algorithm.
fn spread(comparisons: &[Comparison]) -> Chart {
    let (single, mixed) = split(comparisons);
    let (lossy, clean): (Vec<_>, Vec<_>) =
        single.into_iter().partition(|c| c.cell.network.loss_percent > 0);
    let point = |c: &Comparison| ChartPoint {
        category: Some(c.cell.algorithm.id.to_string()),
        y: 100.0 * c.difference(),
        ..ChartPoint::default()
    };
    let series = [("no random loss", clean), ("1 % lost", lossy), ("two flows", mixed)];
    let series = series.into_iter().filter(|(_, cells)| !cells.is_empty());
    Chart {
        id: "spread".to_string(),
        caption: "Difference of goodput in every cell: above zero we are faster than the kernel."
            .to_string(),
        x: ChartAxis { label: "Algorithm".to_string(), scale: Scale::Category },
        y: ChartAxis { label: "Difference (%)".to_string(), scale: Scale::Linear },
        series: series
            .map(|(name, cells)| ChartSeries {
                name: name.to_string(),
                mark: Mark::Points,
                points: cells.iter().map(point).collect(),
            })
            .collect(),
        zoom: false,
    }
}

/// How the kernel's algorithms differ from the papers and RFCs, which the preset brings.
fn parameters(names: &[&str]) -> Table {
    let row = |id: &str, d: Difference| {
        vec![id.to_string(), d.key.to_string(), d.here, d.value, d.why.replace('`', "")]
    };
    let rows = names.iter().flat_map(|id| {
        let found = differences(id, Flavour::Linux);
        found.into_iter().map(|d| row(id, d)).collect::<Vec<_>>()
    });
    table(
        "asked",
        "Where the kernel's algorithm is not the paper's or RFC's: what the preset brings by itself.",
        &["algorithm", "what", "paper or RFC", "Linux", "because"],
        rows.collect(),
    )
}

fn table(id: &str, caption: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table {
        id: id.to_string(),
        caption: caption.to_string(),
        columns: columns.iter().map(ToString::to_string).collect(),
        rows: rows.into_iter().map(|cells| Row { cells, ..Row::default() }).collect(),
        notes: Vec::new(),
    }
}

fn mbps(bps: f64) -> String {
    format!("{:.3}", bps / 1e6)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}
