//! Transmission of packets by stations, and the fate of frames.
//!
//! Windlass follows the distributed coordination function of IEEE 802.11-2016 section 10.3, without fragments
//! and bursts. QoS stations (802.11n) differ by EDCA's space and by their header. Points where simulators
//! differ:
//!
//! * A station does not notice frames that begin to arrive during its last turnaround before it transmits.
//!   Stations whose back-off ends in the same slot therefore collide, regardless of their positions.
//! * A packet that arrives when the channel has been idle for a DIFS is transmitted at once. In ns-3 it waits
//!   for another DIFS.
//! * After a missing CTS or acknowledgement, the new back-off counts slots of the present idle period,
//!   without a second DIFS. ns-3 adds a DIFS after the timeout.
//! * The slot in which the channel becomes busy is counted again afterwards, according to DCF. EDCA, and
//!   therefore ns-3's QoS stations, do not count it again.
//! * A frame that can be sensed but not received is received in error, and an EIFS follows.
//! * The NAV of an RTS ends early if no frame of the announced exchange arrives.

use windlass_cc::Time;

use crate::event_queue::EventQueue;
use crate::loss::LossProcess;
use crate::packet::PacketHandle;
use crate::radio::block_ack::Aggregator;
use crate::radio::channel::{Channel, Passed, Transmission};
use crate::radio::config::{FrameErrors, LateCapture, RadioConfig, Retries, RtsThreshold};
use crate::radio::energy::EnergyMeter;
use crate::radio::lowpan::{ACK_BYTES, Lowpan};
use crate::radio::phy::Phy;
pub use crate::radio::phy::{CONTROL_BYTES, DATA_OVERHEAD};
use crate::radio::propagation::from_db;
use crate::radio::queued::Queued;
use crate::radio::rates::{CONTROL, Rates};
use crate::radio::scheduling::NOBODY;
use crate::radio::station::{Phase, Station, Timing};
use crate::random::{Purpose, Stream};

/// Size of an RTS, bytes.
pub const RTS_BYTES: u32 = 20;

/// An event of a radio, for the network layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The next station has received a packet.
    Delivered {
        /// Transmitter.
        from: u32,
        /// Receiver.
        to: u32,
        /// The packet.
        handle: PacketHandle,
    },
    /// A station has received a broadcast.
    Heard {
        /// Transmitter.
        from: u32,
        /// Receiver.
        at: u32,
        /// The packet.
        handle: PacketHandle,
    },
    /// A broadcast has been transmitted. Stations in range receive its end after the propagation delay.
    Broadcast {
        /// Transmitter.
        from: u32,
        /// The packet.
        handle: PacketHandle,
    },
    /// The retry limit was reached: the next station is out of range, or the channel is too bad.
    GaveUp {
        /// Transmitter.
        from: u32,
        /// The station that did not answer.
        to: u32,
        /// The packet.
        handle: PacketHandle,
        /// True if that station has received the packet, and only its acknowledgements were lost.
        taken: bool,
    },
    /// The packet was in the queue of a station that was switched off, or whose battery became empty.
    Lost {
        /// The station.
        from: u32,
        /// The packet.
        handle: PacketHandle,
    },
}

/// State of a radio during a run. It has its own event queue: [`Radio::next_event`] returns the time of the
/// next event, and [`Radio::step`] processes it.
#[derive(Clone, Debug)]
pub struct Radio {
    pub(crate) stations: Vec<Station>,
    pub(super) channel: Channel,
    pub(crate) phy: Phy,
    pub(crate) timing: Timing,
    pub(crate) rates: Rates,
    pub(super) rts: RtsThreshold,
    pub(super) retries: Retries,
    /// Parameters of IEEE 802.15.4, which replace those of DCF.
    pub(crate) lowpan: Option<Lowpan>,
    /// Size of an acknowledgement, bytes.
    pub(super) ack_bytes: u32,
    /// Power ratio at which a frame survives an overlap.
    pub(super) capture: Option<f64>,
    pub(super) late_capture: LateCapture,
    /// `has_errors`: true if there is an error model. `by_snr`: true if errors follow from the
    /// signal-to-noise ratio.
    pub(super) has_errors: bool,
    pub(super) by_snr: bool,
    /// For each receiver and transmitter, the number of the last received packet or part: see
    /// [`Frame::token`](crate::radio::channel::Frame::token).
    pub(super) last_taken: Vec<u64>,
    pub(super) transmissions: Vec<Transmission>,
    pub(super) free: Vec<u32>,
    /// Events of stations, by their index, and of transmissions, by their index after the stations.
    pub(super) events: EventQueue,
    /// Events that the network layer has not taken yet.
    pub(crate) outcomes: Vec<Outcome>,
    pub(super) on_air: u32,
    pub(super) busy_since: Time,
    pub(super) busy_ns: u64,
}

impl Radio {
    /// Returns an idle radio. `index` is its index among the network's radios, which selects its random
    /// streams.
    ///
    /// # Panics
    ///
    /// Panics if the configuration has not been checked and has a rate that the PHY does not have.
    pub fn new(config: &RadioConfig, seed: u64, index: usize) -> Radio {
        let phy = config.phy;
        let rates = Rates::new(config);
        let lowest = phy.rate(phy.lowest_mandatory()).expect("a checked configuration");
        // The slowest rate of an answer.
        let answer = if config.rate_adaptation.is_some() { lowest } else { rates.at(CONTROL) };
        let difs = phy.difs();
        let timing = Timing {
            slot: phy.slot,
            sifs: phy.sifs,
            difs,
            eifs: match config.eifs {
                true => phy.sifs + phy.airtime(CONTROL_BYTES, lowest) + difs,
                false => difs,
            },
            turnaround: phy.turnaround,
            cw_min: phy.cw_min,
            cw_max: phy.cw_max,
            answer_wait: match config.lowpan {
                Some(_) => Lowpan::ack_wait(&phy),
                // aSIFSTime + aSlotTime + aRxPHYStartDelay, section 10.3.2.9.
                None => phy.sifs + phy.slot + phy.preamble(answer),
            },
            assessment: Lowpan::assessment(&phy),
        };
        let n = config.stations.len();
        let stations = config.stations.iter().enumerate().map(|(i, s)| {
            let entity = (index as u64) << 32 | i as u64;
            let stream = |purpose| Stream::new(seed, entity, purpose);
            let errors = match &config.errors {
                FrameErrors::Model(model) => {
                    Some(LossProcess::new(model, stream(Purpose::RadioErrors)))
                }
                _ => None,
            };
            let streams = [stream(Purpose::Backoff), stream(Purpose::RadioErrors)];
            let meter = EnergyMeter::new(config.consumption, s.battery_uj);
            let scheduler = config.scheduling.scheduler(config.data_rate_bps);
            let mut station = Station::new(s.queue, &timing, streams, errors, meter, scheduler);
            let sampling = stream(Purpose::RateSampling);
            station.adapter = Rates::adapter(config, sampling).map(Box::new);
            station.aggregator = config.aggregation.map(|limits| Box::new(Aggregator::new(limits)));
            station
        });
        let mut radio = Radio {
            stations: stations.collect(),
            channel: Channel::new(config, &rates),
            phy,
            timing,
            rates,
            rts: config.rts,
            retries: config.retries,
            lowpan: config.lowpan,
            ack_bytes: if config.lowpan.is_some() { ACK_BYTES } else { CONTROL_BYTES },
            capture: config.capture_db.map(from_db),
            late_capture: config.late_capture,
            has_errors: config.errors != FrameErrors::None,
            by_snr: config.errors == FrameErrors::Snr,
            last_taken: vec![0; n * n],
            transmissions: Vec::with_capacity(n),
            free: Vec::with_capacity(n),
            events: EventQueue::with_capacity(8 * n),
            outcomes: Vec::with_capacity(16),
            on_air: 0,
            busy_since: Time::ZERO,
            busy_ns: 0,
        };
        radio.put_to_sleep(config);
        radio.announce(config);
        for &(station, at) in &config.off {
            radio.stations[station].off_at = at;
        }
        for station in 0..n as u32 {
            radio.wake(station, Time::ZERO); // plans the end of the battery
        }
        radio
    }

    /// Its stations, in the configuration's order.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// Time of the next event.
    pub fn next_event(&self) -> Option<Time> {
        self.events.next().map(|(time, _)| time)
    }

    /// Hands a packet to a station. `to` is a station that [`crate::radio::Hops`] may contain (near enough
    /// that answers arrive in time), or [`crate::radio::BROADCAST`]. Returns true if the queue had room.
    pub fn offer(&mut self, now: Time, from: u32, to: u32, handle: PacketHandle) -> bool {
        self.offer_for(now, from, to, handle, NOBODY, 0)
    }

    /// Like [`Radio::offer`], for a packet that belongs to `user` of the stations'
    /// [scheduler](crate::radio::scheduling). Header compression shortens the packet by `saved` bytes
    /// ([`Lowpan::saved`]).
    pub fn offer_for(
        &mut self,
        now: Time,
        from: u32,
        to: u32,
        handle: PacketHandle,
        user: u32,
        saved: u8,
    ) -> bool {
        let station = &mut self.stations[from as usize];
        let room = station.enqueue(now, Queued { handle, to, since: now, user, saved });
        if room && station.queue.len() == 1 && station.phase == Phase::Contend {
            match &self.lowpan {
                None => station.request_access(now, &self.timing),
                Some(lowpan) => station.begin_frame(now, lowpan, &self.timing),
            }
            if station.sleep.is_some() {
                station.update_meter(now); // it wakes
            }
            self.wake(from, now);
        }
        room
    }

    /// Number of bytes by which header compression shortens a datagram: see [`Lowpan::saved`].
    pub(crate) fn saved(&self, fixed_ports: bool) -> u8 {
        self.lowpan.map_or(0, |lowpan| lowpan.saved(fixed_ports))
    }

    /// Processes one event that is due, if any. Its results are added to the
    /// [outcomes](Radio::take_outcomes). Returns false if no event was due.
    pub fn step(&mut self, now: Time) -> bool {
        self.step_until(now, Time::ZERO).is_some()
    }

    /// Like [`Radio::step`], but continues until `last` while the next event belongs to the same frame and no
    /// outcome has occurred.
    pub(crate) fn step_until(&mut self, now: Time, last: Time) -> Option<Passed> {
        let (_, entity) = self.events.next().filter(|(time, _)| *time <= now)?;
        let n = self.stations.len() as u32;
        if entity >= n {
            return Some(self.on_frame_event(entity - n, now, last));
        }
        self.events.finish_next();
        if self.stations[entity as usize].disarm(now) {
            self.on_station(entity, now);
            self.wake(entity, now);
        }
        Some(Passed { now, moments: 0 })
    }

    /// Takes the outcomes so far, in order of time.
    pub fn take_outcomes(&mut self) -> std::vec::Drain<'_, Outcome> {
        self.outcomes.drain(..)
    }

    /// Time up to `now` during which at least one station transmitted, nanoseconds.
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        let current = if self.on_air > 0 { now.since(self.busy_since).0 } else { 0 };
        self.busy_ns + current
    }

    /// Total airtime of all frames up to `now`, nanoseconds.
    pub fn airtime_ns_by(&self, now: Time) -> u64 {
        self.stations.iter().map(|s| s.airtime_ns_by(now)).sum()
    }

    /// Timers are lazy: an event is added only if none is pending early enough.
    pub(super) fn wake(&mut self, station: u32, now: Time) {
        if let Some(at) = self.stations[station as usize].arm(now) {
            self.events.schedule(at, station);
        }
    }
}
