//! How a station gets on with packets: in all, and by next station where somebody asks.

use windlass_cc::Time;

use super::station::{Held, Station, StationCounters};

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
pub struct Neighbours(Vec<(u32, Service)>);

impl Neighbours {
    fn of(&mut self, station: u32) -> &mut Service {
        let known = self.0.iter().position(|(s, _)| *s == station);
        let place = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((station, Service::default()));
        }
        &mut self.0[place].1
    }
}

impl Station {
    /// From now on it keeps account of each next station.
    pub fn watch_neighbours(&mut self) {
        self.neighbours.get_or_insert_default();
    }

    /// How it got on with packets for a station since it was told to keep account.
    pub fn service_of(&self, to: u32) -> Service {
        let known = self.neighbours.iter().flat_map(|n| &n.0).find(|(s, _)| *s == to);
        known.map_or_else(Service::default, |(_, service)| *service)
    }

    /// Enters the first packet, which is done with, into the account of its next station.
    pub(super) fn note_neighbour(&mut self, now: Time, head: &Held) {
        let Some(neighbours) = &mut self.neighbours else { return };
        let service = neighbours.of(head.to);
        service.finished += 1;
        service.given_up += u64::from(!self.taken);
        service.failures += self.failed.iter().map(|n| u64::from(*n)).sum::<u64>();
        service.service_ns += now.since(self.head_since).0;
        service.bytes += if self.taken { u64::from(head.ticket.size) } else { 0 };
    }
}
