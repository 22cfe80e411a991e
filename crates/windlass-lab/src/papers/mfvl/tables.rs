//! Every algorithm beside MFVL, the battery, ordinary connections, one bottleneck, the loop, other networks.

use windlass_sim::radio::Consumption;

use super::measures::{
    BySeed, by_seed, cell, change, datagram_loss, drop_share, drops_per_s, energy, goodput, named,
    paired, radio_time, retransmits,
};
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, row as judged, section};
use crate::report::model::{Block, Row, Section, Table};
use crate::run::RunRecord;

/// The connection without coupling, which others are held against.
const UNCOUPLED: &str = "newreno";

/// All sections of tables.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let run = |e: &str, p: &str| commands::runs(m, "One of the points:", e, p);
    let table = Block::Table;
    vec![
        section(
            "algorithms",
            "Every algorithm in one table",
            vec![table(algorithms(m)), table(stated(m))],
            run("setups", "cc=mfvl"),
        ),
        section("battery", "The battery", vec![table(battery(m))], run("setups", "cc=lia")),
        section(
            "coupled",
            "One bottleneck: the mode that the paper leaves unshown",
            vec![table(shared(m)), table(detected(m))],
            run("shared", "cc=mfvl-repaired,end=151s"),
        ),
        section(
            "loop",
            "The loop from its beginning",
            vec![table(looped(m))],
            run("loop", "cc=mfvl,end=101s"),
        ),
        section(
            "variants",
            "Slow radios and unequal delays",
            vec![table(variants(m))],
            run("variants", "network=radio-1Mbps,cc=mfvl"),
        ),
    ]
}

/// Labels of an axis of an experiment.
fn labels(m: &Material, experiment: &str, axis: &str) -> Vec<String> {
    let found = m.plan.experiment(experiment).and_then(|e| e.axes.iter().find(|a| a.name == axis));
    found.map(|a| a.values.iter().map(|v| v.label.clone()).collect()).unwrap_or_default()
}

fn row(cells: Vec<String>) -> Row {
    Row { cells, ..Row::default() }
}

/// What an ordinary connection has beside an algorithm, per cent of what it has beside uncoupled
/// NewReno.
pub(super) fn rival(m: &Material, cc: &str, path: u32) -> BySeed {
    let get = |cc: &str| {
        let of = named(&format!("flow.rival-{path}.goodput_bps"));
        by_seed(m, "competing", &format!("cc={cc}"), of)
    };
    paired(&get(cc), &get(UNCOUPLED), |a, b| 100.0 * a / b)
}

fn algorithms(m: &Material) -> Table {
    let rows = labels(m, "setups", "cc").into_iter().map(|cc| {
        let point = format!("cc={cc}");
        let of = |f: &dyn Fn(&RunRecord) -> Option<f64>| cell(&by_seed(m, "setups", &point, f));
        let path = |n: u32| {
            let get = named(&format!("subflow.meter:path-{n}.goodput_bps"));
            of(&|r| get(r).map(|bps| bps / 1e6))
        };
        row(vec![
            cc.clone(),
            of(&goodput),
            path(1),
            path(2),
            of(&drops_per_s),
            of(&drop_share),
            of(&retransmits),
            of(&datagram_loss),
            of(&|r| energy(r, &Consumption::WAVELAN_11, false)),
            cell(&rival(m, &cc, 1)),
            cell(&rival(m, &cc, 2)),
        ])
    });
    Table {
        id: "algorithms-table".to_owned(),
        caption: "Datagrams at 1 Mbit/s, fifty seconds: medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "algorithm",
            "goodput (Mbit/s)",
            "on path 1",
            "on path 2",
            "dropped (1/s)",
            "dropped (%)",
            "sent again",
            "datagrams lost (%)",
            "energy (µJ/B)",
            "rival on 1 (%)",
            "rival on 2 (%)",
        ]),
        rows: rows.collect(),
        notes: vec![
            "Rivals: goodput of an ordinary NewReno connection on the path, in runs without datagrams, \
             per cent of what it has beside uncoupled NewReno (MF-26). mpfast is an approximation."
                .to_owned(),
        ],
    }
}

/// The paper's stated numbers beside ours.
fn stated(m: &Material) -> Table {
    let rows = [
        ("largest change in goodput (%)", "abstract.goodput"),
        ("largest change in packets dropped (%)", "abstract.loss.rate"),
        ("largest change in the share dropped (%)", "abstract.loss.ratio"),
        ("largest window of LIA on path 1", "fig15.peak"),
        ("largest window of MFVL on path 1 before 5 s", "fig16.start"),
        ("largest window of MFVL on path 1 after 15 s", "fig16.later"),
        ("the closed form of that", "fig16.fixed"),
        ("MFast on path 2 almost zero at (s)", "fig9.fall"),
    ];
    Table {
        id: "stated-table".to_owned(),
        caption: "The numbers that the paper states, MFVL against LIA".to_owned(),
        columns: columns(&["", "paper", "ours"]),
        rows: rows.iter().map(|(label, claim)| judged(m, label, claim, &[])).collect(),
        notes: vec![],
    }
}

fn battery(m: &Material) -> Table {
    let rows = labels(m, "setups", "cc").into_iter().map(|cc| {
        let point = format!("cc={cc}");
        let of = |f: &dyn Fn(&RunRecord) -> Option<f64>| by_seed(m, "setups", &point, f);
        let base = |f: &dyn Fn(&RunRecord) -> Option<f64>| by_seed(m, "setups", "cc=lia", f);
        let card = |r: &RunRecord| energy(r, &Consumption::WAVELAN_11, false);
        row(vec![
            cc.clone(),
            cell(&of(&radio_time)),
            cell(&of(&card)),
            cell(&change(&of(&card), &base(&card))),
            cell(&of(&|r| energy(r, &Consumption::WAVELAN_11, true))),
            cell(&of(&|r| energy(r, &Consumption::ESP32_C3, false))),
            cell(&of(&|r| energy(r, &Consumption::ESP32_C3, true))),
        ])
    });
    Table {
        id: "battery-table".to_owned(),
        caption: "The meter's two radios, for each payload byte delivered, datagrams at 1 Mbit/s: medians \
                  with 95 % intervals"
            .to_owned(),
        columns: columns(&[
            "algorithm",
            "transmitting and receiving (ns/B)",
            "WaveLAN card (µJ/B)",
            "against LIA (%)",
            "of that, beyond idling (µJ/B)",
            "ESP32-C3 (µJ/B)",
            "of that, beyond idling (µJ/B)",
        ]),
        rows: rows.collect(),
        notes: vec![
            "Powers: docs/src/reference/scenarios.md, `consumption`. A radio that waits draws nearly what one that \
             receives does, so that energy for a byte falls with goodput above all; beyond idling is what \
             sending the byte costs (MF-34)."
                .to_owned(),
        ],
    }
}

/// A cumulative quantity after the first decision.
fn after(m: &Material, experiment: &str, cc: &str, ends: [&str; 2], path: &str) -> BySeed {
    let at = |end: &str| by_seed(m, experiment, &format!("cc={cc},end={end}"), named(path));
    paired(&at(ends[1]), &at(ends[0]), |late, early| late - early)
}

/// Bytes of the connection over those of an ordinary one beside it after the first decision.
pub(super) fn share(m: &Material, cc: &str) -> BySeed {
    let of = |path: &str| after(m, "shared", cc, ["51s", "151s"], path);
    paired(&of("flow.meter.delivered_bytes"), &of("flow.rival.delivered_bytes"), |a, b| a / b)
}

/// How many of the runs of a point end in a mode from `least` to `most`.
fn in_mode(m: &Material, experiment: &str, point: &str, path: u32, modes: [f64; 2]) -> String {
    let all = by_seed(m, experiment, point, named(&format!("subflow.meter:path-{path}.mode")));
    let n = all.values().filter(|v| (modes[0]..=modes[1]).contains(*v)).count();
    if all.is_empty() { "–".to_owned() } else { format!("{n} of {}", all.len()) }
}

/// How many runs over one bottleneck end coupled.
pub(super) fn coupled(m: &Material, cc: &str) -> String {
    in_mode(m, "shared", &format!("cc={cc},end=151s"), 1, [2.0, f64::MAX])
}

/// The same with datagrams in place of an ordinary connection.
pub(super) fn coupled_by_datagrams(m: &Material, cc: &str) -> String {
    in_mode(m, "coupled", &format!("cc={cc}"), 1, [2.0, f64::MAX])
}

fn detected(m: &Material) -> Table {
    let rows = labels(m, "coupled", "cc").into_iter().map(|cc| {
        let of =
            |f: fn(&RunRecord) -> Option<f64>| cell(&by_seed(m, "coupled", &format!("cc={cc}"), f));
        let lost = named("flow.cbr.loss_rate");
        let lost = by_seed(m, "coupled", &format!("cc={cc}"), |r| Some(100.0 * lost(r)?));
        let modes = match cc.starts_with("mfvl") {
            true => coupled_by_datagrams(m, &cc),
            false => String::new(),
        };
        row(vec![cc.clone(), of(goodput), of(drops_per_s), of(drop_share), cell(&lost), modes])
    });
    Table {
        id: "detected-table".to_owned(),
        caption: "Both paths over 4 Mbit/s with datagrams at 3 Mbit/s in the paper's pattern, 150 s from the \
                  beginning: medians with 95 % intervals"
            .to_owned(),
        columns: columns(&[
            "algorithm",
            "goodput (Mbit/s)",
            "dropped (1/s)",
            "dropped (%)",
            "datagrams lost (%)",
            "runs coupled at the end",
        ]),
        rows: rows.collect(),
        notes: vec![],
    }
}

fn shared(m: &Material) -> Table {
    let rows = labels(m, "shared", "cc").into_iter().map(|cc| {
        let early = format!("cc={cc},end=51s");
        let first = by_seed(m, "shared", &early, |r| {
            let bytes = |n: &str| r.flows.iter().find(|f| f.name == n).map(|f| f.delivered_bytes);
            Some(bytes("meter")? as f64 / bytes("rival")? as f64)
        });
        let coupled = if cc.starts_with("mfvl") { coupled(m, &cc) } else { String::new() };
        row(vec![cc.clone(), cell(&first), cell(&share(m, &cc)), coupled])
    });
    Table {
        id: "shared-table".to_owned(),
        caption:
            "Both paths and an ordinary NewReno connection over 4 Mbit/s: bytes of the multipath \
                  connection over those of the ordinary one, medians with 95 % intervals"
                .to_owned(),
        columns: columns(&[
            "algorithm",
            "in the first 50 s",
            "in the 100 s after",
            "runs coupled at the end",
        ]),
        rows: rows.collect(),
        notes: vec!["A connection that is fair in RFC 6356's sense has 1.".to_owned()],
    }
}

fn looped(m: &Material) -> Table {
    let rows = labels(m, "loop", "cc").into_iter().map(|cc| {
        let late = format!("cc={cc},end=101s");
        let of = |path: &str| after(m, "loop", &cc, ["51s", "101s"], path);
        let scaled = |all: BySeed, k: f64| all.into_iter().map(|(s, v)| (s, v * k)).collect();
        let first = by_seed(m, "loop", &format!("cc={cc},end=51s"), goodput);
        let mode = |path: u32, modes: [f64; 2]| match cc.starts_with("mfvl") {
            true => in_mode(m, "loop", &late, path, modes),
            false => String::new(),
        };
        row(vec![
            cc.clone(),
            cell(&first),
            cell(&scaled(of("flow.meter.delivered_bytes"), 8.0 / 50e6)),
            cell(&of("flow.meter.drops")),
            mode(1, [1.0, 1.0]),
            mode(2, [1.0, 1.0]),
            mode(1, [2.0, f64::MAX]),
        ])
    });
    Table {
        id: "loop-table".to_owned(),
        caption: "Two cycles, datagrams at 1 Mbit/s in both: medians with 95 % intervals"
            .to_owned(),
        columns: columns(&[
            "algorithm",
            "goodput, first cycle (Mbit/s)",
            "goodput, second cycle (Mbit/s)",
            "dropped in the second cycle",
            "MFast on path 1",
            "MFast on path 2",
            "coupled",
        ]),
        rows: rows.collect(),
        notes: vec!["The modes are those after the first decision, by runs.".to_owned()],
    }
}

fn variants(m: &Material) -> Table {
    let mut rows = Vec::new();
    for network in labels(m, "variants", "network") {
        for cc in labels(m, "variants", "cc") {
            let of = |f: fn(&RunRecord) -> Option<f64>| {
                by_seed(m, "variants", &format!("network={network},cc={cc}"), f)
            };
            let base = |f: fn(&RunRecord) -> Option<f64>| {
                by_seed(m, "variants", &format!("network={network},cc=lia"), f)
            };
            rows.push(row(vec![
                network.clone(),
                cc.clone(),
                cell(&of(goodput)),
                cell(&change(&of(goodput), &base(goodput))),
                cell(&of(drops_per_s)),
                cell(&of(drop_share)),
            ]));
        }
    }
    Table {
        id: "variants-table".to_owned(),
        caption: "Datagrams at 1 Mbit/s: medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "network",
            "algorithm",
            "goodput (Mbit/s)",
            "against LIA (%)",
            "dropped (1/s)",
            "dropped (%)",
        ]),
        rows,
        notes: vec![],
    }
}
