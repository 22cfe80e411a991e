//! Reading a tree into a scenario.

use std::path::Path;

use crate::model::ReceiveWindow;
use windlass_cc::Span;
use windlass_sim::Series;

use super::error::Problem;
use super::fields::{
    Field, Fields, boolean, choice, positive_span, span, text, unknown_word, whole,
};
use super::flow::{self, Context};
use super::model::{RecordSpec, Scenario, TestbedSpec};
use super::network::Network;
use super::schema::{RECORD, SCENARIO, TESTBED};
use super::traces;
use super::tree::Node;
use super::wifi;

/// Reads a whole document.
pub(super) fn scenario(root: &Node, source_name: &str) -> Result<Scenario, Problem> {
    let embedded = traces::embedded(root, source_name)?;
    let root = embedded.as_ref().unwrap_or(root);
    let fields = Fields::open(root, "the scenario", SCENARIO.names)?;
    let name = fields.or("name", text, stem(source_name))?;
    let description = fields.or("description", text, String::new())?;
    let duration = fields.req("duration", "\"100s\"", positive_span)?;
    let seed = fields.or("seed", whole(0, i64::MAX as u64), 1)?;
    let mut network = Network::read(&fields)?;
    let record = fields.or("record", |f| record(f, &network), RecordSpec::default())?;
    let testbed = fields.or("testbed", testbed, TestbedSpec::default())?;
    let context = Context {
        network: &network,
        ways: network.ways(),
        stack: fields.field("stack").map(|field| field.node),
        duration,
    };
    let flows = flow::read(&fields, &context)?;
    wifi::find_disjoint(&mut network, &flows)?;
    let Network { nodes, links, wifi, .. } = network;
    Ok(Scenario { name, description, duration, seed, nodes, links, wifi, flows, record, testbed })
}

/// `download` of `scenarios/download.toml`.
fn stem(source_name: &str) -> String {
    let stem = Path::new(source_name).file_stem().map(|stem| stem.to_string_lossy());
    stem.map_or_else(|| "scenario".to_owned(), |stem| stem.into_owned())
}

fn record(field: &Field, network: &Network) -> Result<RecordSpec, Problem> {
    let fields = Fields::open(field.node, "`[record]`", RECORD.names)?;
    Ok(RecordSpec {
        series: fields.or("series", |f| distinct(f, series), Vec::new())?,
        interval: fields.or("interval", span, Span::ZERO)?,
        bins: fields.or("bins", span, Span::ZERO)?,
        delays: fields.or("delays", boolean, false)?,
        capture: fields.or("capture", |f| distinct(f, |f| link(f, network)), Vec::new())?,
    })
}

fn testbed(field: &Field) -> Result<TestbedSpec, Problem> {
    let fields = Fields::open(field.node, "`[testbed]`", TESTBED.names)?;
    let receive_window = choice(&ReceiveWindow::ALL);
    Ok(TestbedSpec {
        receive_window: fields.or("receive_window", receive_window, ReceiveWindow::default())?,
    })
}

fn series(field: &Field) -> Result<Series, Problem> {
    let known = Series::known();
    let known: Vec<_> = known.iter().map(|(name, series)| (name.as_str(), *series)).collect();
    choice(&known)(field)
}

/// The items of an array, each once.
fn distinct<T: PartialEq>(
    field: &Field,
    read: impl Fn(&Field) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let mut values = Vec::new();
    for item in field.array()? {
        let value = read(&item)?;
        if values.contains(&value) {
            return Err(item.error("stands here twice"));
        }
        values.push(value);
    }
    Ok(values)
}

fn link(field: &Field, network: &Network) -> Result<usize, Problem> {
    let name = field.string()?;
    network.link(name).ok_or_else(|| {
        let known: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
        unknown_word(field, name, &known)
    })
}
