//! `windlass break`.

use std::io::Write as _;

use windlass_lab::adversary::{Bounds, Found, Search};
use windlass_lab::report::numbers::number;
use windlass_lab::run::World;
use windlass_lab::run::store::replace;
use windlass_lab::scenario::Candidate;
use windlass_lab::units::Duration;

use super::making::runner;
use crate::args::Break;
use crate::output::{Chatter, Failure, print};

/// Searches for conditions that harm an algorithm.
pub fn run(args: &Break, chatter: &Chatter) -> Result<(), Failure> {
    let bounds = Bounds {
        losses: args.losses.into(),
        bursts: args.bursts.0,
        outages_ms: ms(args.outages),
        queue: args.queue,
        rate: args.rate,
        jitter_ms: ms(args.jitter),
        acks_ms: ms(args.acks),
    };
    let subject = Candidate::parse(&args.algorithm).map_err(Failure::input)?;
    let rival = args.rival.as_deref().map(Candidate::parse).transpose().map_err(Failure::input)?;
    for candidate in std::iter::once(&subject).chain(&rival) {
        args.on.takes(candidate).map_err(Failure::input)?;
    }
    let (goal, runs, seed, world) = (args.goal, args.runs, args.seed, args.on);
    let search = Search { subject, rival, goal, bounds, runs, seed, world };
    let total = usize::try_from(args.runs).unwrap_or(usize::MAX);
    let progress = chatter.progress(0, total, "break");
    let runner = runner(args.jobs.into());
    runner.backend(world).and_then(|b| b.check()).map_err(Failure::of)?;
    let found = search.work(&runner, || progress.made("tried"));
    progress.end();
    let mut found = found.map_err(Failure::of)?;
    if let Some(world) = args.replay {
        found.replay = Some(search.replay(&found, world, &runner).map_err(Failure::of)?);
    }
    let json = serde_json::to_string_pretty(&found).map_err(Failure::work)? + "\n";
    let put = |name: &str, text: &str| {
        replace(&args.out, name, |out| out.write_all(text.as_bytes())).map_err(Failure::work)
    };
    put("attack.json", &json)?;
    let scenario = put("scenario.toml", &found.scenario.resolved_toml())?;
    if args.json {
        return print(&json);
    }
    print(&told(&found, &scenario.display().to_string()))
}

fn ms(time: Duration) -> u64 {
    time.0.0 / 1_000_000
}

fn told(found: &Found, scenario: &str) -> String {
    let [unharmed, worst, damage] = [found.unharmed, found.worst, found.damage].map(number);
    let sim = found.world == World::Sim.to_string();
    let (on, other) = match sim {
        true => (String::new(), "linux-vt"),
        false => (format!(" --on {}", found.world), "sim"),
    };
    let capture = match sim {
        true => format!(
            "windlass run {scenario} --set 'record.capture=[\"bottleneck\"]' --out {scenario}.packets\n"
        ),
        false => String::new(),
    };
    let replay = match &found.replay {
        Some(r) => {
            format!("On {}: {}; {} unharmed.\n", r.world, number(r.damage), number(r.unharmed))
        }
        None => {
            format!("windlass run {scenario} --on {other}      is it the model or the algorithm?\n")
        }
    };
    format!(
        "{}: {damage} ({}); {unharmed} unharmed, {worst} before the attack was reduced, {} runs\n\
         The attack: {}.\n\
         windlass run {scenario}{on}\n{capture}{replay}",
        found.algorithm,
        found.goal.meaning(),
        found.runs,
        found.attack.words(),
    )
}
