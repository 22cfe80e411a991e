//! What the command says, and how it fails.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use windlass_run::RunError;

/// Why a command ended without success.
pub enum Failure {
    /// What it was given is not right: exit code 2.
    Input(String),
    /// Something does not hold, or went wrong: exit code 1.
    Work(String),
}

impl Failure {
    /// An input error.
    pub fn input(message: impl Display) -> Failure {
        Failure::Input(message.to_string())
    }

    /// An error in the course of the work.
    pub fn work(message: impl Display) -> Failure {
        Failure::Work(message.to_string())
    }

    /// A world that cannot do this.
    pub fn of_run(e: RunError) -> Failure {
        if e.is_input() { Failure::input(e) } else { Failure::work(e) }
    }

    /// Says it on standard error.
    pub fn tell(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Input(message) => (2, message),
            Failure::Work(message) => (1, message),
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}

/// Prints to standard output. A reader who has gone away is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::work(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}
