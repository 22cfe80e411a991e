//! The end of a reproduction: verdicts, tables and the report.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::Reproduction;
use super::error::ReproduceError;
use serde_json::json;

use crate::claims::{Basis, Judgement, family, settle, tally};
use crate::front;
use crate::papers::{Material, registered};
use crate::readings;
use crate::report::html::render_beside;
use crate::report::model::{Answer, Report, Section};
use crate::run::store::export::export_records;
use crate::run::store::{Format, StoreError, replace};
use crate::run::{RunRecord, Runner, VERSION};

/// The page of the laboratory in a browser, in the parent of the paper's folder. If it exists, the report has
/// links that repeat its runs on this page.
pub const LABORATORY: &str = "play.html";

/// The page's address from a paper's folder, if the page exists.
fn laboratory(dir: &Path) -> Option<String> {
    dir.parent()?.join(LABORATORY).is_file().then(|| format!("../{LABORATORY}"))
}

/// The result of a reproduction.
#[derive(Debug)]
pub struct Outcome {
    /// The verdicts, in the order of the claims.
    pub judgements: Vec<Judgement>,
    /// The results of the claims of the paper's abstract.
    pub answers: Vec<Answer>,
    /// Warnings: too few runs for a verdict on a random quantity, or only one interpretation was run.
    pub warnings: Vec<String>,
    /// Tables and figures.
    pub sections: Vec<Section>,
    /// The paper's folder.
    pub dir: PathBuf,
    /// The report's file, or the error if the report and the tables could not be written.
    pub report: Result<PathBuf, StoreError>,
}

impl Reproduction<'_> {
    /// Judges the claims on the finished runs and writes verdicts, tables in `formats`, and the
    /// report.
    pub fn conclude(self, formats: &[Format], runner: &Runner) -> Result<Outcome, ReproduceError> {
        let records = self.records();
        let dir = self.dir().to_path_buf();
        if records.is_empty() {
            return Err(ReproduceError::NoRuns { paper: self.paper.id.clone(), dir });
        }
        let (traces, series) = self.trace()?;
        let mut judgements = self.judged(&records, runner)?;
        let outcome = readings::Outcome::kept(&dir, self.paper);
        outcome.iter().for_each(|o| o.apply(&mut judgements));
        settle(&mut judgements);
        let sections = self.paper.sections(&Material {
            paper: self.paper,
            plan: &self.plan,
            claims: &self.claims,
            records: &records,
            judgements: &judgements,
            traces: &traces,
        })?;
        let answers = front::answers(&front::Asked {
            paper: self.paper,
            plan: &self.plan,
            claims: &self.claims,
            judgements: &judgements,
            outcome: outcome.as_ref(),
        })?;
        let mut shown = vec![front::glance(&self.claims, &judgements, outcome.as_ref())];
        shown.extend(sections.iter().cloned());
        shown.extend(outcome.iter().map(|o| readings::section(o, &self.claims, &judgements)));
        shown.push(registered::section(self.paper)?);
        let warnings = [self.warning(&records), self.unread(outcome.is_some())];
        let warnings: Vec<String> = warnings.into_iter().flatten().collect();
        let page = Report {
            answers: answers.clone(),
            sections: shown,
            ..self.report(&records, &judgements, &warnings)
        };
        let page = render_beside(&page, laboratory(&dir).as_deref())?;
        let write = || {
            series?;
            export_records(&dir, &records, self.command(), formats)?;
            replace(&dir, "verdicts.json", |out| {
                serde_json::to_writer_pretty(&mut *out, &judgements)?;
                out.write_all(b"\n")
            })?;
            replace(&dir, "answers.json", |out| {
                let line = |a: &Answer| json!({ "says": a.says, "verdict": a.badge.name, "lines": a.lines });
                let all: Vec<_> = answers.iter().map(line).collect();
                serde_json::to_writer_pretty(&mut *out, &all)?;
                out.write_all(b"\n")
            })?;
            replace(&dir, "report.html", |out| out.write_all(page.as_bytes()))
        };
        let report = write();
        Ok(Outcome { judgements, answers, warnings, sections, dir, report })
    }

    /// The budget, the paper's summary and the warnings.
    fn summary(&self, warnings: &[String]) -> String {
        let budget = match self.spent {
            0.0 => String::new(),
            _ => format!(
                "A budget limited the runs of this report. They cost {:.0} s. Claims that need more runs are undecided or not run.\n\n",
                self.spent.ceil()
            ),
        };
        let pairs = "\n\nA change, a difference and a ratio are computed for each seed. Their median can differ from the \
                     result of the medians of both sides.";
        let warnings: String = warnings.iter().map(|w| format!("\n\n{w}")).collect();
        format!("{budget}{}{pairs}{warnings}", self.paper.summary)
    }

    /// A warning if the paper has several interpretations and only one was run.
    fn unread(&self, read: bool) -> Option<String> {
        let several = self.paper.file(readings::FILE).is_some();
        (several && !read).then(|| {
            format!(
                "One interpretation of the paper was run; `windlass reproduce {} --interpretations` runs the others.",
                self.paper.called()
            )
        })
    }

    /// A warning if no point has enough runs to decide a claim on a median.
    fn warning(&self, records: &[RunRecord]) -> Option<String> {
        let (statements, least) = family(&self.claims);
        let most = records.iter().map(|r| r.seed).max().unwrap_or(0);
        (most < least && statements > 0).then(|| {
            format!(
                "Warning: {most} runs per point cannot decide a claim on a median. {statements} statements need at least \
                 {least} runs (Holm correction), so that claims on random quantities stay undecided."
            )
        })
    }

    fn report(
        &self,
        records: &[RunRecord],
        judgements: &[Judgement],
        warnings: &[String],
    ) -> Report {
        let seeds = records.iter().map(|r| r.seed).max().unwrap_or(0);
        let line = |label: &str, value: String| (label.to_string(), value);
        Report {
            title: self.paper.title.to_string(),
            byline: format!("{}. {}.", self.paper.authors.join(", "), self.paper.published),
            doi: self.paper.doi.clone(),
            summary: self.summary(warnings),
            verdicts: tally(judgements, Basis::Measured),
            counted: None,
            provenance: vec![
                line("Windlass", VERSION.to_string()),
                line("Runs", format!("{}, seeds 1 to {seeds}", records.len())),
                line("Command", self.command().to_owned()),
            ],
            ..Report::default()
        }
    }
}
