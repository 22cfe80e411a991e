//! Whether a paper's folder is right, without a run: every file reads, every measure names a point and a
//! flow that exist, every model is computed, every cited note exists, every template renders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ask::Scenarios;
use super::folder::OWN;
use super::registered::Registered;
use super::{Material, Paper, Traces, parts, quantities, report};
use crate::claims::{Claim, Metric, Quantity, Statistic};
use crate::experiment::{FileError, Plan};
use crate::readings::Readings;
use crate::report::check_page;
use crate::report::model::{Block, Section};
use crate::scenario::{Scenario, did_you_mean, what_there_is};
use crate::stats::decision::{ALPHA, least_runs};

/// What a check has looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Experiments.
    pub experiments: usize,
    /// Points of all experiments.
    pub points: usize,
    /// Claims.
    pub claims: usize,
    /// Sections of the report.
    pub sections: usize,
    /// Fidelity notes.
    pub notes: usize,
    /// What decides a verdict and is not registered as it is.
    pub unregistered: usize,
    /// Claims with a point of which fewer runs are made than may decide a median among all that the paper states.
    pub undecidable: usize,
    /// So many runs may.
    pub least_runs: usize,
}

/// Checks a paper.
///
/// # Errors
///
/// Every mistake that can be told apart, each with its place and what would be right.
pub fn check(paper: &Paper) -> Result<Checked, Vec<FileError>> {
    let plan = paper.plan().map_err(|e| vec![e])?;
    let claims = paper.parsed_claims().map_err(|e| vec![e])?;
    let mut found = Found { paper, errors: Vec::new() };
    // What is wrong with the points is wrong with all that reads them, and so on: it is said once.
    let scenarios = found.scenarios(&plan);
    found.so_far()?;
    let models = paper.models().map_err(|e| found.errors.push(e)).ok();
    let traces = Traces::new();
    let m = Material {
        paper,
        plan: &plan,
        claims: &claims,
        records: &[],
        judgements: &[],
        traces: &traces,
    };
    let quantities =
        quantities::quantities(&m, Some(&scenarios)).map_err(|e| found.errors.push(e)).ok();
    for claim in &claims {
        found.claim(claim, &plan, &scenarios, models.as_ref(), quantities.as_ref());
    }
    let notes = found.notes();
    found.so_far()?;
    found.errors.extend(Readings::check(paper, &plan));
    found.errors.extend(crate::front::sentences(paper, &claims).err());
    let sections = report::sections(&m, Some(&scenarios));
    let mut sections = sections.map_err(|e| found.errors.push(e)).unwrap_or_default();
    found.page(&mut sections);
    let unregistered = found.unregistered();
    found.so_far()?;
    let points = plan.experiments.iter().map(|e| e.points().len()).sum();
    let (undecidable, least_runs) = undecidable(&plan, &claims);
    Ok(Checked {
        experiments: plan.experiments.len(),
        points,
        claims: claims.len(),
        sections: sections.len(),
        notes,
        unregistered,
        undecidable,
        least_runs,
    })
}

/// How many claims have a point with too few runs for a median to be decided, whatever they yield, and how many it takes. A point with
/// a single run has no chance in it.
fn undecidable(plan: &Plan, claims: &[Claim]) -> (usize, usize) {
    let asked: Vec<&Claim> = claims.iter().filter(|c| c.is_decided_by_runs()).collect();
    let statements: BTreeSet<&str> = asked.iter().map(|c| c.statement()).collect();
    let least = least_runs(ALPHA / statements.len().max(1) as f64);
    let runs: BTreeMap<String, u64> = (plan.experiments.iter())
        .flat_map(|e| {
            e.points()
                .into_iter()
                .map(move |p| (format!("{}/{}", e.id, p.id), *e.seeds(&p, false).end()))
        })
        .collect();
    let too_few = |claim: &&&Claim| {
        claim.statistic == Statistic::Median
            && claim.quantities().into_iter().any(|quantity| match quantity {
                Quantity::Metric(at) => {
                    runs.get(&at.at).is_some_and(|n| (2..least as u64).contains(n))
                }
                _ => false,
            })
    };
    (asked.iter().filter(too_few).count(), least)
}

/// Anchors of the sections that a report has beside the paper's own.
const OF_EVERY_REPORT: [&str; 3] = [crate::readings::SECTION, "glance", "registered"];

struct Found<'a> {
    paper: &'a Paper,
    errors: Vec<FileError>,
}

impl Found<'_> {
    /// What is wrong up to here.
    fn so_far(&mut self) -> Result<(), Vec<FileError>> {
        // Elements of one `for` share their mistake and its place.
        let mut places = BTreeSet::new();
        self.errors.retain(|e| places.insert((e.file.clone(), e.line, e.column)));
        if self.errors.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.errors)) }
    }

    /// An error where a text first stands in a file; at its beginning if it does not.
    fn at(&mut self, file: &str, needle: &str, message: String) {
        let text = self.paper.file(file).unwrap_or_default();
        self.at_byte(file, text.find(needle).unwrap_or(0), needle, message);
    }

    fn at_byte(&mut self, file: &str, start: usize, needle: &str, message: String) {
        let text = self.paper.file(file).unwrap_or_default();
        let error =
            FileError::at(&self.paper.place(file), text, start..start + needle.len(), message);
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// That the sections make a page, whatever the runs yield.
    fn page(&mut self, sections: &mut [Section]) {
        for block in sections.iter_mut().flat_map(|s| &mut s.blocks) {
            match block {
                // Stand-ins for runs are no values.
                Block::Chart(chart) => chart.series.iter_mut().for_each(|s| s.points.clear()),
                Block::Heat(map) => map.cells.clear(),
                _ => {}
            }
        }
        let own = |s: &&Section| OF_EVERY_REPORT.contains(&s.id.as_str());
        let (id, message) = match (sections.iter().find(own), check_page(sections)) {
            (Some(Section { id, .. }), _) => (
                id.as_str(),
                format!("every report has a section `{id}` of its own; choose another `id`"),
            ),
            (None, Err((id, wrong))) => (id, wrong.to_string()),
            (None, Ok(())) => return,
        };
        let (file, id) = ("report.toml", format!("id = \"{id}\""));
        // Of two that are alike the second is one too many.
        let start = self.paper.file(file).and_then(|text| text.rfind(&id)).unwrap_or(0);
        self.at_byte(file, start, &id, message);
    }

    /// How much that decides a verdict is not registered as it is.
    fn unregistered(&mut self) -> usize {
        let open = Registered::of(self.paper)
            .and_then(|known| known.unwrap_or_default().open(self.paper))
            .map_err(|e| self.errors.push(e));
        open.map_or(0, |open| open.len())
    }

    /// Reads the scenario of every point; of each experiment the first is kept.
    fn scenarios(&mut self, plan: &Plan) -> Scenarios {
        let mut scenarios = Scenarios::new();
        let whole = plan.experiments.iter().all(|e| self.paper.scenario(&e.scenario).is_some());
        for (file, _) in &self.paper.scenarios {
            if whole && plan.experiments.iter().all(|e| e.scenario != *file) {
                let instead = did_you_mean(file, &OWN);
                self.at(file, "", format!("no experiment has this file as its scenario{instead}"));
            }
        }
        for e in &plan.experiments {
            let Some(text) = self.paper.scenario(&e.scenario) else {
                let known: Vec<&str> =
                    self.paper.scenarios.iter().map(|(f, _)| f.as_str()).collect();
                let instead = what_there_is(&e.scenario, &known);
                let message = format!("there is no {}{instead}", e.scenario);
                self.at("experiments.toml", &format!("\"{}\"", e.scenario), message);
                continue;
            };
            for point in e.points() {
                match Scenario::with_overrides(
                    text,
                    &self.paper.place(&e.scenario),
                    &point.overrides,
                ) {
                    Ok(s) => {
                        scenarios.entry(e.id.clone()).or_insert_with(|| Arc::new(s));
                    }
                    Err(error) => {
                        let said = error.to_string();
                        let message =
                            format!("point `{}` of `{}` cannot be read: {said}", point.id, e.id);
                        self.at("experiments.toml", &format!("\"{}\"", e.id), message);
                        break;
                    }
                }
            }
        }
        scenarios
    }

    fn claim(
        &mut self,
        claim: &Claim,
        plan: &Plan,
        scenarios: &Scenarios,
        models: Option<&BTreeMap<String, f64>>,
        quantities: Option<&BTreeMap<String, f64>>,
    ) {
        for quantity in claim.quantities() {
            let wrong = match quantity {
                Quantity::Metric(at) => plan.look_up(&at.at).err().or_else(|| {
                    let metric = Metric::parse(&at.path).ok()?;
                    let scenario = scenarios.get(at.place()?.0)?;
                    metric.check(scenario, |name| name == metric.name).err()
                }),
                Quantity::Model(name) => {
                    models.and_then(|m| unknown("model", name, m, "models.toml"))
                }
                Quantity::Trace(name) => {
                    quantities.and_then(|q| unknown("quantity", name, q, "quantities.toml"))
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                let text = &self.paper.claims;
                let place = claim.span.clone();
                let message = format!("claim `{}`: {wrong}", claim.id);
                let error = FileError::at(&self.paper.place("claims.toml"), text, place, message);
                self.errors.push(error);
            }
        }
    }

    /// Every note is whole, and every note that any file cites is there; how many there are.
    fn notes(&mut self) -> usize {
        let notes = parts::notes::parse(&self.paper.fidelity);
        for note in &notes {
            let parts = [
                ("Problem", &note.problem),
                ("Choice", &note.choice),
                ("Consequence", &note.consequence),
            ];
            for (word, _) in parts.iter().filter(|(_, text)| text.is_empty()) {
                let message =
                    format!("note {} has no paragraph that begins with `{word}: `", note.id);
                self.at("fidelity.md", &format!("## {}:", note.id), message);
            }
        }
        let mut known = BTreeSet::new();
        for note in &notes {
            if !known.insert(note.id.as_str()) {
                let message = format!("note {} exists already, give it another name", note.id);
                self.at("fidelity.md", &format!("## {}: {}", note.id, note.title), message);
            }
        }
        let Some(series) = notes.first().and_then(|n| n.id.split('-').next()) else { return 0 };
        let files: Vec<String> =
            self.paper.files.keys().filter(|f| !f.ends_with(".bib")).cloned().collect();
        for file in files {
            let text = self.paper.file(&file).unwrap_or_default().to_owned();
            for id in
                cited(&text, series).difference(&known.iter().map(|k| (*k).to_owned()).collect())
            {
                self.at(&file, id, format!("fidelity.md has no note {id}"));
            }
        }
        notes.len()
    }
}

/// Notes of a series that a text names.
fn cited(text: &str, series: &str) -> BTreeSet<String> {
    let marker = format!("{series}-");
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(&marker) {
        let number: String =
            text[at + marker.len()..].chars().take_while(char::is_ascii_digit).collect();
        let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric());
        if begins && !number.is_empty() {
            found.insert(format!("{marker}{number}"));
        }
    }
    found
}

fn unknown(what: &str, name: &str, all: &BTreeMap<String, f64>, file: &str) -> Option<String> {
    if all.contains_key(name) {
        return None;
    }
    let known: Vec<&str> = all.keys().map(String::as_str).collect();
    Some(format!("{file} has no {what} `{name}`{}", what_there_is(name, &known)))
}
