//! A packet in the queue of a station.

use windlass_cc::Time;

use crate::packet::PacketHandle;

/// Receiver of a broadcast: every station in range.
pub const BROADCAST: u32 = u32::MAX;

/// A packet that a station holds.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The packet.
    pub handle: PacketHandle,
    /// The next station, or [`crate::radio::BROADCAST`].
    pub to: u32,
    /// Time at which the packet arrived in the queue.
    pub since: Time,
    /// User of the scheduler to which the packet belongs: see [`crate::radio::scheduling`].
    pub user: u32,
    /// Bytes by which compression shortens the packet's headers: see [`crate::radio::Lowpan::saved`].
    pub saved: u8,
}
