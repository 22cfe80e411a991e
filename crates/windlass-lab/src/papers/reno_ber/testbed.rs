//! Table 8: the paper's virtual Linux network, on kernels and simulated.

use super::closed_forms::PRINTED;
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, median_cell, row, section as titled};
use crate::report::model::{Block, Row, Section, Table};

/// The point whose runs are judged, and in how many ways the same was run besides.
const JUDGED: &str = "linux-vt";
const BESIDES: [(&str, &str); 3] =
    [("linux-vt-6.1", "Linux 6.1"), ("linux", "this machine"), ("sim", "simulated")];
const RESPONSE: &str = "flow.download.completion_s";

/// The table, once with Linux as it comes and once without SACK.
pub(super) fn section(m: &Material) -> Section {
    let blocks = vec![
        Block::Table(response(m, "default", "table8", "Linux as it comes")),
        Block::Table(response(m, "no-sack", "table8.no-sack", "Reno without SACK")),
        Block::Table(small_buffer(m)),
        Block::Table(differences(m)),
    ];
    let made = ["default", "no-sack", "small-buffer"].map(|tcp| {
        let point = format!("world={JUDGED},tcp={tcp},p=1%");
        commands::runs(m, &format!("The row of 1 %, {tcp}:"), "testbed", &point)
    });
    titled("table-8", "Table 8: the virtual Linux network", blocks, made.into_iter().flatten())
}

/// Response times with one TCP.
fn response(m: &Material, tcp: &str, claims: &str, words: &str) -> Table {
    let rows = PRINTED.iter().map(|p| {
        let besides = BESIDES.map(|(world, _)| {
            let point = format!("world={world},tcp={tcp},p={}", p.label);
            median_cell(m, RESPONSE, "testbed", &point)
        });
        row(m, p.label, &format!("{claims}.{}", p.key), &besides)
    });
    let mut names = vec!["drop", "paper", "Linux 6.12 [95 %]"];
    names.extend(BESIDES.map(|(_, name)| name));
    Table {
        id: format!("table-8-{tcp}"),
        caption: format!("Response time of the virtual Linux network, seconds: {words}"),
        columns: columns(&names),
        rows: rows.collect(),
        notes: notes(m),
    }
}

/// Response times where the kernel's own buffer is the window: one guess at how the paper imposed it,
/// not judged.
fn small_buffer(m: &Material) -> Table {
    let worlds = [(JUDGED, "Linux 6.12"), BESIDES[0], BESIDES[1]];
    let rows = PRINTED.iter().map(|p| {
        let cell = |world: &str| {
            let point = format!("world={world},tcp=small-buffer,p={}", p.label);
            median_cell(m, RESPONSE, "testbed", &point)
        };
        let mut cells = vec![p.label.to_owned(), p.testbed_s.to_string()];
        cells.extend(worlds.map(|(world, _)| cell(world)));
        Row { cells, ..Row::default() }
    });
    let mut names = vec!["drop", "paper"];
    names.extend(worlds.map(|(_, name)| name));
    Table {
        id: "table-8-small-buffer".to_owned(),
        caption: "Response time, seconds: Reno without SACK, the window being half of a receive \
            buffer of 17,520 bytes"
            .to_owned(),
        columns: columns(&names),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// Which kernels these were, or how they are run.
fn notes(m: &Material) -> Vec<String> {
    let mut kernels: Vec<String> = Vec::new();
    for record in m.records.iter().filter(|r| r.experiment == "testbed") {
        let Some(release) = &record.kernel else { continue };
        let note = format!("{}: kernel {release}.", record.world);
        if !kernels.contains(&note) {
            kernels.push(note);
        }
    }
    if kernels.is_empty() {
        kernels.push(
            "No kernel was asked: `windlass reproduce reno-ber --on linux-vt` does, with QEMU."
                .to_owned(),
        );
    }
    kernels
}

/// The paper's own arithmetic on its times.
fn differences(m: &Material) -> Table {
    let rows: Vec<Row> = PRINTED[2..]
        .iter()
        .map(|p| row(m, p.label, &format!("table8.percent.{}", p.key), &[]))
        .collect();
    Table {
        id: "table-8-differences".to_owned(),
        caption: "Difference from no loss, per cent".to_owned(),
        columns: columns(&["drop", "paper", "recomputed"]),
        rows,
        notes: Vec::new(),
    }
}
