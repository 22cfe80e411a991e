//! Beacons of an access point, and the airtime that they take.
//!
//! At each target time, the access point has one beacon for every network that it announces. Beacons are sent
//! before the waiting packets, after the usual space and back-off (IEEE 802.11-2016 section 11.1.3.2: the
//! transmission is subject to the access rules). A beacon is a broadcast at the rate of broadcasts and is
//! never repeated. A beacon that has not been sent at the next target time is dropped. Stations receive
//! beacons and do not react, because they are always associated.

use windlass_cc::{Span, Time};

/// The beacons of an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beacons {
    /// Time between two target times.
    pub interval: Span,
    /// Bytes from MAC header to check sequence.
    pub size: u32,
    /// Number of networks (SSIDs), which is the number of beacons at each target time.
    pub networks: u32,
}

impl Default for Beacons {
    /// One network, and a beacon every 100 time units of 1024 µs.
    fn default() -> Beacons {
        Beacons { interval: Span::from_micros(102_400), size: 150, networks: 1 }
    }
}

/// Range of the interval: 1 ms to 65535 time units.
pub const INTERVALS: [Span; 2] = [Span::from_millis(1), Span::from_micros(65_535 * 1024)];
/// Range of the size in bytes: from header, fixed fields and check sequence to the longest management frame.
pub const SIZES: [u32; 2] = [40, 2332];
/// Maximum number of networks of an access point.
pub const MAX_NETWORKS: u32 = 32;

/// The state of the beacons of a station.
#[derive(Clone, Debug)]
pub(super) struct Announcer {
    pub(super) beacons: Beacons,
    /// The next target time.
    pub(super) due: Time,
    /// Beacons that wait for the channel.
    pub(super) waiting: u32,
}
