//! Whether differences between the slow starts are more than chance: the paper's t-test, done on pairs,
//! with the rank test beside it and a correction for their number.

use super::measures::{Measure, changes, drops, goodput, labels, pair};
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::significance::compared;
use crate::papers::parts::tables::{columns, section as with_commands};
use crate::report::model::{Block, Row, Section, Table};
use crate::stats::Summary;

/// Paired changes of one path, or the mean changes of many, per cent.
struct Pairs {
    label: String,
    changes: Vec<f64>,
}

/// The tests of CCM-SS against HyStart.
pub(super) fn section(m: &Material) -> Section {
    let [drops, goodput] = [tested(m, drops), tested(m, goodput)];
    let rows = drops.iter().zip(&goodput).map(|((label, drops), (_, goodput))| Row {
        cells: [vec![label.clone()], drops.clone(), goodput.clone()].concat(),
        ..Row::default()
    });
    let table = Table {
        id: "significance-table".to_owned(),
        caption: "CCM-SS against HyStart, run by run from the same starts: mean change with its 95 % \
            interval, p of the paired t-test and of Wilcoxon's signed-rank test, Cohen's d"
            .to_owned(),
        columns: columns(&[
            "path",
            "drops (%)",
            "p t",
            "p rank",
            "d",
            "goodput (%)",
            "p t",
            "p rank",
            "d",
        ]),
        rows: rows.collect(),
        notes: vec![
            "p is corrected by Holm's procedure for all rows of the column: with so many tests at 5 %, \
             one or two would find something where there is nothing."
                .to_owned(),
            "With three pairs the rank test cannot come below 0.25, whatever the runs: `--seeds 6` is \
             the least with which it can reach 0.05 once, before any correction."
                .to_owned(),
            "In the rows of all paths each path counts once, with the mean of its pairs.".to_owned(),
        ],
    };
    let blocks = vec![Block::Table(table)];
    with_commands("significance", "More than chance?", blocks, [commands::whole(m)])
}

/// Each path with the cells of one measure: change, two p-values, effect size.
fn tested(m: &Material, measure: Measure) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for experiment in ["long", "short"] {
        let paths: Vec<Pairs> = labels(m, experiment, "path")
            .into_iter()
            .map(|p| of_path(m, experiment, p, measure))
            .collect();
        let means = paths.iter().filter_map(|p| Summary::of(&p.changes)).map(|s| s.mean).collect();
        let whole = Pairs { label: format!("all paths of `{experiment}`"), changes: means };
        all.extend(paths.into_iter().chain([whole]));
    }
    let changes: Vec<&[f64]> = all.iter().map(|pairs| pairs.changes.as_slice()).collect();
    let cells = compared(&changes);
    all.into_iter().map(|pairs| pairs.label).zip(cells).collect()
}

fn of_path(m: &Material, experiment: &str, path: &str, measure: Measure) -> Pairs {
    let (a, b) = pair("ccm-ss", &format!("path={path}"));
    Pairs { label: path.to_owned(), changes: changes(m, experiment, (&a, &b), measure) }
}
