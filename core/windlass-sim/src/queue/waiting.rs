//! Waiting packets, and packets that a discipline drops.

use windlass_cc::{Span, Time};
use windlass_tcp::Codepoint;

use crate::packet::PacketHandle;

/// A queue length that triggers an action of a discipline. It does not include the packet in
/// transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Number of packets.
    Packets(u64),
    /// Number of bytes of IP packets.
    Bytes(u64),
}

impl Level {
    /// The number, without its unit.
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
    /// Time of its arrival.
    pub since: Time,
    /// Duration of its transmission.
    pub transmission: Span,
    /// Direction of the flow that it belongs to, for disciplines with separate queues for flows.
    pub flow: u32,
    /// ECN field. Packets without ECN are [`Codepoint::NotEct`].
    pub ecn: Codepoint,
}

impl Waiting {
    /// True if the packet may be marked instead of dropped (ECN).
    pub const fn is_capable(&self) -> bool {
        self.ecn.is_capable()
    }
}

/// A packet that a queue has dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// The packet.
    pub handle: PacketHandle,
    /// True if the queue had room and the discipline dropped the packet.
    pub early: bool,
}

/// Checks that a value is between 0 and 1.
pub(super) fn check_share(what: &str, value: f64) -> Result<(), String> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(format!("{what} must be between 0 and 1, not {value}")),
    }
}
