//! An examination, and its subject.

use serde::Deserialize;

use crate::papers::paper::Paper;
use crate::scenario::Candidate;

/// A set of criteria: the requirements of a document for an algorithm.
#[derive(Clone, Debug)]
pub struct Examination {
    pub(super) paper: Paper,
    pub(super) families: Vec<Asked>,
    pub(super) rivals: Vec<String>,
    /// Prefixes of the claims that are judged. If empty, all claims are judged.
    pub(super) parts: Vec<String>,
}

/// The algorithm that is assessed.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name in the scorecard.
    pub label: String,
    /// The algorithm of the subject's flows in the scenarios. An external algorithm may run instead of it.
    pub(super) seat: String,
    /// True if scenario files reproduce its runs.
    pub(super) has_files: bool,
}

impl From<&Candidate> for Subject {
    fn from(candidate: &Candidate) -> Subject {
        let label = match &candidate.class {
            Some(class) => format!("{}-{}", class.label(), class.version),
            None => candidate.label.clone(),
        };
        // Only its own process has a class that is defined within a function.
        let has_files = candidate.class.as_ref().is_none_or(|class| !class.name.contains('<'));
        Subject { label, seat: candidate.text(), has_files }
    }
}

impl Subject {
    /// An external algorithm. The backend runs it on the flows whose algorithm is `seat`
    /// ([`Simulator::with_controllers`](crate::run::Simulator::with_controllers)). No scenario file
    /// reproduces its runs, so that its scorecard has no commands.
    pub fn in_place_of(seat: &Candidate, label: String) -> Subject {
        Subject { label, seat: seat.label.clone(), has_files: false }
    }
}

/// A family of criteria of the file.
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
    /// True if the family needs a subject that uses several paths.
    #[serde(default)]
    pub several_paths: bool,
    /// The reason why only the simulator can run the family.
    pub simulator_only: Option<String>,
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
