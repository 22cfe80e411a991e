//! What a report shows of a paper's readings.

use super::file::Kind;
use super::outcome::{Made, Outcome, Stage};
use crate::claims::{Basis, Claim, Judgement, Verdict, statements};
use crate::papers::parts::cells::measured;
use crate::papers::parts::tables::columns;
use crate::report::model::{
    Block, Curve, CurvePoint, Row, Section, StatementRow, Statements, Table,
};
use crate::report::numbers::printed;

/// Anchor of the section on readings.
pub const SECTION: &str = "readings";
/// Specification curves at most: those of the claims that depend most on the reading.
const CURVES: usize = 8;

/// The opening picture: every statement of the paper as a row.
pub(crate) fn glance(judgements: &[Judgement], outcome: Option<&Outcome>) -> Section {
    let row = |s: crate::claims::Statement<'_>| {
        let first = s.claims.iter().find(|j| j.kind == s.kind).unwrap_or(&s.claims[0]);
        let share = |verdict| s.in_readings.iter().filter(|v| **v == verdict).count();
        let shares =
            [Verdict::Reproduced, Verdict::SameDirection, Verdict::Contradicted].map(share);
        let [holds, same_direction, against] = shares;
        let open = s.in_readings.len() - shares.iter().sum::<usize>();
        let ratio = first.paper.zip(first.measured).and_then(|(paper, ours)| {
            let [low, high] = first.ci95.unwrap_or([ours; 2]);
            let all = [ours / paper, low / paper, high / paper];
            (paper > 0.0 && all[0] > 0.0 && all.iter().all(|v| v.is_finite())).then_some(all)
        });
        let unit = if first.unit == "1" { "" } else { &first.unit };
        let paper =
            first.paper.map_or(String::new(), |_| format!("{} {unit}", printed(first.paper)));
        StatementRow {
            label: format!("{}: {}", first.source, first.quantity),
            paper: paper.trim_end().to_owned(),
            ours: first.measured.map_or(String::new(), |_| measured(first)),
            ratio,
            readings: (!s.in_readings.is_empty()).then_some([holds, same_direction, against, open]),
            basis: s.kind.name(),
            badge: s.verdict.badge(),
        }
    };
    // What was measured comes first: arithmetic needs no picture.
    let mut all = statements(judgements);
    all.sort_by_key(|s| s.kind != Basis::Measured);
    let rows: Vec<StatementRow> = all.into_iter().map(row).collect();
    let of = outcome.map_or(String::new(), |o| {
        format!(" Each was read in {} ways; the verdict is that of the headline's reading, unless others differ.", o.readings.len())
    });
    let caption =
        format!("Every statement of the paper that can be checked, {} in all.{of}", rows.len());
    let picture = Statements { id: "glance-picture".to_owned(), caption, rows };
    Section {
        id: "glance".to_owned(),
        title: "At a glance".to_owned(),
        blocks: vec![Block::Statements(picture)],
    }
}

/// The section: what was read in which ways, what hangs on what, and a curve for each claim that does.
pub(crate) fn section(outcome: &Outcome, claims: &[Claim], judgements: &[Judgement]) -> Section {
    let mut blocks = vec![Block::Text { text: words(outcome) }, Block::Table(questions(outcome))];
    blocks.extend(sensitivity(outcome, judgements).map(Block::Table));
    blocks.extend(curves(outcome, claims, judgements).map(Block::Curve));
    Section { id: SECTION.to_owned(), title: "Readings of the paper".to_owned(), blocks }
}

fn words(o: &Outcome) -> String {
    let count = |stage| o.readings.iter().filter(|r| r.stage == stage).count();
    let of = |verdict| o.claims.iter().filter(|c| c.verdict == verdict).count();
    let moving: Vec<&str> = o.axes.iter().filter(|a| a.moves).map(|a| a.id.as_str()).collect();
    let matter = match moving.as_slice() {
        [] => "No answer alone moves a verdict.".to_owned(),
        some => format!("Answers that move a verdict alone are those to {}.", some.join(", ")),
    };
    let charitable = &o.readings[o.charitable];
    let reproduced = |m: &Made| m.seen.iter().filter(|s| s.verdict == Verdict::Reproduced).count();
    let departures = match o.departures(charitable) {
        none if none.is_empty() => "the headline's itself".to_owned(),
        some => some.join(", "),
    };
    let left_out = match o.left_out {
        0 => String::new(),
        n => format!(" The budget left {n} more out."),
    };
    let unfinished =
        if o.finished { "" } else { " The command was ended before it had made them all." };
    let impossible = match o.impossible.len() {
        0 => String::new(),
        n => format!(" {n} combinations contradict themselves: {}.", o.impossible.join("; ")),
    };
    format!(
        "The paper leaves {} questions open that can be answered in several ways, {} readings in all. \
         Run were {}: the headline's, {} with one other answer, {} combinations of answers that matter, {} drawn \
         with seed {}.{unfinished}{left_out}{impossible} {matter}\n\n\
         Of {} claims that rest on runs, {} are reproduced in every reading that decides them, {} are \
         contradicted in every one, {} depend on the reading, {} are undecided in the headline's. The headline \
         is chosen without a look at results: the literal text where it runs, else what the paper's simulator does by \
         default, else the standard of its year.\n\n\
         The most charitable reading, under which most claims hold, is {departures}: {} hold, {} in the headline's. It \
         was chosen by its results, and says how well the paper can be met, not how well it was.",
        o.axes.len(),
        o.total,
        o.readings.len(),
        count(Stage::Alone),
        count(Stage::Together),
        count(Stage::Drawn),
        o.drawn_from,
        o.claims.len(),
        of(Verdict::Reproduced) + of(Verdict::SameDirection),
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
        caption: "What the paper leaves open, and how it can be read".to_owned(),
        columns: columns(&["note", "question", "answer", "by", "why"]),
        rows,
        notes: vec![],
    }
}

/// By how much the share of readings in which a claim holds hangs on each answer.
fn sensitivity(o: &Outcome, judgements: &[Judgement]) -> Option<Table> {
    let row = |s: &super::outcome::Standing| {
        let j = judgements.iter().find(|j| j.id == s.id)?;
        let shares = s.sensitivity.iter().map(|v| match *v {
            v if v > 0.005 => format!("{:.0}", v * 100.0),
            _ => String::new(),
        });
        let first = [
            format!("{}: {}", j.source, j.quantity),
            format!("{} of {}", s.holds, s.of),
            s.undecided.to_string(),
            s.decided_by.clone().unwrap_or_default(),
        ];
        let cells = first.into_iter().chain(shares).collect();
        Some(Row { cells, ..Row::default() })
    };
    let moved = o.claims.iter().filter(|s| s.verdict == Verdict::DependsOnReading);
    let rows: Vec<Row> = moved.filter_map(row).collect();
    let axes = o.axes.iter().map(|a| a.id.as_str());
    let heads: Vec<&str> =
        ["claim", "reproduced in", "undecided in", "decided by"].into_iter().chain(axes).collect();
    (!rows.is_empty()).then(|| Table {
        id: "readings-sensitivity".to_owned(),
        caption: "Claims that depend on the reading: by how many percentage points the share of readings in which \
                  they are reproduced differs between the answers to each question"
            .to_owned(),
        columns: columns(&heads),
        rows,
        notes: vec![],
    })
}

/// Specification curves of the claims that depend most on the reading.
fn curves<'a>(
    o: &'a Outcome,
    claims: &'a [Claim],
    judgements: &'a [Judgement],
) -> impl Iterator<Item = Curve> + 'a {
    let even = |c: usize| {
        let s = &o.claims[c];
        // Those with a figure first, then those that split the readings most evenly.
        let figure = claims.iter().any(|claim| claim.id == s.id && claim.paper.is_some());
        (!figure, usize::MAX - s.holds.min(s.of - s.holds))
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
            "{}: {}. It is reproduced in {} of {} readings.{decided}",
            judgement.source, judgement.quantity, standing.holds, standing.of
        ),
        value: format!("ours{unit}"),
        band,
        points: o.readings.iter().filter_map(point).collect(),
        axes: o.axes.iter().map(answers).collect(),
    })
}
