//! The command line: one definition for parsing, help and completions.

mod adversary;
mod artefact;
mod assess;
mod audit;
mod choose;
mod compare;
mod crosscheck;
mod explain;
mod kernel;
mod known;
pub mod page;
mod paper;
mod play;
mod replay;
mod sweep;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use windlass_lab::Shard;
use windlass_lab::run::World;
use windlass_lab::scenario::units::Duration;
use windlass_lab::sweep::Measure;

pub use adversary::Break;
pub use artefact::{Figure, Pack, Unpack};
pub use assess::Assess;
pub use audit::Audit;
pub use choose::Choose;
pub use compare::Compare;
pub use crosscheck::Crosscheck;
pub use explain::Explain;
pub use kernel::Kernel;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub use kernel::KernelVerb;
pub use paper::{PaperArgs, PaperVerb};
pub use play::Play;
pub use replay::Replay;
pub use sweep::Sweep;
pub use work::Work;

const AFTER_HELP: &str = "\
First commands:
  windlass reproduce --quick            a short run of every paper, some minutes
  windlass reproduce reno-ber           the first paper in full: tables, verdicts, report
  windlass run scenarios/lossy-download.toml
  windlass compare scenarios/dumbbell.toml --algorithms cubic,bbr --jitter 1s
  windlass algorithms reno              origin, parameters, units and ranges

Exit codes: 0 done; 1 a run failed, a metric of a sweep has no value, or a file could not be
written; 2 the command line, a scenario or a paper has a mistake.";

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
  windlass reproduce --quick              a short run of every paper, into ./results
  windlass reproduce reno-ber --out r     the paper in full; the same command resumes it
  windlass reproduce reno-ber --seeds 5   five replications of each point";

const RUN_HELP: &str = "\
Examples:
  windlass run scenarios/lossy-download.toml
  windlass run scenarios/lossy-download.toml --set flow.download.algorithm=reno --seeds 30
  windlass run scenarios/lossy-download.toml --on linux      on this machine's kernel
  windlass run scenarios/dumbbell.toml --dry-run             paths, queues and windows, without a run
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
  windlass algorithms hystart     a slow start; the list also has timers";

const PRESETS_HELP: &str = "\
Examples:
  windlass presets            the list
  windlass presets riverbed   every value, as a scenario writes it
  windlass presets 802.11g    the values that a Wi-Fi standard fixes";

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
    /// Print only results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: each finished run.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// The command to execute.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Run a paper's experiments, compare its tables with the measured values, and write verdicts
    /// and a report.
    ///
    /// OUT/PAPER/journal.jsonl keeps finished runs, so that an interrupted command resumes.
    /// OUT/PAPER/verdicts.json has the verdicts, and OUT/PAPER/report.html the report.
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(Reproduce),
    /// List the templates of scenario files, or write a scenario file that runs.
    #[command(after_help = NEW_HELP)]
    New(New),
    /// Run a scenario file.
    ///
    /// One run prints a table of flows and links. With --seeds, the runs use consecutive seeds from
    /// the scenario's seed, and the tables have medians with 95 % intervals. The folder of --out
    /// keeps finished runs, so that an interrupted command resumes.
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Compare algorithms on a scenario: rank them, and measure the harm of each to each.
    ///
    /// Every algorithm uses the same network and the same seeds. First, all compared flows run one
    /// algorithm. The ranking uses differences that are paired by seed and corrected for multiple
    /// comparisons. Then half of the flows run one algorithm and half another. The flows alternate,
    /// in both orders; a single flow gets a copy. The harm of A to B is the fraction by which B is
    /// worse in competition with A than without A's flows (Ware and others, HotNets 2019). Its
    /// reference is the harm of B to itself. With --out, finished runs are kept, so that an
    /// interrupted command resumes.
    #[command(after_help = compare::HELP)]
    Compare(Compare),
    /// Recommend an algorithm for a network that is not known exactly.
    ///
    /// Every candidate uses the same networks, which are drawn around the given network. The
    /// recommended algorithm is best by --aim. The output also lists the candidates without a
    /// significant difference, and the networks for which another candidate is better.
    #[command(after_help = choose::HELP)]
    Choose(Choose),
    /// Test an algorithm against the criteria of RFC 9743 for new congestion control.
    ///
    /// The result of each family of criteria is pass, concern, fail or undecided, on its worst
    /// network. OUT/EXAMINATION/ALGORITHM/journal.jsonl keeps finished runs, so that an interrupted
    /// command resumes. In the same folder, scorecard.html, .md and .json are a summary of one
    /// page, and report.html has every network.
    #[command(after_help = assess::HELP)]
    Assess(Assess),
    /// Audit the congestion control of a TCP or QUIC stack by its packets: a program, Windlass's
    /// endpoint, or a kernel.
    ///
    /// The stack runs in simulated networks with chosen losses and pauses. Each check has a
    /// requirement of an RFC, a bound and a verdict. OUT/STACK/audit.md is a page for an issue
    /// tracker, and OUT/STACK has the packets of each network as pcapng.
    #[command(after_help = audit::HELP)]
    Audit(Audit),
    /// Search for the network conditions that damage an algorithm most, and write the smallest
    /// scenario that shows the damage.
    ///
    /// An adversary chooses losses, bursts of other traffic, outages and the queue of one path,
    /// within the bounds. The same seed finds the same attack.
    #[command(after_help = adversary::HELP)]
    Break(Break),
    /// Run a scenario at every combination of values, with a fixed number of seeds or until an
    /// interval is narrow enough.
    ///
    /// FILE is a scenario or a sweep file. Only missing runs are executed. OUT/journal.jsonl keeps
    /// finished runs, so that an interrupted command resumes. OUT/points.csv, OUT/points.parquet
    /// and OUT/report.html have the means with 95 % intervals.
    #[command(after_help = sweep::HELP)]
    Sweep(Sweep),
    /// Draw results for a paper: means with intervals, box plots, CDFs, matrices of harm and fairness,
    /// as SVG, PDF or PNG, or as a table for LaTeX.
    ///
    /// The file has the command in its metadata. Columns of IEEE and ACM have their widths.
    #[command(after_help = artefact::FIGURE_HELP)]
    Figure(Figure),
    /// Pack a folder of results for an artefact evaluation: scenarios, seeds, versions, results,
    /// figures, a script and a README, as one archive.
    ///
    /// The same folder gives the same bytes. The archive has no dates and no absolute paths.
    #[command(after_help = artefact::PACK_HELP)]
    Pack(Pack),
    /// Unpack an archive of `pack`. With --check, make every run again and compare the bytes.
    #[command(after_help = artefact::UNPACK_HELP)]
    Unpack(Unpack),
    /// Explain each cwnd reduction: the event, the rule, the packets, and the treatment of these
    /// packets by the network.
    ///
    /// RESULT is the folder of `run --out` or of another command that keeps runs, or a scenario
    /// file.
    #[command(after_help = explain::HELP)]
    Explain(Explain),
    /// Open the simulator in a browser: change the values of a network and watch the windows.
    ///
    /// Serves one page, to this machine only. The page contains the simulator and needs no network;
    /// its address contains the scenario.
    #[command(after_help = play::HELP)]
    Play(Play),
    /// Compare two folders of results, from two versions, settings or backends.
    ///
    /// Reports the runs that are equal in every field, the metrics with a significant change, and
    /// the verdicts that changed. Runs are paired by experiment, point and seed.
    #[command(after_help = DIFF_HELP)]
    Diff(Diff),
    /// Compare the algorithms with the kernel's own algorithms, over the same links.
    ///
    /// Every congestion control that Linux also has runs on the same networks in the simulator and
    /// on a kernel, and the goodputs are compared. OUT/crosscheck/journal.jsonl keeps finished
    /// runs, so that an interrupted command resumes. OUT/crosscheck/report.html shows the
    /// congestion windows of simulator and kernel.
    #[command(after_help = crosscheck::HELP)]
    Crosscheck(Crosscheck),
    /// Load algorithms into a Linux kernel, from the same source.
    ///
    /// Each algorithm becomes a congestion control by BPF struct_ops. The algorithm of a flow with
    /// `home = "bpf"` is loaded for the time of a run. `load` loads an algorithm into this
    /// machine's kernel for any program.
    #[command(after_help = kernel::HELP)]
    Kernel(Kernel),
    /// Check that an algorithm in a kernel or another host gives the same answers as the native
    /// core (replay check), and measure the differences between host and simulator.
    ///
    /// On each of six networks, one flow runs the algorithm in the kernel (run `kernel build`
    /// first). Each event of the kernel is recorded with the algorithm's answer and replayed on the
    /// native core. Every answer must be equal to the bit. The same networks are simulated. The
    /// output compares goodput, retransmitted segments and RTT of host and simulator, and gives the
    /// first window (segments) that only one of them had. ns-3 records such events too, and any
    /// other host can.
    #[command(alias = "twin", after_help = replay::HELP)]
    Replay(Replay),
    /// List the capabilities of this machine, and a remedy for each missing one.
    Doctor,
    /// Write a paper's tables and report again from the runs of an earlier reproduction.
    #[command(after_help = REPORT_HELP)]
    Report(Report),
    /// List the congestion-control algorithms, slow starts and timers, or describe one of them.
    #[command(after_help = ALGORITHMS_HELP)]
    Algorithms(Algorithms),
    /// List the stack presets, radio standards and radios of links, or print every value of one of them.
    #[command(after_help = PRESETS_HELP)]
    Presets(Named),
    /// List the papers, or print the citation of one paper.
    #[command(after_help = PAPERS_HELP)]
    Papers(Named),
    /// Create the folder of a new paper, or check a paper.
    ///
    /// docs/src/guides/add-a-paper.md is the tutorial; `windlass reproduce FOLDER` runs the paper.
    #[command(after_help = paper::HELP)]
    Paper(PaperArgs),
    /// Print the JSON Schema of scenario files, with which editors complete and check them, or of
    /// verdicts.json.
    #[command(after_help = SCHEMA_HELP)]
    Schema(Schema),
    /// Print a completion script, such as `windlass completions bash > windlass.bash`.
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(Completions),
    /// Print a part of the book that is generated from the code, in Markdown.
    #[command(hide = true)]
    Book(Book),
}

/// Arguments of `diff`.
#[derive(Args)]
pub struct Diff {
    /// Folder with the first results.
    pub first: PathBuf,
    /// Folder with the results to compare with the first.
    pub second: PathBuf,
    /// Compare this metric, as in `sweep`, instead of goodput, losses, retransmissions, timeouts
    /// and RTT (may be repeated).
    #[arg(long, value_name = "METRIC", value_parser = known::measure(), hide_possible_values = true)]
    pub metric: Vec<Measure>,
}

/// Arguments of `new`.
#[derive(Args)]
pub struct New {
    /// Name of a template; without a name, the command lists the templates.
    #[arg(value_parser = known::TEMPLATE, hide_possible_values = true)]
    pub template: Option<String>,
    /// File to write, which must not exist [default: TEMPLATE.toml].
    pub file: Option<PathBuf>,
}

/// Arguments of `schema`.
#[derive(Clone, Debug, Args)]
pub struct Schema {
    /// Subject of the schema.
    #[arg(default_value = "scenario", value_enum)]
    pub of: SchemaOf,
}

/// Subjects of schemas.
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
    /// Papers, by identifier or folder [default: all built-in papers].
    #[arg(value_parser = known::PAPER, hide_possible_values = true)]
    pub papers: Vec<String>,
    /// Limit the runs to about two minutes, as `--budget 2min`; the remaining claims are undecided
    /// or not run.
    #[arg(long, conflicts_with = "budget")]
    pub quick: bool,
    /// Limit the time for the runs of all papers, as an approximate time on two processors. Each
    /// paper gets an equal share of the time that the earlier papers left. Runs are added where
    /// they decide most. The same budget executes the same runs on every machine.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Set the number of replications per point. Without it, runs are added until the verdicts are
    /// decided or the experiment's maximum is reached.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "budget"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: Option<u32>,
    /// Judge after each of these numbers of runs per point (interim analyses), such as 6,12,20,40,
    /// and report whether a verdict changes its side. Runs only the points that claims read.
    /// OUT/PAPER/looks.json has all interim analyses; no other result is written.
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with_all = ["quick", "budget", "seeds", "on", "interpretations"], value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub looks: Vec<u64>,
    /// Also run the paper's experiments on these backends. linux is this machine's kernel and needs
    /// root. linux-vt=6.12, linux-vt=7.3 and linux-vt=6.1 are a Debian kernel in virtual time and need QEMU. The
    /// last backend is ns3.
    #[arg(long, value_name = "BACKEND", value_delimiter = ',', value_parser = known::world(), hide_possible_values = true)]
    pub on: Vec<World>,
    /// Execute one part of the runs, such as 3/8, independent of earlier verdicts, and judge
    /// nothing. Shards may share a folder on a network disk; the same command without --shard
    /// combines their runs. With --interpretations, a shard executes the interpretations that do not
    /// depend on the results of others, within a separate budget.
    #[arg(long, value_name = "I/N", conflicts_with = "looks")]
    pub shard: Option<Shard>,
    /// Also run the other interpretations of the papers, and report in how many of them each claim
    /// holds. They take the time of --budget or --quick once more, or half an hour.
    #[arg(long, alias = "readings")]
    pub interpretations: bool,
    /// Also print the tables, and the explanation of each statement that is contradicted or open.
    /// The report always contains them.
    #[arg(long)]
    pub tables: bool,
    #[command(flatten)]
    pub work: Work,
}

/// Arguments of `run`.
#[derive(Args)]
pub struct Run {
    /// Scenario file.
    pub file: PathBuf,
    /// Change a value: `--set link.0.rate=2Mbps`, `--set flow.download.algorithm=newreno`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Run on this backend. sim is the simulator. linux is this machine's kernel over emulated
    /// links, in real time, and needs root. linux-vt=6.12, linux-vt=7.3 and linux-vt=6.1 are a Debian kernel in
    /// virtual time and need QEMU. ns3 is ns-3 3.44 from PyPI and needs g++.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim, value_parser = known::world(), hide_possible_values = true)]
    pub on: World,
    /// Set the first seed, instead of the scenario's seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Set the number of replications over consecutive seeds.
    #[arg(long, alias = "runs", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: u32,
    /// Print one JSON document with `flows` and `links` instead of tables.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the flows as CSV instead of tables.
    #[arg(long)]
    pub csv: bool,
    /// Print the scenario with every default filled in, without running it. Standard error has the
    /// path, RTT, bandwidth-delay product, queue and window of each flow.
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a folder with a page of the first run (report.html), Parquet tables and the
    /// resolved scenario. If the scenario records time series and captures, the folder has them for
    /// every run.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

/// Arguments of `report`.
#[derive(Args)]
pub struct Report {
    /// Papers, by identifier or folder [default: all papers in OUT].
    #[arg(value_parser = known::PAPER, hide_possible_values = true)]
    pub papers: Vec<String>,
    /// Read the folder of an earlier `reproduce --out`.
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Also write the tables in this format, in addition to the Parquet files.
    #[arg(long, value_enum)]
    pub export: Option<Export>,
    /// Also print the tables, and the explanation of each statement that is contradicted or open.
    /// The report always contains them.
    #[arg(long)]
    pub tables: bool,
}

/// Formats of exported tables.
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
    /// Name of an algorithm, slow start or timer; without a name, the command lists all of them.
    #[arg(value_parser = known::PART, hide_possible_values = true)]
    pub name: Option<String>,
}

/// A list, or one of its entries by name.
#[derive(Args)]
pub struct Named {
    /// Name of an entry; without a name, the command lists all entries.
    pub name: Option<String>,
}

/// Arguments of `book`.
#[derive(Args)]
pub struct Book {
    /// The part.
    pub part: Part,
    /// The table of results for the part fields; the tables of a scenario for the part keys.
    pub names: Vec<String>,
}

/// A part of the book that is generated from the code.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Every command and option.
    CommandLine,
    /// Every algorithm, slow start and timer.
    Algorithms,
    /// The columns and metrics of one table of results.
    Fields,
    /// The keys of tables of a scenario.
    Keys,
    /// The dialogues or the rules of reconnection with a name.
    Presets,
}

/// Arguments of `completions`.
#[derive(Args)]
pub struct Completions {
    /// Shell of the script.
    pub shell: Shell,
}
