//! Linux in virtual time: a Debian kernel under QEMU whose clock counts instructions.
//!
//! The guest is this very executable. [`run`] packs it, the shared libraries that it has mapped and a
//! few kernel modules into an initramfs, boots a kernel with that and nothing else, and takes the
//! answer from a virtio-serial port. In the guest the executable finds itself to be process 1, and
//! [`guest_main`], the first thing that `main` calls, does the job instead of whatever `main` does.
//!
//! QEMU interprets the processor (TCG), one instruction lasts one nanosecond, and an idle processor
//! jumps to its next timer. So the guest's time has nothing to do with the host's: a busy host makes a
//! run slow, not wrong, and the same job gives the same bytes at every run. Nothing of the host's
//! randomness or clock reaches the guest.
//!
//! Kernels are Debian's packages, fetched and verified by apt, unpacked into a cache and checked
//! against their SHA-256 at each use. No root is needed. `docs/testbed.md` has the recipe.

mod apt;
mod cache;
mod child;
mod cpio;
mod deb;
mod elf;
mod error;
mod frame;
mod guest;
mod image;
mod kernel;
mod modules;
mod qemu;
mod vmlinux;

use std::fmt;
use std::str::FromStr;

pub use error::Error;
pub use guest::guest_main;
pub use kernel::{Kernel, prepare};
pub use qemu::{Answer, Job, check, run};

/// A series of Linux kernels: the long-term releases that Debian 12 and 13 are built on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Series {
    /// Linux 6.12, of Debian 13.
    V6_12,
    /// Linux 6.1, of Debian 12.
    V6_1,
}

impl Series {
    /// Every series, newest first.
    pub const ALL: [Series; 2] = [Series::V6_12, Series::V6_1];

    /// The name, such as `6.12`.
    pub fn name(self) -> &'static str {
        match self {
            Series::V6_12 => "6.12",
            Series::V6_1 => "6.1",
        }
    }

    /// Whether a kernel's release (what `uname -r` prints) is of this series.
    pub(crate) fn covers(self, release: &str) -> bool {
        release.strip_prefix(self.name()).is_some_and(|rest| rest.starts_with(['.', '-']))
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Series {
    type Err = String;

    fn from_str(text: &str) -> Result<Series, String> {
        Series::ALL.into_iter().find(|series| series.name() == text).ok_or_else(|| {
            let known: Vec<_> = Series::ALL.iter().map(|series| series.name()).collect();
            format!("there is no kernel series `{text}`; there are {}", known.join(" and "))
        })
    }
}
