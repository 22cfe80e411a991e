//! Arguments of `figure`, `pack` and `unpack`.

use std::path::PathBuf;

use clap::Args;

/// Text after the options in the help of `figure`.
pub(super) const FIGURE_HELP: &str = "\
Examples:
  windlass figure results/sweep-loss --out loss.pdf --width ieee
  windlass figure results/sweep-loss --kind cdf --metric completion_s --out completion.svg
  windlass figure kept --kind cdf --metric rtt_ns --out rtt.png     the series rtt_ns was recorded
  windlass figure compared --kind heat --out harm.pdf --width acm
  windlass figure compared --out ranking.tex                        a table for LaTeX (booktabs)

docs/src/guides/data.md shows the figures. They need the Python package with Matplotlib.";

/// Text after the options in the help of `pack`.
pub(super) const PACK_HELP: &str = "\
Examples:
  windlass pack results/sweep-loss                     sweep-loss.tar
  windlass pack compared --out artefact.tar";

/// Text after the options in the help of `unpack`.
pub(super) const UNPACK_HELP: &str = "\
Examples:
  windlass unpack artefact.tar --check                 unpack, make every run again, and compare
  windlass unpack --check artefact                     the same for an unpacked folder";

/// Arguments of `figure`.
#[derive(Args)]
pub struct Figure {
    /// Folders of results: of a run, a sweep or a comparison. Several folders are drawn into one
    /// picture.
    #[arg(required = true)]
    pub results: Vec<PathBuf>,
    /// Set the kind. `line` and `bar` draw means with intervals, and `box` and `cdf` the values of all
    /// runs. `heat` is a matrix of harm or fairness, or of a sweep with two axes. [default: line or bar
    /// with means, otherwise cdf].
    #[arg(short, long, value_name = "KIND", value_parser = ["line", "bar", "box", "cdf", "heat"])]
    pub kind: Option<String>,
    /// Set the metric of the sweep or the comparison. The kinds cdf and box take a column of flows
    /// such as `completion_s`, and the series rtt_ns and latency_ns. The heat of a comparison also
    /// takes jain_index.
    #[arg(short, long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Set the axis of the sweep along the picture. [default: the axis with the most numbers].
    #[arg(long, value_name = "AXIS")]
    pub x: Option<String>,
    /// Group cdf and box by flow or algorithm. [default: by point].
    #[arg(long, value_name = "GROUPS", value_parser = ["flow", "algorithm"])]
    pub by: Option<String>,
    /// Set the width: ieee (3.5 in), ieee-two (7.16 in), acm (3.33 in), acm-two (7 in), or inches.
    #[arg(long, value_name = "WIDTH", default_value = "ieee")]
    pub width: String,
    /// Set the height in inches. [default: 0.62 of the width].
    #[arg(long, value_name = "INCHES")]
    pub height: Option<f64>,
    /// Set the file: .svg, .pdf, .png, or .tex for the numbers as a table for LaTeX.
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,
}

/// Arguments of `pack`.
#[derive(Args)]
pub struct Pack {
    /// Folder of results.
    pub dir: PathBuf,
    /// Set the archive. [default: the name of the folder with .tar].
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `unpack`.
#[derive(Args)]
pub struct Unpack {
    /// Archive of `pack`, or its unpacked folder.
    pub pack: PathBuf,
    /// Make every run again from its scenario and seed, and compare the bytes.
    #[arg(long)]
    pub check: bool,
    /// Set the folder for the pack's folder.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}
