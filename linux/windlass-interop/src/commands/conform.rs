//! `windlass-dev conform`.

use std::fmt::Write;
use std::path::Path;

use windlass_cc::{ALGORITHMS, AnyParams};
use windlass_conform::check::{self, algorithm_of, check_text};
use windlass_conform::{CheckError, File, Outcome, vectors};
use windlass_scenario::did_you_mean;

use crate::args::Conform;
use crate::failure::{Failure, print};

/// Checks vectors, or writes them.
pub fn run(args: &Conform) -> Result<(), Failure> {
    match &args.write {
        Some(folder) => write(folder),
        None => check_all(args),
    }
}

fn write(folder: &Path) -> Result<(), Failure> {
    let count = windlass_conform::write(folder)
        .map_err(|(path, e)| Failure::work(format!("cannot write {}: {e}", path.display())))?;
    eprintln!("{count} vectors in {}", folder.display());
    Ok(())
}

fn check_all(args: &Conform) -> Result<(), Failure> {
    let wanted = args.algorithm.as_deref();
    if let Some(id) = wanted.filter(|id| AnyParams::by_name(id).is_none()) {
        let known: Vec<&str> = ALGORITHMS.iter().map(|info| info.id).collect();
        return Err(Failure::input(format!(
            "no algorithm is called \"{id}\"{}",
            did_you_mean(id, &known)
        )));
    }
    let files = if args.files.is_empty() { vectors() } else { read(args).map_err(refused)? };
    let mut outcomes = Vec::new();
    for File { path, text } in files {
        if wanted.is_none_or(|id| is_of(&text, id)) {
            outcomes.push(check_text(Path::new(&path), &text).map_err(refused)?);
        }
    }
    if outcomes.is_empty() {
        return Err(Failure::input("no vector to check; give files or folders with vectors"));
    }
    print(&table(&outcomes))?;
    let failures: Vec<String> =
        outcomes.iter().filter_map(|o| o.failure.as_ref()).map(|m| m.to_string()).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::work(failures.join("\nerror: "))) }
}

/// The given files, and those in the given folders.
fn read(args: &Conform) -> Result<Vec<File>, CheckError> {
    let mut found = Vec::new();
    for path in &args.files {
        for path in check::files(path)? {
            found.push(File { text: check::read(&path)?, path: path.display().to_string() });
        }
    }
    Ok(found)
}

/// Unreadable files and invalid vectors are input errors.
fn refused(e: CheckError) -> Failure {
    Failure::input(e)
}

/// True if the header names the algorithm. An invalid header counts too, so that its error is reported.
fn is_of(text: &str, id: &str) -> bool {
    algorithm_of(text).is_none_or(|named| named.eq_ignore_ascii_case(id))
}

fn table(outcomes: &[Outcome]) -> String {
    let mut out = format!(
        "{:<12} {:<22} {:>8} {:>10}  result\n",
        "algorithm", "case", "answers", "worst/tol"
    );
    for o in outcomes {
        let result = if o.failure.is_none() { "ok" } else { "FAILED" };
        let _ = writeln!(
            out,
            "{:<12} {:<22} {:>8} {:>10.3}  {result}",
            o.algorithm, o.case, o.answers, o.worst
        );
    }
    let failed = outcomes.iter().filter(|o| o.failure.is_some()).count();
    let _ = writeln!(out, "\n{} vectors, {failed} failed", outcomes.len());
    out
}
