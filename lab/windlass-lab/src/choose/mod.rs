//! Advice: the best algorithm by a measure for a network that is not known exactly.
//!
//! Every candidate runs on the same networks, which are drawn around the given network.
//! [`compare`](crate::compare) compares the candidates in pairs. A draw depends only on its seed. The same
//! runs show the networks on which the advice differs: another candidate may be better in the third of the
//! draws with the largest or smallest values of a property.

mod alike;
mod device;
mod spread;

use serde::Serialize;
use windlass_cc::ALGORITHMS;

use crate::Error;
use crate::compare::ranking::{Entry, Outcome};
use crate::compare::{ALPHA, Findings, Flows, Measure, Question, Ranking};
use crate::outlook;
use crate::report::numbers::{interval, number};
use crate::run::{RunRecord, Task};
use crate::scenario::{Scenario, Traffic};
use crate::stats::CONFIDENCE;
use crate::stats::multiple::holm;
use crate::stats::paired::{differences, t_test};
use crate::units::Duration;

pub use device::Device;
pub use spread::{Property, Spread};

/// Minimum number of networks for advice.
pub const LEAST_NETWORKS: u64 = 6;

/// Label of the scenario without another setting.
pub const AS_GIVEN: &str = "as given";

/// A question about the best candidate, and the uncertainty of the network.
#[derive(Clone, Debug)]
pub struct Choice {
    question: Question,
    spread: Spread,
    /// Algorithms that do not fit, with the reason. They are excluded unless the user names them.
    pub left_out: Vec<(String, String)>,
}

/// The answer to a [`Choice`].
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// The algorithm with the best mean. If all candidates are identical by the aim: the best by the measure
    /// in which they differ most.
    pub algorithm: String,
    /// Candidates that do not differ significantly from it.
    pub alike: Vec<String>,
    /// True if the advice is one algorithm.
    pub decided: bool,
    /// True if all candidates have the same value in every run, so that the choice does not matter.
    pub identical: bool,
    /// Texts for the best algorithm, the differences from the others, and the reason.
    pub sentences: [String; 3],
    /// Warnings about the advised candidate.
    pub warnings: Vec<String>,
    /// Networks on which another algorithm is significantly better.
    pub turns: Vec<Turn>,
    /// The comparison that gives the advice.
    pub findings: Findings,
}

/// Networks on which another algorithm is better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The property with large or small values on these networks.
    pub property: Property,
    /// True for large values.
    pub much: bool,
    /// Bound of this third of the draws, as a factor of the given value.
    pub factor: f64,
    /// The better algorithm.
    pub algorithm: String,
    /// Its mean difference from the advised algorithm, in the measure's unit.
    pub difference: f64,
    /// Confidence interval of the difference.
    pub ci95: [f64; 2],
}

/// Names of algorithms, and the excluded algorithms with the reasons.
pub type Candidates = (Vec<String>, Vec<(String, String)>);

/// The default candidates, and the excluded algorithms with the reasons. If no flow has congestion control,
/// the candidates are the timers of CoAP.
///
/// # Errors
///
/// No algorithm fits on the device, or no flow has an algorithm or timer to choose.
pub fn candidates(scenario: &Scenario, device: &Device) -> Result<Candidates, Error> {
    let flows = Flows::of(scenario, &[]).map_err(|e| Error::Input(e.to_string()))?;
    if flows.have_timers(scenario) {
        if *device != Device::default() {
            let why = "the flows are CoAP flows; the memory and flash of their timers are unknown";
            return Err(Error::Input(why.to_owned()));
        }
        return Ok((timers(scenario), Vec::new()));
    }
    let tcp = || scenario.flows.iter().filter(|f| f.controller.is_some());
    let marks = tcp().any(|f| f.stack.ecn.is_on());
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for info in ALGORITHMS {
        let Some(params) = windlass_cc::AnyParams::by_name(info.id) else { continue };
        let wants = params.requirements();
        let own = |why: &str| Some(why.to_owned());
        let why = if wants.cross_layer && scenario.wifi.is_empty() {
            own("needs data from the node's lower layers, which only radio cells have")
        } else if wants.ecn == windlass_cc::Ecn::Exact && !marks {
            own("needs ECN marks, and `ecn` is off")
        } else {
            device.lacks(info.id)
        };
        match why {
            Some(why) => left_out.push((info.id.to_owned(), why)),
            None => kept.push(info.id.to_owned()),
        }
    }
    if kept.is_empty() {
        return Err(Error::Input(format!("no algorithm fits: {}", device.least(&left_out))));
    }
    Ok((kept, left_out))
}

/// The aim for the traffic of a scenario: completion with finite transfers, late messages with deadlines, exchanges if
/// all flows are CoAP flows, otherwise goodput.
pub fn usual_aim(scenario: &Scenario) -> Measure {
    let any = |is: &dyn Fn(&Traffic) -> bool| scenario.flows.iter().any(|f| is(&f.traffic));
    let tcp = scenario.flows.iter().any(|flow| flow.controller.is_some());
    if any(&ends) {
        Measure::Completion
    } else if any(&|traffic| traffic.deadline().is_some()) {
        Measure::Late
    } else if !tcp && any(&|traffic| matches!(traffic, Traffic::Coap(_))) {
        Measure::Exchange
    } else {
        Measure::Goodput
    }
}

/// True if the traffic completes.
pub fn ends(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::Bulk { bytes: Some(_) } | Traffic::RequestResponse { .. })
}

/// The remedy if no candidate has a mean.
fn remedy(measure: Measure) -> &'static str {
    match measure {
        Measure::Latency | Measure::Exchange => {
            "each candidate loses too many messages on some network; choose by `--aim late`, or reduce the loss"
        }
        _ => "increase `duration`, or reduce the traffic",
    }
}

/// Timers of CoAP: the known timers, and the standard timer with an initial timeout that fits the RTT.
fn timers(scenario: &Scenario) -> Vec<String> {
    let early = outlook::early_timeouts(scenario).unwrap_or_default();
    let enough = early.iter().filter(|e| e.coap).map(|e| e.enough()).max();
    let fitting = enough.map(|span| format!("coap:initial={}", Duration(span)));
    ["coap", "cocoa", "cocoa+", "fasor"].into_iter().map(str::to_owned).chain(fitting).collect()
}

impl Choice {
    /// A choice among a comparison's candidates, on networks that `spread` draws around the comparison's network.
    ///
    /// # Errors
    ///
    /// The spread is invalid, or the number of networks is too small.
    pub fn new(
        question: Question,
        spread: Spread,
        left_out: Vec<(String, String)>,
    ) -> Result<Choice, Error> {
        spread::check(&spread, &question.scenario).map_err(Error::Input)?;
        if question.seeds < LEAST_NETWORKS {
            let n = question.seeds;
            return Err(Error::Input(format!(
                "{n} networks are too few for advice; expected {LEAST_NETWORKS} or more"
            )));
        }
        Ok(Choice { question: Question { harm: false, ..question }, spread, left_out })
    }

    /// All runs that the advice needs.
    pub fn tasks(&self) -> Vec<Task> {
        self.question.tasks().into_iter().map(|task| self.spread.drawn(task)).collect()
    }

    /// The advice from the runs of [`Choice::tasks`].
    ///
    /// # Errors
    ///
    /// The measure has no value on this network, or no candidate has a value on every draw.
    pub fn advice(&self, records: &[RunRecord]) -> Result<Advice, Error> {
        let findings = self.question.answer(records);
        let measure = self.question.measure;
        let name = measure.name();
        let ranking = findings.rankings.iter().find(|r| r.measure == measure).ok_or_else(|| {
            Error::Input(format!("this network has no {name}; choose another aim"))
        })?;
        let best = ranking.entries.first().filter(|e| e.mean.is_some()).ok_or_else(|| {
            Error::Input(format!("no candidate has a {name} on every network; {}", remedy(measure)))
        })?;
        let label = |a: usize| self.question.candidates[a].label.clone();
        let cannot_tell = |e: &&Entry| {
            let outcome = e.versus.as_ref().map(|v| v.outcome);
            matches!(outcome, Some(Outcome::Tie | Outcome::Identical | Outcome::Unknown))
        };
        let untold: Vec<String> =
            ranking.entries.iter().filter(cannot_tell).map(|e| label(e.algorithm)).collect();
        let turns = self.turns(records, best.algorithm);
        let same = |e: &Entry| e.versus.as_ref().is_some_and(|v| v.outcome == Outcome::Identical);
        let identical = ranking.entries.len() > 1
            && ranking.entries.iter().all(|e| e.algorithm == best.algorithm || same(e));
        let sentences = match identical {
            true => alike::sentences(&self.question, ranking, &findings),
            false => [
                self.what(ranking, best),
                self.by_how_much(ranking, &untold),
                self.why(&findings, best, ranking),
            ],
        };
        let advised = identical.then(|| alike::best(ranking, &findings)).flatten();
        let algorithm = label(advised.unwrap_or(best.algorithm));
        let (alike, decided) = (untold.clone(), untold.is_empty());
        let advised = advised.unwrap_or(best.algorithm);
        let warnings = self.fewer_arrive(records, advised).into_iter().collect();
        Ok(Advice { algorithm, alike, decided, identical, sentences, warnings, turns, findings })
    }

    /// A warning if fewer messages arrive with this candidate than with another.
    fn fewer_arrive(&self, records: &[RunRecord], advised: usize) -> Option<String> {
        let arrived = |a: usize| -> Option<f64> {
            let runs = self.question.runs_of(records, a);
            let messages = runs.iter().flat_map(|r| &r.flows).filter_map(|f| f.messages.as_ref());
            let total: Vec<u64> = messages.map(|m| m.arrived).collect();
            (!total.is_empty()).then(|| total.iter().sum::<u64>() as f64 / runs.len() as f64)
        };
        let ours = arrived(advised)?;
        let others = (0..self.question.candidates.len()).filter_map(|a| Some((arrived(a)?, a)));
        let (most, other) = others.max_by(|a, b| a.0.total_cmp(&b.0))?;
        // Less than a thousandth is the end of the run.
        (ours < most * 0.999).then(|| {
            let label = |a: usize| self.question.candidates[a].label.as_str();
            format!(
                "fewer messages arrive with {}: {} per run, and {} with {}; compare by `--aim late` too",
                label(advised),
                number(ours),
                number(most),
                label(other)
            )
        })
    }

    fn what(&self, ranking: &Ranking, best: &Entry) -> String {
        let candidate = &self.question.candidates[best.algorithm];
        let label = &candidate.label;
        let (n, of) = (self.question.seeds, ranking.entries.len());
        let mean = shown(best.mean.unwrap_or(f64::NAN), best.ci95);
        let name = ranking.measure.name();
        let verb = match candidate.setting {
            Some(_) if label == AS_GIVEN => "Leave the scenario",
            Some(_) => "Set",
            None => "Run",
        };
        format!(
            "{verb} {label}: its mean {name} over {n} networks is {mean}, the best of {of} candidates."
        )
    }

    fn by_how_much(&self, ranking: &Ranking, alike: &[String]) -> String {
        let named = match alike {
            [] => String::new(),
            [one] => format!("{one} is not significantly worse"),
            [first @ .., last] if first.len() < 5 => {
                format!("{} and {last} are not significantly worse", first.join(", "))
            }
            all => format!(
                "{} and {} others are not significantly worse",
                all[..4].join(", "),
                all.len() - 4
            ),
        };
        let apart = |e: &&Entry| e.versus.as_ref().is_some_and(|v| v.outcome == Outcome::Worse);
        let next = ranking.entries.iter().find(apart).and_then(|e| {
            let versus = e.versus.as_ref()?;
            let by = shown(versus.difference, versus.ci);
            let label = &self.question.candidates[e.algorithm].label;
            Some(format!("The next, {label}, is significantly worse: the difference is {by}"))
        });
        match (named.is_empty(), next) {
            (true, Some(next)) => format!("{next}."),
            (false, Some(next)) => format!("{named}. {next}."),
            (false, None) => format!("{named}."),
            (true, None) => "No other candidate has a value on every network.".to_owned(),
        }
    }

    /// The other measure in which the best candidate has the largest relative advantage over the worst candidate with a
    /// value.
    fn why(&self, findings: &Findings, best: &Entry, ranking: &Ranking) -> String {
        let worst = ranking.entries.iter().rev().find(|e| e.mean.is_some());
        let Some(worst) = worst.filter(|w| w.algorithm != best.algorithm) else {
            return "No other candidate has a value to compare with.".to_owned();
        };
        let mean = |r: &Ranking, a: usize| r.entries.iter().find(|e| e.algorithm == a)?.mean;
        let gain = |r: &&Ranking| -> Option<(f64, f64, f64)> {
            let (ours, theirs) = (mean(r, best.algorithm)?, mean(r, worst.algorithm)?);
            let [good, bad] =
                if r.measure.more_is_better() { [theirs, ours] } else { [ours, theirs] };
            let gain = (bad - good) / bad.abs().max(good.abs());
            Some((gain, ours, theirs)).filter(|(g, ..)| *g > 0.0)
        };
        let others = findings.rankings.iter().filter(|r| r.measure != ranking.measure);
        let most = others
            .filter_map(|r| Some((r.measure, gain(&r)?)))
            .max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        let labels = [best, worst].map(|e| &self.question.candidates[e.algorithm].label);
        match most {
            Some((measure, (_, ours, theirs))) => format!(
                "Largest advantage in another measure: its {} is {}; {}, the last in rank, has {}.",
                measure.name(),
                number(ours),
                labels[1],
                number(theirs)
            ),
            None => format!("It is better than {} in no other measure.", labels[1]),
        }
    }

    /// Networks on which another candidate is significantly better: the best such candidate in each third of the draws.
    fn turns(&self, records: &[RunRecord], best: usize) -> Vec<Turn> {
        let n = self.question.candidates.len();
        let values: Vec<Vec<f64>> = (0..n).map(|a| self.question.values(records, a)).collect();
        let seeds: Vec<u64> = self.tasks_of_one().map(|t| t.seed).collect();
        let sign = if self.question.measure.more_is_better() { 1.0 } else { -1.0 };
        let mut asked = Vec::new();
        for property in Property::ALL {
            if !self.spread.varies(property, &self.question.scenario) {
                continue;
            }
            let mut order: Vec<usize> = (0..seeds.len()).collect();
            let factor = |i: usize| self.spread.factor(property, seeds[i]);
            order.sort_by(|a, b| factor(*a).total_cmp(&factor(*b)));
            let third = seeds.len() / 3;
            let low = order[..third].to_vec();
            let high = order[seeds.len() - third..].to_vec();
            for (much, third) in [(false, low), (true, high)] {
                let bound = third.iter().map(|i| factor(*i));
                let bound = if much {
                    bound.fold(f64::INFINITY, f64::min)
                } else {
                    bound.fold(0.0, f64::max)
                };
                let of = |a: usize| -> Vec<f64> { third.iter().map(|i| values[a][*i]).collect() };
                for a in (0..n).filter(|a| *a != best && values[*a].len() == seeds.len()) {
                    let Some(d) = differences(&of(a), &of(best)) else { continue };
                    if let Some(test) = t_test(&d, CONFIDENCE) {
                        asked.push((property, much, bound, a, d, test));
                    }
                }
            }
        }
        let p: Vec<f64> = asked.iter().map(|(.., test)| test.p).collect();
        let mut turns: Vec<Turn> = Vec::new();
        for ((property, much, factor, a, d, _), holm) in asked.iter().zip(holm(&p, ALPHA)) {
            let Some(test) = t_test(d, holm.confidence).filter(|_| holm.rejected) else { continue };
            if sign * test.mean <= 0.0 {
                continue;
            }
            let turn = Turn {
                property: *property,
                much: *much,
                factor: *factor,
                algorithm: self.question.candidates[*a].label.clone(),
                difference: test.mean,
                ci95: test.ci,
            };
            let here = turns.iter_mut().find(|t| (t.property, t.much) == (*property, *much));
            match here {
                Some(there) if sign * there.difference >= sign * turn.difference => {}
                Some(there) => *there = turn,
                None => turns.push(turn),
            }
        }
        turns
    }

    fn tasks_of_one(&self) -> impl Iterator<Item = Task> {
        let first = self.question.seeds as usize;
        self.question.tasks().into_iter().take(first)
    }
}

impl Turn {
    /// The turn as a sentence.
    pub fn sentence(&self, measure: Measure) -> String {
        let side = if self.much { "more" } else { "less" };
        format!(
            "If the {} is {side} than {} times the given value, {} is better: its {} differs by {}.",
            self.property.name(),
            number(self.factor),
            self.algorithm,
            measure.name(),
            shown(self.difference, Some(self.ci95)),
        )
    }
}

fn shown(value: f64, ci: Option<[f64; 2]>) -> String {
    match ci {
        Some([low, high]) if low < high => interval(value, low, high),
        _ => number(value),
    }
}

/// The advice for a terminal.
pub fn text(advice: &Advice, left_out: &[(String, String)]) -> String {
    let mut out = advice.sentences.join("\n") + "\n";
    for warning in &advice.warnings {
        out += &format!("Warning: {warning}.\n");
    }
    if advice.turns.is_empty() && !advice.identical {
        out += "The advice is the same over the tested ranges.\n";
    }
    for turn in &advice.turns {
        out += &(turn.sentence(advice.findings.measure) + "\n");
    }
    if !left_out.is_empty() {
        let each: Vec<String> = left_out.iter().map(|(a, why)| format!("{a} {why}")).collect();
        out += &format!("Left out: {}.\n", each.join("; "));
    }
    out
}
