//! Beacons of an access point, and the airtime that they take.
//!
//! At each target time the access point has a beacon for every network that it announces. A beacon goes before the
//! packets that wait, after the space and the back-off that are due to them (IEEE 802.11-2016 section 11.1.3.2: its
//! transmission is subject to the access rules), to all at the rate of broadcasts, and is never repeated; one that has not been sent when
//! the next is due is left out. Stations do nothing about it but receive it: they are associated, and stay so.

use windlass_cc::{Span, Time};

/// What an access point announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacons {
    /// From one target time to the next.
    pub interval: Span,
    /// Bytes from MAC header to check sequence.
    pub size: u32,
    /// Beacons at each target time: of so many networks (SSIDs).
    pub networks: u32,
}

impl Default for Beacons {
    /// One network, each 100 time units of 1024 µs.
    fn default() -> Beacons {
        Beacons { interval: Span::from_micros(102_400), size: 150, networks: 1 }
    }
}

/// Range of the interval: 1 ms to 65535 time units.
pub const INTERVALS: [Span; 2] = [Span::from_millis(1), Span::from_micros(65_535 * 1024)];
/// Range of the size: header, fixed fields and check sequence, and the longest management frame.
pub const SIZES: [u32; 2] = [40, 2332];
/// Most networks of an access point.
pub const MAX_NETWORKS: u32 = 32;

/// The beacons of a station.
#[derive(Clone, Debug)]
pub(super) struct Announcer {
    pub(super) beacons: Beacons,
    /// The next target time.
    pub(super) due: Time,
    /// Beacons that wait for the channel.
    pub(super) waiting: u32,
}
