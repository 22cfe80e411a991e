//! The stations of one run where they stand, their load, and the routes at its end.

use serde::Deserialize;
use windlass_sim::StationResult;

use super::material::Material;
use crate::compile::senders;
use crate::report::model::{NetworkMap, Place, Role};
use crate::run::RunRecord;
use crate::scenario::Scenario;

/// A map of the first seed's run of a point.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MapFile {
    id: String,
    caption: String,
    /// The point, as `experiment/point`.
    pub(super) run: String,
    /// The node that the routes lead to.
    to: String,
}

const SEED: u64 = 1;

/// A run with the scenario it was made of.
struct Run<'a> {
    record: &'a RunRecord,
    scenario: Scenario,
    stations: &'a [StationResult],
    /// The station that the routes lead to.
    to: usize,
}

/// The map; none without the run or a cell in it.
pub(super) fn map(m: &Material, f: MapFile) -> Option<NetworkMap> {
    let (experiment, point) = f.run.split_once('/')?;
    let record = m
        .records
        .iter()
        .find(|r| (r.experiment.as_str(), r.point.as_str(), r.seed) == (experiment, point, SEED))?;
    let experiment = m.plan.experiment(experiment)?;
    let point = experiment.points().into_iter().find(|p| p.id == point)?;
    let text = m.paper.scenario(&experiment.scenario)?;
    let scenario = Scenario::with_overrides(text, &experiment.scenario, &point.overrides).ok()?;
    let stations = record.radios.first()?.stations.as_slice();
    let to = stations.iter().position(|s| s.name == f.to)?;
    Some(Run { record, scenario, stations, to }.drawn(f))
}

impl Run<'_> {
    /// Indices of the senders' stations.
    fn senders(&self) -> Vec<usize> {
        let nodes = senders(&self.scenario, SEED);
        let names: Vec<&String> = nodes.iter().map(|n| &self.scenario.nodes[*n]).collect();
        (0..self.stations.len()).filter(|k| names.contains(&&self.stations[*k].name)).collect()
    }

    /// The station after this one on its way at the end of the run.
    fn next(&self, station: usize) -> Option<usize> {
        let routing = self.record.radios.first()?.routing.as_ref()?;
        let mut routes = routing.routes.iter();
        let mine = routes.find(|r| (r.station as usize, r.to as usize) == (station, self.to))?;
        Some(mine.next as usize)
    }

    /// A sender's route at the end of the run, if it leads there.
    fn route(&self, sender: usize) -> Option<Vec<usize>> {
        let mut route = vec![sender];
        while let Some(at) = route.last().copied().filter(|at| *at != self.to) {
            let next = self.next(at).filter(|next| !route.contains(next))?;
            route.push(next);
        }
        Some(route)
    }

    fn place(&self, k: usize, senders: &[usize]) -> Place {
        let (s, spot) = (&self.stations[k], &self.scenario.wifi[0].radio.stations[k].position);
        let role = match k {
            k if k == self.to => Role::Base,
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

    fn drawn(&self, f: MapFile) -> NetworkMap {
        let senders = self.senders();
        let routes: Vec<Vec<usize>> = senders.iter().filter_map(|s| self.route(*s)).collect();
        let (have, all) = (routes.len(), senders.len());
        NetworkMap {
            id: f.id,
            caption: format!(
                "{}. At the end of the run {have} of {all} senders have a route",
                f.caption
            ),
            value: "transmitting (%)".to_owned(),
            columns: ["Packets passed on", "Battery left (J)", "Next on the way"]
                .map(str::to_owned)
                .to_vec(),
            places: (0..self.stations.len()).map(|k| self.place(k, &senders)).collect(),
            routes,
        }
    }
}
