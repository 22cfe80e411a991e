//! CCM-SS: Ahmad et al., *End-to-End Loss Based TCP Congestion Control Mechanism as a Secured
//! Communication Technology for Smart Healthcare Enterprises*, IEEE Access 6, 2018.

mod closed_forms;
mod figures;
mod findings;
mod measures;
mod significance;
mod tables;

use std::collections::BTreeMap;

use super::parts::{notes, tables as verdicts};
use super::{Material, Paper};
use crate::report::model::Section;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../papers/ccm-ss/", $name))
    };
}

/// The paper.
pub const PAPER: Paper = Paper {
    id: "ccm-ss",
    title: "End-to-End Loss Based TCP Congestion Control Mechanism as a Secured Communication \
        Technology for Smart Healthcare Enterprises",
    authors: &[
        "Mudassar Ahmad",
        "Majid Hussain",
        "Beenish Abbas",
        "Omar Aldabbas",
        "Uzma Jamil",
        "Rehan Ashraf",
        "Shahla Asadi",
    ],
    published: "IEEE Access 2018, volume 6",
    doi: "10.1109/ACCESS.2018.2802841",
    citation: file!("citation.bib"),
    summary: "The paper puts another slow start, CCM-SS, in the place of HyStart in CUBIC: bounds of \
        the window, made of the rate that trains of acknowledgements show. Two flows over a \
        bottleneck of 50 to 250 Mbps are said to lose 10 % fewer packets, to carry more, and to \
        converge sooner. The bounds are given without what they do; here they are read in the ways \
        that the fidelity notes number, and the two slow starts run on the same paths from the same \
        starts.",
    experiments: file!("experiments.toml"),
    claims: file!("claims.toml"),
    fidelity: file!("fidelity.md"),
    scenarios: &[("dumbbell.toml", file!("dumbbell.toml"))],
    models: closed_forms::all,
    quantities: |_| BTreeMap::new(),
    sections,
};

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m)];
    all.extend(figures::sections(m));
    all.extend(tables::sections(m));
    all.push(significance::section(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(m.paper.fidelity));
    all
}
