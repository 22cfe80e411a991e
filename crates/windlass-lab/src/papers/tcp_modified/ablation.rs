//! What the advantage is made of: variants of TCP Modified against NewReno.

use super::mixtures::HARM;
use super::values::{
    BySeed, RATES, bar, by_seed, cell, harm, queue_delay, queue_loss, share, spaced,
};
use super::windows;
use crate::experiment::AxisValue;
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, section as titled};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Row, Scale, Section, Table,
};
use crate::run::RunRecord;

const EXPERIMENT: &str = "ablation";
/// What the steps come to to the letter.
pub(super) const PRINTED: &str = "as-printed";
/// All four flows alike.
pub(super) const ALIKE: &str = "newreno";
/// The queue of the paper's experiments as assumed (TM-11).
pub(super) const QUEUE: &str = "100pkt";
const QUEUES: [&str; 4] = ["25pkt", "50pkt", "100pkt", "1bdp"];
const TESTED: &[&str] = &["f1", "f2"];
const VICTIMS: &[&str] = &["f3", "f4"];

fn point(variant: &str, queue: &str, rate: &str) -> String {
    format!("variant={variant},queue={queue},rate={rate}")
}

fn at(
    m: &Material,
    (variant, queue, rate): (&str, &str, &str),
    f: impl Fn(&RunRecord) -> Option<f64>,
) -> BySeed {
    by_seed(m, (EXPERIMENT, &point(variant, queue, rate)), f)
}

/// Share of the two flows of a variant, per cent.
pub(super) fn share_of(m: &Material, variant: &str, queue: &str, rate: &str) -> BySeed {
    at(m, (variant, queue, rate), |r| share(r, TESTED))
}

/// Packets dropped by the queue, per cent.
pub(super) fn loss_of(m: &Material, variant: &str, queue: &str, rate: &str) -> BySeed {
    at(m, (variant, queue, rate), queue_loss)
}

/// Harm to the two NewReno flows, per cent.
pub(super) fn harm_of(m: &Material, variant: &str, queue: &str, rate: &str) -> BySeed {
    let (mixed, alike) = (point(variant, queue, rate), point(ALIKE, queue, rate));
    harm(m, (EXPERIMENT, &mixed), (EXPERIMENT, &alike), VICTIMS)
}

/// The variants in the order of the plan.
pub(super) fn variants(m: &Material) -> Vec<AxisValue> {
    let experiment = m.plan.experiment(EXPERIMENT);
    let axis = experiment.and_then(|e| e.axes.iter().find(|a| a.name == "variant"));
    axis.map(|a| a.values.clone()).unwrap_or_default()
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let mut blocks: Vec<Block> = RATES.iter().map(|rate| Block::Chart(price(m, rate))).collect();
    blocks.extend(windows::betas(m).map(Block::Chart));
    blocks.extend(RATES.iter().map(|rate| Block::Table(table(m, rate))));
    blocks.extend(RATES.iter().map(|rate| Block::Chart(by_queue(m, rate))));
    blocks.push(Block::Table(queues(m)));
    let made = [PRINTED, "repaired"].map(|variant| {
        let about = format!("`{variant}` at 1 Mbit/s and {QUEUE}:");
        commands::runs(m, &about, EXPERIMENT, &point(variant, QUEUE, RATES[0]))
    });
    let title = "Ablation: what the advantage is made of, and what it costs";
    titled("ablation", title, blocks, made.into_iter().flatten())
}

/// The picture: what two flows of each variant get, and at what price.
fn price(m: &Material, rate: &str) -> Chart {
    let bars = |name: &str, f: &dyn Fn(&str) -> BySeed| ChartSeries {
        name: name.to_owned(),
        mark: Mark::Bars,
        points: variants(m).iter().filter_map(|v| bar(&v.label, &f(&v.label))).collect(),
    };
    let fair = variants(m).into_iter().map(|v| ChartPoint {
        category: Some(v.label),
        y: 50.0,
        ..ChartPoint::default()
    });
    let mut series = vec![
        bars("share of goodput", &|v| share_of(m, v, QUEUE, rate)),
        bars("harm to the NewReno flows", &|v| harm_of(m, v, QUEUE, rate)),
        bars("packets dropped by the queue", &|v| loss_of(m, v, QUEUE, rate)),
    ];
    series.push(ChartSeries {
        name: "fair share".to_owned(),
        mark: Mark::Points,
        points: fair.collect(),
    });
    Chart {
        id: format!("ablation-price-{}", rate.to_lowercase()),
        caption: format!(
            "What two flows of each variant get beside two of NewReno at {}, and what it costs: \
             medians with 95 % intervals",
            spaced(rate)
        ),
        x: ChartAxis { label: "Variant of TCP Modified".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: "Per cent".to_owned(), scale: Scale::Linear },
        series,
        zoom: false,
    }
}

fn table(m: &Material, rate: &str) -> Table {
    let rows = variants(m).into_iter().map(|v| {
        let place = (v.label.as_str(), QUEUE, rate);
        Row {
            cells: vec![
                v.label.clone(),
                v.about.clone(),
                cell(&share_of(m, &v.label, QUEUE, rate)),
                cell(&harm_of(m, &v.label, QUEUE, rate)),
                cell(&at(m, place, queue_loss)),
                cell(&at(m, place, queue_delay)),
                cell(&at(m, place, |r| Some(r.flows.iter().map(|f| f.rto_count as f64).sum()))),
            ],
            ..Row::default()
        }
    });
    Table {
        id: format!("ablation-table-{}", rate.to_lowercase()),
        caption: format!(
            "Two flows of a variant beside two of NewReno, {}, a queue of 100 packets: medians with \
             95 % intervals",
            spaced(rate)
        ),
        columns: columns(&[
            "variant",
            "what it is",
            "share of goodput (%)",
            "harm to NewReno (%)",
            "dropped by the queue (%)",
            "wait in the queue (ms)",
            "timeouts, all flows",
        ]),
        rows: rows.collect(),
        notes: vec![HARM.to_owned()],
    }
}

fn by_queue(m: &Material, rate: &str) -> Chart {
    let series = QUEUES.iter().map(|queue| ChartSeries {
        name: format!("queue of {queue}"),
        mark: Mark::Bars,
        points: variants(m)
            .iter()
            .filter(|v| v.label != ALIKE)
            .filter_map(|v| bar(&v.label, &harm_of(m, &v.label, queue, rate)))
            .collect(),
    });
    Chart {
        id: format!("ablation-queues-{}", rate.to_lowercase()),
        caption: format!(
            "Harm to the two NewReno flows by depth of the queue, {}: medians with 95 % intervals",
            spaced(rate)
        ),
        x: ChartAxis { label: "Variant of TCP Modified".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: "Harm (%)".to_owned(), scale: Scale::Linear },
        series: series.collect(),
        zoom: false,
    }
}

fn queues(m: &Material) -> Table {
    let mut rows = Vec::new();
    for rate in RATES {
        for queue in QUEUES {
            let pair = |variant| {
                [share_of(m, variant, queue, rate), loss_of(m, variant, queue, rate)]
                    .map(|values| cell(&values))
            };
            let delays = [PRINTED, ALIKE].map(|v| cell(&at(m, (v, queue, rate), queue_delay)));
            let cells = vec![format!("{queue}, {}", spaced(rate))];
            let more = [pair(PRINTED), pair("repaired")].concat();
            let alike = vec![cell(&loss_of(m, ALIKE, queue, rate))];
            rows.push(Row {
                cells: [cells, more, alike, delays.into()].concat(),
                ..Row::default()
            });
        }
    }
    Table {
        id: "ablation-queue-table".to_owned(),
        caption: "The depth of the queue (TM-11): medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "queue",
            "share as printed (%)",
            "dropped (%)",
            "share repaired (%)",
            "dropped (%)",
            "dropped, NewReno alone (%)",
            "wait as printed (ms)",
            "wait, NewReno alone (ms)",
        ]),
        rows,
        notes: vec![],
    }
}
