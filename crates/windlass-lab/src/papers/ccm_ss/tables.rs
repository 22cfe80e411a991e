//! Tables of what the figures show and of what the paper leaves out.

use super::measures::{
    Measure, START_S, by_rate, by_window, change, drop_share, drops, early_drops, goodput, jain,
    labels, pair, summary,
};
use crate::papers::Material;
use crate::papers::parts::tables::{columns, section};
use crate::papers::parts::{cells, commands};
use crate::report::model::{Block, Row, Section, Table};

/// All tables.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let table = |t: Table| vec![Block::Table(t)];
    let run =
        |about: &str, experiment: &str, point: &str| commands::runs(m, about, experiment, point);
    let example = "start=ccm-ss,path=100-90";
    vec![
        section(
            "losses",
            "Losses, goodput and fairness by path",
            ["long", "short", "similar"].map(|e| Block::Table(paths(m, e))).to_vec(),
            run("The row of 100-90 with CCM-SS:", "long", example),
        ),
        section(
            "convergence",
            "Convergence time",
            table(convergence(m)),
            run("The row of 100-90 with CCM-SS:", "converge", example),
        ),
        section(
            "ablation",
            "Slow start and back-off apart",
            table(ablation(m)),
            run(
                "The cell of CCM-SS that keeps 0.8:",
                "ablation",
                "start=ccm-ss,keep=0.8,path=100-90",
            ),
        ),
        section(
            "readings",
            "The parts and readings of CCM-SS",
            table(listed(m, "readings", "reading", "Reading")),
            run("HyStart held back below 0.3:", "readings", "reading=lower-0.3,path=100-90"),
        ),
        section(
            "access",
            "Rate of the access links",
            table(access(m)),
            run("Access links of 100 Mbps:", "access", "start=ccm-ss,access=100"),
        ),
        section(
            "context",
            "Other algorithms and slow starts",
            table(listed(m, "context", "algorithm", "Algorithm")),
            run("The row of Compound:", "context", "algorithm=compound,path=100-90"),
        ),
    ]
}

fn cell(m: &Material, experiment: &str, point: &str, measure: Measure) -> String {
    cells::mean(summary(m, experiment, point, measure))
}

fn row(cells: Vec<String>) -> Row {
    Row { cells, ..Row::default() }
}

/// Rows without a single figure say nothing.
fn filled(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let has_runs =
        |r: &Row| r.cells.iter().skip(1).any(|c| c.starts_with(|c: char| c.is_ascii_digit()));
    rows.filter(has_runs).collect()
}

const MEANS: &str = "Means, with 95 % intervals (Student) where there are several seeds; changes are \
    of runs with the same seed.";

fn paths(m: &Material, experiment: &str) -> Table {
    let one = |path: &str| {
        let (a, b) = pair("ccm-ss", &format!("path={path}"));
        let of = |point: &str, measure: Measure| cell(m, experiment, point, measure);
        let changed = |measure| cells::mean(change(m, experiment, (&a, &b), measure));
        row(vec![
            path.to_owned(),
            of(&a, drops),
            of(&b, drops),
            changed(drops),
            of(&a, early_drops),
            of(&b, early_drops),
            of(&a, goodput),
            of(&b, goodput),
            of(&a, jain),
            of(&b, jain),
        ])
    };
    Table {
        id: format!("losses-{experiment}"),
        caption: format!(
            "Experiment `{experiment}`: HyStart (H) and CCM-SS (C) on paths called by the round trips \
             of flow 1 and flow 2 in ms"
        ),
        columns: columns(&[
            "path",
            "drops H",
            "drops C",
            "change (%)",
            "to 20\u{a0}s H",
            "to 20\u{a0}s C",
            "Mbit/s H",
            "Mbit/s C",
            "Jain H",
            "Jain C",
        ]),
        rows: filled(labels(m, experiment, "path").into_iter().map(one)),
        notes: vec![
            MEANS.to_owned(),
            format!(
                "Drops are the bottleneck's in 600 s and in the first {START_S} s, in which both flows \
                 leave slow start."
            ),
        ],
    }
}

fn convergence(m: &Material) -> Table {
    let one = |path: &str| {
        let [a, b, c] = ["hystart", "ccm-ss", "literal"].map(|s| format!("start={s},path={path}"));
        let of = |point: &String, measure: Measure| cell(m, "converge", point, measure);
        row(vec![
            path.to_owned(),
            of(&a, by_window),
            of(&b, by_window),
            of(&c, by_window),
            of(&a, by_rate),
            of(&b, by_rate),
            of(&c, by_rate),
            of(&a, jain),
            of(&b, jain),
        ])
    };
    Table {
        id: "convergence-table".to_owned(),
        caption: "Seconds from the start of flow 2 to the first second at whose end its window, or in \
            which its rate, is 80 % of flow 1's (equations 6 and 7; CS-14): HyStart (H), CCM-SS (C), \
            CCM-SS with half the delay (L)"
            .to_owned(),
        columns: columns(&[
            "path", "window H", "window C", "window L", "rate H", "rate C", "rate L", "Jain H",
            "Jain C",
        ]),
        rows: filled(labels(m, "converge", "path").into_iter().map(one)),
        notes: vec![
            MEANS.to_owned(),
            "Jain's index is that of the goodputs while each flow was active: flow 1 has 150 s to \
             itself."
                .to_owned(),
        ],
    }
}

fn ablation(m: &Material) -> Table {
    let keeps = ["0.7", "0.8"];
    let one = |path: &str| {
        let of = |start: &str, keep: &str| {
            cell(m, "ablation", &format!("start={start},keep={keep},path={path}"), drops)
        };
        let start = keeps.map(|keep| {
            let (a, b) = pair("ccm-ss", &format!("keep={keep},path={path}"));
            cells::mean(change(m, "ablation", (&a, &b), drops))
        });
        let [kept, less] = keeps.map(|keep| format!("start=hystart,keep={keep},path={path}"));
        let back_off = cells::mean(change(m, "ablation", (&less, &kept), drops));
        let cells = [
            path.to_owned(),
            of("hystart", "0.8"),
            of("ccm-ss", "0.8"),
            of("hystart", "0.7"),
            of("ccm-ss", "0.7"),
        ];
        row([cells.to_vec(), start.to_vec(), vec![back_off]].concat())
    };
    Table {
        id: "ablation-table".to_owned(),
        caption: "Drops of the bottleneck in 600 s in the four cells of CS-8: slow start by what a loss \
            leaves of the window"
            .to_owned(),
        columns: columns(&[
            "path",
            "HyStart 0.8",
            "CCM-SS 0.8",
            "HyStart 0.7",
            "CCM-SS 0.7",
            "slow start at 0.7 (%)",
            "slow start at 0.8 (%)",
            "0.7 for 0.8 (%)",
        ]),
        rows: filled(labels(m, "ablation", "path").into_iter().map(one)),
        notes: vec![
            MEANS.to_owned(),
            "The last three columns: CCM-SS against HyStart, and keeping 0.7 against keeping 0.8 with \
             HyStart."
                .to_owned(),
        ],
    }
}

/// One row for each value of an axis and path.
fn listed(m: &Material, experiment: &str, axis: &str, heading: &str) -> Table {
    let one = |value: &str, path: &str| {
        let point = format!("{axis}={value},path={path}");
        let of = |measure: Measure| cell(m, experiment, &point, measure);
        let cells = vec![of(drops), of(early_drops), of(drop_share), of(goodput), of(jain)];
        row([vec![format!("{value}, {path}")], cells].concat())
    };
    let values = labels(m, experiment, axis);
    let paths = labels(m, experiment, "path");
    let rows = paths.iter().flat_map(|path| values.iter().map(move |value| one(value, path)));
    Table {
        id: format!("{experiment}-table"),
        caption: format!("{heading} and path (round trips in ms) at 250 Mbps, queue of 0.2 BDP"),
        columns: columns(&[
            &heading.to_lowercase(),
            "drops",
            "to 20\u{a0}s",
            "drops (% of sent)",
            "Mbit/s",
            "Jain",
        ]),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}

fn access(m: &Material) -> Table {
    let one = |rate: &str| {
        let (a, b) = pair("ccm-ss", &format!("access={rate}"));
        let of = |point: &str, measure: Measure| cell(m, "access", point, measure);
        row(vec![rate.to_owned(), of(&a, drops), of(&b, drops), of(&a, goodput), of(&b, goodput)])
    };
    Table {
        id: "access-table".to_owned(),
        caption:
            "HyStart (H) and CCM-SS (C) by the rate of the access links, round trips of 100 and \
            90 ms"
                .to_owned(),
        columns: columns(&["access (Mbps)", "drops H", "drops C", "Mbit/s H", "Mbit/s C"]),
        rows: filled(labels(m, "access", "access").into_iter().map(one)),
        notes: vec![
            MEANS.to_owned(),
            "With 100 Mbps the two senders together cannot fill the bottleneck.".to_owned(),
        ],
    }
}
