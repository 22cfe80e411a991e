//! Output and failures of the command.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use windlass_run::RunError;

/// Reason why a command failed.
pub enum Failure {
    /// Invalid input: exit code 2.
    Input(String),
    /// Failed check or failed work: exit code 1.
    Work(String),
}

impl Failure {
    /// Creates an input error.
    pub fn input(message: impl Display) -> Failure {
        Failure::Input(message.to_string())
    }

    /// Creates an error during the work.
    pub fn work(message: impl Display) -> Failure {
        Failure::Work(message.to_string())
    }

    /// Converts an error of a backend.
    pub fn of_run(e: RunError) -> Failure {
        if e.is_input() { Failure::input(e) } else { Failure::work(e) }
    }

    /// Prints the message on standard error and returns the exit code.
    pub fn tell(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Input(message) => (2, message),
            Failure::Work(message) => (1, message),
        };
        eprintln!("error: {message}");
        ExitCode::from(code)
    }
}

/// Prints to standard output. A closed pipe is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::work(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}
