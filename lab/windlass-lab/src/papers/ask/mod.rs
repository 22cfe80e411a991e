//! The functions and values of a paper's expressions: runs, traces, claims, and values computed from them.

mod course;
mod recorded;
mod summing;
mod values;

use summing::Summing;

pub(crate) use course::{Course, fate};
pub(crate) use recorded::Recorded;
pub(crate) use values::Values;

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::{Kwargs, Object};
use minijinja::{Environment, Error, State, Value};
use serde::Deserialize;

use super::material::{Material, Trace};
use super::parts::cells::{self, printed, signed};
use super::parts::significance::{Tested, probability, tested};
use super::parts::verdicts::listed;
use crate::claims::{Claim, Judgement, Kind, Metric, look_up, matches};
use crate::experiment::{FileError, Plan, TraceRequest};
use crate::report::numbers::number;
use crate::run::RunRecord;
use crate::scenario::{Scenario, what_there_is};
use crate::template::{Vars, absent, environment, is_absent, known_names, mistake, said};

/// `measures.toml`: the values that the report reads from each run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measures {
    /// Summary of the runs of a point.
    #[serde(default)]
    statistic: Summing,
    #[serde(default)]
    measure: Vec<Measure>,
}

/// A number of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measure {
    /// Its name in expressions.
    name: toml::Spanned<String>,
    /// A metric's path, or an expression over `metric(PATH)`.
    of: toml::Spanned<String>,
    /// Name and unit in headings.
    #[serde(default)]
    label: String,
}

/// Evidence that expressions share.
#[derive(Debug)]
struct Source {
    plan: Arc<Plan>,
    claims: Vec<Claim>,
    judgements: Vec<Judgement>,
    traces: BTreeMap<String, Arc<Trace>>,
    /// The request of each trace of the plan.
    recorded: BTreeMap<String, Arc<Recorded>>,
    runs: BTreeMap<String, Vec<Arc<RunRecord>>>,
    summing: Summing,
    /// If set, no run is read, and everything that exists has a value, so that only mistakes remain. If traces are
    /// given, only they have values.
    probing: Option<Scenarios>,
}

/// A scenario of each experiment, whose flows and links measures may name.
pub(crate) type Scenarios = BTreeMap<String, Arc<Scenario>>;

/// Stand-ins for three runs.
const PROBES: [f64; 3] = [1.0, 2.0, 3.0];

/// The environment in which a paper's report and findings are evaluated.
pub(crate) fn asking(
    m: &Material,
    probing: Option<&Scenarios>,
) -> Result<Environment<'static>, FileError> {
    let file = m.paper.place("measures.toml");
    let text = m.paper.file("measures.toml").unwrap_or_default();
    let measures: Measures = crate::template::read(text, &file)?;
    let mut runs: BTreeMap<String, Vec<Arc<RunRecord>>> = BTreeMap::new();
    for r in m.records {
        runs.entry(format!("{}/{}", r.experiment, r.point)).or_default().push(Arc::new(r.clone()));
    }
    let plan = Arc::new(m.plan.clone());
    let recorded = |t: &TraceRequest| (t.id.clone(), Arc::new(Recorded::of(m.paper, &plan, t)));
    let source = Arc::new(Source {
        recorded: m.plan.traces.iter().map(recorded).collect(),
        plan: plan.clone(),
        claims: m.claims.to_vec(),
        judgements: m.judgements.to_vec(),
        traces: m.traces.iter().map(|(id, t)| (id.clone(), Arc::new(t.clone()))).collect(),
        runs,
        summing: measures.statistic,
        probing: probing.cloned(),
    });
    let mut env = environment();
    super::forms::add(&mut env);
    add_functions(&mut env, &source, &m.paper.models()?);
    add_filters(&mut env);
    let mut all = Vec::new();
    for Measure { name, of, label } in measures.measure {
        if env.globals().any(|(known, _)| known == *name.get_ref()) {
            let message =
                format!("`{}` is something else already; give it another name", name.get_ref());
            return Err(FileError::at(&file, text, name.span(), message));
        }
        let written = of.get_ref();
        let expression = match written.contains('(') {
            true => written.clone(),
            false => format!("metric({written:?})"),
        };
        all.push((expression.clone(), of.span()));
        let asked = Asked { source: source.clone(), of: expression, label };
        env.add_global(name.into_inner(), Value::from_object(asked));
    }
    for (expression, span) in all {
        let probe = Value::from_object(Probe(None));
        let right = env.compile_expression_owned(expression).and_then(|expression| {
            known_names(&env, expression.undeclared_variables(false), &Vars::new())?;
            expression.eval(minijinja::context! { run => probe })
        });
        match right {
            Err(e) if !is_absent(&e) => return Err(FileError::at(&file, text, span, said(&e))),
            _ => {}
        }
    }
    Ok(env)
}

/// A measure in an environment. A call with `experiment/point` returns the values of the runs there.
#[derive(Debug)]
struct Asked {
    source: Arc<Source>,
    of: String,
    label: String,
}

impl Object for Asked {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("label")).then(|| Value::from(self.label.clone()))
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let (place,): (&str,) = minijinja::value::from_args(args)?;
        self.source.exists(place)?;
        let env = state.env();
        let expression = env.compile_expression_owned(self.of.clone())?;
        let one = |run: Value| match expression.eval(minijinja::context! { run }) {
            Ok(v) => Ok(f64::try_from(v).ok()),
            Err(e) if crate::template::is_absent(&e) => Ok(None),
            Err(e) => Err(e),
        };
        let mut values = BTreeMap::new();
        if let Some(scenarios) = &self.source.probing {
            let experiment = place.split('/').next().unwrap_or_default();
            one(Value::from_object(Probe(scenarios.get(experiment).cloned())))?;
            values.extend((1..).zip(PROBES));
        }
        for run in self.source.at(place) {
            if let Some(v) = one(Value::from_object(Run(run.clone())))? {
                values.insert(run.seed, v);
            }
        }
        Ok(Value::from_object(Values { values, summing: self.source.summing }))
    }
}

/// The run that a measure reads.
#[derive(Debug)]
struct Run(Arc<RunRecord>);
impl Object for Run {}

/// A stand-in for a run of a scenario.
#[derive(Debug)]
struct Probe(Option<Arc<Scenario>>);
impl Object for Probe {}

/// The current run. For a stand-in it checks that a run would have a value of the metric for a name that `meant`
/// accepts.
fn run_at_hand(
    state: &State,
    metric: &Metric,
    meant: impl Fn(&str) -> bool,
) -> Result<Option<Arc<RunRecord>>, Error> {
    let run = state.lookup("run").ok_or_else(|| mistake("only a measure reads a run"))?;
    if let Some(Probe(Some(scenario))) = run.downcast_object_ref::<Probe>() {
        metric.check(scenario, meant).map_err(mistake)?;
    }
    Ok(run.downcast_object_ref::<Run>().map(|Run(record)| record.clone()))
}

/// The value of a metric in the current run. With `flows`, only over the flows that match this pattern.
fn metric(state: &State, path: &str, options: Kwargs) -> Result<Value, Error> {
    let metric = Metric::parse(path).map_err(mistake)?;
    let flows: Option<&str> = options.get("flows")?;
    options.assert_all_used()?;
    let named = match flows {
        None => metric.clone(),
        Some(pattern) => Metric { kind: Kind::Flow, name: pattern.to_owned(), ..metric.clone() },
    };
    let is_meant = |name: &str| flows.map_or(name == metric.name, |p| matches(p, name));
    let Some(record) = run_at_hand(state, &named, is_meant)? else {
        return Ok(1.0.into());
    };
    let value = match flows {
        None => metric.of(&record),
        Some(pattern) => {
            let mut part = RunRecord::clone(&record);
            part.flows.retain(|f| matches(pattern, &f.name));
            metric.of(&part)
        }
    };
    value.map(Value::from).ok_or_else(absent)
}

/// Number of the flows that match the pattern and have a field above zero.
fn count(state: &State, pattern: &str, field: &str) -> Result<Value, Error> {
    let metric = Metric::parse(&format!("flow.{pattern}.{field}")).map_err(mistake)?;
    let run = run_at_hand(state, &metric, |name| matches(pattern, name))?;
    let Some(record) = run else { return Ok(1.0.into()) };
    let has = |name: &str| {
        let metric = Metric::parse(&format!("flow.{name}.{field}")).ok();
        metric.and_then(|m| m.of(&record)).is_some_and(|v| v > 0.0)
    };
    let mine = record.flows.iter().filter(|f| matches(pattern, &f.name) && has(&f.name));
    Ok(Value::from(mine.count() as f64))
}

/// Packets dropped in the first seconds of the current run.
fn dropped_until(state: &State, end_s: f64) -> Result<Value, Error> {
    let run = state.lookup("run").ok_or_else(|| mistake("`dropped_until` is for measures"))?;
    let Some(Run(record)) = run.downcast_object_ref::<Run>() else { return Ok(1.0.into()) };
    let course = record.course.as_ref().ok_or_else(absent)?;
    let bins = (end_s / course.bin_s) as usize;
    Ok(Value::from(course.dropped(bins).iter().sum::<u64>() as f64))
}

impl Source {
    fn at(&self, place: &str) -> &[Arc<RunRecord>] {
        self.runs.get(place).map_or(&[], Vec::as_slice)
    }

    /// Checks that the plan has this `experiment/point`.
    fn exists(&self, place: &str) -> Result<(), Error> {
        self.plan.look_up(place).map_err(mistake)
    }

    fn axis(&self, experiment: &str, axis: &str) -> Result<&[crate::experiment::AxisValue], Error> {
        let found = self.plan.experiment(experiment);
        let found = found.ok_or_else(|| {
            let known: Vec<&str> = self.plan.experiments.iter().map(|e| e.id.as_str()).collect();
            let instead = what_there_is(experiment, &known);
            mistake(format!("experiment `{experiment}` not found{instead}"))
        })?;
        let values = found.axes.iter().find(|a| a.name == axis).map(|a| &*a.values);
        values.ok_or_else(|| {
            let known: Vec<&str> = found.axes.iter().map(|a| a.name.as_str()).collect();
            let instead = what_there_is(axis, &known);
            mistake(format!("experiment `{experiment}` has no axis `{axis}`{instead}"))
        })
    }

    fn claim(&self, id: &str) -> Result<Value, Error> {
        let claim = look_up(&self.claims, id).map_err(mistake)?;
        let judgement = self.judgements.iter().find(|j| j.id == id).cloned();
        let said = Said { claim: claim.clone(), judgement, probing: self.probing.is_some() };
        Ok(Value::from_object(said))
    }

    fn trace(&self, id: &str) -> Result<Value, Error> {
        self.plan.look_up_trace(id).map_err(mistake)?;
        let recorded = self.recorded[id].clone();
        if let Some(scenarios) = &self.probing
            && (self.traces.is_empty() || self.traces.contains_key(id))
        {
            let strict = !scenarios.is_empty();
            return Ok(Value::from_object(course::Traced::probe(recorded, strict)));
        }
        let trace = self.traces.get(id).ok_or_else(absent)?;
        Ok(Value::from_object(course::Traced::of(trace.clone(), recorded)))
    }

    /// Number of the common seeds of two points whose runs are equal in all packets, and number of all common
    /// seeds.
    fn alike(&self, a: &str, b: &str) -> Result<Vec<usize>, Error> {
        self.exists(a)?;
        self.exists(b)?;
        if self.probing.is_some() {
            return Ok(vec![1, 2]);
        }
        let trail = |place: &str| -> BTreeMap<u64, (u64, u64)> {
            self.at(place).iter().map(|r| (r.seed, (r.events, r.packet_hops))).collect()
        };
        let (a, b) = (trail(a), trail(b));
        let common: Vec<bool> = a.iter().filter_map(|(s, a)| Some(a == b.get(s)?)).collect();
        if common.is_empty() {
            return Err(absent());
        }
        Ok(vec![common.iter().filter(|same| **same).count(), common.len()])
    }
}

/// A claim with its verdict. Its text is the measured value with its interval.
#[derive(Debug)]
pub(crate) struct Said {
    /// The paper's claim.
    pub(crate) claim: Claim,
    /// The judgement, if the claim was judged.
    pub(crate) judgement: Option<Judgement>,
    probing: bool,
}

impl Object for Said {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let j = self.judgement.as_ref();
        let text = |t: &str| Some(Value::from(t));
        match key.as_str()? {
            "paper" => self.claim.paper.map(Value::from),
            "printed" => text(&printed(self.claim.paper)),
            "corrected" => {
                let value = self.claim.compare_with.as_ref().map(|c| printed(Some(c.value)));
                Some(Value::from(value.unwrap_or_default()))
            }
            "source" => text(&self.claim.source),
            "quantity" => text(&self.claim.quantity),
            "measured" if self.probing => Some(Value::from(1.0)),
            "measured" => j?.measured.map(Value::from),
            "verdict" => text(j.map_or("not judged", |j| j.verdict.badge().name)),
            _ => None,
        }
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.judgement {
            Some(j) => f.write_str(&cells::measured(j)),
            None => f.write_str("not judged"),
        }
    }
}

/// Result of a test of paired differences.
#[derive(Debug)]
struct Answer(Tested);

impl Object for Answer {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let t = &self.0;
        Some(match key.as_str()? {
            "mean" => cells::mean(t.summary).into(),
            "p" => probability(t.t).into(),
            "p_rank" => probability(t.rank).into(),
            "effect" => cells::optional(t.effect).into(),
            "rejected" => t.t.is_some_and(|h| h.rejected).into(),
            "value" => t.summary?.mean.into(),
            "low" => t.ci?[0].into(),
            "high" => t.ci?[1].into(),
            _ => return None,
        })
    }
}

/// Tests sets of paired differences that are one family.
fn family(sets: Vec<Value>) -> Result<Vec<Value>, Error> {
    let sets: Vec<Vec<f64>> = sets.iter().map(values::numbers).collect::<Result<_, _>>()?;
    let slices: Vec<&[f64]> = sets.iter().map(Vec::as_slice).collect();
    Ok(tested(&slices).into_iter().map(|t| Value::from_object(Answer(t))).collect())
}

/// The values of an expression for each item of a list, which has a name in the expression.
fn each(
    state: &State,
    expression: &str,
    name: &str,
    items: Vec<Value>,
) -> Result<Vec<Value>, Error> {
    let compiled = state.env().compile_expression_owned(expression.to_owned())?;
    let mut all = Vec::new();
    for item in items {
        let mut context: BTreeMap<String, Value> = BTreeMap::new();
        for name in compiled.undeclared_variables(false) {
            context.extend(state.lookup(&name).map(|v| (name, v)));
        }
        context.insert(name.to_owned(), item);
        match compiled.eval(Value::from(context)) {
            Ok(value) => all.push(value),
            Err(e) if crate::template::is_absent(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(all)
}

/// The value of an expression that is given as text.
fn evaluate(state: &State, expression: &str) -> Result<Value, Error> {
    each(state, expression, "", vec![Value::from(0)])?.pop().ok_or_else(absent)
}

fn add_functions(
    env: &mut Environment<'static>,
    source: &Arc<Source>,
    models: &BTreeMap<String, f64>,
) {
    env.add_function("each", each);
    env.add_function("evaluate", evaluate);
    env.add_function("metric", metric);
    env.add_function("count", count);
    env.add_function("dropped_until", dropped_until);
    env.add_function("tested", family);
    values::add(env);
    let s = source.clone();
    env.add_function("labels", move |experiment: &str, axis: &str| {
        let values = s.axis(experiment, axis)?;
        Ok::<_, Error>(values.iter().map(|v| v.label.clone()).collect::<Vec<String>>())
    });
    let s = source.clone();
    env.add_function("axis", move |experiment: &str, axis: &str| {
        let values = s.axis(experiment, axis)?;
        let rows = values.iter().map(|v| vec![v.label.clone(), v.about.clone()]);
        Ok::<_, Error>(rows.collect::<Vec<Vec<String>>>())
    });
    env.add_function("model", {
        let models = models.clone();
        move |name: &str| {
            let value = models.get(name).copied();
            value.ok_or_else(|| mistake(format!("models.toml has no model `{name}`")))
        }
    });
    let s = source.clone();
    env.add_function("claim", move |id: &str| s.claim(id));
    let s = source.clone();
    env.add_function("trace", move |id: &str| s.trace(id));
    let s = source.clone();
    env.add_function("alike", move |a: &str, b: &str| s.alike(a, b));
    let s = source.clone();
    env.add_function("drop_curve", move |places: Vec<String>, step_s: f64| {
        places.iter().try_for_each(|place| s.exists(place))?;
        let runs: Vec<&RunRecord> =
            places.iter().flat_map(|p| s.at(p)).map(AsRef::as_ref).collect();
        Ok::<_, Error>(Value::from_object(course::drops(&runs, step_s)))
    });
    let s = source.clone();
    env.add_function("kernels", move |experiment: &str| {
        let mine = s.runs.values().flatten().filter(|r| r.experiment == experiment);
        let mut all: Vec<String> = mine
            .filter_map(|r| Some(format!("{}: kernel {}.", r.world, r.kernel.as_ref()?)))
            .collect();
        all.sort();
        all.dedup();
        all
    });
}

/// A number with three significant digits.
fn three(v: f64) -> String {
    if v == 0.0 {
        return number(v);
    }
    let unit = libm::exp10(libm::log10(v.abs()).floor() - 2.0);
    number((v / unit).round() * unit)
}

/// The text with a capital first letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn add_filters(env: &mut Environment<'static>) {
    env.add_filter("number", number);
    env.add_filter("signed", signed);
    env.add_filter("three", three);
    env.add_filter("sentence", |text: &str| sentence(text));
    env.add_filter("printed", |v: f64| printed(Some(v)));
    env.add_filter("fixed", |v: f64, digits: usize| format!("{v:.digits$}"));
    env.add_filter("listed", |items: Vec<String>| listed(&items));
}
