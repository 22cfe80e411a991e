//! An examination as it was read.

use serde::Deserialize;

use crate::papers::paper::Paper;
use crate::scenario::Candidate;

/// What a document asks of an algorithm.
#[derive(Clone, Debug)]
pub struct Examination {
    pub(super) paper: Paper,
    pub(super) families: Vec<Asked>,
    pub(super) rivals: Vec<String>,
    /// Beginnings of the claims that are asked, all if there are none.
    pub(super) parts: Vec<String>,
}

/// What is examined.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What it is called.
    pub label: String,
    /// The algorithm of its flows, as scenarios name it. Not what runs, if another runs in its place.
    pub(super) seat: String,
}

impl From<&Candidate> for Subject {
    fn from(candidate: &Candidate) -> Subject {
        Subject { label: candidate.label.clone(), seat: candidate.label.clone() }
    }
}

impl Subject {
    /// An algorithm from outside, which the back end runs on the flows that have the algorithm `seat`
    /// ([`Simulator::with_controllers`](crate::run::Simulator::with_controllers)). No scenario file makes its runs again, so
    /// that its scorecard names none.
    pub fn in_place_of(seat: &Candidate, label: String) -> Subject {
        Subject { label, seat: seat.label.clone() }
    }

    /// Whether scenario files make its runs again.
    pub(super) fn has_files(&self) -> bool {
        self.label == self.seat
    }
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
    /// It takes a subject that uses several paths.
    #[serde(default)]
    pub several_paths: bool,
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
    #[serde(default)]
    pub rivals: Vec<String>,
}
