//! The statements of a paper as rows.

use super::values::{deciding, found, in_main_interpretation, published};
use crate::claims::{Basis, Claim, Judgement, Share, Statement, Verdict, statements};
use crate::readings::Outcome;
use crate::report::model::{Block, Section, StatementRow, Statements};

/// The section with a row for each statement.
pub(crate) fn glance(
    claims: &[Claim],
    judgements: &[Judgement],
    outcome: Option<&Outcome>,
) -> Section {
    // Measured statements are first.
    let mut all = statements(judgements);
    all.sort_by_key(|s| s.kind != Basis::Measured);
    let rows: Vec<StatementRow> = all.iter().map(|s| row(s, claims)).collect();
    let of = outcome.map_or(String::new(), |o| {
        format!(" The verdict counts {} interpretations of the paper.", o.readings.len())
    });
    let caption = format!("The {} statements of the paper that can be checked.{of}", rows.len());
    let picture = Statements { id: "glance-picture".to_owned(), caption, rows };
    Section {
        id: "glance".to_owned(),
        title: "At a glance".to_owned(),
        blocks: vec![Block::Statements(picture)],
    }
}

fn row(statement: &Statement<'_>, claims: &[Claim]) -> StatementRow {
    let part = deciding(statement);
    let claim = claims.iter().find(|c| c.id == part.id);
    let share = Share::of(&statement.in_readings);
    StatementRow {
        source: part.source.clone(),
        label: part.quantity.clone(),
        parts: statement.claims.len(),
        paper: published(part, claim),
        measured: found(part, claim) + &in_main_interpretation(statement),
        ratio: claim.and_then(|claim| ratio(part, claim)),
        band: claim.and_then(band),
        readings: (!statement.in_readings.is_empty()).then_some([
            share.holds,
            share.same_direction,
            share.fails,
            share.open,
        ]),
        basis: statement.kind.name(),
        badge: statement.verdict.badge(),
    }
}

/// The measured value and its interval, divided by the value that it is compared with. `None` if the quotients are not
/// positive.
fn ratio(part: &Judgement, claim: &Claim) -> Option<[f64; 3]> {
    let (target, measured) = claim.target().zip(part.measured)?;
    let [low, high] = part.ci95.unwrap_or([measured; 2]);
    let all = [measured, low, high].map(|v| v / target);
    let shown = part.verdict != Verdict::NotRun && target > 0.0 && all[0] > 0.0;
    (shown && all.iter().all(|v| v.is_finite())).then_some(all)
}

/// The ends of the tolerance, divided by the value that the measured value is compared with.
fn band(claim: &Claim) -> Option<[f64; 2]> {
    let (target, tolerance) = claim.target().zip(claim.tolerance.as_ref())?;
    let allowed = tolerance.about(target) / target;
    (target > 0.0).then_some([1.0 - allowed, 1.0 + allowed])
}
