//! What the reproduction finds, in sentences whose numbers come from the runs.

use windlass_sim::radio::Consumption;

use super::ablation::against_lia;
use super::measures::{
    BySeed, Measure, by_seed, cell, change, drop_share, drops_per_s, energy, goodput, retransmits,
    summary,
};
use super::tables::{coupled, coupled_by_datagrams, rival, share};
use super::{closed_forms, figures};
use crate::papers::Material;
use crate::papers::parts::verdicts::{findings, listed};
use crate::report::model::Section;
use crate::report::numbers::number;

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let told = [
        advantage(m),
        spread(m),
        sweep(m),
        causes(m),
        limits(m),
        detection(m),
        fairness(m),
        battery(m),
    ];
    let paragraphs: Vec<String> = told.into_iter().flatten().collect();
    findings(m, &paragraphs)
}

/// A cell of per cents; `None` without runs.
fn percent(values: &BySeed) -> Option<String> {
    summary(values).map(|_| format!("{} %", cell(values)))
}

fn against(m: &Material, experiment: &str, points: [&str; 2], f: Measure) -> BySeed {
    let [a, b] = points.map(|p| by_seed(m, experiment, p, f));
    change(&a, &b)
}

fn advantage(m: &Material) -> Option<String> {
    let of =
        |cc: &str, f: Measure| percent(&against(m, "setups", [&format!("cc={cc}"), "cc=lia"], f));
    Some(format!(
        "With datagrams at 1 Mbit/s MFVL as printed changes goodput against LIA by {}, packets dropped a \
         second by {} and their share of those sent by {}; put right by its own words, by {}, {} and {}. \
         Uncoupled NewReno changes goodput by {} and drops by {}.",
        of("mfvl", goodput)?,
        of("mfvl", drops_per_s)?,
        of("mfvl", drop_share)?,
        of("mfvl-repaired", goodput)?,
        of("mfvl-repaired", drops_per_s)?,
        of("mfvl-repaired", drop_share)?,
        of("newreno", goodput)?,
        of("newreno", drops_per_s)?,
    ))
}

/// How far the runs of LIA lie apart, which one run a curve cannot show.
fn spread(m: &Material) -> Option<String> {
    let of = |cc: &str| by_seed(m, "setups", &format!("cc={cc}"), goodput);
    let range = |cc: &str| {
        let s = summary(&of(cc))?;
        (s.n > 1).then_some((s.min, s.max))
    };
    let ((low, high), (least, most)) = (range("lia")?, range("mfvl")?);
    let below = of("lia").values().filter(|v| **v < (low + high) / 2.0).count();
    Some(format!(
        "One run a curve, as the paper shows, decides little: from seed to seed LIA's goodput runs from \
         {} to {} Mbit/s, {below} of {} runs in the lower half of that range; MFVL's runs from {} to {} \
         Mbit/s. Changes against LIA have intervals as wide as that.",
        number(low),
        number(high),
        of("lia").len(),
        number(least),
        number(most),
    ))
}

/// Where in the sweep of set-up 4 the change is largest.
fn sweep(m: &Material) -> Option<String> {
    let changes = |f: Measure| {
        let one = |rate: String| {
            let points = ["mfvl", "lia"].map(|cc| format!("rate={rate},cc={cc}"));
            let all = against(m, "cbr", [&points[0], &points[1]], f);
            Some((rate, summary(&all)?.median))
        };
        figures::rates(m).into_iter().filter_map(one).collect::<Vec<_>>()
    };
    let goodputs = changes(goodput);
    let (best, gain) = goodputs.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (worst, loss) = goodputs.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let dropped = changes(drops_per_s);
    let (fewest, fewer) = dropped.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let more: Vec<String> =
        dropped.iter().filter(|(_, v)| *v > 0.0).map(|(rate, _)| rate.clone()).collect();
    let but = match more.is_empty() {
        true => "at no rate it loses more".to_owned(),
        false => format!("at {} Mbit/s it loses more", listed(&more)),
    };
    Some(format!(
        "Over the rates of the datagrams the change in goodput lies between {} % at {worst} Mbit/s and \
         {} % at {best} Mbit/s (paper: up to 30 %). The change in packets dropped is least at {fewest} \
         Mbit/s, {} % (paper: up to −50 %); {but}.",
        number(*loss),
        number(*gain),
        number(*fewer),
    ))
}

/// What the ablation says.
fn causes(m: &Material) -> Option<String> {
    let of = |variant: &str, f: Measure| percent(&against_lia(m, variant, f));
    Some(format!(
        "Where it comes from: without any modification, FAST on path 1 and Vegas on path 2 change goodput \
         against LIA by {} and drops by {}. MFast on path 1 with NewReno on path 2 changes them by {} and \
         {}; NewReno on path 1 with MVegas on path 2 by {} and {}. The rest of the figures stand in the \
         ablation.",
        of("fast-vegas", goodput)?,
        of("fast-vegas", drops_per_s)?,
        of("mfast-newreno", goodput)?,
        of("mfast-newreno", drops_per_s)?,
        of("newreno-mvegas", goodput)?,
        of("newreno-mvegas", drops_per_s)?,
    ))
}

/// What the window limit and the law of MFast do.
fn limits(m: &Material) -> Option<String> {
    let of = |variant: &str, f: Measure| percent(&against_lia(m, variant, f));
    Some(format!(
        "The limit of 100 packets (MF-25): LIA without it changes its own goodput by {} and its drops by \
         {}. MFast settles at {} packets on path 1 and {} on path 2 alone, which is where the paper's 75 \
         comes from; the law cannot exceed 100 packets on any path (MF-8).",
        of("lia-no-limit", goodput)?,
        of("lia-no-limit", drops_per_s)?,
        number(closed_forms::mfast(3e6)),
        number(closed_forms::mfast(1e6)),
    ))
}

fn detection(m: &Material) -> Option<String> {
    let of = |cc: &str| summary(&share(m, cc)).map(|_| cell(&share(m, cc)));
    let again = |cc: &str| cell(&by_seed(m, "shared", &format!("cc={cc},end=51s"), retransmits));
    Some(format!(
        "Over one bottleneck, after its first decision, MFVL as printed has {} times the bytes of an ordinary \
         connection beside it, put right {} times; LIA has {} times, two uncoupled NewReno subflows {} \
         times. MFVL ends coupled in {} runs as printed and in {} put right: detection needs losses on \
         both paths, and MVegas, which it begins with, sends {} segments again in the first 50 s beside \
         a connection that goes by losses, where LIA sends {}. With bursts of datagrams in place of that \
         connection it ends coupled in {} runs as printed, in {} where a decision to couple stands \
         (MF-15), and in {} put right.",
        of("mfvl")?,
        of("mfvl-repaired")?,
        of("lia")?,
        of("newreno")?,
        coupled(m, "mfvl"),
        coupled(m, "mfvl-repaired"),
        again("mfvl"),
        again("lia"),
        coupled_by_datagrams(m, "mfvl"),
        coupled_by_datagrams(m, "mfvl-exclusive"),
        coupled_by_datagrams(m, "mfvl-repaired"),
    ))
}

fn fairness(m: &Material) -> Option<String> {
    let of = |cc: &str, path: u32| percent(&rival(m, cc, path));
    Some(format!(
        "An ordinary connection on path 1 has {} of what it has beside uncoupled NewReno when MFVL is there \
         instead, and {} when LIA is; on path 2 {} and {} (MF-26; more than 100 % is kinder than NewReno).",
        of("mfvl", 1)?,
        of("lia", 1)?,
        of("mfvl", 2)?,
        of("lia", 2)?,
    ))
}

fn battery(m: &Material) -> Option<String> {
    let of = |beyond: bool| {
        let get = |cc: &str| {
            by_seed(m, "setups", &format!("cc={cc}"), |r| {
                energy(r, &Consumption::WAVELAN_11, beyond)
            })
        };
        percent(&change(&get("mfvl"), &get("lia")))
    };
    Some(format!(
        "The battery: on the powers of a WaveLAN card MFVL changes what the meter's radios spend for a \
         delivered byte by {} against LIA, and what they spend beyond idling, which is what the byte \
         itself costs, by {}. The former follows goodput: in a fixed time of idling more bytes are \
         delivered.",
        of(false)?,
        of(true)?,
    ))
}
