//! From evidence to verdicts.

use super::value::Missing;
use super::{Basis, Claim, Direction, Evidence, Judgement, Quantity, Statistic, Value, Verdict};
use crate::report::numbers::{interval, number};
use crate::stats::Summary;
use crate::stats::decision::{ALPHA, Decision, Location, Question, Runs, Sample};
use crate::stats::multiple::holm;
use std::collections::BTreeMap;

#[cfg(test)]
mod errors;
#[cfg(test)]
mod tests;

/// Judges every claim, in order.
///
/// Measured statements are decided as one family (Holm), so that of all a paper states hardly one is decided wrongly by
/// chance; those whose runs are still to come belong to it. Claims of one statement share its level.
pub fn judge(claims: &[Claim], evidence: &Evidence) -> Vec<Judgement> {
    let cases: Vec<Case> = claims.iter().map(|c| Case::new(c, evidence)).collect();
    let levels = levels(&cases);
    cases.iter().map(|case| case.judgement(levels.get(case.claim.statement()))).collect()
}

/// The level at which each measured statement is decided.
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

/// A claim with its evidence.
struct Case<'a> {
    claim: &'a Claim,
    measured: Option<Value>,
    asked: Result<Asked, Missing>,
}

/// What a claim asks of its evidence.
struct Asked {
    question: Question,
    size: Option<Size>,
    effect: Option<Effect>,
    runs: u64,
}

/// The figure that ours is compared with.
struct Size {
    target: f64,
    allowed: f64,
}

/// The direction that is asked for.
struct Effect {
    words: &'static str,
    sign: f64,
    baseline: f64,
    least: f64,
}

impl<'a> Case<'a> {
    fn new(claim: &'a Claim, evidence: &Evidence) -> Case<'a> {
        let measured = claim.measure.as_ref().map(|q| evidence.value(q)).transpose();
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

    fn judgement(&self, level: Option<&f64>) -> Judgement {
        let claim = self.claim;
        let (verdict, why) = match &self.asked {
            Ok(asked) => asked.answer(claim, *level.unwrap_or(&ALPHA)),
            Err(missing) => missing.clone(),
        };
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
            readings: None,
            decided_by: None,
            in_readings: Vec::new(),
            note: reasons.iter().filter(|r| !r.is_empty()).cloned().collect::<Vec<_>>().join(" "),
        }
    }

    /// Our value and its 95 % interval, runs without a value left out.
    fn summary(&self) -> (Option<f64>, Option<[f64; 2]>) {
        let runs = match &self.measured {
            None => return (None, None),
            Some(Value::Exact { value, .. }) => return (Some(*value), None),
            Some(runs) => runs.values(),
        };
        let told: Vec<f64> = runs.into_iter().filter(|v| !v.is_nan()).collect();
        match (Summary::of(&told), self.claim.statistic) {
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
            let asked = Effect::new(claim, direction, evidence)?;
            let baseline = evidence.value(direction.baseline())?;
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

    /// The verdict at a level, and why.
    fn answer(&self, claim: &Claim, level: f64) -> (Verdict, String) {
        let verdict = match self.question.decide(level) {
            // A figure without a tolerance is there to be seen: its size is not asked for.
            Decision::Agrees if claim.paper.is_some() && self.size.is_none() => {
                Verdict::SameDirection
            }
            Decision::Agrees => Verdict::Reproduced,
            Decision::DirectionOnly => Verdict::SameDirection,
            Decision::Contradicted => Verdict::Contradicted,
            Decision::Open => Verdict::Undecided,
        };
        let words = [
            self.size_in_words(claim, level),
            self.effect_in_words(level),
            if verdict == Verdict::Undecided { self.runs_in_words(level) } else { String::new() },
        ];
        let words: Vec<String> = words.into_iter().filter(|w| !w.is_empty()).collect();
        (verdict, words.join(" "))
    }

    fn size_in_words(&self, claim: &Claim, level: f64) -> String {
        let Some((size, (sample, _))) = self.size.as_ref().zip(self.question.size.as_ref()) else {
            return String::new();
        };
        let begin = if claim.basis() == Basis::Arithmetic { "Recomputed:" } else { "Ours is" };
        let (ours, target) = (shown(sample, 1.0, level), number(size.target));
        format!("{begin} {ours} against {target} ± {}.", number(size.allowed))
    }

    fn effect_in_words(&self, level: f64) -> String {
        let Some((effect, asked)) = self.effect.as_ref().zip(self.question.effect.clone()) else {
            return String::new();
        };
        let by = shown(&asked.0, effect.sign, level);
        let (words, baseline) = (effect.words, number(effect.baseline));
        let least = match effect.least {
            least if least > 0.0 => format!(" by {} or more", number(least)),
            _ => String::new(),
        };
        let begin = match (Question { size: None, effect: Some(asked) }).decide(level) {
            Decision::Agrees => format!("It is {words} {baseline}{least}"),
            Decision::Open => format!("Whether it is {words} {baseline}{least} is open"),
            _ => format!("It is not {words} {baseline}{least}"),
        };
        format!("{begin}: the difference is {by}.")
    }

    /// How many runs would decide it; what is decided alone and not among the others says so.
    fn runs_in_words(&self, level: f64) -> String {
        let alone = match self.question.decide(ALPHA) {
            Decision::Open => String::new(),
            _ => format!(
                "By itself it would be decided (p = {}); among all that the paper states it is not. ",
                number(self.question.p())
            ),
        };
        let wanted = match self.question.runs_wanted(level) {
            Some(wanted) if wanted > self.runs => format!("About {wanted} runs would decide it."),
            _ => "It is too close to the edge for any number of runs to decide it.".to_owned(),
        };
        format!("{alone}{wanted}")
    }
}

impl Effect {
    /// # Errors
    ///
    /// A tie: nothing happened, on either side of the comparison, in any run. Nothing can be more or less than that.
    fn new(claim: &Claim, direction: &Direction, evidence: &Evidence) -> Result<Effect, Missing> {
        if let Some([a, b]) = sides(claim, direction) {
            let [a, b] = [evidence.value(a)?, evidence.value(b)?];
            if [&a, &b].iter().all(|v| v.values().iter().all(|v| *v == 0.0)) {
                let note = format!("A tie: both are 0 in each of {} runs.", a.n().max(b.n()));
                return Err((Verdict::Undecided, note));
            }
        }
        let baseline =
            sample(&evidence.value(direction.baseline())?, claim, f64::INFINITY)?.center();
        let (sign, words) = match direction {
            Direction::GreaterThan(_) => (1.0, "greater than"),
            Direction::LessThan(_) => (-1.0, "less than"),
        };
        // Arithmetic has no effects that are too small.
        let matters = claim.basis() != Basis::Arithmetic;
        let least = if matters { evidence.least.of(claim, baseline) } else { 0.0 };
        Ok(Effect { words, sign, baseline, least })
    }
}

/// What a direction compares, if it is two quantities of runs: a difference against zero and a ratio against one
/// compare their parts.
fn sides<'a>(claim: &'a Claim, direction: &'a Direction) -> Option<[&'a Quantity; 2]> {
    let constant = |q: &Quantity| matches!(q, Quantity::Constant(_) | Quantity::Model(_));
    let sides = match (claim.measure.as_ref()?, direction.baseline()) {
        (Quantity::Difference(p) | Quantity::PercentChange(p), Quantity::Constant(0.0)) => {
            [&p[0], &p[1]]
        }
        (Quantity::Ratio(p), Quantity::Constant(1.0)) => [&p[0], &p[1]],
        (measure, baseline) => [measure, baseline],
    };
    (!sides.iter().any(|q| constant(q))).then_some(sides)
}

/// The values of a quantity for a decision; those that cannot be told count as `worst`.
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

/// A quantity with its interval, if chance has a part in it; its sign is turned back by `sign`.
fn shown(sample: &Sample, sign: f64, level: f64) -> String {
    let center = sign * sample.center();
    // A run without a value counts as the worst, which is infinite.
    if !center.is_finite() {
        return "without bound, as in some runs one side has no value".to_owned();
    }
    match (sample, sample.interval(level).map(|ends| ends.map(|end| sign * end))) {
        (Sample::Runs(_), Some([a, b])) if (a - b).abs() > 1e-9 * center.abs() => {
            let confidence = number(100.0 * (1.0 - 2.0 * level));
            format!("{} at {confidence} %", interval(center, a.min(b), a.max(b)))
        }
        _ => number(center),
    }
}

fn reason(claim: &Claim) -> String {
    let Some(corrected) = &claim.compare_with else { return String::new() };
    let printed = claim.paper.map(|p| format!("printed {}: ", number(p))).unwrap_or_default();
    let value = number(corrected.value);
    format!("Compared with {value} ({printed}{}).", corrected.reason.trim_end_matches('.'))
}
