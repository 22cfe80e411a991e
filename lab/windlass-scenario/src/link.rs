//! Links: their keys and their reader.

use windlass_cc::Span;
use windlass_sim::config::MAX_IP_LEN;
use windlass_sim::link::Framing;
use windlass_sim::link_radio::ClassA;

use crate::course::{self, ACKS, BACK, JITTER, REORDER, delays, rates};
use crate::fields::{
    Field, Fields, choice, legal_name, name, positive_span, size_u32, span, whole_u32,
};
use crate::link_radio;
use crate::loss::{LOSS, Loss, losses};
use crate::model::{DirectionSpec, LinkSpec};
use crate::network::{Line, MAX_PAIRS, Network};
use crate::problem::Problem;
use crate::queue::queues;
use crate::quick_start::{self, QUICK_START};
use crate::schema::section;
use crate::tree::Node;

const DEFAULT_MTU: u32 = 1_500;
/// Largest and smallest packet of IPv4 (RFC 791).
const MTU_RANGE: (u32, u32) = (68, MAX_IP_LEN);

section! {
    /// `[[link]]`, except the keys that it shares with the parts of a topology.
    LINK, "link" with LINE:
    name Name, "unique name", "`a-b` of `between = [\"a\", \"b\"]`, with `-2`, `-3` ... if taken";
    between list(Text), "two different nodes; with `count`, `*` in a name stands for 1, 2, ... up to `count`: `[\"m*\", \"hub\"]`", "required";
    count Whole(1, 10_000), "number of links like this one, 1 to 10000; a `name` gets `-1`, `-2` ...", "`1`";
}

section! {
    /// The keys that links share with the parts of a topology.
    LINE, "line":
    rate rates(), "rate, more than zero, or rates from given times on: `[[\"0s\", \"10Mbps\"], [\"20s\", \"2Mbps\"]]`, or a trace: [`rate`](#rate)", "the radio's; required without a `radio`";
    delay delays(), "propagation delay of one direction, at most 73 years; or delays from given times on: `[[\"0s\", \"20ms\"], [\"10s\", \"60ms\"]]`, or a trace: [`delay`](#delay)", "the radio's; `\"0s\"` without a `radio`";
    queue queues(), "maximum length, without the packet in transmission, or a table: [`queue`](#queue)", "`\"100pkt\"`";
    bdp_rtt Of(Time), "RTT that converts `bdp` to bytes", "the largest base RTT of the flows that cross the link";
    mtu Of(Size), "largest IP packet, `68B` to `65535B`", "`\"1500B\"`; for LoRaWAN the largest that the spreading factor allows";
    framing words(&Framing::ALL), "`none`, `ethernet` (18 B of header and check sequence per frame, at least 64 B per frame, and 20 B of preamble and gap between frames) or `ppp` (2 B per frame)", "`\"none\"`";
    loss Either(vec![Kinds(&LOSS), list(Kinds(&LOSS))]), "a loss model, or an array with at most one loss model per direction", "none";
    down list(list(Of(Time))), "times at which the link is down: ascending pairs such as `[[\"10s\", \"20s\"]]`", "`[]`";
    quick_start Either(vec![Flag, Table(&QUICK_START)]), "whether the router before the link answers Quick-Start requests, in both directions: `true`, `false` or a table: [`quick_start`](#quick_start)", "`false`";
    jitter Either(vec![Of(Time), Table(&JITTER)]), "variation of the delay between packets: a time (uniformly up to this time shorter or longer), or a table: [`jitter`](#jitter-reorder-and-acks)", "none";
    reorder Table(&REORDER), "table: packets that others overtake: [`reorder`](#jitter-reorder-and-acks)", "none";
    acks Either(vec![Words(vec!["none"]), Table(&ACKS)]), "table: acknowledgements that the link thins out or forwards in bursts: [`acks`](#jitter-reorder-and-acks)", "none";
    radio link_radio::shape(), "a preset, or a table: states, delays and energy of the radio of a device: [`radio`](#radio)", "none";
    back Table(&BACK), "table: keys with another value in the backward direction: [`back`](#back)", "as forward";
}

/// Reads a `[[link]]` and adds its links to the network.
pub(super) fn read(node: &Node, network: &mut Network) -> Result<(), Problem> {
    let fields = Fields::open(node, "`[[link]]`", &LINK.all_names())?;
    let count = fields.opt("count", whole_u32(1, MAX_PAIRS))?;
    let example = "[\"client\", \"server\"]";
    let ends = fields.req("between", example, |field| between(field, count))?;
    let explicit = fields.opt("name", |field| Ok((name(field)?, field.node.place.clone())))?;
    let line = read_line(&fields)?;
    for (i, (a, b)) in (1..).zip(ends) {
        let (name, place) = match &explicit {
            Some((name, place)) if count.is_some() => (format!("{name}-{i}"), place),
            Some((name, place)) => (name.clone(), place),
            None => (network.free_name(&format!("{a}-{b}")), fields.place()),
        };
        network.push(name, (&a, &b), line.clone(), place)?;
    }
    Ok(())
}

/// Reads a line of a topology.
pub(super) fn line(field: &Field) -> Result<Line, Problem> {
    let what = format!("`{}`", field.key);
    read_line(&Fields::open(field.node, &what, &LINE.all_names())?)
}

/// The ends of each link: one pair without `count`.
fn between(field: &Field, count: Option<u32>) -> Result<Vec<(String, String)>, Problem> {
    let [a, b] = &field.pair(|n| format!("a link joins two nodes, not {n}"))?;
    let is_pattern = |end: &Field| Ok(end.string()?.contains('*'));
    let patterns = [is_pattern(a)?, is_pattern(b)?].contains(&true);
    if patterns && count.is_none() {
        return Err(field.error("`*` stands for 1, 2, ... up to `count`, which is missing here"));
    }
    if !patterns && count.is_some() {
        let message = "`count` needs a `*` in a name, for example `[\"m*\", \"hub\"]`";
        return Err(field.error(message));
    }
    let end = |end: &Field, i: u32| {
        let text = end.string()?.replace('*', &i.to_string());
        Ok(legal_name(end, &text)?.to_owned())
    };
    let pair = |i: u32| {
        let (a, b) = (end(a, i)?, end(b, i)?);
        if a == b {
            let message = format!("a link joins two different nodes, not `{a}` to itself");
            return Err(field.error(message));
        }
        Ok((a, b))
    };
    (1..=count.unwrap_or(1)).map(pair).collect()
}

fn read_line(fields: &Fields) -> Result<Line, Problem> {
    let radio = fields.opt("radio", link_radio::read)?;
    let usual = radio.as_ref().map(|radio| (radio.rates_bps, radio.delay));
    let [(forward, there), (back, here)] = course::read(fields, usual)?;
    let mut course = [there, here];
    let back = (back != forward).then(|| Box::new(back));
    let class_a = link_radio::class_a(radio.as_ref().map(|radio| &radio.spec));
    let usual_mtu = class_a.map_or(DEFAULT_MTU, ClassA::max_packet);
    let mtu = fields.or("mtu", size_u32(MTU_RANGE.0, MTU_RANGE.1), usual_mtu)?;
    if let Some(radio) = &radio {
        link_radio::check_keys(fields, &radio.spec, mtu)?;
    }
    let mut models = [None, None];
    let losses = fields.or("loss", losses, [None, None])?;
    for (way, loss) in losses.into_iter().enumerate() {
        match loss {
            None => {}
            Some(Loss::Model(model)) => models[way] = Some(model),
            Some(Loss::Bursts(bursts)) => course[way].bursts = Some(bursts),
            Some(Loss::Steps(steps)) => course[way].loss = Some(steps),
        }
    }
    let DirectionSpec { rate_bps, delay, queue, discipline } = forward;
    let (radio, place) = radio.map(|radio| (Box::new(radio.spec), radio.place)).unzip();
    let spec = LinkSpec {
        name: String::new(),
        a: 0,
        b: 0,
        rate_bps,
        delay,
        queue,
        discipline,
        back,
        course: course.into(),
        mtu,
        framing: fields.or("framing", choice(&Framing::ALL), Framing::NONE)?,
        bdp_rtt: fields.opt("bdp_rtt", positive_span)?,
        loss: models.into(),
        down: fields.or("down", outages, Vec::new())?,
        quick_start: fields.or("quick_start", quick_start::read, None)?,
        radio,
    };
    Ok((spec, place))
}

/// Pairs of times, ascending.
fn outages(field: &Field) -> Result<Vec<[Span; 2]>, Problem> {
    let mut all: Vec<[Span; 2]> = Vec::new();
    for item in field.array()? {
        let wrong = |n| format!("an outage is two times, such as `[\"10s\", \"20s\"]`, not {n}");
        let [down, up] = item.pair(wrong)?;
        let pair = [span(&down)?, span(&up)?];
        let after = all.last().is_none_or(|[_, up]| *up < pair[0]);
        if !after || pair[0] >= pair[1] {
            return Err(item.error("each outage begins after the one before it, and ends later"));
        }
        all.push(pair);
    }
    Ok(all)
}
