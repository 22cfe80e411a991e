//! Topologies of stations that forward each other's packets: `grid` and `chain`.

use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::radio::check::MAX_STATIONS;
use windlass_sim::radio::{Hops, PathLoss, Position};

use super::air::{Air, at_least, distance};
use super::cell::{Placed, add, free_name, position};
use crate::fields::{Field, Fields, name, whole_u32};
use crate::network::Network;
use crate::problem::Problem;
use crate::schema::section;
use crate::tree::Value;
use crate::units::Distance;
use crate::wifi::air::AIR;

section! {
    /// Rows of stations.
    GRID, "grid" with STATIONS:
    rows Whole(1, MAX_STATIONS as u64), "rows of a grid, 1 to 2000; there are 2 to 2000 stations in all", "required there";
    columns Whole(1, MAX_STATIONS as u64), "stations of each row, 1 to 2000", "required there";
}

section! {
    /// A row of stations.
    CHAIN, "chain" with STATIONS:
    stations Whole(2, MAX_STATIONS as u64), "stations of a chain, 2 to 2000", "required there";
}

section! {
    /// The keys that grids and chains share.
    STATIONS, "stations":
    spacing Of(Distance), "distance between neighbouring stations", "`\"150m\"`";
    range Of(Distance), "maximum distance at which frames are received", "1.2 times `spacing`: only the four nearest stations receive each other";
    sense Of(Distance), "maximum distance at which frames are sensed and disturb", "2.2 times `range`";
    base Either(vec![Text, list(Of(Distance))]), "base station without a battery: one of the stations, such as `n1`, an additional station `base` in the middle (`centre`) or at a place such as `[\"0m\", \"0m\"]`, or `none`", "`\"centre\"`, for a chain `\"none\"`";
    wireless Table(&AIR), "table: the keys of [`[[wifi]]`](#wifi) from `standard` on except `radius`; `queue` has the default `\"30pkt\"`, and `path_loss` replaces `range` and `sense`", "required";
}

/// Space for a hundred nodes on 1500 m by 1500 m.
const SPACING: Distance = Distance { mm: 150_000 };
/// Range over spacing, in tenths. It reaches the four nearest stations, but not the diagonal
/// neighbours (1.41).
const REACH_TENTHS: i64 = 12;
/// Carrier-sense range over range, in tenths: the ratio of the usual 550 m and 250 m.
const SENSE_TENTHS: i64 = 22;
/// Default queue limit of a station, packets.
const QUEUE: SimQueue = SimQueue::Packets(30);
/// The node that `base = "centre"` adds.
const BASE: &str = "base";

/// Position of the base station, which has mains power.
enum Base {
    /// No base station.
    None,
    /// One of the stations, counted from 1.
    Station(i64),
    /// An additional station in the middle.
    Centre,
    /// An additional station at this place.
    At(Position),
}

/// Reads a grid: stations `n1`, `n2` ... row by row from the south-west.
pub(in super::super) fn read_grid(fields: &Fields, network: &mut Network) -> Result<(), Problem> {
    let most = whole_u32(1, MAX_STATIONS as u32);
    let (rows, columns) = (fields.req("rows", "10", &most)?, fields.req("columns", "10", &most)?);
    build(fields, network, [rows, columns], Base::Centre)
}

/// Reads a chain: stations `n1`, `n2` ... from west to east.
pub(in super::super) fn read_chain(fields: &Fields, network: &mut Network) -> Result<(), Problem> {
    let stations = fields.req("stations", "5", whole_u32(2, MAX_STATIONS as u32))?;
    build(fields, network, [1, stations], Base::None)
}

fn build(
    fields: &Fields,
    network: &mut Network,
    [rows, columns]: [u32; 2],
    default: Base,
) -> Result<(), Problem> {
    let place = fields.place();
    let (rows, columns) = (i64::from(rows), i64::from(columns));
    let base = fields.or("base", |f| base(f, rows * columns), default)?;
    let n = rows * columns + i64::from(matches!(base, Base::Centre | Base::At(_)));
    if !(2..=MAX_STATIONS as i64).contains(&n) {
        let message =
            format!("{rows} by {columns} stations are {n}; there are 2 to {MAX_STATIONS}");
        return Err(Problem::new(place, message));
    }
    let Distance { mm: step } = fields.or("spacing", length, SPACING)?;
    let (mut air, has_reach) = air(fields, network)?;
    if !has_reach {
        let Distance { mm: range } =
            fields.or("range", length, Distance { mm: step * REACH_TENTHS / 10 })?;
        let widest = Distance { mm: range * SENSE_TENTHS / 10 };
        let Distance { mm: sense } = fields.or("sense", |f| at_least(f, range), widest)?;
        // Neither is negative.
        air.radio.path_loss = PathLoss::Disc { receive_mm: range as u64, sense_mm: sense as u64 };
    }
    let placed = |name: String, at| Placed { at: Some(at), ..Placed::new(name, place) };
    let mut stations = Vec::with_capacity(n as usize);
    for i in 0..rows * columns {
        let at = Position { x_mm: step * (i % columns), y_mm: step * (i / columns) };
        let on_mains = matches!(base, Base::Station(n) if n == i + 1);
        stations.push(Placed { on_mains, ..placed(format!("n{}", i + 1), at) });
    }
    let middle = Position { x_mm: step * (columns - 1) / 2, y_mm: step * (rows - 1) / 2 };
    let at = match base {
        Base::None | Base::Station(_) => None,
        Base::Centre => Some(middle),
        Base::At(at) => Some(at),
    };
    let extra = |at| Placed { on_mains: true, ..placed(BASE.to_owned(), at) };
    stations.extend(at.map(extra));
    add(network, air, None, stations, Hops::InRange, place)
}

/// The keys of `wireless`, and whether they set the range of the stations.
fn air(fields: &Fields, network: &Network) -> Result<(Air, bool), Problem> {
    let example = "{ standard = \"802.11b\", routing = \"aodv\" }";
    let node = fields.req("wireless", example, |field| Ok(field.node))?;
    let wireless = Fields::open(node, "`wireless`", AIR.names)?;
    if let Some(field) = wireless.field("radius") {
        return Err(field.error("the stations of a grid or chain have their places"));
    }
    let mut air = Air::read(&wireless, free_name(network))?;
    if wireless.field("queue").is_none() {
        air.queue = QUEUE;
    }
    let has_reach = wireless.field("path_loss").is_some();
    for key in ["range", "sense"] {
        if let Some(field) = fields.field(key).filter(|_| has_reach) {
            return Err(field.error("`path_loss` says already how far stations reach"));
        }
    }
    Ok((air, has_reach))
}

fn base(field: &Field, stations: i64) -> Result<Base, Problem> {
    if let Value::Array(_) = field.node.value {
        return position(field).map(Base::At);
    }
    match name(field)?.as_str() {
        "centre" => Ok(Base::Centre),
        "none" => Ok(Base::None),
        other => match other.strip_prefix('n').and_then(|n| n.parse::<i64>().ok()) {
            Some(n) if (1..=stations).contains(&n) => Ok(Base::Station(n)),
            _ => Err(field.error(format!(
                "must be `centre`, `none`, a place such as [\"0m\", \"0m\"], or a station from `n1` \
                 to `n{stations}`"
            ))),
        },
    }
}

fn length(field: &Field) -> Result<Distance, Problem> {
    match distance(field)? {
        Distance { mm: ..=0 } => Err(field.error("must be more than zero, for example `150m`")),
        length => Ok(length),
    }
}
