//! Runs as messages to other processes and machines.
//!
//! [`Remote`] is the simulator of another process: it sends each run as an [`Order`], and reads the answer. Every verb
//! therefore works with it. A run is a pure function of its order.

use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::{Backend, Ran, RunError, Runner, Task, VERSION, World};

/// A run to make, with all the data that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    version: String,
    name: String,
    seed: u64,
    /// The resolved scenario, as TOML.
    scenario: String,
}

/// The answer to an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Result of the run.
    Result(Box<RunResult>),
    /// The run gave no result, for this reason. Others may succeed.
    Failed(String),
    /// The order cannot be carried out, for this reason.
    Refused(String),
}

impl Order {
    fn new(scenario: &Scenario, seed: u64) -> Order {
        Order {
            version: VERSION.to_owned(),
            name: scenario.name.clone(),
            seed,
            scenario: scenario.resolved_toml(),
        }
    }

    /// Makes the run on one processor.
    pub fn perform(&self, runner: &Runner) -> Answer {
        if self.version != VERSION {
            return Answer::Refused(format!(
                "the run is for Windlass {}, and this is {VERSION}; use the same version everywhere",
                self.version
            ));
        }
        let scenario = match Scenario::from_str(&self.scenario, &self.name) {
            Ok(scenario) => scenario,
            Err(e) => return Answer::Refused(e.message().to_owned()),
        };
        let task = Task {
            experiment: self.name.clone(),
            point: String::new(),
            seed: self.seed,
            scenario_hash: World::Sim.hash(&scenario).into(),
            scenario: Arc::new(scenario),
            world: World::Sim,
        };
        let result = Mutex::new(None);
        // The runner turns a panic into a failure.
        let outcome = runner.execute(slice::from_ref(&task), |_, ran, _| {
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(ran.result);
            Ok::<(), RunError>(())
        });
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (outcome, result) {
            (Ok(_), Some(result)) => Answer::Result(Box::new(result)),
            (Ok(failed), None) => {
                Answer::Failed(failed.into_iter().map(|f| f.reason).collect::<String>())
            }
            (Err(e), _) if e.is_input() => Answer::Refused(e.to_string()),
            (Err(e), _) => Answer::Failed(e.to_string()),
        }
    }
}

/// Sends an order, waits, and returns the text of the answer.
pub type Send = dyn Fn(String) -> Result<String, RunError> + Sync + std::marker::Send;

/// The simulator of other processes.
pub struct Remote(Box<Send>);

impl Remote {
    /// A simulator that is reached by this function. Several threads call it.
    pub fn new(send: Box<Send>) -> Remote {
        Remote(send)
    }
}

impl Backend for Remote {
    fn world(&self) -> World {
        World::Sim
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        let order =
            serde_json::to_string(&Order::new(scenario, seed)).map_err(RunError::backend)?;
        let answer = (self.0)(order)?;
        match serde_json::from_str(&answer).map_err(RunError::backend)? {
            Answer::Result(result) => Ok(Ran { result: *result, kernel: None }),
            Answer::Failed(reason) => Err(RunError::backend(reason)),
            Answer::Refused(reason) => Err(RunError::Refused(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = '5s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n\
        loss = { model = 'drop', probability = '1%' }\n[[flow]]\nfrom = 'a'\nto = 'b'\nalgorithm = 'reno'\n\
        [record]\nbins = '1s'\nseries = ['cwnd_bytes']";

    fn elsewhere(order: String) -> Result<String, RunError> {
        let order: Order = serde_json::from_str(&order).map_err(RunError::backend)?;
        serde_json::to_string(&order.perform(&Runner::new(1))).map_err(RunError::backend)
    }

    #[test]
    fn a_run_elsewhere_has_the_result_of_a_run_here() {
        let scenario = Scenario::from_str(TEXT, "s.toml").unwrap();
        let here = crate::simulate(&scenario, 3).unwrap();
        let there = Remote::new(Box::new(elsewhere)).run(&scenario, 3).unwrap().result;
        assert!(there.timeline.is_some() && !there.samples.is_empty());
        assert_eq!(there, here);
    }

    #[test]
    fn an_order_of_another_version_is_refused() {
        let scenario = Scenario::from_str(TEXT, "s.toml").unwrap();
        let mut order = Order::new(&scenario, 1);
        order.version = "0.0.0".to_owned();
        let Answer::Refused(why) = order.perform(&Runner::new(1)) else { panic!("made") };
        assert!(why.ends_with("use the same version everywhere"), "{why}");
    }
}
