//! `windlass break`.

use std::io::Write as _;

use windlass_lab::adversary::{Bounds, Found, Search};
use windlass_lab::report::numbers::number;
use windlass_lab::run::store::replace;
use windlass_lab::scenario::Candidate;

use super::making::runner;
use crate::args::Break;
use crate::output::{Chatter, Failure, print};

/// Searches for the worst that can be done to an algorithm.
pub fn run(args: &Break, chatter: &Chatter) -> Result<(), Failure> {
    let bounds = Bounds {
        losses: args.losses.into(),
        bursts: args.bursts.0,
        outages_ms: args.outages.0.0 / 1_000_000,
        queue: args.queue,
    };
    let subject = Candidate::parse(&args.algorithm).map_err(Failure::input)?;
    let search = Search { subject, goal: args.goal, bounds, runs: args.runs, seed: args.seed };
    let total = usize::try_from(args.runs).unwrap_or(usize::MAX);
    let progress = chatter.progress(0, total, "break");
    let found = search.work(&runner(args.jobs.into()), |_| progress.made("tried"));
    progress.end();
    let found = found.map_err(Failure::of)?;
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

fn told(found: &Found, scenario: &str) -> String {
    let [unharmed, worst, damage] = [found.unharmed, found.worst, found.damage].map(number);
    format!(
        "{}: {damage} ({}); {unharmed} unharmed, {worst} before it was made smaller; {} runs\n\
         The attack: {}.\n\
         windlass run {scenario}\n\
         windlass run {scenario} --set 'record.capture=[\"bottleneck\"]' --out {scenario}.packets\n\
         windlass run {scenario} --on linux-vt      is it the model or the algorithm?\n",
        found.algorithm,
        found.goal.meaning(),
        found.runs,
        found.attack.words(),
    )
}
