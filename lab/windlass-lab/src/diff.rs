//! Compares two folders of results: the equal runs, the metrics that differ significantly, and the verdicts
//! that changed. The folders may come from two versions, two settings or two backends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::Error;
use crate::report::model::{Row, Table};
use crate::report::numbers::number;
use crate::run::RunRecord;
use crate::run::store::{Batch, JOURNAL};
use crate::stats::multiple::holm;
use crate::stats::paired::t_test;
use crate::sweep::Measure;

/// Metrics that are compared by default.
const USUAL: [&str; 5] = [
    "flow.*.goodput_bps",
    "flow.*.loss_rate",
    "flow.*.retransmits",
    "flow.*.rto_count",
    "flow.*.srtt_ms",
];
/// Familywise error rate of all comparisons.
const ALPHA: f64 = 0.05;
/// Maximum number of rows in a table. A note counts the other rows.
const MOST_ROWS: usize = 25;

/// Runs by point and seed. If a folder has one backend only, the point leaves out the backend, so that backends can be
/// compared with each other.
type Runs = BTreeMap<(String, u64), RunRecord>;

/// Comparison of two folders.
#[derive(Debug)]
pub struct Diff {
    /// Pairs of runs that both folders have, by point.
    points: BTreeMap<String, Vec<(RunRecord, RunRecord)>>,
    only: [usize; 2],
    verdicts: Vec<[String; 3]>,
}

/// Difference of a metric's means at a point.
struct Moved {
    point: String,
    metric: String,
    means: [f64; 2],
    interval: Option<[f64; 2]>,
    n: usize,
    p: f64,
}

impl Diff {
    /// Reads two folders.
    ///
    /// # Errors
    ///
    /// A folder has no runs, or cannot be read.
    pub fn read(a: &Path, b: &Path) -> Result<Diff, Error> {
        let (first, mut second) = (runs(a)?, runs(b)?);
        let mut points: BTreeMap<String, Vec<_>> = BTreeMap::new();
        let mut only = [0, 0];
        for ((point, seed), record) in first {
            match second.remove(&(point.clone(), seed)) {
                Some(other) => points.entry(point).or_default().push((record, other)),
                None => only[0] += 1,
            }
        }
        only[1] = second.len();
        Ok(Diff { points, only, verdicts: changed(&verdicts(a)?, &verdicts(b)?) })
    }

    /// True if both folders have the same runs, equal in every field, and no verdict changed.
    pub fn is_same(&self) -> bool {
        self.only == [0, 0] && self.pairs().all(|(a, b)| same(a, b)) && self.verdicts.is_empty()
    }

    fn pairs(&self) -> impl Iterator<Item = &(RunRecord, RunRecord)> {
        self.points.values().flatten()
    }

    /// Text with the numbers of common runs, of equal runs, and of runs that only one folder has.
    pub fn summary(&self) -> String {
        let (pairs, equal) =
            (self.pairs().count(), self.pairs().filter(|(a, b)| same(a, b)).count());
        let mut text = format!("{pairs} runs in both; {equal} are the same in every field");
        for (count, side) in self.only.iter().zip(["first", "second"]) {
            if *count > 0 {
                text.push_str(&format!("; {count} in the {side} only"));
            }
        }
        text
    }

    /// Tables of the metrics whose means differ significantly, and of the verdicts that changed. The first
    /// table has a note with the number of comparisons.
    pub fn tables(&self, metrics: &[Measure]) -> Result<Vec<Table>, Error> {
        let usual: Result<Vec<Measure>, _> =
            USUAL.iter().map(|path| Measure::parse(path)).collect();
        let usual = usual.map_err(Error::Input)?;
        let metrics = if metrics.is_empty() { &usual[..] } else { metrics };
        let mut all = vec![self.moved(metrics)];
        if !self.verdicts.is_empty() {
            let rows =
                self.verdicts.iter().map(|cells| Row { cells: cells.to_vec(), ..Row::default() });
            all.push(Table {
                id: "verdicts".to_owned(),
                caption: "Verdicts that changed".to_owned(),
                columns: ["claim", "first", "second"].map(str::to_owned).to_vec(),
                rows: rows.collect(),
                ..Table::default()
            });
        }
        Ok(all)
    }

    fn moved(&self, metrics: &[Measure]) -> Table {
        let compared: Vec<Moved> = self
            .points
            .iter()
            .flat_map(|(point, pairs)| metrics.iter().filter_map(|m| compare(point, pairs, m)))
            .collect();
        let p: Vec<f64> = compared.iter().map(|m| m.p).collect();
        let rejected = holm(&p, ALPHA);
        let mut moved: Vec<&Moved> = compared
            .iter()
            .zip(rejected)
            .filter(|(_, holm)| holm.rejected)
            .map(|(m, _)| m)
            .collect();
        moved.sort_by(|a, b| b.share().total_cmp(&a.share()));
        let mut notes = vec![format!(
            "{} of {} comparisons differ significantly: differences paired by seed, 95 % intervals of the mean, 5 % level \
             with Holm's correction over all comparisons.",
            moved.len(),
            compared.len()
        )];
        if moved.len() > MOST_ROWS {
            notes.push(format!("The {MOST_ROWS} largest are shown."));
        }
        Table {
            id: "moved".to_owned(),
            caption: "Metrics that differ".to_owned(),
            columns: ["point", "metric", "runs", "first", "second", "difference"]
                .map(str::to_owned)
                .to_vec(),
            rows: moved.into_iter().take(MOST_ROWS).map(Moved::row).collect(),
            notes,
        }
    }
}

impl Moved {
    /// Absolute difference as a share of the first mean.
    fn share(&self) -> f64 {
        let [a, b] = self.means;
        if a == 0.0 { f64::INFINITY } else { ((b - a) / a).abs() }
    }

    fn row(&self) -> Row {
        let [a, b] = self.means;
        let difference = match self.interval {
            Some([low, high]) if a != 0.0 => {
                let percent = |x: f64| 100.0 * x / a.abs();
                format!("{:+.1} % [{:+.1}, {:+.1}]", percent(b - a), percent(low), percent(high))
            }
            Some([low, high]) => format!("{:+.4} [{low:+.4}, {high:+.4}]", b - a),
            None => format!("{:+.4}", b - a),
        };
        let cells =
            [&self.point, &self.metric, &self.n.to_string(), &number(a), &number(b), &difference];
        Row { cells: cells.map(Clone::clone).to_vec(), ..Row::default() }
    }
}

/// Compares a metric at a point. `None` if a run does not have the metric.
fn compare(point: &str, pairs: &[(RunRecord, RunRecord)], metric: &Measure) -> Option<Moved> {
    let values: Option<Vec<(f64, f64)>> =
        pairs.iter().map(|(a, b)| Some((metric.of(a)?, metric.of(b)?))).collect();
    let values = values?;
    let n = values.len();
    let mean = |of: fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / n as f64;
    let differences: Vec<f64> = values.iter().map(|(a, b)| b - a).collect();
    let test = t_test(&differences, 1.0 - ALPHA);
    // One pair allows no test, so that any difference counts as significant.
    let p = test.map_or(f64::from(u8::from(differences.iter().all(|d| *d == 0.0))), |test| test.p);
    Some(Moved {
        point: point.to_owned(),
        metric: metric.path().to_owned(),
        means: [mean(|(a, _)| *a), mean(|(_, b)| *b)],
        interval: test.map(|test| test.ci),
        n,
        p,
    })
}

/// True if two runs have equal results, regardless of version, backend and kernel.
fn same(a: &RunRecord, b: &RunRecord) -> bool {
    let bare = |r: &RunRecord| RunRecord {
        version: String::new(),
        point: String::new(),
        world: String::new(),
        kernel: None,
        scenario_hash: String::new(),
        ..r.clone()
    };
    bare(a) == bare(b)
}

fn runs(dir: &Path) -> Result<Runs, Error> {
    if !dir.join(JOURNAL).is_file() && !dir.join("parts").is_dir() {
        return Err(Error::Input(format!("{} holds no runs: it has no {JOURNAL}", dir.display())));
    }
    let (batch, _) = Batch::share(dir)?;
    let worlds: BTreeSet<&str> = batch.records().iter().map(|r| r.world.as_str()).collect();
    let one_world = worlds.len() <= 1;
    let place = |record: &RunRecord| {
        let labels =
            record.point.split(',').filter(|label| !(one_world && label.starts_with("on=")));
        let point: Vec<&str> = labels.filter(|label| *label != "all").collect();
        let place = [&[record.experiment.as_str()], &point[..]].concat().join(" ");
        (place, record.seed)
    };
    Ok(batch.records().iter().map(|record| (place(record), record.clone())).collect())
}

#[derive(Deserialize)]
struct Judged {
    id: String,
    verdict: String,
}

/// The verdicts of a paper's folder. Empty if the folder has no verdicts.
fn verdicts(dir: &Path) -> Result<BTreeMap<String, String>, Error> {
    let path = dir.join("verdicts.json");
    let Ok(text) = fs::read_to_string(&path) else { return Ok(BTreeMap::new()) };
    let judged: Vec<Judged> = serde_json::from_str(&text)
        .map_err(|e| Error::Input(format!("{} cannot be read: {e}", path.display())))?;
    Ok(judged.into_iter().map(|j| (j.id, j.verdict)).collect())
}

fn changed(a: &BTreeMap<String, String>, b: &BTreeMap<String, String>) -> Vec<[String; 3]> {
    let moved = a.iter().filter_map(|(id, was)| Some((id, was, b.get(id)?)));
    moved
        .filter(|(_, was, is)| was != is)
        .map(|(id, was, is)| [id.clone(), was.clone(), is.clone()])
        .collect()
}
