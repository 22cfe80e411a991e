//! `windlass twin`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use windlass_cc::AnyParams;
use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::run::store::replace;
use windlass_testbed::bpf::object;
use windlass_testbed::twin::{self, Twins, facts};

use crate::args::Twin;
use crate::output::{Chatter, Failure, print, width};

/// Replays kernels on the native core, and says how far the worlds are apart.
pub fn run(args: &Twin, chatter: &Chatter) -> Result<(), Failure> {
    let known = object::algorithms();
    let named: Vec<&str> = args.algorithms.iter().map(String::as_str).collect();
    let ids = if named.is_empty() { known.clone() } else { named };
    let unknown = |id: &str| Failure::unknown("algorithm", id, &known);
    let algorithms = ids.iter().map(|id| AnyParams::by_name(id).ok_or_else(|| unknown(id)));
    let algorithms = algorithms.collect::<Result<Vec<AnyParams>, Failure>>()?;
    let mut differing = Vec::new();
    let progress = chatter.progress(0, algorithms.len(), "algorithms");
    for params in &algorithms {
        let id = params.info().id;
        let twins = twin::run(args.on, params, &args.network, args.seed).map_err(Failure::of)?;
        print(&text::table_within(&table(id, &twins), width()))?;
        if !twin::is_coupled(params) {
            print(&first_facts(&twins))?;
        }
        for twin in twins.twins.iter().filter(|twin| !twin.replayed.is_equal()) {
            let first = twin.replayed.first.as_deref().unwrap_or("events were not recorded");
            differing.push(format!("{id} over {}: {first}", twin.network));
        }
        if let Some(folder) = &args.events {
            keep(folder, id, &twins)?;
        }
        if let Some(page) = &args.write {
            let end = if twin::is_coupled(params) { END_OF_COUPLED } else { END };
            write(page, end, id, &twins)?;
        }
        progress.made(id);
    }
    progress.end();
    match differing.as_slice() {
        [] => Ok(()),
        all => Err(Failure::work(format!("not the same algorithm:\n{}", all.join("\n")))),
    }
}

fn table(id: &str, twins: &Twins) -> Table {
    let columns = [
        "network",
        "events",
        "equal",
        "goodput (kbps)",
        "simulated",
        "sent again",
        "simulated",
        "srtt (ms)",
        "simulated",
        "windows part",
    ];
    let rows = twins.twins.iter().map(|twin| {
        let (kernel, own) = (&twin.kernel, &twin.simulated);
        let number = |value: f64| format!("{value:.0}");
        let srtt = |value: Option<f64>| value.map_or_else(String::new, |ms| format!("{ms:.1}"));
        // A connection of several paths has no one course.
        let nowhere = if twin.replayed.paths > 0 { "" } else { "nowhere" };
        let parting = twin.parting.as_ref().map_or_else(
            || nowhere.to_owned(),
            |p| {
                let own = p.simulated.map_or_else(|| "no change".to_owned(), |w| w.to_string());
                let at = p.kernel.time as f64 / 1e9;
                format!("{at:.3} s, {}: {} for {own}", p.kernel.what, p.kernel.window)
            },
        );
        let cells = vec![
            twin.network.clone(),
            twin.replayed.events.to_string(),
            equal(twin.replayed.events, twin.replayed.different + twin.replayed.missed),
            number(kernel.goodput_bps / 1e3),
            number(own.goodput_bps / 1e3),
            kernel.retransmits.to_string(),
            own.retransmits.to_string(),
            srtt(kernel.srtt_ms),
            srtt(own.srtt_ms),
            parting,
        ];
        Row { cells, ..Row::default() }
    });
    Table {
        id: "twins".to_owned(),
        caption: format!("{id} in Linux {} and its native twin", twins.kernel),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// The first fact that only one of the hosts told, a line for each network.
fn first_facts(twins: &Twins) -> String {
    let mut told = "first fact that differs (times by more than 1 ms and 2 %):\n".to_owned();
    for twin in &twins.twins {
        let fact = twin.fact.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let _ = writeln!(told, "  {}: {fact}", twin.network);
    }
    told
}

/// All, or how many are not.
fn equal(events: u64, not: u64) -> String {
    match (events, not) {
        (0, _) => "no events".to_owned(),
        (_, 0) => "all".to_owned(),
        (_, n) => format!("all but {n}"),
    }
}

/// How much more the kernel's flow got than the simulator's, per cent.
fn gain(kernel: f64, simulated: f64) -> f64 {
    if simulated > 0.0 { 100.0 * (kernel / simulated - 1.0) } else { f64::NAN }
}

/// Writes the events of both worlds.
fn keep(folder: &Path, id: &str, twins: &Twins) -> Result<(), Failure> {
    let failed = |e| Failure::work(format!("{} cannot be written: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for twin in &twins.twins {
        for (world, heard) in [("kernel", &twin.replayed.heard), ("simulated", &twin.heard)] {
            let file = folder.join(format!("{id}-{}-{world}.csv", twin.network));
            std::fs::write(file, facts::table(heard)).map_err(failed)?;
        }
    }
    Ok(())
}

/// The line before which the rows stand, of algorithms for one path and of coupled ones. What follows up to an empty line is
/// the rows' summary.
const END: &str = "<!-- end of rows -->";
const END_OF_COUPLED: &str = "<!-- end of coupled rows -->";

fn write(page: &Path, end: &str, id: &str, twins: &Twins) -> Result<(), Failure> {
    let name = page.display();
    let unreadable = |e| Failure::input(format!("{name} cannot be read: {e}"));
    let text = std::fs::read_to_string(page).map_err(unreadable)?;
    let filled = filled(&text, end, id, twins).ok_or_else(|| {
        Failure::input(format!("{name} has no line `{end}`, before which rows stand"))
    })?;
    let (folder, file) = (page.parent().unwrap_or(Path::new(".")), page.file_name());
    let file = file.and_then(|file| file.to_str()).unwrap_or_default();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    replace(folder, file, |out| out.write_all(filled.as_bytes())).map_err(Failure::work)?;
    Ok(())
}

/// The page with the algorithm's row on this kernel, in order.
fn filled(page: &str, end: &str, id: &str, twins: &Twins) -> Option<String> {
    let (before, after) = page.split_once(end)?;
    let after = after.find("\n\n").map_or("\n", |at| &after[at..]);
    let key = format!("| `{id}` | {} |", twins.kernel);
    let head = before.rfind("| --- |").and_then(|at| Some(at + before[at..].find('\n')? + 1))?;
    let mut rows: Vec<String> = before[head..]
        .lines()
        .filter(|row| row.starts_with('|') && !row.starts_with(&key))
        .map(str::to_owned)
        .collect();
    let events: u64 = twins.twins.iter().map(|twin| twin.replayed.events).sum();
    let not: u64 =
        twins.twins.iter().map(|twin| twin.replayed.different + twin.replayed.missed).sum();
    let mut row = format!("{key} {events} | {} |", equal(events, not));
    for twin in &twins.twins {
        let percent = gain(twin.kernel.goodput_bps, twin.simulated.goodput_bps);
        let _ = write!(row, " {percent:+.1} |");
    }
    rows.push(row);
    let place = |row: &String| {
        let id = row.split('`').nth(1).unwrap_or_default();
        let rank = windlass_cc::ALGORITHMS.iter().position(|info| info.id == id);
        (rank, row.clone())
    };
    rows.sort_by_key(place);
    let summary = summary(&rows);
    Some(format!("{}{}\n{end}\n{summary}{after}", &before[..head], rows.join("\n")))
}

/// What the rows come to, in all and on each kernel: how far goodputs are apart.
fn summary(rows: &[String]) -> String {
    let cells = rows.iter().map(|row| row.trim_matches('|').split('|').map(str::trim).collect());
    let cells: Vec<Vec<&str>> = cells.filter(|row: &Vec<&str>| row.len() > 3).collect();
    let of = |kernel: Option<&str>| {
        let rows = cells.iter().filter(|row| kernel.is_none_or(|kernel| row[1] == kernel));
        let sizes = rows.flat_map(|row| &row[4..]).filter_map(|cell| cell.parse::<f64>().ok());
        let mut sizes: Vec<f64> = sizes.map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let place = (sizes.len() * percent).div_ceil(100).saturating_sub(1);
            sizes.get(place).copied().unwrap_or_default()
        };
        format!("{:.1} % at the median, {:.1} % at the 95th percentile", at(50), at(95))
    };
    let kernels: std::collections::BTreeSet<&str> = cells.iter().map(|row| row[1]).collect();
    let events: u64 = cells.iter().filter_map(|row| row[2].parse::<u64>().ok()).sum();
    let not = cells.iter().filter(|row| row[3] != "all").count();
    let equal =
        if not == 0 { "every answer equal".to_owned() } else { format!("{not} rows not equal") };
    let mut told = format!("**{} rows, {events} events, {equal}.** ", cells.len());
    let _ = write!(told, "Goodputs in the kernel and simulated differ by {}", of(None));
    for kernel in kernels {
        let _ = write!(told, ";\n{kernel}: {}", of(Some(kernel)));
    }
    told + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_the_place_of_that_of_the_same_algorithm_and_kernel() {
        let twins = Twins { kernel: "6.12".to_owned(), twins: Vec::new() };
        let page = format!(
            "# Twins\n\n| a | b |\n| --- | --- |\n| `bbr` | 6.12 | 9 |\n| `reno` | 6.1 | 7 |\n{END}\n\nmore\n"
        );
        let once = filled(&page, END, "reno", &twins).expect("filled");
        assert_eq!(filled(&once, END, "reno", &twins).expect("filled"), once);
        let rows: Vec<&str> = once.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(rows.len(), 3, "{once}");
        assert!(
            rows[0].starts_with("| `reno` | 6.1 |") && rows[2].starts_with("| `bbr`"),
            "{once}"
        );
        assert!(once.ends_with("\n\nmore\n"));
    }

    #[test]
    fn the_summary_is_of_sizes_and_names_the_rows_that_are_not_equal() {
        let row = |kernel: &str, equal: &str, gains: &str| {
            format!("| `reno` | {kernel} | 10 | {equal} | {gains} |")
        };
        let rows = [row("6.1", "all", "+0.1 | -3.0"), row("6.12", "all but 2", "-0.2 | +9.0")];
        let told = summary(&rows);
        assert!(told.starts_with("**2 rows, 20 events, 1 rows not equal.** "), "{told}");
        let all = "differ by 0.2 % at the median, 9.0 % at the 95th percentile;";
        assert!(told.contains(all), "{told}");
        assert!(told.contains("6.1: 0.1 % at the median, 3.0 % at the 95th percentile"), "{told}");
    }
}
