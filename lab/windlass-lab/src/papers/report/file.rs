//! The form of `report.toml`.

use serde::Deserialize;

use crate::papers::map::MapFile;
use crate::report::model::{ChartAxis, Mark};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportFile {
    pub(super) section: Vec<SectionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectionFile {
    pub(super) id: String,
    pub(super) title: String,
    #[serde(default)]
    pub(super) block: Vec<BlockFile>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum BlockFile {
    Text { text: String },
    Table(TableFile),
    Chart(ChartFile),
    Heat(HeatFile),
    Exchange(ExchangeFile),
    Map(MapFile),
    Command(CommandFile),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    pub(super) id: String,
    pub(super) caption: String,
    pub(super) columns: Vec<String>,
    #[serde(default)]
    pub(super) rows: Vec<RowFile>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    /// Rows without a figure after this number of cells are left out.
    pub(super) filled: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowFile {
    pub(super) cells: Vec<Cell>,
    /// The claim whose verdict and note are shown with the row.
    pub(super) claim: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a number")]
pub(super) enum Cell {
    Text(String),
    Whole(i64),
    Number(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChartFile {
    pub(super) id: String,
    pub(super) caption: String,
    pub(super) x: ChartAxis,
    pub(super) y: ChartAxis,
    pub(super) series: Vec<SeriesFile>,
    #[serde(default)]
    pub(super) zoom: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeriesFile {
    pub(super) name: String,
    pub(super) mark: Mark,
    #[serde(default)]
    pub(super) points: Vec<PointFile>,
    /// A value over time, instead of points.
    pub(super) curve: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointFile {
    pub(super) category: Option<Cell>,
    pub(super) x: Option<Cell>,
    pub(super) of: Cell,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeatFile {
    pub(super) id: String,
    pub(super) caption: String,
    pub(super) x: String,
    pub(super) y: String,
    pub(super) value: String,
    pub(super) cells: Vec<HeatCellFile>,
    /// Text that replaces the map if there are no cells.
    pub(super) empty: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeatCellFile {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) of: Cell,
}

/// One loss and its repair, packet by packet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeFile {
    pub(super) id: String,
    pub(super) caption: String,
    /// The traced run.
    pub(super) of: String,
    pub(super) left: String,
    pub(super) right: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandFile {
    pub(super) about: Option<String>,
    /// The point whose runs the command makes, as `experiment/point`.
    pub(super) runs: Option<String>,
    /// The traced run that the command makes.
    pub(super) trace: Option<String>,
    /// The recording of the traced run, as `key = value` of the scenario's `record`.
    #[serde(default, deserialize_with = "pair")]
    pub(super) record: Option<[String; 2]>,
    /// Options at the end of the command.
    #[serde(default)]
    pub(super) more: String,
}

fn pair<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<[String; 2]>, D::Error> {
    crate::template::two(from).map(Some)
}
