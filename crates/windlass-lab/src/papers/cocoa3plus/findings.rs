//! What the reproduction finds, in sentences whose numbers come from the runs.

use std::collections::BTreeMap;

use super::ablation::{effects, variants};
use super::measures::{
    EXCESS, FAIRNESS, GOODPUT, JITTER, LOSS, Measure, OURS, PAPERS_OWN, THROUGHPUT, TIMEOUTS, cell,
    labels, mean, over, protocol, values,
};
use super::sweeps::heard_of;
use super::windows;
use crate::papers::Material;
use crate::papers::parts::cells::signed;
use crate::papers::parts::seeds::BySeed;
use crate::papers::parts::significance::Tested;
use crate::papers::parts::verdicts::{findings, listed};
use crate::report::model::Section;
use crate::report::numbers::number;

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let told = [
        orders(m),
        levels(m),
        fairness(m),
        held(m),
        signals(m),
        parts(m),
        timer(m),
        counts(m),
        radios(m),
        literal(m),
    ];
    let paragraphs: Vec<String> = told.into_iter().flatten().collect();
    findings(m, &paragraphs)
}

fn whole(m: &Material, measure: Measure, protocol: &str) -> Option<f64> {
    mean(&over(m, "size", protocol, measure))
}

/// Whether less of it is better.
fn less_is_better(measure: Measure) -> bool {
    [LOSS, EXCESS, JITTER].iter().any(|m| m.path == measure.path)
}

/// The three protocols of the paper by a measure, best first.
fn order(m: &Material, measure: Measure) -> Option<Vec<(&'static str, f64)>> {
    let mut all = Vec::new();
    for label in [OURS.0, "icc-tcp", "bc-cps"] {
        all.push((label, whole(m, measure, label)?));
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    if !less_is_better(measure) {
        all.reverse();
    }
    Some(all)
}

/// In which measures the paper's order holds.
fn orders(m: &Material) -> Option<String> {
    let mut sentences = Vec::new();
    for measure in PAPERS_OWN {
        let order = order(m, measure)?;
        let said = order.iter().map(|(label, v)| {
            let unit =
                if measure.unit == "%" { " %".to_owned() } else { format!(" {}", measure.unit) };
            format!("{} {}{unit}", protocol(label), number(rounded(*v)))
        });
        let as_printed = order.iter().map(|(label, _)| *label).eq([OURS.0, "icc-tcp", "bc-cps"]);
        let holds = if as_printed { "as in the paper" } else { "not as in the paper" };
        let all: Vec<String> = said.collect();
        sentences.push(format!("{} ({holds}): {}", measure.name, all.join(", ")));
    }
    Some(format!(
        "The paper puts CoCoA3+ before ICC-TCP and ICC-TCP before BC-CPS in every measure. Over the packet sizes, \
         best first: {}.",
        sentences.join("; ")
    ))
}

fn rounded(v: f64) -> f64 {
    if v == 0.0 {
        return v;
    }
    let unit = 10f64.powf((v.abs().log10().floor() - 2.0).floor());
    (v / unit).round() * unit
}

/// Throughput over goodput.
fn levels(m: &Material) -> Option<String> {
    let throughput = whole(m, THROUGHPUT, OURS.0)?;
    let goodput = whole(m, GOODPUT, OURS.0)?;
    let times = 1000.0 * throughput / goodput;
    Some(format!(
        "The paper's 20 Mbps of throughput are 25 times its goodput. Here what all stations deliver to their next \
         hop, routing messages, acknowledgements and repetitions included, is {} times the goodput of a flow, of \
         which there are ten (C3-3).",
        number(times.round())
    ))
}

/// Who pays.
fn fairness(m: &Material) -> Option<String> {
    let of = |label: &str| Some(cell(&over_runs(m, label)?));
    let mut said = Vec::new();
    for label in [OURS.0, "icc-tcp", "bc-cps"] {
        said.push(format!("{} under {}", of(label)?, protocol(label)));
    }
    Some(format!(
        "The paper does not ask how the ten senders share. With packets of 2100 bytes Jain's index of their goodputs \
         is {}; 0.1 is one sender alone. Delays are those of the packets that arrive: where far senders starve, \
         they are those of the near ones.",
        listed(&said)
    ))
}

fn over_runs(m: &Material, label: &str) -> Option<BySeed> {
    let values = FAIRNESS.at(m, "size", &format!("protocol={label},packet=2100"));
    (!values.is_empty()).then_some(values)
}

/// How large windows are.
fn held(m: &Material) -> Option<String> {
    let read = windows::quantities(m.traces);
    let of = |label: &str, what: &str| {
        read.get(&format!("fig14.{label}.{what}")).map(|v| number(rounded(*v)))
    };
    Some(format!(
        "In the traced runs CoCoA3+ has a window of {} segments in the mean and {} at most, ICC-TCP of {} and {}, \
         BC-CPS of {} and {}: any of seven signals holds growth, in slow start too (C3-19), and each expiry of the \
         timer leaves one segment.",
        of(OURS.0, "mean")?,
        of(OURS.0, "largest")?,
        of("icc-tcp", "mean")?,
        of("icc-tcp", "largest")?,
        of("bc-cps", "mean")?,
        of("bc-cps", "largest")?,
    ))
}

/// Signals without which the runs are the same to the last packet.
fn signals(m: &Material) -> Option<String> {
    let trail = |reading: &str| -> BTreeMap<u64, (u64, u64)> {
        let point = format!("reading={reading}");
        let here = m.records.iter().filter(|r| r.experiment == "readings" && r.point == point);
        here.map(|r| (r.seed, (r.events, r.packet_hops))).collect()
    };
    let whole = trail("whole");
    let same = |signal: &str| -> Option<(usize, usize)> {
        let without = trail(&format!("without-{signal}"));
        let pairs = without.iter().filter_map(|(seed, a)| Some(whole.get(seed)? == a));
        let all: Vec<bool> = pairs.collect();
        (!all.is_empty()).then(|| (all.iter().filter(|same| **same).count(), all.len()))
    };
    let names = ["rtt", "rto", "rate", "delay", "bandwidth", "delivery", "queue"];
    let said = names.iter().filter_map(|name| {
        let (same, all) = same(name)?;
        Some(format!("`{name}` in {same} of {all}"))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| {
        format!(
            "Without one of the seven signals the runs of the whole are the same to the last packet: {}.",
            listed(&said)
        )
    })
}

/// Parts whose effect is beyond chance, and the rest.
fn parts(m: &Material) -> Option<String> {
    let left_out: Vec<String> =
        variants(m).into_iter().map(|(l, _)| l).filter(|l| l.starts_with("no-")).collect();
    if left_out.is_empty() {
        return None;
    }
    let shown = [THROUGHPUT, GOODPUT, LOSS, EXCESS, JITTER];
    let by_measure: Vec<(Measure, BTreeMap<String, Tested>)> =
        shown.into_iter().map(|measure| (measure, effects(m, measure))).collect();
    let clear = |label: &String| -> Vec<String> {
        let one = |(measure, effects): &(Measure, BTreeMap<String, Tested>)| {
            let tested = effects.get(label)?;
            let change = 100.0 * (tested.summary?.mean.exp() - 1.0);
            tested.t?.rejected.then(|| format!("{} by {} %", measure.name, signed(change)))
        };
        by_measure.iter().filter_map(one).collect()
    };
    let (with, without): (Vec<&String>, Vec<&String>) =
        left_out.iter().partition(|label| !clear(label).is_empty());
    let mut text = "Left out of the whole, corrected for the number of variants: ".to_owned();
    let told: Vec<String> =
        with.iter().map(|label| format!("`{label}` changes {}", listed(&clear(label)))).collect();
    text.push_str(&told.join("; "));
    if !without.is_empty() {
        let names: Vec<String> = without.iter().map(|l| format!("`{l}`")).collect();
        let before = if with.is_empty() { "" } else { "; " };
        text.push_str(&format!(
            "{before}{} change none of the five measures beyond chance",
            listed(&names)
        ));
    }
    Some(text + ".")
}

/// The timer's readings.
fn timer(m: &Material) -> Option<String> {
    let at = |timer: &str, measure: Measure| {
        let values = measure.at(m, "timers", &format!("under=cocoa3plus,timer={timer}"));
        (!values.is_empty()).then(|| cell(&values))
    };
    let one = |timer: &str, words: &str| {
        Some(format!(
            "{words} {} kbit/s with {} timeouts",
            at(timer, GOODPUT)?,
            at(timer, TIMEOUTS)?
        ))
    };
    Some(format!(
        "Under the rest of CoCoA3+ a flow gets {}. That is the timer's whole part in the result: `docs/src/studies/timers.md` \
         says what the optimizer finds and costs.",
        listed(&[
            one("cmbo-margin", "with equation 17 as a margin")?,
            one("cmbo-best", "with the better candidate")?,
            one("cmbo-literal", "with the difference as printed")?,
            one("rfc6298", "with RFC 6298's timer")?,
            one("cocoa+", "with CoCoA+'s")?,
        ])
    ))
}

/// Where the order hangs on the number of senders.
fn counts(m: &Material) -> Option<String> {
    let best = |senders: &String| {
        let of = |label: &String| {
            let place = format!("protocol={label},senders={senders}");
            Some((label.clone(), mean(&GOODPUT.at(m, "senders", &place))?))
        };
        let all = labels(m, "senders", "protocol");
        let found: Vec<(String, f64)> = all.iter().filter_map(of).collect();
        let (label, v) = found.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (found.len() > 1)
            .then(|| format!("{} with {senders} ({} kbit/s)", protocol(label), number(rounded(*v))))
    };
    let all: Vec<String> = labels(m, "senders", "senders").iter().filter_map(best).collect();
    (!all.is_empty())
        .then(|| format!("By the number of senders, most goodput a flow has {}.", listed(&all)))
}

/// What becomes of the comparison on other radios.
fn radios(m: &Material) -> Option<String> {
    let one = |(radio, about): &(String, String)| {
        let of = |label: &str, measure: Measure| {
            mean(&measure.at(m, "radio", &format!("protocol={label},radio={radio}")))
        };
        let times = |measure| Some(of(OURS.0, measure)? / of("icc-tcp", measure)?);
        let words = about.trim_end_matches('.');
        Some(format!("{words}: {:.2} and {:.2}", times(GOODPUT)?, times(EXCESS)?))
    };
    let all: Vec<String> = values(m, "radio", "radio").iter().filter_map(one).collect();
    (!all.is_empty()).then(|| {
        format!(
            "What a flow of CoCoA3+ gets, and the delay above the least, in those of ICC-TCP, by radio: {}.",
            all.join("; ")
        )
    })
}

fn literal(m: &Material) -> Option<String> {
    let mut said = Vec::new();
    for label in [OURS.0, "icc-tcp", "bc-cps"] {
        let heard = mean(&heard_of(m, label))?;
        said.push(format!("{} under {}", number(rounded(heard)), protocol(label)));
    }
    Some(format!(
        "In the 300 ms of Table I, read as printed, the base station hears anything at all from {} of the ten \
         senders, in the mean, though all routes are known when they begin (C3-1).",
        listed(&said)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_in_sentences_have_three_digits() {
        for (v, text) in [(1234.5, "1230"), (0.012_345, "0.0123"), (0.0, "0"), (99.96, "100")] {
            assert_eq!(number(rounded(v)), text);
        }
    }
}
