//! Comparison of several algorithms on one scenario: the ranking, and the harm of each algorithm to each other one.
//!
//! Every algorithm runs over the same network with the same seeds (common random numbers). Link losses, start times
//! and all other random values that do not belong to the algorithm are the same. A difference between two runs with
//! the same seed is therefore caused by the algorithm. All results are statistics of such paired differences.
//!
//! # Runs
//!
//! The *compared flows* are the scenario's TCP flows, or the named flows. Other flows keep their algorithms as
//! background. With algorithms A, B, ...:
//!
//! - All compared flows run A ([`Cast::All`]). The [`ranking`] uses these runs.
//! - Half of them run A, half B ([`Cast::Mix`]). Flows alternate in the order of the scenario. Both assignments
//!   run, so that each algorithm runs in each flow's position.
//! - Half of them run A, and the other half is absent ([`Cast::Alone`]).
//!
//! If a scenario has a single compared flow, the mixtures get a copy of it.
//!
//! # Harm
//!
//! Harm is defined by R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, "Beyond Jain's fairness index: setting the
//! bar for the deployment of congestion control algorithms", HotNets 2019. `x` is the performance of B alone, and
//! `y` its performance in competition with A. A's harm to B is `(x − y) / x` if more is better and `(y − x) / y` if
//! less is better. It is 0 if A has no effect on B, 1 if B gets nothing, and negative if B does better.
//!
//! Two flows on one link always harm each other. The limit is therefore B's harm to itself: A is acceptable if it
//! harms B no more than B does ([`harm`]).
//!
//! # Statistics
//!
//! Intervals of means are Student's. Differences are compared in pairs by seed ([`stats::paired`]), with Holm's
//! correction over the family of all comparisons of one measure ([`stats::multiple`]). Without a baseline, the
//! family has *all* pairs of algorithms, because the best algorithm is chosen after the measurement.
//!
//! [`stats::paired`]: crate::stats::paired
//! [`stats::multiple`]: crate::stats::multiple

mod ask;
mod cast;
mod charts;
pub mod files;
pub mod harm;
mod measure;
mod page;
pub mod ranking;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;

use crate::run::{RunRecord, Task, World};
use crate::scenario::{Candidate, Scenario};

pub use ask::Request;
pub use cast::{Cast, Flows, FlowsError, Side};
pub use harm::Harm;
pub use measure::{HARMED, Measure};
pub use page::report;
pub use ranking::Ranking;
pub use text::text;

/// Familywise error of all decisions; one minus it is the confidence of all intervals.
pub const ALPHA: f64 = 1.0 - crate::stats::CONFIDENCE;

/// A comparison, ready to run.
#[derive(Clone, Debug)]
pub struct Question {
    /// The network and its flows.
    pub scenario: Scenario,
    /// The algorithms, at least two.
    pub candidates: Vec<Candidate>,
    /// The flows that run them.
    pub flows: Flows,
    /// Replications, over consecutive seeds from the scenario's own.
    pub seeds: u64,
    /// Position in `candidates` of the algorithm that the others are compared with; `None` for the best one.
    pub baseline: Option<usize>,
    /// Measure of the printed ranking.
    pub measure: Measure,
    /// True if mixtures also run, to measure the harm between algorithms.
    pub harm: bool,
    /// Backend of the runs.
    pub world: World,
}

/// Results of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// Name of the scenario.
    pub scenario: String,
    /// Hash of the given scenario.
    pub scenario_hash: String,
    /// Version of Windlass.
    pub version: String,
    /// Backend of the runs.
    pub world: String,
    /// Release of the kernel that they ran on, if they ran on a kernel.
    pub kernel: Option<String>,
    /// Simulated time of a run, seconds.
    pub duration_s: f64,
    /// Seeds of the replications.
    pub seeds: Vec<u64>,
    /// Names of the compared flows.
    pub flows: Vec<String>,
    /// The algorithms as they were named, in that order.
    pub algorithms: Vec<String>,
    /// Measure of the printed ranking.
    pub measure: Measure,
    /// True if no run depends on its seed. Every interval then has the width zero.
    pub seedless: bool,
    /// One ranking for each measure that the scenario has, the printed one first.
    pub rankings: Vec<Ranking>,
    /// Harm between algorithms, one entry for each measure of harm; empty if it was not requested.
    pub harm: Vec<Harm>,
}

impl Question {
    /// Every run that the answer needs, the runs of the ranking first.
    pub fn tasks(&self) -> Vec<Task> {
        let all = self.candidates.len();
        let casts = cast::all(all, &self.flows, self.harm);
        casts.into_iter().flat_map(|cast| self.replications(cast)).collect()
    }

    fn replications(&self, cast: Cast) -> impl Iterator<Item = Task> {
        let scenario = std::sync::Arc::new(cast.scenario(self));
        let scenario_hash: std::sync::Arc<str> = self.world.hash(&scenario).into();
        let (point, world) = (self.point(cast), self.world);
        self.seeds().map(move |seed| Task {
            experiment: scenario.name.clone(),
            point: point.clone(),
            seed,
            scenario: scenario.clone(),
            scenario_hash: scenario_hash.clone(),
            world,
        })
    }

    fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.scenario.seed;
        (0..self.seeds).map(move |i| first + i)
    }

    /// Identifier of the runs with this assignment.
    pub fn point(&self, cast: Cast) -> String {
        let mut point = cast.id(&self.candidates);
        if self.world != World::Sim {
            point += &format!(",on={}", self.world);
        }
        point
    }

    /// The runs with this assignment in order of seed; `None` if a run is missing.
    fn runs<'a>(&self, records: &'a [RunRecord], cast: Cast) -> Option<Vec<&'a RunRecord>> {
        let point = self.point(cast);
        let mut runs: Vec<&RunRecord> = records.iter().filter(|r| r.point == point).collect();
        runs.sort_by_key(|r| r.seed);
        self.seeds().eq(runs.iter().map(|r| r.seed)).then_some(runs)
    }

    /// The answer from the runs of [`Question::tasks`], in any order.
    pub fn answer(&self, records: &[RunRecord]) -> Findings {
        let paths = measure::paths(&self.scenario, &self.flows);
        let mut measures: Vec<Measure> = Measure::ALL.iter().map(|(_, m)| *m).collect();
        measures.sort_by_key(|m| *m != self.measure);
        // Between algorithms the bytes repeat the retransmissions; between settings they are an answer.
        let settings = self.candidates.iter().any(|c| c.setting.is_some());
        measures.retain(|m| *m != Measure::Bytes || settings || *m == self.measure);
        let rankings = measures.into_iter().filter_map(|m| ranking::of(self, records, &paths, m));
        let harm = HARMED.iter().filter_map(|m| harm::of(self, records, &paths, *m));
        Findings {
            scenario: self.scenario.name.clone(),
            scenario_hash: self.scenario.hash(),
            version: self.world.version().to_owned(),
            world: self.world.to_string(),
            kernel: records.first().and_then(|r| r.kernel.clone()),
            duration_s: self.scenario.duration.as_nanos() as f64 / 1e9,
            seeds: self.seeds().collect(),
            flows: self.flows.names(&self.scenario),
            algorithms: self.candidates.iter().map(|c| c.label.clone()).collect(),
            measure: self.measure,
            seedless: self.is_seedless(records),
            rankings: rankings.collect(),
            harm: if self.harm { harm.collect() } else { Vec::new() },
        }
    }

    /// The runs in which all compared flows run this candidate; empty if one is missing.
    pub(crate) fn runs_of<'a>(
        &self,
        records: &'a [RunRecord],
        candidate: usize,
    ) -> Vec<&'a RunRecord> {
        self.runs(records, Cast::All(candidate)).unwrap_or_default()
    }

    /// Values of the printed measure if all compared flows run this candidate, in order of seed; empty if a run has
    /// no value.
    pub(crate) fn values(&self, records: &[RunRecord], candidate: usize) -> Vec<f64> {
        let paths = measure::paths(&self.scenario, &self.flows);
        let compared: Vec<&measure::Path> = paths.iter().take(self.flows.indices().len()).collect();
        let runs = self.runs(records, Cast::All(candidate)).unwrap_or_default();
        let values = runs.into_iter().map(|run| self.measure.of(run, &compared));
        values.collect::<Option<Vec<f64>>>().unwrap_or_default()
    }

    /// True if all seeds gave the same results with each algorithm alone on all compared flows, and there is more
    /// than one seed.
    fn is_seedless(&self, records: &[RunRecord]) -> bool {
        let of = |a: usize| self.runs(records, Cast::All(a)).unwrap_or_default();
        let same = |runs: Vec<&RunRecord>| {
            runs.windows(2).all(|w| w[0].flows == w[1].flows && w[0].links == w[1].links)
        };
        self.seeds > 1 && (0..self.candidates.len()).all(|a| same(of(a)))
    }
}
