//! How long runs take: time left, the slowest point, what a sweep will cost.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use std::io::Write;

use crate::run::store::{StoreError, replace};

/// Name of the file that keeps it, beside the journal. It holds nothing that results depend on.
const FILE: &str = "pace.json";

/// Time that runs took, by the hash of their scenario.
type Times = BTreeMap<String, Took>;

/// What is known of the time that runs take.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pace {
    /// Of the runs in all folders, the others' shards among them.
    all: Times,
    /// Of the runs that this process's folder holds: what is written there.
    own: Times,
}

/// Time that the runs of one point took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Took {
    runs: u64,
    seconds: f64,
}

impl Pace {
    /// What is known from earlier calls that worked in these folders, of which `own` is this one's.
    pub(super) fn read<'a>(
        own: Option<&Path>,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> Pace {
        let mut pace = Pace::default();
        for folder in folders {
            // An estimate is not worth a failure.
            let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
            let kept: Times = serde_json::from_str(&text).unwrap_or_default();
            for (hash, took) in &kept {
                add(&mut pace.all, hash, *took);
            }
            if own == Some(folder) {
                pace.own = kept;
            }
        }
        pace
    }

    /// Keeps what took place in its folder there.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        replace(folder, FILE, |out| {
            serde_json::to_writer_pretty(&mut *out, &self.own)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }

    /// A run of the scenario with this hash took so long.
    pub(super) fn took(&mut self, hash: &str, time: Duration) {
        let took = Took { runs: 1, seconds: time.as_secs_f64() };
        add(&mut self.all, hash, took);
        add(&mut self.own, hash, took);
    }

    /// Mean seconds of a run, if one is known.
    pub(super) fn of(&self, hash: &str) -> Option<f64> {
        self.all.get(hash).filter(|t| t.runs > 0).map(|t| t.seconds / t.runs as f64)
    }

    /// Processor seconds of these runs, each `(hash, runs)`; points that nothing is known of are
    /// taken for as slow as the mean of the others. `None` when nothing is known of any.
    pub(super) fn cost<'a>(
        &self,
        wanted: impl IntoIterator<Item = (&'a str, u64)> + Clone,
    ) -> Option<f64> {
        let known: Vec<f64> = wanted.clone().into_iter().filter_map(|(h, _)| self.of(h)).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let seconds = |(hash, runs): (&str, u64)| self.of(hash).unwrap_or(mean) * runs as f64;
        (!known.is_empty()).then(|| wanted.into_iter().map(seconds).sum())
    }
}

fn add(times: &mut Times, hash: &str, more: Took) {
    let took = times.entry(hash.to_owned()).or_default();
    took.runs += more.runs;
    took.seconds += more.seconds;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_nothing_is_known_of_cost_the_mean_of_the_others() {
        let mut pace = Pace::default();
        assert_eq!(pace.cost([("a", 3)]), None);
        pace.took("a", Duration::from_secs(1));
        pace.took("a", Duration::from_secs(3));
        pace.took("b", Duration::from_secs(4));
        assert_eq!(pace.of("a"), Some(2.0));
        assert_eq!(pace.cost([("a", 3), ("b", 1), ("c", 2)]), Some(6.0 + 4.0 + 6.0));
        assert_eq!(pace.cost([]), None);
    }

    /// Shards that are started again and again know of each other and keep only their own.
    #[test]
    fn each_folder_keeps_its_own_runs_and_all_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["x", "y", "none"].map(|name| dir.path().join(name));
        let all = || folders.iter().map(|f| f.as_path());
        for (seconds, own) in [(2, 0), (5, 1), (2, 0), (5, 1)] {
            let mut pace = Pace::read(Some(&folders[own]), all());
            pace.took("a", Duration::from_secs(seconds));
            pace.write(&folders[own]).unwrap();
        }
        let known = Pace::read(None, all());
        assert_eq!(known.all["a"], Took { runs: 4, seconds: 14.0 });
        assert_eq!(known.of("a"), Some(3.5));
        assert_eq!(known.own, Times::new());
    }
}
