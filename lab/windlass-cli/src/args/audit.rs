//! Arguments of `audit`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use windlass_lab::audit::CHECKS;
use windlass_lab::run::World;

use super::known;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass audit cubic                             Windlass's endpoint with Linux's settings
  windlass audit cubic --on linux-vt=6.12          a Linux kernel in virtual time
  windlass audit --command './my-stack cubic'      a stack in a program
  windlass audit integrations/audit/stacks.toml           every stack of a list, with a ranking
  windlass audit cubic --check one-loss            one check
  windlass audit --qlog connection.sqlog           a recorded QUIC connection

docs/src/guides/audit.md explains the checks and the interface of a program.";

/// Arguments of `audit`.
#[derive(Args)]
pub struct Audit {
    /// Algorithms of Windlass or a kernel, or lists of stacks (TOML).
    #[arg(value_name = "STACK", required_unless_present_any = ["command", "qlog"])]
    pub stacks: Vec<String>,
    /// Audit the stack in this program. The command is split at spaces.
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// Set the receiver of a stack over UDP [default: the same command].
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub peer: Option<String>,
    /// Judge the connections of this qlog file (JSON, or JSON text sequences) by RFC 9002.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stacks", "command"])]
    pub qlog: Vec<PathBuf>,
    /// Set the preset of Windlass's endpoint: rfc, linux, ns3.
    #[arg(long, value_name = "PRESET", default_value = "linux")]
    pub stack: String,
    /// Run algorithms on this backend: sim, linux, or linux-vt, a kernel in virtual time.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim, value_parser = known::world(), hide_possible_values = true)]
    pub on: World,
    /// Make only this check (may be repeated).
    #[arg(long, value_name = "CHECK", value_parser = PossibleValuesParser::new(CHECKS.iter().map(|c| c.id)), hide_possible_values = true)]
    pub check: Vec<String>,
    /// Audit only these stacks of a list.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Set the folder for pages and captures.
    #[arg(short, long, value_name = "DIR", default_value = "results/audit")]
    pub out: PathBuf,
}
