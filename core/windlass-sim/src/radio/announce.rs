//! An access point that sends [beacons](crate::radio::beacons).

use windlass_cc::{Span, Time};

use crate::radio::beacons::Announcer;
use crate::radio::channel::{Frame, FrameKind};
use crate::radio::config::{Hops, RadioConfig};
use crate::radio::mac::Radio;
use crate::radio::queued::BROADCAST;
use crate::radio::rates::BROADCAST_RATE;
use crate::radio::station::Phase;

impl Radio {
    /// An access point with beacons sends the first beacon at a random time within the first interval.
    pub(super) fn announce(&mut self, config: &RadioConfig) {
        let (Some(beacons), Hops::Star { centre }) = (config.beacons, &config.hops) else { return };
        let s = &mut self.stations[*centre];
        let first = Span(s.stream.next_u64() % beacons.interval.0.max(1));
        s.announcer = Some(Box::new(Announcer { beacons, due: Time::ZERO + first, waiting: 0 }));
    }

    /// Handles the target time of the beacons of a station, if it is due.
    pub(super) fn on_target_time(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        let Some(announcer) = s.announcer.as_deref_mut().filter(|a| a.due <= now) else { return };
        announcer.due += announcer.beacons.interval;
        let idle = announcer.waiting == 0 && s.queue.is_empty();
        announcer.waiting = announcer.beacons.networks;
        if idle && s.phase == Phase::Contend {
            s.request_access(now, &self.timing);
        }
    }

    /// Uses the channel for a beacon, if one waits. Returns true if the station transmits a beacon.
    pub(super) fn send_beacon(&mut self, station: u32, now: Time) -> bool {
        let s = &mut self.stations[station as usize];
        let Some(announcer) = s.announcer.as_deref_mut().filter(|a| a.waiting > 0) else {
            return false;
        };
        announcer.waiting -= 1;
        let bytes = announcer.beacons.size;
        s.backoff = None;
        s.phase = Phase::SendBeacon;
        s.counters.beacons += 1;
        s.on_transmit(now, &self.timing);
        let frame = Frame::bare(FrameKind::Beacon, station, BROADCAST, BROADCAST_RATE, bytes);
        self.transmit(station, frame, now);
        true
    }

    /// A beacon has been transmitted. The waiting packets follow after their own back-off.
    pub(super) fn on_beacon_sent(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.start_backoff(now, &self.timing);
    }
}
