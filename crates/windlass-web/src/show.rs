//! A run of a scenario as parts of a page.

use serde::{Deserialize, Serialize};
use windlass_lab::report::html;
use windlass_lab::run_page;
use windlass_lab::scenario::{Scenario, ScenarioError};

use crate::Refusal;
use crate::knobs::{self, Knob, Turn};

/// What a scenario is called that does not say.
const NAME: &str = "scenario.toml";

/// How much is shown.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Curves and explanations: as quick as can be, for a reader who drags.
    Curves,
    /// The packets around reductions too.
    Packets,
}

/// A run.
#[derive(Serialize)]
pub struct Shown {
    /// The scenario's text, changed where a value was turned.
    text: String,
    /// What of it can be turned.
    knobs: Vec<Knob>,
    title: String,
    /// What happened, in sentences.
    summary: String,
    /// The sections of its page, HTML.
    sections: String,
}

/// Runs a scenario with its own seed and shows it.
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
