//! Writes a scenario with every default filled in, and computes its hash.

use std::fmt::{Display, Write as _};

use windlass_cc::{AnyParams, Flavour, Span};
use windlass_sim::course::Course;
use windlass_sim::link::Framing;
use windlass_tcp::StackConfig;

use crate::codec::{Pairs, ordered};
use crate::fields::word_of;
use crate::model::{FlowSpec, Home, LinkSpec, Scenario, SubflowSpec, TestbedSpec};
use crate::quote::{array, inline, quote};
use crate::read::{written_record, written_testbed};
use crate::units::{Bytes, Duration};
use crate::{
    connections, course, link_radio, loss, multipath, params, queue, quick_start, stack, traffic,
    wifi,
};

/// The lines of a growing document.
struct Lines(String);

impl Lines {
    fn header(&mut self, header: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        self.line(format_args!("{gap}{header}"));
    }

    /// A key and TOML text.
    fn raw(&mut self, key: &str, text: impl Display) {
        self.line(format_args!("{key} = {text}"));
    }

    /// Keys and TOML texts.
    fn all(&mut self, pairs: &[(&str, String)]) {
        pairs.iter().for_each(|(key, text)| self.raw(key, text));
    }

    /// A key and a string or quantity.
    fn quoted(&mut self, key: &str, value: impl Display) {
        self.raw(key, quote(value));
    }

    fn line(&mut self, line: impl Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{line}");
    }
}

/// The whole scenario as TOML.
pub(super) fn resolved(scenario: &Scenario) -> String {
    let mut lines = Lines(String::new());
    lines.quoted("name", &scenario.name);
    lines.quoted("description", &scenario.description);
    lines.raw("seed", scenario.seed);
    body(&mut lines, scenario, Controllers::Whole);
    record(&mut lines, scenario);
    lines.0
}

/// Hash of the values that determine the result apart from the seed: FNV-1a (128 bits, folded to
/// 64).
pub(super) fn hash(scenario: &Scenario) -> String {
    hash_of(scenario, Controllers::Whole)
}

/// The hash without the parameters of the algorithms and without their slow starts.
pub(super) fn hash_without_parameters(scenario: &Scenario) -> String {
    hash_of(scenario, Controllers::ByName)
}

/// The written part of the flows' controllers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Controllers {
    Whole,
    /// Their names, and the values of the stack that also apply to another endpoint.
    ByName,
}

impl Controllers {
    fn stack(self, config: &StackConfig) -> Pairs {
        let mut fields = stack::written(config);
        fields.retain(|(key, _)| self == Controllers::Whole || !OWN_TO_OURS.contains(key));
        fields
    }
}

/// Keys of the stack that are left out at these values, so that they change no older hash.
const UNDERSTOOD: [(&str, &str); 3] =
    [("lies", "\"none\""), ("spared_syns", "0"), ("initial_send_buffer", "\"16KiB\"")];

fn is_understood((key, text): &(&'static str, String)) -> bool {
    UNDERSTOOD.contains(&(*key, text.as_str()))
}

/// The keys of the stack that only Windlass's endpoints have.
const OWN_TO_OURS: [&str; 11] = [
    "receive_autotuning",
    "initial_receive_buffer",
    "quick_acks",
    "sack_compression",
    "window_counting",
    "growth_credit",
    "loss_cut",
    "mark_cut",
    "wheel_tick",
    "spared_syns",
    "least_rtt",
];

fn hash_of(scenario: &Scenario, controllers: Controllers) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut lines = Lines(String::new());
    body(&mut lines, scenario, controllers);
    // Counts per interval are part of a run's record; other recordings are separate files.
    let mut recorded = written_record(&scenario.record);
    recorded.retain(|(key, _)| ["bins", "delays"].contains(key));
    lines.all(&recorded);
    let hash = lines.0.bytes().fold(OFFSET, |h, byte| (h ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{:016x}", (hash >> 64) as u64 ^ hash as u64)
}

/// Everything except name, description, seed and the data to record.
fn body(lines: &mut Lines, scenario: &Scenario, controllers: Controllers) {
    lines.quoted("duration", Duration(scenario.duration));
    let mut shared = scenario.flows.first().map_or_else(Vec::new, |f| controllers.stack(&f.stack));
    shared.retain(|pair| !is_understood(pair));
    lines.header("[stack]");
    lines.all(&shared);
    if scenario.testbed != TestbedSpec::default() {
        lines.header("[testbed]");
        lines.all(&written_testbed(&scenario.testbed));
    }
    for spec in &scenario.links {
        link(lines, scenario, spec);
    }
    for spec in &scenario.wifi {
        lines.header("[[wifi]]");
        let flows: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
        lines.all(&wifi::written(spec, &scenario.nodes, &flows));
    }
    for spec in &scenario.flows {
        flow(lines, scenario, spec, &shared, controllers);
    }
    for outage in &scenario.outages {
        lines.header("[[outage]]");
        lines.raw("nodes", array(&outage.nodes, |node| quote(&scenario.nodes[*node])));
        lines.quoted("at", Duration(outage.at));
        lines.quoted("lasts", Duration(outage.lasts));
        lines.raw("reboot", outage.reboot);
    }
}

fn link(lines: &mut Lines, scenario: &Scenario, link: &LinkSpec) {
    lines.header("[[link]]");
    lines.quoted("name", &link.name);
    lines.raw("between", array(&[link.a, link.b], |node| quote(&scenario.nodes[*node])));
    let there = &link.course[0];
    // The radio of a LoRaWAN link sets its rate.
    if link_radio::class_a(link.radio.as_deref()).is_none() {
        lines.raw("rate", course::written_rate(link.rate_bps, there));
    }
    lines.raw("delay", course::written_delay(link.delay, there));
    lines.raw("queue", queue::text(link.queue, &link.discipline));
    if let Some(rtt) = link.bdp_rtt {
        lines.quoted("bdp_rtt", Duration(rtt));
    }
    lines.quoted("mtu", Bytes(link.mtu.into()));
    lines.quoted("framing", word_of(&Framing::ALL, &link.framing));
    let both = losses(link);
    let losses = match &both {
        [Some(forward), Some(backward)] if forward == backward => vec![loss(forward, "both")],
        [forward, backward] => [(forward, "forward"), (backward, "backward")]
            .into_iter()
            .filter_map(|(pairs, direction)| Some(loss(pairs.as_deref()?, direction)))
            .collect(),
    };
    match losses.as_slice() {
        [] => {}
        [one] => lines.raw("loss", one),
        many => lines.raw("loss", array(many, String::clone)),
    }
    if !link.down.is_empty() {
        let time = |time: &Span| quote(Duration(*time));
        lines.raw("down", array(&link.down, |times| array(times, time)));
    }
    // Left out at its default, so that it changes no older hash.
    if let Some(setting) = &link.quick_start {
        lines.raw("quick_start", inline(&quick_start::written(setting)));
    }
    if let Some(radio) = &link.radio {
        lines.raw("radio", inline(&link_radio::written(radio)));
    }
    lines.all(&course::written(there, &Course::default()));
    let back = course::written_back(&link.direction(0), &link.direction(1), &link.course);
    if !back.is_empty() {
        lines.raw("back", inline(&back));
    }
}

/// The loss keys of each direction.
fn losses(link: &LinkSpec) -> [Option<Pairs>; 2] {
    [0, 1].map(|direction| {
        let bursts = link.course[direction].bursts.as_ref().map(loss::written_bursts);
        let steps = link.course[direction].loss.as_ref().map(loss::written_steps);
        bursts.or(steps).or(link.loss[direction].as_ref().map(loss::written))
    })
}

fn loss(pairs: &[(&'static str, String)], direction: &str) -> String {
    let mut pairs = pairs.to_vec();
    pairs.push(("direction", quote(direction)));
    inline(&pairs)
}

fn flow(
    lines: &mut Lines,
    scenario: &Scenario,
    flow: &FlowSpec,
    shared: &[(&str, String)],
    controllers: Controllers,
) {
    // Windlass's implementation depends on its parameters on each backend.
    let controllers = if flow.home == Home::Bpf { Controllers::Whole } else { controllers };
    lines.header("[[flow]]");
    lines.quoted("name", &flow.name);
    lines.quoted("from", &scenario.nodes[flow.from]);
    lines.quoted("to", &scenario.nodes[flow.to]);
    if !flow.draw.is_empty() {
        lines.raw("draw", array(&flow.draw, |node| quote(&scenario.nodes[*node])));
    }
    match (&flow.class, &flow.library) {
        (Some(class), _) => lines.quoted("algorithm", class),
        (None, Some(library)) => {
            lines.quoted("algorithm", format!("{}{library}", flow.algorithm()));
        }
        (None, None) => lines.quoted("algorithm", flow.algorithm()),
    }
    // A substitute for another algorithm never runs, so its parameters are left out.
    let substitute =
        flow.kernel.is_some() || flow.library.as_ref().is_some_and(|l| l.own.is_some());
    let controllers = if substitute { Controllers::ByName } else { controllers };
    // Left out at its default, so that it changes no older hash.
    if flow.home != Home::default() {
        lines.quoted("home", word_of(&Home::ALL, &flow.home));
    }
    if let Some(controller) = &flow.controller {
        lines.all(&settings(controller, controllers));
    }
    // Left out at its default, so that it changes no older hash; a kernel ignores it.
    if flow.flavour != Flavour::Rfc
        && flow.controller.is_some()
        && controllers == Controllers::Whole
    {
        lines.quoted(stack::FLAVOUR, word_of(&stack::flavours(), &flow.flavour));
    }
    let own = controllers.stack(&flow.stack);
    let said = |key: &str| shared.iter().any(|(known, _)| *known == key);
    let differs = |pair: &(&'static str, String)| {
        !shared.contains(pair) && (said(pair.0) || !is_understood(pair))
    };
    let differing: Vec<_> = own.into_iter().filter(differs).collect();
    if !differing.is_empty() && flow.library.is_none() {
        lines.raw("stack", inline(&differing));
    }
    // Sending intervals set the start.
    if flow.on.is_empty() {
        lines.quoted("start", Duration(flow.start));
    }
    // Left out at its default, so that it changes no older hash.
    if flow.jitter != Span::ZERO {
        lines.quoted("jitter", Duration(flow.jitter));
    }
    lines.raw("traffic", traffic::written(&flow.traffic, &flow.on));
    lines.raw("read", traffic::written_reading(&flow.read));
    // Left out at its default, so that it changes no older hash.
    lines.all(&flow.connections.as_deref().map_or_else(Vec::new, connections::written));
    if let Some(spec) = &flow.multipath {
        let each = |s: &SubflowSpec| subflow(scenario, s, controllers);
        lines.raw("multipath", inline(&multipath::written(spec, each)));
    }
}

/// The parameters of an algorithm and its slow start, as keys and TOML text.
fn settings(controller: &AnyParams, controllers: Controllers) -> Pairs {
    if controllers == Controllers::ByName {
        return Vec::new();
    }
    let mut settings = vec![("params", inline(&params::written(controller)))];
    let slow_start = params::written_slow_start(controller);
    settings.extend(slow_start.map(|pairs| ("slow_start", inline(&pairs))));
    settings
}

fn subflow(scenario: &Scenario, subflow: &SubflowSpec, controllers: Controllers) -> String {
    let mut pairs = vec![
        ("name", quote(&subflow.name)),
        ("via", array(&subflow.via, |node| quote(&scenario.nodes[*node]))),
        ("algorithm", quote(subflow.controller.info().id)),
    ];
    pairs.extend(settings(&subflow.controller, controllers));
    inline(&pairs)
}

fn record(lines: &mut Lines, scenario: &Scenario) {
    lines.header("[record]");
    let mut pairs = written_record(&scenario.record);
    let link = |link: &usize| quote(&scenario.links[*link].name);
    pairs.push(("capture", array(&scenario.record.capture, link)));
    lines.all(&ordered(pairs, "series interval capture"));
}
