//! Errors with their places, and the format of all error messages.

use std::fmt;
use std::ops::Range;

use miette::{LabeledSpan, NamedSource, SourceCode};

use crate::problem::Problem;
use crate::tree::Node;

/// The reason why a scenario cannot be used.
///
/// [`Display`](fmt::Display) writes one line: `file:line:column: message`, or `--set key=value:
/// message` if an override causes the error. [`miette::Diagnostic`] shows the text underlined, with
/// the help below it.
#[derive(Debug)]
pub struct ScenarioError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// `file:line:column`, `--set key=value` or a file name.
    location: String,
    /// The file, with line and column, if the error is in a file.
    file: Option<(String, Option<(usize, usize)>)>,
    /// The path of the key with the error.
    key: Option<String>,
    message: String,
    help: Option<String>,
    suggestion: Option<String>,
    source: Option<NamedSource<String>>,
    span: Range<usize>,
}

/// One of the texts that make up a scenario.
pub(super) struct SourceText<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl ScenarioError {
    /// An error about a whole file.
    pub(super) fn unlocated(name: &str, message: String) -> ScenarioError {
        ScenarioError(Box::new(Inner {
            location: name.to_owned(),
            file: Some((name.to_owned(), None)),
            key: None,
            message,
            help: None,
            suggestion: None,
            source: None,
            span: 0..0,
        }))
    }

    /// An error at a place of the file. The tree gives the key, up to the place at which parsing
    /// failed.
    pub(super) fn in_file(
        file: &SourceText,
        root: Option<&Node>,
        problem: Problem,
    ) -> ScenarioError {
        let span = clamp(file.text, problem.place.span);
        let (line, column) = line_and_column(file.text, span.start);
        ScenarioError(Box::new(Inner {
            location: format!("{}:{line}:{column}", file.name),
            file: Some((file.name.to_owned(), Some((line, column)))),
            key: root.and_then(|root| root.path_of(&span)),
            message: problem.message,
            help: problem.help,
            suggestion: problem.suggestion,
            source: Some(NamedSource::new(file.name, file.text.to_owned())),
            span,
        }))
    }

    /// An error in an override, written `key=value`.
    pub(super) fn in_override(text: &str, problem: Problem) -> ScenarioError {
        ScenarioError::in_argument("--set", text, problem)
    }

    /// An error in the argument of an option of the command line.
    pub(super) fn in_argument(option: &str, text: &str, problem: Problem) -> ScenarioError {
        let span = clamp(text, problem.place.span);
        ScenarioError(Box::new(Inner {
            location: format!("{option} {text}"),
            file: None,
            key: text.split_once('=').map(|(key, _)| key.trim().to_owned()),
            message: problem.message,
            help: problem.help,
            suggestion: problem.suggestion,
            source: Some(NamedSource::new(option, text.to_owned())),
            span,
        }))
    }

    /// Places the error at `point` of a sweep: the point's name replaces `--set` in the location.
    pub fn at_point(mut self, point: &str) -> ScenarioError {
        let location = self.0.location.strip_prefix("--set ").unwrap_or(&self.0.location);
        self.0.location = format!("point `{point}`: {location}");
        self
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file with the error; `None` if an override causes it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_ref().map(|(name, _)| name.as_str())
    }

    /// Line and column in the file, from one.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        self.0.file.as_ref()?.1
    }

    /// The path of the key with the error, such as `flow[0].start`; for an override, its key.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The known word that was probably meant.
    pub fn suggestion(&self) -> Option<&str> {
        self.0.suggestion.as_deref()
    }

    /// The remedy, if the message does not give it.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.location, self.0.message)
    }
}

impl std::error::Error for ScenarioError {}

impl miette::Diagnostic for ScenarioError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help_text().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.source.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::underline(self.0.span.clone()))))
    }
}

/// Limits the span of a parser to the text and to character boundaries.
fn clamp(text: &str, span: Range<usize>) -> Range<usize> {
    let boundary = |at: usize| {
        (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let start = boundary(span.start);
    let end = boundary(span.end).max(start);
    start..end
}

/// Line and column of a byte, both from 1; the column counts characters.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
