//! Assessment of an algorithm by a set of criteria: the requirements of a document such as RFC 9743 for new
//! congestion controls, as runs and verdicts.
//!
//! A set of criteria (an examination) is a folder like a paper's: scenarios, `experiments.toml` and
//! `claims.toml`. This module sets the values of its names `subject` and `world`.
//! [`reproduce`](crate::reproduce) makes, stores and judges the runs. In addition, the folder has the file
//! [`SCORECARD`]: the families of criteria in the document's order, each with its section and a quotation.
//!
//! A criterion is two claims for each network, called `FAMILY.CRITERION.NETWORK.pass` and `….fail`. Each
//! claims that the measure keeps one bound. The two verdicts give a [`Grade`].

mod examination;
mod page;
mod scorecard;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::experiment::FileError;
pub use crate::papers::folder::SCORECARD;
use crate::papers::folder::{FolderError, examinations};
use crate::papers::{Paper, Posed, check};
use crate::report;
use crate::reproduce::{ReproduceError, Reproduction};
use crate::run::store::{Format, StoreError, replace};
use crate::run::{Runner, World};
use crate::scenario::Candidate;
use crate::template;

use examination::{Asked, ScorecardFile};
pub use examination::{Examination, Subject};
pub use page::{comparison, markdown, one_page};
pub use scorecard::{Criterion, Family, Grade, Network, Scorecard};

/// The built-in examinations, in their order.
pub static EXAMINATIONS: LazyLock<Vec<Examination>> = LazyLock::new(|| {
    // A test reads each examination and reports its errors.
    examinations().into_iter().filter_map(|paper| Examination::of_paper(paper).ok()).collect()
});

/// Result of an assessment, with its files.
#[derive(Debug)]
pub struct Assessed {
    /// The scorecard.
    pub scorecard: Scorecard,
    /// The folder, with `scorecard.html`, `.md` and `.json`, the long `report.html`, and the tables of the runs.
    pub dir: PathBuf,
    /// The error if the files could not be written.
    pub files: Result<(), StoreError>,
}

impl Examination {
    /// The examination in a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, a file is missing, or a file is invalid.
    pub fn read(folder: &Path) -> Result<Examination, FolderError> {
        Examination::of_paper(Paper::read(folder)?)
    }

    fn of_paper(paper: Paper) -> Result<Examination, FolderError> {
        let missing = || FolderError::Missing { folder: paper.place("").into(), file: SCORECARD };
        let text = paper.file(SCORECARD).ok_or_else(missing)?;
        let file: ScorecardFile = template::read(text, &paper.place(SCORECARD))?;
        let ScorecardFile { family: families, rivals } = file;
        let examination = Examination { families, rivals, paper, parts: Vec::new() };
        examination.check()?;
        Ok(examination)
    }

    /// Checks that every claim belongs to a criterion, and every criterion has its two bounds on every network.
    fn check(&self) -> Result<(), FileError> {
        let claims = self.paper.parsed_claims()?;
        scorecard::check(&self.families, &claims).map_err(|(span, message)| {
            FileError::at(&self.paper.place("claims.toml"), &self.paper.claims, span, message)
        })
    }

    /// Name on the command line.
    pub fn id(&self) -> &str {
        &self.paper.id
    }

    /// Title of the document.
    pub fn title(&self) -> &str {
        &self.paper.title
    }

    /// The algorithms that a subject is compared with, as scenarios name them.
    pub fn rivals(&self) -> &[String] {
        &self.rivals
    }

    /// The examination with only these parts: families, `FAMILY.CRITERION`, or `FAMILY.CRITERION.NETWORK`.
    ///
    /// # Errors
    ///
    /// A part does not exist. The error lists the known families.
    pub fn only(&self, parts: &[String]) -> Result<Examination, Vec<String>> {
        let claims = self.paper.parsed_claims().unwrap_or_default();
        let parts: Vec<String> = parts.iter().map(|part| format!("{part}.")).collect();
        if !parts.iter().all(|part| claims.iter().any(|c| c.id.starts_with(part))) {
            let judged = self.families.iter().filter(|f| !f.criterion.is_empty());
            return Err(judged.map(|f| f.id.clone()).collect());
        }
        let mut kept = self.clone();
        kept.families.retain(|f| parts.iter().any(|p| p.starts_with(&format!("{}.", f.id))));
        kept.parts = parts;
        Ok(kept)
    }

    /// The examination with a family that is not judged, for this reason. An unknown family changes nothing.
    pub fn without(&self, family: &str, why: &str) -> Examination {
        let mut kept = self.clone();
        for left_out in kept.families.iter_mut().filter(|f| f.id == family) {
            (left_out.criterion, left_out.not_judged) = (Vec::new(), Some(why.to_owned()));
        }
        if kept.parts.is_empty() {
            kept.parts = self.families.iter().map(|f| format!("{}.", f.id)).collect();
        }
        kept.parts.retain(|part| !part.starts_with(&format!("{family}.")));
        kept
    }

    /// The examination for a subject with one path. Families that need several paths are not judged, for this reason.
    pub fn on_one_path(&self, why: &str) -> Examination {
        let several = self.families.iter().filter(|f| f.several_paths);
        several.fold(self.clone(), |kept, f| kept.without(&f.id, why))
    }

    /// The examination on a backend. Families that only the simulator can run are not judged on other backends.
    pub fn on(&self, world: World) -> Examination {
        let left_out = |kept: Examination, family: &Asked| match &family.simulator_only {
            Some(why) if world != World::Sim => kept.without(&family.id, why),
            _ => kept,
        };
        self.families.iter().fold(self.clone(), left_out)
    }

    /// The examination without the families that this algorithm cannot take: a class in Python has one path.
    pub fn suited(&self, subject: &Candidate) -> Examination {
        match subject.class {
            Some(_) => self.on_one_path("A class in Python has one path."),
            None => self.clone(),
        }
    }

    /// The paper with the runs and claims for an algorithm on a backend. `command` reproduces it.
    pub fn of(&self, subject: &Subject, world: World, command: &str) -> Paper {
        let given = [("subject", subject.seat.clone()), ("world", world.to_string())];
        let given = given.map(|(name, value)| (name.to_owned(), value.into()));
        let (command, claims) = (command.to_owned(), self.parts.clone());
        let posed = Posed { given: given.into(), command, claims };
        self.paper.posed(folder_name(&subject.label, world), posed)
    }

    /// Checks the folder for this algorithm, without a run.
    ///
    /// # Errors
    ///
    /// All mistakes, with their places.
    pub fn check_for(&self, subject: &Candidate) -> Result<check::Checked, Vec<FileError>> {
        check::check(&self.of(&Subject::from(subject), World::Sim, ""))
    }

    /// Judges the finished runs and writes the scorecard, the long report and tables in `formats`.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn conclude(
        &self,
        subject: &Subject,
        work: &Reproduction,
        runner: &Runner,
        formats: &[Format],
    ) -> Result<Assessed, ReproduceError> {
        let (dir, runs) = (work.dir(), work.finished());
        let scorecard = scorecard::of(self, subject, work, runner, runs)?;
        let put = |name: &str, text: &str| -> Result<PathBuf, StoreError> {
            replace(dir, name, |out| out.write_all(text.as_bytes()))
        };
        let short = report::html::render(&one_page(&scorecard))?;
        let long = report::html::render(&page::long(&scorecard, &self.paper.fidelity))?;
        let write = || {
            work.export(formats)?;
            put("scorecard.html", &short)?;
            put("scorecard.md", &markdown(&scorecard))?;
            replace(dir, "scorecard.json", |out| {
                serde_json::to_writer_pretty(&mut *out, &scorecard)?;
                out.write_all(b"\n")
            })?;
            put("report.html", &long).map(|_| ())
        };
        let files = write();
        Ok(Assessed { dir: dir.to_path_buf(), scorecard, files })
    }
}

/// Name of the folder for an algorithm with its parameters on a backend.
fn folder_name(label: &str, world: World) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-+.=".contains(c);
    let name: String = label.chars().map(|c| if plain(c) { c } else { ',' }).collect();
    if world == World::Sim { name } else { format!("{name},on={world}") }
}
