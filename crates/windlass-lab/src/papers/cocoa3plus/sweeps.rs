//! What the paper does not show: senders, timers, readings, radios, one segment, 300 ms.

use super::measures::{
    EXCESS, FAIRNESS, GOODPUT, JITTER, LOSS, Measure, RETRANSMITS, THROUGHPUT, TIMEOUTS, TOTAL,
    cell, labels, point, protocol, values,
};
use crate::papers::Material;
use crate::papers::parts::charts::{axis, series};
use crate::papers::parts::commands;
use crate::papers::parts::seeds::{BySeed, by_seed, named};
use crate::papers::parts::tables::{columns, section};
use crate::report::model::{Block, Chart, Mark, Row, Scale, Section, Table};
use crate::run::RunRecord;

const MEANS: &str = "Means with 95 % intervals (Student) over the seeds.";
/// Flows that send for the experiment, as against those that only find routes.
const SENDERS: &str = "sensor";

/// The sections.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    let run =
        |about: &str, experiment: &str, point: &str| commands::runs(m, about, experiment, point);
    let table = |t: Table| vec![Block::Table(t)];
    vec![
        section(
            "senders",
            "Number of senders",
            vec![Block::Chart(by_senders(m)), Block::Table(senders(m))],
            run("CoCoA3+ with 50 senders:", "senders", "protocol=cocoa3plus,senders=50"),
        ),
        section(
            "timers",
            "Timers and the readings of equation 17",
            vec![Block::Text { text: TIMERS.to_owned() }, Block::Table(timers(m))],
            run("Equation 17 as printed:", "timers", "under=cocoa3plus,timer=cmbo-literal"),
        ),
        section(
            "one-segment",
            "One segment in flight",
            table(listed(m, "one-segment", "timer", "Timers with one segment in flight (C3-23)")),
            run("ICC-TCP's timer:", "one-segment", "timer=icc"),
        ),
        section(
            "readings",
            "Other readings of the whole",
            table(listed(m, "readings", "reading", "One thing changed in the whole")),
            run("The fitness with free room:", "readings", "reading=fpf-repaired"),
        ),
        section(
            "radio",
            "Other radios",
            table(radio(m)),
            run("CoCoA3+ with RTS and CTS:", "radio", "protocol=cocoa3plus,radio=b-11-rts"),
        ),
        section(
            "literal",
            "300 ms, as printed",
            table(literal(m)),
            run("The row of CoCoA3+:", "literal", "protocol=cocoa3plus"),
        ),
    ]
}

/// What the table of timers is not.
const TIMERS: &str = "How far the optimizer is from the exact minimum of its objective, what a search costs, and \
    how its timeouts compare with those of the closed forms on recorded connections and in other networks stands in \
    `docs/src/studies/timers.md`. Here the timers run on the grid.";

/// Rows without a single figure say nothing.
fn filled(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let figure = |c: &String| c.starts_with(|c: char| c.is_ascii_digit());
    rows.filter(|row| row.cells.iter().skip(2).any(figure)).collect()
}

fn row(cells: Vec<String>) -> Row {
    Row { cells, ..Row::default() }
}

fn heads(first: &[&str], measures: &[Measure]) -> Vec<String> {
    columns(first).into_iter().chain(measures.iter().map(|measure| measure.label())).collect()
}

fn cells(m: &Material, experiment: &str, point: &str, measures: &[Measure]) -> Vec<String> {
    measures.iter().map(|measure| cell(&measure.at(m, experiment, point))).collect()
}

fn by_senders(m: &Material) -> Chart {
    let line = |label: String| {
        let at = |senders: String| {
            let place = format!("protocol={label},senders={senders}");
            point(&senders, &GOODPUT.at(m, "senders", &place))
        };
        let points = labels(m, "senders", "senders").into_iter().filter_map(at);
        series(&protocol(&label), Mark::Points, points.collect())
    };
    let all = labels(m, "senders", "protocol").into_iter().map(line);
    Chart {
        id: "senders-goodput".to_owned(),
        caption: "Goodput of a flow by the number of senders, packets of 2000 bytes: means with 95 % intervals \
            (Student)"
            .to_owned(),
        x: axis("Senders", Scale::Category),
        y: axis("Goodput of a flow (kbit/s)", Scale::Linear),
        series: all.filter(|s| !s.points.is_empty()).collect(),
        zoom: false,
    }
}

fn senders(m: &Material) -> Table {
    let measures = [THROUGHPUT, TOTAL, FAIRNESS, LOSS, EXCESS, JITTER, TIMEOUTS];
    let protocols = labels(m, "senders", "protocol");
    let counts = labels(m, "senders", "senders");
    let rows = counts.iter().flat_map(|n| {
        protocols.iter().map(move |label| {
            let place = format!("protocol={label},senders={n}");
            let first = vec![n.clone(), protocol(label)];
            row([first, cells(m, "senders", &place, &measures)].concat())
        })
    });
    Table {
        id: "senders-table".to_owned(),
        caption: "By the number of senders (C3-28)".to_owned(),
        columns: heads(&["senders", "protocol"], &measures),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}

/// Measures of the tables with one row a value.
const LISTED: [Measure; 8] =
    [GOODPUT, FAIRNESS, THROUGHPUT, LOSS, EXCESS, JITTER, TIMEOUTS, RETRANSMITS];

fn timers(m: &Material) -> Table {
    let under = values(m, "timers", "under");
    let timers = values(m, "timers", "timer");
    let rows = under.iter().flat_map(|(under, _)| {
        timers.iter().map(move |(timer, about)| {
            let place = format!("under={under},timer={timer}");
            let first = vec![format!("{timer}, {}", protocol(under)), about.clone()];
            row([first, cells(m, "timers", &place, &LISTED)].concat())
        })
    });
    Table {
        id: "timers-table".to_owned(),
        caption: "Timers under the rest of CoCoA3+ and under NewReno, ten senders".to_owned(),
        columns: heads(&["timer", "what it is"], &LISTED),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}

/// One row for each value of the only axis of an experiment.
fn listed(m: &Material, experiment: &str, axis: &str, caption: &str) -> Table {
    let rows = values(m, experiment, axis).into_iter().map(|(label, about)| {
        let place = format!("{axis}={label}");
        let first = vec![label, about];
        row([first, cells(m, experiment, &place, &LISTED)].concat())
    });
    Table {
        id: format!("{experiment}-table"),
        caption: caption.to_owned(),
        columns: heads(&[axis, "what it is"], &LISTED),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}

fn radio(m: &Material) -> Table {
    let measures = [THROUGHPUT, GOODPUT, FAIRNESS, LOSS, EXCESS, JITTER];
    let protocols = labels(m, "radio", "protocol");
    let rows = values(m, "radio", "radio").into_iter().flat_map(|(radio, about)| {
        let one = |label: &String| {
            let place = format!("protocol={label},radio={radio}");
            let first = vec![about.clone(), protocol(label)];
            row([first, cells(m, "radio", &place, &measures)].concat())
        };
        protocols.iter().map(one).collect::<Vec<Row>>()
    });
    Table {
        id: "radio-table".to_owned(),
        caption: "Radios that the paper might have meant (C3-27, C3-32), ten senders".to_owned(),
        columns: heads(&["radio", "protocol"], &measures),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}

/// A measure over the senders of a run alone.
fn of_senders(path: &str) -> impl Fn(&RunRecord) -> Option<f64> {
    let measure = named(path);
    move |run| {
        let mine = |f: &&windlass_sim::FlowResult| f.name.starts_with(SENDERS);
        let flows = run.flows.iter().filter(mine).cloned().collect();
        measure(&RunRecord { flows, ..run.clone() })
    }
}

/// Senders of whose data something arrived in the 300 ms of Table I, by protocol.
pub(super) fn heard_of(m: &Material, label: &str) -> BySeed {
    by_seed(m, "literal", &format!("protocol={label}"), heard)
}

/// Senders of whose data something arrived.
fn heard(run: &RunRecord) -> Option<f64> {
    let mine = run.flows.iter().filter(|f| f.name.starts_with(SENDERS));
    Some(mine.filter(|f| f.delivered_bytes > 0).count() as f64)
}

fn literal(m: &Material) -> Table {
    let shown = [
        ("goodput of a flow (bit/s)", "run.goodput_mean_bps"),
        ("packets lost (share)", "run.loss_rate"),
        ("delay above the least (ms)", "run.delay_excess_ms"),
        ("jitter (ms)", "run.jitter_ms"),
        ("sent again", "run.retransmits"),
    ];
    let rows = values(m, "literal", "protocol").into_iter().map(|(label, about)| {
        let at = |f: &dyn Fn(&RunRecord) -> Option<f64>| -> BySeed {
            by_seed(m, "literal", &format!("protocol={label}"), f)
        };
        let measured = shown.iter().map(|(_, path)| cell(&at(&of_senders(path))));
        let first = [protocol(&label), about.clone(), cell(&heard_of(m, &label))];
        row(first.into_iter().chain(measured).collect())
    });
    let first = ["protocol", "what it is", "senders heard of"];
    let head = first.into_iter().chain(shown.iter().map(|(name, _)| *name));
    Table {
        id: "literal-table".to_owned(),
        caption: "The 300 ms of Table I, after 4 s of datagrams that find the routes (C3-1): ten senders in all \
            parts of the grid"
            .to_owned(),
        columns: columns(&head.collect::<Vec<&str>>()),
        rows: filled(rows),
        notes: vec![MEANS.to_owned()],
    }
}
