//! Results as tables: named columns with their meaning, independent of any file format.
//!
//! Tables with one row per run or per part of a run have the columns that [`fields`](crate::fields)
//! declares. `docs/src/reference/results.md` explains every column.

use std::borrow::Cow;
use std::iter;

use windlass_cc::Time;
use windlass_sim::{Sample, Series};

use crate::fields::{Field, Listing, Row, Type, Value};
use crate::key::Place;
use crate::record::RunRecord;

/// Rows of a series table that are held in memory at once.
const CHUNK_ROWS: usize = 65_536;

/// The values of a column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Counts, bytes, identifiers.
    Integer(Vec<Option<u64>>),
    /// Measured values.
    Real(Vec<Option<f64>>),
    /// A list of numbers in each row.
    Reals(Vec<Vec<f64>>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Text(v) => v.len(),
            Values::Integer(v) => v.len(),
            Values::Real(v) => v.len(),
            Values::Reals(v) => v.len(),
        }
    }

    /// True if the column has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, with the unit at its end.
    pub name: Cow<'static, str>,
    /// Meaning, in a phrase.
    pub meaning: &'static str,
    /// The values.
    pub values: Values,
}

/// A table; all columns have the same number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, which is also the file's name.
    pub name: &'static str,
    /// Columns in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |c| c.values.len())
    }
}

impl Listing {
    /// The table of these runs.
    pub fn table(&self, records: &[RunRecord]) -> Table {
        let rows = self.rows(records);
        Table { name: self.name, columns: self.columns().map(|f| column(f, &rows)).collect() }
    }
}

/// The values of a field, one per row.
fn column(field: &Field, rows: &[Row<'_>]) -> Column {
    let cells = rows.iter().map(|row| field.value(*row));
    let values = match field.of {
        Type::Text => Values::Text(cells.map(text).collect()),
        Type::Integer => Values::Integer(cells.map(integer).collect()),
        Type::Real => Values::Real(cells.map(real).collect()),
        Type::Reals => Values::Reals(cells.map(reals).collect()),
    };
    Column { name: field.name.into(), meaning: field.meaning, values }
}

fn text(value: Option<Value<'_>>) -> Option<String> {
    match value? {
        Value::Text(text) => Some(text.to_owned()),
        _ => None,
    }
}

fn integer(value: Option<Value<'_>>) -> Option<u64> {
    match value? {
        Value::Integer(n) => Some(n),
        _ => None,
    }
}

fn real(value: Option<Value<'_>>) -> Option<f64> {
    match value? {
        // Not all file formats have infinity: JSON has no infinity.
        Value::Real(x) if x.is_finite() => Some(x),
        _ => None,
    }
}

fn reals(value: Option<Value<'_>>) -> Vec<f64> {
    match value {
        Some(Value::Reals(list)) => list.to_vec(),
        _ => Vec::new(),
    }
}

/// The time series of one run.
#[derive(Clone, Copy, Debug)]
pub struct SeriesRun<'a> {
    /// Its point.
    pub place: Place<'a>,
    /// Seed.
    pub seed: u64,
    /// Names by the samples' flow: those of [`Scenario::tracks`](windlass_scenario::Scenario::tracks).
    pub flows: &'a [String],
    /// Observations in order of time.
    pub samples: &'a [Sample],
}

/// The series that a table has columns for; series of internal state are last.
#[derive(Clone, Debug)]
struct SeriesColumns(Vec<Series>);

impl SeriesColumns {
    /// All series that every algorithm has, and the fields of internal state that occur.
    fn of(runs: &[SeriesRun<'_>]) -> SeriesColumns {
        let mut columns: Vec<Series> = Series::ALL.iter().map(|(_, series)| *series).collect();
        for sample in runs.iter().flat_map(|run| run.samples) {
            if !columns.contains(&sample.series) {
                columns.push(sample.series);
            }
        }
        columns[Series::ALL.len()..].sort();
        SeriesColumns(columns)
    }

    fn place(&self, series: Series) -> Option<usize> {
        self.0.iter().position(|s| *s == series)
    }
}

/// The observations of one flow at one time.
struct SeriesRow<'a> {
    run: SeriesRun<'a>,
    time: Time,
    flow: u32,
    values: Vec<Option<u64>>,
}

impl<'a> SeriesRow<'a> {
    fn new(run: SeriesRun<'a>, sample: &Sample, columns: &SeriesColumns) -> Self {
        let values = vec![None; columns.0.len()];
        let mut row = SeriesRow { run, time: sample.time, flow: sample.flow, values };
        row.take(sample, columns);
        row
    }

    /// True if the sample belongs to this row's flow and time, and to a series without a value yet.
    fn takes(&self, sample: &Sample, columns: &SeriesColumns) -> bool {
        self.time == sample.time
            && self.flow == sample.flow
            && columns.place(sample.series).is_none_or(|place| self.values[place].is_none())
    }

    fn take(&mut self, sample: &Sample, columns: &SeriesColumns) {
        if let Some(place) = columns.place(sample.series) {
            self.values[place] = Some(sample.value);
        }
    }

    fn flow_name(&self) -> &'a str {
        self.run.flows.get(self.flow as usize).map_or("", String::as_str)
    }
}

/// Time series, one row per time and flow, one column per series; null if the series has no value at
/// that time. The tables have bounded size; at least one is returned.
pub fn series<'a>(runs: impl IntoIterator<Item = SeriesRun<'a>>) -> impl Iterator<Item = Table> {
    let runs: Vec<SeriesRun<'a>> = runs.into_iter().collect();
    let columns = SeriesColumns::of(&runs);
    let of_rows = columns.clone();
    let mut rows = runs.into_iter().flat_map(move |run| series_rows(run, of_rows.clone()));
    let mut first = true;
    iter::from_fn(move || {
        let chunk: Vec<SeriesRow<'_>> = rows.by_ref().take(CHUNK_ROWS).collect();
        let wanted = first || !chunk.is_empty();
        first = false;
        wanted.then(|| series_table(&chunk, &columns))
    })
}

fn series_rows(run: SeriesRun<'_>, columns: SeriesColumns) -> impl Iterator<Item = SeriesRow<'_>> {
    let mut samples = run.samples.iter().peekable();
    iter::from_fn(move || {
        let mut row = SeriesRow::new(run, samples.next()?, &columns);
        while let Some(sample) = samples.next_if(|s| row.takes(s, &columns)) {
            row.take(sample, &columns);
        }
        Some(row)
    })
}

fn series_table(rows: &[SeriesRow<'_>], wanted: &SeriesColumns) -> Table {
    let words = |word: fn(&SeriesRow<'_>) -> String| {
        Values::Text(rows.iter().map(|row| Some(word(row))).collect())
    };
    let seeds = Values::Integer(rows.iter().map(|r| Some(r.run.seed)).collect());
    let times = rows.iter().map(|r| Some(r.time.as_nanos() as f64 / 1e9)).collect();
    let column = |name, meaning, values| Column { name, meaning, values };
    let mut columns: Vec<Column> = [
        ("experiment", "Experiment identifier", words(|r| r.run.place.experiment.to_owned())),
        (
            "point",
            "Point of the experiment: axis=label pairs",
            words(|r| r.run.place.point.to_owned()),
        ),
        ("seed", "Seed of the run", seeds),
        ("time_s", "Simulated time", Values::Real(times)),
        ("flow", "Name of the flow, or flow:subflow", words(|r| r.flow_name().to_owned())),
    ]
    .map(|(name, meaning, values)| column(name.into(), meaning, values))
    .into();
    for (i, series) in wanted.0.iter().enumerate() {
        let values = Values::Integer(rows.iter().map(|r| r.values[i]).collect());
        columns.push(column(series.name(), series_meaning(*series), values));
    }
    Table { name: "series", columns }
}

fn series_meaning(series: Series) -> &'static str {
    match series {
        Series::Cwnd => "Congestion window of the data sender",
        Series::Ssthresh => "Slow-start threshold of the data sender",
        Series::InFlight => "Data in flight from the data sender",
        Series::Srtt => "Smoothed RTT of the data sender",
        Series::Rtt => "Each RTT sample of the data sender",
        Series::Latency => "Latency of each message that arrives",
        Series::Rto => "Retransmission timeout of the data sender",
        Series::AckNumber => "Highest stream offset acknowledged by the data receiver",
        Series::Rwnd => "Receive window that the data receiver advertised last",
        Series::Delivered => "Payload that has reached the receiving application",
        Series::Pacing => "Rate at which the data sender is paced; 0 for not at all",
        Series::State(_) | Series::States => "Inner state of the algorithm or its slow start",
    }
}
