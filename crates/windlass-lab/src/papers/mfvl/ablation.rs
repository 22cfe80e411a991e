//! Where the difference between MFVL and LIA comes from: one thing changed at a time.

use super::measures::{
    BySeed, Measure, bar, by_seed, cell, change, datagram_loss, drop_share, drops_per_s, energy,
    goodput, retransmits,
};
use crate::experiment::AxisValue;
use crate::papers::Material;
use crate::papers::parts::charts::{bars, series};
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, section as titled};
use crate::report::model::{Block, Chart, ChartSeries, Mark, Row, Section, Table};
use crate::run::RunRecord;
use windlass_sim::radio::Consumption;

const EXPERIMENT: &str = "ablation";
/// What everything is held against.
const BASE: &str = "lia";

/// A measure of a variant.
pub(super) fn of(
    m: &Material,
    variant: &str,
    measure: impl Fn(&RunRecord) -> Option<f64>,
) -> BySeed {
    by_seed(m, EXPERIMENT, &format!("variant={variant}"), measure)
}

/// Change of a measure from LIA to a variant, per cent, seed by seed.
pub(super) fn against_lia(m: &Material, variant: &str, measure: Measure) -> BySeed {
    change(&of(m, variant, measure), &of(m, BASE, measure))
}

/// The variants that have runs, in the order of the plan.
fn variants(m: &Material) -> Vec<AxisValue> {
    let experiment = m.plan.experiment(EXPERIMENT);
    let axis = experiment.and_then(|e| e.axes.iter().find(|a| a.name == "variant"));
    let all = axis.map(|a| a.values.clone()).unwrap_or_default();
    all.into_iter().filter(|v| !of(m, &v.label, goodput).is_empty()).collect()
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let title = "Where the difference comes from";
    let all = variants(m);
    if all.is_empty() {
        let text = "No runs yet; `--quick` leaves the ablation out.".to_owned();
        return titled("ablation", title, vec![Block::Text { text }], None);
    }
    let blocks = vec![Block::Chart(picture(m, &all)), Block::Table(table(m, &all))];
    let about = "MFVL without the limit of 100 packets:";
    let made = commands::runs(m, about, EXPERIMENT, "variant=mfvl-no-limit");
    titled("ablation", title, blocks, made)
}

fn picture(m: &Material, all: &[AxisValue]) -> Chart {
    let bars_of = |name: &str, measure: Measure| -> ChartSeries {
        let points = all.iter().filter(|v| v.label != BASE);
        let points = points.filter_map(|v| bar(&v.label, &against_lia(m, &v.label, measure)));
        series(name, Mark::Bars, points.collect())
    };
    bars(
        "ablation-picture",
        "Change against LIA with one thing changed at a time, datagrams at 1 Mbit/s: medians of the \
         changes seed by seed, with 95 % intervals",
        "Variant",
        "Change against LIA (%)",
        vec![bars_of("goodput", goodput), bars_of("packets dropped a second", drops_per_s)],
    )
}

fn table(m: &Material, all: &[AxisValue]) -> Table {
    let rows = all.iter().map(|v| {
        let value = |measure: Measure| cell(&of(m, &v.label, measure));
        let power = of(m, &v.label, |r| energy(r, &Consumption::WAVELAN_11, false));
        Row {
            cells: vec![
                v.label.clone(),
                v.about.clone(),
                value(goodput),
                value(drops_per_s),
                value(drop_share),
                value(retransmits),
                value(datagram_loss),
                cell(&power),
            ],
            ..Row::default()
        }
    });
    Table {
        id: "ablation-table".to_owned(),
        caption: "The same in figures: medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "variant",
            "what it is",
            "goodput (Mbit/s)",
            "dropped (1/s)",
            "dropped (%)",
            "sent again",
            "datagrams lost (%)",
            "energy (µJ/B)",
        ]),
        rows: rows.collect(),
        notes: vec![],
    }
}
