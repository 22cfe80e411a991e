//! A map of the stations of one run of a paper.

use serde::Deserialize;

use super::material::Material;
use crate::experiment::typical_seed;
use crate::report::model::NetworkMap;
use crate::scenario::Scenario;
use crate::stations::Stations;

/// A map of a typical run of a point: the run with the median goodput.
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

/// The map; `None` without the run, or if the run has no cell.
pub(super) fn map(m: &Material, f: MapFile) -> Option<NetworkMap> {
    let (experiment, point) = f.run.split_once('/')?;
    let seed = typical_seed(experiment, &[point].into(), m.records);
    let record = m
        .records
        .iter()
        .find(|r| (r.experiment.as_str(), r.point.as_str(), r.seed) == (experiment, point, seed))?;
    let experiment = m.plan.experiment(experiment)?;
    let point = experiment.point(point)?;
    let text = m.paper.scenario(&experiment.scenario)?;
    let scenario = Scenario::with_overrides(text, &experiment.scenario, &point.overrides).ok()?;
    let stations = Stations::of(&scenario, record, 0, Some(&f.to))?;
    Some(stations.drawn(f.id, f.caption))
}
