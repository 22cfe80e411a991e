//! From evidence to verdicts.

use super::{Claim, Direction, Judgement, Metric, Quantity, Statistic, Verdict};
use crate::report::numbers::number;
use crate::run::RunRecord;
use crate::stats::Summary;
use std::collections::BTreeMap;

/// Fewer runs give an interval so wide that it would contain almost any figure; below this many a
/// claim is reproduced by its tolerance only.
pub const MIN_RUNS_FOR_INTERVAL: u64 = 6;

/// What the verdicts rest on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Runs of the paper's experiments.
    pub records: &'a [RunRecord],
    /// The paper's closed forms by name.
    pub models: &'a BTreeMap<String, f64>,
    /// Quantities read from traced runs by name.
    pub traces: &'a BTreeMap<String, f64>,
}

/// Judges every claim, in order. Missing evidence makes a claim *not comparable*, and the note
/// says what is missing.
pub fn judge(claims: &[Claim], evidence: &Evidence) -> Vec<Judgement> {
    claims.iter().map(|c| evidence.judge(c)).collect()
}

/// A quantity, evaluated.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Arithmetic: no run behind it.
    Exact(f64),
    /// One traced run.
    Traced(f64),
    /// One value a seed.
    Runs(BTreeMap<u64, f64>),
}

/// A quantity, summed up over the runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    value: f64,
    ci95: Option<[f64; 2]>,
    n: u64,
}

impl Evidence<'_> {
    fn judge(&self, claim: &Claim) -> Judgement {
        let (measured, verdict, why) = match self.decide(claim) {
            Ok((measured, verdict, why)) => (measured, verdict, why),
            Err(missing) => (None, Verdict::NotComparable, missing),
        };
        let finite = |v: &f64| v.is_finite();
        let reasons = [why, reason(claim), claim.note.trim().to_owned()];
        Judgement {
            id: claim.id.clone(),
            source: claim.source.clone(),
            quantity: claim.quantity.clone(),
            unit: claim.unit.clone(),
            paper: claim.paper,
            measured: measured.map(|m| m.value).filter(finite),
            ci95: measured.and_then(|m| m.ci95).filter(|ci| ci.iter().all(finite)),
            n: measured.map_or(0, |m| m.n),
            verdict,
            note: reasons.iter().filter(|r| !r.is_empty()).cloned().collect::<Vec<_>>().join(" "),
        }
    }

    fn decide(&self, claim: &Claim) -> Result<(Option<Measured>, Verdict, String), String> {
        let value = claim.measure.as_ref().map(|q| self.value(q)).transpose();
        if let Some(reason) = &claim.not_comparable {
            let measured = value.ok().flatten().map(|v| v.sum_up(claim.statistic)).transpose()?;
            return Ok((measured, Verdict::NotComparable, reason.clone()));
        }
        let value = value?.ok_or("The claim has no measure.")?;
        let measured = value.sum_up(claim.statistic)?;
        let target = claim.compare_with.as_ref().map(|c| c.value).or(claim.paper);
        let same = target.zip(claim.tolerance.as_ref()).and_then(|(target, tolerance)| {
            let allowed = tolerance.absolute.unwrap_or_default()
                + tolerance.relative.unwrap_or_default() * target.abs();
            measured.agrees_with(target, allowed)
        });
        if let Some(why) = same {
            return Ok((Some(measured), Verdict::Reproduced, why));
        }
        let Some(direction) = &claim.direction else {
            return Ok((Some(measured), Verdict::Contradicted, measured.apart(target)));
        };
        let (holds, why) = self.holds(&value, direction, claim.statistic)?;
        let verdict = match (holds, claim.tolerance.is_some()) {
            (true, true) => Verdict::SameDirection,
            (true, false) if claim.paper.is_none() => Verdict::Reproduced,
            (true, false) => Verdict::SameDirection,
            (false, _) => Verdict::Contradicted,
        };
        let apart = claim.tolerance.as_ref().map(|_| measured.apart(target));
        let text = apart.into_iter().chain([why]).collect::<Vec<_>>().join(" ");
        Ok((Some(measured), verdict, text))
    }

    /// Whether the measure lies on the right side of the baseline, and in words how far.
    fn holds(
        &self,
        value: &Value,
        direction: &Direction,
        statistic: Statistic,
    ) -> Result<(bool, String), String> {
        let baseline = self.value(direction.baseline())?;
        let difference = value.combine(&baseline, |a, b| a - b)?.sum_up(statistic)?;
        let baseline = baseline.sum_up(statistic)?;
        let (sign, words) = match direction {
            Direction::GreaterThan(_) => (1.0, "greater than"),
            Direction::LessThan(_) => (-1.0, "less than"),
        };
        let clear = difference.interval().is_none_or(|[low, high]| low * high > 0.0);
        let holds = difference.value * sign > 0.0 && clear;
        let is = if holds { "It is" } else { "It is not" };
        let chance = if difference.value * sign > 0.0 && !clear { " beyond chance" } else { "" };
        Ok((holds, format!("{is} {words} {}{chance}.", number(baseline.value))))
    }

    fn value(&self, quantity: &Quantity) -> Result<Value, String> {
        let pair = |pair: &[Quantity; 2], f: fn(f64, f64) -> f64| {
            self.value(&pair[0])?.combine(&self.value(&pair[1])?, f)
        };
        match quantity {
            Quantity::Constant(v) => Ok(Value::Exact(*v)),
            Quantity::Model(name) => {
                let value = self.models.get(name);
                value.map(|v| Value::Exact(*v)).ok_or(format!("There is no closed form `{name}`."))
            }
            Quantity::Trace(name) => {
                let value = self.traces.get(name);
                value.map(|v| Value::Traced(*v)).ok_or(format!("No traced run yields `{name}`."))
            }
            Quantity::Metric(at) => {
                let (experiment, point) = at.place().unwrap_or((&at.at, ""));
                self.runs(&Metric::parse(&at.path)?, experiment, point)
            }
            Quantity::Difference(p) => pair(p, |a, b| a - b),
            Quantity::Ratio(p) => pair(p, |a, b| a / b),
            Quantity::PercentChange(p) => pair(p, |a, b| (a - b) / b * 100.0),
            Quantity::Mean(all) => {
                let sum = self.fold(all, |a, b| a + b)?;
                sum.combine(&Value::Exact(all.len() as f64), |sum, n| sum / n)
            }
            Quantity::Largest(all) => self.fold(all, f64::max),
            Quantity::Least(all) => self.fold(all, f64::min),
            Quantity::Trend(all) => self.trend(all),
        }
    }

    /// Kendall's rank correlation with the order, run by run.
    fn trend(&self, all: &[Quantity]) -> Result<Value, String> {
        let values: Vec<Value> = all.iter().map(|q| self.value(q)).collect::<Result<_, _>>()?;
        let (mut sum, mut pairs) = (Value::Exact(0.0), 0.0);
        for (i, before) in values.iter().enumerate() {
            for after in &values[i + 1..] {
                let rises = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
                sum = sum.combine(&before.combine(after, rises)?, |sum, rise| sum + rise)?;
                pairs += 1.0;
            }
        }
        sum.combine(&Value::Exact(pairs), |sum, pairs| sum / pairs)
    }

    /// One value of several, run by run.
    fn fold(&self, all: &[Quantity], f: fn(f64, f64) -> f64) -> Result<Value, String> {
        let (first, rest) = all.split_first().ok_or("There is nothing to take this of.")?;
        rest.iter().try_fold(self.value(first)?, |so_far, q| so_far.combine(&self.value(q)?, f))
    }

    fn runs(&self, metric: &Metric, experiment: &str, point: &str) -> Result<Value, String> {
        let here = |r: &&RunRecord| r.experiment == experiment && r.point == point;
        let runs: BTreeMap<u64, f64> = self
            .records
            .iter()
            .filter(here)
            .filter_map(|r| Some((r.seed, metric.of(r)?)))
            .collect();
        if runs.is_empty() {
            return Err(format!("There is no run of {experiment}/{point} with this metric."));
        }
        Ok(Value::Runs(runs))
    }
}

impl Value {
    /// Run by run; runs are matched by seed, a single value goes with every run.
    fn combine(&self, other: &Value, f: impl Fn(f64, f64) -> f64) -> Result<Value, String> {
        use Value::{Exact, Runs, Traced};
        Ok(match (self, other) {
            (Exact(a), Exact(b)) => Exact(f(*a, *b)),
            (Exact(a) | Traced(a), Exact(b) | Traced(b)) => Traced(f(*a, *b)),
            (Runs(a), Exact(b) | Traced(b)) => {
                Runs(a.iter().map(|(seed, a)| (*seed, f(*a, *b))).collect())
            }
            (Exact(a) | Traced(a), Runs(b)) => {
                Runs(b.iter().map(|(seed, b)| (*seed, f(*a, *b))).collect())
            }
            (Runs(a), Runs(b)) => {
                let matched = |(seed, a): (&u64, &f64)| Some((*seed, f(*a, *b.get(seed)?)));
                let both: BTreeMap<u64, f64> = a.iter().filter_map(matched).collect();
                if both.is_empty() {
                    return Err("The two points have no seed in common.".to_owned());
                }
                Runs(both)
            }
        })
    }

    fn sum_up(&self, statistic: Statistic) -> Result<Measured, String> {
        let runs = match self {
            Value::Exact(value) => return Ok(Measured { value: *value, ci95: None, n: 0 }),
            Value::Traced(value) => return Ok(Measured { value: *value, ci95: None, n: 1 }),
            Value::Runs(runs) => runs,
        };
        let values: Vec<f64> = runs.values().copied().collect();
        let summary = Summary::of(&values)
            .ok_or("A run on either side did not finish, so they cannot be compared.")?;
        let (value, ci95) = match statistic {
            Statistic::Median => (summary.median, summary.ci95_median),
            Statistic::Mean => (summary.mean, summary.ci95_mean),
            Statistic::Min => (summary.min, None),
            Statistic::Max => (summary.max, None),
        };
        Ok(Measured { value, ci95, n: summary.n })
    }
}

impl Measured {
    /// The interval, if enough runs stand behind it.
    fn interval(&self) -> Option<[f64; 2]> {
        self.ci95.filter(|_| self.n >= MIN_RUNS_FOR_INTERVAL)
    }

    /// Why `target` agrees with this, if it does.
    fn agrees_with(&self, target: f64, allowed: f64) -> Option<String> {
        let rounding = 1e-9 * target.abs();
        if (self.value - target).abs() <= allowed + rounding {
            return Some(format!("Within ±{} of {}.", number(allowed), number(target)));
        }
        let inside = self.interval().is_some_and(|[low, high]| low <= target && target <= high);
        inside.then(|| format!("{} lies inside our 95 % interval.", number(target)))
    }

    fn apart(&self, target: Option<f64>) -> String {
        let ours = number(self.value);
        match (target, self.n) {
            (Some(target), 0) => {
                format!("Recomputed: {ours} against {}.", number(target))
            }
            (Some(target), _) => format!("Ours is {ours} against {}.", number(target)),
            (None, _) => format!("Ours is {ours}."),
        }
    }
}

fn reason(claim: &Claim) -> String {
    let Some(corrected) = &claim.compare_with else { return String::new() };
    let printed = claim.paper.map(|p| format!("printed {}: ", number(p))).unwrap_or_default();
    let value = number(corrected.value);
    format!("Compared with {value} ({printed}{}).", corrected.reason.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;
    use crate::claims::parse;

    fn records() -> Vec<RunRecord> {
        let mut all = Vec::new();
        for seed in 1..=20 {
            let s = seed as f64;
            all.push(run("e", "slow", seed, 20.0 + s));
            all.push(run("e", "fast", seed, 10.0 + s));
            // Alternates about `fast`: no effect beyond chance.
            all.push(run("e", "same", seed, 10.0 + s + if seed % 2 == 0 { 1.0 } else { -1.0 }));
            all.push(run("e", "stuck", seed, if seed < 5 { s } else { f64::INFINITY }));
        }
        for seed in 1..=3 {
            all.push(run("e", "few", seed, seed as f64));
        }
        all
    }

    fn judged(body: &str) -> Judgement {
        let text = format!("[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{body}");
        let claims = parse(&text, "claims.toml").unwrap_or_else(|e| panic!("{e}"));
        let models = BTreeMap::from([("eq".to_owned(), 45.662)]);
        let traces = BTreeMap::from([("dup".to_owned(), 3.0)]);
        let records = records();
        judge(&claims, &Evidence { records: &records, models: &models, traces: &traces }).remove(0)
    }

    fn metric(point: &str) -> String {
        format!("{{ metric = {{ path = 'flow.f.completion_s', at = 'e/{point}' }} }}")
    }

    #[test]
    fn a_value_within_the_tolerance_is_reproduced() {
        let j = judged(&format!(
            "paper = 28.0\nmeasure = {}\ntolerance = {{ relative = 0.1, reason = 'r' }}",
            metric("slow")
        ));
        assert_eq!((j.verdict, j.measured, j.n), (Verdict::Reproduced, Some(30.5), 20));
        assert_eq!(j.ci95, Some([26.0, 35.0]));
        assert_eq!(j.note, "Within ±2.8 of 28.");
    }

    #[test]
    fn a_value_inside_the_interval_is_reproduced_when_enough_runs_stand_behind_it() {
        let tight = "tolerance = { absolute = 0.0, reason = 'r' }";
        let j = judged(&format!("paper = 34.0\nmeasure = {}\n{tight}", metric("slow")));
        assert_eq!(j.verdict, Verdict::Reproduced);
        let few = format!("paper = 2.5\nstatistic = 'mean'\nmeasure = {}\n{tight}", metric("few"));
        let j = judged(&few);
        assert!(j.ci95.unwrap()[1] > 2.5, "the wide interval would contain it");
        assert_eq!((j.verdict, j.n), (Verdict::Contradicted, 3));
    }

    #[test]
    fn a_wrong_size_in_the_right_direction_is_same_direction() {
        let body = |other: &str, word: &str| {
            format!(
                "paper = 99.0\nmeasure = {}\ntolerance = {{ relative = 0.1, reason = 'r' }}\n\
                 direction = {{ {word} = {} }}",
                metric("slow"),
                metric(other)
            )
        };
        assert_eq!(judged(&body("fast", "greater_than")).verdict, Verdict::SameDirection);
        assert_eq!(judged(&body("fast", "less_than")).verdict, Verdict::Contradicted);
    }

    #[test]
    fn a_trend_counts_the_pairs_that_rise_less_those_that_fall() {
        let of = |points: [&str; 3]| {
            let all = points.map(metric).join(", ");
            judged(&format!(
                "measure = {{ trend = [{all}] }}\ndirection = {{ greater_than = {{ constant = 0.0 }} }}"
            ))
        };
        assert_eq!(of(["few", "fast", "slow"]).measured, Some(1.0));
        assert_eq!(of(["fast", "slow", "fast"]).measured, Some(0.0));
        assert_eq!(of(["slow", "fast", "few"]).verdict, Verdict::Contradicted);
    }

    #[test]
    fn an_effect_within_chance_is_contradicted() {
        let j = judged(&format!(
            "measure = {}\ndirection = {{ greater_than = {} }}",
            metric("same"),
            metric("fast")
        ));
        assert_eq!(j.verdict, Verdict::Contradicted);
    }

    #[test]
    fn a_claim_without_a_figure_is_reproduced_by_its_direction() {
        let j = judged(&format!(
            "measure = {}\ndirection = {{ greater_than = {} }}",
            metric("slow"),
            metric("fast")
        ));
        assert_eq!((j.verdict, j.paper), (Verdict::Reproduced, None));
    }

    #[test]
    fn pairs_by_seed_give_the_exact_difference() {
        for (operation, expected) in [("difference", 10.0), ("ratio", 30.5 / 20.5)] {
            let j = judged(&format!(
                "paper = {expected}\nmeasure = {{ {operation} = [{}, {}] }}\n\
                 tolerance = {{ relative = 0.05, reason = 'r' }}",
                metric("slow"),
                metric("fast")
            ));
            assert_eq!((j.verdict, j.n), (Verdict::Reproduced, 20), "{operation}");
        }
        let j = judged(&format!(
            "paper = 10\nmeasure = {{ difference = [{}, {}] }}\n\
             tolerance = {{ absolute = 0.0, reason = 'r' }}",
            metric("slow"),
            metric("fast")
        ));
        assert_eq!((j.measured, j.ci95), (Some(10.0), Some([10.0, 10.0])));
    }

    #[test]
    fn arithmetic_has_no_runs_and_a_slip_is_contradicted_with_the_right_value() {
        let slip = |paper: f64| {
            judged(&format!(
                "paper = {paper}\nmeasure = {{ model = 'eq' }}\n\
                 tolerance = {{ absolute = 0.005, reason = 'half a unit of the last digit' }}"
            ))
        };
        assert_eq!((slip(45.66).verdict, slip(45.66).n), (Verdict::Reproduced, 0));
        let wrong = slip(46.66);
        assert_eq!((wrong.verdict, wrong.ci95), (Verdict::Contradicted, None));
        assert_eq!(wrong.note, "Recomputed: 45.662 against 46.66.");
    }

    #[test]
    fn a_corrected_value_is_what_counts_and_the_note_says_so() {
        let j = judged(
            "paper = 13.0\ncompare_with = { value = 3.0, reason = 'less 10' }\n\
             measure = { trace = 'dup' }\ntolerance = { absolute = 0.0, reason = 'r' }\nnote = 'N.'",
        );
        assert_eq!((j.verdict, j.paper, j.n), (Verdict::Reproduced, Some(13.0), 1));
        assert_eq!(j.note, "Within ±0 of 3. Compared with 3 (printed 13: less 10). N.");
    }

    #[test]
    fn unfinished_runs_count_as_later_than_any() {
        let j = judged(&format!(
            "measure = {}\ndirection = {{ greater_than = {} }}",
            metric("stuck"),
            metric("fast")
        ));
        assert_eq!((j.verdict, j.measured), (Verdict::Reproduced, None));
        assert!(serde_json::to_string(&j).unwrap().contains("\"measured\":null"));
    }

    #[test]
    fn not_comparable_keeps_the_measured_value_beside_its_reason() {
        let j = judged(&format!(
            "paper = 1.0\nmeasure = {}\nnot_comparable = 'Needs the testbed.'",
            metric("slow")
        ));
        assert_eq!((j.verdict, j.measured), (Verdict::NotComparable, Some(30.5)));
        assert_eq!(j.note, "Needs the testbed.");
    }

    #[test]
    fn missing_evidence_is_named() {
        for (measure, expected) in [
            (metric("nowhere"), "There is no run of e/nowhere with this metric."),
            ("{ model = 'eq99' }".to_owned(), "There is no closed form `eq99`."),
            ("{ trace = 'x' }".to_owned(), "No traced run yields `x`."),
        ] {
            let j = judged(&format!(
                "measure = {measure}\ndirection = {{ greater_than = {{ constant = 1.0 }} }}"
            ));
            assert_eq!((j.verdict, j.note.as_str()), (Verdict::NotComparable, expected));
        }
    }
}
