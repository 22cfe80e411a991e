//! A comparison as tables to read, on the terminal and in the report.

use crate::papers::parts::cells::{NONE, interval};
use crate::report::model::{Row, Table};
use crate::report::numbers::{NEVER, number};
use crate::report::text::table_within;

use super::files::outcome;
use super::harm::{Bar, Cell};
use super::ranking::{Entry, Outcome, Versus};
use super::{Findings, Harm, Measure, Ranking};

/// The printed text: every measure, the chosen ranking, and the harm between algorithms.
pub fn text(findings: &Findings, width: usize) -> String {
    let mut out = format!("{}\n\n", headline(findings));
    let mut tables = vec![overview(findings)];
    tables.extend(findings.rankings.first().map(|r| ranking(findings, r)));
    tables.extend(findings.harm.iter().map(|h| harm(findings, h)));
    for table in tables {
        out.push_str(&table_within(&table, width));
        out.push('\n');
    }
    out
}

/// One sentence about the runs: scenario, duration, backend, flows and seeds.
pub(super) fn headline(f: &Findings) -> String {
    let place = match &f.kernel {
        Some(kernel) => format!("on {} ({kernel})", f.world),
        None => "simulated".to_owned(),
    };
    let seeds = match f.seeds[..] {
        [first, .., last] => format!("{} seeds, {first} to {last}", f.seeds.len()),
        _ => format!("seed {}", f.seeds.first().copied().unwrap_or_default()),
    };
    let flows = match f.flows.len() {
        1 => format!("flow {}", f.flows[0]),
        n => format!("{n} flows"),
    };
    format!("{}: {} s {place}, {flows}, {seeds}", f.scenario, f.duration_s)
}

/// The algorithms in the order of the chosen ranking; without rankings, in the given order.
pub(super) fn order(f: &Findings) -> Vec<usize> {
    match f.rankings.first() {
        Some(r) => r.entries.iter().map(|e| e.algorithm).collect(),
        None => (0..f.algorithms.len()).collect(),
    }
}

/// An algorithm's entry in a ranking.
pub(super) fn entry(ranking: &Ranking, algorithm: usize) -> Option<&Entry> {
    ranking.entries.iter().find(|e| e.algorithm == algorithm)
}

/// Every measure of every algorithm.
pub(super) fn overview(f: &Findings) -> Table {
    let mut rankings: Vec<&Ranking> = f.rankings.iter().collect();
    rankings.sort_by_key(|r| Measure::ALL.iter().position(|(_, m)| *m == r.measure));
    let columns = ["algorithm"].into_iter().chain(rankings.iter().map(|r| r.measure.name()));
    let row = |a: usize| {
        let cells = rankings.iter().map(|r| entry(r, a).map_or(NONE.to_owned(), mean_cell));
        row([f.algorithms[a].clone()].into_iter().chain(cells).collect())
    };
    Table {
        id: "overview-table".to_owned(),
        caption: format!(
            "Each algorithm with itself: means over the seeds{}{}",
            if f.seeds.len() > 1 {
                " with 95 % intervals: ± half of it, or its two ends"
            } else {
                ""
            },
            if f.flows.len() > 1 { "; goodput is the sum of the flows'" } else { "" },
        ),
        columns: columns.map(str::to_owned).collect(),
        rows: order(f).into_iter().map(row).collect(),
        notes: Vec::new(),
    }
}

fn mean_cell(e: &Entry) -> String {
    match (e.mean, e.ci95) {
        _ if e.missing > 0 => format!("none or {NEVER} in {} runs", e.missing),
        (Some(mean), Some([low, high])) if low < high => plus_minus(mean, [low, high]),
        (Some(mean), _) => number(mean),
        (None, _) => NONE.to_owned(),
    }
}

/// A value and half the width of its interval, with two significant digits. If the interval is not symmetric, its
/// two ends.
fn plus_minus(value: f64, [low, high]: [f64; 2]) -> String {
    let half = (high - low) / 2.0;
    if (high + low - 2.0 * value).abs() > 0.01 * half {
        return interval(value, low, high);
    }
    let digits = (1.0 - libm::log10(half).floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$} ±{half:.digits$}")
}

/// A value with its interval, if the interval has a width.
fn value(value: f64, ci: Option<[f64; 2]>) -> String {
    match ci {
        Some([low, high]) if low < high => interval(value, low, high),
        _ => number(value),
    }
}

/// The ranking by one measure.
pub(super) fn ranking(f: &Findings, r: &Ranking) -> Table {
    let name = r.reference.map_or("the best", |a| f.algorithms[a].as_str());
    let ranked = r.entries.iter().any(|e| e.rank.is_some());
    let mut columns = if ranked { vec!["rank".to_owned()] } else { Vec::new() };
    columns.push("algorithm".to_owned());
    columns.push(r.measure.name().to_owned());
    columns.push(format!("minus that of {name}"));
    let rest = ["outcome", "p (t)", "p (Wilcoxon)", "d", "larger in"];
    columns.extend(rest.map(str::to_owned));
    let row = |e: &Entry| {
        let mut cells = Vec::new();
        if ranked {
            cells.push(e.rank.map_or(NONE.to_owned(), |r| r.to_string()));
        }
        cells.push(f.algorithms[e.algorithm].clone());
        cells.push(mean_cell(e));
        match &e.versus {
            Some(v) => cells.extend(versus_cells(v)),
            None if e.missing > 0 || r.reference != Some(e.algorithm) => {
                cells.extend(dashes("not comparable"));
            }
            None if ranked => cells.extend(dashes("best mean")),
            None => cells.extend(dashes("baseline")),
        }
        row(cells)
    };
    let better = if r.measure.more_is_better() { "more" } else { "less" };
    Table {
        id: format!("ranking-{}-table", r.measure.id()),
        caption: format!("Ranking by {}: {better} is better", r.measure.name()),
        columns,
        rows: r.entries.iter().map(row).collect(),
        notes: remarks(f, r, ranked),
    }
}

fn dashes(outcome: &str) -> Vec<String> {
    let mut cells = vec![NONE.to_owned(); 6];
    cells[1] = outcome.to_owned();
    cells
}

fn versus_cells(v: &Versus) -> Vec<String> {
    let p = |p: Option<f64>| match p {
        None => NONE.to_owned(),
        Some(p) if p < 1e-4 => "< 0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    };
    let share = |s: f64| format!("{:.0} %", 100.0 * s);
    vec![
        if v.outcome == Outcome::Identical { "0".to_owned() } else { value(v.difference, v.ci) },
        outcome(v.outcome).to_owned(),
        p(v.p_t),
        p(v.p_wilcoxon),
        v.cohen_dz.map_or(NONE.to_owned(), |d| format!("{d:.2}")),
        v.superiority.map_or(NONE.to_owned(), share),
    ]
}

fn remarks(f: &Findings, r: &Ranking, ranked: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if f.seeds.len() > 1 && r.comparisons > 0 {
        let family = if ranked { "each with each" } else { "each with the baseline" };
        notes.push(format!(
            "Differences are paired by seed; intervals and p are corrected by Holm's procedure over \
             {} comparisons ({family}). A tie: the interval holds zero.{}",
            r.comparisons,
            if ranked { " Rank: one plus the number of significantly better algorithms." } else { "" }
        ));
    } else if r.comparisons > 0 {
        notes.push("One seed allows no test; `--seeds` adds runs.".to_owned());
    }
    if f.seedless {
        notes.push(
            "No run depends on its seed: this scenario has no random value. Intervals have \
             no width, and a difference may disappear if a start time changes. `--jitter` makes \
             starts random."
                .to_owned(),
        );
    }
    notes
}

/// The harm between algorithms in one measure.
pub(super) fn harm(f: &Findings, h: &Harm) -> Table {
    let order = order(f);
    let cell = |by: usize, to: usize| {
        h.cells.iter().find(|c| (c.by, c.to) == (by, to)).map_or(NONE.to_owned(), harm_cell)
    };
    let row = |by: &usize| {
        let cells = order.iter().map(|to| cell(*by, *to));
        row([f.algorithms[*by].clone()].into_iter().chain(cells).collect())
    };
    let columns = order.iter().map(|to| format!("to {}", f.algorithms[*to]));
    let what = match h.measure {
        Measure::RoundTrip => "RTT",
        Measure::Completion => "completion time",
        _ => "goodput",
    };
    let mut notes = vec![
        "▲ significantly more, ▼ significantly less harm than the algorithm does to itself (the diagonal), \
         paired by seed, with Holm's correction over all cells."
            .to_owned(),
    ];
    if h.cells.iter().any(|c| c.harm.is_none()) {
        notes.push("–: in some run a flow did not finish, or its performance was zero.".to_owned());
    }
    Table {
        id: format!("harm-{}-table", h.measure.id()),
        caption: format!(
            "Harm to the other's {what} in %, with its 95 % interval (± half of it, or its two ends): 0 is no \
             effect, 100 takes all of it, below 0 is a gain"
        ),
        columns: ["harm by".to_owned()].into_iter().chain(columns).collect(),
        rows: order.iter().map(row).collect(),
        notes,
    }
}

fn harm_cell(c: &Cell) -> String {
    let sign = match c.bar {
        Bar::More => " ▲",
        Bar::Less => " ▼",
        Bar::Own | Bar::Alike | Bar::Unknown => "",
    };
    let Some(harm) = c.harm else { return NONE.to_owned() };
    let percent = match c.ci95 {
        Some([low, high]) if low < high => plus_minus(100.0 * harm, [100.0 * low, 100.0 * high]),
        _ => format!("{:.1}", 100.0 * harm),
    };
    format!("{percent}{sign}")
}

fn row(cells: Vec<String>) -> Row {
    Row { cells, ..Row::default() }
}
