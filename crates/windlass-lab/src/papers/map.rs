//! A map of the stations of one run of a paper.

use serde::Deserialize;

use super::material::Material;
use crate::report::model::NetworkMap;
use crate::scenario::Scenario;
use crate::stations::Stations;

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

/// The map; none without the run or a cell in it.
pub(super) fn map(m: &Material, f: MapFile) -> Option<NetworkMap> {
    let (experiment, point) = f.run.split_once('/')?;
    let record = m
        .records
        .iter()
        .find(|r| (r.experiment.as_str(), r.point.as_str(), r.seed) == (experiment, point, SEED))?;
    let experiment = m.plan.experiment(experiment)?;
    let point = experiment.point(point)?;
    let text = m.paper.scenario(&experiment.scenario)?;
    let scenario = Scenario::with_overrides(text, &experiment.scenario, &point.overrides).ok()?;
    let stations = Stations::of(&scenario, record, 0, Some(&f.to))?;
    Some(stations.drawn(f.id, f.caption))
}
