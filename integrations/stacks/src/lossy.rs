//! Transfers over links that lose packets, by other stacks and by Windlass's endpoints.

use std::fmt::Write;
use std::path::Path;

use smoltcp::socket::tcp::CongestionControl;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd};
use windlass_sim::{FlowResult, Simulation};
use windlass_stats::Summary;

use crate::app::{App, Role};
use crate::c_end::Setting;
use crate::lwip;
use crate::smoltcp::{Options, Stack};

/// Bytes of the transfer.
const BYTES: u64 = 200_000;
/// Losses of packets, percent, in either direction.
const LOSSES: [&str; 4] = ["0", "1", "3", "10"];

/// The sender of the file. The receiver is Windlass's endpoint with Linux's settings.
#[derive(Clone, Copy)]
enum Sender {
    /// smoltcp.
    Smoltcp(CongestionControl),
    /// lwIP, built with these definitions.
    Lwip(&'static [&'static str]),
    /// Windlass's endpoint, with this stack and algorithm.
    Ours(&'static str, &'static str),
}

const SENDERS: [(&str, Sender); 7] = [
    ("smoltcp, no congestion control (its default)", Sender::Smoltcp(CongestionControl::None)),
    ("smoltcp, Reno", Sender::Smoltcp(CongestionControl::Reno)),
    ("smoltcp, CUBIC", Sender::Smoltcp(CongestionControl::Cubic)),
    ("lwIP, its default segments and buffers", Sender::Lwip(&[])),
    ("lwIP, 1460 B segments and 64 kB buffers", Sender::Lwip(lwip::LARGE)),
    ("Windlass, rfc, NewReno", Sender::Ours("rfc", "newreno")),
    ("Windlass, linux, CUBIC", Sender::Ours("linux", "cubic")),
];

/// The network and its one flow: `lossy.toml` with this sender and this loss, percent.
fn scenario(stack: &str, algorithm: &str, loss: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("lossy.toml");
    let set = [
        ("stack.preset", stack.to_owned()),
        ("flow.upload.algorithm", algorithm.to_owned()),
        ("link.link.loss.probability", format!("{loss}%")),
    ];
    let set = set.map(|(key, value)| (key.to_owned(), value));
    Scenario::from_file_with(&file, &set).unwrap_or_else(|e| panic!("{e}"))
}

/// The result of one transfer: seconds until all data arrived, if they did, and packets that the device sent.
struct Upload {
    seconds: Option<f64>,
    packets: u64,
}

fn upload(sender: Sender, loss: &str, seed: u64) -> Result<Upload, String> {
    let (stack, algorithm) = match sender {
        Sender::Ours(stack, algorithm) => (stack, algorithm),
        _ => ("linux", "cubic"),
    };
    let config = compile(&scenario(stack, algorithm, loss), seed).expect("a network");
    let ends = FlowAddresses::of_flow(0, &config.flows[0]).addresses(true);
    let run = |end: &mut dyn PacketEnd| {
        external::run(&config, &mut [(0, end)]).expect("a run").flows.remove(0)
    };
    let role = Role::Sends(BYTES);
    let flow: FlowResult = match sender {
        Sender::Ours(..) => {
            let mut simulation = Simulation::new(config).expect("a network");
            simulation.run();
            simulation.finish().expect("packets are conserved").flows.remove(0)
        }
        Sender::Smoltcp(control) => {
            let options = Options { control, seed, ..Options::default() };
            run(&mut App::new(Stack::new(&options, ends), role, Time::ZERO))
        }
        Sender::Lwip(definitions) => {
            let (mtu, start, options) = (1500, Time::ZERO, String::new());
            let setting = Setting { ends, mtu, sends: true, start, seed, options };
            run(&mut App::new(lwip::connection(definitions, &setting)?, role, Time::ZERO))
        }
    };
    Ok(Upload { seconds: flow.completion_s, packets: flow.packets_sent })
}

/// The time of each sender at each loss, as CSV.
///
/// # Errors
///
/// A stack is not available.
pub fn csv(seeds: u64) -> Result<String, String> {
    let mut out = "sender,loss_percent,median_s,low_s,high_s,packets\n".to_owned();
    for (name, sender) in SENDERS {
        for loss in LOSSES {
            let all: Result<Vec<Upload>, String> =
                (1..=seeds).map(|seed| upload(sender, loss, seed)).collect();
            let _ = writeln!(out, "\"{name}\",{loss},{}", cells(&all?));
        }
    }
    // The runs of a kernel take minutes, and are stored.
    out.push_str(include_str!("../linux.csv"));
    Ok(out)
}

/// The median time with its 95 % interval, and the mean number of packets that the device sent. A transfer that never
/// ends counts as endless.
fn cells(all: &[Upload]) -> String {
    let seconds: Vec<f64> = all.iter().map(|u| u.seconds.unwrap_or(f64::INFINITY)).collect();
    let summary = Summary::of(&seconds).expect("runs");
    let packets = all.iter().map(|u| u.packets).sum::<u64>() as f64 / all.len() as f64;
    let [low, high] = summary.ci95_median.unwrap_or([summary.median; 2]);
    format!("{:.1},{low:.1},{high:.1},{packets:.0}", summary.median)
}
