//! Packets for the tests of the disciplines.

use windlass_cc::{Span, Time};
use windlass_tcp::Codepoint;

use super::waiting::Waiting;
use crate::packet::PacketHandle;

/// A packet that arrived at time zero and takes 1 µs per byte (8 Mbit/s).
pub fn plain(id: u32, size: u32) -> Waiting {
    Waiting {
        handle: PacketHandle { id, size, hop: 0 },
        since: Time::ZERO,
        transmission: Span(1000 * u64::from(size)),
        flow: 0,
        ecn: Codepoint::NotEct,
    }
}

/// An ECN-capable packet that is otherwise equal to [`plain`].
pub fn capable(id: u32, size: u32) -> Waiting {
    Waiting { ecn: Codepoint::Ect0, ..plain(id, size) }
}
