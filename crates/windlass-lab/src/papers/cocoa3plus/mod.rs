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
use super::{Material, Paper};
use crate::report::model::Section;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../papers/cocoa3plus/", $name))
    };
}

/// The paper.
pub const PAPER: Paper = Paper {
    id: "cocoa3plus",
    title: "Cross-Layer based TCP Performance Enhancement in IoT Networks",
    authors: &["Sultana Parween", "Syed Zeeshan Hussain"],
    published: "International Journal of Advanced Computer Science and Applications 2022, 13(6)",
    doi: "10.14569/IJACSA.2022.0130648",
    citation: file!("citation.bib"),
    summary: "The paper joins a scheduler in every station, a retransmission timer found by an optimizer, a \
        fast retransmit after two duplicates and a window that listens to seven signals, and reports \
        for a hundred sensors around one base station that all six of its measures are better than \
        those of ICC-TCP and BC-CPS, by factors of 1.2 to 7. Radio, traffic, objective and baselines are \
        left open. Here the grid runs with a modelled 802.11 radio and AODV, ten seeds a point, every \
        assumption numbered and switchable; CUBIC, BBR and NewReno stand beside the baselines, and an \
        ablation says what each part does.",
    experiments: file!("experiments.toml"),
    claims: file!("claims.toml"),
    fidelity: file!("fidelity.md"),
    scenarios: &[("grid.toml", file!("grid.toml")), ("literal.toml", file!("literal.toml"))],
    models: closed_forms::all,
    quantities: windows::quantities,
    sections,
};

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m), grid::section(m)];
    all.extend(figures::sections(m));
    all.extend(tables::sections(m));
    all.push(ablation::section(m));
    all.extend(sweeps::sections(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(m.paper.fidelity));
    all
}
