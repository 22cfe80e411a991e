//! Multipath TCP (RFC 8684): one stream over several subflows, each of them a TCP connection.
//!
//! * [`Connection`] is one end of a multipath connection, driven as an
//!   [`Endpoint`](crate::Endpoint) is; [`MultipathProfile`] configures it.
//! * [`option`] is what the two ends tell each other in TCP options, as values.
//! * [`scheduler`] is on which path the next data goes.
//! * [`keys`] is what they derive from the keys that they exchange.

mod config;
mod connection;
mod group;
pub mod keys;
pub mod option;
mod receiver;
pub mod scheduler;
mod sender;
mod stats;
mod subflow;

pub use config::{MultipathConfig, MultipathProfile, Scheduler};
pub use connection::{Connection, Outgoing};
pub use option::{Dss, Mapping, MpOption};
pub use stats::MultipathStats;
