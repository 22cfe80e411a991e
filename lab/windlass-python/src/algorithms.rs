//! Algorithms, slow starts and timers of Windlass, as a table.

use pyo3::prelude::*;
use windlass_lab::catalogue::{Entry, entries};
use windlass_lab::run::store::{Column, Table as Plain, Values};

use crate::table::Table;

/// Algorithms, slow starts and timers, a row each.
#[pyfunction]
pub fn algorithms() -> PyResult<Table> {
    let all = entries();
    let column = |name: &'static str, meaning, of: fn(&Entry) -> &str| Column {
        name: name.into(),
        meaning,
        values: Values::Text(all.iter().map(|e| Some(of(e).to_owned())).collect()),
    };
    let columns = vec![
        column("id", "Identifier in scenarios", |e| e.info().id),
        column("kind", "algorithm, slow start or timer", |e| e.kind()),
        column("name", "Name", |e| e.info().name),
        column("origin", "RFC with section, or paper", |e| e.info().origin),
        column("citation", "BibTeX key of the origin", |e| e.info().citation),
        column("description", "Description, and deviations from the origin", |e| {
            e.info().description
        }),
    ];
    Table::of(vec![Plain { name: "algorithms", columns }])
}
