//! The command line: one definition for parsing, help and completions.

mod adversary;
mod assess;
mod choose;
mod compare;
mod crosscheck;
mod explain;
mod kernel;
mod known;
#[cfg(test)]
mod page;
mod paper;
mod play;
mod sweep;
mod twin;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use windlass_lab::Shard;
use windlass_lab::run::World;
use windlass_lab::scenario::units::Duration;
use windlass_lab::sweep::Measure;

pub use adversary::Break;
pub use assess::Assess;
pub use choose::Choose;
pub use compare::Compare;
pub use crosscheck::Crosscheck;
pub use explain::Explain;
pub use kernel::Kernel;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub use kernel::KernelVerb;
pub use paper::{PaperArgs, PaperVerb};
pub use play::Play;
pub use sweep::Sweep;
pub use twin::Twin;

const AFTER_HELP: &str = "\
Begin with:
  windlass reproduce --quick            a smoke run of every paper, some minutes
  windlass reproduce reno-ber           the whole first paper: tables, verdicts, report
  windlass run scenarios/lossy-download.toml
  windlass compare scenarios/dumbbell.toml --algorithms cubic,bbr --jitter 1s
  windlass algorithms reno              origin, parameters, units and ranges

Exit codes: 0 done; 1 a run failed, a metric of a sweep has no value, or a file could not be
written; 2 the command line, a scenario or a paper is not right.";

const DIFF_HELP: &str = "\
Examples:
  windlass diff results/before results/after            two versions, or two settings
  windlass diff results/sim results/ns3 --metric 'link.*.mean_queue_packets'";

const NEW_HELP: &str = "\
Examples:
  windlass new                                    the templates
  windlass new lossy-download my.toml && windlass run my.toml";

const REPRODUCE_HELP: &str = "\
Examples:
  windlass reproduce --quick              a smoke run of every paper into ./results
  windlass reproduce reno-ber --out r     the whole paper; again after an interruption: goes on
  windlass reproduce reno-ber --seeds 5   five replications of each point";

const RUN_HELP: &str = "\
Examples:
  windlass run scenarios/lossy-download.toml
  windlass run scenarios/lossy-download.toml --set flow.download.algorithm=reno --seeds 30
  windlass run scenarios/lossy-download.toml --on linux      over this machine's kernel
  windlass run scenarios/dumbbell.toml --dry-run             paths, queues and windows; no run
  windlass run scenarios/dumbbell.toml --json | jq '.flows[].goodput_bps'
  windlass run scenarios/lossy-download.toml --out download  Parquet tables, series, captures";

const REPORT_HELP: &str = "\
Examples:
  windlass report                        every paper in ./results
  windlass report reno-ber --out r --export csv";

const ALGORITHMS_HELP: &str = "\
Examples:
  windlass algorithms             the list
  windlass algorithms newreno     origin, parameters, units and ranges
  windlass algorithms hystart     a slow start; timers are there too
  windlass algorithms --markdown  all of it as a page";

const PRESETS_HELP: &str = "\
Examples:
  windlass presets            the list
  windlass presets riverbed   value by value, as a scenario spells it
  windlass presets 802.11g    what a Wi-Fi standard fixes";

const PAPERS_HELP: &str = "\
Examples:
  windlass papers             the list
  windlass papers reno-ber    summary and citation";

const SCHEMA_HELP: &str = "Examples:
  windlass schema > scenario.schema.json
  and as a scenario's first line, for Taplo or Even Better TOML: #:schema ./scenario.schema.json";
const COMPLETIONS_HELP: &str = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions zsh > ~/.zfunc/_windlass
  windlass completions fish > ~/.config/fish/completions/windlass.fish";

/// A laboratory for TCP congestion control in IoT networks.
#[derive(Parser)]
#[command(name = "windlass", version = windlass_lab::run::VERSION, about, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// Say nothing but results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: each finished run.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The verbs.
#[derive(Subcommand)]
pub enum Command {
    /// Run a paper's experiments, print its tables beside ours with verdicts, write the report.
    ///
    /// Finished runs are kept in OUT/PAPER/journal.jsonl: a command that was interrupted goes on
    /// where it stopped. OUT/PAPER/verdicts.json holds the verdicts, OUT/PAPER/report.html the report.
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(Reproduce),
    /// Begin with a scenario file that runs: list the templates, or write one.
    #[command(after_help = NEW_HELP)]
    New(New),
    /// Run a scenario file.
    ///
    /// One run prints a table of flows and links. With --seeds, they follow each other from the
    /// scenario's own, and medians with 95 % intervals are printed. Finished runs are kept in
    /// --out's folder: a command that was interrupted goes on where it stopped.
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Compare algorithms on a scenario: which does best, and who harms whom.
    ///
    /// Every algorithm crosses the same network with the same seeds. First all compared flows run one
    /// algorithm: the ranking, by differences paired by seed and corrected for many comparisons. Then
    /// half of them run one and half another (flows alternate, both ways round; a single flow gets a
    /// twin): the harm of A to B is how much worse B does beside A than with A's flows taken away, as a
    /// fraction (Ware and others, HotNets 2019); the bar is what B does to itself. With --out, finished
    /// runs are kept: a command that was interrupted goes on where it stopped.
    #[command(after_help = compare::HELP)]
    Compare(Compare),
    /// Say which algorithm to run on a network that is not known exactly.
    ///
    /// Every candidate crosses the same networks, drawn around the one that is given; the advice is the best by the aim, with
    /// what cannot be told from it, and where it would turn.
    #[command(after_help = choose::HELP)]
    Choose(Choose),
    /// Put an algorithm through an examination: what RFC 9743 asks of a new congestion control.
    ///
    /// Each family of criteria comes out as pass, concern, fail or undecided on its worst network. Finished runs are kept in
    /// OUT/EXAMINATION/ALGORITHM/journal.jsonl: a command that was interrupted goes on where it stopped. scorecard.html,
    /// .md and .json there are one page, report.html has every network.
    #[command(after_help = assess::HELP)]
    Assess(Assess),
    /// Search for the worst that can be done to an algorithm, and keep the smallest scenario that shows it.
    ///
    /// Within the bounds an adversary chooses losses, bursts of other traffic, outages and the queue of one path. The same seed
    /// finds the same attack.
    #[command(after_help = adversary::HELP)]
    Break(Break),
    /// Run a scenario at every combination of values, as many seeds as it takes.
    ///
    /// FILE is a scenario or a sweep file. Only runs that are missing are made; finished runs are kept
    /// in OUT/journal.jsonl, and a command that was interrupted goes on where it stopped.
    /// OUT/points.csv, OUT/points.parquet and OUT/report.html hold the means with 95 % intervals.
    #[command(after_help = sweep::HELP)]
    Sweep(Sweep),
    /// Say why a window fell: the event, the rule, the packets, and what the network did to them.
    ///
    /// RESULT is the folder of a `run --out`, or of another command that keeps runs, or a scenario file.
    #[command(after_help = explain::HELP)]
    Explain(Explain),
    /// Open the laboratory in a browser: drag a network's values and watch the windows.
    ///
    /// Serves one page to this machine alone. The page runs the simulator itself and needs no network; its address holds the
    /// scenario.
    #[command(after_help = play::HELP)]
    Play(Play),
    /// Hold two folders of results against each other: of two versions, settings or worlds.
    ///
    /// Says which runs are the same in every field, which metrics moved beyond chance, and which verdicts changed.
    /// Runs are paired by experiment, point and seed.
    #[command(after_help = DIFF_HELP)]
    Diff(Diff),
    /// Hold the algorithms against the kernel's own, over the same links.
    ///
    /// Every congestion control that Linux has too crosses the same networks in the simulator and on a
    /// kernel; the goodputs are compared. Finished runs are kept in OUT/crosscheck/journal.jsonl: a
    /// command that was interrupted goes on where it stopped. OUT/crosscheck/report.html shows the
    /// congestion windows of both.
    #[command(after_help = crosscheck::HELP)]
    Crosscheck(Crosscheck),
    /// Put algorithms into a Linux kernel, from the same source.
    ///
    /// Each becomes a congestion control by BPF struct_ops. A flow with `home = "bpf"` has its algorithm loaded for the
    /// time of a run; `load` leaves one in this machine's kernel for any program.
    #[command(after_help = kernel::HELP)]
    Kernel(Kernel),
    /// Prove that an algorithm in a kernel or another host is its native twin, and say how far host and simulator are apart.
    ///
    /// Six networks are crossed by a flow each with the algorithm in the kernel (`kernel build` first). Each event that
    /// the kernel tells it is recorded with the answer and replayed on the native core: every answer must be the same to
    /// the bit. The same networks are simulated: goodput, segments sent again and round trip of both, and the first
    /// window (segments) that only one of them had. ns-3 hands over a recording of such events, and so can any host.
    #[command(after_help = twin::HELP)]
    Twin(Twin),
    /// Say what this machine can do, and what to do about what it cannot.
    Doctor,
    /// Write a paper's tables and report again from the runs of an earlier reproduction.
    #[command(after_help = REPORT_HELP)]
    Report(Report),
    /// List the congestion-control algorithms, slow starts and timers, or describe one.
    #[command(after_help = ALGORITHMS_HELP)]
    Algorithms(Algorithms),
    /// List the stack presets and radio standards, or print one value by value.
    #[command(after_help = PRESETS_HELP)]
    Presets(Named),
    /// List the papers, or print one's citation.
    #[command(after_help = PAPERS_HELP)]
    Papers(Named),
    /// Begin a paper of one's own as a folder, or check one.
    ///
    /// docs/src/guides/add-a-paper.md is the tutorial; `windlass reproduce FOLDER` runs it.
    #[command(after_help = paper::HELP)]
    Paper(PaperArgs),
    /// Print the JSON Schema of scenario files, by which editors complete and check them, or of verdicts.json.
    #[command(after_help = SCHEMA_HELP)]
    Schema(Schema),
    /// Print a completion script, such as `windlass completions bash > windlass.bash`.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(Completions),
}

/// Arguments of `diff`.
#[derive(Args)]
pub struct Diff {
    /// A results folder.
    pub first: PathBuf,
    /// The folder to hold against it.
    pub second: PathBuf,
    /// Compare this metric instead of goodput, losses, retransmissions, timeouts and round trip, as in `sweep`; may
    /// be given several times.
    #[arg(long, value_name = "METRIC", value_parser = known::measure(), hide_possible_values = true)]
    pub metric: Vec<Measure>,
}

/// Arguments of `new`.
#[derive(Args)]
pub struct New {
    /// A template; without one they are listed.
    #[arg(value_parser = known::TEMPLATE, hide_possible_values = true)]
    pub template: Option<String>,
    /// The file, which must not be there yet; TEMPLATE.toml unless named.
    pub file: Option<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub struct Schema {
    /// What the schema is of.
    #[arg(default_value = "scenario", value_enum)]
    pub of: SchemaOf,
}

/// What there are schemas of.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// A scenario file.
    Scenario,
    /// The verdicts on a paper's claims.
    Verdicts,
}

/// Arguments of `reproduce`.
#[derive(Args)]
pub struct Reproduce {
    /// Papers, by identifier or folder; all that are built in when none is named.
    #[arg(value_parser = known::PAPER, hide_possible_values = true)]
    pub papers: Vec<String>,
    /// As much as takes about two minutes, `--budget 2min`; what that leaves open is undecided or not run.
    #[arg(long, conflicts_with = "budget")]
    pub quick: bool,
    /// Time for the runs of all papers, each with an equal part of what those before it left, about and on two processors; it is spent where it
    /// decides most. The same budget makes the same runs on every machine.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Replications of each point, instead of as many as it takes to decide, or as the experiment has at most.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "budget"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: Option<u32>,
    /// Judge after so many runs of each point that a claim reads, such as 6,12,20,40, and say whether a verdict changes
    /// its side as they are added; OUT/PAPER/looks.json has them all. Nothing else is made.
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with_all = ["quick", "budget", "seeds", "on", "readings"], value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub looks: Vec<u64>,
    /// Also run the paper's experiments in these worlds: linux (this machine's kernel; needs root),
    /// linux-vt=6.12 and linux-vt=6.1 (a Debian kernel in virtual time; needs QEMU), ns3.
    #[arg(long, value_name = "WORLD", value_delimiter = ',', value_parser = known::world(), hide_possible_values = true)]
    pub on: Vec<World>,
    /// Make one part of the runs, such as 3/8, whatever is decided before, and judge nothing: shards may share a folder on a network disk,
    /// and the same command without this takes their runs together. Of readings it makes those that do not depend on
    /// what others yield, within a budget of its own.
    #[arg(long, value_name = "I/N", conflicts_with = "looks")]
    pub shard: Option<Shard>,
    /// Also read the papers in other ways, as their readings.toml has them, and say in how many each claim holds: in the
    /// time of --budget or --quick again, or in half an hour.
    #[arg(long)]
    pub readings: bool,
    /// Print the tables too, and what is said of each statement that is contradicted or open; the report has them in any case.
    #[arg(long)]
    pub tables: bool,
    #[command(flatten)]
    pub work: Work,
}

/// Where results go and how many runs go side by side.
#[derive(Args)]
pub struct Work {
    /// Folder for results.
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Runs side by side; 0 takes one for each processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct Run {
    /// The scenario.
    pub file: PathBuf,
    /// Change a value: `--set link.0.rate=2Mbps`, `--set flow.download.algorithm=newreno`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Where to run it: sim, linux (this machine's kernel over emulated links, in real time; needs
    /// root), linux-vt=6.12 or linux-vt=6.1 (a Debian kernel in virtual time; needs QEMU), or ns3 (ns-3 3.44
    /// from PyPI; needs g++).
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim, value_parser = known::world(), hide_possible_values = true)]
    pub on: World,
    /// First seed, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Replications over consecutive seeds.
    #[arg(long, alias = "runs", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: u32,
    /// Print one JSON document with `flows` and `links` instead of tables.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the flows as CSV instead of tables.
    #[arg(long)]
    pub csv: bool,
    /// Print the scenario with every default filled in, and on standard error each flow's path,
    /// round trip, bandwidth-delay product, queue and window; run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a folder with a page of the first run (report.html), Parquet tables, the resolved scenario and,
    /// where the scenario records them, time series and captures of every run.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs side by side; 0 takes one for each processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

/// Arguments of `report`.
#[derive(Args)]
pub struct Report {
    /// Papers, by identifier or folder; all that OUT holds when none is named.
    #[arg(value_parser = known::PAPER, hide_possible_values = true)]
    pub papers: Vec<String>,
    /// Folder of an earlier `reproduce --out`.
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Also write the tables in this form, beside the Parquet files.
    #[arg(long, value_enum)]
    pub export: Option<Export>,
    /// Print the tables too, and what is said of each statement that is contradicted or open; the report has them in any case.
    #[arg(long)]
    pub tables: bool,
}

/// Forms of exported tables.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Export {
    /// Comma-separated values.
    Csv,
    /// One JSON document.
    Json,
}

/// Arguments of `algorithms`.
#[derive(Args)]
pub struct Algorithms {
    /// Which one; the list when left out.
    #[arg(value_parser = known::PART, hide_possible_values = true)]
    pub name: Option<String>,
    /// Print the page docs/src/reference/algorithms.md.
    #[arg(long, conflicts_with = "name")]
    pub markdown: bool,
}

/// A list, or one of it by name.
#[derive(Args)]
pub struct Named {
    /// Which one; the list when left out.
    pub name: Option<String>,
}

/// Arguments of `completions`.
#[derive(Args)]
pub struct Completions {
    /// The shell.
    pub shell: Shell,
}
