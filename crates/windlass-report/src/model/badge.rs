//! Verdicts as readers see them.

use serde::Serialize;

/// A verdict as a reader sees it: a sign and words, never a colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// How it is coloured.
    pub tone: Tone,
    /// One character before the name.
    pub sign: &'static str,
    /// The verdict in a word or two of lower-case letters.
    pub name: &'static str,
    /// What it says, as half a sentence.
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
    /// As hoped.
    Good,
    /// Not far from it.
    Near,
    /// The opposite.
    Bad,
    /// None of these.
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
