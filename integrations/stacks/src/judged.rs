//! The packet scripts, played against other stacks.

use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ::smoltcp::socket::tcp::CongestionControl;
use windlass_interop::script::{Check, Event, Mismatch, Script, Settings, World, load, play};

use crate::connection::Connection;
use crate::scripted::Scripted;
use crate::{lwip, smoltcp};

/// Opens a connection with a script's settings, in one of two ways.
type Open = fn(&Settings, usize) -> Result<Box<dyn Connection>, String>;

/// A stack that is tested in two ways.
pub struct Contestant {
    /// Names of the two ways.
    pub ways: [&'static str; 2],
    open: Open,
}

/// smoltcp, with and without congestion control.
pub const SMOLTCP: Contestant = Contestant {
    ways: ["with congestion control", "without"],
    open: |settings, way| {
        let control = match (way, settings.algorithm.info().id) {
            (1, _) => CongestionControl::None,
            (_, "cubic") => CongestionControl::Cubic,
            _ => CongestionControl::Reno,
        };
        Ok(Box::new(smoltcp::scripted(settings, control)))
    },
};

/// lwIP, with its default initial window and with the scripts' initial window.
pub const LWIP: Contestant = Contestant {
    ways: ["with its initial window", "with the script's"],
    open: |settings, way| Ok(Box::new(lwip::scripted(settings, way == 1)?)),
};

/// The result of a script for a stack.
pub enum Outcome {
    /// It behaves as the script requires.
    Passes,
    /// It behaves differently.
    Differs(Box<Mismatch>),
    /// It panics, with this message and file.
    Panics(String),
}

/// A script and its results.
pub struct Judged {
    /// The script's name.
    pub name: String,
    /// Source of the required behaviour.
    pub source: String,
    /// The result in each way.
    pub outcomes: [Outcome; 2],
}

/// Plays every script of a folder. Checks of values that such a stack does not report, such as its window, are left
/// out. The stack is judged by its packets.
///
/// # Errors
///
/// A script cannot be read, or the stack is not available.
pub fn all(folder: &Path, contestant: &Contestant) -> Result<Vec<Judged>, String> {
    let scripts = load(folder).map_err(|e| e.to_string())?;
    scripts.into_iter().map(|script| judged(script, contestant)).collect()
}

fn judged(mut script: Script, contestant: &Contestant) -> Result<Judged, String> {
    script.lines.retain(|line| match &line.event {
        Event::Check(check) => {
            matches!(check, Check::State(_) | Check::Readable(_) | Check::Eof(_))
        }
        _ => true,
    });
    let stem = Path::new(&script.file).file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    let outcomes = [played(&script, contestant, 0)?, played(&script, contestant, 1)?];
    Ok(Judged { name, source: script.sources[0].clone(), outcomes })
}

/// Plays a script. If Windlass's endpoint and the kernel are known to differ, the stack passes with either behaviour.
fn played(script: &Script, contestant: &Contestant, way: usize) -> Result<Outcome, String> {
    let attempt = |world| -> Result<Outcome, String> {
        let mut connection = (contestant.open)(&script.settings, way)?;
        let mut stack = Scripted::new(&mut *connection);
        Ok(match caught(|| play(script, world, &mut stack)) {
            Ok(Ok(())) => Outcome::Passes,
            Ok(Err(mismatch)) => Outcome::Differs(Box::new(mismatch)),
            Err(why) => Outcome::Panics(why),
        })
    };
    Ok(match attempt(World::Sim)? {
        Outcome::Differs(mismatch) if script.lines.iter().any(|line| line.only.is_some()) => {
            match attempt(World::Linux)? {
                Outcome::Passes => Outcome::Passes,
                _ => Outcome::Differs(mismatch),
            }
        }
        outcome => outcome,
    })
}

/// The result of a function, or the message and the file of its panic.
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

/// First line of the CSV file.
pub const HEAD: &str = "stack,variant,script,source,first_difference\n";

/// A line of CSV for each script and variant. Without a first difference the stack passes the script.
pub fn csv(stack: &str, all: &[Judged], contestant: &Contestant) -> String {
    let mut out = String::new();
    for (way, variant) in contestant.ways.iter().enumerate() {
        for Judged { name, source, outcomes } in all {
            let fields = [stack, variant, name, source, &told(&outcomes[way])];
            let _ = writeln!(out, "{}", fields.map(quoted).join(","));
        }
    }
    out
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passes => String::new(),
        Outcome::Panics(why) => why.clone(),
        Outcome::Differs(m) => {
            let came = &m.came;
            match m.expected.split('#').next().unwrap_or_default().trim() {
                "" => format!("line {}: {came}", m.line),
                line => format!("line {}, `{line}`: {came}", m.line),
            }
        }
    }
}
