//! `windlass replay`.

mod file;
mod words;

use std::fmt::Write as _;
use std::path::Path;

use windlass_cc::AnyParams;
use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::run::World;
use windlass_testbed::bpf::object;
use windlass_testbed::twin::{self, Twins, facts};

use words::{answers, cells, fact, figures, host, is_coupled, numbered, parting};

use crate::args::Replay;
use crate::output::{Chatter, Failure, print, width};

/// Replays hosts on the native core, and prints the differences between host and simulator.
pub fn run(args: &Replay, chatter: &Chatter) -> Result<(), Failure> {
    let mut differing = Vec::new();
    if args.recorded.is_empty() {
        let algorithms = algorithms(args)?;
        let progress = chatter.progress(0, algorithms.len(), "algorithms");
        for params in &algorithms {
            let twins = match args.on {
                World::Ns3 => twin::ns3(params, &args.network, args.seed),
                on => twin::run(on, params, &args.network, args.seed),
            };
            differing.extend(show(args, &twins.map_err(Failure::of)?)?);
            progress.made(params.info().id);
        }
        progress.end();
    } else {
        let mut recordings = Vec::new();
        for path in &args.recorded {
            recordings.extend(twin::read(path).map_err(Failure::input)?);
        }
        for twins in twin::recorded(&recordings, args.seed).map_err(Failure::of)? {
            differing.extend(show(args, &twins)?);
        }
    }
    match differing.as_slice() {
        [] => Ok(()),
        all => Err(Failure::work(format!("not the same algorithm:\n{}", all.join("\n")))),
    }
}

/// The algorithms of the command line, or all that a kernel accepts.
fn algorithms(args: &Replay) -> Result<Vec<AnyParams>, Failure> {
    let known = object::algorithms();
    let named: Vec<&str> = args.algorithms.iter().map(String::as_str).collect();
    let ids = match args.on {
        _ if !named.is_empty() => named,
        // ns-3 has no sibling paths, so that coupled algorithms do not run there.
        World::Ns3 => known.iter().copied().filter(|id| !object::COUPLED.contains(id)).collect(),
        _ => known.clone(),
    };
    let unknown = |id: &str| Failure::unknown("algorithm", id, &known);
    ids.iter().map(|id| AnyParams::by_name(id).ok_or_else(|| unknown(id))).collect()
}

/// Prints the table of one algorithm, writes the files of `--events` and `--write`, and returns a line per network with unequal answers.
fn show(args: &Replay, twins: &Twins) -> Result<Vec<String>, Failure> {
    let id = twins.algorithm;
    print(&text::table_within(&table(twins), width()))?;
    if !is_coupled(twins) {
        print(&first_facts(twins))?;
    }
    if let Some(folder) = &args.events {
        keep(folder, twins)?;
    }
    if let Some(path) = &args.write {
        file::write(path, twins)?;
    }
    let different = numbered(twins).filter(|(twin, _)| !twin.replayed.is_equal());
    let lines = different.map(|(twin, name)| {
        let first = twin.replayed.first.as_deref().unwrap_or("events were not recorded");
        format!("{id} over {name}: {first}")
    });
    Ok(lines.collect())
}

fn table(twins: &Twins) -> Table {
    let [goodput, again, rtt] = figures(twins);
    let columns = [
        "network",
        "events",
        "equal",
        goodput,
        "simulated",
        again,
        "simulated",
        rtt,
        "simulated",
        "windows part",
    ];
    let rows = numbered(twins).map(|(twin, name)| {
        let [goodput, again, rtt] = cells(Some(&twin.host));
        let [own_goodput, own_again, own_rtt] = cells(twin.simulated.as_ref());
        let cells = vec![
            name,
            twin.replayed.events.to_string(),
            answers(twin),
            goodput,
            own_goodput,
            again,
            own_again,
            rtt,
            own_rtt,
            parting(twin),
        ];
        Row { cells, ..Row::default() }
    });
    Table {
        id: "twins".to_owned(),
        caption: format!("{} in {} and in the simulator", twins.algorithm, host(twins)),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// The first fact that differs between host and simulator, one line per network.
fn first_facts(twins: &Twins) -> String {
    let mut told = "first fact that differs (times by more than 1 ms and 2 %):\n".to_owned();
    for (twin, name) in numbered(twins).filter(|(twin, _)| twin.simulated.is_some()) {
        let _ = writeln!(told, "  {name}: {}", fact(twin));
    }
    told
}

/// Writes the events of host and simulator.
fn keep(folder: &Path, twins: &Twins) -> Result<(), Failure> {
    let failed = |e| Failure::work(format!("{} cannot be written: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (twin, name) in numbered(twins) {
        let host = if twins.recorded { twins.host.replace(' ', "-") } else { "kernel".to_owned() };
        for (world, heard) in [(host.as_str(), &twin.replayed.heard), ("simulated", &twin.heard)] {
            let file = folder.join(format!("{}-{name}-{world}.csv", twins.algorithm));
            std::fs::write(file, facts::table(heard)).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::words::tests::run;
    use super::*;

    #[test]
    fn a_network_that_was_recorded_twice_has_a_number() {
        let twins = run("reno", "mine", &["clean", "narrow", "narrow"]);
        let names: Vec<String> = numbered(&twins).map(|(_, name)| name).collect();
        assert_eq!(names, ["clean", "narrow", "narrow-2"]);
    }
}
