//! What the command says, and how it fails.

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

/// Why a command ended without success.
pub enum Failure {
    /// The user's input is not right: exit code 2.
    Input(Box<dyn Display>),
    /// What is wrong in the user's files, each with its place.
    Located(Vec<miette::Report>),
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

    /// A word that is none of those that are known: the one that was probably meant, or all of them.
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

    /// Says it on standard error: with the offending text underlined where a person watches, as
    /// plain lines elsewhere.
    pub fn print(&self) {
        match self {
            Failure::Input(m) | Failure::Work(m) => remark(format_args!("error: {m}")),
            Failure::Located(reports) => reports.iter().for_each(|report| {
                if io::stderr().is_terminal() {
                    let text = shown(&**report, &Renderer::styled());
                    // Colours only where the reader wants them. That nobody reads it is no reason to fail.
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

    /// What the laboratory says: what was asked for is the user's to mend, the rest went wrong in the
    /// course.
    pub fn of(e: impl Into<Error>) -> Failure {
        match e.into() {
            Error::Input(e) => Failure::input(e),
            Error::File(e) => Failure::located([e]),
            Error::Scenario(e) => Failure::located([e]),
            Error::Run(e) if e.is_input() => Failure::input(e),
            e => Failure::work(e),
        }
    }

    /// What is wrong with a folder that the user named.
    pub fn of_folder(e: FolderError) -> Failure {
        match e {
            FolderError::File(e) => Failure::located([e]),
            e => Failure::input(e),
        }
    }

    /// What a reproduction says.
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

    /// What writing to standard output failed with; a reader who went away is no failure.
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

/// A number of things with the word for them: `1 point`, `2 points`.
pub fn several(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// Writes a file that must not be there yet.
pub fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    let made = OpenOptions::new().write(true).create_new(true).open(file);
    made.and_then(|mut out| out.write_all(text.as_bytes())).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::input(format!("{} is there already; name another file", file.display()))
        }
        _ => Failure::work(format!("cannot write {}: {e}", file.display())),
    })
}

/// A line on standard error. That nobody reads it any more is no reason to stop.
fn remark(message: impl Display) {
    let _ = writeln!(io::stderr(), "{}", abridged(&visible(&message.to_string())));
}

/// The text with characters that a terminal would obey written out, but for the ends of lines.
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

/// The text with words of more than a few lines cut short: a megabyte without a blank, put where a key belongs, is not told back
/// whole.
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

/// Columns of the terminal that standard output goes to; as many as one likes where it goes
/// elsewhere.
pub fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(w, _)| WIDTH.min(w.0.into()))
}

/// Exit code of a command that the user stopped, as a shell has it.
const STOPPED: i32 = 130;

/// What Ctrl-C leaves behind, in a sentence.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// Says what is kept should the user stop the command from now on.
pub fn keeps(dir: Option<&Path>) {
    let text = match dir {
        Some(dir) => {
            format!("finished runs are in {}; the same command goes on from there", dir.display())
        }
        None => "nothing is kept; --out DIR keeps finished runs".to_owned(),
    };
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// Has Ctrl-C tell what is kept before the command ends. Kept runs are whole at any moment, so that nothing has to be
/// finished first.
pub fn tell_when_stopped() {
    // A host that has a handler of its own, such as Python's, keeps it.
    let _ = ctrlc::try_set_handler(|| {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).take();
        remark(format!("\nstopped{}", kept.map_or(String::new(), |text| format!("; {text}"))));
        std::process::exit(STOPPED);
    });
}

/// How often progress is told where no bar shows it.
pub const TELL_EVERY: Duration = Duration::from_secs(30);

/// Says when the next line of progress is due.
pub struct Ticker {
    every: Duration,
    told: Mutex<Instant>,
}

impl Ticker {
    /// The first line is due so long from now.
    pub fn new(every: Duration) -> Ticker {
        Ticker { every, told: Mutex::new(Instant::now()) }
    }

    /// Whether a line is due; then the next is so long from now.
    pub fn is_due(&self) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let due = told.elapsed() > self.every;
        if due {
            *told = Instant::now();
        }
        due
    }
}

/// Runs as they are made: a bar, hidden unless a person watches and where each run is told anyway, or a line
/// from time to time.
pub struct Progress<'a> {
    bar: ProgressBar,
    ticker: Ticker,
    chatter: &'a Chatter,
    finished: usize,
    total: usize,
    what: &'a str,
}

impl Progress<'_> {
    /// A run is made; `line` is for those who want to know of each.
    pub fn made(&self, line: impl Display) {
        self.bar.inc(1);
        if self.bar.is_hidden() && self.ticker.is_due() {
            let made = self.finished as u64 + self.bar.position();
            self.chatter.say(format!("{}: {made} of {} runs", self.what, self.total));
        }
        self.chatter.detail(line);
    }

    /// All are made.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
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
            remark(message);
        }
    }

    /// A remark for those who want to know more.
    pub fn detail(&self, message: impl Display) {
        if self.verbose {
            remark(message);
        }
    }

    /// Tells of runs as they are made, of which some are there already.
    pub fn progress<'a>(&'a self, finished: usize, total: usize, what: &'a str) -> Progress<'a> {
        let template = "{msg:<24} {bar:32} {pos}/{len} runs, {elapsed} elapsed, {left}";
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", |state: &ProgressState, out: &mut dyn fmt::Write| {
                // Before the first run is finished nobody knows; a 0 there would be a false promise.
                let _ = match state.pos() {
                    0 => out.write_str("time left not known yet"),
                    _ => write!(out, "{:#} left", HumanDuration(state.eta())),
                };
            });
        let missing = (total - finished) as u64;
        let bar = ProgressBar::with_draw_target(Some(missing), self.target()).with_style(style);
        bar.set_message(what.to_string());
        // The first run may take minutes; that something goes on is seen meanwhile.
        bar.enable_steady_tick(Duration::from_secs(1));
        Progress { bar, ticker: Ticker::new(TELL_EVERY), chatter: self, finished, total, what }
    }

    /// A progress bar whose message says how long it will take.
    pub fn told_bar(&self) -> ProgressBar {
        let template = "{bar:24} {pos}/{len} runs, {elapsed} elapsed, {msg}";
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::with_draw_target(Some(0), self.target()).with_style(style)
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
