//! The papers that Windlass reproduces.
//!
//! A paper is a folder under `papers/` with its scenarios, `experiments.toml`, `claims.toml` and
//! `fidelity.md`, all built into the program, and a module here that draws its tables and figures
//! from the evidence.

pub mod ccm_ss;
pub mod cocoa3plus;
pub mod mfvl;
pub(crate) mod parts;
pub mod reno_ber;
pub mod tcp_modified;

use crate::claims::{self, Claim, Evidence, Judgement};
use crate::experiment::{FileError, Plan};
use crate::report::model::Section;
use crate::run::RunRecord;
use std::collections::BTreeMap;
use windlass_cc::Time;
use windlass_sim::{PacketEvent, RunResult, Sample, Series};

/// A paper with everything that reproduces it.
#[derive(Debug)]
pub struct Paper {
    /// Identifier on the command line, the name of its folder.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// Authors in the paper's order.
    pub authors: &'static [&'static str],
    /// Where and when it appeared.
    pub published: &'static str,
    /// Digital object identifier.
    pub doi: &'static str,
    /// BibTeX entry.
    pub citation: &'static str,
    /// One paragraph on what it claims and what is done here.
    pub summary: &'static str,
    /// Text of `experiments.toml`.
    pub experiments: &'static str,
    /// Text of `claims.toml`.
    pub claims: &'static str,
    /// Text of `fidelity.md`.
    pub fidelity: &'static str,
    /// Scenarios: file name and text.
    pub scenarios: &'static [(&'static str, &'static str)],
    models: fn() -> BTreeMap<String, f64>,
    quantities: fn(&Traces) -> BTreeMap<String, f64>,
    sections: fn(&Material) -> Vec<Section>,
}

/// Every paper.
pub static PAPERS: &[Paper] =
    &[reno_ber::PAPER, tcp_modified::PAPER, ccm_ss::PAPER, mfvl::PAPER, cocoa3plus::PAPER];

/// Anchor of the section that says in sentences what a reproduction finds.
pub const FINDINGS: &str = "findings";
/// Anchors of the sections that are too long for a terminal.
pub const LONG: [&str; 2] = ["claims", "fidelity"];

/// Time series and packets of one traced run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Samples in order of time.
    pub samples: Vec<Sample>,
    /// Packets in order of time.
    pub packets: Vec<PacketEvent>,
}

impl From<RunResult> for Trace {
    fn from(run: RunResult) -> Trace {
        Trace { samples: run.samples, packets: run.packets }
    }
}

impl Trace {
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

/// What a paper's report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The paper.
    pub paper: &'static Paper,
    /// The paper's experiments.
    pub plan: &'a Plan,
    /// Its claims, which carry the tolerances.
    pub claims: &'a [Claim],
    /// Finished runs.
    pub records: &'a [RunRecord],
    /// Verdicts, from [`Paper::judge`].
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

impl Paper {
    /// The paper with this identifier, in any case.
    pub fn by_id(id: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|p| p.id.eq_ignore_ascii_case(id))
    }

    /// The experiments.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the built-in text; a test keeps it right.
    pub fn plan(&self) -> Result<Plan, FileError> {
        Plan::parse(self.experiments, &format!("papers/{}/experiments.toml", self.id))
    }

    /// The claims.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the built-in text; a test keeps it right.
    pub fn parsed_claims(&self) -> Result<Vec<Claim>, FileError> {
        claims::parse(self.claims, &format!("papers/{}/claims.toml", self.id))
    }

    /// Text of the scenario with this file name.
    pub fn scenario(&self, name: &str) -> Option<&'static str> {
        self.scenarios.iter().find(|(file, _)| *file == name).map(|(_, text)| *text)
    }

    /// The paper's closed forms by the names that claims use.
    pub fn models(&self) -> BTreeMap<String, f64> {
        (self.models)()
    }

    /// What claims read from traced runs, by name; only what the given traces yield.
    pub fn quantities(&self, traces: &Traces) -> BTreeMap<String, f64> {
        (self.quantities)(traces)
    }

    /// Judges the claims on these runs.
    pub fn judge(
        &self,
        claims: &[Claim],
        records: &[RunRecord],
        traces: &Traces,
    ) -> Vec<Judgement> {
        let (models, quantities) = (self.models(), self.quantities(traces));
        claims::judge(claims, &Evidence { records, models: &models, traces: &quantities })
    }

    /// The paper's tables, figures and notes with ours beside them.
    pub fn sections(&self, material: &Material) -> Vec<Section> {
        (self.sections)(material)
    }
}
