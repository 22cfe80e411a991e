//! Integrity whatever is lost, with several algorithms.

use windlass_cc::Time;
use windlass_sim::loss::LossModel;

use super::super::Direction;
use super::super::plan::{Case, Plan};

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
    let both = EVERYWHERE.into_iter().map(case);
    both.chain(OURS.into_iter().map(|id| case(id).only(Direction::OursSends))).collect()
}
