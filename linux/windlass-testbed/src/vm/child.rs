//! Starting a process that ends with this one.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid, getppid};

/// Starts the process. It inherits the files `kept` under the same numbers. The kernel kills it when the
/// thread that started it ends for any reason.
pub(super) fn spawn(command: &mut Command, kept: &[&OwnedFd]) -> io::Result<Child> {
    let kept: Vec<RawFd> = kept.iter().map(|fd| fd.as_raw_fd()).collect();
    let parent = getpid();
    // SAFETY: between fork and exec the closure only makes system calls (prctl, getppid, fcntl), which are
    // safe there: it takes no lock, allocates nothing and does not touch memory of other threads.
    unsafe { command.pre_exec(move || prepare(parent, &kept)) };
    command.spawn()
}

/// Runs in the new process before exec.
fn prepare(parent: Pid, kept: &[RawFd]) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have ended before the signal was requested.
    if getppid() != parent {
        return Err(io::Error::from_raw_os_error(nix::libc::ESRCH));
    }
    for &fd in kept {
        // SAFETY: the caller of `spawn` keeps the file open until `spawn` returns, which is after exec.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    Ok(())
}
