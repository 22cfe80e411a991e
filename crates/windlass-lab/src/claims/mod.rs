//! Claims of a paper in checkable form, and the verdicts on them.
//!
//! A paper's `claims.toml` lists them:
//!
//! ```toml
//! [[claim]]
//! id = "table4.p1"                      # unique
//! source = "Table 4"                    # where it stands
//! quantity = "Response time at 1 %"     # in words
//! unit = "s"
//! paper = 76.83                         # as printed; left out for a claim without a figure
//! compare_with = { value = 66.83, reason = "less the 10 s offset (RB-10)" }     # optional
//! measure = { metric = { path = "flow.download.completion_s", at = "download/p=1%" } }
//! statistic = "median"                  # median (default) | mean
//! tolerance = { relative = 0.1, reason = "two implementations" }      # or absolute
//! direction = { greater_than = { constant = 50.0 } }                  # or less_than
//! least_effect = { relative = 0.1, reason = "…" }                     # instead of the paper's
//! kind = "given"                        # measured and arithmetic are told apart by the measure
//! statement = "table 4 at 1 %"          # claims of one statement count as one; its own unless told
//! not_comparable = "needs the testbed"  # instead of a criterion
//! note = "…"
//! ```
//!
//! A **measure** is a metric at a point, a closed form (`{ model = "eq9" }`), a quantity read from
//! a traced run (`{ trace = "exchange.duplicates" }`), a constant, or the `difference`, `ratio` or
//! `percent_change` of two measures, or the `mean`, `largest`, `least` or `trend` of any number. Arithmetic is done run by run, matched by seed: all points
//! share their random numbers, so a paired difference is far sharper than one of medians.
//!
//! A claim is *measured* if it reads a run, *arithmetic* if it follows from the paper's own numbers, and *given* (`kind
//! = "given"`) if the scenario fixes what it says. Claims with the same `statement` are one printed statement of the
//! paper, and count once ([`headline`]).
//!
//! The **criteria** fix the verdict, by the rule of [`windlass_stats::decision`]: an interval inside the tolerance,
//! with a direction that holds, is *reproduced*; one apart from it is *contradicted*, or *same direction* if the
//! direction holds beyond chance; one across an edge is *undecided*. A direction holds if the paired difference is
//! beyond chance at least the least effect that matters (`least_effect` of `paper.toml`, or of the claim). The levels
//! of the intervals are those of Holm's procedure over the paper's measured statements.

#[cfg(test)]
pub(crate) mod fixtures;
mod judge;
mod metric;
mod sides;
mod value;
mod verdict;

use crate::experiment::FileError;
use crate::scenario::what_there_is;
use crate::template::Vars;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

pub use crate::run::fields::{Kind, jain_index};
pub use judge::judge;
pub(crate) use judge::together;
pub use metric::Metric;
pub(crate) use metric::matches;
pub use sides::Side;
pub(crate) use value::without_chance;
pub use value::{Evidence, Value};
pub use verdict::{
    Judgement, Share, Statement, Tally, Verdict, headline, json_schema, settle, statements, tally,
};

/// One statement of a paper in checkable form.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Identifier, unique within the paper.
    pub id: String,
    /// Where it stands: `Table 4`, `Section 5.2`.
    pub source: String,
    /// What is claimed, in words.
    pub quantity: String,
    /// Unit of the value.
    pub unit: String,
    /// The paper's value as printed; `None` for a claim that states only a direction.
    pub paper: Option<f64>,
    /// What ours is compared with when it is not the printed value itself.
    pub compare_with: Option<Corrected>,
    /// What is computed.
    pub measure: Option<Quantity>,
    /// How the runs are summed up.
    #[serde(default)]
    pub statistic: Statistic,
    /// How close counts as the same.
    pub tolerance: Option<Tolerance>,
    /// The comparison that must hold for the effect to point the paper's way.
    pub direction: Option<Direction>,
    /// The least difference from the baseline that matters, where it is not the paper's.
    pub least_effect: Option<Tolerance>,
    /// What it rests on, where the measure does not say.
    pub kind: Option<Basis>,
    /// The printed statement that it is part of, by any name that its other parts have too.
    pub statement: Option<String>,
    /// Why the claim cannot be decided here.
    pub not_comparable: Option<String>,
    /// Remark that goes with the verdict.
    #[serde(default)]
    pub note: String,
    /// Where in its file it stands, bytes.
    #[serde(skip)]
    pub span: std::ops::Range<usize>,
}

/// A printed value put right before it is compared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrected {
    /// The value to compare with, in the claim's unit.
    pub value: f64,
    /// Why.
    pub reason: String,
}

/// What is computed from the evidence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// A metric in every run of a point.
    Metric(At),
    /// A closed form of the paper, by name.
    Model(String),
    /// A quantity read from a traced run, by name.
    Trace(String),
    /// A number.
    Constant(f64),
    /// First less second.
    Difference(Box<[Quantity; 2]>),
    /// First over second.
    Ratio(Box<[Quantity; 2]>),
    /// First less second, over second, in per cent.
    PercentChange(Box<[Quantity; 2]>),
    /// The mean of all of them.
    Mean(Vec<Quantity>),
    /// The largest of them.
    Largest(Vec<Quantity>),
    /// The least of them.
    Least(Vec<Quantity>),
    /// Kendall's rank correlation of their values with their order: 1 if each is more than those before, −1 if less.
    Trend(Vec<Quantity>),
}

/// A metric and the point whose runs it is read from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Path of the metric.
    pub path: String,
    /// `experiment/point`.
    pub at: String,
}

impl At {
    /// Experiment and point.
    pub fn place(&self) -> Option<(&str, &str)> {
        self.at.split_once('/')
    }
}

impl Quantity {
    /// What it is taken of, if that is any number of quantities.
    fn several(&self) -> Option<&[Quantity]> {
        match self {
            Quantity::Mean(all)
            | Quantity::Largest(all)
            | Quantity::Least(all)
            | Quantity::Trend(all) => Some(all),
            _ => None,
        }
    }

    /// Calls `visit` with this quantity and every one inside it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Quantity)) {
        visit(self);
        if let Quantity::Difference(pair) | Quantity::Ratio(pair) | Quantity::PercentChange(pair) =
            self
        {
            pair.iter().for_each(|q| q.walk(visit));
        }
        if let Some(all) = self.several() {
            all.iter().for_each(|q| q.walk(visit));
        }
    }
}

/// How runs are summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Median, with the interval between two order statistics.
    #[default]
    Median,
    /// Mean, with Student's interval.
    Mean,
}

/// How close counts as the same. Fixed, with its reason, before the runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Fraction of the value compared with.
    pub relative: Option<f64>,
    /// In the claim's unit.
    pub absolute: Option<f64>,
    /// Why so much and no more.
    pub reason: String,
}

impl Tolerance {
    /// How far from a value it reaches.
    pub(crate) fn about(&self, value: f64) -> f64 {
        self.absolute.unwrap_or_default() + self.relative.unwrap_or_default() * value.abs()
    }

    fn check(&self, what: &str) -> Result<(), String> {
        let given = [self.relative, self.absolute];
        if given.iter().flatten().count() != 1 {
            return Err(format!("needs either a relative or an absolute {what}"));
        }
        if given.iter().flatten().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(format!("has a {what} that is not a finite number from zero up"));
        }
        Ok(())
    }
}

/// The least effect that matters in a paper's claims. Fixed, with its reason, before the runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeastEffect {
    /// Fraction of the baseline.
    pub relative: f64,
    /// By the claim's unit, in it, where a fraction of the baseline would not do.
    #[serde(default)]
    pub absolute: BTreeMap<String, f64>,
    /// Why so much.
    pub reason: String,
}

impl LeastEffect {
    /// What matters in a claim whose direction is compared with `baseline`: never more than half of what the paper
    /// itself found.
    fn of(&self, claim: &Claim, baseline: f64) -> f64 {
        let found = claim.target().map_or(f64::INFINITY, |target| (target - baseline).abs() / 2.0);
        let least = match (&claim.least_effect, self.absolute.get(&claim.unit)) {
            (Some(own), _) => own.about(baseline),
            (None, Some(absolute)) => *absolute,
            (None, None) => self.relative * baseline.abs(),
        };
        if least.is_finite() { least.min(found) } else { 0.0 }
    }

    /// That every number is finite and from zero up.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut all = self.absolute.values().chain([&self.relative]);
        if all.all(|v| v.is_finite() && *v >= 0.0) {
            return Ok(());
        }
        Err("`least_effect` takes finite numbers from zero up".to_owned())
    }
}

/// What a claim rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Runs.
    Measured,
    /// The paper's own numbers, done again.
    Arithmetic,
    /// What the scenario or the configuration fixes: it could not have come out otherwise.
    Given,
}

impl Basis {
    /// All of them.
    pub const ALL: [Basis; 3] = [Basis::Measured, Basis::Arithmetic, Basis::Given];

    /// Its word in `claims.toml` and `verdicts.json`.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Arithmetic => "arithmetic",
            Basis::Given => "given",
        }
    }
}

/// A comparison that must hold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The measure exceeds this.
    GreaterThan(Quantity),
    /// The measure stays below this.
    LessThan(Quantity),
}

impl Direction {
    /// What the measure is compared with.
    pub fn baseline(&self) -> &Quantity {
        match self {
            Direction::GreaterThan(q) | Direction::LessThan(q) => q,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimsFile {
    claim: Vec<Spanned<Claim>>,
}

/// Reads the claims of a paper; `file` names the text in errors.
///
/// # Errors
///
/// The first thing wrong with the text, with its line and column.
pub fn parse(text: &str, file: &str) -> Result<Vec<Claim>, FileError> {
    parse_given(text, file, &Vars::new())
}

/// The same with other values for some names of the file's `let` tables.
pub(crate) fn parse_given(text: &str, file: &str, given: &Vars) -> Result<Vec<Claim>, FileError> {
    let raw: ClaimsFile = crate::template::read_given(text, file, given)?;
    let mut claims: Vec<Claim> = Vec::new();
    for spanned in raw.claim {
        let (span, mut claim) = (spanned.span(), spanned.into_inner());
        claim.span = span.clone();
        let twice = claims.iter().any(|c| c.id == claim.id);
        let problem =
            if twice { Err("exists already, give it another id".into()) } else { claim.check() };
        if let Err(problem) = problem {
            return Err(FileError::at(file, text, span, format!("claim `{}` {problem}", claim.id)));
        }
        claims.push(claim);
    }
    Ok(claims)
}

/// The claim of this identifier; else those that there are.
pub(crate) fn look_up<'a>(claims: &'a [Claim], id: &str) -> Result<&'a Claim, String> {
    claims.iter().find(|c| c.id == id).ok_or_else(|| {
        let known: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
        format!("there is no claim `{id}`{}", what_there_is(id, &known))
    })
}

impl Claim {
    /// The quantities that the claim reads, those inside others included.
    pub fn quantities(&self) -> Vec<&Quantity> {
        let mut all = Vec::new();
        let baseline = self.direction.as_ref().map(Direction::baseline);
        for quantity in self.measure.iter().chain(baseline) {
            quantity.walk(&mut |q| all.push(q));
        }
        all
    }

    /// What it rests on: runs if it reads any, or has nothing to compute yet.
    pub fn basis(&self) -> Basis {
        let quantities = self.quantities();
        let read = |q: &&Quantity| matches!(q, Quantity::Metric(_) | Quantity::Trace(_));
        let runs = self.measure.is_none() || quantities.iter().any(read);
        self.kind.unwrap_or(if runs { Basis::Measured } else { Basis::Arithmetic })
    }

    /// What ours is compared with.
    pub(crate) fn target(&self) -> Option<f64> {
        self.compare_with.as_ref().map(|c| c.value).or(self.paper)
    }

    /// Whether it says what would decide it.
    fn has_criterion(&self) -> bool {
        self.tolerance.is_some() || self.direction.is_some()
    }

    /// Whether it belongs to the family of statements that runs decide.
    pub(crate) fn is_decided_by_runs(&self) -> bool {
        self.basis() == Basis::Measured && self.has_criterion()
    }

    /// The same claim wherever it stands in its file.
    pub(crate) fn without_place(&self) -> Claim {
        Claim { span: 0..0, ..self.clone() }
    }

    /// The statement that it is part of.
    pub fn statement(&self) -> &str {
        self.statement.as_deref().unwrap_or(&self.id)
    }

    fn check(&self) -> Result<(), String> {
        if self.id.is_empty() || self.id.contains(char::is_control) {
            return Err("needs an `id` of characters that can be seen".to_owned());
        }
        let numbers = [self.paper, self.compare_with.as_ref().map(|c| c.value)];
        if numbers.iter().flatten().any(|v| !v.is_finite()) {
            return Err("has a value that is not a finite number".to_owned());
        }
        for quantity in self.quantities() {
            if matches!(quantity, Quantity::Constant(v) if !v.is_finite()) {
                return Err("has a constant that is not a finite number".to_owned());
            }
            if quantity.several().is_some_and(<[Quantity]>::is_empty) {
                return Err("takes the `mean`, `largest`, `least` or `trend` of nothing".to_owned());
            }
            if let Quantity::Metric(at) = quantity {
                Metric::parse(&at.path)?;
                at.place().ok_or_else(|| {
                    format!("reads `{}`, which must look like experiment/point", at.at)
                })?;
            }
        }
        if let Some(Quantity::Metric(at)) = &self.measure {
            let unit = match Metric::parse(&at.path)?.field.unit() {
                "bps" => "bit/s",
                unit => unit,
            };
            if !["", &self.unit].contains(&unit) {
                let own = &self.unit;
                return Err(format!(
                    "is in `{own}` and its metric in `{unit}`; a `ratio` with a `constant` makes one of the other"
                ));
            }
        }
        if let Some(t) = &self.tolerance {
            t.check("tolerance")?;
            if self.paper.is_none() {
                return Err("has a tolerance but no `paper` value to hold it against".to_owned());
            }
        }
        self.least_effect.iter().try_for_each(|t| t.check("least effect"))?;
        match (&self.not_comparable, self.has_criterion(), &self.measure) {
            (Some(_), true, _) => {
                Err("is `not_comparable` and has a criterion; keep one".to_owned())
            }
            (None, false, _) => {
                Err("needs a `tolerance`, a `direction` or `not_comparable`".to_owned())
            }
            (None, true, None) => Err("needs a `measure`".to_owned()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIM: &str = "[[claim]]\nid = 'a'\nsource = 'T'\nquantity = 'q'\nunit = 's'\npaper = 1.0\n\
        measure = { metric = { path = 'flow.f.completion_s', at = 'e/p' } }\n\
        tolerance = { relative = 0.1, reason = 'r' }\n";

    #[test]
    fn a_claim_reads_back_with_its_quantities() {
        let text = format!(
            "{CLAIM}direction = {{ greater_than = {{ ratio = [{{ constant = 1.0 }}, {{ model = 'm' }}] }} }}"
        );
        let claims = parse(&text, "claims.toml").unwrap();
        assert_eq!(claims[0].quantities().len(), 4);
        assert_eq!(claims[0].statistic, Statistic::Median);
    }

    #[test]
    fn errors_name_the_claim_the_place_and_the_cure() {
        let cases = [
            (CLAIM.replace("flow.f.completion_s", "flow.f.time"), "unknown field"),
            (CLAIM.replace("e/p", "e"), "must look like experiment/point"),
            (CLAIM.replace("relative = 0.1", "relative = -0.1"), "finite number from zero up"),
            (CLAIM.replace("relative = 0.1, ", ""), "either a relative or an absolute"),
            (CLAIM.replace("paper = 1.0\n", ""), "no `paper` value"),
            (CLAIM.replace("tolerance = ", "# "), "needs a `tolerance`, a `direction`"),
            (format!("{CLAIM}not_comparable = 'x'"), "keep one"),
            (CLAIM.replace("measure = ", "# "), "needs a `measure`"),
            (format!("{CLAIM}{CLAIM}"), "9:1: claim `a` exists already"),
            (CLAIM.replace("unit", "units"), "unknown field `units`"),
            (CLAIM.replace("'s'", "'ms'"), "is in `ms` and its metric in `s`"),
            (CLAIM.replace("1.0", "inf"), "has a value that is not a finite number"),
            (CLAIM.replace("'a'", "''"), "needs an `id`"),
        ];
        for (text, expected) in cases {
            let message = parse(&text, "claims.toml").unwrap_err().to_string();
            assert!(message.starts_with("claims.toml:"), "{message}");
            assert!(message.contains(expected), "{message} does not contain {expected}");
        }
    }
}
