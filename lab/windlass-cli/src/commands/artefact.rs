//! `windlass figure`, `windlass pack` and `windlass unpack`.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use windlass_lab::pack::{self, PackError};

use super::making::runner;
use crate::args::{Figure, Pack, Unpack};
use crate::output::{Chatter, Failure, print};

/// The Python that draws. The Python package's own command sets it.
const PYTHON: &str = "WINDLASS_PYTHON";

/// Draws a figure, by the Python package.
pub fn figure(args: &Figure, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let given = json!({
        "results": args.results,
        "kind": args.kind,
        "metric": args.metric,
        "x": args.x,
        "by": args.by,
        "width": args.width,
        "height": args.height,
        "out": args.out,
        "command": format!("{command} --out {}", args.out.display()),
    });
    let python = std::env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
    let words = ["-c", "from windlass._figure import main; raise SystemExit(main())"];
    let done = Command::new(&python).args(words).arg(given.to_string()).output();
    let remedy = "figures need the Python package with Matplotlib: pip install 'windlass[plot]'";
    let done = done.map_err(|e| {
        Failure::input(format!("{} cannot be called: {e}\nhelp: {remedy}", python.display()))
    })?;
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    match done.status.code() {
        Some(0) => {
            chatter.say(format!("figure: {}", args.out.display()));
            Ok(())
        }
        Some(2) => Err(Failure::input(said.trim_start_matches("error: ").to_owned())),
        _ => {
            let last = said.lines().last().unwrap_or_default().to_owned();
            Err(Failure::input(format!("the figure was not drawn: {last}\nhelp: {remedy}")))
        }
    }
}

/// Packs a folder of results.
pub fn pack(args: &Pack, chatter: &Chatter) -> Result<(), Failure> {
    let dir = args
        .dir
        .canonicalize()
        .map_err(|e| Failure::input(format!("{} cannot be read: {e}", args.dir.display())))?;
    let name = dir.file_name().map_or("results".into(), |name| name.to_string_lossy().into_owned());
    let out = args.out.clone().unwrap_or_else(|| format!("{name}.tar").into());
    let packed = pack::pack(&dir, &name, &out).map_err(failure)?;
    for file in &packed.left_out {
        chatter.say(format!("note: {file} has an absolute path of this machine, and is left out"));
    }
    for module in &packed.missing {
        chatter.say(format!(
            "note: the module {module} is neither here nor in PYTHONPATH, so that the pack repeats its class only where it is installed"
        ));
    }
    print(&format!("{}: {} files, {} runs\n", out.display(), packed.files, packed.runs))
}

/// Unpacks a pack, and checks it if this is wanted.
pub fn unpack(args: &Unpack, chatter: &Chatter) -> Result<(), Failure> {
    let folder = match args.pack.is_dir() {
        true => args.pack.clone(),
        false => pack::unpack(&args.pack, &args.out).map_err(failure)?,
    };
    if !args.check {
        return print(&format!("{}\n", folder.display()));
    }
    check(&folder, args.jobs, chatter)
}

fn check(folder: &Path, jobs: u16, chatter: &Chatter) -> Result<(), Failure> {
    let progress = chatter.progress(0, 0, "check");
    let checked = pack::check(folder, &runner(jobs.into()), || progress.made("repeated"));
    progress.end();
    let checked = checked.map_err(failure)?;
    let [changed, unlike, not_made] =
        [&checked.changed, &checked.unlike, &checked.not_made].map(Vec::len);
    let mut text = format!("{} runs have the same bytes\n", checked.equal);
    for (lines, what) in [
        (&checked.changed, "files differ from their checksums, or are missing"),
        (&checked.unlike, "runs differ"),
        (&checked.not_made, "runs were not repeated"),
    ] {
        if let Some(first) = lines.first() {
            text += &format!("{} {what}; the first: {first}\n", lines.len());
        }
    }
    print(&text)?;
    match changed + unlike + not_made {
        0 => Ok(()),
        _ => Err(Failure::work(format!("{} is not reproduced completely", folder.display()))),
    }
}

fn failure(e: PackError) -> Failure {
    match e {
        PackError::Input(message) => Failure::input(message),
        PackError::Run(e) => Failure::of(e),
        e => Failure::work(e),
    }
}
