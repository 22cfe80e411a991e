//! The command line.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use windlass_interop::interop::Direction;
use windlass_run::World;

const CONFORM_HELP: &str = "\
Examples:
  windlass-dev conform                         every vector below ./conformance
  windlass-dev conform --algorithm cubic       one algorithm's
  windlass-dev conform my-vectors/one.jsonl    a file of one's own
  windlass-dev conform --write conformance     write the vectors again";

const SCRIPT_HELP: &str = "\
Examples:
  windlass-dev script                                          every script below ./conformance/scripts
  windlass-dev script conformance/scripts/paws.script          one of them
  sudo windlass-dev script --on linux                          against this machine's kernel";

const INTEROP_HELP: &str = "\
Examples:
  windlass-dev interop                                     every case, against this machine's kernel (needs root)
  windlass-dev interop --on linux-vt=6.1                   against a Debian kernel in virtual time (needs QEMU)
  windlass-dev interop --case lost-syn --case zero-window  two cases
  windlass-dev interop --list                              the cases, and what must come of each
  windlass-dev interop --out captures                      captures of the cases that fail, for Wireshark";

const LOCKSTEP_HELP: &str = "\
Examples:
  windlass-dev lockstep --seeds 1..300 --on linux-vt=6.12              300 random connections; needs QEMU
  windlass-dev lockstep --seeds 17 --on linux-vt=6.1                   one of them, on another kernel
  windlass-dev lockstep --seeds 1..300 --out differences               a script of each difference

Exit codes: 0 the cases are equal; 1 more of them differ than --allow says.";

const CALIBRATE_HELP: &str = "\
Examples:
  windlass-dev calibrate                       this machine's kernel, about a minute; needs root
  windlass-dev calibrate --on linux-vt=6.12    a Debian kernel in virtual time; needs QEMU
  windlass-dev calibrate --json | jq '.points[].rows[] | select(.ok | not)'

Exit codes: 0 all within bounds; 1 something was not, or the machine was too busy to tell.";

/// For those who work on Windlass: what holds its algorithms, its TCP and its testbed to the truth.
#[derive(Parser)]
#[command(name = "windlass-dev", version = windlass_run::VERSION, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Command {
    /// Hold the algorithms against conformance vectors.
    ///
    /// A vector is a file of events with the window, threshold and pacing rate expected after each;
    /// docs/src/inside/conformance.md describes it. A difference beyond its tolerance ends with exit code 1.
    #[command(after_help = CONFORM_HELP)]
    Conform(Conform),
    /// Hold TCP to scripted exchanges of segments, ours or this machine's kernel.
    ///
    /// A script says which segments arrive and which must leave, when, and what shall be seen
    /// meanwhile; docs/src/guides/packet-scripts.md describes the language. A difference is printed with the
    /// exchange up to there and ends with exit code 1.
    #[command(after_help = SCRIPT_HELP)]
    Script(Script),
    /// Hold our endpoint and a Linux kernel's to each other over real packets.
    ///
    /// One end of a connection is ours, the other a kernel's socket, with emulated links and listed
    /// faults between them; each case is run with either end as the sender. A case that fails ends with
    /// exit code 1.
    #[command(after_help = INTEROP_HELP)]
    Interop(Interop),
    /// Compare our endpoint with a kernel packet by packet in random exchanges.
    ///
    /// Each seed is one connection with random settings, traffic, losses and a random peer. The first
    /// segment that differs is printed with the states of both stacks, and the exchange up to there is
    /// shrunk to a packet script; docs/src/guides/packet-scripts.md describes the method.
    #[command(after_help = LOCKSTEP_HELP)]
    Lockstep(Lockstep),
    /// Measure what the testbed's links deliver against what was asked of them.
    ///
    /// Rate, one-way times, losses and queue lengths of several links, through the same sockets,
    /// namespaces and emulator as runs; docs/src/inside/testbed.md says how, and why the bounds are what they are.
    #[command(after_help = CALIBRATE_HELP)]
    Calibrate(Calibrate),
}

/// Arguments of `conform`.
#[derive(Args)]
pub struct Conform {
    /// Vectors, or folders with vectors; ./conformance when none is named.
    pub files: Vec<PathBuf>,
    /// Only this algorithm's.
    #[arg(long, value_name = "ID")]
    pub algorithm: Option<String>,
    /// Write the vectors into this folder instead of checking any.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "algorithm"])]
    pub write: Option<PathBuf>,
}

/// Arguments of `script`.
#[derive(Args)]
pub struct Script {
    /// Scripts, or folders with scripts; ./conformance/scripts when none is named.
    pub files: Vec<PathBuf>,
    /// What the scripts are compared with: sim (Windlass's own TCP), linux (this machine's kernel, through a TUN
    /// device; needs root), linux-vt=6.12 or linux-vt=6.1 (a Debian kernel in virtual time; needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim)]
    pub on: World,
}

/// Arguments of `interop`.
#[derive(Args)]
pub struct Interop {
    /// Whose kernel: linux (this machine's; needs root), linux-vt=6.12 or linux-vt=6.1 (a Debian kernel
    /// in virtual time; needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Linux)]
    pub on: World,
    /// Only this case; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// Only this direction: ours-sends or kernel-sends.
    #[arg(long, value_name = "DIRECTION")]
    pub direction: Option<Direction>,
    /// Seed of the random losses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the cases and what must come of each; run nothing.
    #[arg(long)]
    pub list: bool,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Write a capture of each failure into this folder: CASE-DIRECTION.pcapng.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `lockstep`.
#[derive(Args)]
pub struct Lockstep {
    /// The seeds: one number, or the first and the last as 1..300.
    #[arg(long, value_name = "N|FIRST..LAST", default_value = "1..300", value_parser = seeds)]
    pub seeds: RangeInclusive<u64>,
    /// The kernel: linux-vt=6.12 or linux-vt=6.1 (a Debian kernel in virtual time; needs QEMU).
    #[arg(long, value_name = "WORLD", default_value = "linux-vt=6.12")]
    pub on: World,
    /// How many cases may differ.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub allow: usize,
    /// How many smaller cases are tried for each kind of difference; 0 leaves the exchanges as they are.
    #[arg(long, value_name = "N", default_value_t = 120)]
    pub tries: u32,
    /// Write a script of each kind of difference and findings.json into this folder.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn seeds(text: &str) -> Result<RangeInclusive<u64>, String> {
    let help = "give one number, or the first and the last seed as 1..300";
    let number = |text: &str| text.parse::<u64>().map_err(|_| help.to_owned());
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let seeds = number(first)?..=number(last)?;
    if seeds.is_empty() { Err(help.to_owned()) } else { Ok(seeds) }
}

/// Arguments of `calibrate`.
#[derive(Args)]
pub struct Calibrate {
    /// Where: linux (this machine's kernel, in real time; needs root), linux-vt=6.12 or linux-vt=6.1
    /// (a Debian kernel in virtual time; needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Linux)]
    pub on: World,
    /// A smoke run: fewer datagrams.
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON document with `points` and their `rows` instead of the table.
    #[arg(long)]
    pub json: bool,
}
