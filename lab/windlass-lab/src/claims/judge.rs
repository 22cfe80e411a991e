//! Verdicts from the evidence.

use super::sides::{self, identical_runs, rivals};
use super::value::Missing;
use super::{Basis, Claim, Direction, Evidence, Judgement, Statistic, Value, Verdict};
use crate::report::numbers::{number, rounded, together};
use crate::stats::Summary;
use crate::stats::decision::{
    ALPHA, Decision, Location, MAX_RUNS, MIN_RUNS, Question, Runs, Sample,
};
use crate::stats::multiple::holm;
use std::collections::BTreeMap;

#[cfg(test)]
mod errors;
#[cfg(test)]
mod tests;

/// Judges every claim, in order.
///
/// All measured statements of a paper are one family (Holm): the probability that any of them is decided
/// wrongly is at most [`ALPHA`]. Statements without runs belong to the family too. Claims of one statement
/// share its level.
pub fn judge(claims: &[Claim], evidence: &Evidence) -> Vec<Judgement> {
    let cases: Vec<Case> = claims.iter().map(|c| Case::new(c, evidence)).collect();
    let levels = levels(&cases);
    let judged = |case: &Case| {
        let level = levels.get(case.claim.statement()).copied().unwrap_or(ALPHA);
        let sides = sides::told(case.claim, evidence);
        Judgement { sides, ..case.judgement(Terms { level, family: levels.len() }) }
    };
    cases.iter().map(judged).collect()
}

/// The error level of each measured statement.
fn levels<'a>(cases: &[Case<'a>]) -> BTreeMap<&'a str, f64> {
    let mut family: BTreeMap<&str, f64> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.claim.is_decided_by_runs()) {
        let p = case.asked.as_ref().map_or(1.0, |asked| asked.question.p());
        let statement = family.entry(case.claim.statement()).or_insert(p);
        *statement = statement.max(p);
    }
    let p: Vec<f64> = family.values().copied().collect();
    let level = |h: crate::stats::multiple::Holm| 1.0 - h.confidence;
    family.into_keys().zip(holm(&p, ALPHA).into_iter().map(level)).collect()
}

/// Level and family size for the decision of a claim.
#[derive(Clone, Copy)]
struct Terms {
    /// Error level of each end of the interval.
    level: f64,
    /// Number of statements that runs decide.
    family: usize,
}

/// A claim with its evidence.
struct Case<'a> {
    claim: &'a Claim,
    measured: Option<Value>,
    asked: Result<Asked, Missing>,
}

/// The statistical question of a claim, with the values for its note.
struct Asked {
    question: Question,
    size: Option<Size>,
    effect: Option<Effect>,
    runs: u64,
}

/// The value that the measured value is compared with, and the tolerance.
struct Size {
    target: f64,
    allowed: f64,
}

/// The claimed direction.
struct Effect {
    sign: f64,
    baseline: f64,
    least: f64,
}

impl<'a> Case<'a> {
    fn new(claim: &'a Claim, evidence: &Evidence) -> Case<'a> {
        let measured = claim.measure.as_ref().map(|q| evidence.value(q)).transpose();
        let baseline = claim.direction.as_ref().map(|d| evidence.value(d.baseline()));
        let measured = match (measured, baseline) {
            // The value that is shown is of the pairs that are compared.
            (Ok(Some(value)), Some(Ok(baseline))) => value.combine(&baseline, |a, _| a).map(Some),
            (measured, _) => measured,
        };
        let asked = match (&claim.not_comparable, &measured) {
            (Some(reason), _) => Err((Verdict::NotComparable, reason.clone())),
            (None, Err(missing)) => Err(missing.clone()),
            (None, Ok(None)) => {
                Err((Verdict::NotComparable, "The claim has no measure.".to_owned()))
            }
            (None, Ok(Some(value))) => Asked::new(claim, value, evidence),
        };
        Case { claim, measured: measured.ok().flatten(), asked }
    }

    fn judgement(&self, terms: Terms) -> Judgement {
        let claim = self.claim;
        let (verdict, why, open) = match &self.asked {
            Ok(asked) => asked.answer(claim, terms),
            Err((verdict, why)) => (*verdict, why.clone(), why.clone()),
        };
        let open = if verdict == Verdict::Undecided { open } else { String::new() };
        let (measured, ci95) = self.summary();
        let finite = |v: &f64| v.is_finite();
        let reasons = [why, reason(claim), claim.note.trim().to_owned()];
        Judgement {
            id: claim.id.clone(),
            source: claim.source.clone(),
            quantity: claim.quantity.clone(),
            kind: claim.basis(),
            statement: claim.statement().to_owned(),
            unit: claim.unit.clone(),
            paper: claim.paper,
            measured: measured.filter(finite),
            ci95: ci95.filter(|ci| ci.iter().all(finite)),
            n: self.measured.as_ref().map_or(0, Value::n),
            verdict,
            statement_verdict: verdict,
            readings: None,
            decided_by: None,
            in_readings: Vec::new(),
            sides: Vec::new(),
            open,
            needs: self.asked.as_ref().map_or(String::new(), |asked| asked.needs(claim)),
            note: reasons.iter().filter(|r| !r.is_empty()).cloned().collect::<Vec<_>>().join(" "),
        }
    }

    /// The measured value and its 95 % interval, without the runs that have no value.
    fn summary(&self) -> (Option<f64>, Option<[f64; 2]>) {
        let runs = match &self.measured {
            None => return (None, None),
            Some(Value::Exact { value, .. }) => return (Some(*value), None),
            Some(runs) => runs.values(),
        };
        let known: Vec<f64> = runs.into_iter().filter(|v| !v.is_nan()).collect();
        match (Summary::of(&known), self.claim.statistic) {
            (None, _) => (None, None),
            (Some(s), Statistic::Median) => (Some(s.median), s.ci95_median),
            (Some(s), Statistic::Mean) => (Some(s.mean), s.ci95_mean),
        }
    }
}

impl Asked {
    fn new(claim: &Claim, value: &Value, evidence: &Evidence) -> Result<Asked, Missing> {
        let size = claim.target().zip(claim.tolerance.as_ref());
        let size = size.map(|(target, t)| Size { target, allowed: t.about(target) });
        let mut question = Question { size: None, effect: None };
        let (mut effect, mut runs) = (None, value.n());
        if let Some(direction) = &claim.direction {
            let baseline = value.combine(&evidence.value(direction.baseline())?, |_, b| b)?;
            let asked = Effect::new(claim, direction, &baseline, evidence)?;
            let difference = value.combine(&baseline, |a, b| asked.sign * (a - b))?;
            runs = difference.n();
            question.effect = Some((sample(&difference, claim, f64::NEG_INFINITY)?, asked.least));
            effect = Some(asked);
        }
        if let Some(size) = &size {
            let worst = effect.as_ref().map_or(f64::INFINITY, |e: &Effect| -e.sign * f64::INFINITY);
            let band = [size.target - size.allowed, size.target + size.allowed];
            question.size = Some((sample(value, claim, worst)?, band));
        }
        Ok(Asked { question, size, effect, runs })
    }

    /// The verdict on these terms, the note, and the number of runs that would decide an undecided claim.
    fn answer(&self, claim: &Claim, terms: Terms) -> (Verdict, String, String) {
        let verdict = match self.question.decide(terms.level) {
            // A published value without a tolerance is only shown. The claim has no criterion for the size.
            Decision::Agrees if claim.paper.is_some() && self.size.is_none() => {
                Verdict::SameDirection
            }
            Decision::Agrees => Verdict::Reproduced,
            Decision::DirectionOnly => Verdict::SameDirection,
            Decision::Contradicted => Verdict::Contradicted,
            Decision::Open => Verdict::Undecided,
        };
        let open =
            if verdict == Verdict::Undecided { self.runs_in_words(terms) } else { String::new() };
        let words = [
            format!("{}.", verdict.badge().heading()),
            self.size_in_words(claim, terms),
            self.effect_in_words(claim, terms),
            open.clone(),
        ];
        let words: Vec<String> = words.into_iter().filter(|w| !w.is_empty()).collect();
        (verdict, words.join(" "), open)
    }

    fn size_in_words(&self, claim: &Claim, terms: Terms) -> String {
        let Some((size, (sample, _))) = self.size.as_ref().zip(self.question.size.as_ref()) else {
            return String::new();
        };
        let begin = if claim.basis() == Basis::Arithmetic { "Recomputed" } else { "Measured" };
        let (value, target) = (self.shown(sample, 1.0, claim, terms), number(size.target));
        let unit = unit(claim);
        format!("{begin} {value}; the claim is {target}{unit} ± {}.", number(size.allowed))
    }

    fn effect_in_words(&self, claim: &Claim, terms: Terms) -> String {
        let Some((effect, asked)) = self.effect.as_ref().zip(self.question.effect.as_ref()) else {
            return String::new();
        };
        let measured = self.shown(&asked.0, effect.sign, claim, terms);
        let what = match effect.baseline {
            0.0 => "measured".to_owned(),
            baseline => {
                format!("the measured difference to {}{} is", number(baseline), unit(claim))
            }
        };
        format!("The claim holds {}; {what} {measured}.", self.needs(claim))
    }

    /// The values with which the claimed direction holds, such as `at 1.02 or more`; empty without a direction.
    fn needs(&self, claim: &Claim) -> String {
        let Some(effect) = &self.effect else { return String::new() };
        let edge = effect.baseline + effect.sign * effect.least;
        let plus = if effect.baseline == 0.0 && edge > 0.0 { "+" } else { "" };
        let edge = format!("{plus}{}{}", four_digits(edge), unit(claim));
        match (effect.least > 0.0, effect.sign > 0.0) {
            (true, true) => format!("at {edge} or more"),
            (true, false) => format!("at {edge} or less"),
            (false, true) => format!("above {edge}"),
            (false, false) => format!("below {edge}"),
        }
    }

    /// A quantity with its unit, interval and number of runs. `sign` restores the sign of the values.
    fn shown(&self, sample: &Sample, sign: f64, claim: &Claim, terms: Terms) -> String {
        let center = sign * sample.center();
        // A run without a value counts as the worst value, which is infinite.
        if !center.is_finite() {
            return "infinite, because some runs have no value".to_owned();
        }
        let unit = unit(claim);
        let ends = sample.interval(terms.level).map(|ends| ends.map(|end| sign * end));
        match (sample, ends) {
            (Sample::Runs(_), Some([a, b])) if (a - b).abs() > 1e-9 * center.abs() => {
                let confidence = rounded(100.0 * (1.0 - 2.0 * terms.level));
                let [value, low, high] = together([center, a.min(b), a.max(b)]);
                format!("{value}{unit} ({confidence} % CI {low} to {high}; {} runs)", self.runs)
            }
            _ => format!("{}{unit}", number(center)),
        }
    }

    /// The number of runs that would decide the claim, and a remark if the claim alone would be decided.
    fn runs_in_words(&self, terms: Terms) -> String {
        let alone = match self.question.decide(ALPHA) {
            Decision::Open => String::new(),
            _ => format!(
                "p = {} alone; not significant after Holm correction for {} statements. ",
                rounded(self.question.p()),
                terms.family
            ),
        };
        let Question { size, effect } = &self.question;
        let mut samples = size.iter().map(|(s, _)| s).chain(effect.iter().map(|(s, _)| s));
        let infinite = samples.any(|sample| !sample.center().is_finite());
        let wanted = match self.question.runs_wanted(terms.level) {
            Some(wanted) if self.runs < MIN_RUNS as u64 => {
                format!("At least {wanted} runs of each point are needed to decide it.")
            }
            Some(wanted) if wanted > self.runs => {
                format!("About {wanted} runs of each point would decide it.")
            }
            _ if infinite => {
                "The number of runs that would decide it is unknown, because the estimate is infinite.".to_owned()
            }
            _ => format!(
                "Compared with how much the runs vary, the estimate is so close to the edge of the claim that even {MAX_RUNS} runs like these would not decide it."
            ),
        };
        format!("{}{alone}{wanted}", self.open_part(terms))
    }

    /// The open one of two questions, if the other is decided for the claim.
    fn open_part(&self, terms: Terms) -> &'static str {
        let alone = |size: bool| {
            let question = Question {
                size: self.question.size.clone().filter(|_| size),
                effect: self.question.effect.clone().filter(|_| !size),
            };
            question.decide(terms.level) == Decision::Agrees
        };
        match (&self.question.size, &self.question.effect) {
            (Some(_), Some(_)) if alone(false) => "The direction holds; the size is open. ",
            (Some(_), Some(_)) if alone(true) => "The size agrees; the direction is open. ",
            _ => "",
        }
    }
}

/// A number with at most four significant digits.
fn four_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return number(value);
    }
    let scale = libm::exp10(3.0 - libm::floor(libm::log10(value.abs())));
    number(libm::round(value * scale) / scale)
}

/// The unit of a claim after a space, or an empty text.
fn unit(claim: &Claim) -> String {
    if claim.unit == "1" { String::new() } else { format!(" {}", claim.unit) }
}

impl Effect {
    /// # Errors
    ///
    /// A tie: both sides have identical packets, or in every run both values are 0 or neither side has a value.
    fn new(
        claim: &Claim,
        direction: &Direction,
        baseline: &Value,
        evidence: &Evidence,
    ) -> Result<Effect, Missing> {
        if let Some(sides) = rivals(claim) {
            if let Some(runs) = identical_runs(sides, evidence.records) {
                let note = format!(
                    "A tie: both sides have identical packets in all {runs} pairs of runs."
                );
                return Err((Verdict::Undecided, note));
            }
            let [a, b] = [evidence.value(sides[0])?, evidence.value(sides[1])?];
            let runs = a.n().max(b.n());
            let both =
                |alike: fn(f64) -> bool| [&a, &b].iter().all(|v| v.values().into_iter().all(alike));
            let tie = |note: String| Err((Verdict::Undecided, note));
            if both(|v| v == 0.0) {
                return tie(format!("A tie: both are 0 in each of {runs} runs."));
            }
            if both(|v| !v.is_finite()) {
                return tie(format!("A tie: neither side has a value in any of {runs} runs."));
            }
        }
        let baseline = sample(baseline, claim, f64::INFINITY)?.center();
        let sign = match direction {
            Direction::GreaterThan(_) => 1.0,
            Direction::LessThan(_) => -1.0,
        };
        // In arithmetic no effect is too small.
        let matters = claim.basis() != Basis::Arithmetic;
        let least = if matters { evidence.least.of(claim, baseline) } else { 0.0 };
        Ok(Effect { sign, baseline, least })
    }
}

/// The values of a quantity for a decision; missing values count as `worst`.
fn sample(value: &Value, claim: &Claim, worst: f64) -> Result<Sample, Missing> {
    let unknown = || {
        let note = "No run has a value on both sides.".to_owned();
        (Verdict::NotComparable, note)
    };
    if value.values().iter().all(|v| v.is_nan()) {
        return Err(unknown());
    }
    let location = match claim.statistic {
        Statistic::Median => Location::Median,
        Statistic::Mean => Location::Mean,
    };
    match value {
        Value::Exact { value, .. } => Ok(Sample::Exact(*value)),
        runs => {
            let told = |v: f64| if v.is_nan() { worst } else { v };
            let values = runs.values().into_iter().map(told).collect();
            Runs::of(values, location).map(Sample::Runs).ok_or_else(unknown)
        }
    }
}

fn reason(claim: &Claim) -> String {
    let Some(corrected) = &claim.compare_with else { return String::new() };
    let printed = claim.paper.map(|p| format!("printed {}: ", number(p))).unwrap_or_default();
    let value = number(corrected.value);
    format!("Compared with {value} ({printed}{}).", corrected.reason.trim_end_matches('.'))
}
