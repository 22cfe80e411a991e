//! `windlass twin`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use windlass_cc::AnyParams;
use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::run::World;
use windlass_lab::run::store::replace;
use windlass_testbed::bpf::object;
use windlass_testbed::twin::{self, Figures, Twin as Crossed, Twins, facts};

use crate::args::Twin;
use crate::output::{Chatter, Failure, print, several, width};

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
    let coupled = object::COUPLED.contains(&id);
    if !coupled {
        print(&first_facts(twins))?;
    }
    if let Some(folder) = &args.events {
        keep(folder, twins)?;
    }
    if let Some(page) = &args.write {
        write(page, if coupled { END_OF_COUPLED } else { END }, twins)?;
    }
    let different = numbered(twins).filter(|(twin, _)| !twin.replayed.is_equal());
    let told = different.map(|(twin, name)| {
        let first = twin.replayed.first.as_deref().unwrap_or("events were not recorded");
        format!("{id} over {name}: {first}")
    });
    Ok(told.collect())
}

/// Each with the name of its network, which has a number where a host has recorded it more than once.
fn numbered(twins: &Twins) -> impl Iterator<Item = (&Crossed, String)> {
    twins.twins.iter().enumerate().map(|(at, twin)| {
        let before = twins.twins[..at].iter().filter(|other| other.network == twin.network);
        let name = match before.count() {
            0 => twin.network.clone(),
            n => format!("{}-{}", twin.network, n + 1),
        };
        (twin, name)
    })
}

fn table(twins: &Twins) -> Table {
    let columns = [
        "network",
        "events",
        "equal",
        "goodput (kbps)",
        "simulated",
        if twins.recorded { "segments lost" } else { "sent again" },
        "simulated",
        if twins.recorded { "round trip (ms)" } else { "srtt (ms)" },
        "simulated",
        "windows part",
    ];
    let rows = numbered(twins).map(|(twin, name)| {
        let [goodput, again, rtt] = cells(Some(&twin.host));
        let [own_goodput, own_again, own_rtt] = cells(twin.simulated.as_ref());
        // A connection of several paths has no one course.
        let compared = twin.simulated.is_some() && twin.replayed.paths <= 1;
        let nowhere = if compared { "nowhere" } else { "" };
        let parting = twin.parting.as_ref().map_or_else(
            || nowhere.to_owned(),
            |p| {
                let own = p.simulated.map_or_else(|| "no change".to_owned(), |w| w.to_string());
                let at = p.host.time as f64 / 1e9;
                format!("{at:.3} s, {}: {} for {own}", p.host.what, p.host.window)
            },
        );
        let cells = vec![
            name,
            twin.replayed.events.to_string(),
            equal(twin.replayed.events, twin.replayed.different + twin.replayed.missed),
            goodput,
            own_goodput,
            again,
            own_again,
            rtt,
            own_rtt,
            parting,
        ];
        Row { cells, ..Row::default() }
    });
    let host = &twins.host;
    let host = if twins.recorded { host.clone() } else { format!("Linux {host}") };
    Table {
        id: "twins".to_owned(),
        caption: format!("{} in {host} and its native twin", twins.algorithm),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..Table::default()
    }
}

/// A flow's figures in words; nothing where the simulator does not know the network.
fn cells(figures: Option<&Figures>) -> [String; 3] {
    let Some(Figures { goodput_bps, again, rtt_ms }) = figures else { return Default::default() };
    let rtt = rtt_ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    [format!("{:.0}", goodput_bps / 1e3), again.to_string(), rtt]
}

/// The first fact that only one of the hosts told, a line for each network.
fn first_facts(twins: &Twins) -> String {
    let mut told = "first fact that differs (times by more than 1 ms and 2 %):\n".to_owned();
    for (twin, name) in numbered(twins).filter(|(twin, _)| twin.simulated.is_some()) {
        let fact = twin.fact.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
        let _ = writeln!(told, "  {name}: {fact}");
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

/// How much more a host has than the simulator, per cent.
fn gain(host: f64, simulated: f64) -> f64 {
    if simulated > 0.0 { 100.0 * (host / simulated - 1.0) } else { f64::NAN }
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

/// The line before which the rows stand, of algorithms for one path and of coupled ones. What follows up to an empty line is
/// the rows' summary.
const END: &str = "<!-- end of rows -->";
const END_OF_COUPLED: &str = "<!-- end of coupled rows -->";

fn write(page: &Path, end: &str, twins: &Twins) -> Result<(), Failure> {
    let name = page.display();
    // A row has one place for each network.
    if let Some((twin, _)) = numbered(twins).find(|(twin, name)| twin.network != *name) {
        return Err(Failure::input(format!(
            "{name}: a row has one crossing of each network, and {} by {} was recorded more than once over {}",
            twins.algorithm, twins.host, twin.network
        )));
    }
    let unreadable = |e| Failure::input(format!("{name} cannot be read: {e}"));
    let text = std::fs::read_to_string(page).map_err(unreadable)?;
    let filled = filled(&text, end, twins).ok_or_else(|| {
        Failure::input(format!("{name} has no line `{end}`, before which rows stand"))
    })?;
    let (folder, file) = (page.parent().unwrap_or(Path::new(".")), page.file_name());
    let file = file.and_then(|file| file.to_str()).unwrap_or_default();
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    replace(folder, file, |out| out.write_all(filled.as_bytes())).map_err(Failure::work)?;
    Ok(())
}

/// The page with the algorithm's row in this host, in order.
fn filled(page: &str, end: &str, twins: &Twins) -> Option<String> {
    let (before, after) = page.split_once(end)?;
    let after = after.find("\n\n").map_or("\n", |at| &after[at..]);
    let key = format!("| `{}` | {} |", twins.algorithm, twins.host);
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
    for (host, own) in pairs(twins) {
        let _ = write!(row, " {:+.1} |", gain(host.goodput_bps, own.goodput_bps));
    }
    if twins.recorded {
        row += &apart(twins);
    }
    rows.push(row);
    let place = |row: &String| {
        let id = row.split('`').nth(1).unwrap_or_default();
        let rank = windlass_cc::ALGORITHMS.iter().position(|info| info.id == id);
        (rank, row.clone())
    };
    rows.sort_by_key(place);
    let summary = summary(&rows, if twins.recorded { "in the hosts" } else { "in the kernel" });
    Some(format!("{}{}\n{end}\n{summary}{after}", &before[..head], rows.join("\n")))
}

/// The figures of host and simulator.
fn pairs(twins: &Twins) -> impl Iterator<Item = (&Figures, &Figures)> {
    twins.twins.iter().filter_map(|twin| Some((&twin.host, twin.simulated.as_ref()?)))
}

/// What the row of a recording has besides: segments lost in all, the round trip, and which facts were the first to differ.
fn apart(twins: &Twins) -> String {
    let lost = pairs(twins).map(|(host, own)| [host.again, own.again]);
    let [host, own] = lost.fold([0, 0], |[a, b], [host, own]| [a + host, b + own]);
    let mut delays: Vec<f64> =
        pairs(twins).filter_map(|(host, own)| Some(gain(host.rtt_ms?, own.rtt_ms?))).collect();
    delays.sort_by(f64::total_cmp);
    let middle = delays.get(delays.len() / 2).copied().unwrap_or(f64::NAN);
    let mut facts: Vec<(&str, usize)> = Vec::new();
    for fact in twins.twins.iter().filter_map(|twin| twin.fact.as_ref()) {
        match facts.iter_mut().find(|(name, _)| *name == fact.fact) {
            Some((_, count)) => *count += 1,
            None => facts.push((fact.fact, 1)),
        }
    }
    facts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let facts: Vec<String> = facts.iter().map(|(name, n)| format!("{name} ({n})")).collect();
    format!(" {host} for {own} | {middle:+.1} % | {} |", facts.join(", "))
}

/// What the rows come to, in all and in each host: how far goodputs are apart.
fn summary(rows: &[String], place: &str) -> String {
    let cells = rows.iter().map(|row| row.trim_matches('|').split('|').map(str::trim).collect());
    let cells: Vec<Vec<&str>> = cells.filter(|row: &Vec<&str>| row.len() > 3).collect();
    let of = |host: Option<&str>| {
        let rows = cells.iter().filter(|row| host.is_none_or(|host| row[1] == host));
        let sizes = rows.flat_map(|row| &row[4..]).filter_map(|cell| cell.parse::<f64>().ok());
        let mut sizes: Vec<f64> = sizes.map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let at = |percent: usize| {
            let place = (sizes.len() * percent).div_ceil(100).saturating_sub(1);
            sizes.get(place).copied().unwrap_or_default()
        };
        format!("{:.1} % at the median, {:.1} % at the 95th percentile", at(50), at(95))
    };
    let hosts: std::collections::BTreeSet<&str> = cells.iter().map(|row| row[1]).collect();
    let events: u64 = cells.iter().filter_map(|row| row[2].parse::<u64>().ok()).sum();
    let not = cells.iter().filter(|row| row[3] != "all").count();
    let equal = if not == 0 {
        "every answer equal".to_owned()
    } else {
        format!("{} not equal", several(not, "row"))
    };
    let rows = several(cells.len(), "row");
    let mut told = format!("**{rows}, {events} events, {equal}.** ");
    let _ = write!(told, "Goodputs {place} and simulated differ by {}", of(None));
    for host in hosts {
        let _ = write!(told, ";\n{host}: {}", of(Some(host)));
    }
    told + "."
}

#[cfg(test)]
mod tests {
    use windlass_testbed::bpf::replay::Replayed;

    use super::*;

    #[test]
    fn a_row_takes_the_place_of_that_of_the_same_algorithm_and_kernel() {
        let twins = Twins {
            algorithm: "reno",
            host: "6.12".to_owned(),
            recorded: false,
            twins: Vec::new(),
        };
        let page = format!(
            "# Twins\n\n| a | b |\n| --- | --- |\n| `bbr` | 6.12 | 9 |\n| `reno` | 6.1 | 7 |\n{END}\n\nmore\n"
        );
        let once = filled(&page, END, &twins).expect("filled");
        assert_eq!(filled(&once, END, &twins).expect("filled"), once);
        let rows: Vec<&str> = once.lines().filter(|l| l.starts_with("| `")).collect();
        assert_eq!(rows.len(), 3, "{once}");
        assert!(
            rows[0].starts_with("| `reno` | 6.1 |") && rows[2].starts_with("| `bbr`"),
            "{once}"
        );
        assert!(once.ends_with("\n\nmore\n"));
    }

    #[test]
    fn a_network_that_was_recorded_twice_has_a_number_and_no_row() {
        let twin = |network: &str| Crossed {
            network: network.to_owned(),
            replayed: Replayed::default(),
            host: Figures { goodput_bps: 1e6, again: 0, rtt_ms: None },
            simulated: None,
            parting: None,
            heard: Vec::new(),
            fact: None,
        };
        let host = "mine".to_owned();
        let twins = ["clean", "narrow", "narrow"].map(twin).to_vec();
        let twins = Twins { algorithm: "reno", host, recorded: true, twins };
        let names: Vec<String> = numbered(&twins).map(|(_, name)| name).collect();
        assert_eq!(names, ["clean", "narrow", "narrow-2"]);
        let Err(Failure::Input(told)) = write(Path::new("twins.md"), END, &twins) else {
            panic!("written")
        };
        let told = told.to_string();
        assert!(told.starts_with("twins.md: ") && told.contains("reno by mine"), "{told}");
    }

    #[test]
    fn the_summary_is_of_sizes_and_names_the_rows_that_are_not_equal() {
        let row = |kernel: &str, equal: &str, gains: &str| {
            format!("| `reno` | {kernel} | 10 | {equal} | {gains} |")
        };
        let rows = [row("6.1", "all", "+0.1 | -3.0"), row("6.12", "all but 2", "-0.2 | +9.0")];
        let told = summary(&rows, "in the kernel");
        assert!(told.starts_with("**2 rows, 20 events, 1 row not equal.** "), "{told}");
        let all = "differ by 0.2 % at the median, 9.0 % at the 95th percentile;";
        assert!(told.contains(all), "{told}");
        assert!(told.contains("6.1: 0.1 % at the median, 3.0 % at the 95th percentile"), "{told}");
    }
}
