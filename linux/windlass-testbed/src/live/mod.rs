//! A configuration on this machine: kernel sockets in network namespaces, joined by the simulator.
//!
//! Every end of a flow is a socket in its own [namespace](namespace::Namespace), whose only exit is a [TUN
//! device](tun::Tun). One thread carries packets between these devices and a [`windlass_sim::Simulation`]
//! that keeps real time. Another thread runs the applications of all ends. Namespaces and devices have no
//! name outside this process and always end with it.

pub mod algorithm;
mod app;
mod check;
pub mod clock;
mod counters;
mod datagrams;
mod desk;
mod differences;
mod emulator;
mod error;
pub mod info;
pub mod lateness;
mod multipath;
pub mod namespace;
pub mod netlink;
mod options;
pub mod path_manager;
pub(crate) mod release;
mod run;
mod series;
pub mod settings;
pub mod socket;
mod stream;
pub mod sys;
mod tenants;
mod totals;
mod trace;
pub mod tun;
mod vigil;
mod wiretap;

pub use algorithm::{COUNTERPARTS, algorithm};
pub use check::check;
pub use differences::differences;
pub use error::Error;
pub use info::Info;
pub use lateness::{Bound, Lateness};
pub use options::{Options, Watch};
pub use release::kernel;
pub use run::{Outcome, run};
pub use trace::{Arrival, Trace};
