//! Configuration of a radio: its physical layer, its stations and their positions.

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

/// A radio channel and its stations. Two radios use different frequencies and never interfere.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// Name.
    pub name: String,
    /// Timing, frame format and rates.
    pub phy: Phy,
    /// Rate of unicast data frames in bit/s; one of the PHY's rates. With rate adaptation, the highest rate
    /// that stations try.
    pub data_rate_bps: u64,
    /// Adaptation of the rate of data frames; `None` if the rate is fixed.
    pub rate_adaptation: Option<Minstrel>,
    /// Aggregation of packets into frames; `None` if each frame carries one packet.
    pub aggregation: Option<Aggregation>,
    /// Beacons of the access point; `None` if it sends no beacons.
    pub beacons: Option<Beacons>,
    /// Rate of RTS, CTS and ACK in bit/s; one of the PHY's rates. With rate adaptation, a data frame is
    /// answered at the highest mandatory rate that is not above its own rate.
    pub control_rate_bps: u64,
    /// Rate of broadcast frames in bit/s; one of the PHY's rates.
    pub broadcast_rate_bps: u64,
    /// Transmit power of every station, dBm, antenna gains included.
    pub tx_power_dbm: f64,
    /// Decrease of power with distance.
    pub path_loss: PathLoss,
    /// Minimum power at which a station senses the channel as busy, dBm. A signal that is weaker than this
    /// and than `sensitivity_dbm` has no effect.
    pub carrier_sense_dbm: f64,
    /// Minimum power at which a frame can be received, dBm.
    pub sensitivity_dbm: f64,
    /// Noise figure of the receivers, dB, on top of thermal noise in the PHY's bandwidth at 290 K. Used only
    /// by [`FrameErrors::Snr`].
    pub noise_figure_db: f64,
    /// A frame survives an overlap if it is stronger than the sum of the other signals by at least this
    /// ratio, dB. With `None`, every overlap destroys the frame. Ignored with [`PathLoss::Disc`], which has
    /// no powers.
    pub capture_db: Option<f64>,
    /// Condition under which a receiver switches to a stronger frame that begins later.
    pub late_capture: LateCapture,
    /// Model of errors in frames that nothing overlaps.
    pub errors: FrameErrors,
    /// Data frames that are preceded by RTS and CTS. Only for DCF, like `retries` and `eifs`.
    pub rts: RtsThreshold,
    /// Maximum number of attempts of a frame.
    pub retries: Retries,
    /// True if a station waits for an EIFS instead of a DIFS after a frame with errors, as in the standard.
    /// Bianchi's model has no EIFS.
    pub eifs: bool,
    /// Parameters of IEEE 802.15.4 and 6LoWPAN, which replace those of DCF. `Some` if and only if the PHY is
    /// 802.15.4.
    pub lowpan: Option<Lowpan>,
    /// Power that the radio of every station draws; `None` if energy is not measured.
    pub consumption: Option<Consumption>,
    /// Rule that chooses the packet that a station transmits next.
    pub scheduling: Scheduling,
    /// The stations.
    pub stations: Vec<StationConfig>,
    /// Pairs of stations between which packets may be routed.
    pub hops: Hops,
    /// Stations (by index) that are switched off permanently, with the time. The effect is the same as an
    /// empty battery.
    pub off: Vec<(usize, Time)>,
}

impl RadioConfig {
    /// Returns a radio with the standard's defaults and without stations:
    ///
    /// * Rates: the PHY's highest rate for data, the highest mandatory rate not above it for control frames,
    ///   and the lowest mandatory rate for broadcasts.
    /// * Transmit power: 16 dBm (802.15.4: 0 dBm).
    /// * Path loss: Friis' loss at 1 m (40 dB at 2.4 GHz, 32 dB at 915 MHz) and an exponent of 3.
    /// * Each frame that can be sensed can be received, without errors. RTS is not used.
    /// * Packets are routed between all stations in range.
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
    /// The node. It may also have links and stations on other radios, and then routes between them.
    pub node: usize,
    /// Position.
    pub position: Position,
    /// Limit of the queue, which includes the packet in transmission; room for at least one packet.
    pub queue: QueueLimit,
    /// Energy in the battery of its radio, microjoules; `None` if the radio has mains power. Once the battery
    /// is empty, the station stays off. The node's links and other stations continue.
    pub battery_uj: Option<u64>,
    /// Sleep schedule; `None` if the station can always receive. Only for stations of 802.15.4 with a single
    /// hop.
    pub sleep: Option<Polling>,
}

/// A position on a plane, in millimetres. Integers make distances equal on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// To the east, millimetres.
    pub x_mm: i64,
    /// To the north, millimetres.
    pub y_mm: i64,
}

impl Position {
    /// Returns the position `x` metres east and `y` metres north of the origin.
    pub const fn metres(x: i64, y: i64) -> Position {
        Position { x_mm: 1000 * x, y_mm: 1000 * y }
    }

    /// Distance, metres.
    pub fn distance_m(self, other: Position) -> f64 {
        let (dx, dy) = ((self.x_mm - other.x_mm) as f64, (self.y_mm - other.y_mm) as f64);
        libm::sqrt(dx * dx + dy * dy) / 1000.0
    }
}

/// Decrease of power with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Free space at the PHY's frequency: `20·log10(4π·d/λ)` dB, never below 0.
    Friis,
    /// `reference_loss_db + 10·exponent·log10(d / 1 m)` dB; below 1 m, the loss at 1 m.
    LogDistance {
        /// Path-loss exponent; 2 is free space, 3 to 5 an office.
        exponent: f64,
        /// Loss at 1 m, dB.
        reference_loss_db: f64,
    },
    /// No powers: frames are received up to one distance and sensed up to another.
    Disc {
        /// Distance up to which frames are received, millimetres.
        receive_mm: u64,
        /// Distance up to which frames are sensed and interfere with others, millimetres; at least
        /// `receive_mm`.
        sense_mm: u64,
    },
}

/// Time until which a receiver switches from the present frame to a stronger one. The standard leaves capture
/// to the receiver; both kinds are implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LateCapture {
    /// At any time: the receiver always looks for preambles ("message in message").
    #[default]
    Always,
    /// Only during the preamble of the first frame. A later stronger frame destroys the first frame, and is
    /// lost too.
    Preamble,
}

impl LateCapture {
    /// Every choice with its name in scenarios.
    pub const ALL: [(&'static str, LateCapture); 2] =
        [("always", LateCapture::Always), ("preamble", LateCapture::Preamble)];
}

/// Errors of frames that nothing overlaps. The model applies to all types of frames, overheard frames
/// included. The bits are the bits from the MAC header to the check sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameErrors {
    /// No errors.
    None,
    /// An error model with the same parameters at each receiver: bit-error rate, Gilbert-Elliott, ...
    Model(LossModel),
    /// Errors from the signal-to-noise ratio at the receiver and the modulation's bit-error curve
    /// ([`crate::radio::phy::Modulation::bit_error_rate`]). Needs a path loss with powers.
    Snr,
}

/// Data frames that are preceded by RTS and CTS (dot11RTSThreshold).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtsThreshold {
    /// No frames.
    Never,
    /// All unicast frames.
    Always,
    /// Unicast frames longer than this, bytes of the whole MAC frame (IP packet + 36).
    Above(u32),
}

impl RtsThreshold {
    /// True if a MAC frame of this size is preceded by RTS and CTS.
    pub fn asks_for(self, mac_bytes: u32) -> bool {
        match self {
            RtsThreshold::Never => false,
            RtsThreshold::Always => true,
            RtsThreshold::Above(bytes) => mac_bytes > bytes,
        }
    }
}

/// Number of failed attempts after which a frame is given up (IEEE 802.11-2016 section 10.3.4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Limit for RTS, and for data frames without RTS (dot11ShortRetryLimit); at least 1.
    pub short: u32,
    /// Limit for data frames preceded by RTS (dot11LongRetryLimit); at least 1.
    pub long: u32,
}

impl Retries {
    /// The standard's defaults.
    pub const STANDARD: Retries = Retries { short: 7, long: 4 };
}

/// Pairs of stations between which packets may be routed. The positions, not the hops, determine which
/// stations receive each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hops {
    /// Between one station (an access point) and each other station.
    Star {
        /// Index of the access point.
        centre: usize,
    },
    /// Between these pairs of stations (by index), in both directions.
    Pairs(Vec<[usize; 2]>),
    /// Between all stations that can receive each other.
    InRange,
    /// Between any two stations: AODV finds a route over other stations. During the run, a route may or may
    /// not be found.
    Aodv(Aodv),
}
