//! Claims of a paper in checkable form, and the verdicts on them.
//!
//! A paper's `claims.toml` lists them:
//!
//! ```toml
//! [[claim]]
//! id = "table4.p1"                      # unique
//! source = "Table 4"                    # place in the paper
//! quantity = "Response time at 1 %"     # in words
//! unit = "s"
//! paper = 76.83                         # as printed; omitted for a claim without a number
//! compare_with = { value = 66.83, reason = "minus the 10 s offset (RB-10)" }    # optional
//! measure = { metric = { path = "flow.download.completion_s", at = "download/p=1%" } }
//! statistic = "median"                  # median (default) | mean
//! tolerance = { relative = 0.1, reason = "two implementations" }      # or absolute
//! direction = { greater_than = { constant = 50.0 } }                  # or less_than
//! least_effect = { relative = 0.1, reason = "…" }                     # default: of `paper.toml`
//! kind = "given"                        # default: measured or arithmetic, by the measure
//! statement = "table 4 at 1 %"          # claims of one statement count as one; default: the id
//! not_comparable = "needs the testbed"  # instead of a criterion
//! note = "…"
//! ```
//!
//! A **measure** is a metric at a point, a closed form (`{ model = "eq9" }`), a quantity read from a traced
//! run (`{ trace = "exchange.duplicates" }`) or a constant. It may also be the `difference`, `ratio` or
//! `percent_change` of two measures, the `abs` of one, or the `sum`, `mean`, `median`, `largest`, `least` or
//! `trend` of any number of measures. `[[measure]]` defines a named measure (`name`, `is`), which claims read
//! as `{ measure = "name" }`. Arithmetic is done run by run, matched by seed. All points share their random
//! numbers, so a paired difference has a much narrower interval than a difference of medians.
//!
//! A claim is *measured* if it reads a run, and *arithmetic* if it follows from the paper's own numbers. It
//! is *given* (`kind = "given"`) if the scenario determines the claimed value. Claims with the same
//! `statement` are one printed statement of the paper, and count once ([`headline`]).
//!
//! The **criteria** determine the verdict, by the rule of [`windlass_stats::decision`]:
//!
//! * *reproduced*: the interval is inside the tolerance, and the direction holds.
//! * *contradicted*: the interval is outside the tolerance.
//! * *same direction*: the interval is outside the tolerance, but the direction holds significantly.
//! * *undecided*: the interval contains an edge of the tolerance.
//!
//! A direction holds if the paired difference is significantly at least the smallest effect that matters
//! (`least_effect` of `paper.toml`, or of the claim). Holm's procedure over the paper's measured statements
//! gives the levels of the intervals.

mod check;
mod file;
#[cfg(test)]
pub(crate) mod fixtures;
mod judge;
mod metric;
mod quantity;
mod sides;
mod value;
mod verdict;

use crate::scenario::what_there_is;
use crate::stats::decision::{ALPHA, least_runs};
use crate::template::{Places, text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub use crate::run::fields::{Kind, jain_index};
pub(crate) use check::Wrong;
pub use file::parse;
pub(crate) use file::parse_every;
pub use judge::judge;
pub use metric::Metric;
pub(crate) use metric::matches;
pub use quantity::{At, Quantity};
pub use sides::{Side, SideWords};
pub(crate) use value::without_chance;
pub use value::{Evidence, Value};
#[cfg(test)]
pub(crate) use verdict::judged;
pub use verdict::{
    InReading, Judgement, Share, Statement, Tally, Verdict, headline, json_schema, settle,
    statements, tally,
};

/// One statement of a paper in checkable form.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Identifier, unique within the paper. A number is read as its text.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// Place in the paper: `Table 4`, `Section 5.2`.
    pub source: String,
    /// The claimed quantity, in words.
    pub quantity: String,
    /// Unit of the value.
    pub unit: String,
    /// The paper's value as printed; `None` for a claim that states only a direction.
    pub paper: Option<f64>,
    /// Value that the measured value is compared with, if it is not the printed value.
    pub compare_with: Option<Corrected>,
    /// The measure that is computed from the runs.
    pub measure: Option<Quantity>,
    /// The statistic that summarises the runs.
    #[serde(default)]
    pub statistic: Statistic,
    /// Names and unit of the two sides of a comparison, in words.
    pub sides: Option<SideWords>,
    /// Tolerance of the comparison with the published value.
    pub tolerance: Option<Tolerance>,
    /// The comparison that must hold for the effect to have the published direction.
    pub direction: Option<Direction>,
    /// Smallest difference from the baseline that matters. Default: the value of `paper.toml`.
    pub least_effect: Option<Tolerance>,
    /// Basis of the claim, if it does not follow from the measure.
    pub kind: Option<Basis>,
    /// Name of the printed statement that the claim is part of. All claims of the statement give the same name.
    pub statement: Option<String>,
    /// The reason why Windlass cannot decide the claim.
    pub not_comparable: Option<String>,
    /// Remark that is printed with the verdict.
    #[serde(default)]
    pub note: String,
    /// Byte range of the claim in its file.
    #[serde(skip)]
    pub span: std::ops::Range<usize>,
    /// Places of the claim's values in the file.
    #[serde(skip)]
    pub(crate) places: Places,
}

/// A correction of a printed value before the comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrected {
    /// The value to compare with, in the claim's unit.
    pub value: f64,
    /// The reason for the correction.
    pub reason: String,
}

/// The statistic that summarises runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// Median, with the interval between two order statistics.
    #[default]
    Median,
    /// Mean, with Student's interval.
    Mean,
}

/// Tolerance or effect size, fixed with its reason before the runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Fraction of the value compared with.
    pub relative: Option<f64>,
    /// Absolute size, in the claim's unit.
    pub absolute: Option<f64>,
    /// The reason for this size.
    pub reason: String,
}

impl Tolerance {
    /// Half-width of the tolerance about a value.
    pub(crate) fn about(&self, value: f64) -> f64 {
        self.absolute.unwrap_or_default() + self.relative.unwrap_or_default() * value.abs()
    }
}

/// Smallest effect that matters in a paper's claims, fixed with its reason before the runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeastEffect {
    /// Fraction of the baseline.
    pub relative: f64,
    /// Absolute effects by unit, for claims for which a fraction of the baseline is unsuitable.
    #[serde(default)]
    pub absolute: BTreeMap<String, f64>,
    /// The reason for this size.
    pub reason: String,
}

impl LeastEffect {
    /// Smallest effect that matters in a claim whose direction is compared with `baseline`. It is at most
    /// half of the published effect.
    fn of(&self, claim: &Claim, baseline: f64) -> f64 {
        let found = claim.target().map_or(f64::INFINITY, |target| (target - baseline).abs() / 2.0);
        let least = match (&claim.least_effect, self.absolute.get(&claim.unit)) {
            (Some(own), _) => own.about(baseline),
            (None, Some(absolute)) => *absolute,
            (None, None) => self.relative * baseline.abs(),
        };
        if least.is_finite() { least.min(found) } else { 0.0 }
    }
}

/// Basis of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Runs.
    Measured,
    /// A repeated calculation with the paper's own numbers.
    Arithmetic,
    /// The scenario or the configuration, which determines the value.
    Given,
}

impl Basis {
    /// All bases.
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
    /// The measure exceeds this quantity.
    GreaterThan(Quantity),
    /// The measure is below this quantity.
    LessThan(Quantity),
}

impl Direction {
    /// Path of its measure in a claim.
    pub(crate) fn path(&self) -> &'static str {
        match self {
            Direction::GreaterThan(_) => "direction.greater_than",
            Direction::LessThan(_) => "direction.less_than",
        }
    }

    /// The quantity that the measure is compared with.
    pub fn baseline(&self) -> &Quantity {
        match self {
            Direction::GreaterThan(q) | Direction::LessThan(q) => q,
        }
    }
}

/// The number of statements that runs decide, and the minimum number of runs per point that decides a median among them
/// (Holm correction).
pub(crate) fn family(claims: &[Claim]) -> (usize, u64) {
    let decided = claims.iter().filter(|c| c.is_decided_by_runs());
    let statements = decided.map(Claim::statement).collect::<BTreeSet<&str>>().len();
    (statements, least_runs(ALPHA / statements.max(1) as f64) as u64)
}

/// The claim with this identifier. The error names the known identifiers.
pub(crate) fn look_up<'a>(claims: &'a [Claim], id: &str) -> Result<&'a Claim, String> {
    claims.iter().find(|c| c.id == id).ok_or_else(|| {
        let known: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
        format!("claim `{id}` not found{}", what_there_is(id, &known))
    })
}

impl Claim {
    /// The quantities that the claim reads, including quantities inside other quantities.
    pub fn quantities(&self) -> Vec<&Quantity> {
        self.placed_quantities().into_iter().map(|(_, quantity)| quantity).collect()
    }

    /// The quantities that the claim reads, with their paths in the claim.
    pub(crate) fn placed_quantities(&self) -> Vec<(String, &Quantity)> {
        let mut all = Vec::new();
        let measure = self.measure.iter().map(|m| ("measure", m));
        let baseline = self.direction.iter().map(|d| (d.path(), d.baseline()));
        for (path, quantity) in measure.chain(baseline) {
            quantity.walk_at(path, &mut |path, q| all.push((path.to_owned(), q)));
        }
        all
    }

    /// Basis of the claim: runs, if it reads a run or has no measure yet.
    pub fn basis(&self) -> Basis {
        let quantities = self.quantities();
        let read = |q: &&Quantity| matches!(q, Quantity::Metric(_) | Quantity::Trace(_));
        let runs = self.measure.is_none() || quantities.iter().any(read);
        self.kind.unwrap_or(if runs { Basis::Measured } else { Basis::Arithmetic })
    }

    /// Value that the measured value is compared with.
    pub(crate) fn target(&self) -> Option<f64> {
        self.compare_with.as_ref().map(|c| c.value).or(self.paper)
    }

    /// True if the claim has a criterion: a tolerance or a direction.
    fn has_criterion(&self) -> bool {
        self.tolerance.is_some() || self.direction.is_some()
    }

    /// True if the claim belongs to the family of statements that runs decide.
    pub(crate) fn is_decided_by_runs(&self) -> bool {
        self.basis() == Basis::Measured && self.has_criterion()
    }

    /// The claim without its place in the file.
    pub(crate) fn without_place(&self) -> Claim {
        Claim { span: 0..0, places: Places::default(), ..self.clone() }
    }

    /// The statement that the claim is part of.
    pub fn statement(&self) -> &str {
        self.statement.as_deref().unwrap_or(&self.id)
    }
}

#[cfg(test)]
mod tests;
