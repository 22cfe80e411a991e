//! Results of the claims of a paper's abstract, in sentences.

use std::collections::BTreeSet;

use super::file;
use super::values::{deciding, found, in_main_interpretation, published};
use crate::claims::{Basis, Claim, Judgement, Share, Statement, Verdict, statements};
use crate::experiment::{FileError, Plan};
use crate::papers::Paper;
use crate::readings::{Asked as Question, FILE, Kind, Made, Outcome};
use crate::report::model::{Answer, Badge, Tone};
use crate::reproduce::budget::{read_by, seconds_of};

/// Input of the answers.
pub(crate) struct Asked<'a> {
    pub paper: &'a Paper,
    pub plan: &'a Plan,
    pub claims: &'a [Claim],
    pub judgements: &'a [Judgement],
    pub outcome: Option<&'a Outcome>,
}

/// The badge for a claim of the abstract without a test.
const UNTESTED: Badge = Badge {
    tone: Tone::None,
    sign: "–",
    name: "not tested",
    meaning: "no run and no derivation tests it; the line below has the reason",
};

/// An answer to each claim of the abstract.
///
/// # Errors
///
/// The first error in `abstract.toml`.
pub(crate) fn answers(asked: &Asked<'_>) -> Result<Vec<Answer>, FileError> {
    let all = file::sentences(asked.paper, asked.claims)?;
    let sources =
        if all.is_empty() { Default::default() } else { asked.paper.sources(asked.plan)? };
    let answer = |sentence: &file::Sentence| {
        let says = format!("The paper: {}", sentence.says.get_ref());
        if let Some(reason) = &sentence.untested {
            let lines = vec![format!("Not tested: {reason}")];
            return Answer { says, lines, badge: UNTESTED };
        }
        let mut parts: Vec<&Judgement> = (asked.judgements.iter())
            .filter(|j| sentence.is_tested_by(&j.id, &j.statement))
            .collect();
        // The first of several tests with the same verdict is shown.
        parts.sort_by_key(|j| sentence.place_of(&j.id, &j.statement));
        let whole = Statement::of(parts);
        let places = |j: &&Judgement| {
            let claim = asked.claims.iter().find(|c| c.id == j.id);
            claim.map(|c| read_by(c, asked.plan, &sources)).unwrap_or_default()
        };
        let unrun = whole.claims.iter().filter(|j| j.verdict == Verdict::NotRun);
        let places: BTreeSet<String> = unrun.flat_map(places).collect();
        let lines = vec![
            measured(&whole, asked.claims),
            others(&whole),
            interpretations(&whole, asked.paper),
            decides(&whole, asked, &places),
            sentence.decides.clone().unwrap_or_default(),
        ];
        let lines = lines.into_iter().filter(|line| !line.is_empty()).collect();
        Answer { says, lines, badge: whole.verdict.badge() }
    };
    Ok(all.iter().map(answer).collect())
}

/// The result of a single test, or the numbers of tests and of their parts by verdict, and the result of the weakest.
fn measured(whole: &Statement<'_>, claims: &[Claim]) -> String {
    let part = deciding(whole);
    let result = result(part, claims.iter().find(|c| c.id == part.id));
    let all = statements(whole.claims.iter().copied());
    let parts: Vec<Verdict> =
        (whole.claims.iter()).filter(|j| j.kind == whole.kind).map(|j| j.verdict).collect();
    let varied = parts.iter().any(|v| *v != whole.verdict);
    let counted = match (all.len(), parts.len()) {
        (1, m) if m > 1 && varied => format!("A test of {m} parts: {}.", counts(&parts)),
        (1, _) => String::new(),
        (n, m) => {
            let tests: Vec<Verdict> = all.iter().map(|s| s.verdict).collect();
            let of_parts = match m > n && varied {
                true => format!("; their {m} parts: {}", counts(&parts)),
                false => String::new(),
            };
            format!("{n} tests: {}{of_parts}.", counts(&tests))
        }
    };
    match (counted.as_str(), result.as_str()) {
        ("", _) => result,
        (_, "") => counted,
        _ => format!("{counted} The weakest decides: {result}"),
    }
}

/// The number of each verdict that occurs.
fn counts(verdicts: &[Verdict]) -> String {
    let count = |verdict: &Verdict| verdicts.iter().filter(|v| *v == verdict).count();
    let counts: Vec<String> = (Verdict::ALL.iter())
        .filter(|v| count(v) > 0)
        .map(|v| format!("{} {}", count(v), v.badge().name))
        .collect();
    counts.join(", ")
}

/// Maximum number of tests that are listed in addition to the weakest one.
const MOST_OTHERS: usize = 3;

/// The tests with another verdict than the whole. Empty if they are too many for a first screen.
fn others(whole: &Statement<'_>) -> String {
    let rest: Vec<String> = (statements(whole.claims.iter().copied()).iter())
        .filter(|s| s.verdict != whole.verdict)
        .map(|s| format!("{}: “{}”", s.verdict.badge().heading(), deciding(s).quantity))
        .collect();
    if rest.len() > MOST_OTHERS {
        String::new()
    } else {
        rest.join(". ") + if rest.is_empty() { "" } else { "." }
    }
}

/// The quantity of a test with the paper's expectation, its measured and published value, and the difference that it needs. A test
/// without a measured value has the reason of its verdict instead; a test without a run has no result.
fn result(part: &Judgement, claim: Option<&Claim>) -> String {
    let value = match found(part, claim) {
        none if none.is_empty()
            && matches!(part.verdict, Verdict::NotRun | Verdict::NotComparable) =>
        {
            return String::new();
        }
        none if none.is_empty() => return format!("{}: {}", part.quantity, part.note),
        value => value,
    };
    let printed = published(part, claim);
    let printed = if printed.is_empty() { printed } else { format!("; published {printed}") };
    let needs = match part.needs.as_str() {
        "" => String::new(),
        needs if claim.is_some_and(|c| c.paper.is_some() && c.tolerance.is_some()) => {
            format!(" Its direction holds {needs}.")
        }
        needs => format!(" The claim holds {needs}."),
    };
    // In quotation marks, because many quantities contain the paper's expectation.
    format!("“{}”. Measured: {value}{printed}.{needs}", part.quantity)
}

/// Number of interpretations of the paper in which the statement holds.
fn interpretations(whole: &Statement<'_>, paper: &Paper) -> String {
    let tests = match statements(whole.claims.iter().copied()).len() {
        1 => String::new(),
        n => format!(", all {n} tests together"),
    };
    match whole.in_readings.as_slice() {
        [] if !paper.files.contains_key(FILE) || !whole.verdict.is_decided() => String::new(),
        [] if whole.kind != Basis::Measured => String::new(),
        [_] if whole.claims.iter().any(|j| j.in_readings.len() > 1) => {
            "No other interpretation that was run changes these runs.".to_owned()
        }
        [] | [_] => "No other interpretation of the paper has been run.".to_owned(),
        all => {
            let main = in_main_interpretation(whole);
            format!(
                "In {} interpretations of the paper{tests}: {}.{main}",
                all.len(),
                Share::of(all)
            )
        }
    }
}

/// The deciding question, number of runs or command.
fn decides(whole: &Statement<'_>, asked: &Asked<'_>, unrun: &BTreeSet<String>) -> String {
    let part = deciding(whole);
    match whole.verdict {
        Verdict::NotRun => {
            let seconds = seconds_of(asked.paper, asked.plan, unrun);
            let on = |place: &String| asked.plan.backend(place);
            let on = unrun.iter().map(on).find(|on| !on.is_empty()).unwrap_or_default();
            format!(
                "Not run yet: `windlass reproduce {}{on}` runs it. The runs of this claim take {} on two processors, estimated.",
                asked.paper.called(),
                words(seconds)
            )
        }
        Verdict::NotComparable => format!("Not comparable: {}", part.note),
        Verdict::DependsOnReading => {
            let axis = part
                .decided_by
                .as_ref()
                .and_then(|id| asked.outcome?.axes.iter().find(|axis| axis.id == *id));
            axis.map_or(String::new(), |axis| {
                let question = format!("The answer to {} decides: {}", axis.id, axis.question);
                format!("{question}{}", by_answer(part, axis, asked.outcome))
            })
        }
        Verdict::Undecided if part.open.is_empty() && part.readings.is_some() => {
            "More interpretations are open than decided.".to_owned()
        }
        Verdict::Undecided => part.open.clone(),
        _ => String::new(),
    }
}

/// For each answer to a question, the share of the interpretations with this answer in which a claim holds.
fn by_answer(part: &Judgement, axis: &Question, outcome: Option<&Outcome>) -> String {
    let Some(outcome) = outcome else { return String::new() };
    let at = outcome.axes.iter().position(|a| a.id == axis.id);
    let mut known = BTreeSet::new();
    // Interpretations that change no run of the claim count once.
    let counted: Vec<bool> = part.in_readings.iter().map(|seen| known.insert(&seen.runs)).collect();
    let share = |(i, answer): (usize, &(String, Kind, String, Option<String>))| {
        let has = |made: &&Made| at.is_some_and(|at| made.choice[at] == i);
        let all = outcome.readings.iter().zip(&part.in_readings).zip(&counted);
        let verdicts: Vec<Verdict> = (all.filter(|((made, _), counted)| **counted && has(made)))
            .map(|((_, seen), _)| seen.verdict)
            .collect();
        let share = Share::of(&verdicts);
        let decided = share.decided();
        (decided > 0).then(|| format!("`{}` holds in {} of {decided}", answer.0, share.holds))
    };
    let shares: Vec<String> = axis.alternatives.iter().enumerate().filter_map(share).collect();
    if shares.is_empty() {
        String::new()
    } else {
        format!(" Of the decided: {}.", shares.join(", "))
    }
}

/// A time in words.
fn words(seconds: f64) -> String {
    match seconds {
        s if s < 1.5 => "about a second".to_owned(),
        s if s < 90.0 => format!("about {s:.0} s"),
        s if s < 5400.0 => format!("about {:.0} minutes", s / 60.0),
        s => format!("about {:.0} hours", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{InReading, judged};

    #[test]
    fn tests_with_another_verdict_than_the_whole_are_named() {
        let parts = [
            judged("holds", Basis::Measured, Verdict::Reproduced),
            judged("fails", Basis::Measured, Verdict::Contradicted),
            judged("fails too", Basis::Measured, Verdict::Contradicted),
        ];
        let whole = |parts: &[Judgement]| others(&Statement::of(parts.iter().collect()));
        assert_eq!(whole(&parts), format!("Reproduced: “{}”.", parts[0].quantity));
        assert_eq!(whole(&parts[1..]), "");
    }

    #[test]
    fn interpretations_that_change_no_run_of_a_claim_are_not_counted() {
        let folder = tempfile::tempdir().unwrap();
        let paper = Paper::read(&crate::papers::new(&folder.path().join("p")).unwrap()).unwrap();
        let said = |runs: [&str; 2]| {
            let in_readings =
                runs.map(|runs| InReading { verdict: Verdict::Reproduced, runs: runs.to_owned() });
            let part = Judgement {
                in_readings: in_readings.to_vec(),
                ..judged("one", Basis::Measured, Verdict::Reproduced)
            };
            interpretations(&Statement::of(vec![&part]), &paper)
        };
        assert_eq!(said(["a", "a"]), "No other interpretation that was run changes these runs.");
        assert_eq!(
            said(["a", "b"]),
            "In 2 interpretations of the paper: holds in 2, fails in 0, open in 0."
        );
    }
}
