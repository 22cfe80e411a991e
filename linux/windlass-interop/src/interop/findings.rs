//! Findings of a run.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// An expectation that was not met.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Expected behaviour.
    pub expected: String,
    /// Actual behaviour.
    pub found: String,
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// Findings of a run during their collection.
#[derive(Debug, Default)]
pub(super) struct Findings(pub Vec<Finding>);

impl Findings {
    /// Adds a finding unless `holds`.
    pub fn expect(&mut self, holds: bool, expected: impl Display, found: impl Display) {
        if !holds {
            self.0.push(Finding { expected: expected.to_string(), found: found.to_string() });
        }
    }
}
