//! Reads and writes the traffic of a flow, and the reading behaviour of the receiving application.

use windlass_cc::{Span, rto};
use windlass_sim::arrivals::Law;
use windlass_sim::config::{Coap as SimCoap, MAX_DATAGRAM};
use windlass_sim::media::nada;

use crate::codec::{Codec, ordered, table};
use crate::fields::{Field, Fields, countable_span, named, positive_span, size, span};
use crate::model::{Coap, Media, Read, Traffic, Transport};
use crate::params;
use crate::presets::{DTLS, DtlsPreset};
use crate::problem::Problem;
use crate::quote::{array, inline, quote};
use crate::schema::{Kinds, Shape, shape};
use crate::units::{BitRate, Bytes, Duration};

table!(BULK, "bulk", read_bulk, written_bulk, builds Traffic::Bulk {
    bytes: transfer().opt(), "size of the transfer, at most `1TiB`", "endless";
});

table!(REQUESTS, "request-response", read_requests, written_requests, builds Traffic::RequestResponse {
    request: transfer().req("\"100B\""), "size of a request; `to` connects and asks, `from` answers", "required";
    response: transfer().req("\"10MB\""), "size of a response; the last response closes the connection", "required";
    requests: Codec::whole(1, MAX_REQUESTS).or(1), "number of requests", "`1`";
    think: Codec::time(span).or(Span::ZERO), "time from a response to the next request", "`\"0s\"`";
});

table!(CBR, "cbr", read_cbr, written_cbr, builds Traffic::Cbr {
    rate_bps as rate: Codec::rate().req("\"500kbps\""), "payload rate", "required";
    packet: packet(), "payload of a packet", "required";
    spread: Codec::time(span).or(Span::ZERO).unless(Span::ZERO), "for datagrams: variation of the time between two datagrams, uniformly up to this time shorter or longer, drawn from the seed; less than the mean time, `packet` over `rate`", "`\"0s\"`";
    transport: Codec::word(&Transport::ALL).or(Transport::Tcp), "`tcp` or `udp`", "`\"tcp\"`";
    stop: Codec::time(span).opt(), "simulated time of the end", "the end of the run";
    on [list(list(Of(Time)))], "for datagrams: intervals of simulated time with traffic, such as `[[\"5s\", \"15s\"], [\"35s\", \"45s\"]]`, in place of `start` and `stop`; the flow's `jitter` shifts all of them, and `active_s` counts only them", "from `start` to `stop`";
    deadline: Codec::time(positive_span).opt(), "over TCP: each packet is a message, and the other application should read it completely within this time after its writing; the results then have the number of late messages (`messages_late`) and their latency", "none";
});

table!(MESSAGES, "messages", read_messages, written_messages, builds Traffic::Messages {
    every: Codec::time(every).req("\"10s\""), "mean time from one message to the next, and from the start to the first", "required";
    size: Codec::size(1, MAX_MESSAGE).req("\"200B\""), "mean size of a message, at most `1GiB`", "required";
    gaps: Codec::word(&Law::ALL).or(Law::Exponential), "distribution of the times between messages: `constant`, `exponential` (a Poisson process) or `pareto`", "`\"exponential\"`";
    sizes: Codec::word(&Law::ALL).or(Law::Constant), "distribution of the sizes", "`\"constant\"`";
    shape: pareto(), "shape of Pareto distributions, with at most three decimals, above 1, at most 1000", "`1.5`";
    most: Codec::size(0, u64::MAX).later(), "maximum size; larger values are reduced to it", "a thousand times `size`";
    phases: phases().opt(), "mean lengths of alternating phases of sending and of silence, exponentially distributed, such as `[\"2s\", \"58s\"]`; `every` does not count the silence", "always sending";
    stop: Codec::time(span).opt(), "simulated time of the end", "the end of the run";
    deadline: Codec::time(positive_span).opt(), "as for `cbr`: the results then have the number of late messages, the latency, and the age of the newest message at the receiver (`message_age_ms`)", "none";
});

table!(COAP, "coap", read_coap, written_coap, builds Coap {
    every: Codec::time(every).req("\"10s\""), "mean time from one request to the next, and from the start to the first", "required";
    size: Codec::size_u32(1, MAX_DATAGRAM).req("\"100B\""), "payload of a request", "required";
    gaps: Codec::word(&Law::ALL).or(Law::Exponential), "distribution of the times between requests", "`\"exponential\"`";
    shape: pareto(), "shape of a Pareto distribution, with at most three decimals, above 1, at most 1000", "`1.5`";
    response: Codec::size_u32(1, MAX_DATAGRAM).or(0).unless(0), "payload of a response, which is in the acknowledgement of its request", "none";
    token: Codec::size_u32(0, SimCoap::MAX_TOKEN).or(4), "the token that a request and its response carry, at most `8B`", "`\"4B\"`";
    options: Codec::size_u32(0, MAX_OPTIONS).or(8), "options of a request, at most `1000B`; a response has no options", "`\"8B\"`";
    confirmable: Codec::flag().or(true), "whether requests are confirmable; other requests are sent once, without a response", "`true`";
    nstart: Codec::whole(1, 1_000).or(1), "exchanges that are open at a time (`NSTART`); further requests wait", "`1`";
    max_retransmit: Codec::whole(0, 20).or(4), "retransmissions before a request is given up (`MAX_RETRANSMIT`)", "`4`";
    timer as rto: timer(), "the retransmission timer: table with its `algorithm`, such as `coap`, `cocoa`, `cocoa+` or `fasor`, and its parameters", "`{ algorithm = \"coap\" }`";
    security: dtls().opt(), "security layer, which adds bytes to each message and a handshake before the first request: [DTLS](#dtls)", "none";
    per_request as handshake: Codec::word(&HANDSHAKES).or(false), "with `security`: `once`, one handshake before the first request, or `per-request`, one before each request", "`\"once\"`";
    phases: phases().opt(), "as for `messages`", "always sending";
    stop: Codec::time(span).opt(), "simulated time of the end", "the end of the run";
    deadline: Codec::time(positive_span).opt(), "as for `messages`: time within which a request should arrive at the server", "none";
});

table!(MEDIA, "media", read_media, written_media, builds Media {
    packet: packet(), "payload of a packet", "required";
    min_rate_bps as min_rate: Codec::rate().or(nada::RMIN), "payload rate at the start, and the least (`RMIN`)", "`\"150kbps\"`";
    max_rate_bps as max_rate: Codec::rate().or(nada::RMAX), "greatest payload rate (`RMAX`); a flow that settles has a queuing delay of 10 ms times this over its rate", "`\"1.5Mbps\"`";
    ecn: Codec::flag().or(false), "whether queues may mark the packets instead of dropping them; the marks count in the congestion signal", "`false`";
    stop: Codec::time(span).opt(), "simulated time of the end", "the end of the run";
});

table!(DELAYED, "delayed", read_delayed, written_delayed, builds Read::Delayed {
    after: Codec::time(positive_span).req("\"1ms\""), "everything, at this time after data became readable", "required";
});

table!(READ_RATE, "rate", read_rate, written_rate, builds Read::Rate {
    rate_bps as rate: Codec::rate().req("\"1Mbps\""), "at this rate", "required";
});

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

/// Maximum size of a transfer, bytes: [`MAX_REQUESTS`] transfers of this size fit into a 64-bit
/// stream offset.
const MAX_TRANSFER: u64 = 1 << 40;
const MAX_REQUESTS: u32 = 1_000_000;

/// Largest message, bytes.
const MAX_MESSAGE: u64 = 1 << 30;
/// Default of the largest message, as a multiple of the mean.
const MOST_OVER_MEAN: u64 = 1000;
/// Longest options of a request, bytes.
const MAX_OPTIONS: u32 = 1_000;
/// Occasions of a handshake: true for each request.
const HANDSHAKES: [(&str, bool); 2] = [("once", false), ("per-request", true)];

fn transfer() -> Codec<u64> {
    Codec::size(1, MAX_TRANSFER)
}

fn packet() -> Codec<u32> {
    Codec::size_u32(1, MAX_DATAGRAM).req("\"1000B\"")
}

fn timer() -> Codec<rto::AnyParams> {
    let usual = rto::AnyParams::Coap(Default::default());
    let read = move |field: &Field| {
        let mut timer = usual;
        params::read_timer(field, &mut timer).map(|()| timer)
    };
    Codec::new(Shape::Timer, read, |timer| inline(&params::written_timer(timer))).or(usual)
}

fn dtls() -> Codec<&'static DtlsPreset> {
    let words = Shape::Words(DTLS.iter().map(|preset| preset.name).collect());
    Codec::new(words, |field| named(field, &DTLS, |dtls| dtls.name), |dtls| quote(dtls.name))
}

/// Reads the traffic, and its sending intervals. Without intervals, the source always sends.
pub(super) fn traffic(field: &Field) -> Result<(Traffic, Vec<[Span; 2]>), Problem> {
    let fields = Fields::any(field.node, "`traffic`")?;
    let mut traffic = match fields.kind(&TRAFFIC, "\"bulk\"")? {
        "bulk" => read_bulk(&fields)?,
        "request-response" => read_requests(&fields)?,
        "cbr" => read_cbr(&fields)?,
        "messages" => read_messages(&fields)?,
        "coap" => Traffic::Coap(read_coap(&fields)?),
        "media" => Traffic::Media(read_media(&fields)?),
        kind => unreachable!("`{kind}` is declared and not read"),
    };
    match &mut traffic {
        Traffic::Bulk { .. } | Traffic::RequestResponse { .. } => {}
        Traffic::Cbr { .. } => {
            let on = check_cbr(field, &fields, &traffic)?;
            return Ok((traffic, on));
        }
        Traffic::Messages { size: mean, most, .. } => {
            let usual = mean.saturating_mul(MOST_OVER_MEAN);
            *most = fields.or("most", size(*mean, MAX_MESSAGE.max(usual)), usual)?;
        }
        Traffic::Coap(coap) => check_coap(&fields, coap)?,
        Traffic::Media(media) => check_media(&fields, media)?,
    }
    Ok((traffic, Vec::new()))
}

/// The traffic and its sending intervals as TOML text.
pub(super) fn written(traffic: &Traffic, on: &[[Span; 2]]) -> String {
    /// The keys that precede the others.
    const FIRST: &str = "rate packet transport spread every gaps size sizes token options confirmable nstart \
        max_retransmit rto";
    let (kind, pairs) = match traffic {
        Traffic::Bulk { .. } => ("bulk", written_bulk(traffic)),
        Traffic::RequestResponse { .. } => ("request-response", written_requests(traffic)),
        Traffic::Cbr { .. } => ("cbr", written_cbr(traffic)),
        Traffic::Messages { .. } => ("messages", written_messages(traffic)),
        Traffic::Coap(coap) => ("coap", written_coap(coap)),
        Traffic::Media(media) => ("media", written_media(media)),
    };
    let is_used = |key: &str| match (traffic, key) {
        (Traffic::Messages { gaps, sizes, .. }, "shape") => [gaps, sizes].contains(&&Law::Pareto),
        (Traffic::Messages { sizes, .. }, "most") => *sizes != Law::Constant,
        (Traffic::Coap(coap), "shape") => coap.gaps == Law::Pareto,
        (Traffic::Coap(coap), "handshake") => coap.security.is_some(),
        _ => true,
    };
    let mut pairs = ordered(pairs, FIRST);
    pairs.retain(|(key, _)| is_used(key));
    pairs.insert(0, ("kind", quote(kind)));
    if !on.is_empty() {
        pairs.push(("on", array(on, times)));
    }
    inline(&pairs)
}

fn times(times: &[Span; 2]) -> String {
    array(times, |time| quote(Duration(*time)))
}

/// Checks the keys of packets at equal intervals together, and reads the sending intervals.
fn check_cbr(field: &Field, fields: &Fields, cbr: &Traffic) -> Result<Vec<[Span; 2]>, Problem> {
    let Traffic::Cbr { rate_bps, packet, spread, transport, stop, .. } = *cbr else {
        return Ok(Vec::new());
    };
    let (bits, rate) = (u128::from(packet) * 8 * 1_000_000_000, u128::from(rate_bps));
    if bits < rate {
        let size = Bytes(packet.into());
        return Err(
            field.error(format!("packets of {size} would fall due more than once a nanosecond"))
        );
    }
    let of = |key| fields.field(key);
    match (transport, of("spread"), of("deadline"), of("on")) {
        (Transport::Tcp, Some(field), ..) | (Transport::Tcp, .., Some(field)) => {
            Err(field.error("is for datagrams; write `transport = \"udp\"`"))
        }
        (_, Some(field), ..) if u128::from(spread.0) * rate >= bits => {
            Err(field.error("must be less than the mean time between two datagrams"))
        }
        (Transport::Udp, _, Some(field), _) => {
            Err(field.error("packets are judged as messages over TCP only"))
        }
        (.., Some(field)) if stop.is_some() => {
            Err(field.error("sets the end of the traffic; leave `stop` out"))
        }
        (.., Some(field)) => intervals(&field),
        (.., None) => Ok(Vec::new()),
    }
}

fn check_coap(fields: &Fields, coap: &Coap) -> Result<(), Problem> {
    if let (None, Some(field)) = (coap.security, fields.field("handshake")) {
        return Err(field.error("needs a `security` layer, such as `\"dtls-1.3-psk-cid\"`"));
    }
    match fields.field("nstart") {
        Some(field) if coap.per_request && coap.nstart > 1 => {
            Err(field.error("must be 1 with a handshake for each request"))
        }
        _ => Ok(()),
    }
}

fn check_media(fields: &Fields, media: &Media) -> Result<(), Problem> {
    if media.min_rate_bps <= media.max_rate_bps {
        return Ok(());
    }
    let key = if fields.field("max_rate").is_some() { "max_rate" } else { "min_rate" };
    let [min, max] = [media.min_rate_bps, media.max_rate_bps].map(BitRate);
    Err(fields.error(key, format!("the maximum rate, {max}, is below the minimum, {min}")))
}

/// Mean time between two messages.
fn every(field: &Field) -> Result<Span, Problem> {
    countable_span(field)?;
    positive_span(field)
}

/// The shape of a Pareto distribution, in thousandths.
fn pareto() -> Codec<u32> {
    let refusal = "must be above 1, at most 1000, with at most three decimals, for example `1.5`";
    Codec::thousandths(1_001, 1_000_000, refusal).or(1_500)
}

/// Mean times of sending and of silence.
fn phases() -> Codec<[Span; 2]> {
    let read = |field: &Field| {
        let message = "two mean times, of sending and of silence, such as `[\"2s\", \"58s\"]`";
        let [on, off] = field.pair(|n| format!("needs {message}, not {n}"))?;
        Ok([positive_span(&on)?, positive_span(&off)?])
    };
    Codec::new(shape!(list(Of(Time))), read, times)
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
        let wrong = |n| format!("an interval has two ends, not {n}: {EXAMPLE}");
        let [from, until] = item.pair(wrong)?;
        let (from, until) = (span(&from)?, span(&until)?);
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
        "delayed" => read_delayed(&fields)?,
        "rate" => read_rate(&fields)?,
        kind => unreachable!("`{kind}` is declared and not read"),
    })
}

/// As TOML text.
pub(super) fn written_reading(read: &Read) -> String {
    let (kind, mut pairs) = match read {
        Read::Immediate => ("immediate", Vec::new()),
        Read::Delayed { .. } => ("delayed", written_delayed(read)),
        Read::Rate { .. } => ("rate", written_rate(read)),
    };
    pairs.insert(0, ("kind", quote(kind)));
    inline(&pairs)
}
