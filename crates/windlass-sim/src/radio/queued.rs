//! A packet in the queue of a station.

use windlass_cc::Time;

use crate::packet::PacketHandle;

/// In place of a station: every station in range.
pub const BROADCAST: u32 = u32::MAX;

/// A packet that a station holds.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet.
    pub handle: PacketHandle,
    /// The next station, or [`crate::radio::BROADCAST`].
    pub to: u32,
    /// When it came.
    pub since: Time,
    /// Who it belongs to, for a scheduler: see [`crate::radio::scheduling`].
    pub user: u32,
    /// Bytes that compression of its headers spares on the air: see [`crate::radio::Lowpan::saved`].
    pub saved: u8,
}
