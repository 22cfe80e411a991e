//! Multipath TCP (RFC 8684): one stream over several subflows, each of them a TCP connection.
//!
//! * [`Connection`] is one end of a multipath connection, driven as an
//!   [`Endpoint`](crate::Endpoint) is; [`MultipathProfile`] configures it.
//! * [`option`] is what the two ends tell each other in TCP options, as values.
//! * [`scheduler`] is on which path the next data goes.
//! * [`codec`] is their bytes, and [`numbers`] what of them may be left out.
//! * [`keys`] is what they derive from the keys that they exchange.

pub mod codec;
mod config;
mod connection;
mod group;
pub mod keys;
pub mod numbers;
pub mod option;
mod receiver;
pub mod scheduler;
mod sender;
mod stats;
mod subflow;

pub use codec::{Checksum, Signal};
pub use config::{MultipathConfig, MultipathProfile, Scheduler};
pub use connection::{Connection, Outgoing};
pub use numbers::Numbers;
pub use option::{Dss, Mapping, MpOption};
pub use stats::MultipathStats;
