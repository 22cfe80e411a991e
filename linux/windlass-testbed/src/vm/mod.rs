//! Linux in virtual time: a Debian kernel under QEMU whose clock counts instructions.
//!
//! The guest is this executable. [`run`] packs it, its mapped shared libraries and a few kernel modules into
//! an initramfs, and boots a kernel with only these files. The answer arrives on a virtio-serial port. In the
//! guest the executable detects that it is process 1. `main` calls [`guest_main`] first, which does the job
//! and does not return there.
//!
//! QEMU interprets the processor (TCG), one instruction lasts one nanosecond, and an idle processor jumps to
//! its next timer. The guest's time is therefore independent of the host's time. A busy host makes a run
//! slow, not wrong, and the same job gives the same bytes in every run. The guest receives neither randomness
//! nor the clock of the host.
//!
//! Kernels are Debian's packages. apt downloads and verifies them. They are unpacked into a cache, and each
//! process that uses them checks their SHA-256. Root is not needed. `docs/src/inside/testbed.md` has the
//! recipe.

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

pub use error::Error;
pub use guest::guest_main;
pub use kernel::{Kernel, kept_release, prepare};
pub use qemu::{Answer, Job, check, qemu_version, run};
pub use windlass_run::KernelSeries as Series;
