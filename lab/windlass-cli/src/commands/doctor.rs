//! `windlass doctor`.

use std::fmt::Display;

use windlass_lab::report::model::{Row, Table};
use windlass_lab::report::text;
use windlass_lab::run::World;

use super::making::runner;
use crate::output::{Failure, print, width};

/// Prints the commands that this machine can execute, and the remedies for the others.
pub fn run() -> Result<(), Failure> {
    let runner = runner(1);
    let mut rows = Vec::new();
    for world in World::ALL {
        let checked = runner.backend(world).and_then(|backend| backend.check());
        rows.push(row(&format!("run --on {world}"), checked));
    }
    rows.extend(of_kernel());
    let table = Table {
        id: "doctor".to_owned(),
        caption: "Commands on this machine".to_owned(),
        columns: ["command", "available", "missing part and remedy"].map(str::to_owned).to_vec(),
        rows,
        ..Table::default()
    };
    print(&text::table_within(&table, width()))
}

fn row(what: &str, checked: Result<(), impl Display>) -> Row {
    let (word, remedy) = match checked {
        Ok(()) => ("yes", String::new()),
        Err(e) => ("no", e.to_string()),
    };
    Row { cells: vec![what.to_owned(), word.to_owned(), remedy], ..Row::default() }
}

/// Checks for Windlass's algorithms in a kernel.
#[cfg(all(feature = "linux", target_os = "linux"))]
fn of_kernel() -> Vec<Row> {
    use windlass_testbed::bpf::{self, object};
    let here = std::env::current_dir().unwrap_or_default();
    let checkout = object::checkout(&here);
    vec![
        row("kernel build", checkout.and_then(|folder| object::check_tools(&folder))),
        row("kernel load", bpf::check()),
    ]
}

#[cfg(not(all(feature = "linux", target_os = "linux")))]
fn of_kernel() -> Vec<Row> {
    let why = "this Windlass was built for another system, or without the feature `linux`";
    vec![row("kernel build", Err(why)), row("kernel load", Err(why))]
}
