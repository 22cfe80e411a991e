//! `windlass kernel`.

use std::env;
use std::path::Path;

use windlass_cc::{AnyParams, Setup};
use windlass_lab::run::World;
use windlass_lab::scenario::Candidate;
use windlass_tcp::Profile;
use windlass_tcp::stack::LINUX;
use windlass_testbed::bpf::object::{SHOWN, Whose};
use windlass_testbed::bpf::{Algorithm, Error, object, params_of, pins};
use windlass_testbed::twin;

use crate::args::{Kernel, KernelVerb};
use crate::output::{Chatter, Failure, print};

/// Largest packet of the network for which parameters in bytes, such as the initial window, are
/// computed.
const MTU: u32 = 1500;

/// Builds, loads, lists or unloads algorithms.
pub fn run(args: &Kernel, chatter: &Chatter) -> Result<(), Failure> {
    match &args.verb {
        KernelVerb::Build { algorithms, source } => build(algorithms, source.as_deref(), chatter),
        KernelVerb::Load { algorithm, name } => load(algorithm, name.as_deref(), chatter),
        KernelVerb::Cost { algorithms, on } => cost(algorithms, *on, chatter),
        KernelVerb::List => {
            let names = pins::list().map_err(failure)?;
            print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())
        }
        KernelVerb::Unload { names, all } => {
            let names = if *all { pins::list().map_err(failure)? } else { names.clone() };
            names.iter().try_for_each(|name| pins::unload(name)).map_err(failure)
        }
    }
}

/// The failure of an error: an input error if the arguments cause it, and otherwise a failure of the
/// work.
fn failure(e: Error) -> Failure {
    match e {
        Error::Unsupported(_) | Error::NotBuilt { .. } => Failure::input(e.to_string()),
        e => Failure::work(e.to_string()),
    }
}

fn build(algorithms: &[String], source: Option<&Path>, chatter: &Chatter) -> Result<(), Failure> {
    let known = object::algorithms();
    let named: Vec<&str> = algorithms.iter().map(String::as_str).collect();
    let ids = if named.is_empty() { known.clone() } else { named };
    let params = |id: &str| match AnyParams::by_name(id) {
        Some(params) if known.contains(&params.info().id) => Ok(params),
        Some(params) => Err(object::check(&params).map_or_else(failure, |()| unknown(id, &known))),
        None => Err(unknown(id, &known)),
    };
    let params = ids.into_iter().map(params).collect::<Result<Vec<AnyParams>, Failure>>()?;
    let here = env::current_dir().map_err(Failure::work)?;
    let checkout = object::checkout(source.unwrap_or(&here)).map_err(failure)?;
    chatter.say("building windlass-cc for BPF; the first build takes a minute or two");
    for path in object::build(&checkout, &params).map_err(failure)? {
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// Prefix of the names of the kernel's algorithms.
const KERNELS: &str = "linux:";

/// Measures the cost of each algorithm. Each line is printed as soon as it is available.
fn cost(algorithms: &[String], on: World, chatter: &Chatter) -> Result<(), Failure> {
    let known = object::algorithms();
    let all = known.iter().map(|id| (*id).to_owned());
    let all = all.chain(SHOWN.map(|id| format!("{KERNELS}{id}")));
    let names = if algorithms.is_empty() { all.collect() } else { algorithms.to_vec() };
    let chosen = |name: &String| {
        let (id, whose) = match name.strip_prefix(KERNELS) {
            Some(id) => (id, Whose::Kernels),
            None => (name.as_str(), Whose::Ours),
        };
        let choice = if whose == Whose::Kernels { &SHOWN[..] } else { &known[..] };
        let params = AnyParams::by_name(id).filter(|_| whose == Whose::Ours || SHOWN.contains(&id));
        params.map(|params| (name.clone(), params, whose)).ok_or_else(|| unknown(id, choice))
    };
    let chosen = names.iter().map(chosen).collect::<Result<Vec<_>, Failure>>()?;
    let virtual_time = matches!(on, World::LinuxVt(_));
    let unit = if virtual_time { "instructions" } else { "ns" };
    chatter.say(format!("{unit} of an acknowledgement, with what the kernel's counting adds"));
    print(
        "algorithm        network   acknowledgements   each   other events   an empty program\n",
    )?;
    for (name, params, whose) in &chosen {
        for network in twin::cost_networks(on, params) {
            let counted = twin::cost(on, params, *whose, network).map_err(Failure::of)?;
            let empty = counted.counting.map_or_else(|| "-".to_owned(), |c| format!("{c:.0}"));
            print(&format!(
                "{name:<16} {network:<7} {:>18} {:>6.0} {:>14.0} {empty:>18}\n",
                counted.acknowledgements, counted.acknowledgement, counted.others,
            ))?;
        }
    }
    Ok(())
}

fn unknown(id: &str, known: &[&str]) -> Failure {
    Failure::unknown("algorithm", id, known)
}

fn load(algorithm: &str, name: Option<&str>, chatter: &Chatter) -> Result<(), Failure> {
    let candidate = Candidate::parse(algorithm).map_err(|e| Failure::input(e.to_string()))?;
    if candidate.kernel.is_some() {
        return Err(Failure::input(format!(
            "{algorithm} is the kernel's own and is there already"
        )));
    }
    let mut params = candidate.controller;
    if !algorithm.contains(":slow_start=") {
        // The built-in slow start.
        let slow_start = windlass_cc::slow_start::AnyParams::default();
        params.set_common(&Setup { slow_start, ..params.common() });
    }
    let params = params_of(&Profile::new(LINUX, params, MTU));
    let usual = pins::usual_name(params.info().id);
    let name = name.unwrap_or(&usual).to_owned();
    let loaded = Algorithm { params, name, recording: false };
    pins::load(&loaded, &object::folder().map_err(failure)?).map_err(failure)?;
    chatter.say(format!(
        "sockets can choose {0} now (TCP_CONGESTION); `windlass kernel unload {0}` takes it away",
        loaded.name
    ));
    Ok(())
}
