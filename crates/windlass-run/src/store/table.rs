//! Results as tables: named columns with their meaning, independent of any file format.
//!
//! A column's name ends in its unit where it has one, and `docs/src/reference/results.md` explains every column.

use std::borrow::Cow;
use std::iter;

use windlass_cc::Time;
use windlass_sim::{FlowResult, LinkResult, Sample, Series};

use super::batch::Place;
use crate::RunRecord;

/// Rows of a series table that are held in memory at once.
const CHUNK_ROWS: usize = 65_536;

/// The values of a column, one a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<Option<String>>),
    /// Counts, bytes, identifiers.
    Integer(Vec<Option<u64>>),
    /// Everything that is measured.
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

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, with the unit at its end.
    pub name: Cow<'static, str>,
    /// What it says, in a phrase.
    pub meaning: &'static str,
    /// The values.
    pub values: Values,
}

/// A table; all columns have the same number of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, which is also the file's.
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

/// Makes columns out of rows.
pub(super) struct Columns<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Columns<'a, R> {
    fn of(rows: &'a [R]) -> Self {
        Columns { rows, columns: Vec::new() }
    }

    pub(super) fn push(
        mut self,
        name: impl Into<Cow<'static, str>>,
        meaning: &'static str,
        values: Values,
    ) -> Self {
        self.columns.push(Column { name: name.into(), meaning, values });
        self
    }

    pub(super) fn text<'r>(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> &'r str,
    ) -> Self
    where
        R: 'r,
    {
        let values = self.rows.iter().map(|r| Some(f(r).to_owned())).collect();
        self.push(name, meaning, Values::Text(values))
    }

    pub(super) fn integer(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> u64,
    ) -> Self {
        self.integer_or_null(name, meaning, |r| Some(f(r)))
    }

    pub(super) fn integer_or_null(
        self,
        name: impl Into<Cow<'static, str>>,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<u64>,
    ) -> Self {
        let values = self.rows.iter().map(f).collect();
        self.push(name, meaning, Values::Integer(values))
    }

    pub(super) fn real(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> f64,
    ) -> Self {
        self.real_or_null(name, meaning, |r| Some(f(r)))
    }

    pub(super) fn real_or_null(
        self,
        name: &'static str,
        meaning: &'static str,
        f: impl Fn(&R) -> Option<f64>,
    ) -> Self {
        let values = self.rows.iter().map(f).collect();
        self.push(name, meaning, Values::Real(values))
    }

    pub(super) fn table(self, name: &'static str) -> Table {
        Table { name, columns: self.columns }
    }
}

impl<'a, R> Columns<'a, R> {
    /// The columns that say which run a row belongs to.
    pub(super) fn of_run(rows: &'a [R], run: impl Fn(&R) -> &'a RunRecord) -> Self {
        let (mut experiment, mut point) = (Vec::new(), Vec::new());
        let (mut seed, mut hash, mut version) = (Vec::new(), Vec::new(), Vec::new());
        let (mut world, mut kernel) = (Vec::new(), Vec::new());
        for run in rows.iter().map(run) {
            experiment.push(Some(run.experiment.clone()));
            point.push(Some(run.point.clone()));
            seed.push(Some(run.seed));
            hash.push(Some(run.scenario_hash.clone()));
            version.push(Some(run.version.clone()));
            world.push(Some(run.world.clone()));
            kernel.push(run.kernel.clone());
        }
        Columns::of(rows)
            .push("experiment", "Experiment identifier", Values::Text(experiment))
            .push("point", "Point of the experiment: axis=label pairs", Values::Text(point))
            .push("seed", "Seed of the run", Values::Integer(seed))
            .push("scenario_hash", "Hash of the resolved scenario", Values::Text(hash))
            .push("version", "Windlass version that made the run", Values::Text(version))
            .push("world", "World of the run: sim, linux, linux-vt=6.12", Values::Text(world))
            .push("kernel", "Release of the kernel it ran on, if one did", Values::Text(kernel))
    }
}

/// One row a run.
pub fn runs(records: &[RunRecord]) -> Table {
    let rows: Vec<&RunRecord> = records.iter().collect();
    Columns::of_run(&rows, |r| r)
        .real("end_s", "Simulated time at the end", |r| r.end_s)
        .integer("events", "Events that the simulator processed", |r| r.events)
        .integer("packet_hops", "Frames put on a link", |r| r.packet_hops)
        .table("runs")
}

/// One row a run and flow.
pub fn summary(records: &[RunRecord]) -> Table {
    let rows: Vec<(&RunRecord, &FlowResult)> =
        records.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow))).collect();
    let responses = rows.iter().map(|(_, f)| f.responses_s.clone()).collect();
    let failure = rows.iter().map(|(_, f)| f.failure.clone()).collect();
    let columns = Columns::of_run(&rows, |(run, _)| run)
        .text("flow", "Name of the flow", |(_, f)| &f.name)
        .text("algorithm", "Congestion control of the data sender", |(_, f)| &f.algorithm);
    flow_radios(flow_delays(flow_counts(flow_rates(columns))))
        .push("responses_s", "Completion time of each request, in order", Values::Reals(responses))
        .push("failure", "Why the connection failed; null if it did not", Values::Text(failure))
        .table("summary")
}

type FlowColumns<'a> = Columns<'a, (&'a RunRecord, &'a FlowResult)>;

fn flow_rates(columns: FlowColumns<'_>) -> FlowColumns<'_> {
    columns
        .real("active_s", "From the flow's start to its last byte delivered, or to the end", |r| {
            r.1.active_s
        })
        .integer("delivered_bytes", "New payload at the receiving application", |r| {
            r.1.delivered_bytes
        })
        .real("goodput_bps", "delivered_bytes · 8 / active_s", |r| r.1.goodput_bps)
        .real("throughput_bps", "Payload sent, retransmissions included, per second", |r| {
            r.1.throughput_bps
        })
        .real("loss_rate", "Sender's packets dropped by the network over those sent", |r| {
            r.1.loss_rate
        })
        .real_or_null("srtt_ms", "Smoothed RTT at the end; null without a sample", |r| r.1.srtt_ms)
        .real_or_null("min_rtt_ms", "Least RTT seen; null without a sample", |r| r.1.min_rtt_ms)
        .real_or_null("completion_s", "Time to the last byte delivered; null if unfinished", |r| {
            r.1.completion_s
        })
}

/// Delays and latencies are null unless a scenario asks for them.
fn flow_delays(columns: FlowColumns<'_>) -> FlowColumns<'_> {
    columns
        .real_or_null("delay_ms", "Mean one-way delay of data packets; null unless recorded", |r| {
            Some(r.1.transit?.mean_ms)
        })
        .real_or_null("delay_min_ms", "Least one-way delay", |r| Some(r.1.transit?.min_ms))
        .real_or_null("delay_max_ms", "Largest one-way delay", |r| Some(r.1.transit?.max_ms))
        .real_or_null("jitter_ms", "Mean change of delay from one arrival to the next", |r| {
            r.1.transit?.jitter_ms
        })
        .real_or_null("jitter_smoothed_ms", "The same smoothed as in RFC 3550, at the end", |r| {
            r.1.transit?.jitter_smoothed_ms
        })
        .real_or_null("gap_ms", "Mean time between arrivals of data packets", |r| {
            r.1.transit?.gap_ms
        })
        .real_or_null("messages_sent", "Messages written; null without a deadline", |r| {
            Some(r.1.messages?.sent as f64)
        })
        .real_or_null("messages_late", "Messages past their deadline, read or not", |r| {
            Some(r.1.messages?.late as f64)
        })
        .real_or_null("message_mean_ms", "Mean latency of messages read", |r| r.1.messages?.mean_ms)
        .real_or_null("message_p99_ms", "Latency that 99 % of those do not exceed", |r| {
            r.1.messages?.p99_ms
        })
        .real_or_null("message_max_ms", "Largest latency of messages read", |r| {
            r.1.messages?.max_ms
        })
}

fn flow_counts(columns: FlowColumns<'_>) -> FlowColumns<'_> {
    columns
        .integer("retransmits", "Data segments retransmitted", |r| r.1.retransmits)
        .integer("fast_retransmits", "Entries into fast retransmit", |r| r.1.fast_retransmits)
        .integer("rto_count", "Expiries of the retransmission timer, SYN included", |r| {
            r.1.rto_count
        })
        .integer("data_segments", "Data segments sent, retransmissions included", |r| {
            r.1.data_segments
        })
        .integer("packets_sent", "Packets of any kind from the data sender", |r| r.1.packets_sent)
        .integer("peer_packets_sent", "Packets of any kind from the data receiver", |r| {
            r.1.peer_packets_sent
        })
        .integer("cwnd_bytes", "Congestion window at the end", |r| r.1.cwnd_bytes)
}

fn flow_radios(columns: FlowColumns<'_>) -> FlowColumns<'_> {
    columns
        .real_or_null("sender_radio_s", "Radio time of the sending node; null without one", |r| {
            r.1.radio.map(|radio| radio.sender_s)
        })
        .real_or_null("receiver_radio_s", "The same of the receiving node", |r| {
            r.1.radio.map(|radio| radio.receiver_s)
        })
        .real_or_null("sender_energy_j", "Energy that the sending node's radios spent", |r| {
            r.1.radio?.sender_j
        })
        .real_or_null("receiver_energy_j", "The same of the receiving node", |r| {
            r.1.radio?.receiver_j
        })
}

/// One row a run and link direction.
pub fn links(records: &[RunRecord]) -> Table {
    let rows: Vec<(&RunRecord, &LinkResult)> =
        records.iter().flat_map(|run| run.links.iter().map(move |link| (run, link))).collect();
    Columns::of_run(&rows, |(run, _)| run)
        .text("link", "Link direction: name:from>to", |(_, l)| &l.name)
        .integer("sent", "Packets handed to the link", |r| r.1.sent)
        .integer("delivered", "Packets that came out at the far end", |r| r.1.delivered)
        .integer("drops", "Packets dropped, for any reason", |r| r.1.drops)
        .integer("drops_queue", "Of drops: by the queue", |r| r.1.drops_queue)
        .integer("drops_early", "Of drops_queue: there was room", |r| r.1.drops_early)
        .integer("drops_error", "Of drops: lost to the error model", |r| r.1.drops_error)
        .integer("marks", "Packets that the queue marked (ECN)", |r| r.1.marks)
        .integer("inside", "Packets queued or on the wire at the end", |r| r.1.inside)
        .integer("bytes", "IP bytes handed to the link and not dropped by the queue", |r| r.1.bytes)
        .real("utilisation", "Fraction of the run during which it transmitted", |r| r.1.utilisation)
        .real("mean_queue_packets", "Mean packets waiting", |r| r.1.mean_queue_packets)
        .real("mean_queue_delay_ms", "Mean wait before transmission began", |r| {
            r.1.mean_queue_delay_ms
        })
        .integer("max_queue_packets", "Most packets that waited at once", |r| r.1.max_queue_packets)
        .table("links")
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

/// The series that a table has columns for, those of inner state last.
#[derive(Clone, Debug)]
struct SeriesColumns(Vec<Series>);

impl SeriesColumns {
    /// All that every algorithm has, and the fields of inner state that occur.
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

/// What was observed of one flow at one instant.
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

    /// Whether the sample is of this row's flow and instant, and of a series not yet seen.
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

/// Time series, one row an instant and flow, one column a series; null where the series was not
/// observed at that instant. Comes in tables of bounded size, at least one.
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
    let mut columns = Columns::of(rows)
        .text("experiment", "Experiment identifier", |r| r.run.place.experiment)
        .text("point", "Point of the experiment: axis=label pairs", |r| r.run.place.point)
        .integer("seed", "Seed of the run", |r| r.run.seed)
        .real("time_s", "Simulated time", |r| r.time.as_nanos() as f64 / 1e9)
        .text("flow", "Name of the flow, or flow:subflow", |r| r.flow_name());
    for (i, series) in wanted.0.iter().enumerate() {
        columns = columns.integer_or_null(series.name(), series_meaning(*series), |r| r.values[i]);
    }
    columns.table("series")
}

fn series_meaning(series: Series) -> &'static str {
    match series {
        Series::Cwnd => "Congestion window of the data sender",
        Series::Ssthresh => "Slow-start threshold of the data sender",
        Series::InFlight => "Data in flight from the data sender",
        Series::Srtt => "Smoothed RTT of the data sender",
        Series::Rto => "Retransmission timeout of the data sender",
        Series::AckNumber => "Highest stream offset acknowledged by the data receiver",
        Series::Rwnd => "Receive window that the data receiver advertised last",
        Series::Delivered => "Payload that has reached the receiving application",
        Series::Pacing => "Rate at which the data sender is paced; 0 for not at all",
        Series::State(_) | Series::States => "Inner state of the algorithm or its slow start",
    }
}
