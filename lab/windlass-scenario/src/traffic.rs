//! Reads the traffic of a flow, and the reading behaviour of the receiving application.

use windlass_cc::{Span, rto};
use windlass_sim::config::Coap as SimCoap;
use windlass_sim::media::nada;

use crate::fields::{
    Field, Fields, boolean, choice, countable_span, number, positive_span, rate, size, size_u32,
    span, unknown_word, whole_u32,
};
use crate::model::{Coap, Law, Media, Read, Traffic, Transport};
use crate::params;
use crate::presets::{DTLS, DtlsPreset, Security};
use crate::problem::Problem;
use crate::schema::{Kinds, section};
use crate::units::{BitRate, Bytes, Duration};

section! {
    /// As fast as the connection allows.
    BULK, "bulk":
    bytes Of(Size), "size of the transfer, at most `1TiB`", "endless";
}

section! {
    /// Requests and responses.
    REQUESTS, "request-response":
    request Of(Size), "size of a request; `to` connects and asks, `from` answers", "required";
    response Of(Size), "size of a response; the last response closes the connection", "required";
    requests Whole(1, 1_000_000), "number of requests", "`1`";
    think Of(Time), "time from a response to the next request", "`\"0s\"`";
}

section! {
    /// Packets at equal intervals.
    CBR, "cbr":
    rate Of(Rate), "payload rate", "required";
    packet Of(Size), "payload of a packet", "required";
    spread Of(Time), "for datagrams: variation of the time between two datagrams, uniformly up to this time shorter or longer, drawn from the seed; less than the mean time, `packet` over `rate`", "`\"0s\"`";
    transport words(&Transport::ALL), "`tcp` or `udp`", "`\"tcp\"`";
    stop Of(Time), "simulated time of the end", "the end of the run";
    on list(list(Of(Time))), "for datagrams: intervals of simulated time with traffic, such as `[[\"5s\", \"15s\"], [\"35s\", \"45s\"]]`, in place of `start` and `stop`; the flow's `jitter` shifts all of them, and `active_s` counts only them", "from `start` to `stop`";
    deadline Of(Time), "over TCP: each packet is a message, and the other application should read it completely within this time after its writing; the results then have the number of late messages (`messages_late`) and their latency", "none";
}

section! {
    /// Messages at random times.
    MESSAGES, "messages":
    every Of(Time), "mean time from one message to the next, and from the start to the first", "required";
    size Of(Size), "mean size of a message, at most `1GiB`", "required";
    gaps words(&Law::ALL), "distribution of the times between messages: `constant`, `exponential` (a Poisson process) or `pareto`", "`\"exponential\"`";
    sizes words(&Law::ALL), "distribution of the sizes", "`\"constant\"`";
    shape Number, "shape of Pareto distributions, with at most three decimals, above 1, at most 1000", "`1.5`";
    most Of(Size), "maximum size; larger values are reduced to it", "a thousand times `size`";
    phases list(Of(Time)), "mean lengths of alternating phases of sending and of silence, exponentially distributed, such as `[\"2s\", \"58s\"]`; `every` does not count the silence", "always sending";
    stop Of(Time), "simulated time of the end", "the end of the run";
    deadline Of(Time), "as for `cbr`: the results then have the number of late messages, the latency, and the age of the newest message at the receiver (`message_age_ms`)", "none";
}

section! {
    /// CoAP over UDP.
    COAP, "coap":
    every Of(Time), "mean time from one request to the next, and from the start to the first", "required";
    size Of(Size), "payload of a request", "required";
    gaps words(&Law::ALL), "distribution of the times between requests", "`\"exponential\"`";
    shape Number, "shape of a Pareto distribution, with at most three decimals, above 1, at most 1000", "`1.5`";
    response Of(Size), "payload of a response, which is in the acknowledgement of its request", "none";
    token Of(Size), "the token that a request and its response carry, at most `8B`", "`\"4B\"`";
    options Of(Size), "options of a request, at most `1000B`; a response has no options", "`\"8B\"`";
    confirmable Flag, "whether requests are confirmable; other requests are sent once, without a response", "`true`";
    nstart Whole(1, 1_000), "exchanges that are open at a time (`NSTART`); further requests wait", "`1`";
    max_retransmit Whole(0, 20), "retransmissions before a request is given up (`MAX_RETRANSMIT`)", "`4`";
    rto Timer, "the retransmission timer: table with its `algorithm`, such as `coap`, `cocoa`, `cocoa+` or `fasor`, and its parameters", "`{ algorithm = \"coap\" }`";
    security Words(DTLS.iter().map(|preset| preset.name).collect()), "security layer, which adds bytes to each message and a handshake before the first request: [DTLS](#dtls)", "none";
    handshake words(&HANDSHAKES), "with `security`: `once`, one handshake before the first request, or `per-request`, one before each request", "`\"once\"`";
    phases list(Of(Time)), "as for `messages`", "always sending";
    stop Of(Time), "simulated time of the end", "the end of the run";
    deadline Of(Time), "as for `messages`: time within which a request should arrive at the server", "none";
}

section! {
    /// Media over UDP with NADA.
    MEDIA, "media":
    packet Of(Size), "payload of a packet", "required";
    min_rate Of(Rate), "payload rate at the start, and the least (`RMIN`)", "`\"150kbps\"`";
    max_rate Of(Rate), "greatest payload rate (`RMAX`); a flow that settles has a queuing delay of 10 ms times this over its rate", "`\"1.5Mbps\"`";
    ecn Flag, "whether queues may mark the packets instead of dropping them; the marks count in the congestion signal", "`false`";
    stop Of(Time), "simulated time of the end", "the end of the run";
}

section! {
    /// Reading some time after data became readable.
    DELAYED, "delayed":
    after Of(Time), "everything, at this time after data became readable", "required";
}

section! {
    /// Reading at a rate.
    READ_RATE, "rate":
    rate Of(Rate), "at this rate", "required";
}

/// The traffic of applications.
pub(crate) static TRAFFIC: Kinds = Kinds {
    name: "traffic",
    tag: "kind",
    usual: None,
    kinds: &[
        ("bulk", &[&BULK]),
        ("request-response", &[&REQUESTS]),
        ("cbr", &[&CBR]),
        ("messages", &[&MESSAGES]),
        ("coap", &[&COAP]),
        ("media", &[&MEDIA]),
    ],
};

/// How applications read.
pub(crate) static READ: Kinds = Kinds {
    name: "read",
    tag: "kind",
    usual: None,
    kinds: &[("immediate", &[]), ("delayed", &[&DELAYED]), ("rate", &[&READ_RATE])],
};

/// Headers of IPv4 with UDP, bytes.
pub(super) const UDP_HEADERS: u32 = 28;

/// Maximum size of a transfer, bytes: [`MAX_REQUESTS`] transfers of this size fit into a 64-bit
/// stream offset.
const MAX_TRANSFER: u64 = 1 << 40;
const MAX_REQUESTS: u32 = 1_000_000;
const MAX_PACKET: u32 = 65_535 - UDP_HEADERS;

/// Reads the traffic, and its sending intervals. Without intervals, the source always sends.
pub(super) fn traffic(field: &Field) -> Result<(Traffic, Vec<[Span; 2]>), Problem> {
    let fields = Fields::any(field.node, "`traffic`")?;
    let transfer = size(1, MAX_TRANSFER);
    let traffic = match fields.kind(&TRAFFIC, "\"bulk\"")? {
        "bulk" => Traffic::Bulk { bytes: fields.opt("bytes", transfer)? },
        "request-response" => Traffic::RequestResponse {
            request: fields.req("request", "\"100B\"", &transfer)?,
            response: fields.req("response", "\"10MB\"", &transfer)?,
            requests: fields.or("requests", whole_u32(1, MAX_REQUESTS), 1)?,
            think: fields.or("think", span, Span::ZERO)?,
        },
        "cbr" => return cbr(field, &fields),
        "messages" => messages(&fields)?,
        "coap" => Traffic::Coap(coap(&fields)?),
        "media" => Traffic::Media(media(&fields)?),
        kind => unreachable!("`{kind}` is declared and not read"),
    };
    Ok((traffic, Vec::new()))
}

fn cbr(field: &Field, fields: &Fields) -> Result<(Traffic, Vec<[Span; 2]>), Problem> {
    let rate_bps = fields.req("rate", "\"500kbps\"", rate)?;
    let packet = fields.req("packet", "\"1000B\"", size_u32(1, MAX_PACKET))?;
    if u128::from(packet) * 8 * 1_000_000_000 < u128::from(rate_bps) {
        let size = Bytes(packet.into());
        return Err(
            field.error(format!("packets of {size} would fall due more than once a nanosecond"))
        );
    }
    let transport = fields.or("transport", choice(&Transport::ALL), Transport::Tcp)?;
    let spread = spread(fields, rate_bps, packet, transport)?;
    let stop = fields.opt("stop", span)?;
    let deadline = fields.opt("deadline", positive_span)?;
    if deadline.is_some() && transport == Transport::Udp {
        let message = "`deadline`: packets are judged as messages over TCP only";
        return Err(Problem::new(fields.place_of("deadline"), message.to_owned()));
    }
    let on = match fields.field("on") {
        None => Vec::new(),
        Some(field) if transport == Transport::Tcp => {
            return Err(field.error("is for datagrams; write `transport = \"udp\"`"));
        }
        Some(field) if stop.is_some() => {
            return Err(field.error("sets the end of the traffic; leave `stop` out"));
        }
        Some(field) => intervals(&field)?,
    };
    Ok((Traffic::Cbr { rate_bps, packet, spread, transport, stop, deadline }, on))
}

/// Largest message, bytes.
const MAX_MESSAGE: u64 = 1 << 30;
/// Default of the largest message, as a multiple of the mean.
const MOST_OVER_MEAN: u64 = 1000;

fn messages(fields: &Fields) -> Result<Traffic, Problem> {
    let size = fields.req("size", "\"200B\"", super::fields::size(1, MAX_MESSAGE))?;
    let largest = super::fields::size(size, MAX_MESSAGE.max(size.saturating_mul(MOST_OVER_MEAN)));
    Ok(Traffic::Messages {
        every: fields.req("every", "\"10s\"", every)?,
        gaps: fields.or("gaps", choice(&Law::ALL), Law::Exponential)?,
        size,
        sizes: fields.or("sizes", choice(&Law::ALL), Law::Constant)?,
        shape: fields.or("shape", shape, 1_500)?,
        most: fields.or("most", largest, size.saturating_mul(MOST_OVER_MEAN))?,
        phases: fields.opt("phases", phases)?,
        stop: fields.opt("stop", span)?,
        deadline: fields.opt("deadline", positive_span)?,
    })
}

/// Longest options of a request, bytes.
const MAX_OPTIONS: u32 = 1_000;

/// Occasions of a handshake: true for each request.
pub(crate) const HANDSHAKES: [(&str, bool); 2] = [("once", false), ("per-request", true)];

fn dtls(field: &Field) -> Result<&'static DtlsPreset, Problem> {
    let name = field.string()?;
    let found = DTLS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name));
    let names: Vec<&str> = DTLS.iter().map(|preset| preset.name).collect();
    found.ok_or_else(|| unknown_word(field, name, &names))
}

fn coap(fields: &Fields) -> Result<Coap, Problem> {
    let mut timer = rto::AnyParams::Coap(Default::default());
    if let Some(field) = fields.field("rto") {
        params::read_timer(&field, &mut timer)?;
    }
    let security = fields.opt("security", dtls)?;
    let each = fields.or("handshake", choice(&HANDSHAKES), false)?;
    if let (None, Some(field)) = (security, fields.field("handshake")) {
        return Err(field.error("needs a `security` layer, such as `\"dtls-1.3-psk-cid\"`"));
    }
    let nstart = fields.or("nstart", whole_u32(1, 1_000), 1)?;
    if let (true, Some(field)) = (each && nstart > 1, fields.field("nstart")) {
        return Err(field.error("must be 1 with a handshake for each request"));
    }
    Ok(Coap {
        security: security.map(|preset| Security { preset, each }),
        every: fields.req("every", "\"10s\"", every)?,
        gaps: fields.or("gaps", choice(&Law::ALL), Law::Exponential)?,
        shape: fields.or("shape", shape, 1_500)?,
        size: fields.req("size", "\"100B\"", size_u32(1, MAX_PACKET))?,
        response: fields.or("response", size_u32(1, MAX_PACKET), 0)?,
        token: fields.or("token", size_u32(0, SimCoap::MAX_TOKEN), 4)?,
        options: fields.or("options", size_u32(0, MAX_OPTIONS), 8)?,
        confirmable: fields.or("confirmable", boolean, true)?,
        nstart,
        max_retransmit: fields.or("max_retransmit", whole_u32(0, 20), 4)?,
        timer,
        phases: fields.opt("phases", phases)?,
        stop: fields.opt("stop", span)?,
        deadline: fields.opt("deadline", positive_span)?,
    })
}

fn media(fields: &Fields) -> Result<Media, Problem> {
    let min_rate_bps = fields.or("min_rate", rate, nada::RMIN)?;
    let max_rate_bps = fields.or("max_rate", rate, nada::RMAX)?;
    if min_rate_bps > max_rate_bps {
        let key = if fields.field("max_rate").is_some() { "max_rate" } else { "min_rate" };
        let [min, max] = [min_rate_bps, max_rate_bps].map(BitRate);
        let message = format!("`{key}`: the maximum rate, {max}, is below the minimum, {min}");
        return Err(Problem::new(fields.place_of(key), message));
    }
    Ok(Media {
        packet: fields.req("packet", "\"1000B\"", size_u32(1, MAX_PACKET))?,
        min_rate_bps,
        max_rate_bps,
        ecn: fields.or("ecn", boolean, false)?,
        stop: fields.opt("stop", span)?,
    })
}

/// Mean time between two messages.
fn every(field: &Field) -> Result<Span, Problem> {
    match countable_span(field)? {
        Span::ZERO => positive_span(field),
        every => Ok(every),
    }
}

/// Reads a number as thousandths.
fn shape(field: &Field) -> Result<u32, Problem> {
    let thousandths = number(field)? * 1000.0;
    if thousandths > 1000.0
        && thousandths <= 1e6
        && (thousandths - thousandths.round()).abs() < 1e-6
    {
        return Ok(thousandths.round() as u32);
    }
    Err(field
        .error("must be above 1, at most 1000, with at most three decimals, for example `1.5`"))
}

fn phases(field: &Field) -> Result<[Span; 2], Problem> {
    let items = field.array()?;
    let [on, off] = items.as_slice() else {
        let n = items.len();
        let message = "two mean times, of sending and of silence, such as `[\"2s\", \"58s\"]`";
        return Err(field.error(format!("needs {message}, not {n}")));
    };
    Ok([positive_span(on)?, positive_span(off)?])
}

/// Reads the maximum deviation of the times between datagrams from their mean. The mean must be
/// larger.
fn spread(fields: &Fields, rate_bps: u64, packet: u32, by: Transport) -> Result<Span, Problem> {
    let Some(field) = fields.field("spread") else { return Ok(Span::ZERO) };
    if by == Transport::Tcp {
        return Err(field.error("is for datagrams; write `transport = \"udp\"`"));
    }
    let spread = span(&field)?;
    if u128::from(spread.0) * u128::from(rate_bps) >= 8 * u128::from(packet) * 1_000_000_000 {
        return Err(field.error("must be less than the mean time between two datagrams"));
    }
    Ok(spread)
}

/// Reads intervals of time that ascend and do not touch.
fn intervals(field: &Field) -> Result<Vec<[Span; 2]>, Problem> {
    const EXAMPLE: &str = "[[\"5s\", \"15s\"], [\"35s\", \"45s\"]]";
    let items = field.array()?;
    if items.is_empty() {
        return Err(field.error(format!("needs at least one interval, for example {EXAMPLE}")));
    }
    let mut all: Vec<[Span; 2]> = Vec::with_capacity(items.len());
    for item in &items {
        let ends = item.array()?;
        let [from, until] = ends.as_slice() else {
            let n = ends.len();
            return Err(item.error(format!("an interval has two ends, not {n}: {EXAMPLE}")));
        };
        let (from, until) = (span(from)?, span(until)?);
        if until <= from {
            let (from, until) = (Duration(from), Duration(until));
            return Err(item.error(format!("the interval from {from} to {until} has no length")));
        }
        if let Some([_, before]) = all.last().filter(|[_, before]| from <= *before) {
            let (from, before) = (Duration(from), Duration(*before));
            return Err(item.error(format!(
                "the interval from {from} must begin after the one before has ended, at {before}"
            )));
        }
        all.push([from, until]);
    }
    Ok(all)
}

/// When the application reads.
pub(super) fn read_application(field: &Field) -> Result<Read, Problem> {
    let fields = Fields::any(field.node, "`read`")?;
    Ok(match fields.kind(&READ, "\"immediate\"")? {
        "immediate" => Read::Immediate,
        "delayed" => Read::Delayed { after: fields.req("after", "\"1ms\"", positive_span)? },
        "rate" => Read::Rate { rate_bps: fields.req("rate", "\"1Mbps\"", rate)? },
        kind => unreachable!("`{kind}` is declared and not read"),
    })
}
