//! Arguments of `choose`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::choose::Spread;
use windlass_lab::compare::Measure;
use windlass_lab::run::World;
use windlass_lab::units::{BitRate, Bytes, Duration, Probability};

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass choose --rate 250kbps --rtt 80ms --loss 2% --transfer 100kB
  windlass choose scenarios/lossy-download.toml --aim delay
  windlass choose scenarios/meter-storm.toml --vary stack.rto.initial=2s,4s --vary stack.initial_window=1mss,4mss
  windlass choose --rate 250kbps --rtt 80ms --transfer 20kB --memory 104B --flash 8kB
  windlass choose --rate 10Mbps --rtt 40ms --aim goodput --algorithms cubic,bbr --uncertain loss=1
  windlass choose --rate 2Mbps --rtt 60ms --loss 1% --transfer 100kB --on linux-vt --algorithms cubic,bbr,linux:nv

docs/src/guides/choose.md explains the method.";

/// Arguments of `choose`.
#[derive(Args)]
pub struct Choose {
    /// Scenario with the network and its flows; or use --rate and --rtt.
    #[arg(conflicts_with_all = ["rate", "rtt", "loss", "transfer"], required_unless_present_all = ["rate", "rtt"])]
    pub file: Option<PathBuf>,
    /// Set the rate of the bottleneck.
    #[arg(long, value_name = "RATE", requires = "rtt")]
    pub rate: Option<BitRate>,
    /// Set the base RTT of the network.
    #[arg(long, value_name = "TIME", requires = "rate")]
    pub rtt: Option<Duration>,
    /// Set the probability of a random packet loss at the bottleneck.
    #[arg(long, value_name = "P", requires = "rate")]
    pub loss: Option<Probability>,
    /// Set the size of the transfer [default: endless].
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub transfer: Option<Bytes>,
    /// Set the device's memory for the state of one connection; candidates with a larger state are
    /// omitted.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Set the device's flash for congestion control, as counted on a Cortex-M0.
    #[arg(long, value_name = "SIZE")]
    pub flash: Option<Bytes>,
    /// Set the aim: completion, goodput, delay (in queues), latency (of messages), late (messages),
    /// exchange (of CoAP), energy, bytes (on the first link) or fairness. The default depends on the flows: completion with
    /// finite transfers, late with message deadlines, exchange if all flows are CoAP flows,
    /// otherwise goodput.
    #[arg(long, value_name = "AIM", value_parser = super::known::one_of(&AIMS))]
    pub aim: Option<Measure>,
    /// Set the candidates, with parameters if necessary [default: all algorithms that fit the
    /// network]. If all flows are CoAP flows, the candidates are timers. linux:nv is a kernel's
    /// algorithm of this name, and needs --on.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// Compare settings of the scenario instead of algorithms: the scenario as given, and with each
    /// of these values, one change at a time. Can be repeated:
    /// `--vary stack.rto.initial=1s,4s --vary stack.preset="uip"`.
    #[arg(long, value_name = "KEY=VALUE,…", conflicts_with_all = ["algorithms", "memory", "flash"], requires = "file")]
    pub vary: Vec<String>,
    /// Set the factors of uncertainty, such as rate=2,loss=1. The factor 1 means known exactly, and
    /// 2 means from half to twice. Keys without a factor have 1.5, and loss has 2.
    #[arg(long, value_name = "KEY=FACTOR,…", default_value = "rate=1.5", value_parser = spread)]
    pub uncertain: Spread,
    /// Set the number of drawn networks; each has its seed.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Change a value of the scenario, as in `run`: `--set link.0.rate=2Mbps`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Run on this backend: sim, linux, linux-vt=6.12, linux-vt=7.3, linux-vt=6.1 or ns3. Except for sim,
    /// --algorithms is required, the candidates are the backend's own algorithms, and a run takes
    /// seconds.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim, value_parser = super::known::world(), hide_possible_values = true)]
    pub on: World,
    /// Print one JSON document with the advice and the underlying comparison.
    #[arg(long)]
    pub json: bool,
    /// Also write a folder with advice.json and every run, so that an interrupted command resumes.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

/// Aims of users, with the measure of each.
const AIMS: [(&str, Measure); 9] = [
    ("completion", Measure::Completion),
    ("goodput", Measure::Goodput),
    ("delay", Measure::QueueingDelay),
    ("latency", Measure::Latency),
    ("late", Measure::Late),
    ("exchange", Measure::Exchange),
    ("energy", Measure::BatteryLife),
    ("bytes", Measure::Bytes),
    ("fairness", Measure::Jain),
];

fn spread(text: &str) -> Result<Spread, String> {
    let mut spread = Spread { rate: 1.5, delay: 1.5, loss: 2.0 };
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let (key, factor) = part.split_once('=').unwrap_or((part, ""));
        let factor: f64 =
            factor.parse().map_err(|_| format!("`{part}`: write KEY=FACTOR, such as rate=2"))?;
        match key {
            "rate" => spread.rate = factor,
            "delay" => spread.delay = factor,
            "loss" => spread.loss = factor,
            _ => return Err(format!("`{key}`: there are rate, delay and loss")),
        }
    }
    Ok(spread)
}
