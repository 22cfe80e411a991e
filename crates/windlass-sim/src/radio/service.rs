//! How a station gets on with packets: in all, and by next station where somebody asks.

/// How a station got on with packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Service {
    /// Packets that it is done with.
    pub finished: u64,
    /// Of them, those that it gave up.
    pub given_up: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Sum of the times that they were first in the queue, nanoseconds.
    pub service_ns: u64,
    /// Bytes of packets delivered.
    pub bytes: u64,
}

/// Totals of a station; see [`crate::results::StationResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // documented where they are shown
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
    /// Sum of the times that finished packets were first, nanoseconds.
    pub service_ns: u64,
    /// Packets that are done with, one way or the other.
    pub finished: u64,
    pub max_held: u64,
}

impl StationCounters {
    /// How it got on with all its packets.
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

/// The same by next station, kept only where somebody asks.
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
