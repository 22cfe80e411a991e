//! Checks a paper's folder without a run. Every file must parse, every measure must name an existing point and
//! flow, every model must have a value, every cited note must exist, and every template must render.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ask::Scenarios;
use super::folder::OWN;
use super::registered::Registered;
use super::{Material, Paper, Traces, parts, quantities, report};
use crate::claims::{At, Claim, Metric, Quantity, Statistic, Wrong};
use crate::experiment::{Experiment, FileError, Plan, Point};
use crate::readings::Readings;
use crate::report::check_page;
use crate::report::model::{Block, Section};
use crate::run::World;
use crate::scenario::{Document, Scenario, ScenarioError, did_you_mean, what_there_is};
use crate::sweep::Measure;
use crate::template::Vars;

/// Contents of a checked paper.
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
    /// Number of criteria whose present content is not registered.
    pub unregistered: usize,
    /// True if the registration has an older scheme, which covers less.
    pub old_scheme: bool,
    /// Claims with a point that has too few runs for a decision about a median, given all claims of the paper.
    pub undecidable: usize,
    /// Minimum number of runs for such a decision.
    pub least_runs: usize,
}

/// Checks a paper.
///
/// # Errors
///
/// All independent faults, each with its place and the remedy.
pub fn check(paper: &Paper) -> Result<Checked, Vec<FileError>> {
    let mut found = Found { paper, errors: Vec::new() };
    let plan = found.all(paper.plan_every());
    let claims = found.all(paper.claims_every(&Vars::new()));
    let models = found.one(paper.models());
    let notes = found.notes();
    let (Some(plan), Some(claims)) = (plan, claims) else { return Err(found.said()) };
    let before = found.errors.len();
    let scenarios = found.scenarios(&plan);
    let readable = found.errors.len() == before;
    let traces = Traces::new();
    let m = Material {
        paper,
        plan: &plan,
        claims: &claims,
        records: &[],
        judgements: &[],
        traces: &traces,
    };
    let quantities = found.one(quantities::names(&m));
    for claim in &claims {
        found.claim(claim, &plan, &scenarios, models.as_ref(), quantities.as_ref());
    }
    // The faults of the points would also appear in everything that reads them, so that they are reported alone.
    if !readable {
        return Err(found.said());
    }
    found.errors.extend(Readings::check(paper, &plan));
    found.one(crate::front::sentences(paper, &claims));
    let mut sections = found.all(report::sections(&m, Some(&scenarios))).unwrap_or_default();
    found.page(&mut sections);
    if !found.errors.is_empty() {
        return Err(found.said());
    }
    let known = Registered::of(paper).map_err(|e| vec![e])?.unwrap_or_default();
    let unregistered = known.open(paper).map_err(|e| vec![e])?.len();
    let points = plan.experiments.iter().map(|e| e.points().len()).sum();
    let (undecidable, least_runs) = undecidable(&plan, &claims);
    Ok(Checked {
        experiments: plan.experiments.len(),
        points,
        claims: claims.len(),
        sections: sections.len(),
        notes,
        unregistered,
        old_scheme: !known.since.is_empty() && known.is_old(),
        undecidable,
        least_runs,
    })
}

/// Number of claims with a point that has too few runs for any decision about a median, and the required number of
/// runs. A point with a single run is deterministic.
fn undecidable(plan: &Plan, claims: &[Claim]) -> (usize, usize) {
    let asked: Vec<&Claim> = claims.iter().filter(|c| c.is_decided_by_runs()).collect();
    let (_, least) = crate::claims::family(claims);
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
                Quantity::Metric(at) => runs.get(&at.at).is_some_and(|n| (2..least).contains(n)),
                _ => false,
            })
    };
    (asked.iter().filter(too_few).count(), least as usize)
}

/// Anchors of the sections that a report has in addition to the paper's own.
const OF_EVERY_REPORT: [&str; 3] = [crate::readings::SECTION, "glance", "registered"];

struct Found<'a> {
    paper: &'a Paper,
    errors: Vec<FileError>,
}

impl Found<'_> {
    fn one<T>(&mut self, read: Result<T, FileError>) -> Option<T> {
        read.map_err(|e| self.errors.push(e)).ok()
    }

    fn all<T>(&mut self, read: Result<T, Vec<FileError>>) -> Option<T> {
        read.map_err(|errors| self.errors.extend(errors)).ok()
    }

    /// The faults so far. Elements of one `for` have the same fault and place, so that one is reported.
    fn said(self) -> Vec<FileError> {
        let mut places = BTreeSet::new();
        let new = |e: &FileError| places.insert((e.file.clone(), e.line, e.column));
        self.errors.into_iter().filter(new).collect()
    }

    /// Adds an error at the first occurrence of a text in a file, or at the beginning of the file.
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

    /// Checks that the sections form a valid page for any results.
    fn page(&mut self, sections: &mut [Section]) {
        for block in sections.iter_mut().flat_map(|s| &mut s.blocks) {
            match block {
                // The values of the probe are not results.
                Block::Chart(chart) => chart.series.iter_mut().for_each(|s| s.points.clear()),
                Block::Heat(map) => map.cells.clear(),
                _ => {}
            }
        }
        let own = |s: &&Section| OF_EVERY_REPORT.contains(&s.id.as_str());
        let (id, message) = match (sections.iter().find(own), check_page(sections)) {
            (Some(Section { id, .. }), _) => (
                id.as_str(),
                format!("every report already has a section `{id}`; choose another `id`"),
            ),
            (None, Err((id, wrong))) => (id, wrong.to_string()),
            (None, Ok(())) => return,
        };
        let (file, id) = ("report.toml", format!("id = \"{id}\""));
        // If two sections have the same `id`, the second is the fault.
        let start = self.paper.file(file).and_then(|text| text.rfind(&id)).unwrap_or(0);
        self.at_byte(file, start, &id, message);
    }

    /// Parses the scenario of every point, and returns the first of each experiment.
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
                let message = format!("{} not found{instead}", e.scenario);
                self.at("experiments.toml", &format!("\"{}\"", e.scenario), message);
                continue;
            };
            let place = self.paper.place(&e.scenario);
            let document = Document::parse(text, &place).ok();
            for point in e.points() {
                match document.as_ref().map_or_else(
                    || Scenario::with_overrides(text, &place, &point.overrides),
                    |document| document.with(&point.overrides),
                ) {
                    Ok(s) => {
                        scenarios.entry(e.id.clone()).or_insert_with(|| Arc::new(s));
                    }
                    Err(error) => {
                        self.point(e, &point, &error);
                        break;
                    }
                }
            }
        }
        self.traces(plan);
        scenarios
    }

    /// The error of a point, in its scenario or at the key that its values set.
    fn point(&mut self, e: &Experiment, point: &Point, error: &ScenarioError) {
        let said = error.to_string();
        let place = self.paper.place(&e.scenario);
        if let (Some((line, column)), Some(message)) =
            (error.line_and_column(), said.strip_prefix(&format!("{place}:")))
        {
            let text = self.paper.scenario(&e.scenario).unwrap_or_default();
            let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let rest = text.get(before..).unwrap_or_default();
            let start = before + rest.chars().take(column - 1).map(char::len_utf8).sum::<usize>();
            let message = message.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
            let error = FileError::at(&place, text, start..start, message.trim_start());
            if !self.errors.contains(&error) {
                self.errors.push(error);
            }
            return;
        }
        let key = said.strip_prefix("--set ").and_then(|rest| rest.split('=').next());
        let there = |key: &&str| self.paper.experiments.contains(*key);
        let needle = key.filter(there).map_or(format!("\"{}\"", e.id), str::to_owned);
        let message = format!("point `{}` of `{}` cannot be read: {said}", point.id, e.id);
        self.at("experiments.toml", &needle, message);
    }

    /// Parses the scenario of every trace, with its recording.
    fn traces(&mut self, plan: &Plan) {
        for t in &plan.traces {
            let experiment = plan.experiment(&t.experiment);
            let Some(text) = experiment.and_then(|e| self.paper.scenario(&e.scenario)) else {
                continue;
            };
            let plain = plan.changes(t);
            let recording = [plain.clone(), t.overrides()].concat();
            let read = |changes: &[_]| Scenario::with_overrides(text, "the scenario", changes);
            let Err(error) = read(&recording) else { continue };
            // A fault of the point is already reported.
            if read(&plain).is_ok() {
                let (file, experiments) = ("experiments.toml", &self.paper.experiments);
                let said = error.to_string();
                let keys = ["capture", "interval", "series"];
                let key = keys.into_iter().find(|key| said.contains(&format!("record.{key}")));
                let span = key.and_then(|key| t.places.of(key)).or(t.places.of("id"));
                let message = format!("trace `{}` cannot be recorded: {said}", t.id);
                let place = self.paper.place(file);
                let span = span.unwrap_or_default();
                self.errors.push(FileError::at(&place, experiments, span, message));
            }
        }
    }

    fn claim(
        &mut self,
        claim: &Claim,
        plan: &Plan,
        scenarios: &Scenarios,
        models: Option<&BTreeMap<String, f64>>,
        quantities: Option<&BTreeMap<String, f64>>,
    ) {
        let mut wrong = Vec::new();
        for (path, quantity) in claim.placed_quantities() {
            let found = match quantity {
                Quantity::Metric(at) => wrong_metric(self.paper, at, plan, scenarios),
                Quantity::Model(name) => {
                    models.and_then(|m| unknown("model", name, m, "models.toml")).map(|m| ("", m))
                }
                Quantity::Trace(name) => quantities
                    .and_then(|q| unknown("quantity", name, q, "quantities.toml"))
                    .map(|m| ("", m)),
                _ => None,
            };
            if let Some((key, message)) = found {
                let path = format!("{path}.{}{key}", quantity.key());
                wrong.push(Wrong::new(path, format!(": {message}")));
            }
        }
        if let Some(models) = models.filter(|_| wrong.is_empty()) {
            wrong = claim.check_with(models);
        }
        let (text, file) = (&self.paper.claims, self.paper.place("claims.toml"));
        self.errors.extend(wrong.iter().map(|wrong| claim.error(text, &file, wrong)));
    }

    /// Checks that every note is complete, and that every cited note exists. Returns the number of notes.
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
        for line in self.paper.fidelity.lines().filter(|line| is_note_without_colon(line)) {
            let name = line[3..].split_whitespace().next().unwrap_or_default();
            self.at(
                "fidelity.md",
                line,
                format!("not a note; write `## {name}: ` before its title"),
            );
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

/// The invalid key of a metric of a point, with the error.
fn wrong_metric(
    paper: &Paper,
    at: &At,
    plan: &Plan,
    scenarios: &Scenarios,
) -> Option<(&'static str, String)> {
    if let Err(message) = plan.look_up(&at.at) {
        return Some((".at", message));
    }
    let metric = Metric::parse(&at.path).ok()?;
    let (id, point) = at.place()?;
    let there = metric.check(scenarios.get(id)?, |name| name == metric.name);
    let why = there.err().or_else(|| lacks(paper, &at.path, plan.experiment(id)?, point));
    why.map(|why| (".path", why))
}

/// The reason why no run of a point can have a metric.
fn lacks(paper: &Paper, path: &str, experiment: &Experiment, point: &str) -> Option<String> {
    let measure = Measure::parse(path).ok()?;
    let point = experiment.point(point)?;
    let (world, warm_up) = (experiment.world(&point), experiment.warm_up);
    if measure.needs_warm_up() && (warm_up.is_none() || world != World::Sim) {
        let id = &experiment.id;
        return Some(format!(
            "experiment `{id}` has no warm-up in the simulator; give it `warmup = \"10s\"`"
        ));
    }
    let text = paper.scenario(&experiment.scenario)?;
    let scenario = Scenario::with_overrides(text, "", &point.overrides).ok()?;
    let why = measure.lacks(&scenario, world, warm_up)?;
    Some(format!("no run of the point has `{path}`: {why}"))
}

/// True if a heading begins with a note's name, such as `EX-1`, and has no colon after it.
fn is_note_without_colon(line: &str) -> bool {
    let name = line.strip_prefix("## ").and_then(|rest| rest.split_whitespace().next());
    name.and_then(|name| name.split_once('-')).is_some_and(|(series, number)| {
        let upper = !series.is_empty()
            && series.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        upper && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    })
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
