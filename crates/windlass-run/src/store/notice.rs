//! What the user of a folder should know.

use std::fmt;

/// Something about a batch that its user should know, though work can go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The journal's last line was half or damaged, and was cut off; its run is made again.
    CutOff {
        /// Line number, from 1.
        line: usize,
        /// Its bytes.
        bytes: usize,
    },
    /// An intact line is of a form that this version does not know. It stays and is ignored.
    Foreign {
        /// Line number, from 1.
        line: usize,
    },
    /// A line says what an earlier one said, and is ignored.
    RepeatedLine {
        /// Line number, from 1.
        line: usize,
    },
    /// Another instance is at work, or the disk has no locks to tell.
    Beside,
    /// Runs that another version made, another kernel, or another form of the scenario. They stay and are ignored.
    Stale {
        /// Experiment identifier.
        experiment: String,
        /// Point identifier.
        point: String,
        /// How many runs.
        runs: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::CutOff { line, bytes } => write!(
                f,
                "line {line} of the journal was incomplete ({bytes} bytes, as a killed run leaves \
                 it) and was removed; its run has to be made again"
            ),
            Notice::Foreign { line } => write!(
                f,
                "line {line} of the journal was written by another version of Windlass and is \
                 ignored"
            ),
            Notice::RepeatedLine { line } => {
                write!(f, "line {line} of the journal repeats an earlier one and is ignored")
            }
            Notice::Beside => f.write_str(
                "another Windlass is at work in this folder, or its disk has no locks to tell; what each \
                 makes counts for both, and what both are making now is made twice",
            ),
            Notice::Stale { experiment, point, runs } => write!(
                f,
                "{runs} earlier runs of {experiment} at {point:?} come from another version of \
                 Windlass, of the scenario or of the kernel and do not count"
            ),
        }
    }
}
