//! The examination of an algorithm: what a document such as RFC 9743 asks of a new congestion control, as runs and verdicts.
//!
//! An examination is a folder as a paper's is: scenarios, `experiments.toml` and `claims.toml`, whose names `subject` and
//! `world` are given here. So what is run, kept, judged and stopped early is [`reproduce`](crate::reproduce)'s business.
//! What is added is [`SCORECARD`]: the families of criteria in the document's order, each with its section and its words.
//!
//! A criterion is two claims for every network, called `FAMILY.CRITERION.NETWORK.pass` and `….fail`: that the one bound is
//! kept and that the other is. From their verdicts follows a [`Grade`].

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

use examination::ScorecardFile;
pub use examination::{Examination, Subject};
pub use page::{comparison, markdown, one_page};
pub use scorecard::{Criterion, Family, Grade, Network, Scorecard};

/// The examinations that are built in, in their order.
pub static EXAMINATIONS: LazyLock<Vec<Examination>> = LazyLock::new(|| {
    // A test reads each and would say what is wrong.
    examinations().into_iter().filter_map(|paper| Examination::of_paper(paper).ok()).collect()
});

/// What an assessment leaves in its folder.
#[derive(Debug)]
pub struct Assessed {
    /// How it stands.
    pub scorecard: Scorecard,
    /// The folder, with `scorecard.html`, `.md` and `.json`, the long `report.html`, and the tables of the runs.
    pub dir: PathBuf,
    /// Whether there was room for them.
    pub files: Result<(), StoreError>,
}

impl Examination {
    /// The examination in a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, lacks a file, or one of its files is not right.
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

    /// That every claim belongs to a criterion and every criterion has its two bounds on every network.
    fn check(&self) -> Result<(), FileError> {
        let claims = self.paper.parsed_claims()?;
        scorecard::check(&self.families, &claims).map_err(|(span, message)| {
            FileError::at(&self.paper.place("claims.toml"), &self.paper.claims, span, message)
        })
    }

    /// Its name on the command line.
    pub fn id(&self) -> &str {
        &self.paper.id
    }

    /// The document.
    pub fn title(&self) -> &str {
        &self.paper.title
    }

    /// The algorithms that a subject is compared with, as scenarios name them.
    pub fn rivals(&self) -> &[String] {
        &self.rivals
    }

    /// The same with these parts only: families, or `FAMILY.CRITERION`, or `FAMILY.CRITERION.NETWORK`.
    ///
    /// # Errors
    ///
    /// There is no such part; the families that there are.
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

    /// The same with a family that is not judged, for this reason; nothing else if there is none of that name.
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

    /// The same for a subject that has one path: what takes several is not judged, for this reason.
    pub fn on_one_path(&self, why: &str) -> Examination {
        let several = self.families.iter().filter(|f| f.several_paths);
        several.fold(self.clone(), |kept, f| kept.without(&f.id, why))
    }

    /// What has to be run and judged for an algorithm in a world; `command` is what makes it again.
    pub fn of(&self, subject: &Subject, world: World, command: &str) -> Paper {
        let given = [("subject", subject.seat.clone()), ("world", world.to_string())];
        let given = given.map(|(name, value)| (name.to_owned(), value.into()));
        let (command, claims) = (command.to_owned(), self.parts.clone());
        let posed = Posed { given: given.into(), command, claims };
        self.paper.posed(folder_name(&subject.label, world), posed)
    }

    /// Whether the folder is right for this algorithm, without a run.
    ///
    /// # Errors
    ///
    /// Every mistake, with its place.
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

/// A folder's name for an algorithm with its parameters in a world.
fn folder_name(label: &str, world: World) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-+.=".contains(c);
    let name: String = label.chars().map(|c| if plain(c) { c } else { ',' }).collect();
    if world == World::Sim { name } else { format!("{name},on={world}") }
}
