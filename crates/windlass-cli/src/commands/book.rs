//! `windlass book`, which `docs/tables.py` calls for the reference pages.

use windlass_lab::catalogue;
use windlass_lab::run::fields::{LISTINGS, Listing};

use crate::args::{Book, Part, page};
use crate::output::{Failure, print};

/// Prints a part of the book.
pub fn run(args: &Book) -> Result<(), Failure> {
    print(&match args.part {
        Part::CommandLine => page::markdown(),
        Part::Algorithms => catalogue::markdown(),
        Part::Fields => fields(listing(args.name.as_deref().unwrap_or_default())?),
    })
}

fn listing(name: &str) -> Result<&'static Listing, Failure> {
    let names = LISTINGS.map(|listing| listing.name);
    let found = LISTINGS.iter().find(|listing| listing.name == name);
    found.ok_or_else(|| Failure::unknown("table", name, &names))
}

/// The columns and metrics of a table. A metric without a column has no type.
fn fields(listing: &Listing) -> String {
    let row = |field: &windlass_lab::run::fields::Field| {
        let kind = if field.column { field.type_text() } else { "metric only".into() };
        let better = field.better.map_or(String::new(), |b| format!("{b:?}").to_lowercase());
        format!("| `{}` | {kind} | {better} | {} |\n", field.name, field.meaning)
    };
    let rows: String = listing.fields().iter().map(row).collect();
    format!("| field | type | better | meaning |\n| --- | --- | --- | --- |\n{rows}")
}
