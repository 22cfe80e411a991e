//! Arguments of `choose`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::choose::Spread;
use windlass_lab::compare::Measure;
use windlass_lab::run::World;
use windlass_lab::units::{BitRate, Bytes, Duration, Probability};

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass choose --rate 250kbps --rtt 80ms --loss 2% --transfer 100kB
  windlass choose scenarios/lossy-download.toml --aim delay
  windlass choose --rate 250kbps --rtt 80ms --transfer 20kB --memory 104B --flash 8kB
  windlass choose --rate 10Mbps --rtt 40ms --aim goodput --algorithms cubic,bbr --uncertain loss=1
  windlass choose --rate 2Mbps --rtt 60ms --loss 1% --transfer 100kB --on linux-vt --algorithms cubic,bbr,linux:nv

docs/src/guides/choose.md says how the advice is come by.";

/// Arguments of `choose`.
#[derive(Args)]
pub struct Choose {
    /// The network and its flows; or say --rate and --rtt.
    #[arg(conflicts_with_all = ["rate", "rtt", "loss", "transfer"], required_unless_present_all = ["rate", "rtt"])]
    pub file: Option<PathBuf>,
    /// Rate of the bottleneck.
    #[arg(long, value_name = "RATE", requires = "rtt")]
    pub rate: Option<BitRate>,
    /// Round trip of the idle network.
    #[arg(long, value_name = "TIME", requires = "rate")]
    pub rtt: Option<Duration>,
    /// Probability that the bottleneck loses a packet by chance.
    #[arg(long, value_name = "P", requires = "rate")]
    pub loss: Option<Probability>,
    /// What is sent; endless unless told.
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub transfer: Option<Bytes>,
    /// Memory that the device has for the state of one connection: candidates that keep more are left out.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Flash that it has for congestion control, counted on a Cortex-M0.
    #[arg(long, value_name = "SIZE")]
    pub flash: Option<Bytes>,
    /// What counts: completion, goodput, delay (in queues), latency (of messages), late (messages), exchange (of CoAP), energy or
    /// fairness. Unless told: completion where something that is sent has an end, late where messages have a deadline, exchange
    /// where all is CoAP, goodput elsewhere.
    #[arg(long, value_name = "AIM", value_parser = super::known::one_of(&AIMS))]
    pub aim: Option<Measure>,
    /// The candidates, with parameters where wanted; all that fit the network unless told. Where all flows are CoAP flows, their
    /// timers. linux:nv is what a kernel has under
    /// this name, and needs --on.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// By which factors the network may be off, such as rate=2,loss=1: 1 is known exactly, 2 from half to twice. What is not
    /// named is 1.5, and 2 for loss.
    #[arg(long, value_name = "KEY=FACTOR,…", default_value = "rate=1.5", value_parser = spread)]
    pub uncertain: Spread,
    /// Networks that are drawn, each with its seed.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Change a value of the scenario, as in `run`: `--set link.0.rate=2Mbps`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Where to run them: sim, linux, linux-vt=6.12, linux-vt=6.1 or ns3. Outside of the simulator the candidates have to be named,
    /// are the world's own, and a run takes seconds.
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim, value_parser = super::known::world(), hide_possible_values = true)]
    pub on: World,
    /// Print one JSON document with the advice and the comparison behind it.
    #[arg(long)]
    pub json: bool,
    /// Also write a folder with advice.json, and every run: a command that was interrupted goes on where it stopped.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs side by side; 0 takes one for each processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

/// What users want, by the measure that says it.
const AIMS: [(&str, Measure); 8] = [
    ("completion", Measure::Completion),
    ("goodput", Measure::Goodput),
    ("delay", Measure::QueueingDelay),
    ("latency", Measure::Latency),
    ("late", Measure::Late),
    ("exchange", Measure::Exchange),
    ("energy", Measure::BatteryLife),
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
