//! Congestion windows of both backends in one chart.

use windlass_sim::Series;

use super::tasks::{CellTasks, Pair};
use crate::report::model::{Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale};
use crate::run::store::StoreError;
use crate::run::{Folder, Task};

/// One chart for each traced cell that has a run on both backends.
pub(super) fn charts(folder: &Folder, cells: &[CellTasks]) -> Result<Vec<Chart>, StoreError> {
    let mut charts = Vec::new();
    for CellTasks { cell, pairs } in cells.iter().filter(|c| c.cell.is_traced()) {
        let both = |p: &&Pair| [&p.kernel, &p.ours].iter().all(|task| folder.campaign().has(task));
        let Some(pair) = pairs.iter().find(both) else { continue };
        let network = cell.network.name().replace([',', ' ', '%'], "");
        charts.push(Chart {
            id: format!("cwnd-{}-{network}", cell.algorithm.id),
            caption: format!("{}: congestion window over {}", cell.label(), cell.network.name()),
            x: ChartAxis { label: "Time (s)".to_string(), scale: Scale::Linear },
            y: ChartAxis { label: "Congestion window (B)".to_string(), scale: Scale::Linear },
            series: vec![
                curve(folder, "kernel", &pair.kernel)?,
                curve(folder, "windlass", &pair.ours)?,
            ],
            zoom: true,
        });
    }
    Ok(charts)
}

fn curve(folder: &Folder, name: &str, task: &Task) -> Result<ChartSeries, StoreError> {
    let values = folder.series(task, 0, Series::Cwnd)?;
    let point = |(x, y): (f64, u64)| ChartPoint { x, y: y as f64, ..ChartPoint::default() };
    Ok(ChartSeries {
        name: name.to_string(),
        mark: Mark::Step,
        points: values.into_iter().map(point).collect(),
    })
}
