//! Whether an algorithm in a kernel and its native twin are one, and how far the worlds around them are apart.
//!
//! Six networks are crossed at once, each by a flow of its own with the algorithm in the kernel. Every event that the kernel
//! tells the algorithm is recorded with the answer, and replayed on the native core: the answers must be the same to the bit.
//! The same networks are then simulated, and the courses compared: there the hosts differ, not the algorithm. A coupled
//! algorithm has networks of its own, which a connection crosses by two paths; what each path saw of the other is recorded too.
//! Hosts other than a kernel hand their events over as a recording ([`recorded`]).

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

/// What is run, with one path and with two.
const NETWORKS: &str = include_str!("networks.toml");
const PATHS: &str = include_str!("paths.toml");
/// Where only costs are counted.
const FAST: &str = include_str!("fast.toml");

fn scenario(params: &AnyParams) -> Scenario {
    read_in(if is_coupled(params) { PATHS } else { NETWORKS })
}

fn read_in(networks: &str) -> Scenario {
    Scenario::from_str(networks, "networks").expect("a scenario of this project")
}

/// Whether an algorithm is shown over two paths of a connection.
pub fn is_coupled(params: &AnyParams) -> bool {
    object::COUPLED.contains(&params.info().id)
}

/// One network, crossed in a host and in the simulator.
#[derive(Clone, Debug)]
pub struct Twin {
    /// The network.
    pub network: String,
    /// What replaying the host's events came to.
    pub replayed: Replayed,
    /// What the flow came to in the host.
    pub host: Figures,
    /// What it came to in the simulator, if that knows the network.
    pub simulated: Option<Figures>,
    /// Where the windows of the two part first; of one path only.
    pub parting: Option<Parting>,
    /// What the simulated algorithm heard.
    pub heard: Vec<Heard>,
    /// The first fact that only one of the two hosts told; of one path only.
    pub fact: Option<Difference>,
}

/// The first window that only one world had.
#[derive(Clone, PartialEq, Debug)]
pub struct Parting {
    /// Windows in a row, whole segments each, that both had before.
    pub common: usize,
    /// The host's change.
    pub host: Moment,
    /// The simulator's window there, whole segments; `None` if it changed no more.
    pub simulated: Option<u64>,
}

/// What a run of twins came to.
#[derive(Clone, Debug)]
pub struct Twins {
    /// Identifier of the algorithm.
    pub algorithm: &'static str,
    /// The kernel's release, or the host that made the recordings.
    pub host: String,
    /// Whether they are of recordings.
    pub recorded: bool,
    /// Whether the host has counted what it sent again; else its losses are those that its algorithm was told of.
    pub counted: bool,
    /// One for each network that was asked for.
    pub twins: Vec<Twin>,
}

/// Crosses these networks (all, if none is named) with an algorithm.
///
/// # Errors
///
/// The algorithm cannot be a kernel's or has not been built, the world is no kernel, or a run failed.
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

/// What the simulator made of a network.
#[derive(Clone)]
struct Simulated {
    flow: FlowResult,
    /// Windows in their order, bytes.
    windows: Vec<u64>,
    heard: Vec<Heard>,
}

/// What the simulator makes of each network of a scenario.
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
    /// What a host's events came to, beside what the simulator made of the network.
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

/// What a kernel makes of a scenario, and what was kept of our algorithms there.
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

/// What an algorithm's programs take in a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// The kernel's release.
    pub kernel: String,
    /// Acknowledgements.
    pub acknowledgements: u64,
    /// Nanoseconds of an acknowledgement, mean; in virtual time each is an instruction.
    pub acknowledgement: f64,
    /// The same of all other programs, for each acknowledgement.
    pub others: f64,
    /// The same of an empty program, which only objects of the kernel's own algorithms have: what the counting itself shows.
    pub counting: Option<f64>,
}

/// The network of a few hundred acknowledgements a second, and that of many thousand.
const SLOW_AND_FAST: [&str; 2] = ["lossy", "fast"];

/// The networks over which an acknowledgement's cost is counted. In virtual time there are no caches, and one will do.
pub fn cost_networks(world: World, params: &AnyParams) -> &'static [&'static str] {
    let one = world != World::Linux || is_coupled(params);
    if one { &SLOW_AND_FAST[..1] } else { &SLOW_AND_FAST }
}

/// Has the kernel count how long an algorithm, ours or its own, runs over one of [`cost_networks`].
///
/// # Errors
///
/// As [`run`].
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
            // The kernel's own are told of a round trip by itself.
            "measure" => own.1 += nanoseconds,
            "nothing" if *runs > 0 => least = Some(*nanoseconds as f64 / *runs as f64),
            _ => others += nanoseconds,
        }
    }
    if own.0 == 0 {
        return Err(RunError::backend("the kernel has counted no acknowledgement"));
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

/// What the simulator makes of a scenario, and what each flow's algorithm heard there.
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

/// A scenario with this algorithm, with the slow start that is built in, in a kernel.
fn in_kernel(all: Scenario, params: &AnyParams, networks: &[String]) -> Result<Scenario, RunError> {
    let params = standard(*params);
    let mut scenario = prepared(all, &params, networks)?;
    object::check(&params).map_err(RunError::backend)?;
    scenario.flows.iter_mut().for_each(|flow| flow.home = Home::Bpf);
    Ok(scenario)
}

/// With the slow start that kernels' objects have.
fn standard(mut params: AnyParams) -> AnyParams {
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    params.set_common(&Setup { slow_start, ..params.common() });
    params
}

/// A scenario with this algorithm on those of its networks that are asked for.
fn prepared(
    mut scenario: Scenario,
    params: &AnyParams,
    networks: &[String],
) -> Result<Scenario, RunError> {
    if let Some(unknown) =
        networks.iter().find(|name| scenario.flows.iter().all(|flow| flow.name != **name))
    {
        let known = scenario.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>();
        let why = format!("there is no network `{unknown}`; there are {}", known.join(", "));
        return Err(RunError::backend(why));
    }
    scenario.flows.retain(|flow| networks.is_empty() || networks.contains(&flow.name));
    for flow in &mut scenario.flows {
        flow.set_controller(*params);
    }
    Ok(scenario)
}

/// Where the host's course leaves the simulator's windows.
fn part(host: &[Moment], simulated: impl Iterator<Item = u64>) -> Option<Parting> {
    let mut windows: Vec<u64> = simulated.collect();
    windows.dedup();
    // Before its handshake is over, a sender of the simulator has no window.
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
    fn worlds_part_at_the_first_window_that_only_one_of_them_had() {
        let kernel = course(&[10, 11, 12, 6]);
        assert_eq!(part(&kernel, [0, 10, 10, 11, 12, 6, 7].into_iter()), None);
        let parting = part(&kernel, [10, 11, 13].into_iter()).expect("apart");
        assert_eq!((parting.common, parting.host.window, parting.simulated), (2, 12, Some(13)));
        let parting = part(&kernel, [10, 11].into_iter()).expect("one stops");
        assert_eq!((parting.common, parting.simulated), (2, None));
    }

    #[test]
    fn an_algorithm_that_is_listened_to_does_what_it_does_alone() {
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
    fn a_network_that_is_not_there_is_refused_with_those_that_are() {
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
