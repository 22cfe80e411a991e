//! Output and failures of the command.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use annotate_snippets::Renderer;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use windlass_lab::Error;
use windlass_lab::papers::FolderError;
use windlass_lab::report::text::WIDTH;
use windlass_lab::reproduce::ReproduceError;
use windlass_lab::scenario::did_you_mean;

use crate::located::shown;

/// The reason why a command failed.
pub enum Failure {
    /// The user's input is wrong: exit code 2.
    Input(Box<dyn Display>),
    /// Errors in the user's files, each with its place.
    Located(Vec<miette::Report>),
    /// An error during the work: exit code 1.
    Work(Box<dyn Display>),
    /// The reader of standard output has closed it; not a failure.
    OutputClosed,
}

impl Failure {
    /// An input error.
    pub fn input(message: impl Display + 'static) -> Failure {
        Failure::Input(Box::new(message))
    }

    /// An unknown word. The message names the word that was probably meant, or all known words.
    pub fn unknown(noun: &str, word: &str, known: &[&str]) -> Failure {
        let advice = match did_you_mean(word, known) {
            none if none.is_empty() => format!("; there are {}", known.join(", ")),
            suggestion => suggestion,
        };
        Failure::input(format!("no {noun} is called \"{word}\"{advice}"))
    }

    /// Errors that can show their places in the user's files.
    pub fn located(
        errors: impl IntoIterator<Item: miette::Diagnostic + Send + Sync + 'static>,
    ) -> Failure {
        Failure::Located(errors.into_iter().map(miette::Report::new).collect())
    }

    /// An error during the work.
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

    /// Prints the error to standard error. On a terminal the text that causes it is underlined; elsewhere it has plain
    /// lines.
    pub fn print(&self) {
        match self {
            Failure::Input(m) | Failure::Work(m) => remark(format_args!("error: {m}")),
            Failure::Located(reports) => reports.iter().for_each(|report| {
                if io::stderr().is_terminal() {
                    let text = shown(&**report, &Renderer::styled());
                    // Colours are used only if the terminal supports them. A write error is ignored.
                    let _ = writeln!(anstream::stderr(), "{text}");
                    return;
                }
                remark(format_args!("error: {report}"));
                if let Some(help) = report.help() {
                    remark(format_args!("help: {help}"));
                }
            }),
            Failure::OutputClosed => {}
        }
    }

    /// A failure from an error of the laboratory. An error in the user's request is an input error; other errors are
    /// errors of the work.
    pub fn of(e: impl Into<Error>) -> Failure {
        match e.into() {
            Error::Input(e) => Failure::input(e),
            Error::File(e) => Failure::located([e]),
            Error::Scenario(e) => Failure::located([e]),
            Error::Run(e) if e.is_input() => Failure::input(e),
            e => Failure::work(e),
        }
    }

    /// A failure from an error in a folder that the user named.
    pub fn of_folder(e: FolderError) -> Failure {
        match e {
            FolderError::File(e) => Failure::located([e]),
            e => Failure::input(e),
        }
    }

    /// A failure from an error of a reproduction.
    pub fn of_reproduction(e: ReproduceError) -> Failure {
        match e {
            ReproduceError::File(e) => Failure::located([e]),
            ReproduceError::Scenario(e) => Failure::located([e]),
            e @ (ReproduceError::NoRuns { .. } | ReproduceError::NoScenario(_)) => {
                Failure::input(e)
            }
            e => Failure::work(e),
        }
    }

    /// A failure from an error of writing to standard output; a reader that closed it is not a failure.
    pub fn of_stdout(e: io::Error) -> Failure {
        match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::work(format!("cannot write to standard output: {e}")),
        }
    }
}

/// Prints to standard output; a closed pipe ends the command quietly.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()).map_err(Failure::of_stdout)
}

/// A number with its noun: `1 point`, `2 points`.
pub fn several(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// Writes a file that must not exist yet.
pub fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(file);
    made.and_then(|mut out| out.write_all(text.as_bytes())).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::input(format!("{} is there already; name another file", file.display()))
        }
        _ => Failure::work(format!("cannot write {}: {e}", file.display())),
    })
}

/// Writes a line to standard error. A write error is ignored, because no reader is needed.
pub fn remark(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", abridged(&visible(&message.to_string())));
}

/// The text with control characters escaped, except the ends of lines.
fn visible(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !"\n\t".contains(c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match obeyed(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The text with very long words cut short, for example if a key is a megabyte without a space.
fn abridged(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 400;
    const SHOWN: usize = 100;
    if text.split(' ').all(|word| word.chars().nth(LONGEST).is_none()) {
        return Cow::Borrowed(text);
    }
    let word = |word: &str| match word.chars().count() {
        count if count > LONGEST => {
            let first: String = word.chars().take(SHOWN).collect();
            let last: String = word.chars().skip(count - SHOWN).collect();
            format!("{first}[... {count} characters ...]{last}")
        }
        _ => word.to_owned(),
    };
    Cow::Owned(text.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// Columns of the terminal of standard output, at most [`WIDTH`]; [`WIDTH`] if it is not a terminal.
pub fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(w, _)| WIDTH.min(w.0.into()))
}

/// Exit code of a command that the user stopped, as in a shell.
const STOPPED: i32 = 130;

/// The stored results after Ctrl-C, in a sentence.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// Sets the sentence about the stored results, in case the user stops the command.
pub fn keeps(dir: Option<&Path>) {
    let text = match dir {
        Some(dir) => {
            format!("finished runs are in {}; the same command resumes there", dir.display())
        }
        None => "no run is stored; --out DIR stores finished runs".to_owned(),
    };
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// Makes Ctrl-C print the sentence about the stored results before the command ends. Stored runs are complete at any
/// time, so no work needs to be finished first.
pub fn tell_when_stopped() {
    // A host that has its handler already, such as Python, keeps it.
    let _ = ctrlc::try_set_handler(|| {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
        remark(format!("\nstopped{}", kept.map_or(String::new(), |text| format!("; {text}"))));
        std::process::exit(STOPPED);
    });
}

/// Interval of progress lines without a progress bar.
const TELL_EVERY: Duration = Duration::from_secs(30);

/// Determines when the next line of progress is due.
struct Ticker {
    every: Duration,
    told: Mutex<Instant>,
}

impl Ticker {
    /// The first line is due after this time.
    pub fn new(every: Duration) -> Ticker {
        Ticker { every, told: Mutex::new(Instant::now()) }
    }

    /// True if a line is due. The next line is then due after the same time.
    pub fn is_due(&self) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let due = told.elapsed() > self.every;
        if due {
            *told = Instant::now();
        }
        due
    }
}

/// Progress of runs: a bar, or a line from time to time. The bar is hidden if the output is not a terminal, and if
/// `--verbose` prints each run.
pub struct Progress<'a> {
    bar: ProgressBar,
    ticker: Ticker,
    chatter: &'a Chatter,
    finished: usize,
    total: usize,
    what: &'a str,
}

impl Progress<'_> {
    /// Counts a finished run. `--verbose` prints `line`.
    pub fn made(&self, line: impl Display) {
        self.bar.inc(1);
        if self.bar.is_hidden() && self.ticker.is_due() {
            let made = self.finished as u64 + self.bar.position();
            self.chatter.say(format!("{}: {made} of {} runs", self.what, self.total));
        }
        self.chatter.detail(line);
    }

    /// Sets the number of finished runs and of all runs, and a text for the time left.
    pub fn tell(&self, made: u64, all: u64, left: String) {
        if self.bar.is_hidden() && self.ticker.is_due() {
            self.chatter.say(format!("{made} of {all} runs, {left}"));
        }
        self.bar.set_length(all);
        self.bar.set_position(made);
        self.bar.set_message(left);
    }

    /// All runs are finished.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Remarks and progress on standard error, according to the global flags.
pub struct Chatter {
    quiet: bool,
    verbose: bool,
}

impl Chatter {
    /// A chatter with the values of the global flags.
    pub fn new(quiet: bool, verbose: bool) -> Chatter {
        Chatter { quiet, verbose }
    }

    /// A remark.
    pub fn say(&self, message: impl Display) {
        if !self.quiet {
            remark(message);
        }
    }

    /// A remark that only `--verbose` prints.
    pub fn detail(&self, message: impl Display) {
        if self.verbose {
            remark(message);
        }
    }

    /// Begins the progress of runs; `finished` of the `total` runs are stored already.
    pub fn progress<'a>(&'a self, finished: usize, total: usize, what: &'a str) -> Progress<'a> {
        let template = "{msg:<24} {bar:32} {pos}/{len} runs, {elapsed} elapsed, {left}";
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
                // Before the first run is finished the remaining time is unknown; 0 would be wrong.
                let _ = match state.pos() {
                    0 => out.write_str("time left not known yet"),
                    _ => write!(out, "{:#} left", HumanDuration(state.eta())),
                };
            });
        let missing = (total - finished) as u64;
        let bar = ProgressBar::with_draw_target(Some(missing), self.target()).with_style(style);
        bar.set_message(what.to_string());
        // The first run may take minutes; the moving bar shows that the command is working.
        bar.enable_steady_tick(Duration::from_secs(1));
        Progress { bar, ticker: Ticker::new(TELL_EVERY), chatter: self, finished, total, what }
    }

    /// Begins the progress of runs whose time left [`Progress::tell`] sets.
    pub fn told(&self) -> Progress<'_> {
        let template = "{bar:24} {pos}/{len} runs, {elapsed} elapsed, {msg}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(0), self.target()).with_style(style);
        let ticker = Ticker::new(TELL_EVERY);
        Progress { bar, ticker, chatter: self, finished: 0, total: 0, what: "" }
    }

    fn target(&self) -> ProgressDrawTarget {
        let watched = !self.quiet && !self.verbose && io::stderr().is_terminal();
        if watched { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_is_due_once_in_its_time() {
        assert!(!Ticker::new(TELL_EVERY).is_due());
        let ticker = Ticker::new(Duration::from_millis(20));
        std::thread::sleep(Duration::from_millis(30));
        assert!(ticker.is_due());
        let next = Ticker { every: TELL_EVERY, ..ticker };
        assert!(!next.is_due());
    }
}
