//! TCP Modified: Hasan and Alisa, *Effective IoT Congestion Control Algorithm*, Future Internet
//! 15:136, 2023.

mod ablation;
mod findings;
mod ledger;
mod mixtures;
mod same;
mod steps;
mod values;
mod windows;

use super::parts::{notes, tables};
use super::{Material, Paper};
use crate::report::model::Section;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../papers/tcp-modified/", $name))
    };
}

/// The paper.
pub const PAPER: Paper = Paper {
    id: "tcp-modified",
    title: "Effective IoT Congestion Control Algorithm",
    authors: &["Husam H. Hasan", "Zainab T. Alisa"],
    published: "Future Internet 2023, 15(4), 136",
    doi: "10.3390/fi15040136",
    citation: file!("citation.bib"),
    summary: "The paper changes H-TCP and lets four flows share a link of 1 or 2 Mbit/s, of the new \
        algorithm and of NewReno, BBR, Illinois or YeAH, over wires and over Wi-Fi. It concludes that \
        the new algorithm has more throughput than each of the others at an acceptable fairness. Here \
        the same mixtures run with the paper's steps to the letter, twenty seeds a point, CUBIC \
        beside the paper's four; loss, delay and harm to the others stand beside throughput, and an \
        ablation says which of the steps the advantage comes from.",
    experiments: file!("experiments.toml"),
    claims: file!("claims.toml"),
    fidelity: file!("fidelity.md"),
    scenarios: &[("dumbbell.toml", file!("dumbbell.toml")), ("wifi.toml", file!("wifi.toml"))],
    models: steps::models,
    quantities: windows::quantities,
    sections,
};

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m), windows::section(m)];
    all.extend(mixtures::sections(m));
    all.push(same::section_of(m));
    all.push(ablation::section(m));
    all.push(ledger::section(m));
    all.push(tables::every_claim(m));
    all.push(notes::section(m.paper.fidelity));
    all
}
