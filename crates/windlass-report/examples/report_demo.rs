//! Writes a demonstration report that uses every kind of block, with invented figures.
//!
//! `cargo run -p windlass-report --example report_demo -- demo.html`

use std::error::Error;

use windlass_report::html;
use windlass_report::model::{
    Badge, Block, Chart, ChartAxis, ChartPoint, ChartSeries, Ladder, Mark, Message, Report, Row,
    Scale, Section, Table, Tone,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "report-demo.html".to_owned());
    std::fs::write(&path, html::render(&demo())?)
        .map_err(|error| format!("cannot write the report to {path}: {error}"))?;
    println!("{path}");
    Ok(())
}

fn demo() -> Report {
    Report {
        title: "Demonstration: TCP Reno at high bit-error rates".to_owned(),
        summary: "DEMONSTRATION ONLY: every figure below is invented to show how a report looks; \
                  none was measured. A real report is written by `windlass reproduce`."
            .to_owned(),
        counted: None,
        verdicts: [GOOD, NEAR, BAD, NONE]
            .map(|b| (b, VERDICTS.iter().filter(|v| v.0 == b).count()))
            .to_vec(),
        provenance: pairs(&[
            ("Windlass", "demonstration"),
            ("Seeds", "1 to 30"),
            ("Scenario", "sha256 3f9a60c1d2b84e7795a0c4b1e8d7f6a2093b5c4d8e1f7a6b2c3d4e5f60718293"),
            ("Command", "windlass reproduce reno-ber --out results"),
            ("Time taken", "41 s on 2 threads"),
        ]),
        sections: vec![response_times(), windows(), exchange(), fidelity()],
    }
}

fn pairs(items: &[(&str, &str)]) -> Vec<(String, String)> {
    items.iter().map(|&(label, value)| (label.to_owned(), value.to_owned())).collect()
}

fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned() }
}

fn command(command: &str) -> Block {
    Block::Command { about: None, command: command.to_owned(), scenario: None }
}

fn axis(label: &str, scale: Scale) -> ChartAxis {
    ChartAxis { label: label.to_owned(), scale }
}

fn series(name: &str, mark: Mark, points: Vec<ChartPoint>) -> ChartSeries {
    ChartSeries { name: name.to_owned(), mark, points }
}

const LOSSES: [&str; 5] = ["0 %", "0.01 %", "0.1 %", "1 %", "10 %"];
const PAPER_S: [f64; 5] = [60.21, 60.42, 61.46, 76.83, 1953.62];
const OURS_S: [(f64, f64, f64); 5] = [
    (46.1, 46.1, 46.1),
    (46.4, 46.2, 46.7),
    (50.2, 49.6, 50.9),
    (84.3, 82.9, 85.8),
    (571.0, 548.0, 596.0),
];

/// Verdict and note of each row.
const fn badge(tone: Tone, sign: &'static str, name: &'static str, meaning: &'static str) -> Badge {
    Badge { tone, sign, name, meaning }
}

const GOOD: Badge = badge(Tone::Good, "✓", "reproduced", "our figure agrees with the paper's");
const NEAR: Badge = badge(Tone::Near, "≈", "same direction", "the effect differs in its size");
const BAD: Badge = badge(Tone::Bad, "✗", "contradicted", "the effect points the other way");
const NONE: Badge = badge(Tone::None, "–", "not comparable", "it cannot be decided here");

const VERDICTS: [(Badge, Option<&str>); 5] = [
    (NONE, Some("The paper's figure includes an unexplained offset of 10 s (RB-7).")),
    (GOOD, None),
    (GOOD, Some("Within 2 % once the offset of `10 s` is taken off (RB-7).")),
    (NEAR, Some("The slowdown is there and larger than the paper's: 1.83 against 1.28.")),
    (BAD, Some("The paper's simulator backs off far longer than RFC 6298 has it; see RB-11.")),
];

fn response_times() -> Section {
    Section {
        id: "response".to_owned(),
        title: "Download response time".to_owned(),
        blocks: vec![
            text(
                "A client fetches 10 MB by FTP over a path with a round trip of 40 ms. The receive \
                 window of `8760` bytes bounds the rate.\n\nEach point is the mean of 30 seeds.",
            ),
            Block::Table(response_table()),
            command("windlass reproduce reno-ber --only response --seeds 30"),
            Block::Chart(response_chart()),
            Block::Chart(loss_chart()),
        ],
    }
}

fn response_table() -> Table {
    let row = |at: usize| Row {
        cells: vec![
            LOSSES[at].to_owned(),
            format!("{:.2}", PAPER_S[at]),
            format!("{:.1}", OURS_S[at].0),
            format!("[{:.1}, {:.1}]", OURS_S[at].1, OURS_S[at].2),
        ],
        verdict: Some(VERDICTS[at].0),
        note: VERDICTS[at].1.map(str::to_owned),
    };
    Table {
        id: "table-response".to_owned(),
        caption: "Mean response time against packet loss (the paper's Table 4).".to_owned(),
        columns: ["Loss", "Paper (s)", "Ours (s)", "95 % interval (s)"].map(str::to_owned).to_vec(),
        rows: (0..5).map(row).collect(),
        notes: vec![
            "Ours starts at the connection's SYN and ends with the last byte read.".to_owned(),
        ],
    }
}

fn categories(values: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> Vec<ChartPoint> {
    let point = |(at, (y, interval)): (usize, (f64, Option<(f64, f64)>))| ChartPoint {
        category: Some(LOSSES[at].to_owned()),
        y,
        lo: interval.map(|i| i.0),
        hi: interval.map(|i| i.1),
        ..ChartPoint::default()
    };
    values.enumerate().map(point).collect()
}

fn response_chart() -> Chart {
    let ours = |factor: f64| {
        OURS_S.into_iter().map(move |(y, lo, hi)| (y * factor, Some((lo * factor, hi * factor))))
    };
    Chart {
        id: "chart-response".to_owned(),
        caption: "Response time by loss rate on a logarithmic axis: the last step is the collapse."
            .to_owned(),
        x: axis("Packet loss", Scale::Category),
        y: axis("Response time (s)", Scale::Log),
        series: vec![
            series("Paper", Mark::Paper, categories(PAPER_S.into_iter().map(|y| (y, None)))),
            series("Windlass, Reno", Mark::Points, categories(ours(1.0))),
            series("Windlass, NewReno", Mark::Points, categories(ours(0.93))),
        ],
        zoom: false,
    }
}

fn loss_chart() -> Chart {
    let bars = OURS_S.into_iter().map(|(y, lo, hi)| (1e7 / y, Some((1e7 / hi, 1e7 / lo))));
    Chart {
        id: "chart-throughput".to_owned(),
        caption: "Mean throughput (the paper's Figure 6).".to_owned(),
        x: axis("Packet loss", Scale::Category),
        y: axis("Throughput (bytes/s)", Scale::Linear),
        series: vec![
            series("Windlass, Reno", Mark::Bars, categories(bars)),
            series("Paper", Mark::Paper, categories(PAPER_S.into_iter().map(|y| (1e7 / y, None)))),
        ],
        zoom: false,
    }
}

/// A sawtooth with a spike, long enough to be thinned.
fn sawtooth(points: u32, period: u32) -> Vec<ChartPoint> {
    let at = |n: u32| {
        let phase = f64::from(n % period) / f64::from(period);
        let y = if n == points / 3 { 135_000.0 } else { 4380.0 + 30_000.0 * phase };
        ChartPoint { x: f64::from(n) * 60.0 / f64::from(points), y, ..ChartPoint::default() }
    };
    (0..points).map(at).collect()
}

fn windows() -> Section {
    let ber = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4];
    let closed = |b: f64| (b, 1.0 - (1.0 - b).powi(12_000));
    let curve = (0..50).map(|n| closed(10f64.powf(-8.0 + f64::from(n) * 4.0 / 49.0)));
    let point = |(x, y)| ChartPoint { x, y, ..ChartPoint::default() };
    let measured = ber.map(closed).map(|(x, y)| ChartPoint {
        lo: Some(y * 0.8 - 5e-5),
        hi: Some(y * 1.15),
        ..point((x, y))
    });
    Section {
        id: "windows".to_owned(),
        title: "Congestion window and loss".to_owned(),
        blocks: vec![
            Block::Chart(Chart {
                id: "chart-cwnd".to_owned(),
                caption: "Congestion window over time (the paper's Figure 3).".to_owned(),
                x: axis("Time (s)", Scale::Linear),
                y: axis("cwnd (bytes)", Scale::Linear),
                series: vec![
                    series("cwnd, 0.1 %", Mark::Step, sawtooth(20_000, 1900)),
                    series("cwnd, 1 %", Mark::Step, sawtooth(900, 110)),
                ],
                zoom: true,
            }),
            Block::Chart(Chart {
                id: "chart-ber".to_owned(),
                caption: "Packet loss against bit-error rate for frames of `1500` bytes."
                    .to_owned(),
                x: axis("Bit-error rate", Scale::Log),
                y: axis("Packet loss rate", Scale::Log),
                series: vec![
                    series("Closed form", Mark::Line, curve.map(point).collect()),
                    series("Windlass, Reno", Mark::Points, measured.to_vec()),
                    series(
                        "Paper",
                        Mark::Paper,
                        vec![point((1.054e-5, 0.1)), point((1.005e-6, 0.01))],
                    ),
                ],
                zoom: true,
            }),
        ],
    }
}

fn message(sent_s: f64, rightward: bool, label: &str, remark: &str) -> Message {
    Message {
        sent_s,
        received_s: Some(sent_s + 0.02),
        rightward,
        label: label.to_owned(),
        remark: (!remark.is_empty()).then(|| remark.to_owned()),
    }
}

fn exchange() -> Section {
    let data = |sent, number: u32, remark: &str| {
        message(sent, true, &format!("seq {} len 1460", 315_361 + number * 1460), remark)
    };
    let ack = |sent, number: u32, window: u32, remark: &str| {
        message(sent, false, &format!("ack {} win {window}", 315_361 + number * 1460), remark)
    };
    let mut messages = vec![
        data(2.4060, 0, ""),
        data(2.4061, 1, ""),
        data(2.4063, 2, ""),
        data(2.4065, 3, ""),
        data(2.4068, 4, "lost"),
        data(2.4070, 5, ""),
        ack(2.4264, 4, 2920, "reader is behind"),
        ack(2.4268, 4, 8760, "window reopens"),
        ack(2.4270, 4, 8760, "1st duplicate"),
        data(2.4464, 6, ""),
        data(2.4465, 7, ""),
        ack(2.4664, 4, 8760, "2nd duplicate"),
        ack(2.4665, 4, 8760, "3rd duplicate"),
        data(2.4865, 4, "fast retransmit"),
        ack(2.5065, 8, 8760, ""),
        data(3.5300, 8, "after an idle second"),
    ];
    messages[4].received_s = None;
    Section {
        id: "exchange".to_owned(),
        title: "One loss, packet by packet".to_owned(),
        blocks: vec![
            text("The exchange around the first loss, from the trace of seed 1."),
            Block::List {
                items: vec![
                    "What is drawn: every packet.".to_owned(),
                    "Where: `seed 1`.".to_owned(),
                ],
            },
            Block::Ladder(Ladder {
                id: "ladder-loss".to_owned(),
                caption: "Packet exchange around a loss (the paper's Figure 10).".to_owned(),
                left: "server".to_owned(),
                right: "client".to_owned(),
                messages,
            }),
            command("windlass reproduce reno-ber --only figure-10"),
        ],
    }
}

fn fidelity() -> Section {
    let choice = |id: &str, about: &str, chosen: &str| Row {
        cells: [id, about, chosen].map(str::to_owned).to_vec(),
        ..Row::default()
    };
    Section {
        id: "fidelity".to_owned(),
        title: "Where the paper is silent".to_owned(),
        blocks: vec![Block::Table(Table {
            id: "table-fidelity".to_owned(),
            caption: "Choices made.".to_owned(),
            columns: ["Id", "What is open", "What was chosen"].map(str::to_owned).to_vec(),
            rows: vec![
                choice("RB-5", "Whether ACKs are lost too", "both; the main runs lose data only"),
                choice(
                    "RB-7",
                    "An offset of 10 s in every response time",
                    "reported, not imitated",
                ),
            ],
            notes: Vec::new(),
        })],
    }
}
