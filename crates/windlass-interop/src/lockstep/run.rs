//! Cases against this machine's kernel, whose time should be virtual.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::compare::compare;
use super::finding::{Finding, Outcome};
use super::shrink::shrink;
use crate::script::{Kernel, Script, VirtualTime, World, play};

/// A case begins at a whole multiple of this of the kernel's clock, so that all timers of the kernel
/// stand to the case as they always do: its wheel's third level turns by that much.
const PERIOD: Duration = Duration::from_nanos(16_384_000_000);

/// What a guest does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The cases.
    pub cases: Vec<Case>,
    /// How often each case that differs is tried anew to make it smaller; 0 leaves it as it is.
    pub tries: u32,
}

/// What has come of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Played {
    /// The case, shrunk if that was asked for.
    pub case: Case,
    /// What has come of it, or why it could not be played.
    pub outcome: Result<Outcome, String>,
    /// Of a shrunk case: what the script player says of its script on both sides. The kernel passes and
    /// the endpoint does not, if all is well.
    pub script: Option<[Result<(), String>; 2]>,
}

/// Plays all cases against this machine's kernel, one after the other.
pub fn run(task: &Task) -> Vec<Played> {
    task.cases.iter().map(|case| one(case, task.tries)).collect()
}

fn one(case: &Case, tries: u32) -> Played {
    let outcome = against_kernel(case);
    let Some(first) = outcome.as_ref().ok().and_then(Outcome::difference) else {
        return Played { case: case.clone(), outcome, script: None };
    };
    if tries == 0 {
        return Played { case: case.clone(), outcome, script: None };
    }
    let signature = first.signature();
    let small = shrink(case, tries, &mut |candidate| {
        let found = against_kernel(candidate);
        found
            .as_ref()
            .ok()
            .and_then(Outcome::difference)
            .is_some_and(|f| f.signature() == signature)
    });
    let outcome = against_kernel(&small);
    let script = outcome.as_ref().ok().and_then(Outcome::difference).map(|f| replay(&small, f));
    Played { case: small, outcome, script }
}

/// In a thread of its own, which becomes a punctual one in a namespace of its own.
fn on_kernel<T: Send>(
    case: &Case,
    work: impl FnOnce(&mut Kernel) -> Result<T, String> + Send,
) -> Result<T, String> {
    let settings = case.options.settings()?;
    let played = thread::scope(|scope| {
        let work = || {
            let mut kernel = Kernel::new(&settings).map_err(|e| e.to_string())?;
            kernel.begin_at_multiple(PERIOD);
            work(&mut kernel)
        };
        scope.spawn(work).join()
    });
    played.unwrap_or_else(|_| Err("playing it has panicked: this is a defect of Windlass".into()))
}

fn against_kernel(case: &Case) -> Result<Outcome, String> {
    let profile = case.options.profile()?;
    on_kernel(case, |kernel| compare(case, kernel, &mut VirtualTime::with_profile(profile)))
}

/// Plays a finding's script on both.
fn replay(case: &Case, finding: &Finding) -> [Result<(), String>; 2] {
    let file = format!("lockstep-{}.script", case.seed);
    let both = || -> Result<_, String> {
        let mut script = Script::parse(&finding.script, &file).map_err(|e| e.to_string())?;
        script.settings = case.options.settings()?;
        let profile = case.options.profile()?;
        let tell = |e: crate::script::Mismatch| format!("line {}: {}", e.line, e.came);
        let kernel = on_kernel(case, |kernel| play(&script, World::Linux, kernel).map_err(tell));
        let mut endpoint = VirtualTime::with_profile(profile);
        Ok([kernel, play(&script, World::Sim, &mut endpoint).map_err(tell)])
    };
    both().unwrap_or_else(|why| [Err(why.clone()), Err(why)])
}
