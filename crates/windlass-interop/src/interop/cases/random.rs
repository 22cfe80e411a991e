//! Integrity whatever is lost, with several algorithms.

use windlass_cc::Time;
use windlass_sim::loss::LossModel;
use windlass_tcp::StackConfig;

use super::super::Direction;
use super::super::plan::{Case, Plan};
use super::handshake::both_ways;
use super::windows::closed;

/// Algorithms that every kernel of interest offers: they are run in both directions.
const EVERYWHERE: [&str; 3] = ["reno", "cubic", "bbr"];
/// Others of ours, sending to the kernel.
const OURS: [&str; 4] = ["newreno", "vegas", "westwood", "illinois"];

pub(super) fn cases() -> Vec<Case> {
    let case = |algorithm: &'static str| {
        let mut plan = Plan::transfer(250_000).algorithm(algorithm).needless(None);
        plan.loss = [(); 2].map(|()| Some(LossModel::Drop { probability: 0.05 }));
        plan.patience = Time::from_secs(45);
        let about = format!("every byte arrives through 5 % loss both ways, by {algorithm}");
        Case::new(format!("random-loss-{algorithm}"), about, plan)
    };
    let mut cases = hardships();
    let both = EVERYWHERE.into_iter().map(case);
    cases.extend(both);
    cases.extend(OURS.into_iter().map(|id| case(id).only(Direction::OursSends)));
    cases
}

/// The same losses where something else is hard too.
fn hardships() -> Vec<Case> {
    let lossy = |mut plan: Plan| {
        plan.loss = [(); 2].map(|()| Some(LossModel::Drop { probability: 0.05 }));
        plan.patience = Time::from_secs(60);
        plan.needless(None)
    };
    let bare = |stack: &mut StackConfig| {
        (stack.window_scaling, stack.sack, stack.timestamps) = (false, false, false);
    };
    vec![
        Case::new(
            "random-loss-both-ways",
            "so does every byte of two streams at once, SACK blocks riding on data",
            lossy(both_ways(150_000)),
        ),
        Case::new(
            "random-loss-without-options",
            "and without SACK, timestamps and scaling",
            lossy(Plan::transfer(150_000).algorithm("newreno").stacks(bare)),
        ),
        Case::new(
            "random-loss-slow-reader",
            "and with a window that closes and opens",
            lossy(closed(250_000)),
        ),
    ]
}
