//! The runs with time series, for figures and for the quantities of claims.

use std::sync::Arc;

use windlass_sim::RunResult;

use super::Reproduction;
use super::error::ReproduceError;
use super::tasks::load;
use super::traces::{Asked, Told, Traced};
use crate::claims::Claim;
use crate::experiment::TraceRequest;
use crate::papers::{Trace, Traces};
use crate::run::store::{Place, Provenance, SeriesRun, StoreError};
use crate::run::{RunRecord, Runner, VERSION, form, simulate};
use crate::scenario::Scenario;

impl Reproduction<'_> {
    /// Makes the runs whose series and packets the figures show. The runs are deterministic, so that
    /// only their series are stored. The second result is the error if they could not be stored.
    pub(super) fn trace(&self) -> Result<(Traces, Result<(), StoreError>), ReproduceError> {
        let (mut traces, mut kept) = (Traces::new(), Ok(()));
        let records = self.records();
        for request in &self.plan.traces {
            let scenario = self.traced_scenario(request)?;
            let seed = self.plan.shown_seed(request, &records);
            let result = simulate(&scenario, seed)?;
            kept = kept.and(self.keep_series((request, seed), &scenario, &result));
            traces.insert(request.id.clone(), Trace::of(seed, result));
        }
        Ok((traces, kept))
    }

    /// The quantities of the traced runs.
    pub(super) fn traced(
        &self,
        records: &[RunRecord],
        runner: &Runner,
    ) -> Result<Told, ReproduceError> {
        let scenario = |request| Ok(Arc::new(self.traced_scenario(request)?));
        let scenarios: Vec<Arc<Scenario>> =
            self.plan.traces.iter().map(scenario).collect::<Result<_, ReproduceError>>()?;
        let (paper, plan, scenarios) = (self.paper, &self.plan, &scenarios[..]);
        let claims: Vec<&Claim> = self.claims.iter().collect();
        let asked = Asked { paper, plan, claims: &claims, records, scenarios };
        Traced::open(paper, plan, self.dir(), None)?.values(&asked, runner)
    }

    fn keep_series(
        &self,
        (request, seed): (&TraceRequest, u64),
        scenario: &Scenario,
        result: &RunResult,
    ) -> Result<(), StoreError> {
        if result.samples.is_empty() {
            return Ok(());
        }
        let flows = scenario.tracks();
        let hash = scenario.hash();
        let form = form(scenario, &hash);
        let run = SeriesRun {
            place: Place { experiment: &request.experiment, point: &request.point, form: &form },
            seed,
            flows: &flows,
            samples: &result.samples,
        };
        let provenance = Provenance {
            versions: [VERSION.to_string()].into(),
            scenario_hashes: [hash].into(),
            seeds: [seed].into(),
            command: self.command().to_owned(),
        };
        self.campaign.batch().write_series(run, &provenance).map(|_| ())
    }

    fn traced_scenario(&self, request: &TraceRequest) -> Result<Scenario, ReproduceError> {
        let Some(experiment) = self.plan.experiment(&request.experiment) else {
            unreachable!("the plan's parser checks that a trace names an experiment")
        };
        let mut overrides = self.plan.changes(request);
        overrides.extend(request.overrides());
        load(self.paper, &experiment.scenario, &overrides)
    }
}
