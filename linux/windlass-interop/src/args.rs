//! The command line.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use windlass_interop::interop::Direction;
use windlass_run::World;

const CONFORM_HELP: &str = "\
Examples:
  windlass-dev conform                         every vector of Windlass's models
  windlass-dev conform --algorithm cubic       the vectors of one algorithm
  windlass-dev conform my-vectors/one.jsonl    your own file
  windlass-dev conform --write vectors         write the vectors, for another implementation";

const SCRIPT_HELP: &str = "\
Examples:
  windlass-dev script                                          every script below ./conformance/scripts
  windlass-dev script conformance/scripts/paws.script          one script
  sudo windlass-dev script --on linux                          on this machine's kernel";

const INTEROP_HELP: &str = "\
Examples:
  windlass-dev interop                                     every case on this machine's kernel (needs root)
  windlass-dev interop --on linux-vt=6.1                   every case on a Debian kernel in virtual time (needs QEMU)
  windlass-dev interop --case lost-syn --case zero-window  two cases
  windlass-dev interop --list                              the cases with their expected results
  windlass-dev interop --out captures                      captures of failed cases, for Wireshark";

const LOCKSTEP_HELP: &str = "\
Examples:
  windlass-dev lockstep --seeds 1..300 --on linux-vt=6.12              300 random connections (needs QEMU)
  windlass-dev lockstep --seeds 17 --on linux-vt=6.1                   one connection on another kernel
  windlass-dev lockstep --seeds 1..300 --out differences               a script of each difference

The exit code is 0 if at most --allow cases differ, and 1 if more cases differ.";

const CALIBRATE_HELP: &str = "\
Examples:
  windlass-dev calibrate                       this machine's kernel, about a minute (needs root)
  windlass-dev calibrate --on linux-vt=6.12    a Debian kernel in virtual time (needs QEMU)
  windlass-dev calibrate --json | jq '.points[].rows[] | select(.ok | not)'

The exit code is 0 if all values are within bounds, and 1 if a value is out of bounds or the machine was too busy.";

/// Check Windlass's algorithms, its TCP and its testbed. For contributors to Windlass.
#[derive(Parser)]
#[command(name = "windlass-dev", version = windlass_run::VERSION, max_term_width = 100)]
pub struct Cli {
    /// Verb to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Command {
    /// Check the algorithms against conformance vectors.
    ///
    /// A vector is a file of events with the expected window, threshold and pacing rate after each event.
    /// docs/src/inside/conformance.md describes the format. A difference beyond its tolerance ends with exit
    /// code 1.
    #[command(after_help = CONFORM_HELP)]
    Conform(Conform),
    /// Check Windlass's TCP or this machine's kernel against scripted exchanges of segments.
    ///
    /// A script lists the segments that arrive and the segments that must leave, with their times, and the
    /// values to check. docs/src/guides/packet-scripts.md describes the language. A difference is printed
    /// with the exchange up to that point, and ends with exit code 1.
    #[command(after_help = SCRIPT_HELP)]
    Script(Script),
    /// Check Windlass's endpoint and a Linux kernel against each other with real packets.
    ///
    /// One end of a connection is Windlass's endpoint, the other end is a kernel's socket. Emulated links and
    /// listed faults are between them. Each case is run with either end as the sender. A failed case ends
    /// with exit code 1.
    #[command(after_help = INTEROP_HELP)]
    Interop(Interop),
    /// Compare Windlass's endpoint with a kernel packet by packet in random exchanges.
    ///
    /// Each seed is one connection with random settings, traffic, losses and a random peer. The first segment
    /// that differs is printed with the states of both stacks. The exchange up to that point is shrunk to a
    /// packet script. docs/src/guides/packet-scripts.md describes the method.
    #[command(after_help = LOCKSTEP_HELP)]
    Lockstep(Lockstep),
    /// Compare the values that the testbed's links deliver with the requested values.
    ///
    /// The values are rate, one-way delays, losses and queue lengths of several links. The packets use the
    /// same sockets, namespaces and emulator as runs. docs/src/inside/testbed.md describes the method and the
    /// reasons for the bounds.
    #[command(after_help = CALIBRATE_HELP)]
    Calibrate(Calibrate),
}

/// Arguments of `conform`.
#[derive(Args)]
pub struct Conform {
    /// Files or folders with vectors [default: the vectors of Windlass's models].
    pub files: Vec<PathBuf>,
    /// Check only the vectors of this algorithm.
    #[arg(long, value_name = "ID")]
    pub algorithm: Option<String>,
    /// Write the vectors into this folder instead of checking them.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "algorithm"])]
    pub write: Option<PathBuf>,
}

/// Arguments of `script`.
#[derive(Args)]
pub struct Script {
    /// Scripts, or folders with scripts [default: ./conformance/scripts].
    pub files: Vec<PathBuf>,
    /// Stack to compare with: sim (Windlass's own TCP), linux (this machine's kernel through a TUN device,
    /// needs root), linux-vt=6.12, linux-vt=7.3 or linux-vt=6.1 (a Debian kernel in virtual time, needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim)]
    pub on: World,
}

/// Arguments of `interop`.
#[derive(Args)]
pub struct Interop {
    /// Kernel: linux (this machine's kernel, needs root), linux-vt=6.12, linux-vt=7.3 or linux-vt=6.1 (a Debian kernel in
    /// virtual time, needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Linux)]
    pub on: World,
    /// Run only this case; may be given several times.
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// Run only this direction: `ours-sends` or `kernel-sends`.
    #[arg(long, value_name = "DIRECTION")]
    pub direction: Option<Direction>,
    /// Seed of the random losses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print the cases with their expected results, without running them.
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
    /// Seeds: one number, or the first and the last as 1..300.
    #[arg(long, value_name = "N|FIRST..LAST", default_value = "1..300", value_parser = seeds)]
    pub seeds: RangeInclusive<u64>,
    /// Kernel: linux-vt=6.12, linux-vt=7.3 or linux-vt=6.1 (a Debian kernel in virtual time, needs QEMU).
    #[arg(long, value_name = "WORLD", default_value = "linux-vt=6.12")]
    pub on: World,
    /// Number of cases that may differ.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub allow: usize,
    /// Number of smaller cases to try for each kind of difference; 0 does not shrink the exchanges.
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
    /// Backend: linux (this machine's kernel in real time, needs root), linux-vt=6.12, linux-vt=7.3 or linux-vt=6.1 (a
    /// Debian kernel in virtual time, needs QEMU).
    #[arg(long, value_name = "WORLD", default_value_t = World::Linux)]
    pub on: World,
    /// Run a smoke test with fewer datagrams.
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON document with `points` and their `rows` instead of the table.
    #[arg(long)]
    pub json: bool,
}
