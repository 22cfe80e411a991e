//! Beacons of an access point, and the airtime that they take.
//!
//! At each target time the access point has a beacon for every network that it announces. A beacon goes before the
//! packets that wait, after the space and the back-off that are due to them (IEEE 802.11-2016 section 11.1.3.2: its
//! transmission is subject to the access rules), to all at the rate of broadcasts, and is never repeated; one that has not been sent when
//! the next is due is left out. Stations do nothing about it but receive it: they are associated, and stay so.

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;
use crate::radio::channel::{Frame, FrameKind};
use crate::radio::config::{Hops, RadioConfig};
use crate::radio::mac::Radio;
use crate::radio::queued::BROADCAST;
use crate::radio::rates::BROADCAST_RATE;
use crate::radio::station::Phase;

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

impl Beacons {
    /// Whether the stations of this radio can do so.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, as a sentence.
    pub fn check(&self, radio: &RadioConfig) -> Result<(), String> {
        let ([soonest, latest], [least, most]) = (INTERVALS, SIZES);
        if !(soonest..=latest).contains(&self.interval) {
            return Err("beacons must come each 1 ms to 67.1 s, usually each 102.4 ms".into());
        }
        if !(least..=most).contains(&self.size) {
            return Err(format!("a beacon must have {least} to {most} bytes"));
        }
        if !(1..=MAX_NETWORKS).contains(&self.networks) {
            return Err(format!("an access point announces 1 to {MAX_NETWORKS} networks"));
        }
        let one =
            radio.phy.rate(radio.broadcast_rate_bps).map(|rate| radio.phy.airtime(self.size, rate));
        if one.is_some_and(|one| one.0 * u64::from(self.networks) >= self.interval.0) {
            return Err("beacons alone would take all the airtime".into());
        }
        Ok(())
    }
}

/// The beacons of a station.
#[derive(Clone, Debug)]
pub(super) struct Announcer {
    beacons: Beacons,
    /// The next target time.
    pub(super) due: Time,
    /// Beacons that wait for the channel.
    pub(super) waiting: u32,
}

impl Radio {
    /// At the beginning: an access point that announces networks does so from a random moment of the interval on.
    pub(super) fn announce(&mut self, config: &RadioConfig) {
        let (Some(beacons), Hops::Star { centre }) = (config.beacons, &config.hops) else { return };
        let s = &mut self.stations[*centre];
        let first = Span(s.stream.next_u64() % beacons.interval.0.max(1));
        s.announcer = Some(Box::new(Announcer { beacons, due: Time::ZERO + first, waiting: 0 }));
    }

    /// What is due at a station that announces.
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

    /// The channel is a station's: whether it uses it for a beacon.
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
        let frame = Frame {
            kind: FrameKind::Beacon,
            from: station,
            to: BROADCAST,
            nav: Span::ZERO,
            sequence: 0,
            retry: false,
            part: 0,
            parts: 1,
            mpdus: 1,
            rate: BROADCAST_RATE,
            pending: false,
            handle: PacketHandle { id: 0, size: 0, hop: 0 },
            bytes,
        };
        self.transmit(station, frame, now);
        true
    }

    /// A beacon has been transmitted: the packets that wait are next, after a back-off of their own.
    pub(super) fn on_beacon_sent(&mut self, station: u32, now: Time) {
        let s = &mut self.stations[station as usize];
        s.phase = Phase::Contend;
        s.start_backoff(now, &self.timing);
    }
}
