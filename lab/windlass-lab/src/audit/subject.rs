//! The stacks under test, and their observation.

use std::time::Instant;

use serde::Deserialize;
use windlass_cc::Time;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd, packet};
use windlass_sim::{Config, PacketEvent};

use super::probes::{Probe, Rival};
use super::process::{Carries, Greeting, Process, Role, Setting, VERSION};
use super::trace::Trace;
use crate::run::{Runner, World};
use crate::scenario::Scenario;

/// Seed of the probes. Their losses do not depend on it, except for the heavy loss.
const SEED: u64 = 1;
/// Settings of the receiver for an external TCP sender: the window of the receiver never limits.
const RECEIVER: &str = "preset = \"linux\"\nreceive_autotuning = false\nreceive_buffer = \"32MiB\"";
/// Packets up to this size are never marked: handshakes and acknowledgements.
const SMALL: usize = 120;

/// The law by which a stack's window should change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// RFC 5681, RFC 9002.
    Reno,
    /// RFC 9438.
    Cubic,
    /// Another: the checks of window reductions and growth do not apply.
    Other,
}

impl Law {
    /// The law of an algorithm with this name.
    pub fn of(algorithm: &str) -> Law {
        let name = algorithm.to_ascii_lowercase();
        match () {
            () if name.contains("cubic") => Law::Cubic,
            () if name.contains("reno") => Law::Reno,
            () => Law::Other,
        }
    }

    /// Factor by which a loss reduces the window.
    pub fn factor(self) -> Option<f64> {
        match self {
            Law::Reno => Some(0.5),
            Law::Cubic => Some(0.7),
            Law::Other => None,
        }
    }
}

/// Transport protocol of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// QUIC, or another protocol over UDP with the rules of RFC 9002.
    Quic,
}

/// A stack under test, as a list of stacks describes it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Unique name.
    pub name: String,
    /// Command of the sender, for a stack in a program.
    #[serde(default)]
    pub command: Option<String>,
    /// Command of the receiver, for a stack over UDP [default: the command of the sender].
    #[serde(default)]
    pub peer: Option<String>,
    /// Algorithm of Windlass or of the kernel, for a stack without a program.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// Preset of Windlass's endpoint.
    #[serde(default = "linux")]
    pub stack: String,
    /// Backend: `sim`, or a kernel such as `linux-vt=6.12`.
    #[serde(default)]
    pub on: Option<String>,
    /// Documented deviations: the name of a check, and the place of the documentation.
    #[serde(default)]
    pub documented: std::collections::BTreeMap<String, String>,
}

fn linux() -> String {
    "linux".to_owned()
}

/// A probe of a stack.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The stack's sender.
    pub trace: Trace,
    /// The second flow's sender, if the probe has one.
    pub rival: Option<Trace>,
    /// Places of marked packets, from 0.
    pub marked: Vec<usize>,
    /// Packets of the network, for a capture.
    pub events: Vec<PacketEvent>,
    /// Addresses of the flows.
    pub flows: Vec<FlowAddresses>,
    /// Names of the link directions.
    pub links: Vec<String>,
    /// The stack's own description.
    pub greeting: Option<Greeting>,
    /// Kernel of the run.
    pub kernel: Option<String>,
    /// Duration of the run in real time, seconds.
    pub took_s: f64,
}

impl Subject {
    /// Windlass's own endpoint, or a kernel, with this algorithm.
    pub fn own(algorithm: &str, stack: &str, on: World) -> Subject {
        Subject {
            name: match on {
                World::Sim => format!("windlass-{stack}-{algorithm}"),
                on => format!("{on}-{algorithm}"),
            },
            algorithm: Some(algorithm.to_owned()),
            stack: stack.to_owned(),
            on: Some(on.to_string()),
            ..Subject::program("", None)
        }
    }

    /// A stack in a program.
    pub fn program(command: &str, peer: Option<&str>) -> Subject {
        Subject {
            name: command.split_whitespace().last().unwrap_or_default().to_owned(),
            command: Some(command.to_owned()).filter(|c| !c.is_empty()),
            peer: peer.map(str::to_owned),
            algorithm: None,
            stack: linux(),
            on: None,

            documented: Default::default(),
        }
    }

    /// Runs a probe.
    ///
    /// # Errors
    ///
    /// The reason why the probe cannot run, in one sentence.
    pub fn observe(&self, probe: &Probe, runner: &Runner) -> Result<Observed, String> {
        let begun = Instant::now();
        let mut observed = match &self.command {
            Some(command) => self.run_program(command, probe),
            None => self.run_backend(probe, runner),
        }?;
        observed.took_s = begun.elapsed().as_secs_f64();
        Ok(observed)
    }

    fn run_backend(&self, probe: &Probe, runner: &Runner) -> Result<Observed, String> {
        if !probe.suits_backends() {
            return Err("scenarios of Windlass cannot express this probe".to_owned());
        }
        let algorithm =
            self.algorithm.as_deref().ok_or("the stack has no command and no algorithm")?;
        let world: World = match &self.on {
            Some(on) => on.parse().map_err(|e| format!("`on`: {e}"))?,
            None => World::Sim,
        };
        let text = probe.scenario(algorithm, &format!("preset = \"{}\"", self.stack));
        let scenario = Scenario::from_str(&text, probe.id).map_err(|e| e.to_string())?;
        let config = compile(&scenario, SEED).map_err(|e| e.to_string())?;
        let backend = runner.backend(world).map_err(|e| e.to_string())?;
        let ran = backend.run(&scenario, SEED).map_err(|e| e.to_string())?;
        let mut observed = seen(&config, ran.result, probe);
        observed.kernel = ran.kernel;
        Ok(observed)
    }

    fn run_program(&self, command: &str, probe: &Probe) -> Result<Observed, String> {
        let text = probe.scenario("cubic", RECEIVER);
        let scenario = Scenario::from_str(&text, probe.id).map_err(|e| e.to_string())?;
        let config = compile(&scenario, SEED).map_err(|e| e.to_string())?;
        let flows = if probe.rival == Rival::Copy { 2 } else { 1 };
        let mut senders = Vec::new();
        let mut receivers = Vec::new();
        for flow in 0..flows {
            let sender = start(command, &config, probe, flow, Role::Sender)?;
            if sender.greeting.carries == Carries::Udp {
                let peer = self.peer.as_deref().unwrap_or(command);
                let process = start(peer, &config, probe, flow, Role::Receiver)?;
                receivers.push((2 * flow as u32 + 1, Marker::new(process, probe.marks)));
            }
            senders.push((2 * flow as u32, sender));
        }
        if !probe.marks.is_empty() && receivers.is_empty() {
            return Err("the probe needs a stack over UDP".to_owned());
        }
        if !probe.receiver.is_empty() && !receivers.is_empty() {
            return Err("the probe needs a TCP stack, whose receiver is Windlass's".to_owned());
        }
        let greeting = senders[0].1.greeting.clone();
        let mut ends: Vec<(u32, &mut dyn PacketEnd)> = Vec::new();
        ends.extend(senders.iter_mut().map(|(host, end)| (*host, end as &mut dyn PacketEnd)));
        ends.extend(receivers.iter_mut().map(|(host, end)| (*host, end as &mut dyn PacketEnd)));
        let result = external::run(&config, &mut ends);
        let failures = senders.iter().filter_map(|(_, end)| end.failure.clone());
        let mut failures =
            failures.chain(receivers.iter().filter_map(|(_, end)| end.end.failure.clone()));
        if let Some(why) = failures.next() {
            return Err(why);
        }
        let mut observed = seen(&config, result.map_err(|e| e.to_string())?, probe);
        observed.marked = receivers.first().map(|(_, end)| end.marked.clone()).unwrap_or_default();
        observed.greeting = Some(greeting);
        Ok(observed)
    }
}

impl Observed {
    /// A run of the simulator with this configuration of the probe's scenario.
    ///
    /// # Errors
    ///
    /// The simulator cannot run it.
    pub fn simulated(scenario: &Scenario, probe: &Probe) -> Result<Observed, String> {
        let config = compile(scenario, SEED).map_err(|e| e.to_string())?;
        let result = crate::run::simulate(scenario, SEED).map_err(|e| e.to_string())?;
        Ok(seen(&config, result, probe))
    }
}

fn start(
    command: &str,
    config: &Config,
    probe: &Probe,
    flow: usize,
    role: Role,
) -> Result<Process, String> {
    let sends = role == Role::Sender;
    let of = &config.flows[flow];
    let ends = FlowAddresses::of_flow(flow as u32, of).addresses(sends);
    let setting = Setting {
        version: VERSION,
        role,
        local: ends.source,
        remote: ends.destination,
        mtu: of.profile.mtu,
        seed: SEED + flow as u64,
        writes: if sends { probe.writes(of.start.0) } else { Vec::new() },
    };
    Process::start(command, &setting)
}

fn seen(config: &Config, result: windlass_sim::RunResult, probe: &Probe) -> Observed {
    let end = Time::from_secs(probe.seconds);
    let rival = probe.rival != Rival::None;
    Observed {
        trace: Trace::of(&result.packets, 0, end),
        rival: rival.then(|| Trace::of(&result.packets, 1, end)),
        marked: Vec::new(),
        flows: (0..).zip(&config.flows).map(|(i, f)| FlowAddresses::of_flow(i, f)).collect(),
        links: result.links.iter().map(|l| l.name.clone()).collect(),
        events: result.packets,
        greeting: None,
        kernel: None,
        took_s: 0.0,
    }
}

/// A receiver behind a router that marks packets.
struct Marker {
    end: Process,
    places: &'static [usize],
    arrived: usize,
    marked: Vec<usize>,
}

impl Marker {
    fn new(end: Process, places: &'static [usize]) -> Marker {
        Marker { end, places, arrived: 0, marked: Vec::new() }
    }
}

impl PacketEnd for Marker {
    fn receive(&mut self, now: Time, bytes: &[u8]) {
        if bytes.len() > SMALL {
            self.arrived += 1;
        }
        let capable = bytes.get(1).is_some_and(|class| class & 3 != 0);
        if bytes.len() > SMALL && self.places.contains(&self.arrived) && capable {
            let mut bytes = bytes.to_vec();
            packet::mark(&mut bytes);
            self.marked.push(self.arrived - 1);
            return self.end.receive(now, &bytes);
        }
        self.end.receive(now, bytes);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        self.end.transmit(now)
    }

    fn deadline(&mut self, now: Time) -> Time {
        self.end.deadline(now)
    }
}
