//! What the command says, and how it fails.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Why a command ended without success.
pub enum Failure {
    /// The user's input is not right: exit code 2.
    Input(Box<dyn Display>),
    /// A user's input error that can show its place in a file.
    Located(miette::Report),
    /// Something went wrong in the course: exit code 1.
    Work(Box<dyn Display>),
    /// Whoever read our output has closed it; not a failure.
    OutputClosed,
}

impl Failure {
    /// An input error.
    pub fn input(message: impl Display + 'static) -> Failure {
        Failure::Input(Box::new(message))
    }

    /// An error in the course of the work.
    pub fn work(message: impl Display + 'static) -> Failure {
        Failure::Work(Box::new(message))
    }

    /// The process's exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Input(_) | Failure::Located(_) => 2,
            Failure::Work(_) => 1,
            Failure::OutputClosed => 0,
        }
    }

    /// Says it on standard error.
    pub fn print(&self) {
        match self {
            Failure::Input(m) | Failure::Work(m) => eprintln!("error: {m}"),
            Failure::Located(report) => eprintln!("{report:?}"),
            Failure::OutputClosed => {}
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::work(e),
        }
    }
}

/// Prints to standard output; a closed pipe ends the command quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Remarks and progress on standard error, as far as the user wants them.
pub struct Chatter {
    quiet: bool,
    verbose: bool,
}

impl Chatter {
    /// From the global flags.
    pub fn new(quiet: bool, verbose: bool) -> Chatter {
        Chatter { quiet, verbose }
    }

    /// A remark.
    pub fn say(&self, message: impl Display) {
        if !self.quiet {
            eprintln!("{message}");
        }
    }

    /// A remark for those who want to know more.
    pub fn detail(&self, message: impl Display) {
        if self.verbose {
            eprintln!("{message}");
        }
    }

    /// A progress bar, hidden unless a person watches.
    pub fn bar(&self, total: u64, what: &str) -> ProgressBar {
        let watched = !self.quiet && io::stderr().is_terminal();
        let target =
            if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(
            "{msg:<24} {bar:32} {pos}/{len} runs, {elapsed} elapsed, {eta} left",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style);
        bar.set_message(what.to_string());
        bar
    }
}
