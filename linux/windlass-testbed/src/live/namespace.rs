//! Network namespaces without a name. A namespace exists as long as one of its descriptors is open, and
//! always ends with the process.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use super::error::Error;

/// A network namespace, with its own devices, routes, sockets, sysctls and counters.
///
/// Sockets and devices opened by [`enter`](Namespace::enter) belong to the namespace, regardless of the
/// thread that uses them.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// Creates an empty namespace.
    ///
    /// # Errors
    ///
    /// Returns an error without the privilege, or if the kernel does not support namespaces.
    pub fn new() -> io::Result<Namespace> {
        // A thread whose namespace has changed must not do other work, so this thread ends.
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

    /// Runs `work` inside the namespace, in a separate thread, and returns its result.
    ///
    /// # Errors
    ///
    /// Returns the errors of `work`, or an error if the kernel refuses the entry.
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
