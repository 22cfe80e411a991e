//! `windlass twin`.

mod page;
mod rows;
mod words;

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use windlass_cc::AnyParams;
use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::run::World;
use windlass_lab::run::store::replace;
use windlass_testbed::bpf::object;
use windlass_testbed::twin::{self, Twins, facts};

use words::{answers, cells, fact, figures, host, is_coupled, numbered, parting};

use crate::args::Twin;
use crate::output::{Chatter, Failure, print, width};

/// Replays hosts on the native core, and says how far the worlds are apart.
pub fn run(args: &Twin, chatter: &Chatter) -> Result<(), Failure> {
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

/// Those that are named, or all that a kernel takes.
fn algorithms(args: &Twin) -> Result<Vec<AnyParams>, Failure> {
    let known = object::algorithms();
    let named: Vec<&str> = args.algorithms.iter().map(String::as_str).collect();
    let ids = match args.on {
        _ if !named.is_empty() => named,
        // Coupled ones are alone there.
        World::Ns3 => known.iter().copied().filter(|id| !object::COUPLED.contains(id)).collect(),
        _ => known.clone(),
    };
    let unknown = |id: &str| Failure::unknown("algorithm", id, &known);
    ids.iter().map(|id| AnyParams::by_name(id).ok_or_else(|| unknown(id))).collect()
}

/// Prints what a run of twins came to, and keeps what is to be kept; says which answers differ.
fn show(args: &Twin, twins: &Twins) -> Result<Vec<String>, Failure> {
    let id = twins.algorithm;
    print(&text::table_within(&table(twins), width()))?;
    if !is_coupled(twins) {
        print(&first_facts(twins))?;
    }
    if let Some(folder) = &args.events {
        keep(folder, twins)?;
    }
    if let Some(page) = &args.write {
        write(page, twins)?;
    }
    let different = numbered(twins).filter(|(twin, _)| !twin.replayed.is_equal());
    let told = different.map(|(twin, name)| {
        let first = twin.replayed.first.as_deref().unwrap_or("events were not recorded");
        format!("{id} over {name}: {first}")
    });
    Ok(told.collect())
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
        caption: format!("{} in {} and its native twin", twins.algorithm, host(twins)),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// The first fact that only one of the hosts told, a line for each network.
fn first_facts(twins: &Twins) -> String {
    let mut told = "first fact that differs (times by more than 1 ms and 2 %):\n".to_owned();
    for (twin, name) in numbered(twins).filter(|(twin, _)| twin.simulated.is_some()) {
        let _ = writeln!(told, "  {name}: {}", fact(twin));
    }
    told
}

/// Writes the events of both worlds.
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

/// Puts the row into the table of all, and its networks into the algorithm's own page; neither where one of the two cannot be
/// filled in.
fn write(page: &Path, twins: &Twins) -> Result<(), Failure> {
    suits(page, twins)?;
    let unreadable =
        |path: &Path, e| Failure::input(format!("{} cannot be read: {e}", path.display()));
    let end = if is_coupled(twins) { rows::END_OF_COUPLED } else { rows::END };
    let text = std::fs::read_to_string(page).map_err(|e| unreadable(page, e))?;
    let table = rows::filled(&text, end, twins).ok_or_else(|| {
        let name = page.display();
        Failure::input(format!("{name} has no line `{end}`, before which rows stand"))
    })?;
    let own = page.with_file_name(rows::path(twins.algorithm));
    let text = match std::fs::read_to_string(&own) {
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        read => Some(read.map_err(|e| unreadable(&own, e))?),
    };
    let networks = page::filled(text.as_deref(), twins)
        .map_err(|(line, why)| Failure::input(format!("{}:{line}: {why}", own.display())))?;
    put(page, &table)?;
    put(&own, &networks)
}

fn put(page: &Path, text: &str) -> Result<(), Failure> {
    let folder = match page.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = |e| Failure::work(format!("{} cannot be written: {e}", page.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let file = page.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    replace(folder, file, |out| out.write_all(text.as_bytes())).map_err(Failure::work)?;
    Ok(())
}

/// A row has one place for each network, and a cell for the host's name, which is a heading too.
fn suits(page: &Path, twins: &Twins) -> Result<(), Failure> {
    let (name, id, host) = (page.display(), twins.algorithm, &twins.host);
    if let Some((twin, _)) = numbered(twins).find(|(twin, name)| twin.network != *name) {
        return Err(Failure::input(format!(
            "{name}: a row has one crossing of each network, and {id} by {host} was recorded more than once over {}",
            twin.network
        )));
    }
    if host.trim() != host || host.is_empty() || host.contains(['|', '\n', '\r']) {
        return Err(Failure::input(format!(
            "{name}: the host's name is a cell of a table: one line without `|`, not {host:?} as recorded with {id}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::words::tests::run;
    use super::*;

    fn refused(twins: &Twins) -> String {
        let Err(Failure::Input(told)) = write(Path::new("twins.md"), twins) else {
            panic!("written")
        };
        told.to_string()
    }

    #[test]
    fn a_network_that_was_recorded_twice_has_a_number_and_no_row() {
        let twins = run("reno", "mine", &["clean", "narrow", "narrow"]);
        let names: Vec<String> = numbered(&twins).map(|(_, name)| name).collect();
        assert_eq!(names, ["clean", "narrow", "narrow-2"]);
        let told = refused(&twins);
        assert!(told.starts_with("twins.md: ") && told.contains("reno by mine"), "{told}");
    }

    #[test]
    fn a_run_is_kept_in_both_pages_or_in_neither() {
        let folder = tempfile::tempdir().expect("a folder");
        let (table, own) = (folder.path().join("all.md"), folder.path().join("twins/reno.md"));
        let empty = format!("| a | b |\n| --- | --- |\n{}\n\n", rows::END);
        std::fs::write(&table, &empty).expect("written");
        let text = |path| std::fs::read_to_string(path).expect("there");
        assert!(write(&table, &run("reno", "6.1", &["clean"])).is_ok());
        let before = text(&table);
        assert!(before.contains("| [`reno`](twins/reno.md) | 6.1 | 10 |"), "{before}");
        assert!(text(&own).contains("\n## Linux 6.1\n"), "{}", text(&own));

        std::fs::write(&own, "my notes\n").expect("written");
        let Err(Failure::Input(told)) = write(&table, &run("reno", "6.12", &["clean"])) else {
            panic!("written")
        };
        let told = told.to_string();
        assert!(told.contains("reno.md:1: `# Twins of Reno` should stand here"), "{told}");
        assert_eq!((text(&own), text(&table)), ("my notes\n".to_owned(), before));
    }

    #[test]
    fn a_host_whose_name_would_break_the_table_has_no_row() {
        for host in ["", "a | b", "two\nlines"] {
            let told = refused(&run("reno", host, &["clean"]));
            assert!(
                told.starts_with("twins.md: the host's name") && told.contains("reno"),
                "{told}"
            );
        }
    }
}
