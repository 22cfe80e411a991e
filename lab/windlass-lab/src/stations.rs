//! Map of a run's stations: positions, airtime, and the routes at the end of the run.

use windlass_sim::StationResult;

use crate::compile::senders;
use crate::report::model::{NetworkMap, Place, Role};
use crate::run::RunRecord;
use crate::scenario::Scenario;

/// The stations of one cell of a run.
pub(crate) struct Stations<'a> {
    scenario: &'a Scenario,
    record: &'a RunRecord,
    cell: usize,
    stations: &'a [StationResult],
    /// Index of the station that receives the data.
    to: Option<usize>,
}

impl<'a> Stations<'a> {
    /// The stations of a cell, with the data's receiver `to`. `None` if the cell or the receiver does not exist.
    pub(crate) fn of(
        scenario: &'a Scenario,
        record: &'a RunRecord,
        cell: usize,
        to: Option<&str>,
    ) -> Option<Stations<'a>> {
        // The radio of a link has no map.
        let radio = record.radios.get(cell).filter(|radio| !radio.link)?;
        let stations = radio.stations.as_slice();
        let place = |name: &str| stations.iter().position(|s| s.name == name);
        let to = match to {
            Some(name) => Some(place(name)?),
            None => None,
        };
        Some(Stations { scenario, record, cell, stations, to })
    }

    /// Indices of the senders' stations.
    fn senders(&self) -> Vec<usize> {
        let nodes = senders(self.scenario, self.record.seed);
        let names: Vec<&String> = nodes.iter().map(|n| &self.scenario.nodes[*n]).collect();
        (0..self.stations.len()).filter(|k| names.contains(&&self.stations[*k].name)).collect()
    }

    /// Index of the station to which this station forwards data at the end of the run.
    fn next(&self, station: usize) -> Option<usize> {
        let routing = self.record.radios[self.cell].routing.as_ref()?;
        let mut routes = routing.routes.iter();
        let is_mine = |of: usize, to: usize| (of, Some(to)) == (station, self.to);
        let mine = routes.find(|r| is_mine(r.station as usize, r.to as usize))?;
        Some(mine.next as usize)
    }

    /// A sender's route at the end of the run. `None` if it does not reach the receiver.
    fn route(&self, sender: usize) -> Option<Vec<usize>> {
        let mut route = vec![sender];
        while let Some(at) = route.last().copied().filter(|at| Some(*at) != self.to) {
            let next = self.next(at).filter(|next| !route.contains(next))?;
            route.push(next);
        }
        Some(route)
    }

    fn place(&self, k: usize, senders: &[usize]) -> Place {
        let spot = &self.scenario.wifi[self.cell].radio.stations[k].position;
        let s = &self.stations[k];
        let role = match k {
            k if Some(k) == self.to => Role::Base,
            k if senders.contains(&k) => Role::Sender,
            _ => Role::Relay,
        };
        let left = s.battery_left_j.map_or("mains".to_owned(), |j| format!("{j:.1}"));
        let next = self.next(k).map_or("–".to_owned(), |n| self.stations[n].name.clone());
        let end_s = self.record.end_s;
        Place {
            name: s.name.clone(),
            at: [spot.x_mm, spot.y_mm].map(|mm| mm as f64 / 1000.0),
            role,
            value: (end_s > 0.0).then(|| 100.0 * s.airtime_s / end_s),
            more: vec![s.delivered.to_string(), left, next],
        }
    }

    /// The map. If the stations route by themselves, the caption also gives the number of senders with a route.
    pub(crate) fn drawn(&self, id: String, caption: String) -> NetworkMap {
        let senders = self.senders();
        let routed = self.record.radios[self.cell].routing.is_some() && self.to.is_some();
        let routes: Vec<Vec<usize>> = match routed {
            true => senders.iter().filter_map(|s| self.route(*s)).collect(),
            false => Vec::new(),
        };
        let (have, all) = (routes.len(), senders.len());
        let caption = match routed {
            true => {
                format!("{caption}. At the end of the run {have} of {all} senders have a route.")
            }
            false => format!("{caption}."),
        };
        NetworkMap {
            id,
            caption,
            value: "transmitting (%)".to_owned(),
            columns: ["Packets forwarded", "Battery left (J)", "Next hop"]
                .map(str::to_owned)
                .to_vec(),
            places: (0..self.stations.len()).map(|k| self.place(k, &senders)).collect(),
            routes,
        }
    }
}
