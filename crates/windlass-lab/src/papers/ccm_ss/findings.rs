//! What the reproduction finds, in sentences whose numbers come from the runs.

use std::collections::BTreeMap;

use super::measures::{Measure, change, drops, early_drops, goodput, labels, pair, runs, summary};
use crate::papers::Material;
use crate::papers::parts::cells::signed;
use crate::papers::parts::verdicts::findings;
use crate::report::model::Section;
use crate::report::numbers::number;
use crate::run::RunRecord;

/// The slow starts that are held against HyStart: label in the plan, and in words.
const OTHERS: [(&str, &str); 2] = [
    ("ccm-ss", "CCM-SS with minD as the least round-trip time"),
    ("literal", "CCM-SS with minD as half of it, as printed,"),
];

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let of = |experiment: &'static str| OTHERS.iter().filter_map(move |o| losses(m, experiment, o));
    let rest = [share_of_start(m), without_hystart(m), bound(m), back_off(m)];
    let paragraphs: Vec<String> =
        of("long").chain(of("short")).chain(rest.into_iter().flatten()).collect();
    findings(m, &paragraphs)
}

/// Means of the changes over the paths of an experiment that has them.
fn changes(m: &Material, experiment: &str, other: &str, measure: Measure) -> Vec<(String, f64)> {
    let one = |path: &str| {
        let (a, b) = pair(other, &format!("path={path}"));
        Some((path.to_owned(), change(m, experiment, (&a, &b), measure)?.mean))
    };
    labels(m, experiment, "path").into_iter().filter_map(one).collect()
}

fn mean(values: &[(String, f64)]) -> f64 {
    values.iter().map(|(_, v)| v).sum::<f64>() / values.len().max(1) as f64
}

fn losses(m: &Material, experiment: &str, (other, name): &(&str, &str)) -> Option<String> {
    let all = changes(m, experiment, other, drops);
    let least = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "On the {experiment} round trips {name} changes the packets dropped in 600 s by {} % on the \
         average of {} paths, from {} % at {} ms to {} % at {} ms, those of the first 20 s by {} %, \
         and the goodput of both flows by {} %.",
        signed(mean(&all)),
        all.len(),
        signed(least.1),
        least.0,
        signed(most.1),
        most.0,
        signed(mean(&changes(m, experiment, other, early_drops))),
        signed(mean(&changes(m, experiment, other, goodput)))
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
             20 s, in which both flows leave slow start. The rest is the saw-tooth of congestion \
             avoidance, which another start only shifts.",
            number((1000.0 * early / all).round() / 10.0)
        )
    })
}

/// What a run was, to the last packet.
fn trail(m: &Material, experiment: &str, point: &str) -> BTreeMap<u64, (u64, u64, u64)> {
    let of = |r: &RunRecord| (r.seed, (r.events, r.packet_hops, drops(r).unwrap_or(0.0) as u64));
    runs(m, experiment, point).map(of).collect()
}

/// Of the seeds that two points have in common, how many runs are the same and how many there are.
fn alike(m: &Material, a: (&str, &str), b: (&str, &str)) -> Option<(usize, usize)> {
    let (a, b) = (trail(m, a.0, a.1), trail(m, b.0, b.1));
    let common: Vec<bool> = a.iter().filter_map(|(seed, a)| Some(a == b.get(seed)?)).collect();
    let same = common.iter().filter(|same| **same).count();
    (!common.is_empty()).then_some((same, common.len()))
}

fn said((same, all): (usize, usize)) -> String {
    match (same, all) {
        (1, 1) => "the run is the same to the last packet".to_owned(),
        (s, n) if s == n => format!("all {n} runs are the same to the last packet"),
        (0, n) => format!("none of {n} runs is the same"),
        (s, n) => format!("{s} of {n} runs are the same to the last packet"),
    }
}

/// What HyStart itself does on this path.
fn without_hystart(m: &Material) -> Option<String> {
    let path = "path=100-90";
    let of = |experiment, point: &str, measure| {
        summary(m, experiment, point, measure).map(|s| number(s.mean))
    };
    let (standard, hystart) =
        (format!("algorithm=cubic-standard,{path}"), format!("start=hystart,{path}"));
    Some(format!(
        "On round trips of 100 and 90 ms and a queue of 0.2 BDP, standard slow start loses {} packets in \
         the first 20 s and {} in all, HyStart {} and {}. Slow start sends at twice the bottleneck's rate, \
         so that a flight of w segments leaves w/2 of them in the queue: this queue overflows with a \
         flight of less than half of what the path holds, before HyStart's train is half a round trip \
         long and before a bound at B·minRTT is reached (CS-24).",
        of("context", &standard, early_drops)?,
        of("context", &standard, drops)?,
        of("long", &hystart, early_drops)?,
        of("long", &hystart, drops)?
    ))
}

/// The paper's own change: 0.3 in place of 0.2.
fn bound(m: &Material) -> Option<String> {
    let path = "path=100-90";
    let [a, b] = ["lower-0.2", "lower-0.3"].map(|r| format!("reading={r},{path}"));
    let same = alike(m, ("readings", &a), ("readings", &b))?;
    Some(format!(
        "With the lower bound raised from 0.2 to 0.3, the change that the paper makes to HyStart, {} \
         on round trips of 100 and 90 ms. A train that lasts half a round trip has acknowledged half of \
         rate times round trip: no lower bound below that half holds such an exit back, and only one \
         by delay could be.",
        said(same)
    ))
}

fn back_off(m: &Material) -> Option<String> {
    let point = |start: &str, keep: &str| format!("start={start},keep={keep},path=100-90");
    let of = |a: &str, b: &str| change(m, "ablation", (a, b), drops);
    let less = of(&point("hystart", "0.8"), &point("hystart", "0.7"))?;
    let start = of(&point("hystart", "0.7"), &point("ccm-ss", "0.7"))?;
    Some(format!(
        "On round trips of 100 and 90 ms, keeping 0.7 of the window after a loss in place of 0.8 \
         changes the drops by {} %; CCM-SS in place of HyStart by {} % (CS-8).",
        signed(less.mean),
        signed(start.mean)
    ))
}
