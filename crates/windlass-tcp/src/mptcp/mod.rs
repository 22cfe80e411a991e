//! Multipath TCP (RFC 8684): one stream over several subflows, each of them a TCP connection.
//!
//! * [`option`] is what the two ends tell each other in TCP options, as values.
//! * [`codec`] is their bytes, and [`numbers`] what of them may be left out.
//! * [`keys`] is what they derive from the keys that they exchange.

pub mod codec;
pub mod keys;
pub mod numbers;
pub mod option;

pub use codec::{Checksum, Signal};
pub use numbers::Numbers;
pub use option::{Dss, Mapping, MpOption};
