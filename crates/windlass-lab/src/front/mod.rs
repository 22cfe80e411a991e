//! The first screen of a report: the claims of the abstract with their verdicts, then every statement.

mod answers;
mod file;
mod rows;

pub(crate) use answers::{Asked, answers};
pub(crate) use file::{FILE, sentences};
pub(crate) use rows::glance;

use crate::claims::{Claim, Judgement, Statement, Verdict};
use crate::papers::parts::cells::measured;
use crate::report::numbers::{number, printed};

/// The part of a statement that decides it: the first whose verdict is the statement's, else the first of its kind.
fn deciding<'a>(statement: &Statement<'a>) -> &'a Judgement {
    let own = || statement.claims.iter().copied().filter(|j| j.kind == statement.kind);
    let decides = |j: &&Judgement| j.verdict == statement.verdict;
    own().find(decides).or_else(|| own().next()).unwrap_or(statement.claims[0])
}

/// The unit after a space, or an empty text.
fn unit(name: &str) -> String {
    if name == "1" || name.is_empty() { String::new() } else { format!(" {name}") }
}

/// The published value with its unit, the corrected value and the tolerance.
fn published(j: &Judgement, claim: Option<&Claim>) -> String {
    let Some(paper) = j.paper else { return String::new() };
    let mut text = format!("{}{}", printed(Some(paper)), unit(&j.unit));
    let corrected = claim.and_then(|c| c.compare_with.as_ref());
    if let Some(corrected) = corrected {
        text += &format!(", judged as {}{}", number(corrected.value), unit(&j.unit));
    }
    if let Some(tolerance) = claim.and_then(|c| c.tolerance.as_ref()) {
        let target = corrected.map_or(paper, |c| c.value);
        text += &format!(" ± {}", number(tolerance.about(target)));
    }
    text
}

/// The measured value with its unit and interval, and both sides of a comparison; nothing without a run.
fn found(j: &Judgement) -> String {
    if j.measured.is_none() || j.verdict == Verdict::NotRun {
        return String::new();
    }
    let value = format!("{}{}", measured(j), unit(&j.unit));
    match j.sides.as_slice() {
        [a, b] => {
            let side = |s: &crate::claims::Side| {
                format!("{} {}{}", s.name, number(s.value), unit(&s.unit))
            };
            format!("{value}: {}; {}", side(a), side(b))
        }
        _ => value,
    }
}
