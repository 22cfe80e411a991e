//! The packet scripts, played against smoltcp.

use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex};

use smoltcp::socket::tcp::CongestionControl;
use windlass_interop::script::{Check, Event, Mismatch, Script, World, load, play};

use crate::scripted::Scripted;

/// What a script says of a stack.
pub enum Outcome {
    /// It does what the script says.
    Passes,
    /// It does otherwise.
    Differs(Box<Mismatch>),
    /// It panics: with which words, in which file.
    Panics(String),
}

/// A script and what it says.
pub struct Judged {
    /// The script's name.
    pub name: String,
    /// Where it is written that a stack shall do so.
    pub source: String,
    /// What came of it with congestion control, the script's if smoltcp has it; and without.
    pub outcomes: [Outcome; 2],
}

/// Plays every script of a folder. Checks of what smoltcp does not tell, such as its window, are left out: it is judged
/// by what it sends.
///
/// # Errors
///
/// A script cannot be read.
pub fn all(folder: &Path) -> Result<Vec<Judged>, String> {
    let scripts = load(folder).map_err(|e| e.to_string())?;
    Ok(scripts.into_iter().map(judged).collect())
}

fn judged(mut script: Script) -> Judged {
    script.lines.retain(|line| match &line.event {
        Event::Check(check) => {
            matches!(check, Check::State(_) | Check::Readable(_) | Check::Eof(_))
        }
        _ => true,
    });
    let stem = Path::new(&script.file).file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    let control = match script.settings.algorithm.info().id {
        "cubic" => CongestionControl::Cubic,
        _ => CongestionControl::Reno,
    };
    let outcomes = [control, CongestionControl::None].map(|control| played(&script, control));
    Judged { name, source: script.sources[0].clone(), outcomes }
}

/// Where our endpoint and the kernel are known to differ, either will do.
fn played(script: &Script, control: CongestionControl) -> Outcome {
    let attempt = |world| {
        let mut stack = Scripted::new(&script.settings, control);
        match caught(|| play(script, world, &mut stack)) {
            Ok(Ok(())) => Outcome::Passes,
            Ok(Err(mismatch)) => Outcome::Differs(Box::new(mismatch)),
            Err(why) => Outcome::Panics(why),
        }
    };
    match attempt(World::Sim) {
        Outcome::Differs(mismatch) if script.lines.iter().any(|line| line.only.is_some()) => {
            match attempt(World::Linux) {
                Outcome::Passes => Outcome::Passes,
                _ => Outcome::Differs(mismatch),
            }
        }
        outcome => outcome,
    }
}

/// What something comes to, or the words and the file with which it panics.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let said = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&said);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place =
            info.location().map_or("", |l| l.file().rsplit_once("src/").map_or("", |p| p.1));
        let text = info.payload();
        let words = text.downcast_ref::<&str>().copied();
        let words =
            words.or_else(|| text.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        *heard.lock().expect("one thread") = format!("panics: {words}, in {place}");
    }));
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(before);
    done.map_err(|_| said.lock().expect("one thread").clone())
}

/// The scripts as a table in Markdown: those that it does not pass both ways, with where it parts from them.
pub fn table(all: &[Judged]) -> String {
    let passed =
        [0, 1].map(|way| all.iter().filter(|j| matches!(j.outcomes[way], Outcome::Passes)).count());
    let mut out = format!(
        "Of {} scripts it passes {} with congestion control and {} without, its default. The others, each with its first \
         difference:\n\n| script | source | with congestion control | without |\n| --- | --- | --- | --- |\n",
        all.len(),
        passed[0],
        passed[1],
    );
    for Judged { name, source, outcomes } in all {
        let [with, without] = outcomes.each_ref().map(told);
        if with != PASSES || without != PASSES {
            let without = if with == without { "the same" } else { &without };
            let _ = writeln!(out, "| {name} | {source} | {with} | {without} |");
        }
    }
    out
}

const PASSES: &str = "passes";

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passes => PASSES.to_owned(),
        Outcome::Panics(why) => why.clone(),
        Outcome::Differs(m) => {
            let came = m.came.replace('|', "\\|");
            match m.expected.split('#').next().unwrap_or_default().trim() {
                "" => format!("line {}: {came}", m.line),
                line => format!("line {}, `{line}`: {came}", m.line),
            }
        }
    }
}
