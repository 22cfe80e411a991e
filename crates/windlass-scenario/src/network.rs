//! Reading links and the topologies that expand to links.

use std::collections::BTreeMap;

use super::course;
use super::error::{Place, Problem};
use super::fields::{Field, Fields, choice, name, positive_span, size_u32, span, whole_u32};
use windlass_sim::course::Course;
use windlass_sim::link::Framing;
use windlass_sim::loss::LossModel;
use windlass_sim::quick_start::QuickStart;

use super::loss::losses;
use super::model::{DirectionSpec, LinkSpec, WifiSpec};
use super::quick_start;
use super::schema::{LINE, LINK, TOPOLOGY, WIRELESS};
use super::tree::{Node, Value};
use super::ways::Ways;
use super::wifi;
use windlass_cc::Span;

pub(super) const DEFAULT_MTU: u32 = 1_500;
/// Largest and smallest packet of IPv4 (RFC 791).
const MTU_RANGE: (u32, u32) = (68, 65_535);
/// Enough for every study of flows that share a link, and little enough to fit in memory.
pub(super) const MAX_PAIRS: u32 = 10_000;

/// Kinds of topologies.
#[derive(Clone, Copy)]
enum Kind {
    Dumbbell,
    TwoPath,
    Grid,
    Chain,
}

const KINDS: [(&str, Kind); 4] = [
    ("dumbbell", Kind::Dumbbell),
    ("two-path", Kind::TwoPath),
    ("grid", Kind::Grid),
    ("chain", Kind::Chain),
];

/// The nodes and links of a scenario.
#[derive(Default)]
pub(super) struct Network {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSpec>,
    pub(super) wifi: Vec<WifiSpec>,
    /// Pairs of flows that take disjoint routes in a cell, as the file has them.
    pub(super) disjoint: Vec<(usize, wifi::Pair)>,
    /// Pairs of the topology, if there is one.
    pub(super) pairs: Option<u32>,
    index: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
}

/// Everything of a link but its name and its ends.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) forward: DirectionSpec,
    pub(super) mtu: u32,
    pub(super) framing: Framing,
    pub(super) bdp_rtt: Option<Span>,
    pub(super) loss: [Option<LossModel>; 2],
    pub(super) down: Vec<[Span; 2]>,
    pub(super) quick_start: Option<QuickStart>,
    pub(super) back: Option<Box<DirectionSpec>>,
    pub(super) course: [Course; 2],
}

impl Network {
    /// Reads the topology, then the links.
    pub(super) fn read(root: &Fields) -> Result<Network, Problem> {
        let mut network = Network::default();
        if let Some(field) = root.field("topology") {
            network.add_topology(&field)?;
        }
        for link in root.opt("link", tables)?.unwrap_or_default() {
            network.add_link(link)?;
        }
        for cell in root.opt("wifi", tables)?.unwrap_or_default() {
            wifi::read(cell, &mut network)?;
        }
        Ok(network)
    }

    /// Where packets can go.
    pub(super) fn ways(&self) -> Ways {
        Ways::new(self.nodes.len(), &self.links, &self.wifi)
    }

    /// Index of the node with this name.
    pub(super) fn node(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Index of the link with this name.
    pub(super) fn link(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Index of the node with this name, which comes into being.
    pub(super) fn intern(&mut self, name: &str) -> usize {
        if let Some(index) = self.node(name) {
            return index;
        }
        self.nodes.push(name.to_owned());
        self.index.insert(name.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn add_link(&mut self, node: &Node) -> Result<(), Problem> {
        let fields = Fields::open(node, "`[[link]]`", &LINK.all_names())?;
        let (a, b) = fields.req("between", "[\"client\", \"server\"]", between)?;
        let (name, place) = match fields.field("name") {
            Some(field) => (name(&field)?, &field.node.place),
            None => (self.free_name(&format!("{a}-{b}")), fields.place()),
        };
        let line = read_line(&fields)?;
        self.push(name, (&a, &b), line, place)
    }

    /// The name, or the name with the first number that makes it unique.
    fn free_name(&self, base: &str) -> String {
        let mut name = base.to_owned();
        let mut n = 2;
        while self.names.contains_key(&name) {
            name = format!("{base}-{n}");
            n += 1;
        }
        name
    }

    pub(super) fn push(
        &mut self,
        name: String,
        (a, b): (&str, &str),
        line: Line,
        place: &Place,
    ) -> Result<(), Problem> {
        if self.names.contains_key(&name) {
            let message = format!("there is already a link `{name}`; link names are unique");
            return Err(Problem::new(place, message));
        }
        let (a, b) = (self.intern(a), self.intern(b));
        self.names.insert(name.clone(), self.links.len());
        let Line { mtu, framing, bdp_rtt, loss, down, quick_start, forward, back, course } = line;
        let DirectionSpec { rate_bps, delay, queue, discipline } = forward;
        self.links.push(LinkSpec {
            name,
            a,
            b,
            rate_bps,
            delay,
            queue,
            discipline,
            mtu,
            framing,
            bdp_rtt,
            loss,
            down,
            quick_start,
            back,
            course,
        });
        Ok(())
    }

    fn add_topology(&mut self, field: &Field) -> Result<(), Problem> {
        let fields = Fields::any(field.node, "`[topology]`")?;
        match fields.req("kind", "\"dumbbell\"", choice(&KINDS))? {
            Kind::Dumbbell => fields.allow(&TOPOLOGY.names("dumbbell"))?,
            Kind::TwoPath => return self.add_two_paths(field),
            Kind::Grid => return wifi::read_grid(field, self),
            Kind::Chain => return wifi::read_chain(field, self),
        }
        let pairs = fields.req("pairs", "4", whole_u32(1, MAX_PAIRS))?;
        let example = "{ rate = \"10Mbps\", delay = \"10ms\" }";
        let access = fields.req("access", example, line)?;
        let bottleneck = fields.req("bottleneck", example, line)?;
        self.pairs = Some(pairs);
        let place = fields.place();
        match fields.field("wireless") {
            Some(wireless) => self.add_wireless(&wireless, pairs)?,
            None => {
                for i in 1..=pairs {
                    let name = format!("access-s{i}");
                    self.push(name, (&format!("s{i}"), "r1"), access.clone(), place)?;
                }
            }
        }
        self.push("bottleneck".to_owned(), ("r1", "r2"), bottleneck, place)?;
        for i in 1..=pairs {
            let name = format!("access-d{i}");
            self.push(name, ("r2", &format!("d{i}")), access.clone(), place)?;
        }
        Ok(())
    }

    /// The senders of a dumbbell as stations of a cell, the access point being `r1` or, with a wire
    /// between, `ap`.
    fn add_wireless(&mut self, field: &Field, pairs: u32) -> Result<(), Problem> {
        let fields = Fields::open(field.node, "`wireless`", &WIRELESS.all_names())?;
        let backhaul = fields.opt("backhaul", line)?;
        let access_point = if backhaul.is_some() { "ap" } else { "r1" };
        let senders = (1..=pairs).map(|i| format!("s{i}"));
        wifi::read_senders(&fields, self, access_point, senders)?;
        match backhaul {
            Some(line) => self.push("backhaul".to_owned(), ("ap", "r1"), line, fields.place()),
            None => Ok(()),
        }
    }
}

/// A line of a topology.
pub(super) fn line(field: &Field) -> Result<Line, Problem> {
    let what = format!("`{}`", field.key);
    read_line(&Fields::open(field.node, &what, &LINE.all_names())?)
}

/// The tables of `[[link]]`, `[[wifi]]` and `[[flow]]`.
pub(super) fn tables<'a>(field: &Field<'a>) -> Result<&'a [Node], Problem> {
    match &field.node.value {
        Value::Array(items) => Ok(items),
        Value::Table(_) => {
            let key = field.key;
            Err(field.error(format!("write `[[{key}]]` with two brackets, as there may be many")))
        }
        _ => Err(field.error(format!("must be tables, each beginning with `[[{}]]`", field.key))),
    }
}

fn between(field: &Field) -> Result<(String, String), Problem> {
    let items = field.array()?;
    let [a, b] = items.as_slice() else {
        let n = items.len();
        return Err(field.error(format!("a link joins two nodes, not {n}")));
    };
    let (a, b) = (name(a)?, name(b)?);
    if a == b {
        return Err(field.error(format!("a link joins two different nodes, not `{a}` to itself")));
    }
    Ok((a, b))
}

fn read_line(fields: &Fields) -> Result<Line, Problem> {
    let course::TwoWays { forward, back, course } = course::read(fields)?;
    Ok(Line {
        forward,
        back,
        course,
        mtu: fields.or("mtu", size_u32(MTU_RANGE.0, MTU_RANGE.1), DEFAULT_MTU)?,
        framing: fields.or("framing", choice(&Framing::ALL), Framing::NONE)?,
        bdp_rtt: fields.opt("bdp_rtt", positive_span)?,
        loss: fields.or("loss", losses, [None, None])?,
        down: fields.or("down", outages, Vec::new())?,
        quick_start: fields.or("quick_start", quick_start::read, None)?,
    })
}

/// Pairs of moments, which ascend.
fn outages(field: &Field) -> Result<Vec<[Span; 2]>, Problem> {
    let mut all: Vec<[Span; 2]> = Vec::new();
    for item in field.array()? {
        let pair = item.array()?;
        let [down, up] = pair.as_slice() else {
            let n = pair.len();
            return Err(item
                .error(format!("an outage is two times, such as `[\"10s\", \"20s\"]`, not {n}")));
        };
        let pair = [span(down)?, span(up)?];
        let after = all.last().is_none_or(|[_, up]| *up < pair[0]);
        if !after || pair[0] >= pair[1] {
            return Err(item.error("each outage begins after the one before it, and ends later"));
        }
        all.push(pair);
    }
    Ok(all)
}
