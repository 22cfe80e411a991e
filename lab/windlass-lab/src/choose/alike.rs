//! Advice if all candidates have equal results: the choice does not matter, the reason, and the settings that matter.

use crate::compare::{Findings, Measure, Question, Ranking};
use crate::outlook::{self, EarlyTimeout};
use crate::report::numbers::number;
use crate::scenario::compile;
use crate::units::{Bytes, Duration};
use windlass_sim::arrivals::Law;
use windlass_sim::config::Traffic;

/// Three texts:
///
/// 1. The candidates are equal by the aim.
/// 2. The measure in which they differ, or the reason why they do not differ.
/// 3. The settings that matter.
pub(super) fn sentences(
    question: &Question,
    ranking: &Ranking,
    findings: &Findings,
) -> [String; 3] {
    let timers = question.flows.have_timers(&question.scenario);
    let settings = question.candidates.iter().any(|c| c.setting.is_some());
    let (n, networks) = (ranking.entries.len(), question.seeds);
    let name = ranking.measure.name();
    let mean = ranking.entries.first().and_then(|e| e.mean).map_or_else(String::new, number);
    let subject = match (settings, timers) {
        (true, _) => "setting",
        (false, true) => "timer",
        (false, false) => "algorithm",
    };
    let elsewhere = difference(ranking, findings);
    let scope = if elsewhere.is_some() { format!("for {name} ") } else { String::new() };
    let does = format!(
        "The {subject} does not matter {scope}here: all {n} candidates have the same {name} on each of {networks} networks, on average {mean}."
    );
    let why = match elsewhere {
        Some([(least, a), (most, b)]) => format!(
            "It matters for {}: {} with {}, and {} with {}.",
            most.0.name(),
            number(least.1),
            findings.algorithms[a],
            number(most.1),
            findings.algorithms[b]
        ),
        None if settings => "No setting changed the result of a run.".to_owned(),
        None => why(question, timers),
    };
    if settings {
        return [does, why, "Try other settings by `--vary`.".to_owned()];
    }
    [does, why, instead(question, findings, timers)]
}

/// A mean of a measure.
type Mean = (Measure, f64);

/// The best algorithm by the measure in which they differ most.
pub(super) fn best(ranking: &Ranking, findings: &Findings) -> Option<usize> {
    difference(ranking, findings).map(|[(_, best), _]| best)
}

/// The best and the worst in the other measure in which the candidates differ most.
fn difference(ranking: &Ranking, findings: &Findings) -> Option<[(Mean, usize); 2]> {
    let others = findings.rankings.iter().filter(|r| r.measure != ranking.measure);
    let ends = others.filter_map(|r| {
        let [first, .., last] = &r.entries[..] else { return None };
        let (best, worst) = (first.mean?, last.mean?);
        let gap = (best - worst).abs() / best.abs().max(worst.abs());
        let ends = [((r.measure, best), first.algorithm), ((r.measure, worst), last.algorithm)];
        (gap > 1e-6).then_some((gap, ends))
    });
    ends.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, ends)| ends)
}

fn why(question: &Question, timers: bool) -> String {
    if timers {
        return "No timer changed the result of a run.".to_owned();
    }
    match largest(question) {
        Some((bytes, window)) if bytes <= window => format!(
            "A flow sends at most {} at once, which fits into the initial window of {}, so no algorithm has an effect.",
            Bytes(bytes),
            Bytes(window)
        ),
        _ => "No decision of a candidate changed the result of a run.".to_owned(),
    }
}

/// The maximum number of bytes that a compared flow sends at once, and its initial window. `None` if a flow
/// has unlimited or other traffic.
fn largest(question: &Question) -> Option<(u64, u64)> {
    let config = compile::compile(&question.scenario, question.scenario.seed).ok()?;
    let of = |i: &usize| {
        let flow = config.flows.get(*i)?;
        let bytes = match flow.traffic {
            Traffic::Bulk { bytes } => bytes?,
            Traffic::RequestResponse { response, .. } => response,
            Traffic::Messages(messages) => match messages.sizes.law {
                Law::Constant => messages.sizes.mean,
                _ => messages.sizes.most,
            },
            Traffic::CbrTcp(cbr) => cbr.packet,
            _ => return None,
        };
        let profile = &flow.profile;
        Some((bytes, profile.stack.initial_window.bytes(profile.mss())))
    };
    let all: Option<Vec<(u64, u64)>> = question.flows.indices().iter().map(of).collect();
    all?.into_iter().max_by_key(|(bytes, window)| bytes.saturating_sub(*window))
}

fn instead(question: &Question, findings: &Findings, timers: bool) -> String {
    let names = question.flows.names(&question.scenario);
    let early = outlook::early_timeouts(&question.scenario).unwrap_or_default();
    let early: Option<EarlyTimeout> = early.into_iter().find(|e| names.contains(&e.flow));
    let again = findings.rankings.iter().find(|r| r.measure == Measure::Retransmissions);
    let again = again.and_then(|r| r.entries.first()?.mean).filter(|percent| *percent > 0.0);
    let mut out = match (again, &early) {
        (Some(percent), _) if !timers => {
            format!(
                "Look at the timer: {} % of the data segments are retransmissions",
                number(percent)
            )
        }
        (_, Some(_)) => "Look at the timer".to_owned(),
        _ => "The remaining time is the path and the handshake, which no algorithm changes"
            .to_owned(),
    };
    if let Some(early) = early {
        out += &format!(
            ". The initial timeout of {} is below the RTT of {}; try one of {}",
            Duration(early.timeout),
            Duration(windlass_cc::Span::from_millis(early.rtt.0 / 1_000_000)),
            Duration(early.enough())
        );
    }
    out += match timers {
        true => {
            ". The settings that matter: `initial` of the timer (`rto`), `max_retransmit` and `nstart`."
        }
        false => {
            ". The settings that matter: the timer and its initial timeout (`stack.rto`), the initial window (`stack.initial_window`), and a connection that stays open. `--vary` compares settings, such as `--vary stack.initial_window=2mss,10mss`."
        }
    };
    out
}
