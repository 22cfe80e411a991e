//! A script in a world, from its begin to the verdict.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::ast::{Script, World};
use super::kernel::Kernel;
use super::player::{Mismatch, play};
use super::virtual_time::VirtualTime;
use windlass_testbed::live::Error;

/// A script is played so often on a kernel if each time a busy machine may be to blame.
const ATTEMPTS: u32 = 3;
/// Scripts that are played at once.
const SIDE_BY_SIDE: usize = 6;

/// What to do where a kernel cannot be reached.
const REMEDY: &str = "play them as root on Linux, after `modprobe tun` if there is no /dev/net/tun, \
    and outside containers that take privileges away; or play them on sim, which needs nothing";

/// Why a script did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The stack does otherwise.
    Mismatch {
        /// The script's file.
        file: String,
        /// The world in which it was played.
        world: World,
        /// Where and how.
        mismatch: Box<Mismatch>,
    },
    /// The script states that the world differs, and it does not.
    NoDifference {
        /// The script's file.
        file: String,
        /// The world that is said to differ.
        world: World,
        /// The reason that the script gives.
        reason: String,
    },
    /// This machine's kernel lacks what the script is about, such as an algorithm: what is missing,
    /// in one sentence. That is no fault of either.
    Unable(String),
    /// The set-up failed: the script's file, and why, in one sentence.
    Failed(String, String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Mismatch { file, world, mismatch } => {
                writeln!(f, "{file}:{}: {world} does otherwise", mismatch.line)?;
                if !mismatch.expected.is_empty() {
                    writeln!(f, "  expected  {}", mismatch.expected)?;
                }
                write!(f, "  came      {}\n\n{}", mismatch.came, mismatch.exchange)
            }
            Trouble::NoDifference { file, world, reason } => write!(
                f,
                "{file}: {world} does what the script says, so that \"differs {world}: {reason}\" \
                 is no longer true; remove that line"
            ),
            Trouble::Unable(why) => f.write_str(why),
            Trouble::Failed(file, why) => write!(f, "{file}: {why}"),
        }
    }
}

impl std::error::Error for Trouble {}

/// Plays a script in a world.
///
/// Where the script states that this world differs, the lines for it must pass, if there are any, and
/// the lines for the other world must not.
///
/// # Errors
///
/// It does not pass, or cannot be played.
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

/// Whether scripts can be played in a world on this machine.
///
/// # Errors
///
/// What is missing and what to do, in one sentence.
pub fn available(world: World) -> Result<(), String> {
    match world {
        World::Sim => Ok(()),
        World::Linux => windlass_testbed::live::check().map_err(|e| match e {
            Error::Missing { what, .. } => format!("scripts on linux need {what}: {REMEDY}"),
            e => e.to_string(),
        }),
    }
}

/// Plays scripts side by side, each by itself: against a kernel most of the time is waiting. The
/// answers stand in the order of the scripts.
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

/// The lines for one world against the stack of a world.
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

/// Plays until the verdict cannot be due to a busy machine, or for the last time.
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

/// In a thread of its own, which becomes a punctual one.
fn on_linux_once(script: &Script, lines_of: World) -> Result<Result<(), Mismatch>, Trouble> {
    let work =
        || Kernel::new(&script.settings).map(|mut kernel| play(script, lines_of, &mut kernel));
    let played = thread::scope(|scope| scope.spawn(work).join());
    let failed = |why: String| Err(Trouble::Failed(script.file.clone(), why));
    match played {
        Ok(Ok(played)) => Ok(played),
        Ok(Err(e @ (Error::Unavailable { .. } | Error::NoCounterpart { .. }))) => {
            Err(Trouble::Unable(e.to_string()))
        }
        Ok(Err(e)) => failed(e.to_string()),
        Err(_) => failed("playing it has panicked: this is a defect of Windlass".to_owned()),
    }
}
