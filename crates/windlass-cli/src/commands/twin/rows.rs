//! The table of all: a row for each algorithm and host.

use std::fmt::Write as _;

use windlass_testbed::twin::{Figures, Twins};

use super::words::{equal, gain};
use crate::output::several;

/// The line before which the rows stand, of algorithms for one path and of coupled ones. What follows up to an empty line is
/// the rows' summary.
pub const END: &str = "<!-- end of rows -->";
pub const END_OF_COUPLED: &str = "<!-- end of coupled rows -->";

/// An algorithm's own page, beside the table's.
pub fn path(algorithm: &str) -> String {
    format!("twins/{algorithm}.md")
}

/// The page with the algorithm's row in this host, in order; `None` where there is no table before the line `end`.
pub fn filled(page: &str, end: &str, twins: &Twins) -> Option<String> {
    let (before, after) = page.split_once(end)?;
    let after = after.find("\n\n").map_or("\n", |at| &after[at..]);
    let name = format!("| [`{0}`]({1}) |", twins.algorithm, path(twins.algorithm));
    let key = format!("{name} {} |", twins.host);
    let head = before.rfind("| --- |").and_then(|at| Some(at + before[at..].find('\n')? + 1))?;
    let mut rows: Vec<String> = before[head..]
        .lines()
        .filter(|row| row.starts_with('|'))
        // Rows from before the algorithm had a page.
        .map(|row| row.replacen(&format!("| `{}` |", twins.algorithm), &name, 1))
        .filter(|row| !row.starts_with(&key))
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
    let summary =
        summary(&rows, if twins.recorded { "in the host stacks" } else { "in the kernel" });
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
    let _ = write!(told, "Goodputs {place} and in the simulator differ by {}", of(None));
    for host in hosts {
        let _ = write!(told, ".\n{host}: {}", of(Some(host)));
    }
    told + "."
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::run;
    use super::*;

    #[test]
    fn a_row_takes_the_place_of_that_of_the_same_algorithm_and_kernel() {
        let twins = run("reno", "6.12", &["clean"]);
        let page = format!(
            "# Twins\n\n| a | b |\n| --- | --- |\n| `bbr` | 6.12 | 9 |\n| `reno` | 6.1 | 7 |\n{END}\n\nmore\n"
        );
        let once = filled(&page, END, &twins).expect("filled");
        assert_eq!(filled(&once, END, &twins).expect("filled"), once);
        let rows: Vec<&str> = once.lines().filter(|l| l.contains("| 6.")).collect();
        let own = "| [`reno`](twins/reno.md) |";
        let begin = [
            &format!("{own} 6.1 | 7 |"),
            &format!("{own} 6.12 | 10 | all | +0.0 |"),
            "| `bbr` | 6.12 | 9 |",
        ];
        assert_eq!(rows, begin, "{once}");
        assert!(once.ends_with("\n\nmore\n"));
    }

    #[test]
    fn the_summary_is_of_sizes_and_names_the_rows_that_are_not_equal() {
        let row = |kernel: &str, equal: &str, gains: &str| {
            format!("| `reno` | {kernel} | 10 | {equal} | {gains} |")
        };
        let rows = [row("6.1", "all", "+0.1 | -3.0"), row("6.12", "all but 2", "-0.2 | +9.0")];
        let told = summary(&rows, "in the kernel");
        assert!(told.starts_with("**2 rows, 20 events, 1 row not equal.** "), "{told}");
        let all = "differ by 0.2 % at the median, 9.0 % at the 95th percentile.";
        assert!(told.contains(all), "{told}");
        assert!(told.contains("6.1: 0.1 % at the median, 3.0 % at the 95th percentile"), "{told}");
    }
}
