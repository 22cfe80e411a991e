//! A parsed paper.

use std::collections::BTreeMap;

use crate::claims::LeastEffect;
use crate::template::Vars;

/// A paper with the data that reproduce it.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Identifier on the command line, the name of its folder.
    pub id: String,
    /// Title.
    pub title: String,
    /// Authors in the paper's order.
    pub authors: Vec<String>,
    /// Where and when it appeared.
    pub published: String,
    /// Digital object identifier; may be empty.
    pub doi: String,
    /// BibTeX entry; may be empty.
    pub citation: String,
    /// One paragraph on the paper's claims and on this reproduction.
    pub summary: String,
    /// The smallest relevant effect of its claims.
    pub least_effect: LeastEffect,
    /// Text of `experiments.toml`.
    pub experiments: String,
    /// Text of `claims.toml`.
    pub claims: String,
    /// Text of `fidelity.md`.
    pub fidelity: String,
    /// Scenarios: file name and text.
    pub scenarios: Vec<(String, String)>,
    pub(crate) files: BTreeMap<String, String>,
    pub(super) folder: String,
    pub(super) posed: Option<Posed>,
}

/// The question of an examination. An examination is otherwise a paper.
#[derive(Clone, Debug, Default)]
pub(crate) struct Posed {
    /// Values for names of the `let` tables of its experiments and claims.
    pub given: Vars,
    /// The command of its runs.
    pub command: String,
    /// Beginnings of the identifiers of the selected claims; empty for all claims.
    pub claims: Vec<String>,
}
