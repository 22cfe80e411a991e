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
pub(super) struct Pace(Times);

/// Time that the runs of one point took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Took {
    runs: u64,
    seconds: f64,
}

impl Pace {
    /// What is known from earlier calls that worked in this folder.
    pub(super) fn read(folder: &Path) -> Pace {
        // An estimate is not worth a failure.
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        Pace(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Keeps it there; of several processes at work the last has its way.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        replace(folder, FILE, |out| {
            serde_json::to_writer_pretty(&mut *out, &self.0)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }

    /// A run of the scenario with this hash took so long.
    pub(super) fn took(&mut self, hash: &str, time: Duration) {
        let took = self.0.entry(hash.to_owned()).or_default();
        took.runs += 1;
        took.seconds += time.as_secs_f64();
    }

    /// Mean seconds of a run, if one is known.
    pub(super) fn of(&self, hash: &str) -> Option<f64> {
        self.0.get(hash).filter(|t| t.runs > 0).map(|t| t.seconds / t.runs as f64)
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

    #[test]
    fn calls_one_after_the_other_add_to_what_is_known() {
        let dir = tempfile::tempdir().unwrap();
        for seconds in [2, 5, 2, 5] {
            let mut pace = Pace::read(dir.path());
            pace.took("a", Duration::from_secs(seconds));
            pace.write(dir.path()).unwrap();
        }
        let known = Pace::read(dir.path());
        assert_eq!(known.0["a"], Took { runs: 4, seconds: 14.0 });
        assert_eq!(known.of("a"), Some(3.5));
    }
}
