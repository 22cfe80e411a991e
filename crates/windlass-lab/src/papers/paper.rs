//! A paper as it was read.

use std::collections::BTreeMap;

use crate::claims::LeastEffect;
use crate::template::Vars;

/// A paper with everything that reproduces it.
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
    /// One paragraph on what it claims and what is done here.
    pub summary: String,
    /// The least effect that matters in its claims.
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

/// What is asked of an examination, which is a paper but for this.
#[derive(Clone, Debug, Default)]
pub(crate) struct Posed {
    /// Values for names of the `let` tables of its experiments and claims.
    pub given: Vars,
    /// The command that makes its runs.
    pub command: String,
    /// Beginnings of the claims that are asked, all if there are none.
    pub claims: Vec<String>,
}
