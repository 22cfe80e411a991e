//! `windlass schema`.

use windlass_lab::scenario::json_schema;

use crate::output::{Failure, print};

/// Prints the schema of scenario files.
pub fn run() -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&json_schema()).map_err(Failure::work)?;
    print(&format!("{text}\n"))
}
