//! Arguments of the commands that need the Linux testbed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use windlass_lab::run::World;
use windlass_testbed::interop::Direction;

/// Arguments of `script`.
#[derive(Args)]
pub struct Script {
    /// Scripts, or folders with scripts; ./conformance/scripts when none is named.
    pub files: Vec<PathBuf>,
    /// What the scripts are held against.
    #[arg(long, value_enum, value_name = "WORLD", default_value_t = ScriptWorld::Sim)]
    pub on: ScriptWorld,
}

/// What scripts are held against.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScriptWorld {
    /// Windlass's own TCP, in virtual time.
    Sim,
    /// This machine's kernel, through a TUN device; needs root.
    Linux,
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

pub const SCRIPT_HELP: &str = "\
Examples:
  windlass script                                          every script below ./conformance/scripts
  windlass script conformance/scripts/paws.script          one of them
  sudo windlass script --on linux                          against this machine's kernel";

pub const INTEROP_HELP: &str = "\
Examples:
  windlass interop                                     every case, against this machine's kernel (needs root)
  windlass interop --on linux-vt=6.1                   against a Debian kernel in virtual time (needs QEMU)
  windlass interop --case lost-syn --case zero-window  two cases
  windlass interop --list                              the cases, and what must come of each
  windlass interop --out captures                      captures of the cases that fail, for Wireshark";

pub const CALIBRATE_HELP: &str = "\
Examples:
  windlass calibrate                       this machine's kernel, about a minute; needs root
  windlass calibrate --on linux-vt=6.12    a Debian kernel in virtual time; needs QEMU
  windlass calibrate --json | jq '.points[].rows[] | select(.ok | not)'

Exit codes: 0 all within bounds; 1 something was not, or the machine was too busy to tell.";
