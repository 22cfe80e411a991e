//! Errors in a script's text, with their places.

use std::fmt;
use std::ops::Range;

/// Reason why a text is not a script. [`Display`](fmt::Display) writes one line: `file:line:column: the
/// fault; the remedy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte range of the fault in the text.
    pub span: Range<usize>,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, "; {}", self.help) }
    }
}

impl std::error::Error for ScriptError {}

/// An error before its file is known.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl Problem {
    /// Creates a problem at this place.
    pub fn new(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { span, message: message.into(), help: help.into() }
    }

    /// Returns the error with its place in the text of the file called `file`.
    pub fn in_file(self, file: &str, text: &str) -> ScriptError {
        let start = self.span.start.min(text.len());
        let before = text.get(..start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ScriptError {
            file: file.to_owned(),
            line,
            column: before[line_start..].chars().count() + 1,
            span: start..self.span.end.clamp(start, text.len()),
            message: self.message,
            help: self.help,
        }
    }
}
