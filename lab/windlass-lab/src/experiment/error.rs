//! Errors in a paper's data files, with their places.

use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::scenario::did_you_mean;

/// An error in `experiments.toml`, `claims.toml` or another data file, with its place. Displays as
/// `file:line:column: message`. [`miette::Diagnostic`] underlines the wrong text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Name of the file.
    pub file: String,
    /// Line, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// One sentence with the fault and the remedy.
    pub message: String,
    /// Text of the file, and the byte range of the error.
    text: String,
    span: Range<usize>,
}

/// Phrases of the TOML reader's messages, and their replacements.
const WORDS: [(&str, &str); 4] = [
    ("expected f64", "expected a number"),
    ("expected u64", "expected a whole number from 0"),
    ("expected a sequence", "expected a list"),
    ("wanted exactly 1 element, more than 1 element", "only one of its keys is allowed here"),
];

impl FileError {
    /// An error at the byte range `span` of `text`.
    pub fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> FileError {
        let before = text.get(..span.start.min(text.len())).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let (file, message, text) = (file.to_owned(), message.into(), text.to_owned());
        FileError { file, line, column, message, text, span }
    }

    /// Errors in the order of their places.
    pub(crate) fn in_order(mut errors: Vec<FileError>) -> Vec<FileError> {
        errors.sort_by_key(|e| (e.line, e.column));
        errors
    }

    /// An error in a line, from one, of a file whose text is not available.
    pub fn in_line(file: &str, line: usize, message: impl Into<String>) -> FileError {
        FileError { line, ..FileError::at(file, "", 0..0, message) }
    }

    /// The error of the TOML reader on one line, without Rust's names of types.
    pub fn toml(file: &str, text: &str, error: &toml::de::Error) -> FileError {
        let mut message = error.message().lines().collect::<Vec<_>>().join(" ");
        for (type_of_rust, word) in WORDS {
            message = message.replace(type_of_rust, word);
        }
        let quoted: Vec<String> =
            message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let mut span = error.span().unwrap_or(0..0);
        if let ([wrong, known @ ..], true) = (&*quoted, message.starts_with("unknown ")) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            span = within(text, &span, wrong, &message).unwrap_or(span);
            message += &did_you_mean(wrong, &known);
        }
        FileError::at(file, text, span, message)
    }
}

/// The place of an unknown word in a table, if the reader only gives the place of the table.
fn within(text: &str, table: &Range<usize>, word: &str, message: &str) -> Option<Range<usize>> {
    let rest = text.get(table.start..).filter(|rest| rest.starts_with('['))?;
    let spelt = match message {
        m if m.starts_with("unknown field ") => format!("{word} ="),
        m if m.starts_with("unknown variant ") => format!("\"{word}\""),
        _ => return None,
    };
    let start = table.start + rest.find(&spelt)?;
    Some(start..start + spelt.trim_end_matches(" =").len())
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for FileError {}

impl Diagnostic for FileError {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.text.is_empty()).then_some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::underline(self.span.clone()))))
    }
}

impl SourceCode for FileError {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, miette::MietteError> {
        let read = self.text.read_span(span, before, after)?;
        let (line, column, lines) = (read.line(), read.column(), read.line_count());
        let (data, span) = (read.data(), *read.span());
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.clone(),
            data,
            span,
            line,
            column,
            lines,
        )))
    }
}
