//! `windlass-stacks`: the page on smoltcp under packet scripts and over lossy links.

use std::path::Path;

use windlass_stacks::{judged, lossy};

/// Runs of each cell.
const SEEDS: u64 = 20;

fn main() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/scripts");
    println!("{}", judged::table(&judged::all(&folder)?));
    println!("{}", lossy::table(SEEDS));
    Ok(())
}
