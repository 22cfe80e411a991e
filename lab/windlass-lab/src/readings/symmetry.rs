//! The check that an answer changes both sides of each comparison.
//!
//! If an answer changes only one of two compared points, the verdict does not concern the paper. An answer must
//! therefore meet these conditions:
//!
//! - It changes both sides, or gives the reason why it changes only one ([`Terms::one_side`]).
//! - It reaches the points that it names. A key that a point sets itself hides the answer.
//! - The two sides remain different runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::file::{Alternative, FILE, Readings, parse, scenario_of};
use crate::claims::{Claim, Direction, Kind, Metric, Quantity, matches};
use crate::experiment::{Experiment, FileError, Plan, Point};
use crate::papers::Paper;
use crate::scenario::{Document, Scenario, did_you_mean, what_there_is};

/// A paper's comparisons with the runs of its files.
pub(super) struct Comparisons<'p> {
    paper: &'p Paper,
    plan: Plan,
    sources: BTreeMap<String, Vec<usize>>,
    models: BTreeMap<String, f64>,
    claims: Vec<Claim>,
    /// The scenario of each point, by `experiment/point`.
    scenarios: BTreeMap<String, Scenario>,
    /// Their hashes.
    hashes: BTreeMap<String, String>,
    /// The paper's scenario files.
    documents: BTreeMap<&'p str, (&'p str, Document)>,
}

/// One value that a side of a comparison reads: the point and the metric of its runs, which is empty for a trace.
type Read<'q> = (String, &'q str);

impl<'p> Comparisons<'p> {
    /// The comparisons of a paper.
    ///
    /// # Errors
    ///
    /// A file of the paper is not readable.
    pub fn of(paper: &'p Paper, plan: &Plan) -> Result<Comparisons<'p>, FileError> {
        let claims = paper.parsed_claims()?;
        let sources = paper.sources(plan)?;
        let models = paper.models()?;
        let plan = plan.clone();
        let wrong =
            |why| FileError::at(&paper.place("experiments.toml"), &paper.experiments, 0..0, why);
        let mut documents = BTreeMap::new();
        for (file, text) in &paper.scenarios {
            let read = Document::parse(text, &paper.place(file));
            let document = read.map_err(|e| wrong(e.to_string()))?;
            documents.insert(file.as_str(), (text.as_str(), document));
        }
        let (scenarios, hashes) = (BTreeMap::new(), BTreeMap::new());
        let mut all =
            Comparisons { paper, plan, sources, models, claims, scenarios, hashes, documents };
        all.scenarios = all.read(&[]).map_err(wrong)?;
        all.hashes = all.scenarios.iter().map(|(at, s)| (at.clone(), s.hash())).collect();
        Ok(all)
    }

    /// The scenario of each point under some answers, without the points that keep their scenario because no answer
    /// touches them.
    fn read(&self, answers: &[&Alternative]) -> Result<BTreeMap<String, Scenario>, String> {
        let mut scenarios = BTreeMap::new();
        for experiment in &self.plan.experiments {
            for point in experiment.points() {
                let place = format!("{}/{}", experiment.id, point.id);
                let is_touched = answers.iter().any(|a| a.touches(&experiment.id, &point));
                if self.scenarios.contains_key(&place) && !is_touched {
                    continue;
                }
                let why =
                    |e| format!("point `{}` of `{}` cannot be read: {e}", point.id, experiment.id);
                let file = self.file(experiment).map_err(why)?;
                let scenario = scenario_of(file, &experiment.id, &point, answers);
                scenarios.insert(place, scenario.map_err(why)?);
            }
        }
        Ok(scenarios)
    }

    /// Text and content of an experiment's scenario.
    fn file(&self, experiment: &Experiment) -> Result<(&str, &Document), String> {
        let found = self.documents.get(experiment.scenario.as_str());
        let (text, document) = found.ok_or_else(|| format!("{} not found", experiment.scenario))?;
        Ok((text, document))
    }

    fn find(&self, place: &str) -> Option<(&Experiment, Point)> {
        let (id, point) = place.split_once('/')?;
        let experiment = self.plan.experiment(id)?;
        experiment.point(point).map(|p| (experiment, p))
    }

    /// The values that a quantity reads itself.
    fn own<'q>(&self, quantity: &'q Quantity) -> Vec<Read<'q>> {
        match quantity {
            Quantity::Metric(at) => vec![(at.at.clone(), at.path.as_str())],
            Quantity::Trace(name) => {
                let traces = self.sources.get(name).into_iter().flatten();
                traces.map(|at| (self.plan.traces[*at].place(), "")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The values that a side reads, including nested quantities.
    fn reads<'q>(&self, side: &'q Quantity) -> Vec<Read<'q>> {
        let mut all = Vec::new();
        side.walk(&mut |q| all.extend(self.own(q)));
        all
    }

    /// Claims whose two sides become the same runs, although they are different runs in the paper's own files.
    pub fn collapsed(
        &self,
        claims: &[Claim],
        scenario: &dyn Fn(&str) -> Option<String>,
    ) -> BTreeSet<String> {
        let before = |place: &str| self.hashes.get(place).cloned();
        let same = |sides: &[&Quantity; 2], hash: &dyn Fn(&str) -> Option<String>| {
            let of = |side: &Quantity| -> BTreeSet<(Option<String>, String)> {
                self.reads(side).iter().map(|(at, path)| (hash(at), (*path).to_owned())).collect()
            };
            let [a, b] = sides.map(of);
            !a.is_empty() && a == b
        };
        let collapses =
            |claim: &&Claim| sides(claim).iter().any(|s| !same(s, &before) && same(s, scenario));
        claims.iter().filter(collapses).map(|c| c.id.clone()).collect()
    }

    /// All faults of an answer.
    pub fn faults(&self, answer: &Alternative) -> Vec<String> {
        let claims = match self.paper.claims_given(&answer.claims) {
            Ok(claims) => claims,
            Err(error) => return vec![format!("its `claims` cannot be read: {error}")],
        };
        let mut wrong = self.unknown(answer, &claims);
        let after = match self.read(&[answer]) {
            Ok(after) => after,
            Err(why) => return vec![why],
        };
        let moved = after.iter().any(|(at, s)| self.scenarios.get(at) != Some(s));
        let words = |all: &[Claim]| all.iter().map(Claim::without_place).collect::<Vec<_>>();
        if !moved && words(&claims) == words(&self.claims) {
            wrong.push("it changes no point of any experiment, and no claim".to_owned());
        }
        let effects: BTreeMap<&str, Effect> = (after.iter())
            .filter_map(|(at, s)| Some((at.as_str(), Effect::of(self.scenarios.get(at)?, s))))
            .collect();
        let judged: Vec<&Claim> = claims.iter().filter(|c| !answer.terms.spares(&c.id)).collect();
        let lone = judged.iter().find_map(|c| self.lone(c, &effects).or_else(|| self.moved(c)));
        match (lone, &answer.terms.one_side) {
            (Some(lone), None) => wrong.push(lone),
            (None, Some(_)) => wrong.push(
                "`one_side` has no use: the answer changes both sides of each comparison".into(),
            ),
            _ => {}
        }
        wrong.extend(self.hidden(answer, &judged));
        let known: RefCell<BTreeMap<String, String>> = RefCell::default();
        let hash = |place: &str| match after.get(place) {
            Some(scenario) => {
                let mut known = known.borrow_mut();
                Some(known.entry(place.to_owned()).or_insert_with(|| scenario.hash()).clone())
            }
            None => self.hashes.get(place).cloned(),
        };
        let same = self.collapsed(&claims, &hash);
        wrong.extend(same.iter().find(|id| !answer.terms.spares(id)).map(|id| {
            format!("both sides of claim `{id}` become the same runs; add `not_for = {{ \"{id}\" = \"reason\" }}`")
        }));
        wrong
    }

    /// Faults of unknown names.
    fn unknown(&self, answer: &Alternative, claims: &[Claim]) -> Vec<String> {
        let mut wrong = Vec::new();
        let named = crate::template::let_names(&self.paper.claims);
        let names: Vec<&str> = named.iter().map(String::as_str).collect();
        for name in answer.claims.keys().filter(|n| !named.contains(n.as_str())) {
            let instead = what_there_is(name, &names);
            wrong.push(format!("`claims`: claims.toml has no `let` name `{name}`{instead}"));
        }
        if !self.claims.iter().map(|c| &c.id).eq(claims.iter().map(|c| &c.id)) {
            wrong.push("its claims are not the claims of the headline".to_owned());
        }
        for claim in claims {
            let lost = claim.quantities().into_iter().find_map(|q| match q {
                Quantity::Metric(at) => self.plan.look_up(&at.at).err(),
                Quantity::Model(name) if !self.models.contains_key(name) => {
                    Some(format!("models.toml has no model `{name}`"))
                }
                Quantity::Trace(name) if !self.sources.contains_key(name) => {
                    Some(format!("quantities.toml has no quantity `{name}`"))
                }
                _ => None,
            });
            wrong.extend(lost.map(|why| format!("claim `{}`: {why}", claim.id)));
        }
        let ids: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
        for pattern in answer.terms.not_for.keys() {
            if !ids.iter().any(|id| matches(pattern, id)) {
                let instead = what_there_is(pattern, &ids);
                wrong.push(format!("`not_for`: claim `{pattern}` not found{instead}"));
            }
        }
        let coordinates: BTreeSet<String> = (self.plan.experiments.iter())
            .flat_map(|e| e.axes.iter())
            .flat_map(|a| a.values.iter().map(move |v| format!("{}={}", a.name, v.label)))
            .collect();
        let known: Vec<&str> = coordinates.iter().map(String::as_str).collect();
        for (key, one) in (answer.terms.keep.keys().map(|k| ("keep", k)))
            .chain(answer.at.iter().map(|k| ("at", k)))
            .filter(|(_, one)| !coordinates.contains(*one))
        {
            let instead = what_there_is(one, &known);
            wrong.push(format!("`{key}`: no point has the coordinate `{one}`{instead}"));
        }
        wrong
    }

    /// The first comparison in which the answer changes only one side.
    fn lone(&self, claim: &Claim, effects: &BTreeMap<&str, Effect>) -> Option<String> {
        let changed = |read: &&Read<'_>| {
            effects.get(read.0.as_str()).is_some_and(|effect| effect.reaches(read.1))
        };
        for [a, b] in sides(claim) {
            let [a, b] = [self.reads(a), self.reads(b)];
            if a.is_empty() || b.is_empty() || is_share(&a, &b) {
                continue;
            }
            let [n, m] = [&a, &b].map(|side| side.iter().filter(changed).count());
            if n == m || (n > 0 && m > 0 && a.len() != b.len()) {
                continue;
            }
            let (more, less) = if n > m { (&a, &b) } else { (&b, &a) };
            let told = |read: Option<&Read<'_>>| {
                read.map_or(String::new(), |(place, path)| {
                    let path = if path.is_empty() { "a traced run" } else { path };
                    format!("{path} at `{place}`")
                })
            };
            return Some(format!(
                "claim `{}` compares {} with {}, and the answer changes the first only; change both, or write \
                 `one_side = \"reason\"`",
                claim.id,
                told(more.iter().find(changed)),
                told(less.iter().find(|read| !changed(read))),
            ));
        }
        None
    }

    /// The first comparison of which the answer's `claims` change only one side.
    fn moved(&self, claim: &Claim) -> Option<String> {
        let before = self.claims.iter().find(|c| c.id == claim.id)?;
        let (old, new) = (sides(before), sides(claim));
        let pairs = old.iter().zip(&new).filter(|_| old.len() == new.len());
        pairs.into_iter().find_map(|(old, new)| {
            let reads = |side: &Quantity| -> BTreeSet<(String, String)> {
                let all = self.reads(side);
                all.into_iter().map(|(place, path)| (place, path.to_owned())).collect()
            };
            let ([a, b], [c, d]) = (old.map(reads), new.map(reads));
            let one = (a == c) != (b == d) && ![&a, &b, &c, &d].iter().any(|s| s.is_empty());
            (one && !is_share(&self.reads(new[0]), &self.reads(new[1]))).then(|| {
                format!(
                    "the `claims` of the answer change one side of the comparison of claim `{}` only; change both, or \
                     write `one_side = \"reason\"`",
                    claim.id
                )
            })
        })
    }

    /// The first point that itself sets a key of the answer's `set`, so that the answer does not reach it.
    fn hidden(&self, answer: &Alternative, claims: &[&Claim]) -> Option<String> {
        let mut known = BTreeSet::new();
        for claim in claims {
            for (place, _) in claim.quantities().into_iter().flat_map(|q| self.own(q)) {
                if !known.insert(place.clone()) {
                    continue;
                }
                let Some((experiment, point)) = self.find(&place) else { continue };
                let Ok(file) = self.file(experiment) else { continue };
                if let Some(key) = answer.hidden_key(file, &experiment.id, &point) {
                    return Some(format!(
                        "claim `{}` reads point `{}` of `{}`, which sets `{key}` itself, so that the answer does not \
                         reach it; use `over`, or write `keep = {{ \"{}\" = \"reason\" }}`",
                        claim.id,
                        point.id,
                        experiment.id,
                        point.id.split(',').next().unwrap_or_default()
                    ));
                }
            }
        }
        None
    }
}

/// The two sides of each comparison of a claim.
fn sides(claim: &Claim) -> Vec<[&Quantity; 2]> {
    let mut all = Vec::new();
    let baseline = claim.direction.as_ref().map(Direction::baseline);
    for quantity in claim.measure.iter().chain(baseline) {
        quantity.walk(&mut |q| {
            all.extend(q.pair().map(|[a, b]| [a, b]));
        });
    }
    all.extend(claim.measure.iter().zip(baseline).map(|(a, b)| [a, b]));
    all
}

/// True if one side is a part of a run and the other side is the whole run. The comparison is then a share.
fn is_share(a: &[Read<'_>], b: &[Read<'_>]) -> bool {
    let places = |side: &[Read<'_>]| side.iter().map(|r| r.0.clone()).collect::<BTreeSet<_>>();
    let whole = |side: &[Read<'_>]| side.iter().any(|r| r.1.starts_with("run."));
    places(a) == places(b) && (whole(a) || whole(b))
}

/// The parts of a scenario that an answer changes.
struct Effect {
    /// True if anything except the flows changes.
    network: bool,
    /// Names of the flows that change.
    flows: BTreeSet<String>,
}

impl Effect {
    fn of(before: &Scenario, after: &Scenario) -> Effect {
        let network = |s: &Scenario| Scenario { flows: Vec::new(), ..s.clone() };
        let differs = |flow: &&crate::scenario::FlowSpec| !before.flows.contains(flow);
        Effect {
            network: network(before) != network(after),
            flows: after.flows.iter().filter(differs).map(|f| f.name.clone()).collect(),
        }
    }

    /// True if it changes a side that reads this metric.
    fn reaches(&self, path: &str) -> bool {
        let of_flow = Metric::parse(path)
            .ok()
            .filter(|m| matches!(m.kind, Kind::Flow | Kind::Multipath | Kind::Subflow));
        let flow = of_flow.and_then(|m| m.name.split(':').next().map(str::to_owned));
        self.network || flow.map_or(!self.flows.is_empty(), |flow| self.flows.contains(&flow))
    }
}

impl Readings {
    /// The interpretations of a paper with its comparisons; `None` if its folder has no `readings.toml`.
    ///
    /// # Errors
    ///
    /// The first fault of the file, with its line and column.
    pub(super) fn of<'p>(
        paper: &'p Paper,
        plan: &Plan,
    ) -> Result<Option<(Readings, Comparisons<'p>)>, FileError> {
        let Some(text) = paper.file(FILE) else { return Ok(None) };
        let readings = parse(text, &paper.place(FILE), &paper.fidelity)?;
        let comparisons = Comparisons::of(paper, plan)?;
        match readings.faults(&comparisons).into_iter().next() {
            None => Ok(Some((readings, comparisons))),
            Some(fault) => Err(fault),
        }
    }

    /// All faults of a paper's `readings.toml`. A syntax error hides the faults after it.
    pub(crate) fn check(paper: &Paper, plan: &Plan) -> Vec<FileError> {
        let Some(text) = paper.file(FILE) else { return Vec::new() };
        let read = parse(text, &paper.place(FILE), &paper.fidelity);
        match read.and_then(|readings| Ok(readings.faults(&Comparisons::of(paper, plan)?))) {
            Ok(faults) => faults,
            Err(error) => vec![error],
        }
    }

    /// The faults of the answers.
    fn faults(&self, comparisons: &Comparisons) -> Vec<FileError> {
        let Comparisons { paper, plan, .. } = comparisons;
        let text = paper.file(FILE).unwrap_or_default();
        let place = paper.place(FILE);
        let known: Vec<&str> = plan.experiments.iter().map(|e| e.id.as_str()).collect();
        let mut all = Vec::new();
        for axis in &self.axes {
            for at in axis.running().filter(|at| *at != axis.headline) {
                let answer = &axis.alternatives[at];
                let unknown = answer.experiments.iter().find(|id| !known.contains(&id.as_str()));
                let wrong = match unknown {
                    Some(id) => {
                        vec![format!("experiment `{id}` not found{}", did_you_mean(id, &known))]
                    }
                    None => comparisons.faults(answer),
                };
                let error = |why: String| {
                    let message = format!("answer `{}` to {}: {why}", answer.name, axis.id);
                    FileError::at(&place, text, answer.span.clone(), message)
                };
                all.extend(wrong.into_iter().map(error));
            }
        }
        all
    }
}
