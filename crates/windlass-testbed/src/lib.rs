//! Other worlds: kernel TCP over the simulator's own links, and ns-3.
//!
//! * [`live`] runs a configuration on this machine: every end of a flow is a kernel socket in a network
//!   namespace of its own, and TUN devices join them to a [`windlass_sim::Simulation`] that keeps real
//!   time, so that rates, delays, queues, error models and seeds are the simulator's.
//! * [`vm`] does so in virtual time: a Debian kernel under QEMU, whose clock counts instructions.
//! * [`bpf`] puts our own algorithms into the kernel, here or there; [`twin`] proves that they are the same there.
//!
//! ns-3 is a third ([`Ns3`]): its own TCP, links and clock, with our losses.
//!
//! [`Linux`], [`LinuxVt`] and [`Ns3`] are back ends of a [`windlass_run::Runner`].

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
