//! Reno-BER: Sarkar, Ammann and Zabir, *Analyzing TCP Performance in High Bit Error Rate Using
//! Simulation and Modeling*, Electronics 11:2254, 2022.

mod closed_forms;
mod figures;
mod findings;
mod ladder;
mod ledger;
mod tables;
mod testbed;
mod trace;

use super::parts::{notes, tables as verdicts};
use super::{Code, Material};
use crate::report::model::Section;

/// What of it is in Rust.
pub(super) const CODE: Code = Code { models: closed_forms::all, quantities: trace::quantities, sections };

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m)];
    all.extend(tables::sections(m));
    all.extend(figures::sections(m));
    all.push(ledger::section(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(&m.paper.fidelity));
    all
}
