//! An algorithm's own page: a section for each host, with a row for each network.

use std::collections::BTreeMap;

use windlass_cc::AnyParams;
use windlass_lab::report::markdown;
use windlass_lab::report::model::{Row, Table};
use windlass_testbed::twin::{Twin, Twins};

use super::words::{answers, cells, fact, figures, gain, host, is_coupled, numbered, parting};

/// In the head of each page, by which it is known.
const WRITTEN: &str = "<!-- Written by `windlass twin --write`; do not edit. -->";
const MEND: &str = "restore the page, or remove it and run its hosts anew";

/// Why a page is left alone: the line that is not as it was written, and what should be there.
type Unreadable = (usize, String);

/// The page, if there is one, with the host's section anew and all others as they are.
pub fn filled(page: Option<&str>, twins: &Twins) -> Result<String, Unreadable> {
    let title = format!("# Twins of {}", name(twins.algorithm));
    let mut sections = page.map_or_else(|| Ok(BTreeMap::new()), |page| sections(page, &title))?;
    let own = section(twins);
    sections.insert(place(&host(twins)), own.trim_end());
    let head = format!("{title}\n\n{WRITTEN}\n\n{}", head(twins));
    let sections: Vec<&str> = sections.into_values().collect();
    Ok(format!("{head}\n\n{}\n", sections.join("\n\n")))
}

/// Where a host's section stands: kernels by their releases, ns-3, then others by their names.
type Place = (usize, Vec<u64>, String);

fn place(host: &str) -> Place {
    let release = host.strip_prefix("Linux ").unwrap_or_default();
    let numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
    let rank = match host {
        _ if !release.is_empty() => 0,
        "ns-3" => 1,
        _ => 2,
    };
    (rank, numbers.collect(), host.to_owned())
}

/// The sections of a page, each from its heading on.
fn sections<'a>(page: &'a str, title: &str) -> Result<BTreeMap<Place, &'a str>, Unreadable> {
    for (line, should) in [(1, title), (3, WRITTEN)] {
        if page.lines().nth(line - 1) != Some(should) {
            return Err((line, format!("`{should}` should stand here; {MEND}")));
        }
    }
    let mut sections = BTreeMap::new();
    let begins = page.match_indices("\n## ").map(|(at, _)| at + 1);
    for (begin, end) in begins.clone().zip(begins.skip(1).chain([page.len()])) {
        let first = 1 + page[..begin].matches('\n').count();
        let section = page[begin..end].trim_end();
        let mut lines = section.lines().zip(first..);
        let heading = lines.next().map_or("", |(line, _)| &line[3..]);
        if let Some((_, line)) =
            lines.clone().find(|(line, _)| !line.is_empty() && !line.starts_with('|'))
        {
            return Err((line, format!("a host's section has a table alone; {MEND}")));
        }
        if !lines.any(|(line, _)| line.starts_with('|')) {
            return Err((first, format!("the host's section has no table; {MEND}")));
        }
        if sections.insert(place(heading), section).is_some() {
            return Err((first, format!("a host has one section; {MEND}")));
        }
    }
    Ok(sections)
}

/// As the reference has it.
fn name(algorithm: &str) -> &'static str {
    AnyParams::by_name(algorithm).map_or("", |params| params.info().name)
}

/// What the page is, and where to read on.
fn head(twins: &Twins) -> String {
    let (id, name) = (twins.algorithm, name(twins.algorithm));
    let anchor = anchor(&format!("{id}: {name}"));
    let (parted, networks) = if is_coupled(twins) {
        let networks = "[Coupled paths](../twins.md#coupled-paths) describes the networks.";
        ("", networks)
    } else {
        (
            ", and the first difference",
            "[Replay check: Linux](../twins.md) describes the six networks.",
        )
    };
    format!(
        "This page has the results of [{name}](../../reference/algorithms.md#{anchor}) in each host stack and in the simulator: \
         one row per network{parted}.\n\
         [Replay check: Linux](../twins.md) and [Replay check: ns-3 and QUIC](../twin-hosts.md) explain the figures and \
         list all algorithms.\n\n\
         Each row is one run of 20 s with one seed. {networks}"
    )
}

/// The place that the book makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The host's heading and its table.
fn section(twins: &Twins) -> String {
    let [goodput, again, rtt] = figures(twins).map(|figure| match figure.split_once(" (") {
        Some((figure, unit)) => format!("{figure} for simulated ({unit}"),
        None => format!("{figure} for simulated"),
    });
    let [network, events, equal, difference] =
        ["network", "events", "answers equal", "difference"].map(str::to_owned);
    let mut columns = vec![network, events, equal, goodput, difference, again, rtt];
    // A connection of several paths has no one course.
    if !is_coupled(twins) {
        columns.extend(["windows part", "first fact that differs"].map(str::to_owned));
    }
    let rows = numbered(twins).map(|(twin, name)| {
        let mut cells = row(twin, name);
        cells.truncate(columns.len());
        Row { cells, ..Row::default() }
    });
    let rows = rows.collect();
    markdown::table(&Table {
        caption: format!("## {}", host(twins)),
        columns,
        rows,
        ..Table::default()
    })
}

fn row(twin: &Twin, network: String) -> Vec<String> {
    let own = twin.simulated.as_ref();
    let gained = own.map(|own| gain(twin.host.goodput_bps, own.goodput_bps));
    let difference = gained.map_or_else(String::new, |gain| format!("{gain:+.1} %"));
    let [goodput, again, rtt] = beside(cells(Some(&twin.host)), cells(own));
    let fact = own.map_or_else(String::new, |_| fact(twin));
    let events = twin.replayed.events.to_string();
    vec![network, events, answers(twin), goodput, difference, again, rtt, parting(twin), fact]
}

/// The host's figure for the simulator's.
fn beside(host: [String; 3], own: [String; 3]) -> [String; 3] {
    let mut own = own.into_iter();
    host.map(|host| match own.next() {
        Some(own) if !own.is_empty() => format!("{host} for {own}"),
        _ => host,
    })
}

#[cfg(test)]
mod tests {
    use windlass_testbed::bpf::record::Moment;
    use windlass_testbed::twin::Parting;
    use windlass_testbed::twin::facts::Difference;

    use super::super::words::tests::run;
    use super::*;

    /// A page with the sections of these hosts, in this order of runs.
    fn page(hosts: &[&str]) -> String {
        let twins = hosts.iter().map(|host| run("cubic", host, &["clean", "lossy"]));
        let filled = twins.fold(None, |page: Option<String>, twins| {
            Some(super::filled(page.as_deref(), &twins).expect("filled"))
        });
        filled.expect("a host")
    }

    #[test]
    fn sections_stand_in_one_order_whatever_was_run_first() {
        let hosts = ["quinn 0.11", "6.12.1", "ns-3", "6.1.0", "noq 1.4", "6.9.3"];
        let once = page(&hosts);
        let headings: Vec<&str> =
            once.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let order = ["Linux 6.1.0", "Linux 6.9.3", "Linux 6.12.1", "ns-3", "noq 1.4", "quinn 0.11"];
        assert_eq!(headings, order, "{once}");
        let mut turned = hosts;
        turned.reverse();
        assert_eq!(page(&turned), once);
    }

    #[test]
    fn a_host_that_is_run_anew_changes_its_section_alone() {
        let before = page(&["6.1.0", "ns-3", "quinn 0.11"]);
        let mut twins = run("cubic", "ns-3", &["clean", "lossy"]);
        assert_eq!(filled(Some(&before), &twins).as_ref(), Ok(&before), "the same again");
        twins.twins[0].host.goodput_bps = 1.2e6;
        let after = filled(Some(&before), &twins).expect("filled");
        let split = |page: &str| page.split("\n## ").map(str::to_owned).collect::<Vec<_>>();
        let (before, after) = (split(&before), split(&after));
        let same: Vec<bool> = before.iter().zip(&after).map(|(a, b)| a == b).collect();
        assert_eq!(same, [true, true, false, true], "{after:?}");
        assert!(after[2].contains("| 1200 for 1000 | +20.0 % |"), "{}", after[2]);
    }

    #[test]
    fn a_row_says_how_far_the_worlds_are_apart_and_where_they_part_first() {
        let mut twins = run("cubic", "6.1.0", &["clean", "lossy"]);
        let moment = Moment { time: 105_000_000, una: 0, window: 28, what: "ack".to_owned() };
        let crossed = &mut twins.twins[0];
        (crossed.host.goodput_bps, crossed.host.again, crossed.host.rtt_ms) =
            (9.5e5, 7, Some(40.04));
        crossed.parting = Some(Parting { common: 18, host: moment, simulated: Some(29) });
        crossed.fact = Some(Difference {
            common: 26,
            time: 105_000_000,
            event: "ack".to_owned(),
            fact: "acknowledged",
            values: ["41992 B", "43440 B"].map(str::to_owned),
        });
        let page = filled(None, &twins).expect("filled");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
        let head = "| network | events | answers equal | goodput for simulated (kbps) | difference \
                    | sent again for simulated | srtt for simulated (ms) | windows part | first fact that differs |";
        let clean = "| clean | 10 | all | 950 for 1000 | -5.0 % | 7 for 0 | 40.0 | 0.105 s, ack: 28 for 29 \
                     | event 27, ack at 0.105 s: acknowledged 41992 B, simulated 43440 B |";
        let lossy = "| lossy | 10 | all | 1000 for 1000 | +0.0 % | 0 for 0 |  | nowhere | none |";
        assert_eq!([rows[0], rows[2], rows[3]], [head, clean, lossy], "{page}");
    }

    #[test]
    fn a_coupled_algorithm_has_no_course_and_networks_of_its_own() {
        let page = filled(None, &run("d-lia", "6.12.1", &["alike", "shared"])).expect("filled");
        assert!(page.starts_with("# Twins of D-LIA\n\n<!-- Written by"), "{page}");
        assert!(
            page.contains("algorithms.md#d-lia-d-lia") && page.contains("#coupled-paths"),
            "{page}"
        );
        assert!(
            !page.contains("first difference")
                && !page.contains("windows part")
                && !page.contains("first fact"),
            "{page}"
        );
        assert!(
            page.ends_with("| shared | 10 | all | 1000 for 1000 | +0.0 % | 0 for 0 |  |\n"),
            "{page}"
        );
    }

    #[test]
    fn a_page_that_somebody_has_edited_is_left_alone_and_the_line_named() {
        let twins = run("cubic", "ns-3", &["clean"]);
        let good = page(&["6.1.0", "ns-3"]);
        let line_of =
            |text: &str| 1 + good.lines().position(|line| line.starts_with(text)).expect(text);
        let twice = good.clone() + "\n## ns-3\n\n| a |\n";
        let end = good.lines().count() + 2;
        for (page, line, told) in [
            (String::new(), 1, "`# Twins of CUBIC`"),
            (good.replace("of CUBIC", "of Reno"), 1, "`# Twins of CUBIC`"),
            (good.replace(WRITTEN, ""), 3, "do not edit"),
            (good.replace("| lossy |", "lossy |"), line_of("| lossy"), "a table alone"),
            (good.replace("## ns-3\n", "## ns-3\n## noq\n"), line_of("## ns-3"), "no table"),
            (twice, end, "one section"),
        ] {
            let Err((at, why)) = filled(Some(&page), &twins) else { panic!("filled:\n{page}") };
            assert_eq!(at, line, "{why}\n{page}");
            assert!(why.contains(told) && why.ends_with("run its hosts anew"), "{why}");
        }
    }
}
