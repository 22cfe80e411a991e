//! `windlass-stacks`: other stacks at the ends of flows, and the tables of their page.

use std::path::Path;
use std::process::ExitCode;

use windlass_stacks::command::{self, Arguments, USAGE};
use windlass_stacks::{judged, lossy};

/// Runs per cell.
const SEEDS: u64 = 20;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let done = match words.next().as_deref() {
        _ if std::env::args().any(|word| word == "--help") => Ok(format!("{USAGE}\n")),
        Some("run") => Arguments::read(words).and_then(|a| command::run(&a)),
        Some("tables") => tables(),
        _ => Err(format!(
            "{USAGE}\n\nwindlass-stacks tables: those of docs/src/guides/other-stacks.md"
        )),
    };
    match done {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("windlass-stacks: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The generated tables of the page.
fn tables() -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/scripts");
    let mut out = format!("### Over lossy links\n\n{}\n", lossy::table(SEEDS)?);
    for (name, contestant) in [("smoltcp", &judged::SMOLTCP), ("lwIP", &judged::LWIP)] {
        let all = judged::all(&folder, contestant)?;
        out.push_str(&format!(
            "### {name} under the scripts\n\n{}\n",
            judged::table(&all, contestant)
        ));
    }
    Ok(out)
}
