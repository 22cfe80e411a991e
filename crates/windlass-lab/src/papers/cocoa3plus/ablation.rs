//! What each part of CoCoA3+ does: left out of the whole, and alone.

use std::collections::BTreeMap;

use super::measures::{
    EXCESS, FAIRNESS, JITTER, LOSS, Measure, PAPERS_OWN, RETRANSMITS, THROUGHPUT, TIMEOUTS, cell,
    values,
};
use crate::papers::Material;
use crate::papers::parts::charts::{axis, series};
use crate::papers::parts::commands;
use crate::papers::parts::seeds::BySeed;
use crate::papers::parts::significance::{Tested, probability, tested};
use crate::papers::parts::tables::{columns, section as titled};
use crate::report::model::{
    Block, Chart, ChartPoint, ChartSeries, Mark, Row, Scale, Section, Table,
};

const EXPERIMENT: &str = "ablation";
/// What everything is held against.
const WHOLE: &str = "full";
/// The measures of the picture.
pub(super) const SHOWN: [Measure; 6] =
    [PAPERS_OWN[0], PAPERS_OWN[1], LOSS, EXCESS, JITTER, FAIRNESS];

fn of(m: &Material, part: &str, measure: Measure) -> BySeed {
    measure.at(m, EXPERIMENT, &format!("part={part}"))
}

/// The variants that have runs, but the whole, in the order of the plan: label, and in words.
pub(super) fn variants(m: &Material) -> Vec<(String, String)> {
    let mut all = values(m, EXPERIMENT, "part");
    all.retain(|(label, _)| label != WHOLE && !of(m, label, THROUGHPUT).is_empty());
    all
}

/// Logarithms of how many times as large a measure is in the runs `a` as in the runs `b`, pair by
/// pair; pairs in which either is zero have none.
fn ratios(a: &BySeed, b: &BySeed) -> Vec<f64> {
    let one = |(seed, a): (&u64, &f64)| {
        let b = b.get(seed)?;
        (*a > 0.0 && *b > 0.0).then(|| (a / b).ln())
    };
    a.iter().filter_map(one).collect()
}

/// How many times as large a measure is in a variant as in the whole: geometric means over the
/// pairs, tested together with those of the other variants.
pub(super) fn effects(m: &Material, measure: Measure) -> BTreeMap<String, Tested> {
    let whole = of(m, WHOLE, measure);
    let all: Vec<(String, Vec<f64>)> = variants(m)
        .into_iter()
        .map(|(label, _)| {
            let logs = ratios(&of(m, &label, measure), &whole);
            (label, logs)
        })
        .collect();
    let family: Vec<&[f64]> = all.iter().map(|(_, logs)| logs.as_slice()).collect();
    let answers = tested(&family);
    all.iter().map(|(label, _)| label.clone()).zip(answers).collect()
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let title = "Ablation: each part left out, and alone";
    if variants(m).is_empty() {
        let text = "No runs yet.".to_owned();
        return titled("ablation", title, vec![Block::Text { text }], None);
    }
    let blocks = vec![Block::Chart(forest(m)), Block::Table(figures(m)), Block::Table(tests(m))];
    let made = commands::runs(m, "The whole without its timer:", EXPERIMENT, "part=no-timer");
    titled("ablation", title, blocks, made)
}

/// The picture: one place for each variant, one symbol for each measure.
fn forest(m: &Material) -> Chart {
    let order = variants(m);
    let line = |measure: &Measure| -> ChartSeries {
        let effects = effects(m, *measure);
        let at = |(label, _): &(String, String)| {
            let tested = effects.get(label)?;
            let [lo, hi] = [0, 1].map(|end| tested.ci.map(|ci| ci[end].exp()));
            let category = Some(label.clone());
            let y = tested.summary?.mean.exp();
            Some(ChartPoint { category, y, lo, hi, ..ChartPoint::default() })
        };
        series(measure.name, Mark::Points, order.iter().filter_map(at).collect())
    };
    let mut all: Vec<ChartSeries> = SHOWN.iter().map(line).collect();
    all.retain(|s| !s.points.is_empty());
    Chart {
        id: "ablation-forest".to_owned(),
        caption:
            "How many times as large each measure is as in the whole, from the same senders and starts: \
            geometric means of the pairs. The intervals hold for all variants of a measure together at \
            95 % (Student, Holm's correction): one that holds 1 is no difference"
                .to_owned(),
        x: axis("Variant", Scale::Category),
        y: axis("Times the whole", Scale::Log),
        series: all,
        zoom: false,
    }
}

fn figures(m: &Material) -> Table {
    let shown: Vec<Measure> = SHOWN.into_iter().chain([TIMEOUTS, RETRANSMITS]).collect();
    let whole = values(m, EXPERIMENT, "part").into_iter().filter(|(label, _)| label == WHOLE);
    let rows = whole.chain(variants(m)).map(|(label, about)| {
        let measured = shown.iter().map(|measure| cell(&of(m, &label, *measure)));
        Row {
            cells: [label.clone(), about].into_iter().chain(measured).collect(),
            ..Row::default()
        }
    });
    let names: Vec<String> = shown.iter().map(|measure| measure.label()).collect();
    let head: Vec<&str> =
        ["variant", "what it is"].into_iter().chain(names.iter().map(String::as_str)).collect();
    Table {
        id: "ablation-table".to_owned(),
        caption: "The same in figures: means with 95 % intervals (Student)".to_owned(),
        columns: columns(&head),
        rows: rows.collect(),
        notes: vec![
            "The whole has two routes for each sender and chooses between them (C3-10); CoCoA3+ of the \
                figures, with one, is `no-path`."
                .to_owned(),
        ],
    }
}

fn tests(m: &Material) -> Table {
    let by_measure: Vec<BTreeMap<String, Tested>> =
        SHOWN.iter().map(|measure| effects(m, *measure)).collect();
    let rows = variants(m).into_iter().map(|(label, _)| {
        let tests = by_measure.iter().map(|effects| said(effects.get(&label)));
        Row { cells: [label.clone()].into_iter().chain(tests).collect(), ..Row::default() }
    });
    let head: Vec<&str> = ["variant"].into_iter().chain(SHOWN.iter().map(|s| s.name)).collect();
    Table {
        id: "ablation-tests".to_owned(),
        caption: "Times the whole, and p of the paired t-test on its logarithm".to_owned(),
        columns: columns(&head),
        rows: rows.collect(),
        notes: vec![
            "p is corrected by Holm's procedure for all variants of the column.".to_owned(),
        ],
    }
}

/// Factor and p-value.
fn said(tested: Option<&Tested>) -> String {
    let factor = tested.and_then(|t| Some(t.summary?.mean.exp()));
    factor.map_or("–".to_owned(), |f| {
        format!("× {f:.2}, p {}", equals(&probability(tested.and_then(|t| t.t))))
    })
}

/// `= 0.03`, `< 0.001`.
fn equals(p: &str) -> String {
    if p.starts_with('<') { p.to_owned() } else { format!("= {p}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_and_its_inverse_are_equally_far_from_none() {
        let whole = BySeed::from([(1, 2.0), (2, 4.0), (3, 0.0)]);
        let part = BySeed::from([(1, 4.0), (2, 2.0), (3, 1.0), (4, 1.0)]);
        let all = ratios(&part, &whole);
        assert_eq!(all.len(), 2);
        assert!(all.iter().sum::<f64>().abs() < 1e-12);
    }
}
