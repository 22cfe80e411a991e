//! The results of a paper's interpretations: `readings.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::file::{Kind, Readings};
use crate::claims::{InReading, Judgement, Share, Verdict};
use crate::papers::Paper;

/// Name of the file in a paper's folder of results.
pub(super) const RESULT: &str = "readings.json";

/// All finished interpretations, and the verdicts on the claims in them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Fingerprint of the paper's files and of the program: 16 hexadecimal digits.
    pub of: String,
    /// True if the command finished; false if interpretations are missing.
    pub finished: bool,
    /// The questions.
    pub axes: Vec<Asked>,
    /// The finished interpretations in order; the headline is first.
    pub readings: Vec<Made>,
    /// Number of joint interpretations that exist.
    pub total: u64,
    /// Number of interpretations that the budget left out: combinations on the axes that move verdicts, and drawn
    /// interpretations.
    pub left_out: usize,
    /// Combinations that contradict themselves, with the reason.
    pub impossible: Vec<String>,
    /// Seed of the random draw.
    pub drawn_from: u64,
    /// Simulated events of all runs.
    pub events: u64,
    /// Budget of simulated events; `None` without a limit.
    pub budget: Option<u64>,
    /// Results for each claim that depends on runs.
    pub claims: Vec<Standing>,
    /// Position in `readings` of the interpretation in which most claims hold.
    pub charitable: usize,
}

/// A question with its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Identifier of the fidelity note.
    pub id: String,
    /// The open question.
    pub question: String,
    /// Name, kind, reason, and the reason why it cannot run, if it cannot.
    pub alternatives: Vec<(String, Kind, String, Option<String>)>,
    /// Position of the headline's answer.
    pub headline: usize,
    /// True if one of its alternatives alone moves a verdict.
    pub moves: bool,
    /// True if an interpretation with another answer than the headline's was run.
    pub asked: bool,
}

/// The reason why an interpretation was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is the headline.
    Headline,
    /// One answer differs from the headline's.
    Alone,
    /// A combination on the axes that move verdicts.
    Together,
    /// Drawn over all axes.
    Drawn,
}

/// A finished interpretation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Positions of its alternatives, axis by axis.
    pub choice: Vec<usize>,
    /// The reason why it was run.
    pub stage: Stage,
    /// Results for the claims, in the order of [`Outcome::claims`].
    pub seen: Vec<Seen>,
}

/// Result for a claim in one interpretation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured value.
    pub measured: Option<f64>,
    /// 95 % interval of the measured value.
    pub ci95: Option<[f64; 2]>,
    /// Number of its runs.
    pub n: u64,
    /// Fingerprint of the claim and of the scenarios that it reads.
    #[serde(default)]
    pub runs: String,
}

/// Result for a claim over all interpretations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The claim.
    pub id: String,
    /// Number of interpretations by their verdict.
    pub share: Share,
    /// Verdict over all interpretations. If the headline is decided and all decided interpretations agree, it is
    /// their verdict. Otherwise the claim depends on the interpretation or is undecided.
    pub verdict: Verdict,
    /// The axis whose answer has the most information about the verdict, if the claim depends on the
    /// interpretation.
    pub decided_by: Option<String>,
    /// For every axis, the largest difference between its answers in the share of interpretations that reproduce
    /// the claim.
    pub sensitivity: Vec<f64>,
}

impl Seen {
    pub(super) fn of(j: &Judgement, runs: String) -> Seen {
        Seen { verdict: j.verdict, measured: j.measured, ci95: j.ci95, n: j.n, runs }
    }

    /// The verdict if it is for or against the claim.
    pub(super) fn decided(&self) -> Option<Verdict> {
        Some(self.verdict).filter(|v| v.is_decided())
    }
}

impl Outcome {
    /// Summarises the finished interpretations, the headline first; `ids` are the claims.
    pub(super) fn of(readings: &Readings, made: Vec<Made>, ids: &[String]) -> Outcome {
        let asked = |(i, axis): (usize, &super::file::Axis)| {
            let one = |a: &super::file::Alternative| {
                (a.name.clone(), a.kind, a.why.clone(), a.fails.clone())
            };
            Asked {
                id: axis.id.clone(),
                question: axis.question.clone(),
                alternatives: axis.alternatives.iter().map(one).collect(),
                headline: axis.headline,
                moves: moves(&made)[i],
                asked: made.iter().any(|m| m.choice[i] != axis.headline),
            }
        };
        let axes: Vec<Asked> = readings.axes.iter().enumerate().map(asked).collect();
        let claims = ids.iter().enumerate().map(|(c, id)| standing(id, c, &axes, &made)).collect();
        let count = |m: &Made, verdict| m.seen.iter().filter(|s| s.verdict == verdict).count();
        let merit = |m: &Made| {
            (count(m, Verdict::Reproduced), usize::MAX - count(m, Verdict::Contradicted))
        };
        // The first one of equal interpretations.
        let charitable = (0..made.len()).rev().max_by_key(|i| merit(&made[*i])).unwrap_or(0);
        Outcome {
            total: readings.total(),
            axes,
            readings: made,
            claims,
            charitable,
            ..Outcome::default()
        }
    }

    /// The results in a paper's folder of results; `None` if they are from other files of the paper or from another
    /// program.
    pub fn kept(dir: &Path, paper: &Paper) -> Option<Outcome> {
        let text = std::fs::read(dir.join(RESULT)).ok()?;
        let outcome: Outcome = serde_json::from_slice(&text).ok()?;
        (outcome.of == paper.fingerprint()).then_some(outcome)
    }

    /// Gives each judgement its numbers of interpretations and the verdict over all of them.
    pub fn apply(&self, judgements: &mut [Judgement]) {
        for j in judgements {
            let Some(at) = self.claims.iter().position(|c| c.id == j.id) else { continue };
            let s = &self.claims[at];
            // Without its runs the headline is not among the interpretations.
            if j.verdict == Verdict::NotRun {
                continue;
            }
            let seen = self.readings.iter().map(|made| &made.seen[at]);
            j.in_readings =
                seen.map(|s| InReading { verdict: s.verdict, runs: s.runs.clone() }).collect();
            j.readings = Some(s.share);
            j.decided_by = s.decided_by.clone();
            if s.verdict != j.verdict {
                let by =
                    s.decided_by.as_ref().map_or(String::new(), |id| format!("; {id} decides"));
                let name = s.verdict.badge().heading();
                let note = format!("{name}: {}{by}. In the headline: ", s.share);
                j.note.insert_str(0, &note);
                j.verdict = s.verdict;
            }
        }
    }

    /// Result for a claim.
    pub fn standing(&self, claim: &str) -> Option<&Standing> {
        self.claims.iter().find(|c| c.id == claim)
    }

    /// Answers of an interpretation that differ from the headline's, such as `TM-11 device`; empty for the
    /// headline.
    pub fn departures(&self, made: &Made) -> Vec<String> {
        let pairs = self.axes.iter().zip(&made.choice).filter(|(axis, at)| **at != axis.headline);
        pairs.map(|(axis, at)| format!("{} {}", axis.id, axis.alternatives[*at].0)).collect()
    }
}

/// True for every axis on which one alternative alone changes a decided verdict of the headline.
pub(super) fn moves(made: &[Made]) -> Vec<bool> {
    let Some((headline, others)) = made.split_first() else { return Vec::new() };
    let mut moved = vec![false; headline.choice.len()];
    for other in others.iter().filter(|m| m.stage == Stage::Alone) {
        let differs = headline
            .seen
            .iter()
            .zip(&other.seen)
            .any(|(a, b)| a.decided().zip(b.decided()).is_some_and(|(a, b)| a != b));
        let axis = (0..moved.len()).find(|i| headline.choice[*i] != other.choice[*i]);
        if let (true, Some(axis)) = (differs, axis) {
            moved[axis] = true;
        }
    }
    moved
}

/// The result for a claim. Interpretations that change none of its runs count once.
fn standing(id: &str, claim: usize, axes: &[Asked], made: &[Made]) -> Standing {
    let mut known = BTreeSet::new();
    let made: Vec<&Made> = made.iter().filter(|m| known.insert(&m.seen[claim].runs)).collect();
    let verdicts: Vec<(&Made, Verdict)> =
        made.iter().filter_map(|m| Some((*m, m.seen[claim].decided()?))).collect();
    let all: Vec<Verdict> = made.iter().map(|m| m.seen[claim].verdict).collect();
    let verdict = Verdict::over_readings(&all);
    let gains: Vec<f64> = (0..axes.len()).map(|axis| gain(axis, &verdicts)).collect();
    let best = gains.iter().copied().fold(0.0, f64::max);
    let decides = gains.iter().position(|g| *g > 1e-9 && *g >= best - 1e-9);
    let decided_by = decides.filter(|_| verdict == Verdict::DependsOnReading);
    Standing {
        id: id.to_owned(),
        share: Share::of(&all),
        verdict,
        decided_by: decided_by.map(|axis| axes[axis].id.clone()),
        sensitivity: (0..axes.len()).map(|axis| spread(axis, &verdicts)).collect(),
    }
}

/// The verdicts by the answer to a question.
fn by_answer(axis: usize, verdicts: &[(&Made, Verdict)]) -> BTreeMap<usize, Vec<Verdict>> {
    let mut all: BTreeMap<usize, Vec<Verdict>> = BTreeMap::new();
    for (made, verdict) in verdicts {
        all.entry(made.choice[axis]).or_default().push(*verdict);
    }
    all
}

/// Information about the verdict in the answer to a question, bits (C. E. Shannon, 1948: the mutual information).
fn gain(axis: usize, verdicts: &[(&Made, Verdict)]) -> f64 {
    let all: Vec<Verdict> = verdicts.iter().map(|(_, v)| *v).collect();
    let within: f64 = by_answer(axis, verdicts)
        .values()
        .map(|some| entropy(some) * some.len() as f64 / all.len() as f64)
        .sum();
    entropy(&all) - within
}

fn entropy(verdicts: &[Verdict]) -> f64 {
    let share = |verdict: Verdict| {
        verdicts.iter().filter(|v| **v == verdict).count() as f64 / verdicts.len() as f64
    };
    let kinds = [Verdict::Reproduced, Verdict::SameDirection, Verdict::Contradicted];
    kinds.map(share).into_iter().filter(|p| *p > 0.0).map(|p| -p * libm::log2(p)).sum()
}

/// Largest difference between answers in the share of interpretations that reproduce a claim.
fn spread(axis: usize, verdicts: &[(&Made, Verdict)]) -> f64 {
    let share = |some: &Vec<Verdict>| {
        some.iter().filter(|v| **v == Verdict::Reproduced).count() as f64 / some.len() as f64
    };
    let shares: Vec<f64> = by_answer(axis, verdicts).values().map(share).collect();
    let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    if largest > least { largest - least } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(choice: [usize; 2], verdict: Verdict) -> Made {
        let runs = format!("{choice:?}");
        let seen = Seen { verdict, measured: None, ci95: None, n: 0, runs };
        Made { choice: choice.to_vec(), stage: Stage::Alone, seen: vec![seen] }
    }

    fn axes() -> Vec<Asked> {
        let axis = |id: &str| Asked {
            id: id.to_owned(),
            question: String::new(),
            alternatives: Vec::new(),
            headline: 0,
            moves: false,
            asked: true,
        };
        vec![axis("A"), axis("B")]
    }

    #[test]
    fn the_axis_with_the_most_information_decides() {
        use Verdict::{Contradicted, Reproduced};
        let all = [
            made([0, 0], Reproduced),
            made([0, 1], Contradicted),
            made([1, 0], Reproduced),
            made([1, 1], Contradicted),
        ];
        let s = standing("c", 0, &axes(), &all);
        assert_eq!((s.share.holds, s.share.decided(), s.share.open), (2, 4, 0));
        assert_eq!(s.verdict, Verdict::DependsOnReading);
        assert_eq!(s.decided_by.as_deref(), Some("B"));
        assert_eq!(s.sensitivity, [0.0, 1.0]);
    }

    #[test]
    fn undecided_interpretations_count_neither_for_nor_against() {
        use Verdict::{Contradicted, Reproduced, Undecided};
        let s = |verdicts: [Verdict; 3]| {
            let choices = [[0, 0], [0, 1], [1, 0]];
            let all: Vec<Made> =
                choices.into_iter().zip(verdicts).map(|(c, v)| made(c, v)).collect();
            standing("c", 0, &axes(), &all)
        };
        let some = s([Reproduced, Undecided, Reproduced]);
        assert_eq!((some.share.holds, some.share.decided(), some.share.open), (2, 2, 1));
        assert_eq!((some.verdict, some.decided_by), (Reproduced, None));
        assert_eq!(s([Contradicted; 3]).verdict, Contradicted);
        // A claim that holds only in other interpretations is undecided if the headline is.
        assert_eq!(s([Undecided, Reproduced, Reproduced]).verdict, Undecided);
        assert_eq!(s([Undecided; 3]).verdict, Undecided);
        // Fewer interpretations are decided than open. A value outside a narrow tolerance is decided sooner than
        // one inside.
        assert_eq!(s([Contradicted, Undecided, Undecided]).verdict, Undecided);
        assert_eq!(s([Contradicted, Undecided, Verdict::NotComparable]).verdict, Contradicted);
    }
}
