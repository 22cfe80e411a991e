//! The durations of runs, for the time left, the slowest point and the cost of a sweep.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use std::io::Write;

use crate::run::store::{StoreError, replace};

/// Name of the file with the durations, in the folder of the journal. No result depends on it.
const FILE: &str = "pace.json";

/// Durations of runs, by the hash of their scenario.
type Times = BTreeMap<String, Took>;

/// The known durations of runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pace(Times);

/// Total duration of the runs of one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Took {
    runs: u64,
    seconds: f64,
}

impl Pace {
    /// Durations from earlier calls in this folder.
    pub(super) fn read(folder: &Path) -> Pace {
        // A missing or unreadable file is no error, because it only serves estimates.
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        Pace(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Writes the file. If several processes write it, the last write remains.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        replace(folder, FILE, |out| {
            serde_json::to_writer_pretty(&mut *out, &self.0)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }

    /// Adds the duration of a run of the scenario with this hash.
    pub(super) fn took(&mut self, hash: &str, time: Duration) {
        let took = self.0.entry(hash.to_owned()).or_default();
        took.runs += 1;
        took.seconds += time.as_secs_f64();
    }

    /// Mean duration of the scenario's runs, seconds; `None` if unknown.
    pub(super) fn of(&self, hash: &str) -> Option<f64> {
        self.0.get(hash).filter(|t| t.runs > 0).map(|t| t.seconds / t.runs as f64)
    }

    /// Processor seconds of these runs, each `(hash, runs)`. A point without a known duration counts with the mean
    /// of the others. `None` if no duration is known.
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
    fn a_point_without_a_known_duration_costs_the_mean_of_the_others() {
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
    fn durations_of_consecutive_calls_are_added() {
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
