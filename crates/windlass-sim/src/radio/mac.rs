//! What stations do with packets, and what becomes of frames.
//!
//! Under the distributed coordination function after IEEE 802.11-2016 section 10.3, without fragments and bursts; QoS stations
//! (802.11n) differ by EDCA's space and by their header. Points where simulators differ:
//!
//! * A station does not notice what begins to arrive during its last turnaround before it
//!   transmits, so that stations whose back-off ends in the same slot collide wherever they stand.
//! * A packet that comes when the channel has been idle for a DIFS goes out at once (ns-3 has it
//!   wait for another DIFS).
//! * After a missing CTS or acknowledgement the new back-off counts in slots of the idle period that
//!   is under way, without a second DIFS (ns-3 adds one after the timeout).
//! * The slot in which the channel becomes busy is counted again afterwards, as DCF has it; EDCA,
//!   and so ns-3's stations with QoS, count it.
//! * A frame that can be sensed but not received is received in error: an EIFS follows.
//! * The NAV that an RTS asks for lapses if nothing is heard of the frames that it announced.

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

/// Bytes of an RTS.
pub const RTS_BYTES: u32 = 20;

/// What a radio tells those above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The next station has taken a packet.
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
    /// A broadcast has been transmitted; those in range hear its end a time of flight later.
    Broadcast {
        /// Transmitter.
        from: u32,
        /// The packet.
        handle: PacketHandle,
    },
    /// The retry limit was reached: the next station is out of reach, or the channel too bad.
    GaveUp {
        /// Transmitter.
        from: u32,
        /// The station that did not answer.
        to: u32,
        /// The packet.
        handle: PacketHandle,
        /// Whether that station has taken the packet all the same, and only its acknowledgements
        /// were lost.
        taken: bool,
    },
    /// A station was switched off, or its battery ran out, with this packet in its queue.
    Lost {
        /// The station.
        from: u32,
        /// The packet.
        handle: PacketHandle,
    },
}

/// A radio in the course of a run. It keeps an event queue of its own: [`Radio::next_event`] says when
/// it wants to be looked after, [`Radio::step`] does that.
#[derive(Clone, Debug)]
pub struct Radio {
    pub(crate) stations: Vec<Station>,
    pub(super) channel: Channel,
    pub(crate) phy: Phy,
    pub(crate) timing: Timing,
    pub(crate) rates: Rates,
    pub(super) rts: RtsThreshold,
    pub(super) retries: Retries,
    /// What IEEE 802.15.4 has in place of DCF.
    pub(crate) lowpan: Option<Lowpan>,
    /// Bytes of an acknowledgement.
    pub(super) ack_bytes: u32,
    /// Ratio of powers at which a frame survives others.
    pub(super) capture: Option<f64>,
    pub(super) late_capture: LateCapture,
    /// Whether there are errors at all, and whether they follow from signal and noise.
    pub(super) has_errors: bool,
    pub(super) by_snr: bool,
    /// For each receiver and transmitter the number of the last packet taken, or taken in part: see
    /// [`Frame::token`](crate::radio::channel::Frame::token).
    pub(super) last_taken: Vec<u64>,
    pub(super) transmissions: Vec<Transmission>,
    pub(super) free: Vec<u32>,
    /// Stations by their index, then transmissions.
    pub(super) events: EventQueue,
    /// What has happened and those above have not been told.
    pub(crate) outcomes: Vec<Outcome>,
    pub(super) on_air: u32,
    pub(super) busy_since: Time,
    pub(super) busy_ns: u64,
}

impl Radio {
    /// An idle radio; `index` is its place among the network's radios, which its random numbers
    /// depend on.
    ///
    /// # Panics
    ///
    /// If the configuration has not been checked and names a rate that the PHY lacks.
    pub fn new(config: &RadioConfig, seed: u64, index: usize) -> Radio {
        let phy = config.phy;
        let rates = Rates::new(config);
        let lowest = phy.rate(phy.lowest_mandatory()).expect("a checked configuration");
        // The slowest that may answer.
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
            radio.wake(station, Time::ZERO); // a battery may end
        }
        radio
    }

    /// Its stations, in the configuration's order.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// When something happens next.
    pub fn next_event(&self) -> Option<Time> {
        self.events.next().map(|(time, _)| time)
    }

    /// Hands a packet to a station for the next one, which is one that [`crate::radio::Hops`] may name (not so far
    /// that answers come too late), or for all in range ([`crate::radio::BROADCAST`]). Returns
    /// whether the queue had room.
    pub fn offer(&mut self, now: Time, from: u32, to: u32, handle: PacketHandle) -> bool {
        self.offer_for(now, from, to, handle, NOBODY, 0)
    }

    /// The same for a packet that belongs to a user of the stations'
    /// [scheduler](crate::radio::scheduling), and on which compression [spares](Lowpan::saved) so many bytes.
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

    /// Bytes that compression spares on a datagram: see [`Lowpan::saved`].
    pub(crate) fn saved(&self, fixed_ports: bool) -> u8 {
        self.lowpan.map_or(0, |lowpan| lowpan.saved(fixed_ports))
    }

    /// Does one thing that is due, if anything is. What it comes to is among the [outcomes](Radio::take_outcomes).
    pub fn step(&mut self, now: Time) -> bool {
        self.step_until(now, Time::ZERO).is_some()
    }

    /// The same, and goes on until `last` as long as it is the same frame that reaches stations or leaves them and nothing has
    /// come of it.
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

    /// Takes what has happened, in order.
    pub fn take_outcomes(&mut self) -> std::vec::Drain<'_, Outcome> {
        self.outcomes.drain(..)
    }

    /// Time up to `now` during which somebody transmitted, nanoseconds.
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        let current = if self.on_air > 0 { now.since(self.busy_since).0 } else { 0 };
        self.busy_ns + current
    }

    /// Time on the air of all frames up to `now`, nanoseconds.
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
