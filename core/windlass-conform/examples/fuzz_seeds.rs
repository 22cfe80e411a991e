//! Writes the conformance vectors as seeds of the fuzz target `controller`:
//! `cargo run -p windlass-conform --example fuzz_seeds -- fuzz/corpus/controller`.

use std::path::PathBuf;
use std::process::ExitCode;

use windlass_conform::bytes::encode;
use windlass_conform::check::history;
use windlass_conform::vectors;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("give the folder to write to");
        return ExitCode::from(2);
    };
    match write(&dir) {
        Ok(count) => {
            println!("{count} seeds in {}", dir.display());
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn write(dir: &PathBuf) -> Result<usize, Box<dyn std::error::Error>> {
    std::fs::create_dir_all(dir)?;
    let mut count = 0;
    for file in vectors() {
        let history = history(file.path.as_ref(), &file.text)?;
        let name = file.path.replace('/', "-").replace(".jsonl", "");
        std::fs::write(dir.join(name), encode(&history))?;
        count += 1;
    }
    Ok(count)
}
