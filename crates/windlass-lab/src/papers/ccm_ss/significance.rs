//! Whether differences between the slow starts are more than chance: the paper's t-test, done on pairs,
//! with the rank test beside it and a correction for their number.

use super::measures::{Measure, changes, drops, goodput, labels, mean_cell, pair};
use crate::claims::number;
use crate::papers::Material;
use crate::papers::parts::tables::{columns, section as with_commands};
use crate::papers::parts::{cells, commands};
use crate::report::model::{Block, Row, Section, Table};
use crate::stats::effect::cohen_dz;
use crate::stats::multiple::holm;
use crate::stats::paired::{signed_rank, t_test};
use crate::stats::{CONFIDENCE, Summary};

/// Familywise error of the tests of one measure.
const ALPHA: f64 = 0.05;

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
    let cells = compared(&all);
    all.into_iter().map(|pairs| pairs.label).zip(cells).collect()
}

/// Change, both p-values and effect size of each set of pairs, which are one family of comparisons.
fn compared(all: &[Pairs]) -> Vec<Vec<String>> {
    let by_t = corrected(all, |d| t_test(d, CONFIDENCE).map(|t| t.p));
    let by_rank = corrected(all, |d| (d.len() > 1).then(|| signed_rank(d))?.map(|t| t.p));
    let row = |((pairs, t), rank): ((&Pairs, String), String)| {
        let effect = cells::optional(cohen_dz(&pairs.changes));
        vec![mean_cell(Summary::of(&pairs.changes)), t, rank, effect]
    };
    all.iter().zip(by_t).zip(by_rank).map(row).collect()
}

/// The p-value of each set of pairs that can be tested, by Holm's procedure.
fn corrected(all: &[Pairs], test: fn(&[f64]) -> Option<f64>) -> Vec<String> {
    let raw: Vec<Option<f64>> = all.iter().map(|pairs| test(&pairs.changes)).collect();
    let family: Vec<f64> = raw.iter().flatten().copied().collect();
    let mut answers = holm(&family, ALPHA).into_iter();
    let cell = |raw: Option<f64>| {
        let answer = raw.and_then(|_| answers.next());
        answer.map_or(cells::NONE.to_owned(), |h| probability(h.p))
    };
    raw.into_iter().map(cell).collect()
}

fn of_path(m: &Material, experiment: &str, path: &str, measure: Measure) -> Pairs {
    let (a, b) = pair("ccm-ss", &format!("path={path}"));
    Pairs { label: path.to_owned(), changes: changes(m, experiment, (&a, &b), measure) }
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { number((p * 1000.0).round() / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(changes: &[f64]) -> Pairs {
        Pairs { label: String::new(), changes: changes.to_vec() }
    }

    /// Of 1, 2, 3: t is 2·√3 with two degrees of freedom, p is 0.0742; two signs of eight are as far out.
    #[test]
    fn tests_are_corrected_for_each_other_and_those_that_cannot_be_made_are_left_out() {
        let one = compared(&[pairs(&[1.0, 2.0, 3.0])]);
        assert_eq!(one[0][1..], ["0.074", "0.25", "2"]);
        let more = compared(&[pairs(&[1.0, 2.0, 3.0]), pairs(&[5.0]), pairs(&[-1.0, 1.0, 0.0])]);
        assert_eq!(more[0][1..], ["0.148", "0.5", "2"]);
        assert_eq!(more[1][1..], ["–", "–", "–"]);
        assert_eq!(more[2][1..], ["1", "1", "0"]);
    }
}
