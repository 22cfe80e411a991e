//! The grid of one run: load, battery and routes.

use super::measures::OURS;
use crate::compile::senders;
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::section as titled;
use crate::report::model::{Block, NetworkMap, Place, Role, Section};
use crate::run::RunRecord;
use crate::scenario::Scenario;
use windlass_sim::StationResult;

const EXPERIMENT: &str = "time";
const SEED: u64 = 1;
const BASE: &str = "base";

/// A run with the scenario it was made of.
struct Run<'a> {
    record: &'a RunRecord,
    scenario: Scenario,
}

fn place() -> String {
    format!("protocol={},time=300", OURS.0)
}

fn run<'a>(m: &Material<'a>) -> Option<Run<'a>> {
    let here = |r: &&RunRecord| {
        (r.experiment.as_str(), r.point.as_str(), r.seed) == (EXPERIMENT, place().as_str(), SEED)
    };
    let record = m.records.iter().find(here)?;
    let experiment = m.plan.experiment(EXPERIMENT)?;
    let point = experiment.points().into_iter().find(|p| p.id == place())?;
    let text = m.paper.scenario(&experiment.scenario)?;
    let scenario = Scenario::with_overrides(text, &experiment.scenario, &point.overrides).ok()?;
    Some(Run { record, scenario })
}

impl Run<'_> {
    fn stations(&self) -> &[StationResult] {
        self.record.radios.first().map_or(&[], |r| &r.stations)
    }

    /// Indices of the senders' stations.
    fn senders(&self) -> Vec<usize> {
        let nodes = senders(&self.scenario, SEED);
        let names: Vec<&String> = nodes.iter().map(|n| &self.scenario.nodes[*n]).collect();
        let mine = |s: &StationResult| names.contains(&&s.name);
        let all = self.stations().iter().enumerate();
        all.filter(|(_, s)| mine(s)).map(|(k, _)| k).collect()
    }

    fn base(&self) -> Option<usize> {
        self.stations().iter().position(|s| s.name == BASE)
    }

    /// The station after this one on its way to the base station at the end of the run.
    fn next(&self, station: usize) -> Option<usize> {
        let routing = self.record.radios.first()?.routing.as_ref()?;
        let to = self.base()?;
        let mine = |r: &&windlass_sim::routing::aodv::RouteResult| {
            (r.station as usize, r.to as usize) == (station, to)
        };
        routing.routes.iter().find(mine).map(|r| r.next as usize)
    }

    /// A sender's route at the end of the run, as far as it leads to the base station.
    fn route(&self, sender: usize) -> Option<Vec<usize>> {
        let (mut route, to) = (vec![sender], self.base()?);
        while let Some(at) = route.last().copied().filter(|at| *at != to) {
            let next = self.next(at).filter(|next| !route.contains(next))?;
            route.push(next);
        }
        Some(route)
    }

    fn map(&self, id: &str, caption: String, value: &str, of: Value) -> NetworkMap {
        let (senders, base) = (self.senders(), self.base());
        let routes: Vec<Vec<usize>> = senders.iter().filter_map(|s| self.route(*s)).collect();
        let spots = &self.scenario.wifi[0].radio.stations;
        let place =
            |(k, (s, spot)): (usize, (&StationResult, &windlass_sim::radio::StationConfig))| {
                let role = match k {
                    k if Some(k) == base => Role::Base,
                    k if senders.contains(&k) => Role::Sender,
                    _ => Role::Relay,
                };
                let left = s.battery_left_j.map_or("mains".to_owned(), |j| format!("{j:.1}"));
                let next =
                    self.next(k).map_or("–".to_owned(), |n| self.stations()[n].name.clone());
                Place {
                    name: s.name.clone(),
                    at: [spot.position.x_mm, spot.position.y_mm].map(|mm| mm as f64 / 1000.0),
                    role,
                    value: of(self, s),
                    more: vec![s.delivered.to_string(), left, next],
                }
            };
        NetworkMap {
            id: id.to_owned(),
            caption: format!(
                "{caption}. At the end of the run {} of {} senders have a route",
                routes.len(),
                senders.len()
            ),
            value: value.to_owned(),
            columns: ["Packets passed on", "Battery left (J)", "Next to the base station"]
                .map(str::to_owned)
                .to_vec(),
            places: self.stations().iter().zip(spots).enumerate().map(place).collect(),
            routes,
        }
    }
}

/// A value of a station in a run.
type Value = fn(&Run, &StationResult) -> Option<f64>;

fn load(run: &Run, s: &StationResult) -> Option<f64> {
    (run.record.end_s > 0.0).then(|| 100.0 * s.airtime_s / run.record.end_s)
}

/// Of what its battery held at the beginning.
fn battery(_: &Run, s: &StationResult) -> Option<f64> {
    let left = s.battery_left_j?;
    let full = left + s.energy_j?;
    (full > 0.0).then(|| 100.0 * left / full)
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let title = "The grid: routes, load and battery";
    let Some(run) = run(m) else {
        let text = "No run yet.".to_owned();
        return titled("grid", title, vec![Block::Text { text }], None);
    };
    let which = "CoCoA3+, packets of 2000 bytes, 300 s, first seed";
    let blocks = vec![
        Block::Map(run.map(
            "grid-load",
            format!("Share of the time in which each station transmits, per cent; {which}"),
            "transmitting (%)",
            load,
        )),
        Block::Map(run.map(
            "grid-battery",
            format!("What is left of each battery, per cent; {which}. Most is spent on being ready to receive"),
            "battery left (%)",
            battery,
        )),
    ];
    titled("grid", title, blocks, commands::runs(m, "This run:", EXPERIMENT, &place()))
}
