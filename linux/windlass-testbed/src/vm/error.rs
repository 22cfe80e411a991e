//! Errors of a run in a guest.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_run::KernelSeries as Series;

/// Reason why there is no answer. Each message names the missing requirement and its remedy.
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
        "`{0}` not found, and Linux in virtual time needs QEMU: `apt-get install qemu-system-x86`, or put \
         its path into WINDLASS_QEMU"
    )]
    NoQemu(String),
    /// QEMU is older than the guest's requirements.
    #[error("QEMU {found} is too old: Linux in virtual time needs {needed} or newer")]
    OldQemu {
        /// Version that `--version` prints.
        found: String,
        /// Oldest supported version.
        needed: String,
    },
    /// The cache has no kernel, no package is given, and apt is missing.
    #[error(
        "kernel {series} not found in {}, and apt is missing to download one: download a Debian package \
         linux-image-{series}…-cloud-amd64 (packages.debian.org) and name it in WINDLASS_KERNEL_DEB", cache.display()
    )]
    NoApt {
        /// Requested series.
        series: Series,
        /// Folder of the kernels.
        cache: PathBuf,
    },
    /// apt does not offer such a package.
    #[error(
        "apt does not offer the packages of a kernel {0}…-cloud-amd64: run `apt-get update` (6.1 is in Debian 12, 6.12 in Debian 13 \
         and in 12's backports, 7.3 in 13's backports), or name the downloaded packages in WINDLASS_KERNEL_DEB"
    )]
    NoPackage(Series),
    /// apt failed.
    #[error("`{command}` failed: {said} (or give a downloaded package in WINDLASS_KERNEL_DEB)")]
    Command {
        /// Command that was run.
        command: String,
        /// End of the command's standard error.
        said: String,
    },
    /// A package file is invalid.
    #[error("{}: {what}", path.display())]
    Package {
        /// Path of the package.
        path: PathBuf,
        /// Fault of the package.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("{what} {}: {source}", path.display())]
    File {
        /// Failed operation, such as "cannot read".
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Making the guest's image failed.
    #[error("cannot make the guest's image: {0}")]
    Image(String),
    /// QEMU did not start, or stopped with an error.
    #[error("QEMU failed: {0}")]
    Qemu(String),
    /// The guest did not finish within its time limit.
    #[error("the guest gave no answer within {} s of this machine's time{}", after.as_secs(), tail(console))]
    Timeout {
        /// Time limit.
        after: Duration,
        /// Output of the guest's kernel and program.
        console: String,
    },
    /// The guest ended without an answer, for example after a panic of its kernel.
    #[error("the guest ended without an answer: {what}{}", tail(console))]
    NoAnswer {
        /// Fault of the answer.
        what: String,
        /// Output of the guest's kernel and program.
        console: String,
    },
    /// The program in the guest reported that its job failed.
    #[error("in the guest: {message}{}", tail(console))]
    Guest {
        /// Message of the program.
        message: String,
        /// Output of the guest's kernel and program.
        console: String,
    },
}

impl Error {
    /// For `map_err`: names the failed operation on a file.
    pub(super) fn file<'a>(
        what: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Error + use<'a> {
        move |source| Error::File { what, path: path.to_path_buf(), source }
    }

    /// Creates the error of an invalid package.
    pub(super) fn package(path: &Path, what: impl Into<String>) -> Error {
        Error::Package { path: path.to_path_buf(), what: what.into() }
    }
}

/// Returns the console's last lines as a part of a message. After a panic of the kernel, these are the lines
/// before the call trace.
fn tail(console: &str) -> String {
    const LINES: usize = 15;
    // A power-off message is expected and left out.
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
    fn tail_of_a_panic_ends_before_the_call_trace() {
        let console = "[0.1] boot\r\n\r\nlast words\r\n[1.0] Kernel panic - not syncing\r\n[1.0] Call Trace:\r\n";
        let told = tail(console);
        assert!(told.contains("last words\n  [1.0] Kernel panic"), "{told}");
        assert!(!told.contains("Trace"), "{told}");
    }

    #[test]
    fn tail_of_an_empty_console_is_empty() {
        assert_eq!(tail("\r\n[    1.042095] reboot: Power down\r\n"), "");
    }

    #[test]
    fn tail_of_a_long_console_has_only_the_last_lines() {
        let console: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let told = tail(&console);
        assert!(told.ends_with("line 99") && !told.contains("line 80\n"), "{told}");
    }
}
