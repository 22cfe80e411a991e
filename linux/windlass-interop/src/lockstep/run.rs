//! Cases on this machine's kernel, whose time should be virtual.

use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::compare::{Clock, compare};
use super::finding::{Finding, Outcome};
use super::shrink::shrink;
use crate::script::{Kernel, Script, VirtualTime, World, play};

/// A case starts at a multiple of this time in the kernel's count of ticks. The third level of the timer wheel has
/// this period, so that the timers are rounded in the same way in every run.
const PERIOD: Duration = Duration::from_nanos(16_384_000_000);

/// The task of a guest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The cases.
    pub cases: Vec<Case>,
    /// How many smaller cases are tried for each case that differs. 0 tries none.
    pub tries: u32,
}

/// The result of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Played {
    /// The case, or the shrunk case if `tries` is not 0.
    pub case: Case,
    /// The result, or the reason why the case could not be played.
    pub outcome: Result<Outcome, String>,
    /// The script player's results for the script of a shrunk case. The kernel should pass and the
    /// endpoint should not.
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

/// Plays in a new thread, because the kernel's stack changes the priority and the namespace of its thread.
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

/// Plays a case, and a second time with the kernel's own times of the events if it differs. If the stacks then do
/// the same, parts of a millisecond decide, and the case is a tie.
fn against_kernel(case: &Case) -> Result<Outcome, String> {
    let settings = case.options.settings()?;
    let play = |clock| {
        on_kernel(case, |kernel| compare(case, kernel, &mut VirtualTime::new(&settings), clock))
    };
    match play(Clock::Planned)? {
        Outcome::Differs(finding) => Ok(match play(Clock::Reference)? {
            Outcome::Differs(_) => Outcome::Differs(finding),
            Outcome::Equal(_) | Outcome::Tie(_) => Outcome::Tie(finding),
        }),
        same => Ok(same),
    }
}

/// Plays a finding's script on both.
fn replay(case: &Case, finding: &Finding) -> [Result<(), String>; 2] {
    let file = format!("lockstep-{}.script", case.seed);
    let both = || -> Result<_, String> {
        let script = Script::parse(&finding.script, &file).map_err(|e| e.to_string())?;
        let tell = |e: crate::script::Mismatch| format!("line {}: {}", e.line, e.came);
        let kernel = on_kernel(case, |kernel| play(&script, World::Linux, kernel).map_err(tell));
        let mut endpoint = VirtualTime::new(&script.settings);
        Ok([kernel, play(&script, World::Sim, &mut endpoint).map_err(tell)])
    };
    both().unwrap_or_else(|why| [Err(why.clone()), Err(why)])
}
