//! Verdicts for readers.

use serde::Serialize;

/// A verdict for readers: a sign and words, and not only a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// Its colour.
    pub tone: Tone,
    /// One character before the name.
    pub sign: &'static str,
    /// The verdict in a word or two of lower-case letters.
    pub name: &'static str,
    /// Its meaning, as half a sentence.
    pub meaning: &'static str,
}

impl Badge {
    /// The name with a capital, as the beginning of a sentence.
    pub fn heading(&self) -> String {
        let mut letters = self.name.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    }
}

/// The colour of a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// The expected result.
    Good,
    /// Close to the expected result.
    Near,
    /// The opposite.
    Bad,
    /// Neutral.
    None,
}

impl Tone {
    /// Its name in the page's style.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Near => "near",
            Tone::Bad => "bad",
            Tone::None => "none",
        }
    }
}
