//! The section of a report on the interpretations of a paper.

use super::file::Kind;
use super::outcome::{Asked, Made, Outcome, Stage};
use crate::claims::{Claim, Judgement, Verdict};
use crate::papers::parts::tables::columns;
use crate::report::model::{Block, Curve, CurvePoint, Row, Section, Table};

/// Anchor of the section.
pub const SECTION: &str = "readings";
/// Maximum number of specification curves.
const CURVES: usize = 8;

/// The section: the questions and answers, the sensitivity of the claims, and a curve for each claim that depends
/// on an answer.
pub(crate) fn section(outcome: &Outcome, claims: &[Claim], judgements: &[Judgement]) -> Section {
    let mut blocks = vec![Block::Text { text: words(outcome) }, Block::Table(questions(outcome))];
    blocks.extend(sensitivity(outcome, judgements).map(Block::Table));
    blocks.extend(curves(outcome, claims, judgements).map(Block::Curve));
    Section { id: SECTION.to_owned(), title: "Interpretations of the paper".to_owned(), blocks }
}

fn words(o: &Outcome) -> String {
    let count = |stage| o.readings.iter().filter(|r| r.stage == stage).count();
    let of = |verdict| o.claims.iter().filter(|c| c.verdict == verdict).count();
    let list = |wanted: &dyn Fn(&Asked) -> bool| {
        let ids: Vec<&str> = o.axes.iter().filter(|a| wanted(a)).map(|a| a.id.as_str()).collect();
        ids.join(", ")
    };
    let matter = match list(&|a| a.moves).as_str() {
        "" => "No answer alone changes a verdict.".to_owned(),
        some => format!("Answers that change a verdict alone are those to {some}."),
    };
    let unasked = match list(&|a| !a.asked).as_str() {
        "" => String::new(),
        some => format!(" Not asked, because the budget ended before: {some}."),
    };
    let charitable = &o.readings[o.charitable];
    let reproduced = |m: &Made| m.seen.iter().filter(|s| s.verdict == Verdict::Reproduced).count();
    let departures = match o.departures(charitable) {
        none if none.is_empty() => "the headline".to_owned(),
        some => some.join(", "),
    };
    let left_out = match o.left_out {
        0 => String::new(),
        n => format!(" The budget left out {n} more."),
    };
    let unfinished =
        if o.finished { "" } else { " The command ended before it had run all of them." };
    let impossible = match o.impossible.len() {
        0 => String::new(),
        n => format!(" {n} combinations contradict themselves: {}.", o.impossible.join("; ")),
    };
    format!(
        "The paper leaves {} questions open, which have {} interpretations in all. {} were run: the headline, {} \
         with one other answer, {} combinations of answers that matter, and {} drawn with seed {}.\
         {unfinished}{left_out}{impossible} {matter}{unasked}\n\n\
         {} claims rest on runs. {} are reproduced, {} hold in their direction only, {} are contradicted, {} depend \
         on the interpretation, and {} are undecided. A claim is undecided if its headline is, or if more \
         interpretations are open than decided. The headline is chosen without results: the literal text if it \
         runs, otherwise the default of the paper's simulator, otherwise the standard of its year.\n\n\
         Most claims hold in this interpretation: {departures}. {} hold there and {} in the headline. Its results \
         chose it, so that it shows how well the paper can be met.",
        o.axes.len(),
        o.total,
        o.readings.len(),
        count(Stage::Alone),
        count(Stage::Together),
        count(Stage::Drawn),
        o.drawn_from,
        o.claims.len(),
        of(Verdict::Reproduced),
        of(Verdict::SameDirection),
        of(Verdict::Contradicted),
        of(Verdict::DependsOnReading),
        of(Verdict::Undecided),
        reproduced(charitable),
        o.readings.first().map_or(0, reproduced),
    )
}

/// The questions with their answers.
fn questions(o: &Outcome) -> Table {
    let mut rows = Vec::new();
    for axis in &o.axes {
        for (place, (name, kind, why, fails)) in axis.alternatives.iter().enumerate() {
            let question = if place == 0 { axis.question.clone() } else { String::new() };
            let mark = if place == axis.headline { " (headline)" } else { "" };
            let why = match fails {
                Some(fails) => format!("{why}. Not run: {fails}"),
                None => why.clone(),
            };
            let kind = match kind {
                Kind::Literal => "the text",
                Kind::Simulator => "the simulator",
                Kind::Standard => "the standard",
                Kind::Other => "other",
            };
            let id = if place == 0 { axis.id.clone() } else { String::new() };
            let cells = vec![id, question, format!("{name}{mark}"), kind.to_owned(), why];
            rows.push(Row { cells, ..Row::default() });
        }
    }
    Table {
        id: "readings-questions".to_owned(),
        caption: "Questions that the paper leaves open, and their answers".to_owned(),
        columns: columns(&["note", "question", "answer", "by", "why"]),
        rows,
        notes: vec![],
    }
}

/// Sensitivity of the claims: differences between the answers in the share of interpretations that reproduce a
/// claim.
fn sensitivity(o: &Outcome, judgements: &[Judgement]) -> Option<Table> {
    let row = |s: &super::outcome::Standing| {
        let j = judgements.iter().find(|j| j.id == s.id)?;
        let shares = s.sensitivity.iter().map(|v| match *v {
            v if v > 0.005 => format!("{:.0}", v * 100.0),
            _ => String::new(),
        });
        let first = [
            format!("{}: {}", j.source, j.quantity),
            s.share.holds.to_string(),
            s.share.fails.to_string(),
            s.share.open.to_string(),
            s.decided_by.clone().unwrap_or_default(),
        ];
        let cells = first.into_iter().chain(shares).collect();
        Some(Row { cells, ..Row::default() })
    };
    let moved = o.claims.iter().filter(|s| s.verdict == Verdict::DependsOnReading);
    let rows: Vec<Row> = moved.filter_map(row).collect();
    let axes = o.axes.iter().map(|a| a.id.as_str());
    let heads: Vec<&str> =
        ["claim", "holds", "fails", "open", "decided by"].into_iter().chain(axes).collect();
    (!rows.is_empty()).then(|| Table {
        id: "readings-sensitivity".to_owned(),
        caption: "Claims that depend on the interpretation: difference, in percentage points, between the shares of interpretations \
                  that reproduce them, over the answers to each question"
            .to_owned(),
        columns: columns(&heads),
        rows,
        notes: vec![],
    })
}

/// Specification curves of the claims that depend most on the interpretation.
fn curves<'a>(
    o: &'a Outcome,
    claims: &'a [Claim],
    judgements: &'a [Judgement],
) -> impl Iterator<Item = Curve> + 'a {
    let even = |c: usize| {
        let s = &o.claims[c];
        // Claims with a published value are first, then claims whose interpretations are split most evenly.
        let figure = claims.iter().any(|claim| claim.id == s.id && claim.paper.is_some());
        (!figure, usize::MAX - s.share.holds.min(s.share.decided() - s.share.holds))
    };
    let mut moved: Vec<usize> =
        (0..o.claims.len()).filter(|c| o.claims[*c].verdict == Verdict::DependsOnReading).collect();
    moved.sort_by_key(|c| even(*c));
    moved.truncate(CURVES);
    moved.into_iter().filter_map(|c| curve(o, c, claims, judgements))
}

fn curve(o: &Outcome, place: usize, claims: &[Claim], judgements: &[Judgement]) -> Option<Curve> {
    let standing = &o.claims[place];
    let claim = claims.iter().find(|c| c.id == standing.id)?;
    let judgement = judgements.iter().find(|j| j.id == standing.id)?;
    let target = claim.compare_with.as_ref().map(|c| c.value).or(claim.paper);
    let band = target.zip(claim.tolerance.as_ref()).map(|(target, t)| {
        let allowed =
            t.absolute.unwrap_or_default() + t.relative.unwrap_or_default() * target.abs();
        [target - allowed, target + allowed]
    });
    let finite = |v: f64| Some(v).filter(|v| v.is_finite());
    let point = |m: &Made| {
        let seen = &m.seen[place];
        Some(CurvePoint {
            value: seen.measured.and_then(finite)?,
            low: seen.ci95.and_then(|ci| finite(ci[0])),
            high: seen.ci95.and_then(|ci| finite(ci[1])),
            badge: seen.verdict.badge(),
            choice: m.choice.clone(),
            headline: m.stage == Stage::Headline,
        })
    };
    let answers = |a: &super::outcome::Asked| {
        (a.id.clone(), a.alternatives.iter().map(|(name, ..)| name.clone()).collect())
    };
    let unit = if judgement.unit == "1" { String::new() } else { format!(" ({})", judgement.unit) };
    let decided =
        standing.decided_by.as_ref().map_or(String::new(), |id| format!(" {id} decides."));
    Some(Curve {
        id: format!("curve-{}", place + 1),
        caption: format!(
            "{}: {}. Interpretations: {}.{decided}",
            judgement.source, judgement.quantity, standing.share
        ),
        value: format!("measured{unit}"),
        band,
        points: o.readings.iter().filter_map(point).collect(),
        axes: o.axes.iter().map(answers).collect(),
    })
}
