//! Reads flows: their ends, their traffic, and the expansion of one entry to several flows.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cc::{AnyParams, Flavour, Span};
use windlass_sim::config::{Coap as SimCoap, UDP_HEADERS};
use windlass_sim::session::Connect;
use windlass_tcp::Profile;

use crate::class::{self, Class};
use crate::connections::{self, DIALOGUE, reconnects};
use crate::context::Context;
use crate::draw;
use crate::fields::{Field, Fields, choice, name, span, tables, text, whole_u32};
use crate::library::Library;
use crate::model::{Coap, FlowSpec, Home, Media, Read, Traffic, Transport};
use crate::multipath::{self, MULTIPATH};
use crate::network::{MAX_PAIRS, Network};
use crate::params::{self, algorithms};
use crate::problem::{Place, Problem};
use crate::quic;
use crate::schema::section;
use crate::stack::{self, STACK_TABLE, Stack, TCP_HEADERS};
use crate::traffic::{READ, TRAFFIC, read_application, traffic};
use crate::tree::{Node, Value};
use crate::units::Duration;
use crate::ways::{self, Hop};

section! {
    /// `[[flow]]`.
    FLOW, "flow":
    name Name, "unique name", "`from-to`, with `-2`, `-3` ... if taken";
    from Text, "node that sends the data", "required";
    to Text, "node that receives it", "required";
    algorithm Either(vec![algorithms(), KernelName, ClassName, LibraryName]), "congestion control; `windlass algorithms` lists them. `linux:NAME` is the kernel's algorithm of this name, for runs on that kernel only. `python:MODULE:CLASS` is a [class in Python](../guides/python.md#your-own-algorithm), for runs of the Python package and its command. `quinn:NAME` is this algorithm in a [QUIC connection of quinn](../guides/quic.md#quic-flows-in-a-scenario) in place of TCP, and `quinn:own-cubic` or `quinn:own-newreno` is quinn's own, for runs of `windlass-quic`", "required, but for datagrams `none`";
    params Params, "table: parameters of the algorithm", "the algorithm's";
    slow_start SlowStart, "`standard`, `limited`, `hystart`, `hystart++`, `vegas`, `packet-pair`, `adaptive`, `ccm-ss`, `quick-start`, `search` or `careful-resume`, or a table with a `name` and parameters: `{ name = \"hystart\", detect = \"delay\" }`", "the algorithm's";
    flavour Words(Flavour::WORDS.to_vec()), "implementation of the algorithm and its slow start: `rfc` (the paper's or RFC's), `linux` or `ns3`", "the `stack`'s";
    home words(&Home::ALL), "build of the algorithm in a kernel, with `--on linux` or `linux-vt`: `\"kernel\"`, the kernel's own; `\"bpf\"`, Windlass's algorithm as a BPF program, with its parameters (`windlass kernel build` first). Other backends have one build only", "`\"kernel\"`";
    stack Table(&STACK_TABLE), "table: endpoint behaviour, merged over `[stack]`", "`[stack]`";
    start Of(Time), "time at which the flow begins, before the end of the run", "`\"0s\"`";
    count Whole(1, 10_000), "number of flows like this one, 1 to 10000", "`1`, or the topology's pairs or devices when `*` is used";
    stagger Of(Time), "delay between the starts of consecutive flows", "`\"0s\"`";
    jitter Of(Time), "maximum random delay of the start: each run draws it from zero to this time, equal for every algorithm. Two simulated flows over one drop-tail queue without random losses lock in phase, and the phase determines their shares: compare several offsets", "`\"0s\"`";
    traffic Kinds(&TRAFFIC), "table: what the applications send", "`{ kind = \"bulk\" }`";
    read Kinds(&READ), "table: reading by the receiving application", "`{ kind = \"immediate\" }`";
    connect words(&Connect::ALL), "for `messages` and `request-response` over TCP: `once`, one connection; `per-message`, a connection for each message or request. A connection begins when the dialogues of the previous connection have ended, or after the `timeout` of [`reconnect`](#reconnect), which is one minute without that key", "`\"once\"`";
    reconnect reconnects(), "what the application does after the loss of its connection: the name of a published rule, such as `\"paho\"`, or a table: [`reconnect`](#reconnect). Without it, a lost connection ends the flow; with `per-message`, the next message opens the next connection", "none";
    dialogue Table(&DIALOGUE), "table: exchanges at the beginning of each connection, such as TLS, and for each message: [`dialogue`](#dialogue)", "the messages alone";
    multipath Table(&MULTIPATH), "table: the subflows of a Multipath TCP connection (RFC 8684): [`multipath`](#multipath)", "one ordinary connection";
    draw Either(vec![Flag, list(Text)]), "`true`: each run draws different sending nodes, from all nodes whose names match `from` with any text for its `*` (except `to`); or an array of the nodes to draw from", "the senders of `from`";
}

/// A flow before it has a name.
struct Unnamed {
    spec: FlowSpec,
    /// Place of an explicit name; `None` when `spec.name` is only a proposal.
    explicit: Option<Place>,
    /// Place of its `draw`.
    draw: Option<Place>,
}

/// One `[[flow]]`.
struct Template<'a> {
    fields: Fields<'a>,
    /// The flow without its ends, name and start.
    spec: FlowSpec,
    mss_place: Option<Place>,
    multipath: Option<multipath::Template>,
}

/// Reads all flows of the scenario.
pub(super) fn read(root: &Fields, context: &Context) -> Result<Vec<FlowSpec>, Problem> {
    let items = root.opt("flow", tables)?.unwrap_or_default();
    if items.is_empty() {
        let message = "a scenario needs at least one flow; add a `[[flow]]`";
        return Err(Problem::new(root.place(), message));
    }
    let mut flows = Vec::new();
    for item in items {
        context.expand(item, &mut flows)?;
        if flows.len() > MAX_PAIRS as usize {
            let message = format!("a scenario has at most {MAX_PAIRS} flows");
            return Err(Problem::new(&item.place, message));
        }
    }
    let draws: Vec<Option<Place>> = flows.iter().map(|flow| flow.draw.clone()).collect();
    let flows = name_all(flows)?;
    draw::check(&flows, &draws)?;
    Ok(flows)
}

/// Gives explicit names first. Then each proposed name gets the first free number.
fn name_all(flows: Vec<Unnamed>) -> Result<Vec<FlowSpec>, Problem> {
    let mut taken = BTreeSet::new();
    for flow in &flows {
        let Some(place) = &flow.explicit else { continue };
        if !taken.insert(flow.spec.name.clone()) {
            let name = &flow.spec.name;
            let message = format!("there is already a flow `{name}`; flow names are unique");
            return Err(Problem::new(place, message));
        }
    }
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    let unique = |mut flow: Unnamed| {
        if flow.explicit.is_some() {
            return flow.spec;
        }
        let base = flow.spec.name.clone();
        let n = next.entry(base.clone()).or_insert(1);
        while !taken.insert(flow.spec.name.clone()) {
            *n += 1;
            flow.spec.name = format!("{base}-{n}");
        }
        flow.spec
    };
    Ok(flows.into_iter().map(unique).collect())
}

impl Context<'_> {
    /// Appends the flows of this entry.
    fn expand(&self, item: &Node, flows: &mut Vec<Unnamed>) -> Result<(), Problem> {
        let template = self.template(item)?;
        let fields = &template.fields;
        let from = fields.req("from", "\"server\"", text)?;
        let to = fields.req("to", "\"client\"", text)?;
        let is_pattern = from.contains('*') || to.contains('*');
        let count = match fields.opt("count", whole_u32(1, MAX_PAIRS))? {
            Some(count) => count,
            None if !is_pattern => 1,
            None => self.network.pairs.ok_or_else(|| {
                let message = "`*` stands for 1, 2, ... up to `count`, which is missing here";
                Problem::new(fields.place(), message)
            })?,
        };
        let explicit = fields.opt("name", |f| Ok((name(f)?, f.node.place.clone())))?;
        let drawn = fields.opt("draw", |f| draw::read(f, self.network, (&from, &to), count))?;
        let first = template.spec.on.first().map_or(Span::ZERO, |[from, _]| *from);
        let start = fields.or("start", span, first)?;
        let stagger = fields.or("stagger", span, Span::ZERO)?;
        for i in 1..=count {
            let end = |pattern: &str| pattern.replace('*', &i.to_string());
            let (mut from, to) = (end(&from), end(&to));
            if let Some(drawn) = &drawn {
                from = drawn.sender(self.network, &from, i);
            }
            let name = match &explicit {
                Some((name, _)) if is_pattern || count > 1 => format!("{name}-{i}"),
                Some((name, _)) => name.clone(),
                None if drawn.is_some() => format!("any-{to}"),
                None => format!("{from}-{to}"),
            };
            let offset = stagger.0.checked_mul(u64::from(i - 1));
            let start = offset.and_then(|offset| start.0.checked_add(offset)).map(Span);
            let mut spec = self.flow(&template, name, (&from, &to), i, start)?;
            spec.draw = drawn.as_ref().map_or_else(Vec::new, |drawn| drawn.nodes.clone());
            let explicit = explicit.as_ref().map(|(_, place)| place.clone());
            let draw = fields.field("draw").map(|field| field.node.place.clone());
            flows.push(Unnamed { spec, explicit, draw });
        }
        Ok(())
    }

    fn template<'a>(&self, item: &'a Node) -> Result<Template<'a>, Problem> {
        let fields = Fields::open(item, "`[[flow]]`", FLOW.names)?;
        let always = (Traffic::Bulk { bytes: None }, Vec::new());
        let (traffic, on) = fields.or("traffic", traffic, always)?;
        self.check_on(&fields, &on)?;
        let is_udp = traffic.is_datagrams();
        let shared = self.stack.map(|node| Field { key: "stack", node });
        let layers: Vec<Field> = shared.into_iter().chain(fields.field("stack")).collect();
        let mut stack = stack::read(&layers)?;
        stack.flavour = fields.or(stack::FLAVOUR, stack::flavour, stack.flavour)?;
        let flavour = stack.flavour;
        let kernel = |f: &Field| {
            params::by_kernel(f.string()?).map_err(|message| Problem::new(&f.node.place, message))
        };
        let kernel = fields.opt("algorithm", kernel)?.flatten();
        let class = fields.opt("algorithm", Class::read)?.flatten();
        let library = fields.opt("algorithm", Library::read)?.flatten();
        let mut controller = match fields.field("algorithm") {
            None if is_udp => None,
            _ if kernel.is_some() => Some(AnyParams::default()),
            _ => fields.req("algorithm", "\"reno\"", |f| match (&class, &library) {
                (Some(class), _) => Ok(Some(class.params(flavour))),
                (None, Some((Library { own: Some(_), .. }, _))) => Ok(Some(AnyParams::default())),
                (None, Some((_, algorithm))) => {
                    params::algorithm(&Field { node: algorithm, ..*f }, flavour)
                }
                (None, None) => params::algorithm(f, flavour),
            })?,
        };
        let library = library.map(|(library, _)| library);
        if class.is_some() {
            class::refused(&fields)?;
        }
        if let Some(library) = &library {
            quic::refused(library, &fields)?;
            let flavour = if library.own.is_some() { Flavour::Rfc } else { flavour };
            stack = Stack { flavour, ..stack::read(&[])? };
        }
        if controller.is_some() == is_udp {
            let place = fields.place_of("algorithm");
            let message = if matches!(traffic, Traffic::Coap(_)) {
                "CoAP has no congestion control except its timer, `rto` in `traffic`; leave `algorithm` out"
            } else if matches!(traffic, Traffic::Media(_)) {
                "media has its own congestion control, NADA; leave `algorithm` out"
            } else if is_udp {
                "a flow of datagrams has no congestion control; leave `algorithm` out"
            } else {
                "`none` is for datagrams only; a TCP flow needs an algorithm such as `reno`"
            };
            return Err(Problem::new(place, message));
        }
        let settings = ["params", "slow_start", "home"];
        if let Some(field) = settings.iter().find_map(|key| fields.field(key))
            && kernel.is_some()
        {
            return Err(field.error("a kernel's algorithm has no parameters here; leave this out"));
        }
        match &mut controller {
            Some(params) => params::read_settings(&fields, flavour, params)?,
            None => {
                let settings = ["params", "slow_start", stack::FLAVOUR];
                if let Some(field) = settings.iter().find_map(|key| fields.field(key)) {
                    return Err(field.error("needs a flow with an algorithm"));
                }
                stack.flavour = Flavour::Rfc;
            }
        }
        if let Some(segments) = controller.and_then(|params| params.ack_limit(flavour))
            && !stack.ack_limit_set
        {
            stack.config.ack_limit = segments;
        }
        let home = fields.or("home", choice(&Home::ALL), Home::default())?;
        if home == Home::Bpf
            && is_udp
            && let Some(field) = fields.field("home")
        {
            return Err(field.error("needs a flow with an algorithm"));
        }
        let multipath = fields.opt("multipath", |field| match controller {
            Some(controller) => multipath::read(field, controller, &stack),
            None => Err(field.error("datagrams have no connection; only a TCP flow has subflows")),
        })?;
        let read = fields.or("read", read_application, Read::Immediate)?;
        let asks_routers = controller
            .is_some_and(|params| Profile::new(stack.config, params, 1_500).asks_routers());
        let connections = match connections::first_key(&fields) {
            None => None,
            Some(key) if !traffic.can_reconnect() => {
                let kinds = "traffic of the kind `messages` or `request-response` over TCP";
                return Err(key.error(format!("needs {kinds}")));
            }
            Some(key) if multipath.is_some() => {
                return Err(key.error("is for connections on one path; leave out `multipath`"));
            }
            Some(key) if read != Read::Immediate => {
                return Err(key.error("needs ends that read immediately; leave out `read`"));
            }
            Some(key) if asks_routers => {
                return Err(key.error("is not for Quick-Start; choose another `slow_start`"));
            }
            Some(_) => connections::read(&fields, self.duration)?,
        };
        if let (Some(spec), Traffic::RequestResponse { .. }) = (&connections, traffic)
            && !spec.message.is_empty()
        {
            let message = "`message`: requests and responses are the steps of `request-response`; \
                           only `connection` adds steps";
            return Err(Problem::new(place_within(&fields, "dialogue", "message"), message));
        }
        let spec = FlowSpec {
            name: String::new(),
            from: 0,
            to: 0,
            controller,
            kernel,
            class,
            library,
            home,
            flavour: stack.flavour,
            stack: stack.config,
            start: Span::ZERO,
            jitter: fields.or("jitter", span, Span::ZERO)?,
            traffic,
            on,
            read,
            multipath: None,
            connections: connections.map(Box::new),
            draw: Vec::new(),
        };
        Ok(Template { fields, spec, mss_place: stack.mss_place, multipath })
    }

    /// Checks sending intervals. They set the start of the flow, and must begin during the run.
    fn check_on(&self, fields: &Fields, on: &[[Span; 2]]) -> Result<(), Problem> {
        let Some([last, _]) = on.last() else { return Ok(()) };
        if let Some(field) = fields.field("start") {
            return Err(field.error("the flow starts with the first interval of `on`"));
        }
        if *last < self.duration {
            return Ok(());
        }
        let (last, end) = (Duration(*last), Duration(self.duration));
        let message = format!("`on`: an interval begins at {last}, when the run has ended ({end})");
        Err(Problem::new(place_within(fields, "traffic", "on"), message))
    }

    fn flow(
        &self,
        template: &Template,
        name: String,
        (from_name, to_name): (&str, &str),
        number: u32,
        start: Option<Span>,
    ) -> Result<FlowSpec, Problem> {
        let fields = &template.fields;
        let from = self.node(fields, "from", from_name)?;
        let to = self.node(fields, "to", to_name)?;
        if from == to {
            let message =
                format!("flow `{name}` goes from `{from_name}` to itself; give it two nodes");
            return Err(Problem::new(fields.place_of("to"), message));
        }
        let route = self.ways.hops(from, to).ok_or_else(|| {
            let message = format!(
                "{} lead from `{from_name}` to `{to_name}`; {}",
                self.no_ways(),
                self.cure()
            );
            Problem::new(fields.place_of("to"), message)
        })?;
        let (multipath, routes) = match &template.multipath {
            None => (None, vec![route]),
            Some(template) => {
                let (spec, routes) = self.subflows(template, [from, to], number)?;
                (Some(spec), routes)
            }
        };
        for route in &routes {
            self.check_sizes(template, route, (from_name, to_name))?;
        }
        let start = self.check_start(fields, &name, start)?;
        let latest = self.check_latest(fields, &name, start, template.spec.jitter)?;
        if let Some(stop) = template.spec.traffic.stop()
            && stop <= latest
        {
            let (stop, start) = (Duration(stop), Duration(latest));
            let message = format!("`stop`: {stop} is not after the start of `{name}` at {start}");
            return Err(Problem::new(place_within(fields, "traffic", "stop"), message));
        }
        let on = from_start(&template.spec.on, start);
        let spec = FlowSpec { name, from, to, start, on, multipath, ..template.spec.clone() };
        match spec.unfit_for_library(self.min_mtu(&routes[0])) {
            Some(unfit) => Err(quic::problem(fields, unfit)),
            None => Ok(spec),
        }
    }

    fn check_start(
        &self,
        fields: &Fields,
        name: &str,
        start: Option<Span>,
    ) -> Result<Span, Problem> {
        let end = Duration(self.duration);
        match start {
            Some(start) if start < self.duration => Ok(start),
            Some(start) => Err(Problem::new(
                fields.place_of("start"),
                format!(
                    "flow `{name}` starts at {}, when the run has ended ({end})",
                    Duration(start)
                ),
            )),
            None => Err(Problem::new(
                fields.place_of("stagger"),
                format!("flow `{name}` starts later than the simulator can count (584 years)"),
            )),
        }
    }

    /// The latest start that a run may draw.
    fn check_latest(
        &self,
        fields: &Fields,
        name: &str,
        start: Span,
        jitter: Span,
    ) -> Result<Span, Problem> {
        let latest = start.0.checked_add(jitter.0).map(Span);
        latest.filter(|latest| *latest < self.duration).ok_or_else(|| {
            let (start, jitter) = (Duration(start), Duration(jitter));
            let end = Duration(self.duration);
            let message = format!(
                "flow `{name}` may start as late as {start} + {jitter}, when the run has ended \
                 ({end})"
            );
            Problem::new(fields.place_of("jitter"), message)
        })
    }

    /// The smallest MTU of a route.
    fn min_mtu(&self, route: &[Hop]) -> u32 {
        let Network { links, wifi, .. } = self.network;
        route.iter().map(|hop| ways::mtu(*hop, links, wifi)).min().unwrap_or(0)
    }

    /// Checks that segments and datagrams fit the smallest MTU of their route.
    fn check_sizes(
        &self,
        template: &Template,
        route: &[Hop],
        (from, to): (&str, &str),
    ) -> Result<(), Problem> {
        let fields = &template.fields;
        let mtu = self.min_mtu(route);
        let payload =
            |key, size, headers| (key, place_within(fields, "traffic", key), size, headers);
        let sizes = match (template.spec.traffic, template.spec.stack.mss) {
            (Traffic::Cbr { packet, transport: Transport::Udp, .. }, _) => {
                vec![payload("packet", packet, UDP_HEADERS)]
            }
            (Traffic::Media(Media { packet, .. }), _) => {
                vec![payload("packet", packet, UDP_HEADERS)]
            }
            (Traffic::Coap(Coap { size, response, token, options, security, .. }), _) => {
                let record = security.map_or(0, |preset| preset.record);
                let headers = |options| SimCoap::message_size(token, options, 1) - 1 + record;
                let flight = security.and_then(|preset| preset.flights.into_iter().max());
                vec![
                    payload("size", size, headers(options)),
                    payload("response", response, headers(0)),
                    payload("security", flight.unwrap_or(0), UDP_HEADERS),
                ]
            }
            (_, Some(mss)) => {
                let place = template.mss_place.as_ref();
                vec![("mss", place.unwrap_or(fields.place()), mss, TCP_HEADERS)]
            }
            (_, None) => return Ok(()),
        };
        let fits = |size: u32, headers| size <= mtu.saturating_sub(headers);
        let Some((key, place, size, headers)) =
            sizes.into_iter().find(|(_, _, size, headers)| !fits(*size, *headers))
        else {
            return Ok(());
        };
        let remedy = match key {
            "security" => "leave it out, or choose one with smaller flights".to_owned(),
            _ => format!("write at most `{}B`", mtu.saturating_sub(headers)),
        };
        let message = format!(
            "`{key}`: {size}B and {headers}B of headers exceed the MTU of {mtu}B between `{from}` \
             and `{to}`; {remedy}"
        );
        Err(Problem::new(place, message))
    }
}

/// Place of a key of an inner table.
fn place_within<'a>(fields: &'a Fields, table: &'a str, key: &str) -> &'a Place {
    match fields.field(table).map(|field| &field.node.value) {
        Some(Value::Table(inner)) => inner.get(key).map(|node| &node.place),
        _ => None,
    }
    .unwrap_or(fields.place_of(table))
}

/// The intervals, moved so that the first interval begins at `start`.
fn from_start(on: &[[Span; 2]], start: Span) -> Vec<[Span; 2]> {
    let Some([first, _]) = on.first().copied() else { return Vec::new() };
    let shift = |moment: Span| Span(start.0 + moment.0.saturating_sub(first.0));
    on.iter().map(|ends| ends.map(shift)).collect()
}
