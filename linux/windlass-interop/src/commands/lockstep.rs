//! `windlass-dev lockstep`.

use std::fs;
use std::path::Path;

use windlass_interop::lockstep::{Case, Played, Report};
use windlass_interop::worlds;
use windlass_run::World;

use crate::args::Lockstep;
use crate::failure::{Failure, print};

/// Number of cases per boot: enough to make the boot cheap, and few enough to show progress.
const AT_ONCE: usize = 25;

/// Plays the cases, prints a report, and fails if more differ than allowed.
pub fn run(args: &Lockstep) -> Result<(), Failure> {
    if !matches!(args.on, World::LinuxVt(_)) {
        let message = format!("lockstep needs a kernel in virtual time, not {}", args.on);
        return Err(Failure::input(format!("{message}: give --on linux-vt=6.12")));
    }
    let cases: Vec<Case> = args.seeds.clone().map(Case::draw).collect();
    let mut played = Vec::new();
    for some in cases.chunks(AT_ONCE) {
        played.extend(worlds::lockstep(args.on, some.to_vec(), 0).map_err(Failure::of_run)?);
        eprintln!("played: {} of {}", played.len(), cases.len());
    }
    let mut report = Report::new(&played);
    let chosen = report.first_of_each_cause(&cases);
    for (i, case) in chosen.iter().enumerate().filter(|_| args.tries > 0) {
        eprintln!("shrinking: seed {}, {} of {}", case.seed, i + 1, chosen.len());
        let shrunk = worlds::lockstep(args.on, vec![case.clone()], args.tries);
        shrunk.map_err(Failure::of_run)?.into_iter().for_each(|one| report.shrunk(one));
    }
    print(&report.to_string())?;
    if let Some(folder) = &args.out {
        keep(folder, &report, &played)?;
    }
    let differ = report.differing();
    if differ > args.allow {
        return Err(Failure::work(format!(
            "{differ} of {} cases differ, {} are allowed",
            cases.len(),
            args.allow
        )));
    }
    Ok(())
}

/// Writes the scripts, and all findings as JSON.
fn keep(folder: &Path, report: &Report, played: &[Played]) -> Result<(), Failure> {
    let failed = |e| Failure::work(format!("cannot write to {}: {e}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in report.scripts() {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    let text = serde_json::to_string_pretty(played).map_err(Failure::work)?;
    fs::write(folder.join("findings.json"), text + "\n").map_err(failed)
}
