//! What the reproduction finds, in sentences whose numbers come from the runs.

use super::measures::{
    Measure, change, drops, early_drops, goodput, labels, mean_cell, pair, runs, summary,
};
use crate::claims::number;
use crate::papers::parts::cells::signed;
use crate::papers::parts::verdicts::{contradicted, not_comparable};
use crate::papers::{FINDINGS, Material};
use crate::report::model::{Block, Section};

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let told = [losses(m, "long"), losses(m, "short"), share_of_start(m), bound(m), back_off(m)];
    let paragraphs: Vec<String> = told.into_iter().flatten().collect();
    let mut blocks = Vec::new();
    if !paragraphs.is_empty() {
        blocks.push(Block::Text { text: paragraphs.join("\n\n") });
    }
    blocks.extend(contradicted(m));
    blocks.extend(not_comparable(m));
    Section { id: FINDINGS.to_owned(), title: "Findings".to_owned(), blocks }
}

/// Means of the changes over the paths of an experiment that has them.
fn changes(m: &Material, experiment: &str, measure: Measure) -> Vec<(String, f64)> {
    let one = |path: &str| {
        let (a, b) = pair("ccm-ss", &format!("path={path}"));
        Some((path.to_owned(), change(m, experiment, (&a, &b), measure)?.mean))
    };
    labels(m, experiment, "path").into_iter().filter_map(one).collect()
}

fn mean(values: &[(String, f64)]) -> f64 {
    values.iter().map(|(_, v)| v).sum::<f64>() / values.len().max(1) as f64
}

fn losses(m: &Material, experiment: &str) -> Option<String> {
    let drops = changes(m, experiment, drops);
    let (least, most) = (
        drops.iter().min_by(|a, b| a.1.total_cmp(&b.1))?,
        drops.iter().max_by(|a, b| a.1.total_cmp(&b.1))?,
    );
    Some(format!(
        "On the {experiment} round trips CCM-SS changes the packets dropped in 600 s by {} % on the \
         average of {} paths (from {} % at {} to {} % at {} ms), and the goodput of both flows by \
         {} %.",
        signed(mean(&drops)),
        drops.len(),
        signed(least.1),
        least.0,
        signed(most.1),
        most.0,
        signed(mean(&changes(m, experiment, goodput)))
    ))
}

/// How many of all losses a slow start can answer for.
fn share_of_start(m: &Material) -> Option<String> {
    let of = |measure: Measure| {
        let all = labels(m, "long", "path").into_iter().flat_map(|path| {
            let point = format!("start=hystart,path={path}");
            runs(m, "long", &point).filter_map(measure).collect::<Vec<f64>>()
        });
        all.sum::<f64>()
    };
    let (early, all) = (of(early_drops), of(drops));
    (all > 0.0).then(|| {
        format!(
            "Of all packets that HyStart's runs on long round trips lose, {} % are lost in the first \
             20 s, in which both flows leave slow start. That bounds what a slow start can save \
             directly; the rest is the saw-tooth of congestion avoidance, which another start only \
             shifts.",
            number((1000.0 * early / all).round() / 10.0)
        )
    })
}

/// The paper's own change: 0.3 in place of 0.2.
fn bound(m: &Material) -> Option<String> {
    let path = "path=100-90";
    let [a, b] = ["lower-0.2", "lower-0.3"].map(|r| format!("reading={r},{path}"));
    let values = |point: &str| {
        let all = runs(m, "readings", point).map(|r| (r.seed, r.packet_hops, r.events));
        all.collect::<Vec<_>>()
    };
    let (two, three) = (values(&a), values(&b));
    if two.is_empty() || two.len() != three.len() {
        return None;
    }
    let outcome = if two == three {
        "run for run, to the last packet, the same".to_owned()
    } else {
        let of = |point: &str| mean_cell(summary(m, "readings", point, drops));
        format!("{} and {} packets dropped", of(&a), of(&b))
    };
    Some(format!(
        "Raising the lower bound from 0.2 to 0.3, the change that the paper makes to HyStart, gives \
         {outcome} on round trips of 100 and 90 ms. A train that lasts half a round trip, which is \
         when HyStart leaves, has acknowledged half of rate times round trip: no bound below that \
         half holds such an exit back, and only one by delay could be."
    ))
}

fn back_off(m: &Material) -> Option<String> {
    let path = "path=100-90";
    let point = |start: &str, keep: &str| format!("start={start},keep={keep},{path}");
    let less = change(m, "ablation", (&point("hystart", "0.8"), &point("hystart", "0.7")), drops)?;
    let start = change(m, "ablation", (&point("hystart", "0.7"), &point("ccm-ss", "0.7")), drops)?;
    Some(format!(
        "On round trips of 100 and 90 ms, keeping 0.7 of the window after a loss in place of 0.8 \
         changes the drops by {} %; CCM-SS in place of HyStart by {} % (CS-8).",
        signed(less.mean),
        signed(start.mean)
    ))
}
