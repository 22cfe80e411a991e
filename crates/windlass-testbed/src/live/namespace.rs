//! Network namespaces without a name: they live as long as a descriptor of theirs is open, and so
//! end with the process, however it ends.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use super::error::Error;

/// A network namespace: devices, routes, sockets, sysctls and counters of its own.
///
/// Sockets and devices opened by [`enter`](Namespace::enter) belong to it wherever they are used.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Makes a new, empty namespace.
    ///
    /// # Errors
    ///
    /// Without the privilege to do so, or where the kernel has none.
    pub fn new() -> io::Result<Namespace> {
        // A thread that has changed its namespace must not go back among the others.
        let made = thread::scope(|scope| {
            scope
                .spawn(|| {
                    unshare(CloneFlags::CLONE_NEWNET)?;
                    File::open("/proc/thread-self/ns/net")
                })
                .join()
        });
        let file = made.unwrap_or_else(|_| Err(io::Error::other("a thread has panicked")))?;
        Ok(Namespace { file })
    }

    /// Runs `work` inside, in a thread of its own, and returns what it returns.
    ///
    /// # Errors
    ///
    /// Those of `work`, and the kernel's refusal to enter.
    pub fn enter<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let inside = || {
            setns(&self.file, CloneFlags::CLONE_NEWNET)
                .map_err(|e| Error::on("entering a network namespace")(e.into()))?;
            work()
        };
        let done = thread::scope(|scope| scope.spawn(inside).join());
        done.unwrap_or(Err(Error::Defect("set-up of a namespace")))
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
