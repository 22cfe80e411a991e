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
    /// Intact lines have a form that this version does not support. They stay and are ignored.
    Foreign {
        /// Number of the first line, from 1.
        line: usize,
        /// Number of such lines.
        lines: usize,
    },
    /// Lines repeat earlier lines, and are ignored.
    Repeated {
        /// Number of the first line, from 1.
        line: usize,
        /// Number of such lines.
        lines: usize,
    },
    /// Another instance is at work, or the disk has no locks.
    Beside,
    /// Runs of another version, another kernel, or another form of the scenario. They stay and are ignored.
    Stale {
        /// Experiment identifier.
        experiment: String,
        /// Identifier of the first point with such runs.
        point: String,
        /// Number of points with such runs.
        points: usize,
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
            Notice::Foreign { line, lines: 1 } => write!(
                f,
                "line {line} of the journal was written by another version of Windlass and is \
                 ignored"
            ),
            Notice::Foreign { line, lines } => write!(
                f,
                "{lines} lines of the journal, from line {line} on, were written by another version \
                 of Windlass and are ignored"
            ),
            Notice::Repeated { line, lines: 1 } => {
                write!(f, "line {line} of the journal repeats an earlier line and is ignored")
            }
            Notice::Repeated { line, lines } => write!(
                f,
                "{lines} lines of the journal, from line {line} on, repeat earlier lines and are \
                 ignored"
            ),
            Notice::Beside => f.write_str(
                "another Windlass is at work in this folder, or its disk has no locks; each \
                 process uses the finished runs of the other, but both execute a run that both have begun",
            ),
            Notice::Stale { experiment, point, points, runs } => {
                write!(f, "{runs} earlier runs of {experiment} at ")?;
                match points {
                    1 => write!(f, "{point:?}")?,
                    _ => write!(f, "{points} points, such as {point:?},")?,
                }
                f.write_str(
                    " come from another version of Windlass, of the scenario or of the kernel and do \
                     not count",
                )
            }
        }
    }
}
