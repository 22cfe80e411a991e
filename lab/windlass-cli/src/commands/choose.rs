//! `windlass choose`.

use std::io::Write as _;

use windlass_lab::choose::{AS_GIVEN, Choice, Device, candidates, ends, text, usual_aim};
use windlass_lab::compare::{Measure, Request};
use windlass_lab::run::World;
use windlass_lab::run::store::replace;
use windlass_lab::scenario::Scenario;
use windlass_lab::sweep;
use windlass_lab::units::{BitRate, Bytes};

use super::making::{Making, line, ready, runner, tell_unkept};
use crate::args::Choose;
use crate::output::{Chatter, Failure, print};

/// A flow over one link; the options of a profile change it.
const PROFILE: &str = r#"
name = "profile"
duration = "60s"
[stack]
preset = "linux"
[[link]]
name = "bottleneck"
between = ["device", "gateway"]
rate = "1Mbps"
delay = "10ms"
queue = "1bdp"
[[flow]]
name = "transfer"
from = "device"
to = "gateway"
algorithm = "cubic"
jitter = "1s"
"#;

/// An IP and a TCP header, bytes: the minimum length of a segment.
const HEADERS: f64 = 40.0;

/// Maximum time of a transfer, as a multiple of its time at the bottleneck's rate. The time is at least the
/// duration above.
const PATIENCE: u64 = 50;

/// Recommends an algorithm.
pub fn run(args: &Choose, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let scenario = match &args.file {
        Some(file) => super::run::load(file, &args.set)?,
        None => profile(args)?,
    };
    let bytes = |size: Option<Bytes>| size.map(|size| size.0);
    let device = Device { memory: bytes(args.memory), flash: bytes(args.flash) };
    let settings = settings(args, &scenario)?;
    let (algorithms, left_out) = match args.algorithms.as_slice() {
        _ if !settings.is_empty() => (Vec::new(), Vec::new()),
        [] if args.on != World::Sim => {
            let world = args.on;
            return Err(Failure::input(format!(
                "on backend {world} a run takes seconds, and the candidates are the backend's algorithms: choose some, such as `--algorithms cubic,bbr`"
            )));
        }
        [] => candidates(&scenario, &device).map_err(Failure::of)?,
        named => {
            device.check(named).map_err(Failure::of)?;
            (named.to_vec(), Vec::new())
        }
    };
    let measure = aim(args, &scenario)?;
    let request = Request {
        scenario: scenario.clone(),
        algorithms,
        settings,
        flows: Vec::new(),
        seeds: args.seeds.into(),
        baseline: None,
        jitter: None,
        measure: Some(measure),
        harm: false,
        world: args.on,
    };
    let question = request.question().map_err(Failure::of)?;
    let choice = Choice::new(question, args.uncertain, left_out).map_err(Failure::of)?;
    let runner = runner(args.jobs.into());
    ready(&runner, args.on, &scenario, chatter)?;
    tell_unkept(&scenario, chatter);
    let making = Making { noun: "choose", runner: &runner, line, chatter };
    let (records, outcome) = making.make(args.out.as_deref(), choice.tasks(), None, command)?;
    let advice = choice.advice(&records).map_err(Failure::of)?;
    let json = || serde_json::to_string_pretty(&advice).map_err(Failure::work);
    if let Some(dir) = &args.out {
        let json = json()? + "\n";
        let put = replace(dir, "advice.json", |out| out.write_all(json.as_bytes()));
        chatter.say(format!("advice: {}", put.map_err(Failure::work)?.display()));
    }
    match args.json {
        true => print(&(json()? + "\n"))?,
        false => print(&text(&advice, &choice.left_out))?,
    }
    outcome
}

/// The scenario as given and with each setting of `--vary`, by their labels; empty without the option.
fn settings(args: &Choose, given: &Scenario) -> Result<Vec<(String, Scenario)>, Failure> {
    let (Some(file), false) = (&args.file, args.vary.is_empty()) else { return Ok(Vec::new()) };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let named = sweep::settings(&text, &args.vary)
        .map_err(|wrong| Failure::input(format!("--vary {wrong}")))?;
    let mut all = vec![(AS_GIVEN.to_owned(), given.clone())];
    for (label, changes) in named {
        if all.iter().any(|(known, _)| *known == label) {
            return Err(Failure::input(format!("--vary: `{label}` is listed twice")));
        }
        all.push((label, super::run::load_with(file, &args.set, &changes)?));
    }
    Ok(all)
}

/// The measure to optimise. The scenario must support this measure.
fn aim(args: &Choose, scenario: &Scenario) -> Result<Measure, Failure> {
    match args.aim {
        Some(Measure::Completion) if !scenario.flows.iter().any(|f| ends(&f.traffic)) => {
            Err(Failure::input(
                "nothing that is sent has an end, so that nothing completes; choose another --aim, or give a flow a size",
            ))
        }
        Some(aim) => Ok(aim),
        None => Ok(usual_aim(scenario)),
    }
}

/// Checks that the options do not contradict each other.
fn possible(args: &Choose) -> Result<(), Failure> {
    if let Some(loss) = args.loss.filter(|loss| loss.0 * args.uncertain.loss >= 1.0) {
        return Err(Failure::input(format!(
            "--loss {} may be {} times as much, so that nothing arrives; use a lower loss rate, or less --uncertain loss",
            loss.0, args.uncertain.loss
        )));
    }
    if args.rate.is_some_and(|rate| rate.0 == 0) {
        return Err(Failure::input("--rate 0bps carries nothing; use a rate such as 250kbps"));
    }
    let least_s = |rate: BitRate| 2.0 * 8.0 * HEADERS / rate.0 as f64;
    if let Some((rate, rtt)) = args.rate.zip(args.rtt)
        && (rtt.0.0 as f64) < least_s(rate) * 1e9
    {
        return Err(Failure::input(format!(
            "at {rate} a packet without data and its answer take {:.3} s alone, and --rtt says {rtt}",
            least_s(rate)
        )));
    }
    Ok(())
}

/// The network that the options describe.
fn profile(args: &Choose) -> Result<Scenario, Failure> {
    possible(args)?;
    let set = |key: &str, value: String| (key.to_owned(), value);
    let mut overrides = Vec::new();
    if let Some(rate) = args.rate {
        overrides.push(set("link.bottleneck.rate", format!("{}bps", rate.0)));
    }
    if let Some(rtt) = args.rtt {
        overrides.push(set("link.bottleneck.delay", format!("{}ns", rtt.0.0 / 2)));
    }
    if let Some(loss) = args.loss {
        let loss = format!("{{ model = \"drop\", probability = {} }}", loss.0);
        overrides.push(set("link.bottleneck.loss", loss));
    }
    if let Some((transfer, rate)) = args.transfer.zip(args.rate) {
        let traffic = format!("{{ kind = \"bulk\", bytes = \"{}B\" }}", transfer.0);
        overrides.push(set("flow.transfer.traffic", traffic));
        let seconds = (8 * transfer.0).saturating_mul(PATIENCE) / rate.0.max(1);
        overrides.push(set("duration", format!("{}s", seconds.max(60))));
    }
    overrides.extend(super::run::overrides(&args.set)?);
    Scenario::with_overrides(PROFILE, "profile", &overrides).map_err(|e| Failure::located([e]))
}
