//! Papers and what reproduces them.
//!
//! A paper is a folder: `paper.toml` says what it is, `experiments.toml` what runs, `claims.toml` what it
//! states, `models.toml` its closed forms, `measures.toml`, `report.toml` and `findings.md` the report,
//! `fidelity.md` what it leaves open. The folders under `papers/` are built into the program; any other
//! can be read from a disk.

mod ask;
pub mod check;
mod exchange;
mod folder;
mod forms;
mod map;
pub(crate) mod parts;
mod report;

use crate::claims::{self, Claim, Evidence, Judgement};
use crate::experiment::{FileError, Plan};
use crate::report::model::Section;
use crate::run::RunRecord;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use windlass_cc::Time;
use windlass_sim::{PacketEvent, RunResult, Sample, Series};

pub use folder::{FolderError, new};

/// A paper with everything that reproduces it.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Identifier on the command line, the name of its folder.
    pub id: String,
    /// Title.
    pub title: String,
    /// Authors in the paper's order.
    pub authors: Vec<String>,
    /// Where and when it appeared.
    pub published: String,
    /// Digital object identifier; may be empty.
    pub doi: String,
    /// BibTeX entry; may be empty.
    pub citation: String,
    /// One paragraph on what it claims and what is done here.
    pub summary: String,
    /// Text of `experiments.toml`.
    pub experiments: String,
    /// Text of `claims.toml`.
    pub claims: String,
    /// Text of `fidelity.md`.
    pub fidelity: String,
    /// Scenarios: file name and text.
    pub scenarios: Vec<(String, String)>,
    files: BTreeMap<String, String>,
    folder: String,
}

/// The papers that are built in, in their order.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(folder::built_in);

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
    pub paper: &'a Paper,
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
    /// The built-in paper with this identifier, in any case.
    pub fn by_id(id: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|p| p.id.eq_ignore_ascii_case(id))
    }

    /// One of the paper's own files.
    pub(crate) fn file(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// Where a file of the paper stands.
    pub fn place(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// The experiments.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the text.
    pub fn plan(&self) -> Result<Plan, FileError> {
        Plan::parse(&self.experiments, &self.place("experiments.toml"))
    }

    /// The claims.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the text.
    pub fn parsed_claims(&self) -> Result<Vec<Claim>, FileError> {
        claims::parse(&self.claims, &self.place("claims.toml"))
    }

    /// Text of the scenario with this file name.
    pub fn scenario(&self, name: &str) -> Option<&str> {
        self.scenarios.iter().find(|(file, _)| *file == name).map(|(_, text)| text.as_str())
    }

    /// The paper's closed forms by the names that claims use.
    ///
    /// # Errors
    ///
    /// What is wrong with `models.toml`.
    pub fn models(&self) -> Result<BTreeMap<String, f64>, FileError> {
        report::models(self)
    }

    /// Judges the claims on these runs.
    ///
    /// # Errors
    ///
    /// What is wrong with the expressions of `models.toml` or `quantities.toml`.
    pub fn judge(
        &self,
        plan: &Plan,
        claims: &[Claim],
        records: &[RunRecord],
        traces: &Traces,
    ) -> Result<Vec<Judgement>, FileError> {
        let models = self.models()?;
        let (paper, judgements) = (self, &[][..]);
        let m = Material { paper, plan, claims, records: &[], judgements, traces };
        let quantities = report::quantities(&m, false)?;
        Ok(claims::judge(claims, &Evidence { records, models: &models, traces: &quantities }))
    }

    /// The paper's tables, figures and notes with ours beside them.
    ///
    /// # Errors
    ///
    /// What is wrong with the expressions of the report.
    pub fn sections(&self, material: &Material) -> Result<Vec<Section>, FileError> {
        report::sections(material, false)
    }
}
