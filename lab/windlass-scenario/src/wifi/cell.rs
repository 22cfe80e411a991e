//! Reads Wi-Fi cells: an access point and its stations, or an ad-hoc network.

use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::radio::check::MAX_STATIONS;
use windlass_sim::radio::{Hops, PathLoss, Position, RadioConfig, StationConfig};
use windlass_sim::routing::aodv::Aodv;

use super::air::{Air, distance};
use super::sleep::{self, Asleep, SLEEP};
use crate::fields::{Field, Fields, choice, name, whole_u32};
use crate::model::WifiSpec;
use crate::network::Network;
use crate::problem::{Place, Problem, no_station};
use crate::schema::{Shape, section, shape};
use crate::tree::{Node, Value};
use crate::units::Distance;
use crate::wifi::air::AIR;

/// A station: the name of its node, or a table.
fn station_form() -> Shape {
    shape!(Either(vec![Name, Table(&STATION)]))
}

section! {
    /// `[[wifi]]`, except the air.
    CELL, "wifi" with AIR:
    name Name, "unique name", "`wifi`, then `wifi-2` ...";
    mode words(&MODES), "`infrastructure`: all packets go to or from the access point; `ad-hoc`: between stations", "`\"infrastructure\"`";
    access_point station_form(), "a station, in a cell with `infrastructure` only", "required there";
    stations Either(vec![Text, list(station_form())]), "array of the other stations, at least one; or a pattern such as `\"s*\"`, in which `*` means 1, 2, ... up to `count`", "required";
    count Whole(1, MAX_STATIONS as u64), "number of stations of a pattern", "required with a pattern";
    hops Either(vec![Words(vec!["in-range"]), list(list(Name))]), "pairs of stations of an ad-hoc cell that may be a hop of a route: `in-range` for all pairs that receive each other, or pairs such as `[[\"a\", \"b\"], [\"b\", \"c\"]]`", "`\"in-range\"`";
}

section! {
    /// A station as a table.
    STATION, "station":
    node Name, "name of the node", "required";
    at list(Of(Distance)), "place: two coordinates, east and north", "the access point at `[\"0m\", \"0m\"]`, others on the circle";
    queue Of(Queue), "queue of this station, as for a cell", "the cell's";
    sleep Table(&SLEEP), "sleep of this station, as for a cell", "the cell's";
    battery Of(Energy), "battery of this station, as for a cell; also for an access point", "the cell's";
}

/// The modes of a cell: true with an access point.
const MODES: [(&str, bool); 2] = [("infrastructure", true), ("ad-hoc", false)];

/// A station of the file.
pub(super) struct Placed {
    pub(super) name: String,
    pub(super) at: Option<Position>,
    pub(super) queue: Option<SimQueue>,
    pub(super) battery_uj: Option<u64>,
    pub(super) sleep: Option<Asleep>,
    /// True if the station has mains power, so that the cell's battery and sleep do not apply.
    pub(super) on_mains: bool,
    pub(super) place: Place,
}

impl Placed {
    /// A station with the cell's defaults.
    pub(super) fn new(name: String, place: &Place) -> Placed {
        Placed {
            name,
            at: None,
            queue: None,
            battery_uj: None,
            sleep: None,
            on_mains: false,
            place: place.clone(),
        }
    }
}

/// Reads a `[[wifi]]` and adds it to the network.
pub(crate) fn read(node: &Node, network: &mut Network) -> Result<(), Problem> {
    let fields = Fields::open(node, "`[[wifi]]`", &CELL.all_names())?;
    let (name, place) = match fields.field("name") {
        Some(field) => (name(&field)?, field.node.place.clone()),
        None => (free_name(network), fields.place().clone()),
    };
    if network.wifi.iter().any(|cell| cell.radio.name == name) {
        let message = format!("there is already a Wi-Fi cell `{name}`; their names are unique");
        return Err(Problem::new(&place, message));
    }
    let air = Air::read(&fields, name)?;
    let with_access_point = fields.or("mode", choice(&MODES), true)?;
    match (with_access_point, fields.field("hops"), fields.field("access_point")) {
        (true, Some(field), _) => {
            let message = "stations talk to their access point only; `hops` is for `ad-hoc`";
            return Err(field.error(message));
        }
        (false, _, Some(field)) => {
            return Err(field.error("a cell with `mode = \"ad-hoc\"` has no access point"));
        }
        _ => {}
    }
    let access_point = match with_access_point {
        true => Some(fields.req("access_point", "\"r1\"", |field| station(field, &air))?),
        false => None,
    };
    let count = fields.opt("count", whole_u32(1, MAX_STATIONS as u32))?;
    let stations = fields.req("stations", "[\"s1\", \"s2\"]", |f| stations(f, count, &air))?;
    let hops = fields.or("hops", |field| hops(field, &stations), Hops::InRange)?;
    add(network, air, access_point, stations, hops, fields.place_of("hops"))
}

/// Reads the air between a dumbbell's senders and an access point.
pub(crate) fn read_senders(
    fields: &Fields,
    network: &mut Network,
    access_point: &str,
    senders: impl Iterator<Item = String>,
) -> Result<(), Problem> {
    let air = Air::read(fields, free_name(network))?;
    let placed = |name| Placed::new(name, fields.place());
    let senders = senders.map(placed).collect();
    let centre = placed(access_point.to_owned());
    add(network, air, Some(centre), senders, Hops::InRange, fields.place())
}

/// The first free name: `wifi`, `wifi-2`, ...
pub(super) fn free_name(network: &Network) -> String {
    let taken = |name: &String| network.wifi.iter().any(|cell| cell.radio.name == *name);
    let numbered = (2..).map(|n| format!("wifi-{n}"));
    let mut names = std::iter::once("wifi".to_owned()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// Gives the stations their places, and adds the cell to the network.
pub(super) fn add(
    network: &mut Network,
    air: Air,
    access_point: Option<Placed>,
    stations: Vec<Placed>,
    hops: Hops,
    place: &Place,
) -> Result<(), Problem> {
    let Air { mut radio, queue, radius_mm, mtu, routing, off, battery_uj, sleep } = air;
    let centre = access_point.as_ref().and_then(|ap| ap.at).unwrap_or_default();
    let (circle, has_centre) = (stations.len(), access_point.is_some());
    let positions = (0..circle).map(|i| on_circle(centre, radius_mm, i, circle));
    let access_point = access_point.map(|ap| Placed { on_mains: true, ..ap });
    let all = access_point.into_iter().zip([centre]).chain(stations.into_iter().zip(positions));
    let (mut places, mut sleepers) = (Vec::with_capacity(circle + 1), Vec::new());
    for (station, default) in all {
        let node = network.intern(&station.name);
        if radio.stations.iter().any(|other| other.node == node) {
            let message =
                format!("`{}` occurs twice; a node has one station in a cell", station.name);
            return Err(Problem::new(&station.place, message));
        }
        let asleep =
            station.sleep.clone().or_else(|| sleep.as_ref()?.of(&station.name, station.on_mains));
        let polling = asleep.as_ref().map(|(polling, _)| *polling);
        sleepers.extend(asleep.map(|(_, place)| (radio.stations.len(), place)));
        radio.stations.push(StationConfig {
            node,
            position: station.at.unwrap_or(default),
            queue: station.queue.unwrap_or(queue),
            battery_uj: station.battery_uj.or(battery_uj.filter(|_| !station.on_mains)),
            sleep: polling,
        });
        places.push(station.place);
    }
    radio.hops = if has_centre { Hops::Star { centre: 0 } } else { hops };
    if let Some(routing) = routing {
        let refuse = |message: &str| Err(Problem::new(&routing.place, message));
        match radio.hops {
            Hops::InRange => {}
            Hops::Star { .. } => {
                return refuse(
                    "`routing`: stations talk to their access point only; `aodv` is for `ad-hoc`",
                );
            }
            _ => return refuse("`routing`: `aodv` finds its own hops; leave out `hops`"),
        }
        radio.hops = Hops::Aodv(Aodv { params: routing.params, disjoint: Vec::new() });
        let cell = network.wifi.len();
        network.disjoint.extend(routing.disjoint.into_iter().map(|pair| (cell, pair)));
    }
    super::routing::find_off(&mut radio, &network.nodes, off)?;
    if let Some(sleep) = sleep {
        let known: Vec<&str> =
            radio.stations.iter().map(|s| network.nodes[s.node].as_str()).collect();
        sleep.check(&known)?;
    }
    sleep::check(&radio, &network.nodes, &sleepers)?;
    check(&radio, &network.nodes, &places, place)?;
    network.sleepers.extend(sleepers.into_iter().map(|(s, place)| (radio.stations[s].node, place)));
    network.wifi.push(WifiSpec { radio, mtu });
    Ok(())
}

/// The place of number `i` of `n` on a circle, to the millimetre. The first place is in the east.
fn on_circle(centre: Position, radius_mm: i64, i: usize, n: usize) -> Position {
    let angle = std::f64::consts::TAU * i as f64 / n as f64;
    let along = |part: f64| libm::round(radius_mm as f64 * part) as i64;
    Position {
        x_mm: centre.x_mm + along(libm::cos(angle)),
        y_mm: centre.y_mm + along(libm::sin(angle)),
    }
}

/// Runs the simulator's check of the cell. An error is placed at the faulty station, if one station
/// is faulty.
fn check(
    radio: &RadioConfig,
    nodes: &[String],
    places: &[Place],
    place: &Place,
) -> Result<(), Problem> {
    let Err(message) = radio.check(nodes) else { return Ok(()) };
    let Hops::Star { centre } = radio.hops else { return Err(Problem::new(place, message)) };
    let alone = |i: usize| {
        let stations = vec![radio.stations[centre], radio.stations[i]];
        RadioConfig { stations, hops: Hops::Star { centre: 0 }, ..radio.clone() }
    };
    let others = (0..radio.stations.len()).filter(|i| *i != centre);
    for i in others {
        if let Err(message) = alone(i).check(nodes) {
            return Err(Problem::new(&places[i], message + remedy(radio)));
        }
    }
    Err(Problem::new(place, message))
}

/// The remedy for a station that is out of range.
fn remedy(radio: &RadioConfig) -> &'static str {
    match radio.path_loss {
        PathLoss::Disc { .. } => "; move it nearer or increase the range of `path_loss`",
        _ => "; move it nearer (`at`, `radius`), or change `power`, `sensitivity` or `path_loss`",
    }
}

/// The stations: names and tables, or a pattern with `*`.
fn stations(field: &Field, count: Option<u32>, air: &Air) -> Result<Vec<Placed>, Problem> {
    if let Value::Text(pattern) = &field.node.value {
        return numbered(field, pattern, count);
    }
    if count.is_some() {
        let message = "`count` belongs to a pattern such as `stations = \"s*\"`";
        return Err(field.error(message));
    }
    let items = field.array()?;
    if items.is_empty() {
        return Err(field.error("a cell needs at least one station, for example [\"s1\"]"));
    }
    items.iter().map(|item| station(item, air)).collect()
}

fn numbered(field: &Field, pattern: &str, count: Option<u32>) -> Result<Vec<Placed>, Problem> {
    let Some(count) = count.filter(|_| pattern.contains('*')) else {
        let message = "write the stations as an array, or `\"s*\"` with a `count`, the `*` standing \
                       for 1, 2, ...";
        return Err(field.error(message));
    };
    let numbered = |i: u32| {
        let value = Value::Text(pattern.replace('*', &i.to_string()));
        let node = Node { place: field.node.place.clone(), value };
        let name = name(&Field { key: field.key, node: &node })?;
        Ok(Placed::new(name, &field.node.place))
    };
    (1..=count).map(numbered).collect()
}

/// A station: the name of its node, or a table.
fn station(field: &Field, air: &Air) -> Result<Placed, Problem> {
    let place = field.node.place.clone();
    let Value::Table(_) = field.node.value else {
        return Ok(Placed::new(name(field)?, &place));
    };
    let what = format!("a table in `{}`", field.key);
    let fields = Fields::open(field.node, &what, STATION.names)?;
    Ok(Placed {
        name: fields.req("node", "\"s1\"", name)?,
        at: fields.opt("at", position)?,
        queue: fields.opt("queue", |field| air.queue(field))?,
        battery_uj: fields.opt("battery", |field| air.battery(field))?,
        sleep: fields.opt("sleep", sleep::read)?,
        on_mains: false,
        place,
    })
}

pub(super) fn position(field: &Field) -> Result<Position, Problem> {
    let wrong = |n| format!("a place has two coordinates, not {n}; write [\"3m\", \"-4m\"]");
    let [x, y] = field.pair(wrong)?;
    let (Distance { mm: x_mm }, Distance { mm: y_mm }) = (distance(&x)?, distance(&y)?);
    Ok(Position { x_mm, y_mm })
}

/// `in-range`, or pairs of stations.
fn hops(field: &Field, stations: &[Placed]) -> Result<Hops, Problem> {
    if let Value::Text(_) = field.node.value {
        return choice(&[("in-range", ())])(field).map(|()| Hops::InRange);
    }
    let pair = |item: &Field| {
        let [a, b] = item.pair(|n| format!("a hop has two ends, not {n}"))?;
        let (a, b) = (index(&a, stations)?, index(&b, stations)?);
        if a == b {
            return Err(item.error("a hop joins two different stations"));
        }
        Ok([a, b])
    };
    Ok(Hops::Pairs(field.array()?.iter().map(pair).collect::<Result<_, _>>()?))
}

fn index(field: &Field, stations: &[Placed]) -> Result<usize, Problem> {
    let name = field.string()?;
    stations.iter().position(|s| s.name == name).ok_or_else(|| {
        let known: Vec<&str> = stations.iter().map(|s| s.name.as_str()).collect();
        field.error(no_station(name, &known))
    })
}
