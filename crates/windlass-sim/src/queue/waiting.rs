//! Packets that wait, and those that a discipline takes out of the network.

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;

/// A queue length at which a discipline does something. What is being transmitted does not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// So many packets.
    Packets(u64),
    /// So many bytes of IP packets.
    Bytes(u64),
}

impl Level {
    /// The number, whatever it counts.
    pub fn amount(self) -> u64 {
        match self {
            Level::Packets(n) | Level::Bytes(n) => n,
        }
    }
}

/// A packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The packet.
    pub handle: PacketHandle,
    /// When it came.
    pub since: Time,
    /// How long its transmission takes.
    pub transmission: Span,
    /// The flow's direction that it belongs to, for disciplines that tell flows apart.
    pub flow: u32,
    /// Whether it may be marked instead of dropped (ECN).
    pub capable: bool,
}

/// A packet that a queue has dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// The packet.
    pub handle: PacketHandle,
    /// There was room: the discipline decided so.
    pub early: bool,
}

/// A number between 0 and 1.
pub(super) fn check_share(what: &str, value: f64) -> Result<(), String> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} must be between 0 and 1, not {value}")),
    }
}
