//! Common functions of the tests of papers.

use std::path::Path;
use std::sync::Arc;

use windlass_lab::claims::Claim;
use windlass_lab::experiment::{FileError, Plan};
use windlass_lab::papers::Paper;
use windlass_lab::reproduce::{Options, Outcome, Reproduction};
use windlass_lab::run::store::Format;
use windlass_lab::run::{RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;

/// A paper with its plan and claims.
pub struct Setup {
    pub paper: &'static Paper,
    pub plan: Plan,
    pub claims: Vec<Claim>,
}

/// The paper with this identifier. Upper and lower case are equal.
pub fn setup(id: &str) -> Setup {
    let paper = Paper::by_id(id).expect("the paper is built in");
    let plan = paper.plan().unwrap_or_else(|e| panic!("{e}"));
    let claims = paper.parsed_claims().unwrap_or_else(|e| panic!("{e}"));
    Setup { paper, plan, claims }
}

impl Setup {
    /// The scenario of a point with more overrides.
    pub fn scenario_at(&self, experiment: &str, point: &str, more: &[(&str, &str)]) -> Scenario {
        let found = self.plan.experiment(experiment).expect("known experiment");
        let point = found.points().into_iter().find(|p| p.id == point).expect("known point");
        let mut overrides = point.overrides;
        overrides.extend(more.iter().map(|(k, v)| (k.to_string(), v.to_string())));
        let text = self.paper.scenario(&found.scenario).expect("its scenario");
        Scenario::with_overrides(text, &found.scenario, &overrides)
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// A run of a point with more overrides.
    pub fn run_at(
        &self,
        experiment: &str,
        point: &str,
        more: &[(&str, &str)],
        seed: u64,
    ) -> RunRecord {
        let scenario = self.scenario_at(experiment, point, more);
        let task = Task {
            experiment: experiment.to_owned(),
            point: point.to_owned(),
            seed,
            scenario_hash: scenario.hash().into(),
            scenario: Arc::new(scenario),
            world: World::Sim,
        };
        task.record(&Runner::new(1).run(&task).expect("it runs"))
    }
}

/// Errors of a check, one per line.
pub fn said(errors: &[FileError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
}

/// Budget of a quick reproduction in these tests, seconds.
const QUICK: f64 = 4.0;

/// A quick reproduction in a folder.
pub fn quick(paper: &Paper, dir: &Path) -> Outcome {
    within(paper, dir, QUICK)
}

/// A reproduction in a folder with a budget in seconds.
pub fn within(paper: &Paper, dir: &Path, seconds: f64) -> Outcome {
    let command = "windlass reproduce".to_owned();
    let options = Options {
        budget: Some(seconds),
        seeds: None,
        on: vec![],
        shard: None,
        out: dir.to_path_buf(),
        command,
    };
    let mut work = Reproduction::prepare(paper, &options).unwrap_or_else(|e| panic!("{e}"));
    let runner = Runner::new(0);
    work.work(&runner, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    work.conclude(&[Format::Parquet], &runner).unwrap_or_else(|e| panic!("{e}"))
}
