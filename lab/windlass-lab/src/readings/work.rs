//! Makes the runs of a paper's interpretations.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::file::{Reading, Readings};
use super::outcome::{Made, Outcome, RESULT, Seen, Stage, moves};
use super::symmetry::Comparisons;
use crate::Shard;
use crate::claims::{At, Basis, Claim, Quantity, Value, Verdict};
use crate::cost::EVENTS;
use crate::experiment::{Plan, Point, TraceRequest};
use crate::hash::digits;
use crate::papers::Paper;
use crate::reproduce::budget::{FIRST, LOOKS, all_seeds, read_by};
use crate::reproduce::error::ReproduceError;
use crate::reproduce::traces::{Asked, Traced};
use crate::run::store::{Batch, RunKey, Store, replace};
use crate::run::{self, Campaign, Failed, RunRecord, Runner, Task, World};
use crate::scenario::Scenario;

/// Folder of these runs within the paper's folder of results.
const DIR: &str = "readings";
/// Number of interpretations drawn over all axes, and the seed of the draw.
const DRAWN: usize = 24;
const DRAWN_FROM: u64 = 1;

/// Limit of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Simulated events of all interpretations together; `None` without a limit. The headline's events count
    /// towards it, and the headline always runs.
    pub events: Option<u64>,
}

impl Budget {
    /// The budget for about this number of seconds, which is the same number of events on every machine.
    pub fn seconds(seconds: f64) -> Budget {
        Budget { events: Some((seconds * EVENTS) as u64) }
    }
}

/// The interpretations of a paper, with their runs.
pub struct Survey<'p> {
    paper: &'p Paper,
    plan: Plan,
    comparisons: Comparisons<'p>,
    readings: Readings,
    /// Claims that depend on runs, in their order.
    ids: Vec<String>,
    /// The runs of the paper's reproduction, which the headline also uses.
    main: Batch,
    campaign: Campaign,
    traced: Traced,
    budget: Budget,
    events: u64,
    counted: BTreeSet<RunKey>,
    /// Scenarios of traced runs that are already counted.
    traces: BTreeSet<String>,
    impossible: BTreeSet<String>,
    left_out: BTreeSet<Reading>,
    made: Vec<Work>,
    finished: bool,
    /// The part of the interpretations to run. Only interpretations that do not depend on other results are
    /// divided.
    shard: Option<Shard>,
}

/// An interpretation with its runs.
struct Work {
    reading: Reading,
    stage: Stage,
    claims: Vec<Claim>,
    /// Seeds at each `experiment/point`.
    seeds: BTreeMap<String, u64>,
    seen: Vec<Seen>,
}

/// True if a claim is judged in every interpretation: it depends on runs, and a value decides it.
fn is_asked(claim: &Claim) -> bool {
    let of_runs = |q: &&Quantity| matches!(q, Quantity::Metric(_) | Quantity::Trace(_));
    claim.not_comparable.is_none()
        && claim.basis() == Basis::Measured
        && claim.quantities().iter().any(of_runs)
}

/// True if the simulator makes every run that a claim reads. The runs of kernels have no other interpretations.
fn is_simulated(claim: &Claim, plan: &Plan) -> bool {
    let simulated = |at: &At| {
        let found = at.place().and_then(|(id, point)| Some((plan.experiment(id)?, point)));
        found.is_some_and(|(experiment, id)| {
            experiment.point(id).is_some_and(|point| experiment.world(&point) == World::Sim)
        })
    };
    claim.quantities().iter().all(|q| !matches!(q, Quantity::Metric(at) if !simulated(at)))
}

/// True if a claim reads a traced run.
fn reads_trace(claim: &Claim) -> bool {
    claim.quantities().iter().any(|q| matches!(q, Quantity::Trace(_)))
}

impl<'p> Survey<'p> {
    /// Opens the runs of earlier calls in `out`; `None` if the paper has no `readings.toml`.
    ///
    /// # Errors
    ///
    /// A file of the paper is not valid, or the folder cannot be created.
    pub fn prepare(
        paper: &'p Paper,
        out: &Path,
        budget: Budget,
        shard: Option<Shard>,
    ) -> Result<Option<Survey<'p>>, ReproduceError> {
        let plan = paper.plan()?;
        let Some((readings, comparisons)) = Readings::of(paper, &plan)? else { return Ok(None) };
        let claims = paper.parsed_claims()?;
        let asked = claims.iter().filter(|c| is_asked(c) && is_simulated(c, &plan));
        let ids = asked.map(|c| c.id.clone()).collect();
        let dir = out.join(&paper.id);
        let (main, _) = Batch::share(&dir)?;
        let campaign = Campaign::open(dir.join(DIR), shard)?;
        let traced = Traced::open(paper, &plan, &dir, shard)?;
        Ok(Some(Survey {
            paper,
            comparisons,
            plan,
            readings,
            ids,
            main,
            campaign,
            traced,
            budget,
            events: 0,
            counted: BTreeSet::new(),
            traces: BTreeSet::new(),
            impossible: BTreeSet::new(),
            left_out: BTreeSet::new(),
            made: Vec::new(),
            finished: false,
            shard,
        }))
    }

    /// Runs the interpretations up to the budget, and calls `told` for each. After each, it writes `readings.json`
    /// into the paper's folder. Failed runs are returned with the result of the others. A shard runs its part of
    /// the interpretations that do not depend on results. The call without a shard runs the rest.
    ///
    /// # Errors
    ///
    /// A scenario is not valid, or results cannot be stored.
    pub fn work(
        mut self,
        runner: &Runner,
        told: &dyn Fn(&str),
    ) -> Result<(Outcome, Vec<Failed>), ReproduceError> {
        if self.shard.is_some() {
            return self.work_part(runner, told);
        }
        for (i, reading) in self.readings.alone().into_iter().enumerate() {
            let stage = if i == 0 { Stage::Headline } else { Stage::Alone };
            self.make(runner, reading, stage, told)?;
        }
        loop {
            let marked = moves(&self.seen());
            for reading in self.readings.together(&marked) {
                self.make(runner, reading, Stage::Together, told)?;
            }
            for reading in self.readings.drawn(DRAWN, DRAWN_FROM) {
                self.make(runner, reading, Stage::Drawn, told)?;
            }
            for seeds in LOOKS.into_iter().filter(|look| (FIRST + 1..u64::MAX).contains(look)) {
                for i in 0..self.made.len() {
                    self.deepen(runner, i, seeds, told)?;
                }
            }
            // With more seeds, other axes may move verdicts.
            if moves(&self.seen()) == marked {
                break;
            }
        }
        self.finished = true;
        Ok((self.keep()?, self.campaign.failed().to_vec()))
    }

    fn work_part(
        mut self,
        runner: &Runner,
        told: &dyn Fn(&str),
    ) -> Result<(Outcome, Vec<Failed>), ReproduceError> {
        let alone = self.readings.alone().into_iter().map(|reading| (reading, Stage::Alone));
        let drawn = self.readings.drawn(DRAWN, DRAWN_FROM);
        let all: Vec<_> = alone.chain(drawn.into_iter().map(|r| (r, Stage::Drawn))).collect();
        for (reading, stage) in Shard::part(self.shard, all) {
            self.make(runner, reading, stage, told)?;
        }
        Ok((self.outcome(), self.campaign.failed().to_vec()))
    }

    /// Writes the result so far, so that a killed survey keeps it.
    fn keep(&self) -> Result<Outcome, ReproduceError> {
        let outcome = self.outcome();
        if self.shard.is_some() {
            return Ok(outcome);
        }
        replace(self.main.dir(), RESULT, |out| {
            serde_json::to_writer_pretty(&mut *out, &outcome)?;
            out.write_all(b"\n")
        })?;
        Ok(outcome)
    }

    fn seen(&self) -> Vec<Made> {
        let made =
            |w: &Work| Made { choice: w.reading.0.clone(), stage: w.stage, seen: w.seen.clone() };
        self.made.iter().map(made).collect()
    }

    fn outcome(&self) -> Outcome {
        Outcome {
            of: self.paper.fingerprint(),
            finished: self.finished,
            left_out: self.left_out.len(),
            impossible: self.impossible.iter().cloned().collect(),
            drawn_from: DRAWN_FROM,
            events: self.events,
            budget: self.budget.events,
            ..Outcome::of(&self.readings, self.seen(), &self.ids)
        }
    }

    /// Runs an interpretation, unless it is finished or exceeds the budget.
    fn make(
        &mut self,
        runner: &Runner,
        reading: Reading,
        stage: Stage,
        told: &dyn Fn(&str),
    ) -> Result<(), ReproduceError> {
        if self.made.iter().any(|w| w.reading == reading) {
            return Ok(());
        }
        let claims = self.paper.claims_given(&self.readings.claims(&reading))?;
        let judged = |id: &str| !self.readings.spares(&reading, id);
        let places = self.places(&claims, judged).into_iter();
        // The headline uses all existing runs of its points.
        let kept = |place: &str| match stage {
            Stage::Headline => self.kept(place).max(FIRST),
            _ => FIRST,
        };
        let seeds = places.map(|p| (p.clone(), kept(&p))).collect();
        let work = Work { reading, stage, claims, seeds, seen: Vec::new() };
        if !self.has_room(self.cost(&work)) {
            self.left_out.insert(work.reading);
            return Ok(());
        }
        let name = self.name(&work.reading);
        match self.fill(runner, &work)? {
            Ok(seen) => {
                self.left_out.remove(&work.reading);
                self.made.push(Work { seen, ..work });
                self.keep()?;
                told(&format!("interpretation {}: {name}", self.made.len()));
            }
            Err(why) => _ = self.impossible.insert(format!("{name}: {why}")),
        }
        Ok(())
    }

    /// Makes more runs at the points of an interpretation's undecided claims.
    fn deepen(
        &mut self,
        runner: &Runner,
        i: usize,
        seeds: u64,
        told: &dyn Fn(&str),
    ) -> Result<(), ReproduceError> {
        let work = &self.made[i];
        let open = |id: &str| {
            let at = self.ids.iter().position(|known| known == id);
            at.is_some_and(|at| work.seen[at].verdict == Verdict::Undecided)
        };
        let mut more = work.seeds.clone();
        for place in self.places(&work.claims, open) {
            let most = self.point(&place).map_or(0, |(_, _, most)| most);
            more.entry(place).and_modify(|n| *n = (*n).max(seeds.min(most)));
        }
        let added: u64 = more.iter().map(|(place, n)| n - work.seeds[place]).sum();
        let runs = self.counted.len() as u64;
        if added == 0 || !self.has_room(self.events.checked_div(runs).unwrap_or(0) * added) {
            return Ok(());
        }
        let (reading, stage, claims) = (work.reading.clone(), work.stage, work.claims.clone());
        let work = Work { reading, stage, claims, seeds: more, seen: Vec::new() };
        if let Ok(seen) = self.fill(runner, &work)? {
            told(&format!("{seeds} seeds: {}", self.name(&work.reading)));
            self.made[i] = Work { seen, ..work };
            self.keep()?;
        }
        Ok(())
    }

    /// The events of an interpretation's new runs, estimated by the mean of the counted runs. An answer that only
    /// reads the same runs in another way costs nothing.
    fn cost(&self, work: &Work) -> u64 {
        let tasks = self.tasks(work).unwrap_or_default();
        let new = tasks.iter().filter(|t| !self.counted.contains(&t.key())).count() as u64;
        self.events.checked_div(self.counted.len() as u64).unwrap_or(0) * new
    }

    fn has_room(&self, cost: u64) -> bool {
        self.made.is_empty()
            || cost == 0
            || self.budget.events.is_none_or(|limit| self.events + cost <= limit)
    }

    fn name(&self, reading: &Reading) -> String {
        let names = self.readings.names(reading);
        let headline = self.readings.names(&self.readings.headline());
        let axes = self.readings.axes.iter().zip(names.iter().zip(&headline));
        let departures: Vec<String> = axes
            .filter(|(_, (name, plain))| name != plain)
            .map(|(axis, (name, _))| format!("{} {name}", axis.id))
            .collect();
        if departures.is_empty() { "the headline".to_owned() } else { departures.join(", ") }
    }

    /// Number of a point's runs that the paper's reproduction has stored, with consecutive seeds from 1.
    fn kept(&self, place: &str) -> u64 {
        let here = |r: &&RunRecord| {
            Some((r.experiment.as_str(), r.point.as_str())) == place.split_once('/')
        };
        let seeds: BTreeSet<u64> =
            self.main.records().iter().filter(here).map(|r| r.seed).collect();
        (1..).take_while(|seed| seeds.contains(seed)).count() as u64
    }

    /// The points that the judged claims read, for claims accepted by `wanted`.
    fn places(&self, claims: &[Claim], wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let asked = claims.iter().filter(|c| is_asked(c) && wanted(&c.id));
        let places = asked.flat_map(|c| read_by(c, &self.plan, self.traced.sources()));
        places.filter(|place| self.point(place).is_some()).collect()
    }

    /// The scenario's file, the point and its maximum number of seeds; `None` if the simulator does not make its
    /// runs.
    fn point(&self, place: &str) -> Option<(String, Point, u64)> {
        let (id, point) = place.split_once('/')?;
        let experiment = self.plan.experiment(id)?;
        let point = experiment.point(point)?;
        let most = all_seeds(experiment, &point);
        (experiment.world(&point) == World::Sim).then(|| (experiment.scenario.clone(), point, most))
    }

    /// The runs of an interpretation; an error with the reason if its alternatives contradict each other.
    fn tasks(&self, work: &Work) -> Result<Vec<Task>, String> {
        let mut tasks = Vec::new();
        for (place, seeds) in &work.seeds {
            let Some((file, point, most)) = self.point(place) else { continue };
            let experiment = place.split('/').next().unwrap_or_default();
            let at = (experiment, file.as_str());
            let scenario = self.readings.scenario(self.paper, at, &point, &work.reading)?;
            let Some(planned) = self.plan.experiment(experiment) else { continue };
            let task = planned.task(&point, scenario);
            let wanted = (*seeds).min(most);
            // An answer that does not change this scenario has all runs of the headline. With fewer runs, the same
            // scenario could be decided in the headline and open here.
            let more = (wanted + 1..=most)
                .take_while(|seed| self.main.has(&Task { seed: *seed, ..task.clone() }.key()));
            let last = more.last().unwrap_or(wanted);
            tasks.extend((1..=last).map(|seed| Task { seed, ..task.clone() }));
        }
        Ok(tasks)
    }

    /// Makes the missing runs of an interpretation, and judges its claims.
    fn fill(
        &mut self,
        runner: &Runner,
        work: &Work,
    ) -> Result<Result<Vec<Seen>, String>, ReproduceError> {
        let tasks = match self.tasks(work) {
            Ok(tasks) => tasks,
            Err(why) => return Ok(Err(why)),
        };
        let elsewhere = |t: &&Task| self.main.has(&t.key());
        let wanted = tasks.iter().filter(|t| !elsewhere(t)).cloned().collect();
        let record = |task: &Task, ran: &run::Ran| self.plan.record(task, ran);
        self.campaign.round(wanted, runner, record, |_, _, _| ())?;
        let mut records: Vec<RunRecord> = Vec::new();
        for key in tasks.iter().map(Task::key) {
            let Some(record) = self.campaign.get(&key).or_else(|| self.main.get(&key)) else {
                continue;
            };
            if self.counted.insert(key) {
                self.events += record.events;
            }
            records.push(record.clone());
        }
        let traced = match self.trace(work, &records, runner)? {
            Ok(traced) => traced,
            Err(why) => return Ok(Err(why)),
        };
        let judgements = self.paper.judge_on(&self.plan, &work.claims, &records, &traced)?;
        let spared = self.spared(work, &tasks);
        let seen = |id: &String| {
            let claim = work.claims.iter().find(|c| c.id == *id)?;
            let runs = self.fingerprint(claim, &tasks);
            let seen = Seen::of(judgements.iter().find(|j| j.id == *id)?, runs);
            let spared = spared.contains(id).then_some(Verdict::NotComparable);
            Some(Seen { verdict: spared.unwrap_or(seen.verdict), ..seen })
        };
        Ok(Ok(self.ids.iter().filter_map(seen).collect()))
    }

    /// Fingerprint of a claim and of the scenarios that it reads: 16 hexadecimal digits.
    fn fingerprint(&self, claim: &Claim, tasks: &[Task]) -> String {
        let places = read_by(claim, &self.plan, self.traced.sources());
        let read = |t: &&Task| places.contains(&format!("{}/{}", t.experiment, t.point));
        let scenarios: BTreeSet<&str> =
            tasks.iter().filter(read).map(|t| &*t.scenario_hash).collect();
        digits(format!("{claim:?} {scenarios:?}").as_bytes())
    }

    /// Claims that an interpretation does not judge. Either an answer excludes them, or the answers together make
    /// both sides of their comparison the same runs.
    fn spared(&self, work: &Work, tasks: &[Task]) -> BTreeSet<String> {
        let hash = |place: &str| {
            let here = |t: &&Task| {
                Some((t.experiment.as_str(), t.point.as_str())) == place.split_once('/')
            };
            tasks.iter().find(here).map(|t| t.scenario.hash())
        };
        let mut spared = self.comparisons.collapsed(&work.claims, &hash);
        let excluded = self.ids.iter().filter(|id| self.readings.spares(&work.reading, id));
        spared.extend(excluded.cloned());
        spared
    }

    /// Values of the traced runs of an interpretation; empty if no claim needs them.
    fn trace(
        &mut self,
        work: &Work,
        records: &[RunRecord],
        runner: &Runner,
    ) -> Result<Result<BTreeMap<String, Value>, String>, ReproduceError> {
        let claims: Vec<&Claim> =
            work.claims.iter().filter(|c| is_asked(c) && reads_trace(c)).collect();
        if claims.is_empty() {
            return Ok(Ok(BTreeMap::new()));
        }
        let scenarios = match self.traced_scenarios(&work.reading) {
            Ok(scenarios) => scenarios,
            Err(why) => return Ok(Err(why)),
        };
        let (paper, plan, scenarios) = (self.paper, &self.plan, &scenarios[..]);
        let asked = Asked { paper, plan, claims: &claims, records, scenarios };
        let (values, events) = self.traced.values(&asked, runner)?;
        let forms: Vec<String> = scenarios.iter().map(|s| run::form(s, &s.hash())).collect();
        if self.traces.insert(forms.join(" ")) {
            self.events += events;
        }
        Ok(Ok(values))
    }

    /// The scenarios of the plan's traces in an interpretation.
    fn traced_scenarios(&self, reading: &Reading) -> Result<Vec<Arc<Scenario>>, String> {
        let scenario = |request: &TraceRequest| {
            let place = request.place();
            let (file, mut point, _) =
                self.point(&place).ok_or_else(|| format!("point {place} not found"))?;
            point.overrides.extend(request.overrides());
            let at = (request.experiment.as_str(), file.as_str());
            self.readings.scenario(self.paper, at, &point, reading).map(Arc::new)
        };
        self.plan.traces.iter().map(scenario).collect()
    }
}
