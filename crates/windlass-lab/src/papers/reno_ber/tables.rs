//! The paper's tables and equations with ours beside them.

use super::closed_forms::{PRINTED, Printed, TABLE9};
use super::testbed;
use crate::models::link::expected_retransmissions;
use crate::models::reno_ber::{FILE_BYTES, MSS, RTT_S, RWND, datagrams, table9_per_ack};
use crate::models::tcp::Pftk;
use crate::papers::Material;
use crate::papers::parts::cells::printed;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, median_cell, row, row_corrected, section};
use crate::report::model::{Block, Row, Section, Table};
use crate::report::numbers::number;

/// Tables 1 and 3 to 9, the equations, and the closed forms beside the simulation.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let table = |t: Table| vec![Block::Table(t)];
    let both = |prefix, what| Block::Table(both_directions(m, prefix, what));
    let arithmetic = || [commands::arithmetic(m)];
    let recounted = || [row_commands(m), vec![packets_command(m)]].concat();
    vec![
        section("table-1", "Table 1: bit and packet error rates", table(table1(m)), arithmetic()),
        section("table-3", "Table 3: scenarios", table(table3(m)), arithmetic()),
        section(
            "table-4",
            "Table 4: response time",
            vec![
                Block::Table(table4(m)),
                both("table4", "Response time, seconds"),
                Block::Table(table4_differences(m)),
            ],
            row_commands(m),
        ),
        section(
            "table-5",
            "Table 5: retransmissions",
            vec![Block::Table(table5(m)), both("table5", "Segments retransmitted")],
            row_commands(m),
        ),
        section("table-6", "Table 6: frames sent", table(table6(m)), recounted()),
        section(
            "table-7",
            "Table 7: retransmissions calculated",
            table(table7(m)),
            row_commands(m).into_iter().take(1),
        ),
        testbed::section(m),
        section("table-9", "Table 9: growth of the window", table(table9(m)), growth_commands(m)),
        section("equations", "Equations", table(equations(m)), arithmetic()),
        section(
            "closed-forms",
            "Closed forms beside the simulation",
            table(closed_forms(m)),
            row_commands(m).into_iter().take(1),
        ),
    ]
}

/// The row of 1 % in the three readings of RB-5; the other rows by their own probability.
fn row_commands(m: &Material) -> Vec<Block> {
    let all = [
        (
            "The row of 1 %, data only; other rows with their own probability:",
            "download",
            "mode=data-only,p=1%",
        ),
        ("The same with drops in both directions:", "download", "mode=both,p=1%"),
        ("The same with bit errors:", "ber", "ber=1e-6"),
    ];
    all.iter().filter_map(|(about, e, point)| commands::runs(m, about, e, point)).collect()
}

fn growth_commands(m: &Material) -> Option<Block> {
    let about = "One loss and the growth after it, as series under `out/series`, \
        equation 17 once per round trip; `per-ack` and `per-byte` likewise:";
    let record = ("record.series", "[\"cwnd_bytes\", \"srtt_ns\"]");
    commands::recording(m, about, "growth=per-rtt", record)
}

/// The count of packets is not among what `windlass run` prints, but in its CSV.
fn packets_command(m: &Material) -> Block {
    let about = "Packets sent by each run, in the column `packets_sent`:";
    let runs = commands::runs(m, about, "download", "mode=data-only,p=1%");
    match runs {
        Some(Block::Command { about, command }) => {
            Block::Command { about, command: command + " --csv" }
        }
        _ => commands::whole(m),
    }
}

/// The same metric under the two other readings of "packet drop" (RB-5).
fn other_modes(m: &Material, path: &str, printed: &Printed) -> [String; 2] {
    [
        median_cell(m, path, "download", &format!("mode=both,p={}", printed.label)),
        median_cell(m, path, "ber", &format!("ber={}", printed.ber)),
    ]
}

const MODES: &str = "Headline: the cloud drops data packets only. Beside it: both directions \
    alike, and bit errors of Table 3 over every frame in both directions (RB-5).";

fn table1(m: &Material) -> Table {
    let rows = (1..=9).flat_map(|decade| {
        [1250, 1500].map(|bytes| {
            let label = format!("1e-{decade}, {bytes} B");
            row(m, &label, &format!("table1.1e-{decade}.{bytes}"), &[])
        })
    });
    Table {
        id: "table-1-table".to_owned(),
        caption: "Packet error rate of a frame at a bit error rate: the paper's linear formula \
            beside the exact one"
            .to_owned(),
        columns: columns(&["bit error rate, frame", "paper", "exact"]),
        rows: rows.collect(),
        notes: vec![
            "The linear formula is a probability only while it is small (RB-1).".to_owned(),
        ],
    }
}

fn table3(m: &Material) -> Table {
    Table {
        id: "table-3-table".to_owned(),
        caption: "Drop probability and the bit error rate that causes it at 1250 bytes".to_owned(),
        columns: columns(&["drop probability", "paper, about", "exact"]),
        rows: PRINTED[1..]
            .iter()
            .map(|p| row(m, p.label, &format!("table3.{}", p.key), &[]))
            .collect(),
        notes: vec![],
    }
}

/// Rows over the five drop probabilities, claims `prefix.KEY` with corrected values.
fn five(m: &Material, prefix: &str, path: &str) -> Vec<Row> {
    let one = |p: &Printed| {
        row_corrected(m, p.label, &format!("{prefix}.{}", p.key), &other_modes(m, path, p))
    };
    PRINTED.iter().map(one).collect()
}

fn table4(m: &Material) -> Table {
    Table {
        id: "table-4-table".to_owned(),
        caption: "FTP download response time, seconds: medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "drop",
            "paper",
            "less 10\u{a0}s",
            "data only",
            "both directions",
            "bit errors",
        ]),
        rows: five(m, "table4", "flow.download.completion_s"),
        notes: vec![
            "Ours is compared with the paper's value less 10 s (RB-10). The verdict is on data only."
                .to_owned(),
            MODES.to_owned(),
        ],
    }
}

/// The claims of a table once more, judged with drops in both directions.
fn both_directions(m: &Material, prefix: &str, what: &str) -> Table {
    let one = |p: &Printed| row_corrected(m, p.label, &format!("{prefix}.both.{}", p.key), &[]);
    Table {
        id: format!("{prefix}-both"),
        caption: format!("{what}: the paper and ours when the cloud drops both directions alike"),
        columns: columns(&["drop", "paper", "corrected", "both directions"]),
        rows: PRINTED.iter().map(one).collect(),
        notes: vec![
            "The paper does not say which direction its cloud discards; the headline assumes data \
             only, with the same tolerances (RB-5)."
                .to_owned(),
        ],
    }
}

fn table4_differences(m: &Material) -> Table {
    let mut rows = Vec::new();
    for p in &PRINTED[1..] {
        for (kind, words) in [
            ("difference", "printed, as seconds"),
            ("percent", "printed, as per cent"),
            ("extra", "simulated, s"),
        ] {
            let label = format!("{}, {words}", p.label);
            rows.push(row_corrected(m, &label, &format!("table4.{kind}.{}", p.key), &[]));
        }
    }
    Table {
        id: "table-4-differences".to_owned(),
        caption: "Difference from no loss: the printed column, recomputed and simulated".to_owned(),
        columns: columns(&["entry", "paper", "corrected", "recomputed or ours"]),
        rows,
        notes: vec![
            "The column headed seconds holds per cent; the simulated time is compared with the \
             true difference, in seconds, of the printed times (RB-6)."
                .to_owned(),
        ],
    }
}

fn table5_rows(m: &Material) -> Vec<Row> {
    let path = "flow.download.retransmits";
    let one = |p: &Printed| row(m, p.label, &format!("table5.{}", p.key), &other_modes(m, path, p));
    PRINTED.iter().map(one).collect()
}

fn table5(m: &Material) -> Table {
    Table {
        id: "table-5-table".to_owned(),
        caption: "Segments retransmitted by the server: medians with 95 % intervals".to_owned(),
        columns: columns(&["drop", "paper", "data only", "both directions", "bit errors"]),
        rows: table5_rows(m),
        notes: vec![MODES.to_owned()],
    }
}

fn table6(m: &Material) -> Table {
    Table {
        id: "table-6-table".to_owned(),
        caption: "Packets sent by the server: medians with 95 % intervals".to_owned(),
        columns: columns(&[
            "drop",
            "paper",
            "less ARP",
            "data only",
            "both directions",
            "bit errors",
        ]),
        rows: five(m, "table6", "flow.download.packets_sent"),
        notes: vec!["The paper's counts hold one ARP request, which ours cannot.".to_owned()],
    }
}

fn table7(m: &Material) -> Table {
    let n = datagrams(FILE_BYTES, MSS);
    let mut rows = Vec::new();
    for p in &PRINTED {
        let expected = number(expected_retransmissions(n, p.p));
        let at = format!("mode=data-only,p={}", p.label);
        let ours = median_cell(m, "flow.download.retransmits", "download", &at);
        let more = [expected, printed(Some(p.retransmissions)), ours];
        rows.push(row(m, p.label, &format!("table7.calculated.{}", p.key), &more));
    }
    for p in &PRINTED[1..] {
        let label = format!("{}, difference in %", p.label);
        rows.push(row(m, &label, &format!("table7.percent.{}", p.key), &[]));
    }
    Table {
        id: "table-7-table".to_owned(),
        caption: "Retransmissions: n·p calculated, and simulated".to_owned(),
        columns: columns(&[
            "drop",
            "paper",
            "recomputed",
            "n·p/(1−p)",
            "paper's run",
            "ours [95 %]",
        ]),
        rows,
        notes: vec!["Retransmissions are lost too, hence n·p/(1−p) (RB-15).".to_owned()],
    }
}

fn table9(m: &Material) -> Table {
    let per_ack = |b| table9_per_ack(3.0 * MSS, MSS, TABLE9.len() - 1, b);
    let (every, delayed) = (per_ack(1.0), per_ack(2.0));
    let rows = (0..TABLE9.len()).map(|k| {
        let more = [number(every[k].round()), number(delayed[k].round())];
        row(m, &k.to_string(), &format!("table9.{k}"), &more)
    });
    Table {
        id: "table-9-table".to_owned(),
        caption: "Congestion window after recovery, bytes, by round trips".to_owned(),
        columns: columns(&["RTT", "paper", "once per RTT", "per ACK", "per delayed ACK"]),
        rows: rows.collect(),
        notes: vec![
            "The paper applies equation 17 once per round trip; RFC 5681 applies it to every \
             acknowledgement (RB-12)."
                .to_owned(),
        ],
    }
}

fn equations(m: &Material) -> Table {
    let text = |label: &str, content: &str| Row {
        cells: vec![label.to_owned(), content.to_owned()],
        ..Row::default()
    };
    let mut rows = vec![
        text("1", "definition of the bit error rate"),
        text("2", "definition of the packet error rate"),
        row(m, "3, Table 1 from it", "table1.linear", &[]),
        text("4", "the drop probability is the packet error rate"),
    ];
    for (label, claim) in [
        ("5, segments", "eq5"),
        ("6, 7, B/s", "eq7"),
        ("8, 9, B/s", "eq9"),
        ("10, 11, B/s", "eq11"),
        ("12, 13, s", "eq13"),
        ("14, packets/s", "eq14"),
        ("15, s", "eq15"),
        ("16, B, in congestion avoidance", "eq16"),
        ("17, round trips to 8760 B", "table9.rtts"),
    ] {
        rows.push(row(m, label, claim, &[]));
    }
    Table {
        id: "equations-table".to_owned(),
        caption: "Equations 1 to 17: the printed value and the same arithmetic again".to_owned(),
        columns: columns(&["equation", "paper", "recomputed"]),
        rows,
        notes: vec![],
    }
}

fn closed_forms(m: &Material) -> Table {
    let segments = datagrams(FILE_BYTES, MSS);
    let rows = PRINTED.iter().map(|p| {
        let time = |b: f64, rate: fn(&Pftk, f64) -> f64| {
            let model = Pftk { rtt_s: RTT_S, t0_s: 1.0, w_max: RWND / MSS, b };
            number(segments / rate(&model, p.p))
        };
        let at = format!("mode=data-only,p={}", p.label);
        Row {
            cells: vec![
                p.label.to_owned(),
                format!("{:.2}", p.response_s - 10.0),
                median_cell(m, "flow.download.completion_s", "download", &at),
                time(2.0, Pftk::send_rate),
                time(2.0, Pftk::throughput),
                time(1.0, Pftk::throughput),
                time(2.0, Pftk::approximate),
            ],
            ..Row::default()
        }
    });
    Table {
        id: "closed-forms-table".to_owned(),
        caption: "Download time, seconds: simulation and the model of Padhye, Firoiu, Towsley and \
            Kurose with a round trip of 40 ms, a timeout of 1 s and a window of 6 segments"
            .to_owned(),
        columns: columns(&[
            "drop",
            "paper less 10 s",
            "ours [95 %]",
            "full, sent",
            "full, delivered",
            "full, no delayed ACK",
            "approximate",
        ]),
        rows: rows.collect(),
        notes: vec![],
    }
}
