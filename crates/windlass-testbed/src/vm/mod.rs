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
//! against their SHA-256 by each process that uses them. No root is needed. `docs/src/inside/testbed.md` has the recipe.

mod apt;
pub(crate) mod cache;
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

pub(crate) use cache::folder as cache_folder;
pub use error::Error;
pub use guest::guest_main;
pub use kernel::{Kernel, kept_release, prepare};
pub use qemu::{Answer, Job, check, qemu_version, run};
pub use windlass_run::KernelSeries as Series;
