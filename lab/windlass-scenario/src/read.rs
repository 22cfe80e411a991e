//! Reads a tree into a scenario.

use std::path::Path;

use windlass_cc::Span;
use windlass_sim::Series;

use crate::codec::{Codec, table};
use crate::context::Context;
use crate::fields::{
    Field, Fields, choice, positive_span, span, tables, text, unknown_word, whole,
};
use crate::flow::{self, FLOW};
use crate::link::{self, LINK};
use crate::link_radio;
use crate::model::{ReceiveWindow, RecordSpec, Scenario, TestbedSpec};
use crate::network::Network;
use crate::outage::{self, OUTAGE};
use crate::problem::Problem;
use crate::quote::{array, quote};
use crate::schema::{section, shape};
use crate::stack::STACK_TABLE;
use crate::topology::{self, TOPOLOGY};
use crate::traces;
use crate::tree::Node;
use crate::units::Duration;
use crate::wifi::{self, CELL};

/// Series, of which each is named once. Each field of an algorithm's internal state has a series.
fn series() -> Codec<Vec<Series>> {
    let all = Series::ALL.iter().map(|(name, _)| *name).chain(["state"]).collect();
    let known = Series::known();
    let one = move |field: &Field| {
        let known: Vec<_> = known.iter().map(|(name, series)| (name.as_str(), *series)).collect();
        choice(&known)(field)
    };
    let shape = shape!(list(Either(vec![Words(all), Text])));
    let write = |all: &Vec<Series>| array(all, |series| quote(series.name()));
    Codec::new(shape, move |field| distinct(field, &one), write)
}

section! {
    /// The document.
    SCENARIO, "scenario":
    name Text, "string", "the file's name without `.toml`";
    description Text, "string", "empty";
    duration Of(Time), "simulated time, more than zero", "required";
    seed Whole(0, i64::MAX as u64), "integer from 0", "`1`";
    stack Table(&STACK_TABLE), "table: endpoint behaviour of all flows", "`{ preset = \"rfc\" }`";
    topology Kinds(&TOPOLOGY), "table: a shape that expands to links", "none";
    link list(Table(&LINK)), "tables: links", "none";
    wifi list(Table(&CELL)), "tables: Wi-Fi cells", "none";
    flow list(Table(&FLOW)), "tables: flows, at least one", "required";
    outage list(Table(&OUTAGE)), "tables: outages of nodes", "none";
    record Table(&RECORD), "table: data to record in addition to the totals", "nothing";
    testbed Table(&TESTBED), "table: settings for kernels only", "the defaults";
}

table!(RECORD, "record", apply_record, written_record, RecordSpec {
    series: series(), "series of every flow: `cwnd_bytes`, `ssthresh_bytes`, `in_flight_bytes`, `srtt_ns`, `rtt_ns` (each sample), `rto_ns`, `latency_ns` (of each message that arrives, with a `deadline`), `ack_number_bytes`, `rwnd_bytes`, `delivered_bytes`, `pacing_bps`, `state.FIELD` or, for all fields, `state`", "`[]`";
    interval: Codec::time(span), "minimum time between two samples of a series; `0s` records every change", "`\"0s\"`";
    capture [list(Text)], "names of links whose packets are written to a pcapng file", "`[]`";
    bins: Codec::time(span).unless(Span::ZERO), "length of the intervals for counts of link drops and of the progress of flows, for the metrics `run.convergence_cwnd_s` and `run.convergence_rate_s`, in the simulator only; at most a million intervals per run. `0s` counts nothing", "`\"0s\"`";
    delays: Codec::flag().unless(false), "whether the one-way delay of each data packet and each RTT sample of its sender are measured, for the metrics `flow.NAME.delay_ms`, `delay_min_ms`, `delay_max_ms`, `delay_p50_ms`, `delay_p95_ms`, `delay_p99_ms`, `jitter_ms`, `jitter_smoothed_ms` (RFC 3550), `gap_ms`, `rtt_ms`, `rtt_p50_ms`, `rtt_p95_ms`, `rtt_p99_ms` and `rtt_max_ms`, in the simulator only", "`false`";
} capture: _, capture_within: _, decisions: _);

table!(TESTBED, "testbed", apply_testbed, written_testbed, TestbedSpec {
    receive_window: Codec::word(&ReceiveWindow::ALL), "limit of the window to `receive_buffer` without `window_scaling`: `\"pinned\"`, the emulator reduces the window field of passing segments, so that the sender sees the simulator's window; `\"buffer\"`, the kernel's own buffer of twice the size (`tcp_rmem`), whose accounting reduces the window while segments wait behind a hole", "`\"pinned\"`";
});

/// Reads a whole document.
pub(super) fn scenario(root: &Node, source_name: &str) -> Result<Scenario, Problem> {
    let embedded = traces::embedded(root, source_name)?;
    let root = embedded.as_ref().unwrap_or(root);
    let fields = Fields::open(root, "the scenario", SCENARIO.names)?;
    let name = fields.or("name", title, stem(source_name))?;
    let description = fields.or("description", text, String::new())?;
    let duration = fields.req("duration", "\"100s\"", positive_span)?;
    let seed = fields.or("seed", whole(0, i64::MAX as u64), 1)?;
    let mut network = network(&fields)?;
    let record = fields.or("record", |f| record(f, &network, duration), RecordSpec::default())?;
    let testbed = fields.or("testbed", testbed, TestbedSpec::default())?;
    let context = Context {
        network: &network,
        ways: network.ways(),
        stack: fields.field("stack").map(|field| field.node),
        duration,
    };
    let flows = flow::read(&fields, &context)?;
    link_radio::check_loads(&network, &flows)?;
    let outages = outage::read(&fields, &context, &flows)?;
    wifi::check_ends(&network)?;
    wifi::find_disjoint(&mut network, &flows)?;
    let Network { nodes, links, wifi, .. } = network;
    Ok(Scenario {
        name,
        description,
        duration,
        seed,
        nodes,
        links,
        wifi,
        flows,
        record,
        outages,
        testbed,
    })
}

/// The topology, then the links and the cells.
fn network(root: &Fields) -> Result<Network, Problem> {
    let mut network = Network::default();
    if let Some(field) = root.field("topology") {
        topology::read(&field, &mut network)?;
    }
    for node in root.opt("link", tables)?.unwrap_or_default() {
        link::read(node, &mut network)?;
    }
    for node in root.opt("wifi", tables)?.unwrap_or_default() {
        wifi::read(node, &mut network)?;
    }
    Ok(network)
}

/// The stem of a file's name: `download` for `scenarios/download.toml`.
fn stem(source_name: &str) -> String {
    let stem = Path::new(source_name).file_stem().map(|stem| stem.to_string_lossy());
    stem.map_or_else(|| "scenario".to_owned(), |stem| stem.into_owned())
}

/// Maximum number of counting intervals per run.
const MOST_BINS: u64 = 1_000_000;

/// Reads a name for headings and file names. File names escape it. Control characters are an error, because a
/// terminal would obey them.
fn title(field: &Field) -> Result<String, Problem> {
    let title = text(field)?;
    if title.chars().any(char::is_control) {
        return Err(field.error("has a control character, such as a line's end"));
    }
    Ok(title)
}

fn record(field: &Field, network: &Network, duration: Span) -> Result<RecordSpec, Problem> {
    let fields = Fields::open(field.node, "`[record]`", RECORD.names)?;
    let mut record = RecordSpec::default();
    apply_record(&mut record, &fields)?;
    // The intervals of a run must fit into memory.
    if record.bins > Span::ZERO && duration.0 / record.bins.0 > MOST_BINS {
        let least = Duration(Span(duration.0.div_ceil(MOST_BINS)));
        return Err(fields.error(
            "bins",
            format!("the run would have more than {MOST_BINS} intervals; write at least `{least}`"),
        ));
    }
    let named = |field: &Field| distinct(field, |field| link_named(field, network));
    record.capture = fields.or("capture", named, Vec::new())?;
    Ok(record)
}

fn testbed(field: &Field) -> Result<TestbedSpec, Problem> {
    let mut testbed = TestbedSpec::default();
    apply_testbed(&mut testbed, &Fields::open(field.node, "`[testbed]`", TESTBED.names)?)?;
    Ok(testbed)
}

/// The items of an array; a repeated item is an error.
fn distinct<T: PartialEq>(
    field: &Field,
    read: impl Fn(&Field) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let mut values = Vec::new();
    for item in field.array()? {
        let value = read(&item)?;
        if values.contains(&value) {
            return Err(item.error("occurs twice"));
        }
        values.push(value);
    }
    Ok(values)
}

fn link_named(field: &Field, network: &Network) -> Result<usize, Problem> {
    let name = field.string()?;
    network.link(name).ok_or_else(|| {
        let known: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
        unknown_word(field, name, &known)
    })
}
