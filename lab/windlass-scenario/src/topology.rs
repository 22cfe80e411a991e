//! The shapes that expand to links and cells.

use crate::fields::{Field, Fields, choice, whole_u32};
use crate::link::{LINE, line};
use crate::network::{Line, MAX_PAIRS, Network};
use crate::problem::Problem;
use crate::schema::{Kinds, section};
use crate::tree::parse_value;
use crate::wifi::{self, AIR, CHAIN, GRID};

section! {
    /// Two routers between senders and receivers.
    DUMBBELL, "dumbbell":
    pairs Whole(1, 10_000), "number of senders and of receivers, 1 to 10000", "required";
    access Table(&LINE), "links of the senders and the receivers: table with the keys of a link from `rate` on", "required";
    bottleneck Table(&LINE), "link between the routers: table with the keys of a link from `rate` on", "required";
    wireless Table(&WIRELESS), "table: the senders are stations of a Wi-Fi cell; the keys of [`[[wifi]]`](#wifi) from `standard` on, and `backhaul`", "senders on `access` links";
}

section! {
    /// The radio cell of the senders of a dumbbell.
    WIRELESS, "wireless" with AIR:
    backhaul Table(&LINE), "table with the keys of a link from `rate` on: the access point is a separate node", "the access point is `r1`";
}

section! {
    /// Devices around a hub.
    STAR, "star":
    count Whole(1, 10_000), "number of devices, 1 to 10000", "required";
    access Table(&LINE), "links of the devices: table with the keys of a link from `rate` on", "required";
    bottleneck Table(&LINE), "link from the hub to the server: table with the keys of a link from `rate` on", "none; the server is the hub";
}

section! {
    /// A client and a server with two paths between them.
    TWO_PATH, "two-path":
    paths list(Table(&LINE)), "two tables with the keys of a link from `rate` on: the bottleneck of each path", "required";
    access Table(&LINE), "links on both sides of each bottleneck: table with the keys of a link from `rate` on", "`1Gbps`, no delay, `1000pkt`";
    shared Table(&LINE), "link that both paths use after the bottlenecks: table with the keys of a link from `rate` on", "none";
}

/// The shapes that expand to links and cells.
pub(crate) static TOPOLOGY: Kinds = Kinds {
    name: "topology",
    tag: "kind",
    usual: None,
    kinds: &[
        ("dumbbell", &[&DUMBBELL]),
        ("star", &[&STAR]),
        ("two-path", &[&TWO_PATH]),
        ("grid", &[&GRID]),
        ("chain", &[&CHAIN]),
    ],
};

/// Reads `[topology]` and adds its links and cells to the network.
pub(super) fn read(field: &Field, network: &mut Network) -> Result<(), Problem> {
    let fields = Fields::any(field.node, "`[topology]`")?;
    let kind = fields.req("kind", "\"dumbbell\"", choice(&TOPOLOGY.words()))?;
    let what = format!("`[topology]` of the kind `{kind}`");
    let fields = Fields::open(field.node, &what, &TOPOLOGY.names(kind))?;
    match kind {
        "star" => star(&fields, network),
        "two-path" => two_paths(&fields, network),
        "grid" => wifi::read_grid(&fields, network),
        "chain" => wifi::read_chain(&fields, network),
        _ => dumbbell(&fields, network),
    }
}

/// `s1`, `s2` ... on `r1`, and `r2` with `d1`, `d2` ...
fn dumbbell(fields: &Fields, network: &mut Network) -> Result<(), Problem> {
    let pairs = fields.req("pairs", "4", whole_u32(1, MAX_PAIRS))?;
    let example = "{ rate = \"10Mbps\", delay = \"10ms\" }";
    let access = fields.req("access", example, line)?;
    let bottleneck = fields.req("bottleneck", example, line)?;
    network.pairs = Some(pairs);
    let place = fields.place();
    match fields.field("wireless") {
        Some(wireless) => add_wireless(&wireless, network, pairs)?,
        None => {
            for i in 1..=pairs {
                let name = format!("access-s{i}");
                network.push(name, (&format!("s{i}"), "r1"), access.clone(), place)?;
            }
        }
    }
    network.push("bottleneck".to_owned(), ("r1", "r2"), bottleneck, place)?;
    for i in 1..=pairs {
        let name = format!("access-d{i}");
        network.push(name, ("r2", &format!("d{i}")), access.clone(), place)?;
    }
    Ok(())
}

/// `s1`, `s2` ... on `hub`, and from there to `server`; without a bottleneck on `server`.
fn star(fields: &Fields, network: &mut Network) -> Result<(), Problem> {
    let count = fields.req("count", "2000", whole_u32(1, MAX_PAIRS))?;
    let access = fields.req("access", "{ rate = \"60kbps\", delay = \"700ms\" }", line)?;
    let bottleneck = fields.opt("bottleneck", line)?;
    network.pairs = Some(count);
    let place = fields.place();
    let centre = if bottleneck.is_some() { "hub" } else { "server" };
    for i in 1..=count {
        let ends = (&*format!("s{i}"), centre);
        network.push(format!("access-s{i}"), ends, access.clone(), place)?;
    }
    match bottleneck {
        Some(line) => network.push("bottleneck".to_owned(), (centre, "server"), line, place),
        None => Ok(()),
    }
}

/// Makes the senders of a dumbbell stations of a cell. The access point is `r1`, or `ap` if a link
/// connects it to `r1`.
fn add_wireless(field: &Field, network: &mut Network, pairs: u32) -> Result<(), Problem> {
    let fields = Fields::open(field.node, "`wireless`", &WIRELESS.all_names())?;
    let backhaul = fields.opt("backhaul", line)?;
    let access_point = if backhaul.is_some() { "ap" } else { "r1" };
    let senders = (1..=pairs).map(|i| format!("s{i}"));
    wifi::read_senders(&fields, network, access_point, senders)?;
    match backhaul {
        Some(line) => network.push("backhaul".to_owned(), ("ap", "r1"), line, fields.place()),
        None => Ok(()),
    }
}

/// Adds two paths. Path `i` is client > `ai` > `bi` > server; its bottleneck is the link `path-i`
/// between `ai` and `bi`. With a `shared` link, both paths end at `m`, and this link connects `m`
/// to the server.
fn two_paths(fields: &Fields, network: &mut Network) -> Result<(), Problem> {
    let example =
        "[{ rate = \"3Mbps\", delay = \"20ms\" }, { rate = \"1Mbps\", delay = \"40ms\" }]";
    let paths = fields.req("paths", example, two_lines)?;
    let access = fields.opt("access", line)?.map_or_else(fast, Ok)?;
    let shared = fields.opt("shared", line)?;
    let place = fields.place();
    let join = if shared.is_some() { "m" } else { "server" };
    for (i, path) in (1..).zip(paths) {
        let (a, b) = (format!("a{i}"), format!("b{i}"));
        network.push(format!("access-a{i}"), ("client", &a), access.clone(), place)?;
        network.push(format!("path-{i}"), (&a, &b), path, place)?;
        network.push(format!("access-b{i}"), (&b, join), access.clone(), place)?;
    }
    match shared {
        Some(shared) => network.push("shared".to_owned(), (join, "server"), shared, place),
        None => Ok(()),
    }
}

/// Links that accept all data of a sender at once.
fn fast() -> Result<Line, Problem> {
    let node = parse_value("{ rate = \"1Gbps\", queue = \"1000pkt\" }", 0, 0)?;
    line(&Field { key: "access", node: &node })
}

fn two_lines(field: &Field) -> Result<[Line; 2], Problem> {
    let [first, second] = field.pair(|n| format!("there are two paths, each a table, not {n}"))?;
    Ok([line(&first)?, line(&second)?])
}
