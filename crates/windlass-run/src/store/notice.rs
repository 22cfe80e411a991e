//! Notices for the user of a folder.

use std::fmt;

/// A notice about a batch that does not stop the work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The journal's last line was incomplete or damaged and was removed; its run is repeated.
    CutOff {
        /// Line number, from 1.
        line: usize,
        /// Its bytes.
        bytes: usize,
    },
    /// An intact line has a form that this version does not support. It stays and is ignored.
    Foreign {
        /// Line number, from 1.
        line: usize,
    },
    /// A line repeats an earlier line, and is ignored.
    RepeatedLine {
        /// Line number, from 1.
        line: usize,
    },
    /// Another instance is at work, or the disk has no locks.
    Beside,
    /// Runs of another version, another kernel, or another form of the scenario. They stay and are ignored.
    Stale {
        /// Experiment identifier.
        experiment: String,
        /// Point identifier.
        point: String,
        /// Number of runs.
        runs: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::CutOff { line, bytes } => write!(
                f,
                "line {line} of the journal was incomplete ({bytes} bytes, after a kill) \
                 and was removed; its run must be repeated"
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
                "another Windlass is at work in this folder, or its disk has no locks; each \
                 process uses the finished runs of the other, but both execute a run that both have begun",
            ),
            Notice::Stale { experiment, point, runs } => write!(
                f,
                "{runs} earlier runs of {experiment} at {point:?} come from another version of \
                 Windlass, of the scenario or of the kernel and do not count"
            ),
        }
    }
}
