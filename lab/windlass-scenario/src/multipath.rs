//! Reading and writing of multipath connections: the subflows of a flow.

use windlass_cc::group::MAX_PATHS;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{AnyParams, Flavour};
use windlass_sim::radio::Hops;
use windlass_tcp::StackConfig;
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};
use windlass_tcp::stack::Lies;

use crate::codec::{Codec, Pairs, table};
use crate::context::Context;
use crate::fields::{Field, Fields, boolean, name, positive_span, text};
use crate::model::{MultipathSpec, SubflowSpec};
use crate::params::{self, algorithms};
use crate::problem::{Place, Problem};
use crate::quote::array;
use crate::schema::section;
use crate::stack::Stack;
use crate::tree::{Node, Value};
use crate::ways::Hop;

section! {
    /// `multipath`, except the keys of the connection.
    MULTIPATH, "multipath" with MULTIPATH_CONFIG:
    subflows list(Table(&SUBFLOW)), "array of 1 to 8 tables", "required";
    disjoint Flag, "the two subflows that cross a cell with `routing = \"aodv\"` take [routes without a common station](#disjoint-routes)", "`false`";
}

section! {
    /// A subflow.
    SUBFLOW, "subflow":
    name Name, "unique name within the flow", "`1`, `2`, ...";
    via list(Text), "nodes on the subflow's path from the flow's `from` to its `to`, with the fewest links between them; a `*` as in `from`", "`[]`";
    algorithm algorithms(), "congestion control", "the flow's";
    params Params, "as for a flow: parameters to change", "the flow's, or those of `algorithm`";
    slow_start SlowStart, "as for a flow", "the flow's, or that of `algorithm`";
}

table!(MULTIPATH_CONFIG, "connection", apply, written_config, MultipathConfig {
    scheduler: Codec::word(&Scheduler::ALL), "choice of the subflow for the next data: `lowest-rtt`, `round-robin`, `redundant` (all subflows), `blest`, `ecf`, `earliest-arrival`, `linux` (the kernel's scheduler, in bursts into the send queue with the earliest sending time), or by [path choice](#path-choice) `fpf`, `fpf-literal` or `path-choice`", "`\"lowest-rtt\"`; `\"linux\"` with `flavour = \"linux\"` in the stack";
    receive_buffer: Codec::size(1, MAX_WINDOW), "receive buffer that all subflows share; data that wait for earlier data of another subflow stay in it", "the `stack`'s";
    send_buffer: Codec::size(1, MAX_WINDOW), "send buffer that all subflows share", "the `stack`'s";
    penalise: Codec::flag(), "reduce the cwnd of a subflow that holds up the receive window, at most once per RTT", "`true`; `false` with `flavour = \"linux\"`";
    opportunistic: Codec::flag(), "retransmit data that hold up the receive window on another subflow with room", "`true`; `false` with `flavour = \"linux\"`";
    checksum: Codec::flag(), "checksum in each mapping, two bytes of option", "`false`";
    peer_capable: Codec::flag(), "whether both ends speak Multipath TCP; otherwise the connection falls back to ordinary TCP on the first path that comes up", "`true`";
    timeouts_to_fail: Codec::whole(1, u32::MAX), "consecutive timeouts after which a subflow gets no more data, until an acknowledgement arrives on it", "`3`";
    join_retry: Codec::time(positive_span), "time from the failure of a subflow, or of an attempt to join, to the next attempt; doubled after each further failure", "`\"1s\"`";
});

const SUBFLOWS: &str = "subflows";
const DISJOINT: &str = "disjoint";

/// `multipath` of a flow before its ends are known.
pub(super) struct Template {
    config: MultipathConfig,
    /// Place of the key `disjoint`, if it is true.
    disjoint: Option<Place>,
    subflows: Vec<Subflow>,
}

struct Subflow {
    name: String,
    via: Vec<(String, Place)>,
    controller: AnyParams,
    place: Place,
}

/// The defaults of a connection on this stack.
fn defaults(stack: &Stack) -> MultipathConfig {
    let config = match stack.flavour {
        Flavour::Linux => MultipathConfig::linux(),
        Flavour::Rfc | Flavour::Ns3 => MultipathConfig::default(),
    };
    let StackConfig { receive_buffer, send_buffer, .. } = stack.config;
    MultipathConfig { receive_buffer, send_buffer, ..config }
}

/// Reads the `multipath` of a flow with this controller and stack.
pub(super) fn read(
    field: &Field,
    controller: AnyParams,
    stack: &Stack,
) -> Result<Template, Problem> {
    let fields = Fields::open(field.node, "`multipath`", &MULTIPATH.all_names())?;
    if stack.config.lies != Lies::None {
        return Err(
            field.error("a receiver with several paths cannot misbehave; leave `stack.lies` out")
        );
    }
    let mut config = defaults(stack);
    apply(&mut config, &fields)?;
    let example = "[{ via = [\"a1\"] }, { via = [\"a2\"] }]";
    let items = fields.req(SUBFLOWS, example, tables)?;
    if !(1..=MAX_PATHS).contains(&items.len()) {
        let message =
            format!("a connection has from 1 to {MAX_PATHS} of them, not {}", items.len());
        return Err(fields.error(SUBFLOWS, message));
    }
    let mut subflows: Vec<Subflow> = Vec::new();
    for (node, number) in items.iter().zip(1..) {
        let subflow = read_subflow(node, number, controller, stack.flavour)?;
        if subflows.iter().any(|s| s.name == subflow.name) {
            let name = &subflow.name;
            let message = format!("there is already a subflow `{name}` of this flow");
            return Err(Problem::new(&subflow.place, message));
        }
        subflows.push(subflow);
    }
    let disjoint = fields.or(DISJOINT, boolean, false)?;
    let place = fields.field(DISJOINT).map(|f| f.node.place.clone());
    Ok(Template { config, disjoint: place.filter(|_| disjoint), subflows })
}

fn tables<'a>(field: &Field<'a>) -> Result<&'a [Node], Problem> {
    match &field.node.value {
        Value::Array(items) => Ok(items),
        _ => Err(field.error("must be an array of tables, one for each subflow")),
    }
}

fn read_subflow(
    node: &Node,
    number: u32,
    flows: AnyParams,
    flavour: Flavour,
) -> Result<Subflow, Problem> {
    let fields = Fields::open(node, "a subflow", SUBFLOW.names)?;
    let controller = fields.or("algorithm", |f| params::algorithm(f, flavour), Some(flows))?;
    let Some(mut controller) = controller else {
        return Err(fields.error("algorithm", "a subflow needs one such as `reno`"));
    };
    params::read_settings(&fields, flavour, &mut controller)?;
    // A subflow's SYN has no Quick-Start request, so its initial window is the usual window.
    if controller.requirements().slow_start.is_some()
        && controller.common().slow_start.rate_code().is_some()
    {
        let message = "Quick-Start is not for subflows; choose another, such as `hystart`";
        return Err(fields.error("slow_start", message));
    }
    let via = |field: &Field| {
        let each = field.array()?;
        each.iter().map(|f| Ok((text(f)?, f.node.place.clone()))).collect()
    };
    Ok(Subflow {
        name: fields.or("name", name, number.to_string())?,
        via: fields.or("via", via, Vec::new())?,
        controller,
        place: fields.place_of("name").clone(),
    })
}

impl Context<'_> {
    /// The subflows between these nodes, and the path of each. In the names of nodes, `*` is
    /// replaced by the flow's `number`.
    pub(super) fn subflows(
        &self,
        template: &Template,
        ends: [usize; 2],
        number: u32,
    ) -> Result<(MultipathSpec, Vec<Vec<Hop>>), Problem> {
        let mut subflows = Vec::new();
        let mut ways = Vec::new();
        for subflow in &template.subflows {
            let resolve = |(name, place): &(String, Place)| {
                self.node_named("via", &name.replace('*', &number.to_string()), place)
            };
            let spec = SubflowSpec {
                name: subflow.name.clone(),
                via: subflow.via.iter().map(resolve).collect::<Result<_, _>>()?,
                controller: subflow.controller,
            };
            ways.push(self.way(&spec, subflow, ends)?);
            subflows.push(spec);
        }
        if let Some(place) = &template.disjoint {
            self.check_disjoint(&subflows, &ways)
                .map_err(|message| Problem::new(place, format!("`{DISJOINT}`: {message}")))?;
        }
        let disjoint = template.disjoint.is_some();
        Ok((MultipathSpec { config: template.config, subflows, disjoint }, ways))
    }

    /// Checks that each cell with AODV that a subflow crosses is crossed by exactly two subflows,
    /// once each and between the same stations.
    fn check_disjoint(&self, subflows: &[SubflowSpec], ways: &[Vec<Hop>]) -> Result<(), String> {
        let mut any = false;
        for (index, wifi) in self.network.wifi.iter().enumerate() {
            let ends = |hop: &Hop| match *hop {
                Hop::Air { cell, from, to } if cell == index => Some([from, to]),
                _ => None,
            };
            if !matches!(wifi.radio.hops, Hops::Aodv(_)) {
                continue;
            }
            let here: Vec<(usize, [usize; 2])> = (0..)
                .zip(ways)
                .flat_map(|(subflow, way)| way.iter().filter_map(ends).map(move |e| (subflow, e)))
                .collect();
            let cell = &wifi.radio.name;
            if let Some(twice) = here.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let name = &subflows[twice[0].0].name;
                return Err(format!(
                    "the subflow `{name}` crosses the cell `{cell}` twice, and a disjoint route is \
                     one from end to end; leave out the stations of the cell from its `via`"
                ));
            }
            match here.as_slice() {
                [] => {}
                [(_, a), (_, b)] if a == b => any = true,
                [_, _] => {
                    return Err(format!(
                        "the two subflows over the cell `{cell}` must enter and leave it at the same \
                         stations"
                    ));
                }
                crossing => {
                    let n = crossing.len();
                    return Err(format!(
                        "two subflows can take disjoint routes over the cell `{cell}`, not {n}"
                    ));
                }
            }
        }
        let message = "is for two subflows that cross a Wi-Fi cell with `routing = \"aodv\"`, and these \
                       cross none";
        any.then_some(()).ok_or_else(|| message.to_owned())
    }

    fn way(
        &self,
        spec: &SubflowSpec,
        subflow: &Subflow,
        ends: [usize; 2],
    ) -> Result<Vec<Hop>, Problem> {
        let nodes = spec.nodes(ends);
        self.ways.through(&nodes).ok_or_else(|| {
            let names: Vec<&str> = nodes.iter().map(|n| self.network.nodes[*n].as_str()).collect();
            let place = subflow.via.first().map_or(&subflow.place, |(_, place)| place);
            let message = format!("`via`: {} lead along {}", self.no_ways(), names.join(" > "));
            Problem::new(place, message)
        })
    }
}

/// `multipath` as keys and TOML text, the subflows by `subflow`.
pub(super) fn written(spec: &MultipathSpec, subflow: impl Fn(&SubflowSpec) -> String) -> Pairs {
    let mut all = written_config(&spec.config);
    if spec.disjoint {
        all.push((DISJOINT, spec.disjoint.to_string()));
    }
    all.push((SUBFLOWS, array(&spec.subflows, subflow)));
    all
}
