//! `windlass diff`.

use windlass_lab::diff::Diff as Found;
use windlass_lab::report::text;

use crate::args::Diff;
use crate::output::{Failure, print, width};

/// Prints the differences of two folders of results.
pub fn run(args: &Diff) -> Result<(), Failure> {
    let found = Found::read(&args.first, &args.second).map_err(Failure::of)?;
    print(&format!("{}\n", found.summary()))?;
    if found.is_same() {
        return Ok(());
    }
    for table in found.tables(&args.metric).map_err(Failure::of)? {
        print(&format!("\n{}", text::table_within(&table, width())))?;
    }
    Ok(())
}
