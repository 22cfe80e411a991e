//! MFVL: Mudassir and Baig, *MFVL HCCA: A Modified Fast-Vegas-LIA Hybrid Congestion Control Algorithm
//! for MPTCP Traffic Flows in Multihomed Smart Gas IoT Networks*, Electronics 10:711, 2021.

mod ablation;
mod closed_forms;
mod courses;
mod figures;
mod findings;
mod measures;
mod tables;

use super::parts::{notes, tables as verdicts};
use super::{Material, Paper};
use crate::report::model::Section;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../papers/mfvl/", $name))
    };
}

/// The paper.
pub const PAPER: Paper = Paper {
    id: "mfvl",
    title: "MFVL HCCA: A Modified Fast-Vegas-LIA Hybrid Congestion Control Algorithm for MPTCP Traffic \
        Flows in Multihomed Smart Gas IoT Networks",
    authors: &["Mumajjed Ul Mudassir", "M. Iram Baig"],
    published: "Electronics 2021, 10(6), 711",
    doi: "10.3390/electronics10060711",
    citation: file!("citation.bib"),
    summary: "The paper gives a meter with two Wi-Fi uplinks a Multipath TCP connection that runs a \
        modified FAST on the less congested path and a modified Vegas on the other, and LIA on both only \
        where they are found to share a bottleneck. It claims up to 30 % more goodput and up to 50 % \
        fewer losses than LIA, and a longer life of the battery. Here the same network runs with real \
        Multipath TCP, twenty seeds a point, the algorithm as printed and put right; competing \
        connections, a shared bottleneck, the other coupled algorithms and the energy of the radios \
        stand beside the paper's set-ups, and an ablation says where the difference comes from.",
    experiments: file!("experiments.toml"),
    claims: file!("claims.toml"),
    fidelity: file!("fidelity.md"),
    scenarios: &[
        ("two-paths.toml", file!("two-paths.toml")),
        ("competing.toml", file!("competing.toml")),
        ("shared.toml", file!("shared.toml")),
        ("shared-datagrams.toml", file!("shared-datagrams.toml")),
    ],
    models: closed_forms::all,
    quantities: courses::quantities,
    sections,
};

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m), ablation::section(m)];
    all.extend(figures::sections(m));
    all.extend(tables::sections(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(m.paper.fidelity));
    all
}
