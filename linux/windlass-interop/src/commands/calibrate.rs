//! `windlass-dev calibrate`.

use windlass_interop::calibrate::table;
use windlass_interop::worlds;

use crate::args::Calibrate;
use crate::failure::{Failure, print};

/// Measures and prints. A value out of bounds is a failure.
pub fn run(args: &Calibrate) -> Result<(), Failure> {
    let mut tell = |point: &str| eprintln!("measuring: {point}");
    let calibration = worlds::calibrate(args.on, args.quick, &mut tell).map_err(Failure::of_run)?;
    if args.json {
        let text =
            serde_json::to_string_pretty(&table::document(args.on, args.quick, &calibration));
        print(&format!("{}\n", text.map_err(Failure::work)?))?;
    } else {
        print(&table::text(&calibration))?;
    }
    if calibration.is_ok() {
        return Ok(());
    }
    let invalid: Vec<&str> =
        calibration.points.iter().flat_map(|p| &p.invalid).map(String::as_str).collect();
    Err(Failure::work(match invalid.first() {
        None => "the links do not deliver the requested values".to_string(),
        Some(first) => format!("measurement incomplete: {first}"),
    }))
}
