//! Backends other than the simulator: kernel TCP over the simulator's own links, and ns-3.
//!
//! * [`live`] runs a configuration on this machine. Every end of a flow is a kernel socket in its own network
//!   namespace. TUN devices join the namespaces to a [`windlass_sim::Simulation`] that keeps real time.
//!   Rates, delays, queues, error models and seeds are therefore the simulator's.
//! * [`vm`] does so in virtual time: a Debian kernel under QEMU, whose clock counts instructions.
//! * [`bpf`] loads Windlass's algorithms into the kernel, in both cases; [`twin`] checks that they give the
//!   same answers there.
//!
//! ns-3 is a third backend ([`Ns3`]): it has its own TCP, links and clock, with Windlass's losses.
//!
//! [`Linux`], [`LinuxVt`] and [`Ns3`] are backends of a [`windlass_run::Runner`].
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bpf;
pub mod guest;
mod linux;
mod linux_vt;
pub mod live;
mod ns3;
pub mod twin;
pub mod vm;

pub use linux::Linux;
pub use linux_vt::{LinuxVt, serve_if_guest};
pub use ns3::Ns3;
