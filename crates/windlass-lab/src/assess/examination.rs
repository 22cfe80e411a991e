//! An examination as it was read.

use serde::Deserialize;

use crate::papers::paper::Paper;

/// What a document asks of an algorithm.
#[derive(Clone, Debug)]
pub struct Examination {
    pub(super) paper: Paper,
    pub(super) families: Vec<Asked>,
    /// Beginnings of the claims that are asked, all if there are none.
    pub(super) parts: Vec<String>,
}

/// A family of criteria, as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub id: String,
    pub title: String,
    pub section: String,
    pub says: String,
    #[serde(default)]
    pub criterion: Vec<AskedCriterion>,
    pub not_judged: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedCriterion {
    pub id: String,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScorecardFile {
    pub family: Vec<Asked>,
}
