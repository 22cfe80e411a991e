//! What can go wrong on the way to an answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_run::KernelSeries as Series;

/// Why there is no answer. Each says what is missing and what helps.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A guest runs the host's own executable on an x86-64 kernel.
    #[error(
        "Linux in virtual time runs this program inside an x86-64 Linux guest, and this is a build for {0}: \
         use one for x86_64 Linux"
    )]
    Architecture(&'static str),
    /// QEMU is not installed.
    #[error(
        "`{0}` is not to be found, and Linux in virtual time needs QEMU: `apt-get install qemu-system-x86`, or put \
         its path into WINDLASS_QEMU"
    )]
    NoQemu(String),
    /// QEMU is older than what the guest relies on.
    #[error("QEMU {found} is too old: Linux in virtual time needs {needed} or newer")]
    OldQemu {
        /// What `--version` says.
        found: String,
        /// The oldest that serves.
        needed: String,
    },
    /// Neither a kernel in the cache, nor a package, nor apt.
    #[error(
        "there is no kernel {series} in {}, and no apt to fetch one: download a Debian package \
         linux-image-{series}…-cloud-amd64 (packages.debian.org) and name it in WINDLASS_KERNEL_DEB", cache.display()
    )]
    NoApt {
        /// The series that was asked for.
        series: Series,
        /// Where kernels are kept.
        cache: PathBuf,
    },
    /// apt has no such package.
    #[error(
        "apt knows no package linux-image-{0}…-cloud-amd64: run `apt-get update` (6.1 is in Debian 12, 6.12 in Debian 13 \
         and in 12's backports), or name a downloaded package in WINDLASS_KERNEL_DEB"
    )]
    NoPackage(Series),
    /// apt has failed.
    #[error(
        "`{command}` failed: {said} (a package that is here already can be named in WINDLASS_KERNEL_DEB)"
    )]
    Command {
        /// What was called.
        command: String,
        /// The end of what it wrote to its standard error.
        said: String,
    },
    /// A package file is not what it should be.
    #[error("{}: {what}", path.display())]
    Package {
        /// The package.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("{what} {}: {source}", path.display())]
    File {
        /// What was attempted, such as "cannot read".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The image for the guest cannot be made.
    #[error("cannot make the guest's image: {0}")]
    Image(String),
    /// QEMU did not start, or has stopped with an error.
    #[error("QEMU failed: {0}")]
    Qemu(String),
    /// The guest was still at work when its time was up.
    #[error("the guest gave no answer within {} s of this machine's time{}", after.as_secs(), tail(console))]
    Timeout {
        /// The time allowed.
        after: Duration,
        /// What the guest's kernel and the program in it have printed.
        console: String,
    },
    /// The guest went down without an answer, as after a panic of its kernel.
    #[error("the guest went down without an answer: {what}{}", tail(console))]
    NoAnswer {
        /// What there is in place of an answer.
        what: String,
        /// What the guest's kernel and the program in it have printed.
        console: String,
    },
    /// The program in the guest says that it could not do its job.
    #[error("in the guest: {message}{}", tail(console))]
    Guest {
        /// What it says.
        message: String,
        /// What the guest's kernel and the program in it have printed.
        console: String,
    },
}

impl Error {
    /// For `map_err`: what was attempted with a file.
    pub(super) fn file<'a>(
        what: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Error + use<'a> {
        move |source| Error::File { what, path: path.to_path_buf(), source }
    }

    /// Something is wrong with a package.
    pub(super) fn package(path: &Path, what: impl Into<String>) -> Error {
        Error::Package { path: path.to_path_buf(), what: what.into() }
    }
}

/// The console's last lines, as a part of a message; of a kernel's panic those that lead up to it, not
/// the trace of calls that follows.
fn tail(console: &str) -> String {
    const LINES: usize = 15;
    // That a guest powers off says nothing.
    let telling = |line: &&str| !line.trim().is_empty() && !line.contains("reboot: ");
    let lines: Vec<&str> = console.lines().filter(telling).collect();
    if lines.is_empty() {
        return String::new();
    }
    let panic = lines.iter().position(|line| line.contains("Kernel panic"));
    let end = panic.map_or(lines.len(), |at| at + 1);
    let last = &lines[end.saturating_sub(LINES)..end];
    format!("; its console ends:\n  {}", last.join("\n  "))
}

#[cfg(test)]
mod tests {
    use super::tail;

    #[test]
    fn a_panic_is_told_by_what_led_to_it() {
        let console = "[0.1] boot\r\n\r\nlast words\r\n[1.0] Kernel panic - not syncing\r\n[1.0] Call Trace:\r\n";
        let told = tail(console);
        assert!(told.contains("last words\n  [1.0] Kernel panic"), "{told}");
        assert!(!told.contains("Trace"), "{told}");
    }

    #[test]
    fn a_console_that_says_nothing_is_not_told() {
        assert_eq!(tail("\r\n[    1.042095] reboot: Power down\r\n"), "");
    }

    #[test]
    fn of_a_long_console_the_end_is_told() {
        let console: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let told = tail(&console);
        assert!(told.ends_with("line 99") && !told.contains("line 80\n"), "{told}");
    }
}
