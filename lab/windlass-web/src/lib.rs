//! The laboratory in a browser.
//!
//! The module has one function, [`answer`]: the request and the response are JSON. A page
//! (`assets/play.html`) calls it in a worker. The script `build` puts both into one file that opens without a
//! network.
//!
//! ```
//! use windlass_web::answer;
//!
//! assert!(answer(r#"{"ask": "about"}"#).contains("\"cubic\""));
//! let wrong = answer(r#"{"ask": "show", "text": "duration = 10", "detail": "curves"}"#);
//! assert!(wrong.contains("has no unit"), "{wrong}");
//! ```
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod abi;
mod knobs;
mod show;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_lab::{catalogue, run, scenario};

/// A request.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// The version, the algorithms and the schema of scenarios.
    About,
    /// A run of a scenario, with one value changed if `turn` is given.
    Show { text: String, turn: Option<knobs::Turn>, detail: show::Detail },
}

/// An error response, with the position of the error in the scenario.
#[derive(Serialize)]
struct Refusal {
    /// The text with the error, if the user changed a value.
    text: String,
    message: String,
    help: Option<String>,
    /// Line number, from 1.
    line: Option<usize>,
    column: Option<usize>,
}

impl Refusal {
    fn of(text: &str, message: impl ToString) -> Refusal {
        let text = text.to_owned();
        Refusal { text, message: message.to_string(), help: None, line: None, column: None }
    }
}

/// Answers a request: an object with the requested data, or with `error`.
pub fn answer(request: &str) -> String {
    let answered = match serde_json::from_str(request) {
        Err(e) => Err(Refusal::of("", format!("the request cannot be read: {e}"))),
        Ok(Request::About) => Ok(about()),
        Ok(Request::Show { text, turn, detail }) => {
            show::show(text, turn, detail).map(|shown| json!(shown))
        }
    };
    answered.unwrap_or_else(|refusal| json!({ "error": refusal })).to_string()
}

fn about() -> Value {
    let entries = catalogue::entries();
    let algorithms: Vec<&str> = (entries.iter())
        .filter(|entry| matches!(entry, catalogue::Entry::Algorithm(_)))
        .map(|entry| entry.info().id)
        .collect();
    json!({
        "version": run::VERSION,
        "algorithms": algorithms,
        "schema": scenario::json_schema(),
    })
}
