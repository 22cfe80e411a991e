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
use super::{Material, Paper};
use crate::report::model::Section;

macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../../../papers/reno-ber/", $name))
    };
}

/// The paper.
pub const PAPER: Paper = Paper {
    id: "reno-ber",
    title: "Analyzing TCP Performance in High Bit Error Rate Using Simulation and Modeling",
    authors: &["Nurul I. Sarkar", "Roman Ammann", "Salahuddin Muhammad Salim Zabir"],
    published: "Electronics 2022, 11(14), 2254",
    doi: "10.3390/electronics11142254",
    citation: file!("citation.bib"),
    summary: "The paper downloads a file of 10 MB over a path that drops packets with \
        probabilities from 0 to 10 %, in Riverbed Modeler and in a virtual Linux network, and \
        concludes that TCP Reno does well up to 0.1 %, suffers at 1 % and collapses at 10 %. Here \
        the same download runs in Windlass's own stack with the paper's Table 2, many times a \
        point; the paper's arithmetic is computed again.",
    experiments: file!("experiments.toml"),
    claims: file!("claims.toml"),
    fidelity: file!("fidelity.md"),
    scenarios: &[
        ("download.toml", file!("download.toml")),
        ("download-ber.toml", file!("download-ber.toml")),
        ("one-loss.toml", file!("one-loss.toml")),
        ("exchange.toml", file!("exchange.toml")),
        ("testbed.toml", file!("testbed.toml")),
    ],
    models: closed_forms::all,
    quantities: trace::quantities,
    sections,
};

fn sections(m: &Material) -> Vec<Section> {
    let mut all = vec![findings::section(m)];
    all.extend(tables::sections(m));
    all.extend(figures::sections(m));
    all.push(ledger::section(m));
    all.push(verdicts::every_claim(m));
    all.push(notes::section(m.paper.fidelity));
    all
}
