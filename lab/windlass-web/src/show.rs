//! A run of a scenario as parts of a page.

use serde::{Deserialize, Serialize};
use windlass_lab::report::html;
use windlass_lab::run_page;
use windlass_lab::scenario::{Scenario, ScenarioError};

use crate::Refusal;
use crate::knobs::{self, Knob, Turn};

/// Name of a scenario without a name.
const NAME: &str = "scenario.toml";

/// Amount of detail.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Curves and explanations only: fast, for a user who drags a value.
    Curves,
    /// Also the packets around reductions.
    Packets,
}

/// A run.
#[derive(Serialize)]
pub struct Shown {
    /// The scenario's text, with the changed value if a value was changed.
    text: String,
    /// Values that can be changed.
    knobs: Vec<Knob>,
    title: String,
    /// Summary of the run, in sentences.
    summary: String,
    /// The sections of its page, as HTML.
    sections: String,
}

/// Runs a scenario with its own seed and returns the parts of the page.
pub fn show(text: String, turn: Option<Turn>, detail: Detail) -> Result<Shown, Refusal> {
    let text = match turn {
        Some(turn) => knobs::turned(&text, &turn).map_err(|message| Refusal::of(&text, message))?,
        None => text,
    };
    let scenario = Scenario::from_str(&text, NAME).map_err(|e| located(&text, &e))?;
    let page = run_page::look(&scenario, scenario.seed, detail == Detail::Packets);
    let page = page.map_err(|e| Refusal::of(&text, e))?;
    let sections = html::sections(&page).map_err(|e| Refusal::of(&text, e))?;
    Ok(Shown {
        knobs: knobs::knobs(&text),
        title: page.title,
        summary: page.summary,
        sections,
        text,
    })
}

fn located(text: &str, error: &ScenarioError) -> Refusal {
    let (line, column) = error.line_and_column().unzip();
    Refusal {
        text: text.to_owned(),
        message: error.message().to_owned(),
        help: error.help_text().map(str::to_owned),
        line,
        column,
    }
}
