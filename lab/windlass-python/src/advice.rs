//! Advice on an algorithm for a network, and the search for an attack.

use pyo3::prelude::*;
use windlass_lab::adversary::{Bounds, Goal, Search};
use windlass_lab::choose::{Choice, Device, Spread, candidates, text, usual_aim};
use windlass_lab::compare::Request;
use windlass_lab::run::World;
use windlass_lab::scenario::{Candidate, did_you_mean};
use windlass_lab::units::{Bytes, Duration};

use crate::compare::measure;
use crate::count::count;
use crate::elsewhere::{Elsewhere, runner};
use crate::errors::{failed, input, of, scenario as wrong_scenario};
use crate::results::made;
use crate::scenario::Scenario;
use crate::watch::watched;

/// Recommends an algorithm for a network that is not known exactly. Returns the advice as text and as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, algorithms, aim, seeds, uncertain, memory, flash, jobs, progress, elsewhere))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of the function in Python")]
pub fn choose(
    py: Python<'_>,
    scenario: &Scenario,
    algorithms: Vec<String>,
    aim: Option<&str>,
    #[pyo3(from_py_with = count)] seeds: u64,
    uncertain: [f64; 3],
    memory: Option<String>,
    flash: Option<String>,
    #[pyo3(from_py_with = count)] jobs: usize,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<(String, String)> {
    let size = |name: &str, size: Option<String>| -> PyResult<Option<u64>> {
        let parsed = size.map(|size| size.parse::<Bytes>()).transpose();
        parsed.map(|size| size.map(|size| size.0)).map_err(|e| input(&format!("{name}: {e}")))
    };
    let device = Device { memory: size("memory", memory)?, flash: size("flash", flash)? };
    let (algorithms, left_out) = match algorithms.is_empty() {
        true => candidates(&scenario.read, &device).map_err(of)?,
        false => {
            device.check(&algorithms).map_err(of)?;
            (algorithms, Vec::new())
        }
    };
    let measure = match aim {
        Some(aim) => measure("aim", aim)?,
        None => usual_aim(&scenario.read),
    };
    let request = Request {
        scenario: (*scenario.read).clone(),
        algorithms,
        settings: Vec::new(),
        flows: Vec::new(),
        seeds,
        baseline: None,
        jitter: None,
        measure: Some(measure),
        harm: false,
        world: World::Sim,
    };
    let [rate, delay, loss] = uncertain;
    let question = request.question().map_err(of)?;
    let choice = Choice::new(question, Spread { rate, delay, loss }, left_out).map_err(of)?;
    let made = made(py, &choice.tasks(), (None, ""), jobs, progress.as_ref(), elsewhere)?;
    let (records, _, without) = made;
    if let Some(first) = without.first() {
        return Err(failed(&format!("a run gave no result: {first}")));
    }
    let advice = choice.advice(&records).map_err(of)?;
    let json = serde_json::to_string(&advice).map_err(|e| failed(&e.to_string()))?;
    Ok((text(&advice, &choice.left_out), json))
}

/// Searches for conditions that harm an algorithm. Returns the result as JSON, and the scenario with the attack as
/// TOML. The times are texts with units.
#[pyfunction]
#[pyo3(signature = (algorithm, goal, rival, losses, bursts, shortest_queue, longest_queue, rate, times, runs, seed, jobs, progress, elsewhere))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of the function in Python")]
pub fn attack(
    py: Python<'_>,
    algorithm: &str,
    goal: &str,
    rival: Option<&str>,
    #[pyo3(from_py_with = count)] losses: usize,
    bursts: f64,
    #[pyo3(from_py_with = count)] shortest_queue: u64,
    #[pyo3(from_py_with = count)] longest_queue: u64,
    rate: f64,
    times: [String; 3],
    #[pyo3(from_py_with = count)] runs: u64,
    #[pyo3(from_py_with = count)] seed: u64,
    #[pyo3(from_py_with = count)] jobs: usize,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<(String, String)> {
    let known: Vec<&str> = Goal::ALL.iter().map(|(name, _)| *name).collect();
    let found = Goal::ALL.iter().find(|(name, _)| *name == goal).map(|(_, goal)| *goal);
    let goal = found.ok_or_else(|| {
        let near = did_you_mean(goal, &known);
        input(&format!("goal: `{goal}` not found{near}; expected one of {}", known.join(", ")))
    })?;
    let ms = |name: &str, text: &str| -> PyResult<u64> {
        let time = text.parse::<Duration>().map_err(|e| input(&format!("{name}: {e}")))?;
        Ok(time.0.0 / 1_000_000)
    };
    let [outages, jitter, acks] = &times;
    let bounds = Bounds {
        losses,
        bursts,
        outages_ms: ms("outages", outages)?,
        queue: [shortest_queue, longest_queue],
        rate,
        jitter_ms: ms("jitter", jitter)?,
        acks_ms: ms("acks", acks)?,
    };
    let candidate = |text| Candidate::parse(text).map_err(|e| wrong_scenario(&e, false));
    let (subject, rival) = (candidate(algorithm)?, rival.map(candidate).transpose()?);
    let search = Search { subject, rival, goal, bounds, runs, seed, world: World::Sim };
    let found = watched(py, progress.as_ref(), |watch| {
        watch.expect(usize::try_from(runs).unwrap_or(usize::MAX));
        search.work(&runner(watch.stop(), jobs, elsewhere), || watch.made()).map_err(of)
    })??;
    let json = serde_json::to_string(&found).map_err(|e| failed(&e.to_string()))?;
    Ok((json, found.scenario.resolved_toml()))
}
