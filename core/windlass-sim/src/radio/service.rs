//! Service of a station: totals, and counters by next station if they are needed.

/// Service of packets by a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Service {
    /// Finished packets: delivered or given up.
    pub finished: u64,
    /// Packets that were given up.
    pub given_up: u64,
    /// Failed attempts.
    pub failures: u64,
    /// Total time of packets at the head of the queue, nanoseconds.
    pub service_ns: u64,
    /// Bytes of delivered packets.
    pub bytes: u64,
}

/// Totals of a station; see [`crate::results::StationResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // documented in StationResult
pub struct StationCounters {
    pub offered: u64,
    pub delivered: u64,
    pub drops_queue: u64,
    pub drops_retry: u64,
    pub drops_off: u64,
    pub unconfirmed: u64,
    pub transmissions: u64,
    pub retransmissions: u64,
    /// First transmissions of the later parts of packets.
    pub later_parts: u64,
    pub access_failures: u64,
    pub rts_sent: u64,
    pub failures: u64,
    pub collisions_seen: u64,
    pub frame_errors: u64,
    pub duplicates: u64,
    pub broadcasts_received: u64,
    pub polls: u64,
    pub beacons: u64,
    pub beacons_heard: u64,
    pub aggregates: u64,
    pub aggregated: u64,
    /// Sum of the rates of the data frames transmitted to single stations, kbit/s.
    pub rates_kbps: u64,
    pub bytes: u64,
    pub airtime_ns: u64,
    /// Integral of the queue length, packets times nanoseconds, up to the last change.
    pub held_ns: u64,
    /// Sum of the waits of the packets that became the first of the queue, nanoseconds.
    pub waited_ns: u64,
    /// Packets that became the first of the queue.
    pub served: u64,
    /// Total time of finished packets at the head of the queue, nanoseconds.
    pub service_ns: u64,
    /// Finished packets: delivered or given up.
    pub finished: u64,
    pub max_held: u64,
}

impl StationCounters {
    /// Service of all packets.
    pub fn service(&self) -> Service {
        Service {
            finished: self.finished,
            given_up: self.drops_retry + self.unconfirmed,
            failures: self.failures,
            service_ns: self.service_ns,
            bytes: self.bytes,
        }
    }
}

/// Service by next station, recorded only if it is needed.
#[derive(Clone, Debug, Default)]
pub struct Neighbours(pub(super) Vec<(u32, Service)>);

impl Neighbours {
    pub(super) fn of(&mut self, station: u32) -> &mut Service {
        let known = self.0.iter().position(|(s, _)| *s == station);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((station, Service::default()));
        }
        &mut self.0[place].1
    }
}
