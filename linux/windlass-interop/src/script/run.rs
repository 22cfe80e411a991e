//! Running a script on a stack, from the start to the verdict.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::kernel::Kernel;
use windlass_script::{Mismatch, Script, VirtualTime, World, play};
use windlass_testbed::live::Error;

/// Maximum number of attempts of a script on a kernel, if a busy machine may be the reason of each failure.
const ATTEMPTS: u32 = 3;
/// Number of scripts that are played in parallel.
const SIDE_BY_SIDE: usize = 6;

/// Remedy if a kernel cannot be reached.
const REMEDY: &str = "play them as root on Linux, after `modprobe tun` if /dev/net/tun is missing, \
    and outside containers that remove privileges; or play them on sim, which has no requirements";

/// Reason why a script did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The stack differs from the script.
    Mismatch {
        /// File of the script.
        file: String,
        /// The stack on which the script was played.
        world: World,
        /// Place and kind of the difference.
        mismatch: Box<Mismatch>,
    },
    /// The script states a difference of the stack, but the stack does not differ.
    NoDifference {
        /// File of the script.
        file: String,
        /// The stack with the stated difference.
        world: World,
        /// The reason that the script gives.
        reason: String,
    },
    /// This machine's kernel misses a feature of the script, such as an algorithm. The text names it in one
    /// sentence. Neither the script nor the kernel is at fault.
    Unable(String),
    /// The set-up failed: the script's file, and the reason in one sentence.
    Failed(String, String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Mismatch { file, world, mismatch } => {
                writeln!(f, "{file}:{}: {world} differs from the script", mismatch.line)?;
                if !mismatch.expected.is_empty() {
                    writeln!(f, "  expected  {}", mismatch.expected)?;
                }
                write!(f, "  came      {}\n\n{}", mismatch.came, mismatch.exchange)
            }
            Trouble::NoDifference { file, world, reason } => write!(
                f,
                "{file}: {world} follows the script, so that \"differs {world}: {reason}\" \
                 is no longer true; remove that line"
            ),
            Trouble::Unable(why) => f.write_str(why),
            Trouble::Failed(file, why) => write!(f, "{file}: {why}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// Plays a script on a stack.
///
/// If the script states a difference of this stack, the lines for this stack must pass, and the lines for the
/// other stack must not.
///
/// # Errors
///
/// Returns an error if the script does not pass, or cannot be played.
pub fn run(script: &Script, world: World) -> Result<(), Trouble> {
    let release =
        if world == World::Linux { windlass_testbed::live::kernel() } else { String::new() };
    let Some(difference) = script.differs.as_ref().filter(|d| d.holds(world, &release)) else {
        return attempt(script, world, world);
    };
    let other = if world == World::Sim { World::Linux } else { World::Sim };
    if script.lines.iter().any(|line| line.only == Some(world)) {
        attempt(script, world, world)?;
    }
    match attempt(script, other, world) {
        Err(Trouble::Mismatch { .. }) => Ok(()),
        Ok(()) => Err(Trouble::NoDifference {
            file: script.file.clone(),
            world,
            reason: difference.reason.clone(),
        }),
        unable => unable,
    }
}

/// Checks that scripts can be played on a stack on this machine.
///
/// # Errors
///
/// Returns an error that names the missing requirement and its remedy, in one sentence.
pub fn available(world: World) -> Result<(), String> {
    match world {
        World::Sim => Ok(()),
        World::Linux => windlass_testbed::live::check().map_err(|e| match e {
            Error::Missing { what, .. } => format!("scripts on linux need {what}: {REMEDY}"),
            e => e.to_string(),
        }),
    }
}

/// Plays scripts in parallel and independently, because a script against a kernel mostly waits. The answers
/// have the order of the scripts.
pub fn run_all(scripts: &[Script], world: World) -> Vec<Result<(), Trouble>> {
    let next = AtomicUsize::new(0);
    let answers: Vec<_> = scripts.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while let Some((i, script)) = take(scripts, &next) {
            let _ = answers[i].set(run(script, world)); // each is taken once
        }
    };
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE.min(scripts.len()) {
            scope.spawn(work);
        }
    });
    answers.into_iter().map(|answer| answer.into_inner().expect("every script was taken")).collect()
}

fn take<'a>(scripts: &'a [Script], next: &AtomicUsize) -> Option<(usize, &'a Script)> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    scripts.get(i).map(|script| (i, script))
}

/// Plays the lines for `lines_of` on the stack of `world`.
fn attempt(script: &Script, lines_of: World, world: World) -> Result<(), Trouble> {
    let played = match world {
        World::Sim => play(script, lines_of, &mut VirtualTime::new(&script.settings)),
        World::Linux => on_linux(script, lines_of)?,
    };
    played.map_err(|mismatch| Trouble::Mismatch {
        file: script.file.clone(),
        world,
        mismatch: Box::new(mismatch),
    })
}

/// Plays a script until a busy machine cannot be the reason of the verdict, or up to the maximum number of
/// attempts.
fn on_linux(script: &Script, lines_of: World) -> Result<Result<(), Mismatch>, Trouble> {
    let mut played = Ok(());
    for _ in 0..ATTEMPTS {
        played = on_linux_once(script, lines_of)?;
        if !matches!(&played, Err(mismatch) if mismatch.may_be_load) {
            break;
        }
    }
    Ok(played)
}

/// Plays a script once, in a separate thread with real-time priority.
fn on_linux_once(script: &Script, lines_of: World) -> Result<Result<(), Mismatch>, Trouble> {
    let work =
        || Kernel::new(&script.settings).map(|mut kernel| play(script, lines_of, &mut kernel));
    let played = thread::scope(|scope| scope.spawn(work).join());
    let failed = |why: String| Err(Trouble::Failed(script.file.clone(), why));
    match played {
        Ok(Ok(played)) => Ok(played),
        Ok(Err(
            e @ (Error::Unavailable { .. }
            | Error::NoCounterpart { .. }
            | Error::NoAccurateEcn { .. }),
        )) => Err(Trouble::Unable(e.to_string())),
        Ok(Err(e)) => failed(e.to_string()),
        Err(_) => failed("playing it has panicked: this is a defect of Windlass".to_owned()),
    }
}
