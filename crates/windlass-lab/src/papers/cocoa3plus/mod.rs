//! CoCoA3+: Parween and Hussain, *Cross-Layer based TCP Performance Enhancement in IoT Networks*, IJACSA
//! 13(6), 2022.

mod ablation;
mod closed_forms;
mod figures;
mod findings;
mod grid;
mod measures;
mod sweeps;
mod tables;
mod windows;

use super::parts::{notes, tables as verdicts};
use super::{Code, Material};
use crate::report::model::Section;

/// What of it is in Rust.
pub(super) const CODE: Code =
    Code { models: closed_forms::all, quantities: windows::quantities, sections };

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m), grid::section(m)];
    all.extend(figures::sections(m));
    all.extend(tables::sections(m));
    all.push(ablation::section(m));
    all.extend(sweeps::sections(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(&m.paper.fidelity));
    all
}
