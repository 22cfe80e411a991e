//! Claims of a paper in checkable form, and the verdicts on them.

use serde::{Deserialize, Serialize};

/// How a claim stands after the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Ours agrees with the paper's figure within the claim's tolerance.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The effect points the paper's way, its size differs.
    #[serde(rename = "same direction")]
    SameDirection,
    /// The effect is absent or points the other way, or a derivation is wrong.
    #[serde(rename = "contradicted")]
    Contradicted,
    /// It cannot be decided here; the note says why.
    #[serde(rename = "not comparable")]
    NotComparable,
}

/// One claim with its verdict: a line of `verdicts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Identifier, unique within the paper.
    pub id: String,
    /// Where it stands: `Table 4`, `Fig. 6`, `Section 4.2`.
    pub source: String,
    /// What is claimed, in words.
    pub quantity: String,
    /// Unit of `paper` and `measured`.
    pub unit: String,
    /// The paper's value.
    pub paper: Option<f64>,
    /// Ours.
    pub measured: Option<f64>,
    /// 95 % confidence interval of ours.
    pub ci95: Option<[f64; 2]>,
    /// Runs behind it; 0 for arithmetic.
    pub n: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, and what differs.
    pub note: String,
}
