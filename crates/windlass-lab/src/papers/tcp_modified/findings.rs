//! What the reproduction finds, in sentences whose numbers come from the runs.

use super::mixtures::{Mixture, THREE_ONE, TWO_TWO, WIRELESS};
use super::values::{
    BySeed, FIELD, RATES, by_seed, cell, goodput, jain, queue_loss, share, spaced, summary,
};
use super::{ablation, ledger, windows};
use crate::claims::Verdict;
use crate::papers::Material;
use crate::papers::parts::verdicts::{findings, listed};
use crate::report::model::Section;

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let told = [
        stated_shares(m),
        advantage(m),
        price(m),
        causes(m),
        mechanism(m),
        repaired(m),
        choices(m),
    ];
    let paragraphs: Vec<String> = told.into_iter().flatten().collect();
    findings(m, &paragraphs)
}

fn median(values: &BySeed) -> Option<f64> {
    Some(summary(values)?.median)
}

/// A cell of per cents; `None` without runs.
fn percent(values: &BySeed) -> Option<String> {
    summary(values).map(|_| format!("{} %", cell(values)))
}

fn at(mix: &Mixture, other: &str, rate: &str) -> String {
    mix.point(other, rate)
}

fn stated_shares(m: &Material) -> Option<String> {
    let ours = |rate| {
        let point = at(&THREE_ONE, "newreno", rate);
        percent(&by_seed(m, (THREE_ONE.experiment, &point), |r| share(r, THREE_ONE.others)))
    };
    let verdict = |rate: &str| {
        let judged = m.judgement(&format!("fig4a.share.{rate}"))?;
        Some(if judged.verdict == Verdict::Reproduced { "as" } else { "not as" })
    };
    Some(format!(
        "One NewReno flow beside three of TCP Modified gets {} at 1 Mbit/s, {} in the paper \
         (16.5 %), and {} at 2 Mbit/s, {} in the paper (17.9 %); a fair share is 25 %.",
        ours(RATES[0])?,
        verdict(RATES[0])?,
        ours(RATES[1])?,
        verdict(RATES[1])?,
    ))
}

/// In which pairings a flow of TCP Modified has more than a flow of the other.
fn advantage(m: &Material) -> Option<String> {
    let wired = [(&THREE_ONE, "three to one"), (&TWO_TWO, "two to two")];
    let on_wires = led(m, "on wires", &wired)?;
    let over_air = led(m, "over Wi-Fi", &[(&WIRELESS, "two to two")])?;
    Some(format!(
        "The paper gives a flow of TCP Modified more throughput than a flow of the other algorithm in \
         every pairing. By the medians, CUBIC's pairings included: {on_wires} {over_air}"
    ))
}

/// Counts the pairings that it leads in, and names the others.
fn led(m: &Material, channel: &str, mixtures: &[(&Mixture, &str)]) -> Option<String> {
    let mut lost = Vec::new();
    let mut all = 0;
    for (mix, words) in mixtures {
        for (id, name) in FIELD {
            for rate in RATES {
                let point = at(mix, id, rate);
                let of = |flows: &'static [&'static str]| {
                    median(&by_seed(m, (mix.experiment, &point), |r| goodput(r, flows)))
                };
                let (ours, other) = (of(mix.modified)?, of(mix.others)?);
                all += 1;
                if ours <= other {
                    let place = format!("{words}, {}", spaced(rate));
                    lost.push(format!("{name} ({place}: {other:.0} against {ours:.0} kbit/s)"));
                }
            }
        }
    }
    let won = all - lost.len();
    let but = match lost.is_empty() {
        true => String::new(),
        false => format!(", but not beside {}", listed(&lost)),
    };
    Some(format!("In {won} of {all} pairings {channel} it has{but}."))
}

/// What it costs.
fn price(m: &Material) -> Option<String> {
    let alike = |id: &str, f: &dyn Fn(&crate::run::RunRecord) -> Option<f64>| {
        by_seed(m, ("same", &format!("all={id},rate=1Mbps")), f)
    };
    let harm = |other| percent(&TWO_TWO.harm(m, other, RATES[0]));
    Some(format!(
        "What it was bought with: four flows of TCP Modified at 1 Mbit/s have {} of their packets \
         dropped by the queue, four of NewReno {}, four of CUBIC {}; Jain's index is {}, {} and {}. \
         Beside two flows of TCP Modified two NewReno flows lose {} of what they have among \
         themselves, two CUBIC flows {}, two BBR flows {}.",
        percent(&alike("tcp-modified", &queue_loss))?,
        percent(&alike("newreno", &queue_loss))?,
        percent(&alike("cubic", &queue_loss))?,
        cell(&alike("tcp-modified", &jain)),
        cell(&alike("newreno", &jain)),
        cell(&alike("cubic", &jain)),
        harm("newreno")?,
        harm("cubic")?,
        harm("bbr")?,
    ))
}

/// Harm to NewReno and loss that a variant comes with at 1 Mbit/s.
fn variant(m: &Material, label: &str) -> Option<String> {
    let place = |f: fn(&Material, &str, &str, &str) -> BySeed| {
        percent(&f(m, label, ablation::QUEUE, RATES[0]))
    };
    Some(format!("{} and {}", place(ablation::harm_of)?, place(ablation::loss_of)?))
}

/// One repair at a time.
fn causes(m: &Material) -> Option<String> {
    let told = [
        ("RTTmin of the connection", "rtt-max"),
        ("a floor of 10 segments", "floor-10"),
        ("a floor of 2", "floor-2"),
        ("a back-off within bounds", "clamped"),
        ("alpha in segments", "segments"),
    ];
    let items: Vec<String> = told
        .iter()
        .map(|(words, label)| Some(format!("{words} {}", variant(m, label)?)))
        .collect::<Option<_>>()?;
    let share = |label| percent(&ablation::share_of(m, label, ablation::QUEUE, RATES[0]));
    Some(format!(
        "Two flows as printed beside two of NewReno at 1 Mbit/s get {} of the goodput, where two of \
         NewReno in their place get {}, since they start first. They harm the other two by {} and {} \
         of the packets are dropped by the queue. The same two numbers with one thing put right: {}.",
        share(ablation::PRINTED)?,
        share(ablation::ALIKE)?,
        percent(&ablation::harm_of(m, ablation::PRINTED, ablation::QUEUE, RATES[0]))?,
        percent(&ablation::loss_of(m, ablation::PRINTED, ablation::QUEUE, RATES[0]))?,
        listed(&items),
    ))
}

/// Why losses do not close the window.
fn mechanism(m: &Material) -> Option<String> {
    let closing = windows::closing_events(m)?;
    Some(format!(
        "Least and longest round trip are those since the last congestion event (TM-18). Between two \
         events close together, over a queue that stands, they are nearly alike; beta approaches 1.1 \
         and 1.25·beta of the flight is more than the flight: a loss opens the window, and the next \
         loss follows. In the run of figure 3, {:.0} % of the events that changed a threshold left \
         less than the window of before.",
        100.0 * closing
    ))
}

fn repaired(m: &Material) -> Option<String> {
    Some(format!(
        "Harm and loss are {} with floor, bounds, RTTmin and alpha put right all at once, which is \
         H-TCP with larger constants; {} with H-TCP itself and {} with CUBIC.",
        variant(m, "repaired")?,
        variant(m, "htcp")?,
        variant(m, "cubic")?,
    ))
}

/// Which choices come nearest to the paper's stated share.
fn choices(m: &Material) -> Option<String> {
    let paper = [16.5, 17.9];
    let mut all: Vec<(f64, String)> = Vec::new();
    for choice in ledger::choices(m) {
        let shares: Vec<f64> = RATES
            .iter()
            .map(|rate| median(&ledger::share_of(m, &choice.label, rate)))
            .collect::<Option<_>>()?;
        let apart = shares.iter().zip(paper).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let text = format!("`{}` ({:.1} % and {:.1} %)", choice.label, shares[0], shares[1]);
        all.push((apart, text));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nearest: Vec<String> = all.iter().take(3).map(|(_, text)| text.clone()).collect();
    Some(format!(
        "Of the {} choices of the ledger these come nearest to the paper's 16.5 % and 17.9 %: {}. \
         None of them was taken for that.",
        all.len(),
        listed(&nearest),
    ))
}
