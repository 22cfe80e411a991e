//! Errors at a place of a text, with suggestions.

use std::ops::Range;

/// A stretch of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// 0 is the file, `n` the `n`-th override.
    pub(super) source: usize,
    /// Bytes.
    pub(super) span: Range<usize>,
}

/// An error before the texts of its places are available.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The word that was probably meant.
    pub(super) suggestion: Option<String>,
}

impl Problem {
    pub(super) fn new(place: &Place, message: impl Into<String>) -> Problem {
        Problem { place: place.clone(), message: message.into(), help: None, suggestion: None }
    }

    /// An error about an unknown word. The message ends with the suggestion. Without a suggestion
    /// it ends with the known words, which otherwise are the help.
    pub(super) fn suggesting(
        place: &Place,
        message: String,
        near: Option<&str>,
        known: String,
    ) -> Problem {
        let Some(word) = near else { return Problem::new(place, format!("{message}; {known}")) };
        let problem = Problem::new(place, message + &suggested(word)).help(known);
        Problem { suggestion: Some(word.to_owned()), ..problem }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// `; did you mean ...?`, or nothing if no known word is similar or has the same beginning.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, suggested)
}

/// `; did you mean ...?`, or the list of the known words.
pub fn what_there_is(word: &str, known: &[&str]) -> String {
    match (nearest(word, known), known) {
        (Some(near), _) => suggested(near),
        (None, []) => "; none exists".to_owned(),
        (None, _) => format!("; there are {}", listed(known)),
    }
}

fn suggested(word: &str) -> String {
    format!("; did you mean `{word}`?")
}

/// The known word that is similar or has the same beginning.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    const LEAST_BEGINNING: usize = 3;
    let lower = word.to_lowercase();
    let distance = |k: &str| strsim::damerau_levenshtein(&lower, &k.to_lowercase());
    let nearest = known.iter().map(|k| (distance(k), *k)).min_by_key(|(d, _)| *d);
    let near = nearest.filter(|(d, k)| *d <= 1 + k.chars().count() / 4).map(|(_, k)| k);
    let begins_alike = |k: &&&str| lower.len() >= LEAST_BEGINNING && k.starts_with(&lower);
    near.or_else(|| known.iter().find(begins_alike).copied())
}

/// The words in backquotes, separated by commas. A long list is cut short.
pub fn listed(words: &[&str]) -> String {
    const MOST: usize = 30;
    let shown: Vec<String> = words.iter().take(MOST).map(|word| format!("`{word}`")).collect();
    let more = if words.len() > MOST { ", ..." } else { "" };
    shown.join(", ") + more
}

/// The error for a name that none of these stations has.
pub(crate) fn no_station(name: &str, known: &[&str]) -> String {
    let (name, known) = (name.escape_debug(), listed(known));
    format!("`{name}` is not a station of this cell; its stations are {known}")
}
