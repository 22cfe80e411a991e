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
//! a traced run (`{ trace = "exchange.duplicates" }`) or a constant. It may also be the `difference`, `ratio` or
//! `percent_change` of two measures, the `abs` of one, or the `sum`, `mean`, `median`, `largest`, `least` or `trend` of any
//! number. `[[measure]]` names one (`name`, `is`) that claims read as `{ measure = "name" }`. Arithmetic is done run by run, matched by seed: all points
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
    /// Identifier, unique within the paper; a number stands for its text.
    #[serde(deserialize_with = "text")]
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
    /// Where its values stand.
    #[serde(skip)]
    pub(crate) places: Places,
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
    /// Path of its measure in a claim.
    pub(crate) fn path(&self) -> &'static str {
        match self {
            Direction::GreaterThan(_) => "direction.greater_than",
            Direction::LessThan(_) => "direction.less_than",
        }
    }

    /// What the measure is compared with.
    pub fn baseline(&self) -> &Quantity {
        match self {
            Direction::GreaterThan(q) | Direction::LessThan(q) => q,
        }
    }
}

/// The number of statements that runs decide, and the runs of a point that a median needs at least to be decided among
/// them (Holm correction).
pub(crate) fn family(claims: &[Claim]) -> (usize, u64) {
    let decided = claims.iter().filter(|c| c.is_decided_by_runs());
    let statements = decided.map(Claim::statement).collect::<BTreeSet<&str>>().len();
    (statements, least_runs(ALPHA / statements.max(1) as f64) as u64)
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
        Claim { span: 0..0, places: Places::default(), ..self.clone() }
    }

    /// The statement that it is part of.
    pub fn statement(&self) -> &str {
        self.statement.as_deref().unwrap_or(&self.id)
    }
}
