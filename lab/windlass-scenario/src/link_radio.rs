//! Radios of links: their keys, their reader and their check against the flows.

use windlass_cc::Span;
use windlass_sim::config::{Coap as SimCoap, UDP_HEADERS};
use windlass_sim::link_radio::{
    Access, Cellular, ClassA, LinkRadio, Power, Release, lora, presets,
};
use windlass_sim::routing::link_of;

use crate::codec::{Codec, Pairs, changed, table};
use crate::fields::{
    Field, Fields, choice, countable_span, positive_span, probability, quantity, span,
};
use crate::model::{Coap, FlowSpec, RadioSpec, Traffic, Transport};
use crate::network::Network;
use crate::problem::{Place, Problem};
use crate::quote::{inline, quote};
use crate::schema::{Kinds, Quantity, Shape, section};
use crate::stack::TCP_HEADERS;
use crate::tree::Value;
use crate::units::{BitRate, Bytes, Duration, Joules, Probability};
use crate::ways::Hop;

section! {
    /// The keys that all radios of links share.
    RADIO, "radio":
    device Words(vec!["first", "second"]), "node of `between` that has the radio: the uplink is the direction from this node", "`\"first\"`";
    power Table(&POWER), "table: power that the radio draws in each state", "the preset's";
    battery Of(Energy), "energy in the battery of the device, such as `20kJ` or `5Wh`; results extrapolate its life. The radio continues if it is empty", "no battery";
}

table!(POWER, "radio_power", apply_power, written_power, Power {
    transmit_uw as transmit: Codec::watts(), "while it sends a frame", "the preset's";
    receive_uw as receive: Codec::watts(), "while a frame for it arrives", "the preset's";
    connect_uw as connect: Codec::watts(), "while it sets up a connection", "the preset's";
    listen_uw as listen: Codec::watts(), "while its receiver is on and no frame arrives", "the preset's";
    idle_uw as idle: Codec::watts(), "while its receiver is off between two paging occasions or DRX cycles", "the preset's";
    sleep_uw as sleep: Codec::watts(), "in power saving mode; for LoRaWAN, outside frames and receive windows", "the preset's";
});

table!(CELLULAR, "cellular", apply_cellular, written_cellular, Cellular {
    promotion: Codec::time(countable_span), "time from the first packet to the connection (random access and set-up)", "the preset's";
    scheduling_request: Codec::time(countable_span), "in a connection, delay of an uplink packet with no uplink packet before it", "the preset's";
    inactivity: Codec::time(positive_span), "time without frames after which the network ends a connection", "the preset's";
    release: Codec::word(&Release::ALL), "event that ends a connection: `inactivity`, or with release assistance `after-uplink` or `after-downlink`, at once after such a frame if no packet waits. A connection whose last frame goes the other way ends by inactivity", "`\"inactivity\"`";
    drx_after: Codec::time(countable_span), "in a connection, time without frames after which the receiver is on in cycles only", "the preset's";
    drx_cycle: Codec::time(countable_span), "cycle of the receiver in a connection; `0s`: always on", "the preset's";
    drx_on: Codec::time(countable_span), "time for which the receiver is on in each such cycle", "the preset's";
    paging_cycle: Codec::time(positive_span), "without a connection, time between two paging occasions, at which a downlink packet can reach the device", "the preset's";
    paging_on: Codec::time(countable_span), "time for which the receiver is on at a paging occasion", "the preset's";
    edrx_cycle: Codec::time(countable_span), "cycle of extended DRX, in which paging occasions are in one window only; `0s` for none", "`\"0s\"`";
    edrx_window: Codec::time(countable_span), "length of this window", "`\"0s\"`";
    psm_active: Codec::time(countable_span), "power saving mode: time from the end of a connection to sleep (T3324)", "the preset's";
    psm_period: Codec::time(countable_span), "time from the end of a connection to the next registration update, for which the device wakes (T3412); `0s`: it never sleeps, and updates are left out", "the preset's";
});

table!(CLASS_A, "class-a", apply_class_a, written_class_a, ClassA {
    duty_cycle: duty(), "share of the time for which the device may send, and the gateway in the first receive window", "`0.01`";
    rx1_delay: Codec::time(span), "time from the end of an uplink frame to the first receive window", "`\"1s\"`";
    rx2_delay: Codec::time(span), "the same to the second window", "`\"2s\"`";
    rx2_spreading_factor: Codec::whole(7, 12), "spreading factor of the second window, 7 to 12", "`12`";
    rx2_duty_cycle: duty(), "share of the time for which the gateway may send in the second window", "`0.1`";
    window_symbols: Codec::whole(1, 1000), "symbols for which the receiver is on in a window without a frame, 1 to 1000", "`8`";
    compressed: Codec::size_u32(0, 1000), "bytes that header compression (SCHC) removes from each packet, `0B` to `1000B`", "`\"28B\"`, the headers of IPv4 and UDP";
} spreading_factor: _);

/// The radios of links.
pub(crate) static LINK_RADIO: Kinds = Kinds {
    name: "link_radio",
    tag: "preset",
    usual: None,
    kinds: &[
        ("nb-iot-ce0", &[&RADIO, &CELLULAR]),
        ("nb-iot-ce1", &[&RADIO, &CELLULAR]),
        ("nb-iot-ce2", &[&RADIO, &CELLULAR]),
        ("lte-m", &[&RADIO, &CELLULAR]),
        ("lorawan-sf7", &[&RADIO, &CLASS_A]),
        ("lorawan-sf8", &[&RADIO, &CLASS_A]),
        ("lorawan-sf9", &[&RADIO, &CLASS_A]),
        ("lorawan-sf10", &[&RADIO, &CLASS_A]),
        ("lorawan-sf11", &[&RADIO, &CLASS_A]),
        ("lorawan-sf12", &[&RADIO, &CLASS_A]),
    ],
};

/// The names of the presets, or tables.
pub(super) fn shape() -> Shape {
    let names = LINK_RADIO.kinds.iter().map(|(name, _)| *name).collect();
    Shape::Either(vec![Shape::Words(names), Shape::Kinds(&LINK_RADIO)])
}

/// A duty cycle, in millionths.
fn duty() -> Codec<u32> {
    let read = |field: &Field| {
        let ppm = (probability(field)? * 1e6).round() as u32;
        match ppm {
            0 => Err(field.error("must be at least 0.0001 %, for example `1%`")),
            ppm => Ok(ppm),
        }
    };
    let write = |ppm: &u32| Probability(f64::from(*ppm) / 1e6).to_string();
    Codec::new(Shape::Of(Quantity::Share), read, write)
}

/// A radio with the values that a link takes from its preset.
pub(super) struct Read {
    pub(super) spec: RadioSpec,
    /// Rates of the forward and of the backward direction.
    pub(super) rates_bps: [u64; 2],
    pub(super) delay: Span,
    pub(super) place: Place,
}

/// Reads the radio of a link.
pub(super) fn read(field: &Field) -> Result<Read, Problem> {
    let fields = match field.node.value {
        Value::Text(_) => None,
        _ => Some(Fields::any(field.node, "`radio`")?),
    };
    let name = match &fields {
        None => choice(&LINK_RADIO.words())(field)?,
        Some(fields) => fields.kind(&LINK_RADIO, "\"nb-iot-ce0\"")?,
    };
    let Some(preset) = presets::by_name(name) else {
        unreachable!("`{name}` is declared and has no preset")
    };
    let mut radio = preset.radio;
    if let Some(fields) = &fields {
        change(&mut radio, fields)?;
        radio.check().map_err(|(key, problem)| fields.error(key, problem))?;
    }
    let mut rates_bps = preset.rates_bps;
    if radio.device == 1 {
        rates_bps.reverse();
    }
    let spec = RadioSpec { preset: preset.name, radio };
    Ok(Read { spec, rates_bps, delay: preset.delay, place: field.node.place.clone() })
}

/// Replaces values of a preset by the values of a table.
fn change(radio: &mut LinkRadio, fields: &Fields) -> Result<(), Problem> {
    radio.device = fields.or("device", choice(&[("first", 0), ("second", 1)]), radio.device)?;
    radio.power =
        fields.or("power", |f| changed(f, &POWER, radio.power, apply_power), radio.power)?;
    radio.battery_uj = fields.opt("battery", battery)?;
    match &mut radio.access {
        Access::Cellular(cellular) => apply_cellular(cellular, fields),
        Access::ClassA(class_a) => apply_class_a(class_a, fields),
    }
}

fn battery(field: &Field) -> Result<u64, Problem> {
    match quantity(field)? {
        Joules { uj: 0 } => Err(field.error("must hold something, for example `20kJ`")),
        Joules { uj } => Ok(uj),
    }
}

/// The keys of a named radio and of its link, as a scenario would spell them.
pub(super) fn values(preset: &presets::Preset) -> [Pairs; 2] {
    let [up, down] = preset.rates_bps.map(|bps| quote(BitRate(bps)));
    let mut link = vec![("delay", quote(Duration(preset.delay)))];
    // The spreading factor of LoRaWAN sets the rate.
    if let Access::Cellular(_) = preset.radio.access {
        link.extend([("rate", up), ("back", inline(&[("rate", down)]))]);
    }
    let spec = RadioSpec { preset: preset.name, radio: preset.radio.clone() };
    [link, written(&spec)]
}

/// The keys of a radio and their TOML text.
pub(super) fn written(spec: &RadioSpec) -> Pairs {
    let RadioSpec { preset, radio } = spec;
    let LinkRadio { device, access, power, battery_uj, off: _ } = radio;
    let mut pairs = vec![
        ("preset", quote(preset)),
        ("device", quote(["first", "second"][*device])),
        ("power", inline(&written_power(power))),
    ];
    pairs.extend(battery_uj.map(|uj| ("battery", quote(Joules { uj }))));
    pairs.extend(match access {
        Access::Cellular(cellular) => written_cellular(cellular),
        Access::ClassA(class_a) => written_class_a(class_a),
    });
    pairs
}

/// The rules of a LoRaWAN radio; `None` for other links.
pub(super) fn class_a(spec: Option<&RadioSpec>) -> Option<&ClassA> {
    match &spec?.radio.access {
        Access::ClassA(class_a) => Some(class_a),
        Access::Cellular(_) => None,
    }
}

/// Checks the keys of a link that its radio determines.
pub(super) fn check_keys(fields: &Fields, spec: &RadioSpec, mtu: u32) -> Result<(), Problem> {
    if let Some(field) = fields.field("quick_start") {
        return Err(field.error("a link with a `radio` has no router that answers requests"));
    }
    let Some(class_a) = class_a(Some(spec)) else { return Ok(()) };
    let back = fields.field("back");
    let of_back = back.as_ref().map(|field| Fields::any(field.node, "`back`")).transpose()?;
    let rate = fields.field("rate");
    if let Some(field) = rate.or(of_back.as_ref().and_then(|back| back.field("rate"))) {
        return Err(field.error(format!(
            "the spreading factor of `{}` sets the rate; leave it out",
            spec.preset
        )));
    }
    if mtu > class_a.max_packet() {
        let (most, payload) =
            (Bytes(class_a.max_packet().into()), lora::max_payload(class_a.spreading_factor));
        return Err(Problem::new(
            fields.place_of("mtu"),
            format!(
                "`mtu`: {} is more than `{}` carries; write at most `{most}`, for a payload of {payload}B \
                 and {}B that header compression removes",
                Bytes(mtu.into()),
                spec.preset,
                class_a.compressed
            ),
        ));
    }
    Ok(())
}

/// Checks that the duty cycle of each LoRaWAN radio carries the messages of the flows.
pub(super) fn check_loads(network: &Network, flows: &[FlowSpec]) -> Result<(), Problem> {
    for (link, place) in &network.radios {
        let spec = &network.links[*link];
        let Some(class_a) = class_a(spec.radio.as_deref()) else { continue };
        let load: f64 = flows.iter().map(|flow| load(flow, network, *link, class_a)).sum();
        let allowed = f64::from(class_a.duty_cycle) / 1e6;
        if load > allowed {
            return Err(Problem::new(
                place,
                format!(
                    "`radio`: the flows need {:.3} % of the time on the air of link `{}`, and its \
                     duty cycle allows {:.3} %, so that messages would wait without end; send less \
                     often, or use a lower spreading factor",
                    100.0 * load,
                    spec.name,
                    100.0 * allowed
                ),
            ));
        }
    }
    Ok(())
}

/// Minimum share of the time for which a flow that sends all the time needs the uplink.
fn load(flow: &FlowSpec, network: &Network, link: usize, class_a: &ClassA) -> f64 {
    let device = network.links[link].radio.as_ref().map_or(0, |spec| spec.radio.device);
    let uplink = 2 * link + device;
    let ways = network.ways();
    let crosses = flow.ways().iter().all(|nodes| {
        let hops = ways.through(nodes).unwrap_or_default();
        let is =
            |hop: &Hop| matches!(hop, Hop::Link(d) if *d as usize == uplink && link_of(*d) == link);
        hops.iter().any(is)
    });
    if !crosses || !flow.on.is_empty() || !flow.draw.is_empty() {
        return 0.0;
    }
    // A message over TCP has at least one segment.
    let (size, every_s) = match flow.traffic {
        Traffic::Cbr { rate_bps, packet, transport, .. } => {
            let headers = if transport == Transport::Udp { UDP_HEADERS } else { TCP_HEADERS };
            (
                u64::from(packet) + u64::from(headers),
                8.0 * f64::from(packet) / rate_bps.max(1) as f64,
            )
        }
        Traffic::Messages { every, size, phases: None, .. } => {
            (size + u64::from(TCP_HEADERS), seconds(every))
        }
        Traffic::Coap(coap) if coap.phases.is_none() => {
            let record = coap.security.map_or(0, |preset| preset.record);
            let size = SimCoap::message_size(coap.token, coap.options, coap.size) + record;
            (u64::from(size), seconds(coap.every))
        }
        _ => return 0.0,
    };
    let air = |size: u64| {
        let size = size.min(class_a.max_packet().into()) as u32; // at most 32 bits, as just limited
        seconds(class_a.airtime(size))
    };
    let flights: f64 = match flow.traffic {
        Traffic::Coap(Coap { security: Some(preset), per_request: true, .. }) => {
            [0, 2].map(|i| air((preset.flights[i] + UDP_HEADERS).into())).iter().sum()
        }
        _ => 0.0,
    };
    (air(size) + flights) / every_s.max(1e-9)
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}
