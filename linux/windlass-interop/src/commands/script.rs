//! `windlass-dev script`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use windlass_interop::script::{Script as Loaded, World as Stack, load};
use windlass_interop::worlds::{Unpassed, play};
use windlass_run::World;

use crate::args::Script;
use crate::failure::{Failure, print};

/// Default folder of the scripts.
const FOLDER: &str = "conformance/scripts";

/// Plays scripts and prints a table of their results.
pub fn run(args: &Script) -> Result<(), Failure> {
    let scripts = load_all(&args.files)?;
    let answers = play(args.on, &scripts).map_err(Failure::of_run)?;
    print(&table(&scripts, &answers, args.on))?;
    let mut failures = Vec::new();
    for (script, answer) in scripts.iter().zip(answers) {
        match answer {
            Ok(()) => {}
            Err(Unpassed::Unable(why)) => {
                eprintln!("*** SKIPPED: {}: {why} ***", script.file);
            }
            Err(Unpassed::Failed(why)) => failures.push(why),
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::work(failures.join("\nerror: "))) }
}

fn load_all(paths: &[PathBuf]) -> Result<Vec<Loaded>, Failure> {
    let default = [PathBuf::from(FOLDER)];
    let paths = if paths.is_empty() { &default } else { paths };
    let mut scripts = Vec::new();
    for path in paths {
        scripts.extend(load(path).map_err(Failure::input)?);
    }
    if scripts.is_empty() {
        return Err(Failure::input("no script to play; give files or folders with scripts"));
    }
    Ok(scripts)
}

fn table(scripts: &[Loaded], answers: &[Result<(), Unpassed>], world: World) -> String {
    let name = |script: &Loaded| {
        let stem = Path::new(&script.file).file_stem();
        stem.map_or(script.file.clone(), |stem| stem.to_string_lossy().into_owned())
    };
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = widest(&mut scripts.iter().map(|s| name(s).chars().count())).max(6);
    let sources = widest(&mut scripts.iter().map(|s| s.sources[0].chars().count())).max(6);
    let mut out = format!("{:<names$}  {:<sources$}  result\n", "script", "source");
    let mut counts = [0; 3];
    for (script, answer) in scripts.iter().zip(answers) {
        let differs = script.differs.as_ref().is_some_and(|d| {
            d.before.is_none() && (d.world == Stack::Sim) == (world == World::Sim)
        });
        let (kind, result) = match answer {
            Ok(()) if differs => (0, "ok, differs as stated"),
            Ok(()) => (0, "ok"),
            Err(Unpassed::Unable(_)) => (1, "skipped"),
            Err(_) => (2, "FAILED"),
        };
        counts[kind] += 1;
        let _ =
            writeln!(out, "{:<names$}  {:<sources$}  {result}", name(script), script.sources[0]);
    }
    let [_, skipped, failed] = counts;
    let _ =
        writeln!(out, "\n{} scripts on {world}, {failed} failed, {skipped} skipped", scripts.len());
    out
}
