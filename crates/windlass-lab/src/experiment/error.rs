//! Errors in a paper's data files, with the place they stand at.

use std::ops::Range;

/// What is wrong with `experiments.toml` or `claims.toml`, and where. Displays as
/// `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Name of the file.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// One sentence with what would be right.
    pub message: String,
}

impl FileError {
    /// An error at the byte range `span` of `text`.
    pub fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> FileError {
        let before = text.get(..span.start.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        FileError { file: file.to_owned(), line, column, message: message.into() }
    }

    /// The error of the TOML reader, its explanation on one line.
    pub fn toml(file: &str, text: &str, error: &toml::de::Error) -> FileError {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        FileError::at(file, text, error.span().unwrap_or(0..0), message)
    }
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for FileError {}
