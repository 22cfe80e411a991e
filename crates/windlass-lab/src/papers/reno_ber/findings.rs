//! What the reproduction finds, in sentences whose numbers come from the runs.

use super::closed_forms::{PRINTED, Printed};
use super::ledger;
use super::trace::waiting;
use crate::models::link::expected_retransmissions;
use crate::models::reno_ber::{FILE_BYTES, MSS, datagrams};
use crate::papers::Material;
use crate::papers::parts::cells::{self, signed};
use crate::papers::parts::tables::median;
use crate::papers::parts::verdicts::{findings, listed};
use crate::report::model::Section;
use crate::report::numbers::number;
use crate::stats::Summary;
use windlass_cc::Span;

const RESPONSE: &str = "flow.download.completion_s";
const RETRANSMITS: &str = "flow.download.retransmits";
/// Seconds that the paper's response times have too many (RB-10).
const OFFSET_S: f64 = 10.0;
/// Table 2's least retransmission timeout, seconds.
const LEAST_TIMEOUT_S: f64 = 1.0;
/// Changes of the response time below this, per cent, are left to the ledger.
const WORTH_TELLING: f64 = 5.0;

/// The findings; what the runs at hand do not show is left out.
pub(super) fn section(m: &Material) -> Section {
    let told = [low_loss(m), one_per_cent(m), ten_per_cent(m), repairs(m), one_loss(m)];
    let paragraphs: Vec<String> = told.into_iter().flatten().collect();
    findings(m, &paragraphs)
}

/// A median over the runs of a drop probability.
fn at(m: &Material, mode: &str, printed: &Printed, path: &str) -> Option<Summary> {
    median(m, path, "download", &format!("mode={mode},p={}", printed.label))
}

fn response(m: &Material, mode: &str, printed: &Printed) -> Option<Summary> {
    at(m, mode, printed, RESPONSE)
}

fn percent(ours: f64, theirs: f64) -> f64 {
    (ours - theirs) / theirs * 100.0
}

fn low_loss(m: &Material) -> Option<String> {
    let low = &PRINTED[..3];
    let ours: Vec<f64> =
        low.iter().map(|p| Some(response(m, "data-only", p)?.median)).collect::<Option<_>>()?;
    let theirs = || low.iter().map(|p| p.response_s - OFFSET_S);
    let apart = ours.iter().zip(theirs()).map(|(a, b)| percent(*a, b).abs()).fold(0.0, f64::max);
    let times = |times: &mut dyn Iterator<Item = f64>| {
        listed(&times.map(|t| format!("{t:.2}")).collect::<Vec<_>>())
    };
    let counts: Vec<String> = PRINTED[..4]
        .iter()
        .map(|p| Some(number(at(m, "data-only", p, RETRANSMITS)?.median)))
        .collect::<Option<_>>()?;
    let printed: Vec<String> = PRINTED[..4].iter().map(|p| number(p.retransmissions)).collect();
    Some(format!(
        "Up to 0.1 % the response times are within {apart:.1} % of the paper's: {} s at 0, 0.01 \
         and 0.1 %, where the paper has {} s (its printed times less the 10 s of RB-10). \
         Retransmissions up to 1 % are {}, the paper's {}; n·p/(1−p) expects {:.1} at 1 %.",
        times(&mut ours.iter().copied()),
        times(&mut theirs()),
        listed(&counts),
        listed(&printed),
        expected_retransmissions(datagrams(FILE_BYTES, MSS), PRINTED[3].p),
    ))
}

fn one_per_cent(m: &Material) -> Option<String> {
    let p = &PRINTED[3];
    let ours = response(m, "data-only", p)?;
    let theirs = p.response_s - OFFSET_S;
    let mut text = format!(
        "At 1 % ours is {} s, the paper's simulation {theirs:.2} s and its testbed {:.2} s: a \
         difference of {} % and {} %.",
        cells::median(&ours),
        p.testbed_s,
        signed(percent(ours.median, theirs)),
        signed(percent(ours.median, p.testbed_s)),
    );
    let mut moves = ledger::effects(m, p.label);
    moves.retain(|e| e.change.abs() >= WORTH_TELLING);
    moves.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let told: Vec<String> = moves
        .iter()
        .map(|e| {
            let lossless = ledger::time(m, &e.choice, PRINTED[0].label);
            let lossless = lossless.map_or(String::new(), |s| format!(" ({s:.1} s)"));
            format!("`{}` {:.1} s{lossless}", e.choice, e.time_s)
        })
        .collect();
    if !told.is_empty() {
        text.push_str(&format!(
            " Assumptions that change it by {WORTH_TELLING} % or more when they alone are made \
             otherwise, with the time without loss in brackets, which the paper has at {:.2} s: {}.",
            PRINTED[0].response_s - OFFSET_S,
            listed(&told),
        ));
    }
    Some(text)
}

fn ten_per_cent(m: &Material) -> Option<String> {
    let p = &PRINTED[4];
    let (data, both) = (response(m, "data-only", p)?, response(m, "both", p)?);
    let lossless = response(m, "data-only", &PRINTED[0])?;
    let sent = |mode| Some(at(m, mode, p, RETRANSMITS)?.median);
    let (data_sent, both_sent) = (sent("data-only")?, sent("both")?);
    let theirs = p.response_s - OFFSET_S;
    let mut text = format!(
        "At 10 % the download takes {:.1} times as long as without loss, in the paper {:.1} times. \
         With data packets dropped only it takes {} s and {} retransmissions, {} % and {} % away \
         from the paper's {theirs:.2} s and {}; with drops in both directions {} s and {}, {} % \
         and {} % away.",
        data.median / lossless.median,
        theirs / (PRINTED[0].response_s - OFFSET_S),
        cells::median(&data),
        number(data_sent),
        signed(percent(data.median, theirs)),
        signed(percent(data_sent, p.retransmissions)),
        number(p.retransmissions),
        cells::median(&both),
        number(both_sent),
        signed(percent(both.median, theirs)),
        signed(percent(both_sent, p.retransmissions)),
    );
    let closer = |both: f64, data: f64, paper: f64| (both - paper).abs() < (data - paper).abs();
    if closer(both.median, data.median, theirs) && closer(both_sent, data_sent, p.retransmissions) {
        text.push_str(
            " Both being closer suggests that the paper's cloud discarded acknowledgements too, \
             which the paper does not say (RB-5).",
        );
        let one = &PRINTED[3];
        let (data, both) = (response(m, "data-only", one)?, response(m, "both", one)?);
        if !closer(both.median, data.median, one.response_s - OFFSET_S) {
            text.push_str(&format!(
                " It does not explain 1 %, where drops in both directions take {} s.",
                cells::median(&both)
            ));
        }
    }
    Some(text)
}

/// How losses were repaired, and the time that waiting for timers took.
fn repairs(m: &Material) -> Option<String> {
    let shares: Vec<String> = PRINTED[2..]
        .iter()
        .map(|p| Some(format!("{:.0} % at {}", 100.0 * fast_share(m, p.label)?, spaced(p.label))))
        .collect::<Option<_>>()?;
    let ten = &PRINTED[4];
    let timeouts = at(m, "data-only", ten, "flow.download.rto_count")?.median;
    let time = response(m, "data-only", ten)?.median;
    let mut text = format!(
        "Of all repairs a fast retransmit began {}; the others waited for the retransmission timer \
         of a second or more. At 10 % the median run has {} timeouts: at a second each they are \
         {:.0} % of its time, and back-off adds to that.",
        listed(&shares),
        number(timeouts),
        (100.0 * timeouts * LEAST_TIMEOUT_S / time).min(100.0),
    );
    let still: Vec<String> = PRINTED[2..]
        .iter()
        .filter_map(|p| {
            let trace = m.traces.get(&format!("p={}", p.label))?;
            let share = waiting(trace, Span::from_millis((1000.0 * LEAST_TIMEOUT_S) as u64))?;
            Some(format!("{:.0} % of the time at {}", 100.0 * share, spaced(p.label)))
        })
        .collect();
    if !still.is_empty() {
        text.push_str(&format!(
            " In the runs of figures 2 to 8 nothing new was acknowledged for a second or longer \
             during {}.",
            listed(&still)
        ));
    }
    Some(text)
}

/// `1%` as prose has it.
fn spaced(label: &str) -> String {
    label.replace('%', " %")
}

/// Fast retransmits as a share of all repairs, over all runs of a drop probability.
fn fast_share(m: &Material, label: &str) -> Option<f64> {
    let point = format!("mode=data-only,p={label}");
    let here = m.records.iter().filter(|r| r.experiment == "download" && r.point == point);
    let (mut fast, mut timeouts) = (0, 0);
    for flow in here.filter_map(|r| r.flows.iter().find(|f| f.name == "download")) {
        fast += flow.fast_retransmits;
        timeouts += flow.rto_count;
    }
    (fast + timeouts > 0).then(|| fast as f64 / (fast + timeouts) as f64)
}

fn one_loss(m: &Material) -> Option<String> {
    let cost = m.judgement("sec5.2.cost.simulated")?;
    let rtts = m.judgement("sec5.2.rtts")?;
    let extra = m.judgement("table4.extra.p1")?.measured?;
    let count = at(m, "data-only", &PRINTED[3], RETRANSMITS)?.median;
    let timeouts = at(m, "data-only", &PRINTED[3], "flow.download.rto_count")?.median;
    Some(format!(
        "One loss repaired by fast retransmit costs {:.2} s here, in the paper's account {} s; the \
         window is back after {:.1} round trips, in Table 9 after {}. At that price {} of them make \
         {:.1} s of the {extra:.1} s that 1 % adds. The median run also has {} timeouts of a \
         second or more, which section 5.2 does not count.",
        cost.measured?,
        cells::printed(cost.paper),
        rtts.measured?,
        cells::printed(rtts.paper),
        number(count),
        cost.measured? * count,
        number(timeouts),
    ))
}
