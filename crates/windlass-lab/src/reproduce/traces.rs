//! What the traced runs of a plan yield.

use std::collections::BTreeMap;

use windlass_sim::RunResult;

use super::ReproduceError;
use crate::claims::{Claim, Quantity, Value, without_chance};
use crate::experiment::{Plan, TraceRequest};
use crate::papers::{Paper, Trace, Traces};
use crate::run::RunRecord;

/// Seeds, at most, with which a run is traced where a claim reads what is random in it.
const MOST: u64 = 12;

/// What is asked of traced runs, and the plain runs beside them, which tell whether anything is random there.
pub(crate) struct Tracing<'a> {
    pub paper: &'a Paper,
    pub plan: &'a Plan,
    pub claims: &'a [Claim],
    pub records: &'a [RunRecord],
}

impl Tracing<'_> {
    /// The quantities by their names. One that is random and that a claim reads for which `read` holds has a value for
    /// each seed: as many as its point has runs, up to a dozen. `first` are the runs with the plan's seeds; `again`
    /// makes one with another.
    pub fn values(
        &self,
        first: &Traces,
        read: impl Fn(&Claim) -> bool,
        mut again: impl FnMut(&TraceRequest, u64) -> Result<RunResult, ReproduceError>,
    ) -> Result<BTreeMap<String, Value>, ReproduceError> {
        let mut values = self.paper.traced(self.plan, self.claims, self.records, first)?;
        let random = |name: &String| matches!(values.get(name), Some(Value::Runs(_)));
        let reads = |q: &&Quantity| matches!(q, Quantity::Trace(name) if random(name));
        if !self.claims.iter().any(|c| read(c) && c.quantities().iter().any(reads)) {
            return Ok(values);
        }
        for seed in 2..=MOST {
            let mut traces = first.clone();
            let mut any = false;
            for request in &self.plan.traces {
                let runs = request.runs(self.records);
                if seed <= runs.len() as u64 && !without_chance(&runs) {
                    let result = again(request, request.seed + seed - 1)?;
                    traces.insert(request.id.clone(), Trace::from(result));
                    any = true;
                }
            }
            if !any {
                break;
            }
            for (name, value) in self.paper.quantities(self.plan, self.claims, &traces)? {
                if let Some(Value::Runs(runs)) = values.get_mut(&name) {
                    runs.insert(seed, value);
                }
            }
        }
        Ok(values)
    }
}
