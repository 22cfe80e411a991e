//! `windlass schema`.

use windlass_lab::{claims, scenario};

use crate::args::SchemaOf;
use crate::output::{Failure, print};

/// Prints the schema of an input or output format.
pub fn run(of: SchemaOf) -> Result<(), Failure> {
    let schema = match of {
        SchemaOf::Scenario => scenario::json_schema(),
        SchemaOf::Verdicts => claims::json_schema(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::work)?;
    print(&format!("{text}\n"))
}
