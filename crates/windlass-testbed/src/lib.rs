//! Linux as the second world: kernel TCP over the simulator's own links.
//!
//! * [`live`] runs a configuration on this machine: every end of a flow is a kernel socket in a network
//!   namespace of its own, and TUN devices join them to a [`windlass_sim::Simulation`] that keeps real
//!   time, so that rates, delays, queues, error models and seeds are the simulator's.
//! * [`vm`] does so in virtual time: a Debian kernel under QEMU, whose clock counts instructions.
//!
//! [`Linux`] and [`LinuxVt`] are back ends of a [`windlass_run::Runner`].

pub mod guest;
mod linux;
mod linux_vt;
pub mod live;
pub mod vm;

pub use linux::Linux;
pub use linux_vt::{LinuxVt, serve_if_guest};
