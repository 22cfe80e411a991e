//! Tables II to IV and the values stated in the text, with ours beside them.

use super::figures::sentence;
use super::measures::{
    DELAY, EXCESS, GAP, GOODPUT, JITTER, LOSS, Measure, OURS, RIVALS, THROUGHPUT, TOTAL, cell,
    labels, over, protocol,
};
use crate::papers::Material;
use crate::papers::parts::cells::{measured, printed};
use crate::papers::parts::commands;
use crate::papers::parts::seeds::{BySeed, by_seed};
use crate::papers::parts::tables::{columns, judged, row, section};
use crate::report::model::{Block, Row, Section, Table};
use crate::run::RunRecord;

/// What Table IV says of a measure over a sweep: CoCoA3+, ICC-TCP, BC-CPS, each with what the paper
/// puts after the ±.
struct Stated {
    measure: Measure,
    /// The measure's name in the claims.
    claim: &'static str,
    sweep: &'static str,
    values: [&'static str; 3],
}

const TABLE_4: [Stated; 8] = [
    Stated {
        measure: THROUGHPUT,
        claim: "throughput",
        sweep: "size",
        values: ["15.57 ± 0.1", "9.58 ± 0.3", "7.14 ± 0.5"],
    },
    Stated {
        measure: THROUGHPUT,
        claim: "throughput",
        sweep: "time",
        values: ["15.5 ± 0.1", "9.5 ± 0.2", "7.15 ± 0.4"],
    },
    Stated {
        measure: GOODPUT,
        claim: "goodput",
        sweep: "size",
        values: ["748.57 ± 0.1", "650.20 ± 0.4", "547.14 ± 0.5"],
    },
    Stated {
        measure: GOODPUT,
        claim: "goodput",
        sweep: "time",
        values: ["750.18 ± 0.1", "610.15 ± 0.3", "550.20 ± 0.4"],
    },
    Stated {
        measure: EXCESS,
        claim: "delay",
        sweep: "size",
        values: ["9.42 ± 0.1", "41.23 ± 0.2", "61.85 ± 0.4"],
    },
    Stated {
        measure: EXCESS,
        claim: "delay",
        sweep: "time",
        values: ["10.91 ± 0.1", "43.25 ± 0.4", "61.5 ± 0.5"],
    },
    Stated {
        measure: JITTER,
        claim: "jitter",
        sweep: "size",
        values: ["9.3 ± 0.1", "41.85 ± 0.2", "51.5 ± 0.5"],
    },
    Stated {
        measure: JITTER,
        claim: "jitter",
        sweep: "time",
        values: ["9.83 ± 0.1", "42.83 ± 0.3", "53.5 ± 0.4"],
    },
];

/// Table II, per cent.
const TABLE_2: Stated = Stated {
    measure: LOSS,
    claim: "table2",
    sweep: "size",
    values: ["2.92 ± 0.1", "19.5 ± 0.4", "24.3 ± 0.5"],
};

/// What stands over the columns of tables of means.
const MEANS: &str = "Ours are means over the sweep, with 95 % intervals over the seeds (Student); ratios are \
    medians of the ratios seed by seed, as the claims have them. What the paper's ± stands for is not said \
    (C3-29).";

/// The sections.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let run = |about: &str, point: &str| commands::runs(m, about, "size", point);
    vec![
        section(
            "tables",
            "Tables II to IV beside ours",
            vec![Block::Table(means(m)), Block::Table(windows(m)), Block::Table(ends(m))],
            run("ICC-TCP with packets of 2100 bytes:", "protocol=icc-tcp,packet=2100"),
        ),
        section(
            "readings-of-measures",
            "What the measures mean",
            vec![Block::Table(measures(m))],
            run("The row of CoCoA3+:", "protocol=cocoa3plus,packet=2100"),
        ),
    ]
}

/// Tables II and IV: a row for each ratio.
fn means(m: &Material) -> Table {
    let all = TABLE_4.iter().chain([&TABLE_2]);
    let rows = all.flat_map(|stated| {
        RIVALS.iter().zip(&stated.values[1..]).filter_map(|((rival, name), theirs)| {
            let id = match stated.claim {
                "table2" => format!("table2.{rival}"),
                claim => format!("table4.{claim}.{}.{rival}", stated.sweep),
            };
            let j = m.judgement(&id)?;
            let of = |protocol: &str| cell(&over(m, stated.sweep, protocol, stated.measure));
            let cells = vec![
                format!(
                    "{} by {}, against {name}",
                    sentence(stated.measure.name),
                    by(stated.sweep)
                ),
                stated.measure.unit.to_owned(),
                stated.values[0].to_owned(),
                (*theirs).to_owned(),
                printed(j.paper),
                of(OURS.0),
                of(rival),
                measured(j),
            ];
            Some(judged(cells, j))
        })
    });
    Table {
        id: "table-4".to_owned(),
        caption: "Tables II and IV: means over the sweeps of CoCoA3+ and of another protocol, and their ratio"
            .to_owned(),
        columns: columns(&[
            "measure",
            "unit",
            "paper: CoCoA3+",
            "paper: other",
            "paper: ratio",
            "ours: CoCoA3+",
            "ours: other",
            "ours: ratio [95 %]",
        ]),
        rows: rows.collect(),
        notes: vec![MEANS.to_owned()],
    }
}

fn by(sweep: &str) -> &'static str {
    if sweep == "size" { "packet size" } else { "time" }
}

/// Table III and figure 14.
fn windows(m: &Material) -> Table {
    let rows = [
        ("Largest window: CoCoA3+ over ICC-TCP", "fig14.largest.icc-tcp"),
        ("Largest window: CoCoA3+ over BC-CPS", "fig14.largest.bc-cps"),
        ("Mean window: CoCoA3+ over ICC-TCP (Table III)", "table3.icc-tcp"),
        ("Mean window: CoCoA3+ over BC-CPS (Table III)", "table3.bc-cps"),
        ("After a retransmission over the largest, CoCoA3+", "fig14.cut.cocoa3plus"),
        ("After a retransmission over the largest, ICC-TCP", "fig14.cut.icc-tcp"),
        ("After a retransmission over the largest, BC-CPS", "fig14.cut.bc-cps"),
    ];
    Table {
        id: "table-3".to_owned(),
        caption: "Table III and figure 14: windows, means over the ten senders of one traced run each"
            .to_owned(),
        columns: columns(&["ratio", "paper", "ours"]),
        rows: rows.iter().map(|(label, claim)| row(m, label, claim, &[])).collect(),
        notes: vec![
            "After a retransmission is where the window comes to rest when it falls for the first time \
             after its largest value."
                .to_owned(),
        ],
    }
}

/// The values in the text at the ends of the sweeps.
fn ends(m: &Material) -> Table {
    let rows = [5, 6, 7, 8, 9, 10, 11, 12, 13].into_iter().flat_map(|figure| {
        RIVALS.iter().filter_map(move |(rival, _)| {
            let j = m.judgement(&format!("fig{figure}.{rival}"))?;
            let cells = vec![j.source.clone(), j.quantity.clone(), printed(j.paper), measured(j)];
            Some(judged(cells, j))
        })
    });
    Table {
        id: "ends".to_owned(),
        caption: "The values in the text at the end of each sweep, as ratios".to_owned(),
        columns: columns(&["where", "ratio", "paper", "ours [95 %]"]),
        rows: rows.collect(),
        notes: vec![],
    }
}

/// A measure in all its readings, with packets of 2100 bytes.
fn measures(m: &Material) -> Table {
    let at = |label: &str, f: &dyn Fn(&RunRecord) -> Option<f64>| -> BySeed {
        by_seed(m, "size", &format!("protocol={label},packet=2100"), f)
    };
    let rows = labels(m, "size", "protocol").into_iter().filter_map(|label| {
        let of = |measure: Measure| cell(&at(&label, &measure.of()));
        if at(&label, &THROUGHPUT.of()).is_empty() {
            return None;
        }
        let cells = vec![
            protocol(&label),
            of(THROUGHPUT),
            cell(&at(&label, &|r| {
                Some(r.flows.iter().map(|f| f.throughput_bps).sum::<f64>() / 1e6)
            })),
            of(TOTAL),
            of(GOODPUT),
            of(DELAY),
            of(EXCESS),
            of(JITTER),
            cell(&at(&label, &smoothed)),
            of(GAP),
        ];
        Some(Row { cells, ..Row::default() })
    });
    Table {
        id: "measures-table".to_owned(),
        caption: "Packets of 2100 bytes in every reading of the measures (C3-3, C3-24, C3-25): means with 95 % \
            intervals (Student)"
            .to_owned(),
        columns: columns(&[
            "protocol",
            "throughput, every hop (Mbit/s)",
            "throughput, first hop (Mbit/s)",
            "goodput of all (kbit/s)",
            "goodput of a flow (kbit/s)",
            "one-way delay (ms)",
            "above the least (ms)",
            "jitter (ms)",
            "jitter, RFC 3550 (ms)",
            "between arrivals (ms)",
        ]),
        rows: rows.collect(),
        notes: vec![
            "Delays and jitter are means over the packets that arrived, of all senders: a protocol under \
             which far senders starve has the delays of the near ones."
                .to_owned(),
        ],
    }
}

/// RFC 3550's smoothed jitter at the end, mean over the packets, milliseconds.
fn smoothed(run: &RunRecord) -> Option<f64> {
    let all = run.flows.iter().filter_map(|f| f.transit);
    let with = all.filter_map(|t| Some((t.packets as f64, t.jitter_smoothed_ms?)));
    let (n, sum) = with.fold((0.0, 0.0), |(n, sum), (w, v)| (n + w, sum + w * v));
    (n > 0.0).then(|| sum / n)
}
