//! Transfers over links that lose packets, by smoltcp and by Windlass's own endpoints.

use std::fmt::Write;

use smoltcp::socket::tcp::CongestionControl;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd};
use windlass_sim::{FlowResult, Simulation};
use windlass_stats::Summary;

use crate::smoltcp::{Options, Role, Smoltcp};

/// What is transferred, bytes.
const BYTES: u64 = 200_000;
/// Losses of packets, percent, in either direction.
const LOSSES: [&str; 4] = ["0", "1", "3", "10"];

/// Who sends the file. The other end is Windlass's with Linux's settings.
#[derive(Clone, Copy)]
enum Sender {
    /// smoltcp.
    Smoltcp(CongestionControl),
    /// Ours, with this stack and algorithm.
    Ours(&'static str, &'static str),
}

const SENDERS: [(&str, Sender); 5] = [
    ("smoltcp, no congestion control (its default)", Sender::Smoltcp(CongestionControl::None)),
    ("smoltcp, Reno", Sender::Smoltcp(CongestionControl::Reno)),
    ("smoltcp, CUBIC", Sender::Smoltcp(CongestionControl::Cubic)),
    ("Windlass, `rfc`, NewReno", Sender::Ours("rfc", "newreno")),
    ("Windlass, `linux`, CUBIC", Sender::Ours("linux", "cubic")),
];

/// The network and its one flow.
fn scenario(stack: &str, algorithm: &str, loss: &str) -> Scenario {
    let text = format!(
        r#"
description = "An upload of a device over a link that loses packets both ways"
duration = "3000s"
[stack]
preset = "{stack}"
[[link]]
name = "link"
between = ["device", "server"]
rate = "250kbps"
delay = "50ms"
queue = "20packets"
loss = {{ model = "drop", probability = "{loss}%", direction = "both" }}
[[flow]]
name = "upload"
from = "device"
to = "server"
algorithm = "{algorithm}"
traffic = {{ kind = "bulk", bytes = "{BYTES}B" }}
"#
    );
    Scenario::from_str(&text, "lossy.rs").unwrap_or_else(|e| panic!("{e}"))
}

/// What one transfer came to: seconds until all was there, if it ever was, and packets that the device sent.
struct Upload {
    seconds: Option<f64>,
    packets: u64,
}

fn upload(sender: Sender, loss: &str, seed: u64) -> Upload {
    let (stack, algorithm) = match sender {
        Sender::Smoltcp(_) => ("linux", "cubic"),
        Sender::Ours(stack, algorithm) => (stack, algorithm),
    };
    let config = compile(&scenario(stack, algorithm, loss), seed).expect("a network");
    let flow: FlowResult = match sender {
        Sender::Ours(..) => {
            let mut simulation = Simulation::new(config).expect("a network");
            simulation.run();
            simulation.finish().expect("packets are conserved").flows.remove(0)
        }
        Sender::Smoltcp(control) => {
            let ends = FlowAddresses::of_flow(0, &config.flows[0]).addresses(true);
            let options = Options { control, seed, ..Options::default() };
            let mut end = Smoltcp::new(&options, ends, Role::Sends(BYTES), Time::ZERO);
            let mut ends: [(u32, &mut dyn PacketEnd); 1] = [(0, &mut end)];
            external::run(&config, &mut ends).expect("a run").flows.remove(0)
        }
    };
    Upload { seconds: flow.completion_s, packets: flow.packets_sent }
}

/// How long each sender takes at each loss, as a table in Markdown.
pub fn table(seeds: u64) -> String {
    let heads = LOSSES.map(|loss| format!("{loss} %")).join(" | ");
    let mut out = format!("| sender | {heads} |\n|{}\n", " --- |".repeat(LOSSES.len() + 1));
    for (name, sender) in SENDERS {
        let cells = LOSSES.map(|loss| {
            let all: Vec<Upload> = (1..=seeds).map(|seed| upload(sender, loss, seed)).collect();
            cell(&all)
        });
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    out
}

/// The median time with its 95 % interval, and the mean number of packets that the device sent. A transfer that never
/// ends counts as endless.
fn cell(all: &[Upload]) -> String {
    let seconds: Vec<f64> = all.iter().map(|u| u.seconds.unwrap_or(f64::INFINITY)).collect();
    let summary = Summary::of(&seconds).expect("runs");
    let packets = all.iter().map(|u| u.packets).sum::<u64>() as f64 / all.len() as f64;
    let [low, high] = summary.ci95_median.unwrap_or([summary.median; 2]);
    format!("{:.1} s [{low:.1}, {high:.1}], {packets:.0} packets", summary.median)
}
