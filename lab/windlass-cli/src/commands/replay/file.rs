//! The file of `--write`: CSV with one row per algorithm, host and network.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use windlass_lab::run::store::replace;
use windlass_testbed::twin::Twins;

use super::words::{cells, fact, is_coupled, numbered, parting};
use crate::output::Failure;

const HEAD: &str = "algorithm,host,network,events,unequal,goodput_kbps,simulated_goodput_kbps,\
                    retransmitted,simulated_retransmitted,rtt_ms,simulated_rtt_ms,first_window,first_fact";

/// Writes the rows of these runs into the file, and replaces the rows of the same algorithm and host.
pub fn write(path: &Path, twins: &Twins) -> Result<(), Failure> {
    if twins.host.contains([',', '"', '\n', '\r']) {
        return Err(Failure::input(format!(
            "{}: the host's name is a column: use a name without commas, quotes and line ends, not {:?}",
            path.display(),
            twins.host
        )));
    }
    let old = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => format!("{HEAD}\n"),
        read => {
            read.map_err(|e| Failure::input(format!("{} cannot be read: {e}", path.display())))?
        }
    };
    let new = merged(&old, twins).ok_or_else(|| {
        Failure::input(format!("{}:1: expected the columns `{HEAD}`", path.display()))
    })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    replace(folder.unwrap_or(Path::new(".")), name, |out| out.write_all(new.as_bytes()))
        .map_err(Failure::work)?;
    Ok(())
}

/// The file with the new rows, ordered by algorithm and then by host; `None` if the columns differ.
fn merged(old: &str, twins: &Twins) -> Option<String> {
    let key = format!("{},{},", twins.algorithm, twins.host);
    let mut lines = old.lines();
    let head = lines.next().filter(|head| *head == HEAD)?;
    let kept = lines.filter(|line| !line.starts_with(&key)).map(str::to_owned);
    let mut rows: Vec<String> = kept.chain(rows(twins, &key)).collect();
    // Stable: networks keep their order.
    rows.sort_by_cached_key(|row| place(row));
    Some(format!("{head}\n{}\n", rows.join("\n")))
}

fn rows<'a>(twins: &'a Twins, key: &'a str) -> impl Iterator<Item = String> + 'a {
    numbered(twins).map(move |(twin, network)| {
        let (host, own) = (cells(Some(&twin.host)), cells(twin.simulated.as_ref()));
        let figures: Vec<String> =
            host.into_iter().zip(own).flat_map(<[String; 2]>::from).collect();
        let unequal = twin.replayed.different + twin.replayed.missed;
        // Different schedulers carry different data on each path, so that coupled runs have no first difference.
        let [window, fact] =
            if is_coupled(twins) { Default::default() } else { [parting(twin), fact(twin)] };
        format!(
            "{key}{network},{},{unequal},{},\"{window}\",\"{fact}\"",
            twin.replayed.events,
            figures.join(",")
        )
    })
}

/// Algorithms have the order of the reference; hosts have the order of their release numbers, then of their names.
fn place(row: &str) -> (Option<usize>, Vec<u64>, String) {
    let mut fields = row.split(',');
    let (algorithm, host) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let release = host.split([' ', '-']).next().unwrap_or_default();
    let numbers = release.split('.').map_while(|part| part.parse().ok()).collect::<Vec<u64>>();
    let rank = windlass_cc::ALGORITHMS.iter().position(|info| info.id == algorithm);
    // Names without a release number follow.
    (rank, if numbers.is_empty() { vec![u64::MAX] } else { numbers }, host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::run;
    use super::*;

    fn refused(path: &Path, twins: &Twins) -> String {
        let Err(Failure::Input(error)) = write(path, twins) else { panic!("written") };
        error.to_string()
    }

    #[test]
    fn rows_have_one_order_regardless_of_the_order_of_the_runs() {
        let hosts = ["quinn 0.11", "6.12.1", "ns-3", "6.1.0", "noq 1.4", "6.9.3"];
        let filled = |hosts: &mut dyn Iterator<Item = &&str>| {
            hosts.fold(format!("{HEAD}\n"), |file, host| {
                merged(&file, &run("cubic", host, &["clean", "lossy"])).expect("the columns")
            })
        };
        let file = filled(&mut hosts.iter());
        let order: Vec<&str> =
            file.lines().skip(1).map(|row| row.split(',').nth(1).unwrap()).collect();
        let each = ["6.1.0", "6.9.3", "6.12.1", "noq 1.4", "ns-3", "quinn 0.11"];
        assert_eq!(order, each.map(|host| [host; 2]).concat());
        assert_eq!(filled(&mut hosts.iter().rev()), file);
    }

    #[test]
    fn a_repeated_run_replaces_only_its_own_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("replays.csv");
        let text = || std::fs::read_to_string(&path).expect("the file");
        for host in ["6.1.0", "ns-3"] {
            assert!(write(&path, &run("cubic", host, &["clean", "clean"])).is_ok());
        }
        let before = text();
        assert!(
            before.contains("\ncubic,6.1.0,clean-2,10,0,1000,1000,0,0,,,\"nowhere\",\"none\"\n"),
            "{before}"
        );
        let mut twins = run("cubic", "ns-3", &["clean", "clean"]);
        assert!(write(&path, &twins).is_ok());
        assert_eq!(text(), before, "the same run changes nothing");
        twins.twins[0].host.goodput_bps = 1.2e6;
        assert!(write(&path, &twins).is_ok());
        assert_eq!(text(), before.replace("ns-3,clean,10,0,1000", "ns-3,clean,10,0,1200"));
    }

    #[test]
    fn another_file_and_a_name_that_breaks_a_row_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes.csv");
        std::fs::write(&path, "my notes\n").expect("written");
        let error = refused(&path, &run("reno", "6.12", &["clean"]));
        assert!(error.contains("notes.csv:1: expected the columns `algorithm,host,"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), "my notes\n");
        for host in ["a, b", "a \"b\"", "two\nlines"] {
            let error = refused(&path, &run("reno", host, &["clean"]));
            assert!(error.contains("notes.csv: the host's name is a column"), "{error}");
        }
    }
}
