//! `abstract.toml`: the claims of a paper's abstract, one sentence each, and the claims that test them.

use serde::Deserialize;
use toml::Spanned;

use crate::claims::{Claim, matches};
use crate::experiment::FileError;
use crate::papers::Paper;
use crate::scenario::what_there_is;

/// Name of the file in a paper's folder.
pub(crate) const FILE: &str = "abstract.toml";

/// One claim of an abstract.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sentence {
    /// The claim as one sentence.
    pub says: Spanned<String>,
    /// Claims that test it, by identifier or statement. `*` matches any text.
    #[serde(default)]
    pub tests: Vec<Spanned<String>>,
    /// The reason why no claim tests it.
    pub untested: Option<String>,
    /// One sentence on the cause, if the verdicts do not show it.
    pub decides: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentences {
    #[serde(default)]
    claim: Vec<Sentence>,
}

impl Sentence {
    /// True if the claim tests it.
    pub fn is_tested_by(&self, id: &str, statement: &str) -> bool {
        self.place_of(id, statement).is_some()
    }

    /// The place in `tests` of the first pattern that names a claim.
    pub fn place_of(&self, id: &str, statement: &str) -> Option<usize> {
        self.tests.iter().position(|pattern| names(pattern.get_ref(), id, statement))
    }
}

/// True if a pattern of `tests` names a claim.
fn names(pattern: &str, id: &str, statement: &str) -> bool {
    matches(pattern, id) || matches(pattern, statement)
}

/// The sentences of a paper's abstract. Empty if the folder has no `abstract.toml`.
///
/// # Errors
///
/// The file cannot be read, names no claim, or tests nothing without a reason.
pub(crate) fn sentences(paper: &Paper, claims: &[Claim]) -> Result<Vec<Sentence>, FileError> {
    let Some(text) = paper.file(FILE) else { return Ok(Vec::new()) };
    let place = paper.place(FILE);
    let all: Sentences = crate::template::read(text, &place)?;
    for sentence in &all.claim {
        let at = sentence.says.span();
        if sentence.says.get_ref().trim().is_empty() {
            return Err(FileError::at(
                &place,
                text,
                at,
                "`says` is empty; write what the paper says",
            ));
        }
        if sentence.tests.is_empty() == sentence.untested.is_none() {
            let message = "a claim of the abstract needs either `tests`, the claims that test it, or `untested`, the reason why none does";
            return Err(FileError::at(&place, text, at, message));
        }
        for pattern in &sentence.tests {
            if !claims.iter().any(|c| names(pattern.get_ref(), &c.id, c.statement())) {
                let known: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
                let instead = what_there_is(pattern.get_ref(), &known);
                let message = format!("claims.toml has no claim `{}`{instead}", pattern.get_ref());
                return Err(FileError::at(&place, text, pattern.span(), message));
            }
        }
    }
    Ok(all.claim)
}
