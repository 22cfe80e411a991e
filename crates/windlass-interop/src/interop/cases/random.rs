//! Integrity under random losses, with several algorithms.

use windlass_cc::Time;
use windlass_sim::loss::LossModel;
use windlass_tcp::StackConfig;

use super::super::Direction;
use super::super::plan::{Case, Plan};
use super::handshake::both_ways;
use super::windows::closed;

/// Algorithms that every kernel of interest offers; they are run in both directions.
const EVERYWHERE: [&str; 3] = ["reno", "cubic", "bbr"];
/// Other algorithms of Windlass, which send to the kernel.
const OURS: [&str; 4] = ["newreno", "vegas", "westwood", "illinois"];

pub(super) fn cases() -> Vec<Case> {
    let case = |algorithm: &'static str| {
        let mut plan = Plan::transfer(250_000).algorithm(algorithm).needless(None);
        plan.loss = [(); 2].map(|()| Some(LossModel::Drop { probability: 0.05 }));
        plan.patience = Time::from_secs(45);
        let about =
            format!("every byte arrives despite 5 % loss in both directions, with {algorithm}");
        Case::new(format!("random-loss-{algorithm}"), about, plan)
    };
    let mut cases = hardships();
    let both = EVERYWHERE.into_iter().map(case);
    cases.extend(both);
    cases.extend(OURS.into_iter().map(|id| case(id).only(Direction::OursSends)));
    cases
}

/// Cases with the same losses and another difficulty.
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
            "every byte of two simultaneous lossy streams arrives, with SACK blocks on data",
            lossy(both_ways(150_000)),
        ),
        Case::new(
            "random-loss-without-options",
            "every byte arrives despite loss, without SACK, timestamps and scaling",
            lossy(Plan::transfer(150_000).algorithm("newreno").stacks(bare)),
        ),
        Case::new(
            "random-loss-slow-reader",
            "every byte arrives despite loss, with a window that closes and reopens",
            lossy(closed(250_000)),
        ),
    ]
}
