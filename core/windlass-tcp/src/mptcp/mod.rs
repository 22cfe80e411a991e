//! Multipath TCP (RFC 8684): one stream over several subflows. Each subflow is a TCP connection.
//!
//! * [`Connection`] is one end of a multipath connection, driven like an [`Endpoint`](crate::Endpoint).
//!   [`MultipathProfile`] configures it.
//! * [`option`] has the TCP options of Multipath TCP as values.
//! * [`scheduler`] selects the path of the next data.
//! * [`codec`] encodes and decodes the options, and [`numbers`] completes shortened numbers.
//! * [`keys`] derives values from the exchanged keys.

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
