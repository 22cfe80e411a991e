//! The inputs of a paper's report.

use std::collections::BTreeMap;

use windlass_cc::Time;
use windlass_sim::{PacketEvent, RunResult, Sample, Series};

use super::paper::Paper;
use crate::claims::{Claim, Judgement};
use crate::experiment::Plan;
use crate::run::RunRecord;

/// Anchor of the section with the findings in sentences.
pub const FINDINGS: &str = "findings";

/// Time series and packets of one traced run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Seed of the run.
    pub seed: u64,
    /// Samples in order of time.
    pub samples: Vec<Sample>,
    /// Packets in order of time.
    pub packets: Vec<PacketEvent>,
}

impl Trace {
    /// The samples and packets of a run with this seed.
    pub fn of(seed: u64, run: RunResult) -> Trace {
        Trace { seed, samples: run.samples, packets: run.packets }
    }

    /// One series of the first flow.
    pub fn values(&self, series: Series) -> impl Iterator<Item = (Time, u64)> + '_ {
        self.values_of(0, series)
    }

    /// One series of the flow with this index.
    pub fn values_of(&self, flow: u32, series: Series) -> impl Iterator<Item = (Time, u64)> + '_ {
        let mine = move |s: &&Sample| s.flow == flow && s.series == series;
        self.samples.iter().filter(mine).map(|s| (s.time, s.value))
    }
}

/// Traced runs by the `id` of their [`crate::experiment::TraceRequest`].
pub type Traces = BTreeMap<String, Trace>;

/// The inputs of a paper's report.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// The paper's experiments.
    pub plan: &'a Plan,
    /// The paper's claims, which include the tolerances.
    pub claims: &'a [Claim],
    /// Finished runs.
    pub records: &'a [RunRecord],
    /// Verdicts, from [`Paper::judge`](super::Paper::judge).
    pub judgements: &'a [Judgement],
    /// Traced runs.
    pub traces: &'a Traces,
}

impl Material<'_> {
    /// The verdict on a claim.
    pub fn judgement(&self, id: &str) -> Option<&Judgement> {
        self.judgements.iter().find(|j| j.id == id)
    }
}
