//! Differences between the kernel and the simulator: per cell, per algorithm, and in total.

use super::cases::Grid;
use super::cells::Cell;
use super::measures::{Goal, Measures};
use crate::stats::Summary;

/// Goal for the median difference of all cells together.
pub const MEDIAN_GOAL: f64 = 0.0025;
/// Goal for the 95th percentile of the difference.
pub const P95_GOAL: f64 = 0.035;
/// Goal for the median and the 95th percentile of each algorithm.
pub const ALGORITHM_GOAL: f64 = 0.05;
/// Goal for the difference of two flows' shares, median over the mixes.
pub const SHARE_GOAL: f64 = 0.02;
/// Goal for the difference of any mix's shares.
pub const LARGEST_SHARE_GOAL: f64 = 0.06;
/// Goal for the difference of the retransmissions of all of an algorithm's cells.
pub const RESENT_GOAL: f64 = 0.1;
/// Goal for the median difference of multipath connections: of their goodput, and of the first path's share.
pub const PATHS_GOAL: f64 = 0.05;

/// One cell on both backends: means over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The cell.
    pub cell: Cell,
    /// The kernel's results.
    pub kernel: Measures,
    /// The simulator's results.
    pub ours: Measures,
}

impl Comparison {
    /// Compares the runs of the seeds that both backends have, the kernel's first. `None` without runs, or if the
    /// kernel delivered no data.
    pub fn of(cell: Cell, pairs: Vec<(Measures, Measures)>) -> Option<Comparison> {
        let (kernel, ours): (Vec<Measures>, Vec<Measures>) = pairs.into_iter().unzip();
        let (kernel, ours) = (Measures::mean(&kernel)?, Measures::mean(&ours)?);
        (kernel.goodput_bps() > 0.0).then_some(Comparison { cell, kernel, ours })
    }

    /// The simulator's goodput over the kernel's, minus one, or another measure of the cell; positive if the
    /// simulator's value is larger.
    pub fn difference(&self) -> f64 {
        self.cell.measure().difference(&self.kernel, &self.ours)
    }
}

/// The goal of all cells of single flows.
pub const ALL_GOAL: Goal = Goal { median: MEDIAN_GOAL, p95: P95_GOAL };
/// The goal of one algorithm's cells.
pub const ONE_GOAL: Goal = Goal { median: ALGORITHM_GOAL, p95: ALGORITHM_GOAL };

/// The differences of several cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Common property of the cells, such as the algorithm.
    pub name: String,
    /// Number of cells.
    pub cells: usize,
    /// Median of the differences.
    pub signed_median: f64,
    /// Median of their absolute values.
    pub median: f64,
    /// 95th percentile of the absolute values: the smallest value that 95 % of the cells do not exceed.
    pub p95: f64,
    /// Largest absolute value.
    pub largest: f64,
    /// Share of the cells within the goal for an algorithm.
    pub within: f64,
    /// Data segments retransmitted in all cells: by the kernel, and by the simulator.
    pub retransmits: [f64; 2],
    /// True if the goal is met.
    pub is_met: bool,
}

impl Line {
    /// Summarises cells; `None` without cells.
    pub fn of<'a>(
        name: &str,
        comparisons: impl IntoIterator<Item = &'a Comparison>,
        goal: Goal,
    ) -> Option<Line> {
        let all = Vec::from_iter(comparisons);
        let signed: Vec<f64> = all.iter().map(|c| c.difference()).collect();
        let mut distances: Vec<f64> = signed.iter().map(|d| d.abs()).collect();
        distances.sort_by(f64::total_cmp);
        let rank = (0.95 * distances.len() as f64).ceil() as usize;
        let within = distances.iter().filter(|d| **d <= ALGORITHM_GOAL).count();
        let median = Summary::of(&distances)?.median;
        let p95 = *distances.get(rank.checked_sub(1)?)?;
        Some(Line {
            name: name.to_string(),
            cells: signed.len(),
            signed_median: Summary::of(&signed)?.median,
            median,
            p95,
            largest: *distances.last()?,
            retransmits: [
                |c: &Comparison| c.kernel.retransmits,
                |c: &Comparison| c.ours.retransmits,
            ]
            .map(|of| all.iter().map(|c| of(c)).sum()),
            within: within as f64 / signed.len() as f64,
            is_met: median <= goal.median && p95 <= goal.p95,
        })
    }
}

/// Name of the line of all algorithms.
const ALL: &str = "all";

/// One line for each algorithm in order of first appearance in `names`, and one for all.
pub fn lines(names: &[&str], comparisons: &[Comparison]) -> Vec<Line> {
    let of = |name: &str| {
        let mine = comparisons.iter().filter(|c| c.cell.algorithm.id == name);
        Line::of(name, mine, ONE_GOAL)
    };
    let mut lines: Vec<Line> = names.iter().copied().filter_map(of).collect();
    lines.extend(Line::of(ALL, comparisons, ALL_GOAL));
    lines
}

/// One line for each group of a grid's cells, in order of appearance, and one for all.
pub fn grid_lines(grid: &Grid, comparisons: &[&Comparison]) -> Vec<Line> {
    let mut groups: Vec<String> = Vec::new();
    for group in comparisons.iter().map(|c| c.cell.group()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let of = |name: &String| {
        let mine = comparisons.iter().copied().filter(|c| c.cell.group() == *name);
        Line::of(name, mine, grid.goal)
    };
    let mut lines: Vec<Line> = groups.iter().filter_map(of).collect();
    lines.extend(Line::of(ALL, comparisons.iter().copied(), grid.goal));
    lines
}

/// Two flows over one network: shares of the first flow over the start times of the second flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// One of the cells.
    pub cell: Cell,
    /// Number of start times.
    pub starts: usize,
    /// Lower quartile, median and upper quartile of the kernel's shares.
    pub kernel: [f64; 3],
    /// Lower quartile, median and upper quartile of the simulator's shares.
    pub ours: [f64; 3],
    /// Median difference of the goodput of both flows together.
    pub goodput: f64,
}

impl Shares {
    /// One entry for each mix and network, in order of appearance.
    pub fn of(comparisons: &[Comparison]) -> Vec<Shares> {
        let name = |c: &Comparison| (c.cell.label(), c.cell.network_name());
        let mut names: Vec<(String, String)> = Vec::new();
        for comparison in comparisons.iter().filter(|c| c.cell.experiment() == "shared") {
            if !names.contains(&name(comparison)) {
                names.push(name(comparison));
            }
        }
        let one = |wanted: &(String, String)| {
            let mine: Vec<&Comparison> =
                comparisons.iter().filter(|c| name(c) == *wanted).collect();
            let goodput: Vec<f64> = mine.iter().map(|c| c.difference()).collect();
            Some(Shares {
                cell: mine.first()?.cell,
                starts: mine.len(),
                kernel: quartiles(mine.iter().map(|c| c.kernel.share()).collect())?,
                ours: quartiles(mine.iter().map(|c| c.ours.share()).collect())?,
                goodput: Summary::of(&goodput)?.median,
            })
        };
        names.iter().filter_map(one).collect()
    }

    /// The simulator's median minus the kernel's.
    pub fn difference(&self) -> f64 {
        self.ours[1] - self.kernel[1]
    }

    /// Interquartile range of the kernel's shares.
    pub fn spread(&self) -> f64 {
        self.kernel[2] - self.kernel[0]
    }
}

/// Quartiles by linear interpolation between the values in order.
fn quartiles(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|q| {
        let place = q * last as f64;
        let (below, above) = (values[place as usize], values[place.ceil() as usize]);
        below + place.fract() * (above - below)
    }))
}

/// The median of absolute values; `None` for an empty list.
pub fn median_distance(differences: impl IntoIterator<Item = f64>) -> Option<f64> {
    let distances: Vec<f64> = differences.into_iter().map(f64::abs).collect();
    Some(Summary::of(&distances)?.median)
}

#[cfg(test)]
mod tests {
    use super::super::algorithms::{ALGORITHMS, by_id};
    use super::*;

    fn apart(by: f64) -> Comparison {
        let cell = Cell::grid(&[&ALGORITHMS[0]], true)[0];
        let made = |bps| Measures { parts_bps: [bps, 0.0], ..Measures::default() };
        Comparison { cell, kernel: made(1e6), ours: made(1e6 * (1.0 + by)) }
    }

    #[test]
    fn a_line_has_signed_and_absolute_medians() {
        let cells: Vec<Comparison> = [-0.04, -0.02, 0.01, 0.2].map(apart).to_vec();
        let line = Line::of("reno", &cells, ONE_GOAL).expect("a line");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(line.signed_median, -0.005);
        near(line.median, 0.03);
        near(line.p95, 0.2);
        near(line.within, 0.75);
        assert!(!line.is_met);
    }

    #[test]
    fn one_cell_in_twenty_may_be_far_off() {
        let mut cells = vec![apart(0.002); 19];
        cells.push(apart(-0.9));
        let line = Line::of("all", &cells, ALL_GOAL).expect("a line");
        assert!(line.is_met, "{line:?}");
        cells.push(apart(0.9));
        assert!(!Line::of("all", &cells, ALL_GOAL).expect("a line").is_met);
    }

    #[test]
    fn shares_are_compared_by_their_medians_over_the_starts() {
        let cells = Cell::grid(&[by_id("cubic").expect("it is known")], false);
        let shared = cells.into_iter().filter(|c| c.experiment() == "shared").take(8);
        let made = |share: f64| Measures { parts_bps: [share, 1.0 - share], ..Measures::default() };
        let pair = |(i, cell)| Comparison {
            cell,
            kernel: made(0.4 + 0.02 * f64::from(i)),
            ours: made(0.5),
        };
        let all = Shares::of(&(0..).zip(shared).map(pair).collect::<Vec<_>>());
        let [shares] = &all[..] else { panic!("one mix over one network: {all:?}") };
        assert_eq!(shares.starts, 8);
        assert!((shares.difference() - 0.03).abs() < 1e-9, "{shares:?}");
        assert!((shares.spread() - 0.07).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn lines_need_cells() {
        assert_eq!(Line::of("all", &[], ALL_GOAL), None);
        assert!(lines(&["reno"], &[]).is_empty());
    }
}
