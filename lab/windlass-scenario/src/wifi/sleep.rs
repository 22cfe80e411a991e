//! `sleep`: stations of 802.15.4 whose radio is off between their data requests.

use windlass_cc::Span;
use windlass_sim::radio::RadioConfig;
use windlass_sim::radio::sleep::{POLLS, Polling};

use crate::codec::{Codec, table};
use crate::fields::{Field, Fields, name, span};
use crate::network::Network;
use crate::problem::{Place, Problem, no_station};
use crate::schema::section;

table!(SLEEP, "sleep", read_polling, written_polling, builds Polling {
    poll_interval: Codec::time(interval).req("\"2s\""), "time between requests, `1ms` to `24h`", "required";
    fast_poll: Codec::time(interval).opt(), "time between requests while an exchange of the node is open: TCP has unacknowledged data, an open request, or has closed and waits for the peer's FIN; or a confirmable CoAP request has no response", "`poll_interval`";
});

section! {
    /// The sleep of the stations of a cell.
    CELL_SLEEP, "cell_sleep" with SLEEP:
    stations list(Name), "stations that sleep, in a table of a cell", "all except the access point or base";
}

/// The sleep of a station, with the place of the key that sets it.
pub(super) type Asleep = (Polling, Place);

/// The sleep of a cell's stations.
pub(super) struct CellSleep {
    asleep: Asleep,
    /// The stations that sleep; `None` for all stations without mains power.
    stations: Option<Vec<(String, Place)>>,
}

pub(super) fn read_cell(field: &Field) -> Result<CellSleep, Problem> {
    let fields = Fields::open(field.node, "`sleep`", &CELL_SLEEP.all_names())?;
    let named = |item: &Field| Ok((name(item)?, item.node.place.clone()));
    let names = |list: &Field| list.array()?.iter().map(named).collect();
    Ok(CellSleep { asleep: polling(field, &fields)?, stations: fields.opt("stations", names)? })
}

pub(super) fn read(field: &Field) -> Result<Asleep, Problem> {
    let fields = Fields::open(field.node, "`sleep`", SLEEP.names)?;
    polling(field, &fields)
}

fn polling(field: &Field, fields: &Fields) -> Result<Asleep, Problem> {
    let polling = read_polling(fields)?;
    match fields.field("fast_poll") {
        Some(field) if polling.fast_poll > Some(polling.poll_interval) => {
            Err(field.error("must be no longer than `poll_interval`"))
        }
        _ => Ok((polling, field.node.place.clone())),
    }
}

fn interval(field: &Field) -> Result<Span, Problem> {
    let [least, most] = POLLS;
    match span(field)? {
        time if (least..=most).contains(&time) => Ok(time),
        _ => Err(field.error("must be between `1ms` and `24h`, for example `2s`")),
    }
}

impl CellSleep {
    /// The cell's sleep for a station without its own setting.
    pub(super) fn of(&self, station: &str, on_mains: bool) -> Option<Asleep> {
        let sleeps = match &self.stations {
            Some(stations) => stations.iter().any(|(name, _)| name == station),
            None => !on_mains,
        };
        sleeps.then(|| self.asleep.clone())
    }

    /// Checks that all named stations exist.
    pub(super) fn check(&self, known: &[&str]) -> Result<(), Problem> {
        let mut named = self.stations.iter().flatten();
        match named.find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, place)) => {
                let message = format!("`sleep`: {}", no_station(name, known));
                Err(Problem::new(place, message))
            }
            None => Ok(()),
        }
    }
}

/// Checks that the stations can sleep. Each station has the place of the key that sets its sleep.
pub(super) fn check(
    radio: &RadioConfig,
    nodes: &[String],
    places: &[(usize, Place)],
) -> Result<(), Problem> {
    places.iter().try_for_each(|(station, place)| {
        let refused = radio.check_sleep(*station, nodes);
        refused.map_err(|message| Problem::new(place, format!("`sleep`: {message}")))
    })
}

/// Checks that the nodes of sleeping stations have no other links or stations, after all links and
/// cells have been read.
pub(in super::super) fn check_ends(network: &Network) -> Result<(), Problem> {
    let stations = || network.wifi.iter().flat_map(|cell| &cell.radio.stations);
    for (node, place) in &network.sleepers {
        let linked = network.links.iter().any(|link| link.a == *node || link.b == *node);
        if linked || stations().filter(|s| s.node == *node).count() > 1 {
            let name = &network.nodes[*node];
            let message = format!(
                "`sleep`: station \"{name}\" cannot sleep: its node has links or other stations, over which others \
                 may be routed through it"
            );
            return Err(Problem::new(place, message));
        }
    }
    Ok(())
}
