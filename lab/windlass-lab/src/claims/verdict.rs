//! Verdicts on claims and statements, and their counts.

use super::{Basis, Side};
use crate::report::model::{Badge, Tone};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The verdict on a claim after the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The measured value agrees with the published one within the tolerance, and the direction holds.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The effect is significant in the published direction, but its size differs.
    #[serde(rename = "same direction")]
    SameDirection,
    /// The effect is significantly absent or opposite, or a derivation is wrong.
    #[serde(rename = "contradicted")]
    Contradicted,
    /// The claim holds in some interpretations of the paper and not in others.
    #[serde(rename = "depends on the interpretation", alias = "depends on the reading")]
    DependsOnReading,
    /// The runs are too few to decide; the note estimates the number that would decide.
    #[serde(rename = "undecided")]
    Undecided,
    /// The claim's runs are missing. The note has the command.
    #[serde(rename = "not run")]
    NotRun,
    /// Windlass cannot decide the claim. The note has the reason.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Verdict; 7] = [
        Verdict::Reproduced,
        Verdict::SameDirection,
        Verdict::Contradicted,
        Verdict::DependsOnReading,
        Verdict::Undecided,
        Verdict::NotRun,
        Verdict::NotComparable,
    ];

    /// Order of several verdicts on one statement. The first verdict of this list that occurs is the
    /// statement's verdict. *Not comparable* counts only if all parts are not comparable.
    const TOGETHER: [Verdict; 7] = [
        Verdict::Contradicted,
        Verdict::DependsOnReading,
        Verdict::Undecided,
        Verdict::NotRun,
        Verdict::SameDirection,
        Verdict::Reproduced,
        Verdict::NotComparable,
    ];

    /// True if the verdict is for or against the claim.
    pub fn is_decided(self) -> bool {
        matches!(self, Verdict::Reproduced | Verdict::SameDirection | Verdict::Contradicted)
    }

    /// The verdict on a claim after several interpretations of a paper. The headline interpretation is the first.
    ///
    /// * The verdict is undecided if more interpretations are open than decided. An interval outside a narrow
    ///   tolerance needs fewer runs than an interval inside, so that the decided interpretations alone would
    ///   favour *contradicted*.
    /// * It depends on the interpretation if two interpretations decide the claim in different ways.
    /// * Otherwise it is the headline's verdict. Interpretations that cannot judge the claim do not count.
    pub(crate) fn over_readings(all: &[Verdict]) -> Verdict {
        let decided: Vec<Verdict> = all.iter().copied().filter(|v| v.is_decided()).collect();
        let open = all.iter().filter(|v| **v == Verdict::Undecided).count();
        match decided.first() {
            Some(_) if open > decided.len() => Verdict::Undecided,
            Some(first) if decided.iter().any(|v| v != first) => Verdict::DependsOnReading,
            _ => all.first().copied().unwrap_or(Verdict::Undecided),
        }
    }

    /// The verdict on a statement with these verdicts on its parts.
    fn together(all: &[Verdict]) -> Verdict {
        let found = Verdict::TOGETHER.into_iter().find(|v| all.contains(v));
        found.unwrap_or(Verdict::NotComparable)
    }

    /// Position in the order of several verdicts on one statement: 0 for the weakest.
    pub(crate) fn weakness(self) -> usize {
        Verdict::TOGETHER.iter().position(|v| *v == self).unwrap_or(usize::MAX)
    }

    /// The badge in reports. Its name is the word of `verdicts.json`.
    pub fn badge(self) -> Badge {
        let (tone, sign, name, meaning) = match self {
            Verdict::Reproduced => (
                Tone::Good,
                "✓",
                "reproduced",
                "the measured value is within the claim's tolerance of the published value, and the direction holds",
            ),
            Verdict::SameDirection => (
                Tone::Near,
                "≈",
                "same direction",
                "the effect is significant in the published direction, but its size differs",
            ),
            Verdict::Contradicted => (
                Tone::Bad,
                "✗",
                "contradicted",
                "the effect is significantly absent or opposite, or a derivation is wrong",
            ),
            Verdict::DependsOnReading => (
                Tone::Near,
                "◐",
                "depends on the interpretation",
                "the claim holds in some interpretations of the paper and not in others",
            ),
            Verdict::Undecided => (
                Tone::None,
                "?",
                "undecided",
                "the runs are too few to decide; the note estimates the number that would decide",
            ),
            Verdict::NotRun => {
                (Tone::None, "○", "not run", "its runs are missing; the note has the command")
            }
            Verdict::NotComparable => (
                Tone::None,
                "–",
                "not comparable",
                "Windlass cannot decide it; the note has the reason",
            ),
        };
        Badge { tone, sign, name, meaning }
    }
}

/// One claim with its verdict: a line of `verdicts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Identifier, unique within the paper.
    pub id: String,
    /// Place in the paper: `Table 4`, `Fig. 6`, `Section 4.2`.
    pub source: String,
    /// The claimed quantity, in words.
    pub quantity: String,
    /// Basis: runs, arithmetic, or the scenario.
    pub kind: Basis,
    /// The printed statement that the claim is part of. Claims of one statement count as one.
    pub statement: String,
    /// Unit of `paper` and `measured`.
    pub unit: String,
    /// The paper's value.
    pub paper: Option<f64>,
    /// The measured value.
    pub measured: Option<f64>,
    /// 95 % confidence interval of the measured value; `None` if nothing is random.
    pub ci95: Option<[f64; 2]>,
    /// Runs behind it; 0 for arithmetic.
    pub n: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The final verdict on its statement: after all interpretations, and of its weakest part.
    pub statement_verdict: Verdict,
    /// Number of interpretations by verdict, if several were run.
    #[serde(default)]
    pub readings: Option<Share>,
    /// The question whose answer decides, if the verdict depends on the interpretation.
    #[serde(default)]
    pub decided_by: Option<String>,
    /// The verdict in each interpretation, the headline's first; empty if only one was run.
    #[serde(skip)]
    pub in_readings: Vec<InReading>,
    /// Both sides of the comparison, if the claim compares two quantities of runs.
    #[serde(default)]
    pub sides: Vec<Side>,
    /// For an undecided claim: the number of runs that would decide it, or the reason why no number does.
    #[serde(skip)]
    pub open: String,
    /// The values with which the claimed direction holds, such as `at 20.91 s or more`; empty without one.
    #[serde(skip)]
    pub needs: String,
    /// The reason for the verdict, and remarks.
    pub note: String,
}

/// The verdict on a claim in one interpretation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InReading {
    /// The verdict.
    pub verdict: Verdict,
    /// Fingerprint of the claim and of the scenarios that it reads. Interpretations with equal fingerprints of
    /// all parts of a statement are one interpretation of that statement.
    pub runs: String,
}

/// Number of interpretations of a paper by their verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Interpretations in which it is reproduced.
    pub holds: usize,
    /// Interpretations in which only its direction is reproduced.
    pub same_direction: usize,
    /// Interpretations in which it is contradicted.
    pub fails: usize,
    /// Interpretations that leave it open.
    pub open: usize,
}

impl Share {
    /// Counts the verdicts, without *not comparable* and *not run*.
    pub fn of(verdicts: &[Verdict]) -> Share {
        let count = |verdict| verdicts.iter().filter(|v| **v == verdict).count();
        Share {
            holds: count(Verdict::Reproduced),
            same_direction: count(Verdict::SameDirection),
            fails: count(Verdict::Contradicted),
            open: count(Verdict::Undecided),
        }
    }

    /// Interpretations that decide the claim.
    pub fn decided(&self) -> usize {
        self.holds + self.same_direction + self.fails
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "holds in {}", self.holds)?;
        if self.same_direction > 0 {
            write!(f, ", in its direction only in {}", self.same_direction)?;
        }
        write!(f, ", fails in {}, open in {}", self.fails, self.open)
    }
}

/// The JSON Schema of `verdicts.json`.
pub fn json_schema() -> Value {
    let text = |meaning: &str| json!({ "type": "string", "description": meaning });
    let number = |meaning: &str| json!({ "type": ["number", "null"], "description": meaning });
    let properties = json!({
        "id": text("Identifier, unique within the paper"),
        "source": text("Place in the paper"),
        "quantity": text("The claimed quantity, in words"),
        "kind": { "enum": Basis::ALL.map(Basis::name), "description": "Basis of the verdict" },
        "statement": text("The printed statement that it is part of; claims with the same one count as one"),
        "unit": text("Unit of paper, measured and ci95"),
        "paper": number("The paper's value"),
        "measured": number("The measured value"),
        "ci95": {
            "type": ["array", "null"],
            "items": { "type": "number" },
            "minItems": 2,
            "maxItems": 2,
            "description": "95 % confidence interval of measured",
        },
        "n": { "type": "integer", "minimum": 0, "description": "Runs behind it; 0 for arithmetic" },
        "verdict": { "enum": Verdict::ALL.map(|v| v.badge().name), "description": "The verdict on the claim" },
        "statement_verdict": {
            "enum": Verdict::ALL.map(|v| v.badge().name),
            "description": "The final verdict on its statement, which reports count",
        },
        "readings": {
            "type": ["object", "null"],
            "description": "Number of interpretations in which it is reproduced, reproduced in its direction only, contradicted, and open",
            "required": ["holds", "same_direction", "fails", "open"],
            "additionalProperties": { "type": "integer", "minimum": 0 },
        },
        "decided_by": {
            "type": ["string", "null"],
            "description": "The question whose answer decides, where it depends on the interpretation",
        },
        "sides": {
            "type": "array",
            "maxItems": 2,
            "description": "Both sides of the comparison with their values; empty without a comparison",
            "items": {
                "type": "object",
                "required": ["name", "value", "unit"],
                "properties": { "name": text("Coordinates or flow"), "value": number("Measured"), "unit": text("Unit of value") },
                "additionalProperties": false,
            },
        },
        "note": text("The reason, and differences"),
    });
    let required: Vec<&String> =
        properties.as_object().into_iter().flat_map(|o| o.keys()).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "verdicts.json of Windlass",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": properties,
        },
    })
}

/// One printed statement with the claims that check it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement<'a> {
    /// Basis: runs, if any of its claims reads a run.
    pub kind: Basis,
    /// The weakest verdict of its claims. With several interpretations: the weakest verdict in each
    /// interpretation, combined over all interpretations.
    pub verdict: Verdict,
    /// Its verdict in each interpretation that changes its runs, the headline's first; empty if only one was run.
    pub in_readings: Vec<Verdict>,
    /// Its claims.
    pub claims: Vec<&'a Judgement>,
}

/// Gives each judgement the final verdict on its statement.
pub fn settle(judgements: &mut [Judgement]) {
    let settled: Vec<(String, Verdict)> = (statements(judgements.iter()).iter())
        .map(|s| (s.claims[0].statement.clone(), s.verdict))
        .collect();
    for j in judgements {
        let own = settled.iter().find(|(statement, _)| *statement == j.statement);
        j.statement_verdict = own.map_or(j.verdict, |(_, verdict)| *verdict);
    }
}

/// The statements of a paper, in the order of their first claims.
pub fn statements<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> Vec<Statement<'a>> {
    let mut groups: Vec<Vec<&Judgement>> = Vec::new();
    for j in judgements {
        match groups.iter_mut().find(|g| g[0].statement == j.statement) {
            Some(group) => group.push(j),
            None => groups.push(vec![j]),
        }
    }
    groups.into_iter().map(Statement::of).collect()
}

impl<'a> Statement<'a> {
    /// A statement with these claims as its parts. Measured and arithmetic parts count. Given parts count
    /// only if the statement has no others.
    pub(crate) fn of(claims: Vec<&'a Judgement>) -> Statement<'a> {
        let has = |kind: &Basis| claims.iter().any(|j| j.kind == *kind);
        let kind = Basis::ALL.into_iter().find(has).unwrap_or(Basis::Measured);
        let parts: Vec<&Judgement> = (claims.iter().copied())
            .filter(|j| j.kind == kind || (kind == Basis::Measured && j.kind == Basis::Arithmetic))
            .collect();
        let readings = parts.iter().map(|j| j.in_readings.len()).max().unwrap_or(0);
        // A part without runs has the same verdict in each interpretation.
        let part =
            |j: &&Judgement, at: usize| j.in_readings.get(at).map_or(j.verdict, |r| r.verdict);
        let in_reading =
            |at| Verdict::together(&parts.iter().map(|j| part(j, at)).collect::<Vec<_>>());
        let mut known = BTreeSet::new();
        let runs = |at: usize| -> Vec<Option<&str>> {
            parts.iter().map(|j| j.in_readings.get(at).map(|r| r.runs.as_str())).collect()
        };
        let in_readings: Vec<Verdict> =
            (0..readings).filter(|at| known.insert(runs(*at))).map(in_reading).collect();
        let verdict = match in_readings.as_slice() {
            [] => Verdict::together(&parts.iter().map(|j| j.verdict).collect::<Vec<_>>()),
            all => Verdict::over_readings(all),
        };
        Statement { kind, verdict, in_readings, claims }
    }
}

/// The number of statements of a kind by verdict.
pub type Tally = Vec<(Badge, usize)>;

/// The statements of a kind, counted by verdict.
pub fn tally(judgements: &[Judgement], kind: Basis) -> Tally {
    let all = statements(judgements);
    let count = |v| all.iter().filter(|s| (s.kind, s.verdict) == (kind, v)).count();
    Verdict::ALL.into_iter().map(|v| (v.badge(), count(v))).collect()
}

/// Summary of a reproduction: the numbers of statements by verdict, with one line for each kind of statement.
pub fn headline(judgements: &[Judgement]) -> String {
    let line = |kind: Basis| {
        let all = tally(judgements, kind);
        let total: usize = all.iter().map(|(_, n)| n).sum();
        let counted = all.iter().filter(|(_, n)| *n > 0);
        let counted: Vec<String> =
            counted.map(|(badge, n)| format!("{n} {}", badge.name)).collect();
        let plural = if total == 1 { "statement" } else { "statements" };
        (total > 0).then(|| format!("{total} {} {plural}: {}", kind.name(), counted.join(", ")))
    };
    Basis::ALL.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

/// A judgement without texts and values.
#[cfg(test)]
pub(crate) fn judged(statement: &str, kind: Basis, verdict: Verdict) -> Judgement {
    let [id, source, quantity, unit, note] = [(); 5].map(|()| String::new());
    let (statement, paper, measured, ci95, n) = (statement.to_owned(), None, None, None, 0);
    Judgement {
        id,
        source,
        quantity,
        kind,
        statement,
        unit,
        paper,
        measured,
        ci95,
        n,
        verdict,
        statement_verdict: verdict,
        readings: None,
        decided_by: None,
        in_readings: Vec::new(),
        sides: Vec::new(),
        open: String::new(),
        needs: String::new(),
        note,
    }
}

#[cfg(test)]
mod tests;
