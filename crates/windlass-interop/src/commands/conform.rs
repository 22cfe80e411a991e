//! `windlass-dev conform`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use windlass_cc::{ALGORITHMS, AnyParams};
use windlass_conform::check::{self, algorithm_of};
use windlass_conform::{CheckError, Outcome, check_file, generate};
use windlass_scenario::did_you_mean;

use crate::args::Conform;
use crate::failure::{Failure, print};

/// Checks vectors, or writes them.
pub fn run(args: &Conform) -> Result<(), Failure> {
    match &args.write {
        Some(dir) => write(dir),
        None => check_all(args),
    }
}

fn write(dir: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e| Failure::work(format!("cannot write {}: {e}", path.display()));
    let files = generate();
    for file in &files {
        let path = dir.join(&file.path);
        let parent = path.parent().unwrap_or(dir);
        fs::create_dir_all(parent).map_err(|e| failed(parent, e))?;
        fs::write(&path, &file.text).map_err(|e| failed(&path, e))?;
    }
    eprintln!("{} files in {}", files.len(), dir.display());
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
    let paths =
        if args.files.is_empty() { vec![PathBuf::from("conformance")] } else { args.files.clone() };
    let mut outcomes = Vec::new();
    for path in &paths {
        for file in check::files(path).map_err(refused)? {
            if wanted.is_none_or(|id| is_of(&file, id)) {
                outcomes.push(check_file(&file).map_err(refused)?);
            }
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

/// Unreadable files and invalid vectors are input errors.
fn refused(e: CheckError) -> Failure {
    Failure::input(e)
}

/// True if a file's header names the algorithm. An unreadable file counts too, so that its error is reported.
fn is_of(file: &Path, id: &str) -> bool {
    let named = fs::read_to_string(file).ok().and_then(|text| algorithm_of(&text));
    named.is_none_or(|named| named.eq_ignore_ascii_case(id))
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
