//! Replay check: comparison of an algorithm in a kernel with the native core, and of the two hosts around it.
//!
//! Six networks are run at once, each with its own flow and with the algorithm in the kernel. Every event
//! that the algorithm receives is recorded with the answer, and replayed on the native core. The answers must
//! be bit-identical.
//!
//! The same networks are then simulated, and the windows compared. Differences there come from the hosts, not
//! from the algorithm. A coupled algorithm has separate networks, in which a connection uses two paths; the
//! recording then includes the state that each path saw of the other. Hosts other than a kernel provide a
//! recording ([`recorded`]).

pub mod facts;
mod figures;
mod recorded;

use std::sync::Arc;

use facts::{Difference, Heard, Listener, Log};
pub use figures::Figures;
pub use recorded::{ns3, recorded};
use windlass_cc::{AnyParams, Setup};
pub use windlass_conform::recording::{Recording, read_all as read};
use windlass_run::{Backend, Ran, RunError, Simulator, World};
use windlass_scenario::{FlowSpec, Home, Scenario};
use windlass_sim::{FlowResult, RunResult, Series};
use windlass_tcp::CongestionControl;

use crate::bpf::object::{self, Whose};
use crate::bpf::record::Moment;
use crate::bpf::replay::Replayed;
use crate::live::Watch;
use crate::{LinuxVt, linux, live};

/// Networks for algorithms with one path, and with two paths.
const NETWORKS: &str = include_str!("networks.toml");
const PATHS: &str = include_str!("paths.toml");
/// Network that is only used to measure costs.
const FAST: &str = include_str!("fast.toml");

fn scenario(params: &AnyParams) -> Scenario {
    read_in(if is_coupled(params) { PATHS } else { NETWORKS })
}

fn read_in(networks: &str) -> Scenario {
    Scenario::from_str(networks, "networks").expect("a scenario of this project")
}

/// True if an algorithm is tested on two paths of a connection.
pub fn is_coupled(params: &AnyParams) -> bool {
    object::COUPLED.contains(&params.info().id)
}

/// One network, run in a host and in the simulator.
#[derive(Clone, Debug)]
pub struct Twin {
    /// Name of the network.
    pub network: String,
    /// Result of replaying the host's events.
    pub replayed: Replayed,
    /// Summary of the flow in the host.
    pub host: Figures,
    /// Summary of the flow in the simulator, if the simulator has the network.
    pub simulated: Option<Figures>,
    /// First difference between the windows of host and simulator, with one path only.
    pub parting: Option<Parting>,
    /// Facts that the simulated algorithm received.
    pub heard: Vec<Heard>,
    /// First fact that differs between host and simulator, with one path only.
    pub fact: Option<Difference>,
}

/// The first difference between the windows of host and simulator.
#[derive(Clone, PartialEq, Debug)]
pub struct Parting {
    /// Number of equal windows before, in whole segments.
    pub common: usize,
    /// Window change in the host.
    pub host: Moment,
    /// The simulator's window at this position, whole segments; `None` if it did not change any more.
    pub simulated: Option<u64>,
}

/// Results of a replay check of one algorithm in one host.
#[derive(Clone, Debug)]
pub struct Twins {
    /// Identifier of the algorithm.
    pub algorithm: &'static str,
    /// The kernel's release, or the host that created the recordings.
    pub host: String,
    /// True if the results are from recordings.
    pub recorded: bool,
    /// True if the host counted its retransmissions. Otherwise the losses are the losses that the algorithm
    /// received.
    pub counted: bool,
    /// One result per requested network.
    pub twins: Vec<Twin>,
}

/// Runs these networks (all, if none is named) with an algorithm.
///
/// # Errors
///
/// Returns an error if the algorithm cannot run in a kernel or has not been built, if the backend is not a
/// kernel, or if a run failed.
pub fn run(
    world: World,
    params: &AnyParams,
    networks: &[String],
    seed: u64,
) -> Result<Twins, RunError> {
    let scenario = in_kernel(scenario(params), params, networks)?;
    let (kernel, replayed) = watched(world, &scenario, seed, Watch::Replay, Whose::Ours)?;
    let (rates, one_path) = (params.requirements().rate_samples, !is_coupled(params));
    let flows = kernel.result.flows.into_iter().zip(simulated(scenario, seed)?).zip(replayed);
    let twins = flows.map(|((kernel, own), replayed)| {
        let (host, figures) = (Figures::from(&kernel), Figures::from(&own.flow));
        let twin = Twin::of(kernel.name, replayed, host, Some((figures, own)), rates);
        if one_path { twin } else { Twin { parting: None, fact: None, ..twin } }
    });
    Ok(Twins {
        algorithm: params.info().id,
        host: kernel.kernel.unwrap_or_default(),
        recorded: false,
        counted: true,
        twins: twins.collect(),
    })
}

/// Result of a network in the simulator.
#[derive(Clone)]
struct Simulated {
    flow: FlowResult,
    /// Windows in order, bytes.
    windows: Vec<u64>,
    heard: Vec<Heard>,
}

/// Simulates each network of a scenario.
fn simulated(mut scenario: Scenario, seed: u64) -> Result<Vec<Simulated>, RunError> {
    scenario.record.series = vec![Series::Cwnd];
    let (result, heard) = listened(&scenario, seed)?;
    let flows = result.flows.into_iter().zip(heard).zip(0..).map(|((flow, heard), number)| {
        let own = result.samples.iter().filter(|sample| sample.flow == number);
        Simulated { flow, windows: own.map(|sample| sample.value).collect(), heard }
    });
    Ok(flows.collect())
}

impl Twin {
    /// Compares a host's events with the simulator's result for the network.
    fn of(
        network: String,
        replayed: Replayed,
        host: Figures,
        own: Option<(Figures, Simulated)>,
        rates: bool,
    ) -> Twin {
        let Some((figures, own)) = own else {
            let heard = Vec::new();
            return Twin {
                network,
                replayed,
                host,
                simulated: None,
                parting: None,
                heard,
                fact: None,
            };
        };
        let mss = u64::from(replayed.mss.max(1));
        let parting = part(&replayed.course, own.windows.iter().map(|window| window / mss));
        let fact = facts::differ(&replayed.heard, &own.heard, rates);
        let simulated = Some(figures);
        Twin { network, replayed, host, simulated, parting, heard: own.heard, fact }
    }
}

/// Runs a scenario in a kernel. Returns the run and the data kept of Windlass's algorithms.
fn watched(
    world: World,
    scenario: &Scenario,
    seed: u64,
    watch: Watch,
    whose: Whose,
) -> Result<(Ran, Vec<Replayed>), RunError> {
    match world {
        World::Linux => {
            let objects = whose.folder().map_err(RunError::backend)?;
            let options = live::Options { objects, watch, ..live::Options::default() };
            linux::run(scenario, seed, options)
        }
        World::LinuxVt(series) => LinuxVt(series).ask(scenario, seed, watch, whose),
        World::Sim | World::Ns3 => Err(RunError::NoKernel),
    }
}

/// Run time of an algorithm's programs in a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// The kernel's release.
    pub kernel: String,
    /// Number of acknowledgements.
    pub acknowledgements: u64,
    /// Mean nanoseconds per acknowledgement; in virtual time a nanosecond is an instruction.
    pub acknowledgement: f64,
    /// Mean nanoseconds of all other programs per acknowledgement.
    pub others: f64,
    /// Mean nanoseconds of an empty program, which measures the overhead of the counting. Only objects of the
    /// kernel's own algorithms have this program.
    pub counting: Option<f64>,
}

/// A network with a few hundred acknowledgements per second, and a network with many thousand.
const SLOW_AND_FAST: [&str; 2] = ["lossy", "fast"];

/// Returns the networks that measure the cost of an acknowledgement. Virtual time has no caches, so one
/// network is enough there.
pub fn cost_networks(world: World, params: &AnyParams) -> &'static [&'static str] {
    let one = world != World::Linux || is_coupled(params);
    if one { &SLOW_AND_FAST[..1] } else { &SLOW_AND_FAST }
}

/// Measures in the kernel how long an algorithm runs on one of [`cost_networks`]. The algorithm is Windlass's
/// or the kernel's.
///
/// # Errors
///
/// Returns the errors of [`run`].
pub fn cost(
    world: World,
    params: &AnyParams,
    whose: Whose,
    network: &str,
) -> Result<Cost, RunError> {
    let all = if network == SLOW_AND_FAST[1] { read_in(FAST) } else { scenario(params) };
    let scenario = in_kernel(all, params, &[network.to_owned()])?;
    let (kernel, counted) = watched(world, &scenario, 1, Watch::Count, whose)?;
    let ran = counted.first().map_or(&[][..], |flow| &flow.ran);
    let (mut own, mut others, mut least) = ((0, 0), 0, None);
    for (name, runs, nanoseconds) in ran {
        match name.as_str() {
            "acknowledge" => own = (*runs, own.1 + nanoseconds),
            // The kernel's own algorithms receive RTT samples in a separate call.
            "measure" => own.1 += nanoseconds,
            "nothing" if *runs > 0 => least = Some(*nanoseconds as f64 / *runs as f64),
            _ => others += nanoseconds,
        }
    }
    if own.0 == 0 {
        return Err(RunError::backend("the kernel did not count any acknowledgement"));
    }
    let each = |sum: u64| sum as f64 / own.0 as f64;
    Ok(Cost {
        kernel: kernel.kernel.unwrap_or_default(),
        acknowledgements: own.0,
        acknowledgement: each(own.1),
        others: each(others),
        counting: least,
    })
}

/// Simulates a scenario. Returns the result and the facts that each flow's algorithm received.
fn listened(scenario: &Scenario, seed: u64) -> Result<(RunResult, Vec<Vec<Heard>>), RunError> {
    let logs: Vec<(String, Log)> =
        scenario.flows.iter().map(|flow| (flow.name.clone(), Log::default())).collect();
    let given = logs.clone();
    let listen = move |flow: &FlowSpec| {
        let one_path = flow.multipath.is_none();
        let (_, log) = given.iter().find(|(name, _)| one_path && *name == flow.name)?;
        Some(Box::new(Listener::new(log.clone())) as Box<dyn CongestionControl>)
    };
    let ran = Simulator::default().with_controllers(Arc::new(listen)).run(scenario, seed)?;
    let taken = |(_, log): &(String, Log)| std::mem::take(&mut *log.lock().expect("it is over"));
    Ok((ran.result, logs.iter().map(taken).collect()))
}

/// Returns a scenario with this algorithm in a kernel, with the slow start that is built into the objects.
fn in_kernel(all: Scenario, params: &AnyParams, networks: &[String]) -> Result<Scenario, RunError> {
    let params = standard(*params);
    let mut scenario = prepared(all, &params, networks)?;
    object::check(&params).map_err(RunError::backend)?;
    scenario.flows.iter_mut().for_each(|flow| flow.home = Home::Bpf);
    Ok(scenario)
}

/// Returns the parameters with the slow start of the kernel's objects.
fn standard(mut params: AnyParams) -> AnyParams {
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    params.set_common(&Setup { slow_start, ..params.common() });
    params
}

/// Returns a scenario with this algorithm on the requested networks.
fn prepared(
    mut scenario: Scenario,
    params: &AnyParams,
    networks: &[String],
) -> Result<Scenario, RunError> {
    if let Some(unknown) =
        networks.iter().find(|name| scenario.flows.iter().all(|flow| flow.name != **name))
    {
        let known = scenario.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>();
        let why = format!("network `{unknown}` not found; expected one of {}", known.join(", "));
        return Err(RunError::backend(why));
    }
    scenario.flows.retain(|flow| networks.is_empty() || networks.contains(&flow.name));
    for flow in &mut scenario.flows {
        flow.set_controller(*params);
    }
    Ok(scenario)
}

/// Returns the first difference between the host's windows and the simulator's windows.
fn part(host: &[Moment], simulated: impl Iterator<Item = u64>) -> Option<Parting> {
    let mut windows: Vec<u64> = simulated.collect();
    windows.dedup();
    // A sender of the simulator has no window before its handshake is over.
    let first = host.first()?.window;
    let begun = windows.iter().position(|window| *window == first).unwrap_or(0);
    let mut windows = windows.into_iter().skip(begun);
    for (common, moment) in host.iter().enumerate() {
        let simulated = windows.next();
        if simulated != Some(moment.window) {
            return Some(Parting { common, host: moment.clone(), simulated });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(windows: &[u64]) -> Vec<Moment> {
        let moment = |(i, window): (usize, &u64)| Moment {
            time: i as u64,
            una: 0,
            window: *window,
            what: "ack".to_owned(),
        };
        windows.iter().enumerate().map(moment).collect()
    }

    #[test]
    fn parting_is_at_the_first_window_that_differs() {
        let kernel = course(&[10, 11, 12, 6]);
        assert_eq!(part(&kernel, [0, 10, 10, 11, 12, 6, 7].into_iter()), None);
        let parting = part(&kernel, [10, 11, 13].into_iter()).expect("apart");
        assert_eq!((parting.common, parting.host.window, parting.simulated), (2, 12, Some(13)));
        let parting = part(&kernel, [10, 11].into_iter()).expect("one stops");
        assert_eq!((parting.common, parting.simulated), (2, None));
    }

    #[test]
    fn recording_does_not_change_an_algorithms_run() {
        for id in ["cubic", "bbr3", "vegas"] {
            let params = AnyParams::by_name(id).expect("there");
            let scenario =
                prepared(scenario(&params), &params, &["lossy".to_owned()]).expect("a scenario");
            let alone = Simulator::default().run(&scenario, 1).expect("runs").result;
            let (result, heard) = listened(&scenario, 1).expect("runs");
            assert_eq!(result.flows, alone.flows, "{id}");
            assert!(heard[0].len() > 1000 && heard[0][0].what == "begin", "{id}");
        }
    }

    #[test]
    fn unknown_network_is_refused_with_the_known_names() {
        let with = |params: AnyParams, networks: &[&str]| {
            let networks: Vec<String> = networks.iter().map(|&name| name.to_owned()).collect();
            prepared(scenario(&params), &params, &networks)
        };
        let e = with(AnyParams::default(), &["moon"]).unwrap_err().to_string();
        assert!(e.contains("`moon`") && e.contains("shallow"), "{e}");
        let one = with(AnyParams::default(), &["lossy"]).expect("a scenario");
        assert_eq!(one.flows.len(), 1);
        let all = |id| with(AnyParams::by_name(id).expect("there"), &[]).expect("a scenario");
        assert_eq!(["reno", "lia"].map(|id| all(id).flows.len()), [6, 4]);
    }
}
