//! The summary of the runs of each point.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Bound;

use super::plan::PlannedPoint;
use super::work::{Standing, Sweep};
use crate::run::RunRecord;
use crate::run::store::export::{Provenance, write};
use crate::run::store::{Column, Format, Table, Values};
use crate::stats::bootstrap::{self, Options};
use crate::stats::sequential::Rule;
use crate::stats::share::{Range, mean_interval};
use crate::stats::{CONFIDENCE, Summary};

/// A metric at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Position of the point in the plan.
    pub point: usize,
    /// Position of the metric in the plan.
    pub measure: usize,
    /// Number of counted runs.
    pub runs: u64,
    /// Number of counted runs without a value.
    pub without: u64,
    /// Summary of the values; `None` without any value.
    pub summary: Option<Summary>,
    /// 95 % interval of the mean.
    pub ci95: Option<[f64; 2]>,
    /// Method of the interval.
    pub method: Method,
    /// Status of the point.
    pub standing: Standing,
}

/// Method of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's t.
    Student,
    /// Percentile-t bootstrap, for skewed values.
    BootstrapT,
    /// Student's t of the transformed mean, if Student's interval of the mean would contain impossible values.
    Bounded,
    /// Exact interval of a share of counted events, with the runs as clusters, if Student's interval would
    /// contain impossible values or no event was seen.
    Exact,
    /// Student's t at the confidence of an interim analysis, for a number of runs that depends on the values.
    Sequential,
}

impl Method {
    /// The methods that tables mark.
    pub(super) const MARKED: [Method; 3] = [Method::BootstrapT, Method::Bounded, Method::Exact];

    /// Letter after an interval; empty for the common methods.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Method::BootstrapT => "b",
            Method::Bounded => "t",
            Method::Exact => "e",
            Method::Student | Method::Sequential => "",
        }
    }

    /// Explanation of the letter.
    pub(super) fn note(self) -> &'static str {
        match self {
            Method::BootstrapT => "interval by percentile-t bootstrap, as the values are skewed",
            Method::Bounded => {
                "interval of the transformed mean, which contains only possible values"
            }
            Method::Exact => "exact interval of counted events, with each run as one cluster",
            Method::Student | Method::Sequential => "",
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Method::Student => "student",
            Method::BootstrapT => "bootstrap-t",
            Method::Bounded => "bounded",
            Method::Exact => "exact",
            Method::Sequential => "sequential",
        }
    }
}

impl Standing {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Complete => "complete",
            Standing::Narrow => "narrow",
            Standing::AtMost => "not-narrow",
            Standing::Unfinished => "unfinished",
        }
    }
}

impl Sweep {
    /// The counted runs of each point, with its status.
    pub(super) fn counted(&self) -> Vec<(&PlannedPoint, Standing, Vec<&RunRecord>)> {
        let each = self.plan.points.iter().zip(self.standings());
        each.map(|(point, (standing, n))| (point, standing, self.records(point, n))).collect()
    }

    /// Every metric at every point.
    pub fn cells(&self) -> Vec<Cell> {
        let sequential = !self.plan.goals.is_empty();
        let mut cells = Vec::new();
        for (point, (_, standing, records)) in self.counted().into_iter().enumerate() {
            for (measure, m) in self.plan.measures.iter().enumerate() {
                let values: Vec<f64> = records.iter().filter_map(|r| m.of(r)).collect();
                let summary = Summary::of(&values);
                let longest_s = records.iter().map(|r| r.end_s).fold(0.0, f64::max);
                let events = records.iter().map(|r| m.events(r)).sum::<Option<f64>>();
                let (method, ci95) = interval(&values, m.range(longest_s), events, sequential);
                let (runs, with) = (records.len() as u64, values.len() as u64);
                let without = runs - with;
                cells.push(Cell { point, measure, runs, without, summary, ci95, method, standing });
            }
        }
        cells
    }

    /// Metrics that have no value at any point.
    pub fn empty_measures(&self, cells: &[Cell]) -> Vec<&str> {
        let measures = self.plan.measures.iter().enumerate();
        let empty = |i: usize| cells.iter().all(|c| c.measure != i || c.summary.is_none());
        measures.filter(|(i, _)| empty(*i)).map(|(_, m)| m.path()).collect()
    }

    /// True if the folder's `points.csv` has a row that this sweep's table will not have. The file is then from
    /// another sweep.
    ///
    /// # Errors
    ///
    /// The table cannot be made.
    pub fn replaces_another(&self) -> std::io::Result<bool> {
        let Ok(earlier) = std::fs::read_to_string(self.campaign.batch().dir().join("points.csv"))
        else {
            return Ok(false);
        };
        let blank = |point, measure| Cell {
            point,
            measure,
            runs: 0,
            without: 0,
            summary: None,
            ci95: None,
            method: Method::Student,
            standing: Standing::Unfinished,
        };
        let all = 0..self.plan.points.len();
        let cells: Vec<Cell> =
            all.flat_map(|p| (0..self.plan.measures.len()).map(move |m| blank(p, m))).collect();
        let mut table = self.table(&cells);
        // Point, axes and metric identify a row.
        table.columns.truncate(self.plan.axes.len() + 2);
        let mut text = Vec::new();
        write(&mut text, Format::Csv, [table], &Provenance::default())?;
        let text = String::from_utf8_lossy(&text);
        let rows: BTreeSet<String> = text.lines().map(|line| format!("{line},")).collect();
        let known = |line: &str| {
            let before =
                rows.range::<str, _>((Bound::Unbounded, Bound::Included(line))).next_back();
            before.is_some_and(|row| line.starts_with(row.as_str()))
        };
        Ok(!earlier.lines().all(known))
    }

    /// The table `points`: one row per point and metric.
    pub fn table(&self, cells: &[Cell]) -> Table {
        let mut columns = vec![text("point", "Point of the sweep: axis=label pairs", cells, |c| {
            self.plan.points[c.point].point.id.clone()
        })];
        for (i, axis) in self.plan.axes.iter().enumerate() {
            columns.push(Column {
                name: Cow::Owned(column_name(&axis.name)),
                meaning: "Label of the point on the axis of this name",
                values: Values::Text(
                    cells
                        .iter()
                        .map(|c| Some(self.plan.points[c.point].point.coordinates[i].1.clone()))
                        .collect(),
                ),
            });
        }
        let of = |f: fn(&Summary) -> Option<f64>| {
            move |c: &Cell| c.summary.as_ref().and_then(f).filter(|v| v.is_finite())
        };
        let end = |i: usize| move |c: &Cell| c.ci95.map(|ci| ci[i]).filter(|v| v.is_finite());
        columns.extend([
            text("metric", "Metric", cells, |c| self.plan.measures[c.measure].path().to_owned()),
            integer("runs", "Runs, over consecutive seeds", cells, |c| c.runs),
            integer("runs_without_value", "Counted runs without a value", cells, |c| c.without),
            real("mean", "Mean over the runs, in the metric's unit", cells, of(|s| Some(s.mean))),
            real("ci95_low", "Lower end of the mean's 95 % interval", cells, end(0)),
            real("ci95_high", "Upper end of the mean's 95 % interval", cells, end(1)),
            text("ci95_method", "student, bootstrap-t, bounded, exact or sequential", cells, |c| {
                c.method.name().to_owned()
            }),
            real("sd", "Standard deviation of the runs", cells, of(|s| s.sd)),
            real("median", "Median over the runs", cells, of(|s| Some(s.median))),
            real(
                "ci95_median_low",
                "Lower end of the median's 95 % interval",
                cells,
                of(|s| s.ci95_median.map(|ci| ci[0])),
            ),
            real(
                "ci95_median_high",
                "Upper end of the median's 95 % interval",
                cells,
                of(|s| s.ci95_median.map(|ci| ci[1])),
            ),
            real("min", "Minimum over the runs", cells, of(|s| Some(s.min))),
            real("max", "Maximum over the runs", cells, of(|s| Some(s.max))),
            text("standing", "complete, narrow, not-narrow or unfinished", cells, |c| {
                c.standing.name().to_owned()
            }),
            text("scenario_hash", "Hash of the resolved scenario", cells, |c| {
                self.plan.points[c.point].hash.to_string()
            }),
        ]);
        Table { name: "points", columns }
    }
}

/// The interval of a mean and its method. The interval contains only possible values.
/// `events` is the number of counted events of which the values are shares.
fn interval(
    values: &[f64],
    range: Range,
    events: Option<f64>,
    sequential: bool,
) -> (Method, Option<[f64; 2]>) {
    let student = if sequential {
        let look = Rule::look(values);
        look.half.is_finite().then_some([look.mean - look.half, look.mean + look.half])
    } else {
        if bootstrap::is_advised(values)
            && let Some(ends) = bootstrap::percentile_t(values, Options::default())
            && range.holds(ends)
        {
            return (Method::BootstrapT, Some(ends));
        }
        Summary::of(values).and_then(|s| s.ci95_mean)
    };
    let confidence = if sequential { Rule::LOOK_CONFIDENCE } else { CONFIDENCE };
    match student {
        Some(ends) if !range.accepts(ends, events) => {
            let method = if events.is_some() { Method::Exact } else { Method::Bounded };
            (method, mean_interval(values, range, events, confidence).or(student))
        }
        _ if sequential => (Method::Sequential, student),
        _ => (Method::Student, student),
    }
}

/// Name of an axis's column. It gets a prefix if the table has a column of this name.
fn column_name(axis: &str) -> String {
    const OWN: [&str; 17] = [
        "point",
        "metric",
        "runs",
        "runs_without_value",
        "mean",
        "ci95_low",
        "ci95_high",
        "ci95_method",
        "sd",
        "median",
        "ci95_median_low",
        "ci95_median_high",
        "min",
        "max",
        "standing",
        "scenario_hash",
        "",
    ];
    if OWN.contains(&axis) { format!("axis_{axis}") } else { axis.to_owned() }
}

fn text(
    name: &'static str,
    meaning: &'static str,
    cells: &[Cell],
    f: impl Fn(&Cell) -> String,
) -> Column {
    let values = Values::Text(cells.iter().map(|c| Some(f(c))).collect());
    Column { name: name.into(), meaning, values }
}

fn integer(
    name: &'static str,
    meaning: &'static str,
    cells: &[Cell],
    f: impl Fn(&Cell) -> u64,
) -> Column {
    let values = Values::Integer(cells.iter().map(|c| Some(f(c))).collect());
    Column { name: name.into(), meaning, values }
}

fn real(
    name: &'static str,
    meaning: &'static str,
    cells: &[Cell],
    f: impl Fn(&Cell) -> Option<f64>,
) -> Column {
    let values = Values::Real(cells.iter().map(f).collect());
    Column { name: name.into(), meaning, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_rare_share_contains_only_possible_values() {
        let mut values = vec![0.0; 39];
        values.push(0.03);
        for sequential in [false, true] {
            let (method, ends) = interval(&values, Range::SHARE, None, sequential);
            let [low, high] = ends.expect("an interval");
            assert!(method == Method::Bounded && low > 0.0 && high < 0.01, "{low} {high}");
            let (method, ends) = interval(&values, Range::SHARE, Some(40_000.0), sequential);
            let [low, high] = ends.expect("an interval");
            assert!(method == Method::Exact && low > 0.0 && high < 0.01, "{low} {high}");
        }
        let even: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(interval(&even, Range::POSITIVE, None, false).0, Method::Student);
    }

    #[test]
    fn a_share_of_zero_in_all_runs_has_the_exact_interval_of_its_events() {
        let (method, ends) = interval(&[0.0; 10], Range::SHARE, Some(6_710.0), false);
        assert_eq!((method, ends), (Method::Exact, crate::stats::share::exact(0, 6_710)));
        assert_eq!(interval(&[0.0; 10], Range::SHARE, None, false).1, Some([0.0, 0.0]));
    }

    /// Two runs of 100 s with maxima of 1 ms and 90 s.
    #[test]
    fn the_interval_of_a_latency_ends_within_the_run() {
        let [low, high] = interval(&[1.0, 90_000.0], Range::up_to(1e5), None, false).1.unwrap();
        assert!(low > 0.0 && high < 1e5, "{low} {high}");
    }
}
