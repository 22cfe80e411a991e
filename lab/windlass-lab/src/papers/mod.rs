//! Papers and the data that reproduce them.
//!
//! A paper is a folder with these files. The folders in `papers/` are built into the program; others are read from
//! the disk.
//!
//! - `paper.toml` describes the paper.
//! - `experiments.toml` has the runs, `claims.toml` the claims, and `models.toml` the closed forms.
//! - `quantities.toml` has the numbers of traced runs.
//! - `measures.toml`, `report.toml` and `findings.md` are the report.
//! - `fidelity.md` lists the questions that the paper leaves open.

mod ask;
pub mod check;
mod exchange;
pub(crate) mod folder;
mod forms;
mod map;
pub(crate) mod material;
mod meaning;
mod models;
pub(crate) mod paper;
pub(crate) mod parts;
mod quantities;
pub mod registered;
mod report;

use crate::claims::{self, Claim, Evidence, Judgement, Value};
use crate::experiment::{FileError, Plan};
use crate::report::model::Section;
use crate::run::RunRecord;
use crate::template::Vars;
use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use folder::{FolderError, new};
pub use material::{FINDINGS, Material, Trace, Traces};
pub use paper::Paper;
pub(crate) use paper::Posed;
pub use parts::commands::shell_word;

/// The built-in papers, in order.
pub static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(folder::built_in);

/// Anchors of the sections that are too long for a terminal.
pub const LONG: [&str; 2] = ["claims", "fidelity"];

impl Paper {
    /// The built-in paper with this identifier. Upper and lower case are equal.
    pub fn by_id(id: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|p| p.id.eq_ignore_ascii_case(id))
    }

    /// The paper with another name, as a question of an examination. Only the runs that its claims read are made.
    pub(crate) fn posed(&self, id: String, posed: Posed) -> Paper {
        Paper { id, posed: Some(posed), ..self.clone() }
    }

    /// The question, if the paper belongs to an examination.
    pub(crate) fn question(&self) -> Option<&Posed> {
        self.posed.as_ref()
    }

    /// Values that replace the files' values of names in `let` tables.
    fn given(&self) -> Vars {
        self.posed.as_ref().map(|p| p.given.clone()).unwrap_or_default()
    }

    /// One of the paper's own files.
    pub(crate) fn file(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// True if another paper has the same files.
    pub(crate) fn has_files_of(&self, other: &Paper) -> bool {
        let files = |p: &Paper| p.files.clone().into_iter().filter(|(f, _)| f != registered::FILE);
        files(self).eq(files(other))
    }

    /// Fingerprint of the program and of the files that decide runs and verdicts, as 16 hexadecimal digits. Files
    /// that only affect the presentation are left out.
    pub(crate) fn fingerprint(&self) -> String {
        let shown = ["report.toml", "measures.toml", registered::FILE, crate::front::FILE];
        let decides = |name: &&String| name.ends_with(".toml") && !shown.contains(&name.as_str());
        let mut text = crate::run::VERSION.to_owned();
        for name in self.files.keys().filter(decides) {
            text = text + "\n" + name + "\n" + &self.files[name];
        }
        crate::hash::digits(text.as_bytes())
    }

    /// The path of a file of the paper.
    pub fn place(&self, file: &str) -> String {
        format!("{}/{file}", self.folder)
    }

    /// The experiments.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn plan(&self) -> Result<Plan, FileError> {
        self.plan_every().map_err(|mut errors| errors.swap_remove(0))
    }

    /// The experiments, or an error for each invalid one.
    pub(crate) fn plan_every(&self) -> Result<Plan, Vec<FileError>> {
        Plan::parse_every(&self.experiments, &self.place("experiments.toml"), &self.given())
    }

    /// The claims.
    ///
    /// # Errors
    ///
    /// The first fault of the text.
    pub fn parsed_claims(&self) -> Result<Vec<Claim>, FileError> {
        self.claims_given(&Vars::new())
    }

    /// The claims with other values for some names of the file's `let` tables.
    pub(crate) fn claims_given(&self, given: &Vars) -> Result<Vec<Claim>, FileError> {
        self.claims_every(given).map_err(|mut errors| errors.swap_remove(0))
    }

    /// The claims, or an error for each invalid one.
    pub(crate) fn claims_every(&self, given: &Vars) -> Result<Vec<Claim>, Vec<FileError>> {
        let mut all = self.given();
        all.extend(given.clone());
        let mut claims = claims::parse_every(&self.claims, &self.place("claims.toml"), &all)?;
        if let Some(posed) = self.posed.as_ref().filter(|p| !p.claims.is_empty()) {
            claims.retain(|c| posed.claims.iter().any(|begin| c.id.starts_with(begin)));
        }
        Ok(claims)
    }

    /// Text of the scenario with this file name.
    pub fn scenario(&self, name: &str) -> Option<&str> {
        self.scenarios.iter().find(|(file, _)| *file == name).map(|(_, text)| text.as_str())
    }

    /// The paper's closed forms by the names that claims use.
    ///
    /// # Errors
    ///
    /// A fault of `models.toml`.
    pub fn models(&self) -> Result<BTreeMap<String, f64>, FileError> {
        models::models(self)
    }

    /// Judges the claims on these runs.
    ///
    /// # Errors
    ///
    /// A fault of an expression in `models.toml` or `quantities.toml`.
    pub fn judge(
        &self,
        plan: &Plan,
        claims: &[Claim],
        records: &[RunRecord],
        traces: &Traces,
    ) -> Result<Vec<Judgement>, FileError> {
        let traced = self.traced(plan, claims, records, traces)?;
        self.judge_on(plan, claims, records, &traced)
    }

    /// Judges the claims on these runs and these quantities of traced runs.
    pub(crate) fn judge_on(
        &self,
        plan: &Plan,
        claims: &[Claim],
        records: &[RunRecord],
        traces: &BTreeMap<String, Value>,
    ) -> Result<Vec<Judgement>, FileError> {
        let models = self.models()?;
        let reproduce = || format!("windlass reproduce {}", self.called());
        let command = self.posed.as_ref().map_or_else(reproduce, |p| p.command.clone());
        let evidence = Evidence {
            records,
            models: &models,
            traces,
            least: &self.least_effect,
            planned: Some((plan, &command)),
        };
        Ok(claims::judge(claims, &evidence))
    }

    /// The quantities of the traced runs. A quantity is exact if it needs only traces of points whose runs are all
    /// equal. Any other quantity counts as the value of one run.
    pub(crate) fn traced(
        &self,
        plan: &Plan,
        claims: &[Claim],
        records: &[RunRecord],
        traces: &Traces,
    ) -> Result<BTreeMap<String, Value>, FileError> {
        let exact = |id: &&String| {
            let request = plan.traces.iter().find(|t| t.id == **id);
            request.is_some_and(|t| claims::without_chance(&t.runs(records)))
        };
        let certain = traces.keys().filter(exact).map(|id| (id.clone(), traces[id].clone()));
        let exact = self.quantities(plan, claims, &certain.collect())?;
        let all = self.quantities(plan, claims, traces)?;
        let value = |(name, value): (String, f64)| {
            let value = match exact.values.get(&name) {
                Some(_) => Value::Exact { value, n: 1 },
                None => Value::Runs([(1, value)].into()),
            };
            (name, value)
        };
        let gaps = all.gaps.into_iter().map(|(name, why)| (name, Value::Missing(why)));
        Ok(gaps.chain(all.values.into_iter().map(value)).collect())
    }

    /// The numbers of the traced runs, by the names that claims use.
    pub(crate) fn quantities(
        &self,
        plan: &Plan,
        claims: &[Claim],
        traces: &Traces,
    ) -> Result<quantities::Told, FileError> {
        let (paper, judgements) = (self, &[][..]);
        let m = Material { paper, plan, claims, records: &[], judgements, traces };
        quantities::quantities(&m)
    }

    /// The traces that each quantity is read from, by their positions in the plan.
    pub(crate) fn sources(&self, plan: &Plan) -> Result<BTreeMap<String, Vec<usize>>, FileError> {
        let traces = Traces::new();
        let (paper, claims, records, judgements) = (self, &[][..], &[][..], &[][..]);
        quantities::sources(&Material { paper, plan, claims, records, judgements, traces: &traces })
    }

    /// Fingerprint of the program and of `quantities.toml`, which decide the quantities of traced runs, as 16
    /// hexadecimal digits.
    pub(crate) fn quantities_hash(&self) -> String {
        let all = [crate::run::VERSION].into_iter().chain(self.file("quantities.toml"));
        crate::hash::digits(all.collect::<Vec<_>>().join("\n").as_bytes())
    }

    /// The paper's tables, figures and notes, with the measured values.
    ///
    /// # Errors
    ///
    /// A fault of an expression of the report.
    pub fn sections(&self, material: &Material) -> Result<Vec<Section>, FileError> {
        report::sections(material, None).map_err(|mut errors| errors.swap_remove(0))
    }
}
