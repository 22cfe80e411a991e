//! `windlass book`, which `docs/tables.py` calls for the reference pages.

use windlass_lab::catalogue;
use windlass_lab::run::fields::{Field, LISTINGS, Listing};
use windlass_lab::scenario::{key_table, presets};

use crate::args::{Book, Part, page};
use crate::output::{Failure, print};

/// Prints a part of the book.
pub fn run(args: &Book) -> Result<(), Failure> {
    print(&match args.part {
        Part::CommandLine => page::markdown(),
        Part::Algorithms => catalogue::markdown(),
        Part::Fields => fields(listing(args.names.first().map_or("", String::as_str))?),
        Part::Presets => match args.names.first().map_or("", String::as_str) {
            "dialogue" => presets::dialogue_table(),
            "reconnect" => presets::reconnect_table(),
            "dtls" => presets::dtls_table(),
            name => {
                return Err(Failure::unknown("table", name, &["dialogue", "reconnect", "dtls"]));
            }
        },
        Part::Keys => {
            let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
            key_table(&names).map_err(|name| Failure::input(format!("table `{name}` not found")))?
        }
    })
}

fn listing(name: &str) -> Result<&'static Listing, Failure> {
    let names = LISTINGS.map(|listing| listing.name);
    let found = LISTINGS.iter().find(|listing| listing.name == name);
    found.ok_or_else(|| Failure::unknown("table", name, &names))
}

/// The columns and metrics of a table. A metric without a column has no type.
fn fields(listing: &Listing) -> String {
    let row = |field: &Field| {
        let kind = if field.column { field.type_text() } else { "metric only".into() };
        let better = field.better.map_or(String::new(), |b| format!("{b:?}").to_lowercase());
        format!("| `{}` | {kind} | {better} | {} |\n", field.name, field.meaning)
    };
    let rows: String = listing.fields().iter().map(row).collect();
    format!("| field | type | better | meaning |\n| --- | --- | --- | --- |\n{rows}")
}
