//! Tables and charts of a cross-check.

use windlass_cc::Flavour;

use super::cases::{GRIDS, Grid};
use super::cells::Kind;
use super::compare::{
    ALGORITHM_GOAL, Comparison, LARGEST_SHARE_GOAL, Line, MEDIAN_GOAL, P95_GOAL, PATHS_GOAL,
    RESENT_GOAL, SHARE_GOAL, Shares, grid_lines, lines, median_distance,
};
use super::measures::Measures;
use crate::catalogue::{Difference, differences};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Row, Scale, Section, Table,
};

/// Summary of the report.
pub(super) const SUMMARY: &str = "Every congestion control that Linux and Windlass both have, over \
    the same bottleneck, with the same packets lost at random: the kernel's own TCP compared with \
    Windlass's with the stack preset `linux`. A difference is the simulator's goodput over the kernel's, less \
    one. Goodput is the data that the receiving applications have read.";

/// The tables of the terminal and of the page.
pub(super) fn tables(names: &[&str], comparisons: &[Comparison]) -> Vec<Table> {
    let of = |experiment: &str| -> Vec<Comparison> {
        comparisons.iter().filter(|c| c.cell.experiment() == experiment).cloned().collect()
    };
    let lines = lines(names, &of("single"));
    let mut tables = Vec::new();
    tables.extend((!lines.is_empty()).then(|| summary(&lines)));
    tables.extend(shares(&Shares::of(comparisons)));
    tables.extend(two_paths(&of("two-paths")));
    tables.extend(beyond(comparisons));
    for grid in GRIDS {
        tables.extend(of_grid(grid, comparisons));
    }
    tables
}

/// All sections of the report.
pub(super) fn all(names: &[&str], comparisons: &[Comparison], traces: Vec<Chart>) -> Vec<Section> {
    let section = |id: &str, title: &str, blocks| Section {
        id: id.to_string(),
        title: title.to_string(),
        blocks,
    };
    let mut blocks: Vec<Block> = tables(names, comparisons).into_iter().map(Block::Table).collect();
    blocks.push(Block::Chart(spread(comparisons)));
    let mut sections = vec![section("differences", "Differences", blocks)];
    if !traces.is_empty() {
        let traces = traces.into_iter().map(Block::Chart).collect();
        sections.push(section("traces", "Congestion windows", traces));
    }
    sections.push(section("parameters", "Parameters", vec![Block::Table(parameters(names))]));
    sections
}

fn summary(lines: &[Line]) -> Table {
    let row = |line: &Line| {
        vec![
            line.name.clone(),
            line.cells.to_string(),
            signed(line.signed_median),
            finely(line.median),
            percent(line.p95),
            percent(line.within),
            resent(line.retransmits),
            if line.is_met { "yes" } else { "no" }.to_string(),
        ]
    };
    table(
        "single",
        &format!(
            "Single flows: difference of goodput from the kernel's. The goal is a median of at most \
             {} and a 95th percentile of at most {} for all cells, and a 95th percentile of at most {} for each \
             algorithm. The retransmitted segments of all cells should differ by at most {}.",
            finely(MEDIAN_GOAL),
            percent(P95_GOAL),
            percent(ALGORITHM_GOAL),
            percent(RESENT_GOAL)
        ),
        &[
            "algorithm",
            "cells",
            "signed median",
            "median",
            "95th percentile",
            "within 5 %",
            "retransmitted, kernel / simulator",
            "met",
        ],
        lines.iter().map(row).collect(),
    )
}

/// The number of cells within a goal, which a table does not list.
fn unlisted(listed: usize, all: usize, goal: &str) -> String {
    format!(
        "The table lists the cells with a difference of more than {goal}, and not the other {} of {all}.",
        all - listed
    )
}

/// Two flows: share of the first flow, where it differs by more than the goal for the median.
fn shares(shares: &[Shares]) -> Option<Table> {
    let middle = median_distance(shares.iter().map(Shares::difference))?;
    let spread = median_distance(shares.iter().map(Shares::spread))?;
    let largest = shares.iter().map(|s| s.difference().abs()).fold(0.0, f64::max);
    let goodput = shares.iter().map(|s| s.goodput.abs()).fold(0.0, f64::max);
    let row = |s: &Shares| {
        vec![
            s.cell.label(),
            s.cell.network_name(),
            percent(s.kernel[1]),
            range(s.kernel),
            percent(s.ours[1]),
            points(s.difference()),
        ]
    };
    let columns =
        ["flows", "network", "share, kernel", "quartiles, kernel", "share, simulator", "points"];
    let rows: Vec<_> =
        shares.iter().filter(|s| s.difference().abs() > SHARE_GOAL).map(row).collect();
    let caption = format!(
        "Two flows over one bottleneck: share of the first flow, median over the starts of the second. The \
         shares differ by {:.1} points at the median and by at most {:.1} points; the goals are {:.0} and {:.0}. The \
         interquartile range of the kernel's own shares is {:.1} points at the median. The goodput of both flows \
         together differs by at most {}. {}",
        100.0 * middle,
        100.0 * largest,
        100.0 * SHARE_GOAL,
        100.0 * LARGEST_SHARE_GOAL,
        100.0 * spread,
        percent(goodput),
        unlisted(rows.len(), shares.len(), &format!("{:.0} points", 100.0 * SHARE_GOAL))
    );
    Some(table("shared", &caption, &columns, rows))
}

/// Multipath connections: the cells that differ by more than the goal for the median.
fn two_paths(comparisons: &[Comparison]) -> Option<Table> {
    let share = |c: &Comparison| c.ours.share() - c.kernel.share();
    let apart = median_distance(comparisons.iter().map(Comparison::difference))?;
    let shares = median_distance(comparisons.iter().map(share))?;
    let row = |c: &Comparison| {
        vec![
            c.cell.network_name(),
            mbps(c.kernel.goodput_bps()),
            mbps(c.ours.goodput_bps()),
            signed(c.difference()),
            percent(c.kernel.share()),
            percent(c.ours.share()),
            points(share(c)),
        ]
    };
    let columns = [
        "paths",
        "Mbps, kernel",
        "Mbps, simulator",
        "difference",
        "share of first path, kernel",
        "share, simulator",
        "points",
    ];
    let is_far = |c: &&Comparison| c.difference().abs().max(share(c).abs()) > PATHS_GOAL;
    let rows: Vec<_> = comparisons.iter().filter(is_far).map(row).collect();
    let caption = format!(
        "Multipath connections over two paths, with CUBIC on each path, the kernel's own scheduler and no \
         coupling. At the median, goodput differs by {} and the share of the first path by {:.1} points; \
         the goal is {} for each. {}",
        percent(apart),
        100.0 * shares,
        percent(PATHS_GOAL),
        unlisted(rows.len(), comparisons.len(), &percent(PATHS_GOAL))
    );
    Some(table("two-paths", &caption, &columns, rows))
}

/// Cells with a difference above the goal, the largest difference first. [`two_paths`] lists those of two paths.
fn beyond(comparisons: &[Comparison]) -> Option<Table> {
    let mut far: Vec<&Comparison> = comparisons
        .iter()
        .filter(|c| c.difference().abs() > ALGORITHM_GOAL && !is_case(c))
        .filter(|c| c.cell.experiment() != "two-paths")
        .collect();
    far.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    let pair = |c: &Comparison, f: fn(&Measures) -> f64, digits: usize| {
        format!("{:.digits$} / {:.digits$}", f(&c.kernel), f(&c.ours))
    };
    let srtt = |m: &Measures| m.srtt_ms.map_or("–".to_string(), |ms| format!("{ms:.0}"));
    let row = |c: &&Comparison| {
        vec![
            c.cell.label(),
            c.cell.network_name(),
            pair(c, |m| m.goodput_bps() / 1e6, 3),
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
        "Mbps, kernel / simulator",
        "difference",
        "dropped",
        "lost",
        "retransmitted",
        "timeouts",
        "srtt (ms)",
        "mean queue",
    ];
    let rows: Vec<Vec<String>> = far.iter().map(row).collect();
    let caption = format!(
        "Cells with a difference of more than {}, kernel / simulator.",
        percent(ALGORITHM_GOAL)
    );
    (!rows.is_empty()).then(|| table("beyond", &caption, &columns, rows))
}

/// A further grid: its lines, and the cells with the largest differences.
fn of_grid(grid: &Grid, comparisons: &[Comparison]) -> Vec<Table> {
    let mut cells: Vec<&Comparison> =
        comparisons.iter().filter(|c| c.cell.experiment() == grid.id).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let row = |line: &Line| {
        vec![
            line.name.clone(),
            line.cells.to_string(),
            signed(line.signed_median),
            finely(line.median),
            percent(line.p95),
            percent(line.largest),
            resent(line.retransmits),
            if line.is_met { "yes" } else { "no" }.to_string(),
        ]
    };
    let caption = format!(
        "{} The goal is a median of at most {} and a 95th percentile of at most {}.",
        grid.about,
        percent(grid.goal.median),
        percent(grid.goal.p95)
    );
    let columns = [
        "cells of",
        "cells",
        "signed median",
        "median",
        "95th percentile",
        "largest",
        "retransmitted, kernel / simulator",
        "met",
    ];
    let lines = grid_lines(grid, &cells).iter().map(row).collect();
    cells.retain(|c| c.difference().abs() > grid.goal.p95);
    cells.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
    let mut tables = vec![table(grid.id, &caption, &columns, lines)];
    tables.extend(furthest(grid, &cells));
    tables
}

/// Maximum number of rows of the table of cells with a large difference.
const FURTHEST: usize = 12;

fn furthest(grid: &Grid, far: &[&Comparison]) -> Option<Table> {
    let pair = |c: &Comparison, f: &dyn Fn(&Measures) -> f64, digits: usize| {
        format!("{:.digits$} / {:.digits$}", f(&c.kernel), f(&c.ours))
    };
    let row = |c: &&Comparison| {
        vec![
            c.cell.label(),
            c.cell.network_name(),
            pair(c, &|m| grid.measure.value(m), 2),
            signed(c.difference()),
            pair(c, &|m| m.drops_queue + m.drops_error, 0),
            pair(c, &|m| m.retransmits, 0),
            pair(c, &|m| m.timeouts, 0),
        ]
    };
    let columns = [
        "flow",
        "network",
        grid.measure.heading(),
        "difference",
        "lost",
        "retransmitted",
        "timeouts",
    ];
    let caption = format!(
        "{} cells with a difference of more than {}, kernel / simulator; the table has at most {FURTHEST}.",
        far.len(),
        percent(grid.goal.p95)
    );
    let rows: Vec<Vec<String>> = far.iter().take(FURTHEST).map(row).collect();
    let id = format!("{}-beyond", grid.id);
    (!rows.is_empty()).then(|| table(&id, &caption, &columns, rows))
}

fn is_case(c: &Comparison) -> bool {
    matches!(c.cell.kind, Kind::Case(_))
}

/// The difference of every cell, by algorithm.
fn spread(comparisons: &[Comparison]) -> Chart {
    let of = |wanted: &dyn Fn(&Comparison) -> bool| -> Vec<&Comparison> {
        comparisons.iter().filter(|c| wanted(c)).collect()
    };
    let single = |c: &Comparison| c.cell.kind == Kind::Single;
    let clean = of(&|c| single(c) && !c.cell.is_lossy());
    let lossy = of(&|c| single(c) && c.cell.is_lossy());
    let others = of(&|c| !single(c) && !is_case(c));
    let point = |c: &&Comparison| ChartPoint {
        category: Some(c.cell.algorithm.id.to_string()),
        y: 100.0 * c.difference(),
        ..ChartPoint::default()
    };
    let series =
        [("no random loss", clean), ("random loss", lossy), ("two flows or paths", others)];
    let series = series.into_iter().filter(|(_, cells)| !cells.is_empty());
    Chart {
        id: "spread".to_string(),
        caption: "Difference of goodput in every cell: above zero the simulator is faster than the kernel."
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

/// Differences of the kernel's algorithms from the papers and RFCs, which the preset applies.
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
        "Differences of the kernel's algorithms from papers and RFCs, which the preset sets.",
        &["algorithm", "parameter", "paper or RFC", "Linux", "reason"],
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

/// In percent, with two decimal places.
fn finely(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn points(share: f64) -> String {
    format!("{:+.1}", 100.0 * share)
}

fn resent([kernel, ours]: [f64; 2]) -> String {
    format!("{kernel:.0} / {ours:.0}")
}

fn range(quartiles: [f64; 3]) -> String {
    format!("{:.1} to {:.1} %", 100.0 * quartiles[0], 100.0 * quartiles[2])
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}
