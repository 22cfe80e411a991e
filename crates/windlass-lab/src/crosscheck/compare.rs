//! How far the two worlds are apart: in each cell, for each algorithm, and in all.

use super::cells::Cell;
use crate::run::RunRecord;
use crate::stats::Summary;

/// Largest median distance that the cross-check aims at.
pub const MEDIAN_GOAL: f64 = 0.03;
/// Largest 95th percentile of the distance that it aims at.
pub const P95_GOAL: f64 = 0.10;

/// What one world made of a cell: means over the seeds; counts are of all flows together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Means {
    /// Goodput of all flows together, bits per second.
    pub goodput_bps: f64,
    /// Share of the first flow in it.
    pub share: f64,
    /// Packets that the queue dropped on the way of the data.
    pub drops_queue: f64,
    /// Packets lost at random there.
    pub drops_error: f64,
    /// Packets marked there.
    pub marks: f64,
    /// Data segments retransmitted.
    pub retransmits: f64,
    /// Expiries of the retransmission timer.
    pub timeouts: f64,
    /// Smoothed round trip of the first flow at the end, milliseconds.
    pub srtt_ms: Option<f64>,
    /// Mean packets waiting.
    pub queue_packets: f64,
}

impl Means {
    fn of(records: &[&RunRecord]) -> Means {
        let mean = |f: &dyn Fn(&RunRecord) -> f64| {
            records.iter().map(|r| f(r)).sum::<f64>() / records.len() as f64
        };
        let of_flows = |f: fn(&windlass_sim::FlowResult) -> f64| {
            mean(&|r: &RunRecord| r.flows.iter().map(f).sum())
        };
        // The way of the data is the first direction of the only link.
        let of_link = |f: fn(&windlass_sim::LinkResult) -> f64| {
            mean(&|r: &RunRecord| r.links.first().map_or(0.0, f))
        };
        let goodput_bps = of_flows(|f| f.goodput_bps);
        let first = mean(&|r: &RunRecord| r.flows.first().map_or(0.0, |f| f.goodput_bps));
        let srtts: Option<Vec<f64>> =
            records.iter().map(|r| r.flows.first().and_then(|f| f.srtt_ms)).collect();
        Means {
            goodput_bps,
            share: if goodput_bps > 0.0 { first / goodput_bps } else { 0.0 },
            drops_queue: of_link(|l| l.drops_queue as f64),
            drops_error: of_link(|l| l.drops_error as f64),
            marks: of_link(|l| l.marks as f64),
            retransmits: of_flows(|f| f.retransmits as f64),
            timeouts: of_flows(|f| f.rto_count as f64),
            srtt_ms: srtts.map(|s| s.iter().sum::<f64>() / s.len() as f64),
            queue_packets: of_link(|l| l.mean_queue_packets),
        }
    }
}

/// One cell in both worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The cell.
    pub cell: Cell,
    /// What the kernel made of it.
    pub kernel: Means,
    /// What the simulator made of it.
    pub ours: Means,
}

impl Comparison {
    /// Compares the runs of the seeds that both worlds have; `None` if there are none, or if the
    /// kernel brought nothing over.
    pub fn of(cell: Cell, pairs: &[(&RunRecord, &RunRecord)]) -> Option<Comparison> {
        if pairs.is_empty() {
            return None;
        }
        let (kernel, ours): (Vec<&RunRecord>, Vec<&RunRecord>) = pairs.iter().copied().unzip();
        let (kernel, ours) = (Means::of(&kernel), Means::of(&ours));
        (kernel.goodput_bps > 0.0).then_some(Comparison { cell, kernel, ours })
    }

    /// Our goodput over the kernel's, less one: positive where we are faster.
    pub fn difference(&self) -> f64 {
        self.ours.goodput_bps / self.kernel.goodput_bps - 1.0
    }
}

/// The distances of several cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the cells have in common.
    pub name: String,
    /// Number of cells.
    pub cells: usize,
    /// Median of the differences.
    pub signed_median: f64,
    /// Median of their absolute values.
    pub median: f64,
    /// 95th percentile of these: the least that so many of the cells do not exceed.
    pub p95: f64,
    /// Share of the cells within the 95th percentile that is aimed at.
    pub within: f64,
}

impl Line {
    /// Sums up cells; `None` if there are none.
    pub fn of<'a>(
        name: &str,
        comparisons: impl IntoIterator<Item = &'a Comparison>,
    ) -> Option<Line> {
        let signed: Vec<f64> = comparisons.into_iter().map(Comparison::difference).collect();
        let mut distances: Vec<f64> = signed.iter().map(|d| d.abs()).collect();
        distances.sort_by(f64::total_cmp);
        let rank = (0.95 * distances.len() as f64).ceil() as usize;
        let within = distances.iter().filter(|d| **d <= P95_GOAL).count();
        Some(Line {
            name: name.to_string(),
            cells: signed.len(),
            signed_median: Summary::of(&signed)?.median,
            median: Summary::of(&distances)?.median,
            p95: *distances.get(rank.checked_sub(1)?)?,
            within: within as f64 / signed.len() as f64,
        })
    }

    /// Whether the cells are as near as is aimed at.
    pub fn is_met(&self) -> bool {
        self.median <= MEDIAN_GOAL && self.p95 <= P95_GOAL
    }
}

/// One line for each algorithm in order of first appearance in `names`, and one for all.
pub fn lines(names: &[&str], comparisons: &[Comparison]) -> Vec<Line> {
    let of = |name: &str| {
        let mine = comparisons.iter().filter(|c| c.cell.algorithm.id == name);
        Line::of(name, mine)
    };
    let mut lines: Vec<Line> = names.iter().copied().filter_map(of).collect();
    lines.extend(Line::of("all", comparisons));
    lines
}

#[cfg(test)]
mod tests {
    use super::super::algorithms::ALGORITHMS;
    use super::*;

    fn apart(by: f64) -> Comparison {
        let cell = Cell::grid(&[&ALGORITHMS[0]], true)[0];
        let means = |goodput_bps| Means { goodput_bps, ..Means::default() };
        Comparison { cell, kernel: means(1e6), ours: means(1e6 * (1.0 + by)) }
    }

    #[test]
    fn a_line_tells_distance_from_direction() {
        let cells: Vec<Comparison> = [-0.04, -0.02, 0.01, 0.2].map(apart).to_vec();
        let line = Line::of("reno", &cells).expect("a line");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(line.signed_median, -0.005);
        near(line.median, 0.03);
        near(line.p95, 0.2);
        near(line.within, 0.75);
        assert!(!line.is_met());
    }

    #[test]
    fn one_cell_in_twenty_may_be_far_off() {
        let mut cells = vec![apart(0.01); 19];
        cells.push(apart(-0.9));
        let line = Line::of("all", &cells).expect("a line");
        assert!(line.is_met(), "{line:?}");
        cells.push(apart(0.9));
        assert!(!Line::of("all", &cells).expect("a line").is_met());
    }

    #[test]
    fn without_cells_there_is_no_line() {
        assert_eq!(Line::of("all", &[]), None);
        assert!(lines(&["reno"], &[]).is_empty());
    }
}
