//! What a scenario says of a radio: its physical layer, its stations and where they stand.

use windlass_cc::Time;

use crate::link::QueueLimit;
use crate::loss::LossModel;
use crate::radio::aggregation::Aggregation;
use crate::radio::beacons::Beacons;
use crate::radio::energy::Consumption;
use crate::radio::lowpan::Lowpan;
use crate::radio::phy::Phy;
use crate::radio::rate_adaptation::Minstrel;
use crate::radio::scheduling::Scheduling;
use crate::radio::sleep::Polling;
use crate::routing::aodv::Aodv;

/// A radio channel and the stations on it. Two radios never disturb each other: they are on
/// different frequencies.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// Name.
    pub name: String,
    /// Timing, frame format and rates.
    pub phy: Phy,
    /// Bits per second of unicast data frames; one of the PHY's rates. Where stations adapt it, the highest that they try.
    pub data_rate_bps: u64,
    /// How stations choose the rate of data frames; `None` if it is fixed.
    pub rate_adaptation: Option<Minstrel>,
    /// How stations put several packets into a frame; `None` if they do not.
    pub aggregation: Option<Aggregation>,
    /// What the access point announces; `None` for nothing.
    pub beacons: Option<Beacons>,
    /// Bits per second of RTS, CTS and ACK; one of the PHY's rates. Where stations adapt rates, data frames are
    /// answered at the highest mandatory rate not above theirs.
    pub control_rate_bps: u64,
    /// Bits per second of broadcast frames; one of the PHY's rates.
    pub broadcast_rate_bps: u64,
    /// Power that every station transmits with, dBm, antenna gains included.
    pub tx_power_dbm: f64,
    /// How power falls with distance.
    pub path_loss: PathLoss,
    /// Least power at which a station senses the channel as busy, dBm. What is weaker than this and
    /// than `sensitivity_dbm` is not heard at all and disturbs nobody.
    pub carrier_sense_dbm: f64,
    /// Least power at which a frame can be received, dBm.
    pub sensitivity_dbm: f64,
    /// Noise figure of the receivers, dB, on top of thermal noise in the PHY's bandwidth at 290 K.
    /// Matters for [`FrameErrors::Snr`] only.
    pub noise_figure_db: f64,
    /// A frame survives others on the air if it is stronger than their sum by at least this, dB;
    /// with `None` every overlap destroys it. Neither matters over a [`PathLoss::Disc`], which
    /// knows no powers.
    pub capture_db: Option<f64>,
    /// When a frame that is strong enough for that is received in place of one that came before it.
    pub late_capture: LateCapture,
    /// Which frames are received in error although nothing overlaps them.
    pub errors: FrameErrors,
    /// Which data frames are preceded by RTS and CTS. DCF only, as the next two.
    pub rts: RtsThreshold,
    /// How often a frame is tried.
    pub retries: Retries,
    /// Whether a station waits for an EIFS instead of a DIFS after a frame that it could not
    /// receive, as the standard says. Bianchi's model knows no EIFS.
    pub eifs: bool,
    /// What IEEE 802.15.4 and 6LoWPAN say in place of DCF; there if the PHY is theirs, and only then.
    pub lowpan: Option<Lowpan>,
    /// Power that the radio of every station draws; `None` if energy does not matter.
    pub consumption: Option<Consumption>,
    /// Whose packet a station transmits next.
    pub scheduling: Scheduling,
    /// The stations.
    pub stations: Vec<StationConfig>,
    /// Between which stations packets may be routed.
    pub hops: Hops,
    /// Stations, by their index, that go off for ever, and when: as if their battery ran out.
    pub off: Vec<(usize, Time)>,
}

impl RadioConfig {
    /// A radio with the standard's defaults, its stations to be added: the PHY's highest rate for
    /// data, for control frames the highest mandatory rate not above it, the lowest mandatory rate
    /// for broadcasts; 16 dBm (0 dBm of 802.15.4); 40 dB (Friis at 2.4 GHz, 32 dB at 915 MHz) lost at 1 m and an
    /// exponent of 3; everything that can be sensed can be received; no RTS; no errors; packets
    /// routed between all stations in range.
    pub fn new(name: impl Into<String>, phy: Phy) -> RadioConfig {
        let fastest = phy.rates.iter().map(|r| r.bps).max().unwrap_or(0);
        let lowpan = phy.is_lowpan().then(Lowpan::default);
        RadioConfig {
            name: name.into(),
            phy,
            data_rate_bps: fastest,
            rate_adaptation: None,
            aggregation: None,
            beacons: None,
            control_rate_bps: phy.control_rate_for(fastest),
            broadcast_rate_bps: phy.lowest_mandatory(),
            tx_power_dbm: if lowpan.is_some() { 0.0 } else { 16.0 },
            path_loss: PathLoss::LogDistance {
                exponent: 3.0,
                reference_loss_db: phy.reference_loss_db(),
            },
            carrier_sense_dbm: phy.carrier_sense_dbm,
            sensitivity_dbm: phy.carrier_sense_dbm,
            noise_figure_db: 7.0,
            capture_db: None,
            late_capture: LateCapture::Always,
            errors: FrameErrors::None,
            rts: RtsThreshold::Never,
            retries: Retries::STANDARD,
            eifs: true,
            lowpan,
            consumption: None,
            scheduling: Scheduling::default(),
            stations: Vec::new(),
            hops: Hops::InRange,
            off: Vec::new(),
        }
    }
}

/// A node's station on a radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationConfig {
    /// The node. It may have links and stations on other radios too, and then routes between them.
    pub node: usize,
    /// Where it stands.
    pub position: Position,
    /// Most packets that it may hold for transmission, the one being tried included; room for one
    /// packet at least.
    pub queue: QueueLimit,
    /// What the battery of its radio holds, microjoules, `None` for the mains. Once it is empty the
    /// station is off for ever; its node's links and other stations are not.
    pub battery_uj: Option<u64>,
    /// How it sleeps; `None` if it is always ready to receive. Of 802.15.4 only, and of stations with one hop.
    pub sleep: Option<Polling>,
}

/// A place on a plane, in millimetres: integers, so that distances are the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// To the east, millimetres.
    pub x_mm: i64,
    /// To the north, millimetres.
    pub y_mm: i64,
}

impl Position {
    /// A place so many whole metres east and north of the origin.
    pub const fn metres(x: i64, y: i64) -> Position {
        Position { x_mm: 1000 * x, y_mm: 1000 * y }
    }

    /// Distance, metres.
    pub fn distance_m(self, other: Position) -> f64 {
        let (dx, dy) = ((self.x_mm - other.x_mm) as f64, (self.y_mm - other.y_mm) as f64);
        libm::sqrt(dx * dx + dy * dy) / 1000.0
    }
}

/// How power falls with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Free space at the PHY's frequency: `20·log10(4π·d/λ)` dB, never below 0.
    Friis,
    /// `reference_loss_db + 10·exponent·log10(d / 1 m)` dB; nearer than 1 m the loss at 1 m.
    LogDistance {
        /// Path-loss exponent; 2 is free space, 3 … 5 an office.
        exponent: f64,
        /// Loss at 1 m, dB.
        reference_loss_db: f64,
    },
    /// No powers: frames are received up to one distance and sensed up to another.
    Disc {
        /// Distance up to which frames are received, millimetres.
        receive_mm: u64,
        /// Distance up to which they are sensed and disturb others, millimetres; at least
        /// `receive_mm`.
        sense_mm: u64,
    },
}

/// Until when a receiver turns from the frame that it is receiving to a stronger one. The standard leaves capture to the
/// receiver; both kinds are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LateCapture {
    /// At any time: it goes on looking for preambles ("message in message").
    #[default]
    Always,
    /// While the preamble of the first lasts; afterwards the stronger one destroys it, and is lost too.
    Preamble,
}

impl LateCapture {
    /// Every choice with its name in scenarios.
    pub const ALL: [(&'static str, LateCapture); 2] =
        [("always", LateCapture::Always), ("preamble", LateCapture::Preamble)];
}

/// Which frames are received in error although nothing overlaps them. Frames of every kind are
/// concerned, also those that a station overhears; the bits are those from the MAC header to the
/// check sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameErrors {
    /// None.
    None,
    /// An error model at each receiver, the same for all: bit-error rate, Gilbert-Elliott, ...
    Model(LossModel),
    /// By the ratio of signal to noise at the receiver and the modulation's bit-error curve
    /// ([`crate::radio::phy::Modulation::bit_error_rate`]). Needs a path loss that knows powers.
    Snr,
}

/// Which data frames are preceded by RTS and CTS (dot11RTSThreshold).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtsThreshold {
    /// None.
    Never,
    /// All unicast frames.
    Always,
    /// Unicast frames longer than this, bytes of the whole MAC frame (IP packet + 36).
    Above(u32),
}

impl RtsThreshold {
    /// Whether a MAC frame of this many bytes is preceded by RTS and CTS.
    pub fn asks_for(self, mac_bytes: u32) -> bool {
        match self {
            RtsThreshold::Never => false,
            RtsThreshold::Always => true,
            RtsThreshold::Above(bytes) => mac_bytes > bytes,
        }
    }
}

/// How many failed attempts end a frame (IEEE 802.11-2016 section 10.3.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// For RTS, and for data frames not preceded by it (dot11ShortRetryLimit); at least 1.
    pub short: u32,
    /// For data frames preceded by RTS (dot11LongRetryLimit); at least 1.
    pub long: u32,
}

impl Retries {
    /// The standard's defaults.
    pub const STANDARD: Retries = Retries { short: 7, long: 4 };
}

/// Between which stations packets may be routed. Whoever hears whom is another matter: that follows
/// from positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hops {
    /// Between one station, by its index among the radio's, and each other: an access point.
    Star {
        /// The access point.
        centre: usize,
    },
    /// Between these, by their indices among the radio's stations, both ways.
    Pairs(Vec<[usize; 2]>),
    /// Between all that can receive each other.
    InRange,
    /// Between any two: packets find their way station by station, by AODV. Whether there is one
    /// shows in the course of the run.
    Aodv(Aodv),
}
