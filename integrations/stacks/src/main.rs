//! `windlass-stacks`: other stacks at the ends of flows, and the data of the page about them.

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
        Some("tables") => words.next().ok_or("tables: name a folder".to_owned()).and_then(tables),
        _ => Err(format!(
            "{USAGE}\n\nwindlass-stacks tables FOLDER: writes the data of docs/src/guides/other-stacks.md"
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

/// Writes the data of the page into a folder.
fn tables(out: String) -> Result<String, String> {
    let write = |name: &str, text: &str| {
        let path = Path::new(&out).join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    write("other-stacks-lossy.csv", &lossy::csv(SEEDS)?)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/scripts");
    let mut scripts = judged::HEAD.to_owned();
    for (name, contestant) in [("smoltcp", &judged::SMOLTCP), ("lwIP", &judged::LWIP)] {
        scripts.push_str(&judged::csv(name, &judged::all(&folder, contestant)?, contestant));
    }
    write("other-stacks-scripts.csv", &scripts)?;
    Ok(String::new())
}
