//! Reads the air of a cell: rates, powers, queues and retries.

use windlass_cc::Time;
use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::radio::check::{EXPONENTS, MAX_DECIBELS, MAX_MM, MAX_RETRIES};
use windlass_sim::radio::{
    Consumption, FrameErrors, LateCapture, PathLoss, Phy, RadioConfig, RtsThreshold,
};

use super::lowpan::{self, LOWPAN};
use super::routing::{Routing, off, routing};
use super::scheduling;
use super::sleep::{self, CELL_SLEEP, CellSleep};
use super::used::{self, *};
use crate::codec::{Codec, table};
use crate::fields::{Field, Fields, choice, quantity, queue as limit, rate, size_u32, whole_u32};
use crate::loss::{self, FRAME_LOSS};
use crate::problem::{Place, Problem};
use crate::quote::{inline, quote};
use crate::schema::{Kinds, Quantity, Shape, shape};
use crate::tree::Value;
use crate::units::{Bytes, Decibels, Distance, Joules, Power, QueueLimit};
use crate::wifi::routing::ROUTING;

// The keys for the air of a cell, which `[[wifi]]` and the `wireless` table of a topology share.
table!(AIR, "air", apply_air, written_air, RadioConfig {
    standard [words(&Phy::ALL)], "`802.11b` (long preamble), `802.11b-short`, `802.11g` (no older stations near), `802.11n` (20 MHz, one stream), `802.11ah-1mhz`, `802.11ah-2mhz`, or `802.15.4` with 6LoWPAN", "required";
    rate [Of(Rate)], "rate of data frames, one of the standard's; with `rate_adaptation` the highest that stations try", "the highest";
    rate_adaptation: Codec::settings("minstrel", &MINSTREL, apply_minstrel, written_minstrel), "choice of the rate of data frames: `none`, `minstrel`, or a table: [`rate_adaptation`](#rate_adaptation-aggregation-and-beacons)", "`\"none\"`: always `rate`";
    aggregation: Codec::settings("a-mpdu", &AGGREGATION, apply_aggregation, written_aggregation), "for `802.11n`: several packets per frame with a block acknowledgement: `none`, `a-mpdu`, or a table of limits", "`\"none\"`";
    beacons: Codec::settings("usual", &BEACONS, apply_beacons, written_beacons), "beacons of the access point: `none`, `usual`, or a table", "`\"none\"`";
    control_rate [Of(Rate)], "rate of RTS, CTS and acknowledgements, one of the standard's", "the highest mandatory rate not above `rate`";
    broadcast_rate [Of(Rate)], "rate of broadcasts, one of the standard's", "the lowest mandatory rate";
    radius [Of(Distance)], "radius of the circle about the access point, or the origin, for stations without a place; they have equal angles", "`\"10m\"`";
    queue [Of(Queue)], "capacity of a station in packets or bytes, **including the packet in transmission**; not in `bdp`", "`\"100pkt\"`";
    mtu [Of(Size)], "largest IP packet, `68B` to `2296B`, for `802.15.4` to `2027B`", "`\"1500B\"`, for `802.15.4` `\"1260B\"`: the minimum MTU of IPv6, less the 20 B by which its header is longer";
    lowpan [Table(&LOWPAN)], "table, for `802.15.4` only: [`lowpan`](#lowpan)", "the standard's defaults";
    rts: rts(), "frames for which RTS and CTS reserve the channel: `never`, `always`, or frames larger than a size (IP packet and 36 B, for `802.11n` 38 B, or an aggregate)", "`\"never\"`";
    short_retry_limit [Whole(1, 255)], "attempts of an RTS, or of a data frame without one, 1 to 255", "`7`";
    long_retry_limit [Whole(1, 255)], "attempts of a data frame after RTS and CTS, 1 to 255", "`4`";
    tx_power_dbm as power: dbm(), "transmit power of the stations, including antenna gains", "`\"16dBm\"`, for `802.15.4` `\"0dBm\"`";
    path_loss [Kinds(&PATH_LOSS)], "table: reduction of power with distance", "`{ model = \"log-distance\" }`";
    carrier_sense_dbm as carrier_sense: dbm(), "minimum power at which the channel is busy", "the standard's requirement: `-82dBm`, `-98dBm` for `802.11ah-1mhz`, `-92dBm` for `802.11ah-2mhz`, `-85dBm` for `802.15.4`";
    sensitivity_dbm as sensitivity: dbm(), "minimum power at which a frame is received", "as `carrier_sense`";
    noise_figure_db as noise_figure: ratio(decibels), "noise of the receivers above thermal noise, for `loss = { model = \"snr\" }`", "`\"7dB\"`";
    capture_db as capture: ratio(advantage).or_word("none"), "ratio by which a frame must exceed the sum of overlapping frames to survive; `none`: no frame survives", "`\"none\"`";
    late_capture: Codec::word(&LateCapture::ALL).unless(LateCapture::default()), "with `capture`: time at which a receiver may change to a stronger frame: `always`, or only during the `preamble` of the first frame", "`\"always\"`";
    errors as loss: errors().unless(FrameErrors::None), "errors of received frames: `{ model = \"snr\" }` by modulation and signal-to-noise ratio, or a model of [`loss`](#loss) without `direction`, applied to each frame at each receiver", "none";
    eifs: Codec::flag(), "wait for an extended interframe space after a frame in error, as in the standard", "`true`";
    routing [Either(vec![Words(vec!["static", "aodv"]), Kinds(&ROUTING)])], "routes in an ad-hoc cell: `static` (the fewest of its `hops`), `aodv`, or a table: [`routing`](#routing)", "`\"static\"`";
    sleep [Table(&CELL_SLEEP)], "table, for `802.15.4` only: stations that sleep between requests: [`sleep`](#sleep)", "all stations are always ready to receive";
    off [list(list(Text))], "stations that go off permanently, and the times: `[[\"n5\", \"20s\"]]`; as with an empty battery", "none";
    consumption: consumption().opt(), "power that the radio of each station uses: a preset, `wavelan-11mbps`, `wavelan-2mbps`, `esp32-c3` or `cc2420`, or a table of powers", "energy is not counted";
    battery [Of(Energy)], "energy in the battery of each station except the access point, such as `20J` or `2.6Wh`", "no batteries";
    scheduling: scheduling::codec(), "choice of the next packet of a station: `fifo`, `pf`, `fpf`, or a table", "`\"fifo\"`";
} ..);

table!(CONSUMPTION, "consumption", read_consumption, written_consumption, builds Consumption {
    transmit_uw as transmit: Codec::watts().req("\"1350mW\""), "power drawn while it transmits, such as `1350mW`", "required";
    receive_uw as receive: Codec::watts().req("\"900mW\""), "power drawn while it receives", "required";
    listen_uw as listen: Codec::watts().later(), "power drawn while the channel is busy with anything else", "`receive`";
    idle_uw as idle: Codec::watts().req("\"740mW\""), "power drawn while nothing is on the air", "required";
    sleep_uw as sleep: Codec::watts().or(0).unless(0), "power drawn while it sleeps", "`\"0mW\"`";
});

table!(LOG_DISTANCE, "log-distance", read_log_distance, written_log_distance, builds PathLoss::LogDistance {
    exponent: Codec::number(EXPONENTS[0], EXPONENTS[1]).or(3.0), "path-loss exponent, 0.1 to 20", "`3`";
    reference_loss_db as reference: ratio(loss_db).later(), "loss at 1 m", "loss of free space: 40.2 dB at 2.437 GHz, 31.7 dB at 915 MHz";
});

table!(DISC, "disc", read_disc, written_disc, builds PathLoss::Disc {
    receive_mm as receive: reach().req("\"250m\""), "maximum distance at which frames are received", "required";
    sense_mm as sense: reach().later(), "maximum distance at which frames are sensed", "`receive`";
});

/// Decrease of power with distance.
pub(crate) static PATH_LOSS: Kinds = Kinds {
    name: "path_loss",
    tag: "model",
    usual: Some("log-distance"),
    kinds: &[("log-distance", &[&LOG_DISTANCE]), ("friis", &[]), ("disc", &[&DISC])],
};

/// Range of the largest IP packet of a cell. The minimum is IPv4's minimum MTU. The maximum is the
/// 2304 bytes of a frame (IEEE 802.11-2016 section 9.2.4.7.1) without the 8 bytes of its LLC header.
const MTU_RANGE: (u32, u32) = (68, 2_296);
const DEFAULT_MTU: u32 = 1_500;
/// Keys of the distributed coordination function only.
pub(super) const DCF_KEYS: [&str; 7] = [
    "rts",
    "short_retry_limit",
    "long_retry_limit",
    "eifs",
    "rate_adaptation",
    "aggregation",
    "beacons",
];
const DEFAULT_QUEUE: SimQueue = SimQueue::Packets(100);
const DEFAULT_RADIUS_MM: i64 = 10_000;

/// The air of a cell, without its stations.
pub(super) struct Air {
    pub(super) radio: RadioConfig,
    /// Default queue limit of a station.
    pub(super) queue: SimQueue,
    /// Radius of the circle for stations without a place.
    pub(super) radius_mm: i64,
    pub(super) mtu: u32,
    /// The routing protocol, if the cell has one.
    pub(super) routing: Option<Routing>,
    /// Stations that are switched off, and when.
    pub(super) off: Vec<(String, Place, Time)>,
    /// Default capacity of a station's battery, microjoules. Access points have mains power.
    pub(super) battery_uj: Option<u64>,
    /// Sleep of the stations.
    pub(super) sleep: Option<CellSleep>,
}

impl Air {
    /// Reads the keys of [`AIR`](crate::schema::AIR).
    pub(super) fn read(fields: &Fields, name: String) -> Result<Air, Problem> {
        let phy = fields.req("standard", "\"802.11g\"", choice(&Phy::ALL))?;
        refuse_others(fields, &phy)?;
        let (mtu_range, mtu) = lowpan::mtu(&phy).unwrap_or((MTU_RANGE, DEFAULT_MTU));
        let mut air = Air {
            radio: RadioConfig::new(name, phy),
            queue: DEFAULT_QUEUE,
            radius_mm: fields.or("radius", radius, DEFAULT_RADIUS_MM)?,
            mtu: fields.or("mtu", size_u32(mtu_range.0, mtu_range.1), mtu)?,
            routing: fields.opt("routing", routing)?.flatten(),
            off: fields.or("off", off, Vec::new())?,
            battery_uj: None,
            sleep: fields.opt("sleep", sleep::read_cell)?,
        };
        air.queue = fields.or("queue", |field| air.queue(field), DEFAULT_QUEUE)?;
        let radio = &mut air.radio;
        let one_of = |field: &Field| rate_of(field, &phy);
        radio.data_rate_bps = fields.or("rate", one_of, radio.data_rate_bps)?;
        let answer = phy.control_rate_for(radio.data_rate_bps);
        radio.control_rate_bps = fields.or("control_rate", one_of, answer)?;
        radio.broadcast_rate_bps = fields.or("broadcast_rate", one_of, radio.broadcast_rate_bps)?;
        let attempts = whole_u32(1, MAX_RETRIES);
        radio.retries.short = fields.or("short_retry_limit", &attempts, radio.retries.short)?;
        radio.retries.long = fields.or("long_retry_limit", &attempts, radio.retries.long)?;
        radio.lowpan = match &radio.lowpan {
            None => None,
            Some(usual) => Some(fields.or("lowpan", lowpan::read, *usual)?),
        };
        apply_air(radio, fields)?;
        used::check(fields, radio)?;
        radio.path_loss = fields.or("path_loss", |f| path_loss(f, &phy), radio.path_loss)?;
        if let (FrameErrors::Snr, PathLoss::Disc { .. }, Some(field)) =
            (&radio.errors, radio.path_loss, fields.field("loss"))
        {
            return Err(field.error(
                "`snr` needs powers, and the `path_loss` model `disc` knows none; use `log-distance` \
                 or `friis`",
            ));
        }
        air.battery_uj = fields.opt("battery", |field| air.battery(field))?;
        Ok(air)
    }

    /// Reads the capacity of a battery, microjoules.
    pub(super) fn battery(&self, field: &Field) -> Result<u64, Problem> {
        let Joules { uj } = quantity(field)?;
        if uj == 0 {
            return Err(field.error("must hold something, for example `20J`"));
        }
        match self.radio.consumption {
            Some(_) => Ok(uj),
            None => Err(field.error(
                "how long it lasts depends on what the radio draws; set it in the cell, for example \
                 `consumption = \"esp32-c3\"`",
            )),
        }
    }

    /// Reads the queue limit of a station. A share of a bandwidth-delay product is an error, because
    /// stations share the rate.
    pub(super) fn queue(&self, field: &Field) -> Result<SimQueue, Problem> {
        match limit(field)? {
            QueueLimit::Packets(0) | QueueLimit::Bytes(0) => {
                Err(field.error("must have room for the packet that is being sent: `1pkt` or more"))
            }
            QueueLimit::Packets(n) => Ok(SimQueue::Packets(n)),
            QueueLimit::Bytes(n) => Ok(SimQueue::Bytes(n)),
            QueueLimit::Unlimited => Ok(SimQueue::Unlimited),
            QueueLimit::BdpMillionths(_) => Err(field.error(
                "stations share the air, so that none has a bandwidth-delay product; write packets \
                 or bytes such as `100pkt` or `64KiB`",
            )),
        }
    }
}

/// Refuses keys that belong to the other kind of standard.
fn refuse_others(fields: &Fields, phy: &Phy) -> Result<(), Problem> {
    let name = phy.name;
    let (others, why) = match phy.is_lowpan() {
        true => (&DCF_KEYS[..], "it is 802.11's; `lowpan` has the keys of 802.15.4"),
        false => (&["lowpan", "sleep"][..], "it is for `standard = \"802.15.4\"`"),
    };
    match others.iter().find_map(|key| fields.field(key)) {
        Some(field) => Err(field.error(format!("{name} has no `{}`: {why}", field.key))),
        None => Ok(()),
    }
}

/// A preset, or a table of powers.
fn consumption() -> Codec<Consumption> {
    let read = |field: &Field| {
        if let Value::Text(_) = &field.node.value {
            return choice(&Consumption::ALL)(field);
        }
        let fields = Fields::open(field.node, "`consumption`", CONSUMPTION.names)?;
        let mut consumption = read_consumption(&fields)?;
        if fields.field("listen").is_none() {
            consumption.listen_uw = consumption.receive_uw;
        }
        Ok(consumption)
    };
    let write = |consumption: &Consumption| match Consumption::ALL
        .iter()
        .find(|(_, known)| known == consumption)
    {
        Some((name, _)) => quote(name),
        None => inline(&written_consumption(consumption)),
    };
    Codec::new(shape!(Either(vec![words(&Consumption::ALL), Table(&CONSUMPTION)])), read, write)
}

/// A distance within the range of the simulator.
pub(super) fn distance(field: &Field) -> Result<Distance, Problem> {
    let distance: Distance = quantity(field)?;
    if distance.mm.abs() <= MAX_MM {
        return Ok(distance);
    }
    Err(field.error(format!("{distance} is farther than `1000km`")))
}

/// The distance at which frames are sensed, if they are received in this range.
pub(super) fn at_least(field: &Field, range: i64) -> Result<Distance, Problem> {
    match distance(field)? {
        Distance { mm } if mm < range => {
            let least = Distance { mm: range };
            Err(field.error(format!("what is received is sensed too: at least `{least}`")))
        }
        sense => Ok(sense),
    }
}

fn radius(field: &Field) -> Result<i64, Problem> {
    match distance(field)?.mm {
        ..0 => Err(field.error("a radius is not negative, for example `10m`")),
        mm => Ok(mm),
    }
}

/// One of the standard's rates.
fn rate_of(field: &Field, phy: &Phy) -> Result<u64, Problem> {
    let bps = rate(field)?;
    if phy.rate(bps).is_some() {
        return Ok(bps);
    }
    let known: Vec<String> = phy.rates.iter().map(|r| megabits(r.bps)).collect();
    let (standard, rate, known) = (phy.name, megabits(bps), known.join(", "));
    Err(field.error(format!("{standard} has no rate of {rate}; its rates are {known}")))
}

/// A rate in the notation of the standards: `5.5Mbps`.
pub(super) fn megabits(bps: u64) -> String {
    format!("{}Mbps", bps as f64 / 1e6)
}

fn rts() -> Codec<RtsThreshold> {
    let read = |field: &Field| match &field.node.value {
        Value::Text(text) if text.eq_ignore_ascii_case("never") => Ok(RtsThreshold::Never),
        Value::Text(text) if text.eq_ignore_ascii_case("always") => Ok(RtsThreshold::Always),
        Value::Text(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
            size_u32(0, u32::MAX)(field).map(RtsThreshold::Above)
        }
        _ => Err(field.error(
            "must be `never`, `always`, or the size of a frame above which it is used, such as \
             `500B`",
        )),
    };
    let write = |rts: &RtsThreshold| match *rts {
        RtsThreshold::Never => quote("never"),
        RtsThreshold::Always => quote("always"),
        RtsThreshold::Above(bytes) => quote(Bytes(bytes.into())),
    };
    Codec::new(shape!(Either(vec![Words(vec!["never", "always"]), Of(Size)])), read, write)
}

fn dbm() -> Codec<f64> {
    let read = |field: &Field| quantity(field).and_then(|Power { dbm }| within(field, dbm, "dBm"));
    Codec::new(Shape::Of(Quantity::Power), read, |dbm| quote(Power { dbm: *dbm }))
}

/// A number of decibels. `read` parses it.
fn ratio(read: fn(&Field) -> Result<f64, Problem>) -> Codec<f64> {
    Codec::new(Shape::Of(Quantity::Decibels), read, |db| quote(Decibels(*db)))
}

fn decibels(field: &Field) -> Result<f64, Problem> {
    let Decibels(db) = quantity(field)?;
    within(field, db, "dB")
}

fn within(field: &Field, value: f64, unit: &str) -> Result<f64, Problem> {
    if value.abs() <= MAX_DECIBELS {
        return Ok(value);
    }
    let most = MAX_DECIBELS;
    Err(field.error(format!("{value}{unit} is outside the range from -{most} to {most}{unit}")))
}

/// A ratio that is not negative.
fn advantage(field: &Field) -> Result<f64, Problem> {
    match decibels(field)? {
        ..0.0 => Err(field.error("must not be negative: a weaker frame never survives")),
        db => Ok(db),
    }
}

fn path_loss(field: &Field, phy: &Phy) -> Result<PathLoss, Problem> {
    let fields = Fields::any(field.node, "`path_loss`")?;
    let mut path_loss = match fields.kind(&PATH_LOSS, "\"log-distance\"")? {
        "log-distance" => read_log_distance(&fields)?,
        "friis" => PathLoss::Friis,
        "disc" => read_disc(&fields)?,
        fall => unreachable!("`{fall}` is declared and not read"),
    };
    match (&mut path_loss, fields.field("reference"), fields.field("sense")) {
        (PathLoss::LogDistance { reference_loss_db, .. }, None, _) => {
            *reference_loss_db = phy.reference_loss_db()
        }
        (PathLoss::Disc { receive_mm, sense_mm }, _, None) => *sense_mm = *receive_mm,
        (PathLoss::Disc { receive_mm, .. }, _, Some(field)) => {
            at_least(&field, *receive_mm as i64)?;
        }
        _ => {}
    }
    Ok(path_loss)
}

/// As TOML text.
pub(super) fn written_path_loss(path_loss: &PathLoss) -> String {
    let (model, mut pairs) = match path_loss {
        PathLoss::LogDistance { .. } => ("log-distance", written_log_distance(path_loss)),
        PathLoss::Friis => ("friis", Vec::new()),
        PathLoss::Disc { .. } => ("disc", written_disc(path_loss)),
    };
    pairs.insert(0, ("model", quote(model)));
    inline(&pairs)
}

/// A distance within the range of the simulator, so that the casts are exact.
fn reach() -> Codec<u64> {
    let write = |mm: &u64| quote(Distance { mm: *mm as i64 });
    Codec::new(Shape::Of(Quantity::Distance), |field| radius(field).map(|mm| mm as u64), write)
}

fn loss_db(field: &Field) -> Result<f64, Problem> {
    match decibels(field)? {
        ..0.0 => Err(field.error("a loss is not negative, for example `40dB`")),
        db => Ok(db),
    }
}

/// An error model of frames: a model of links, or `snr`.
fn errors() -> Codec<FrameErrors> {
    let read = |field: &Field| {
        let fields = Fields::any(field.node, "`loss`")?;
        match fields.kind(&FRAME_LOSS, "\"drop\"")? {
            "snr" => Ok(FrameErrors::Snr),
            kind => loss::model(kind, &fields).map(FrameErrors::Model),
        }
    };
    let write = |errors: &FrameErrors| match errors {
        FrameErrors::None => String::new(),
        FrameErrors::Model(model) => inline(&loss::written(model)),
        FrameErrors::Snr => inline(&[("model", quote("snr"))]),
    };
    Codec::new(Shape::Kinds(&FRAME_LOSS), read, write)
}
