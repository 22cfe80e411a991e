//! Queues, read and written: a length, or a table with a discipline and its parameters.

use windlass_sim::queue::{
    CoDel, Device, Discipline, DualPi2, DualPi2Variant, FqCoDel, Level, MAX_COUPLING,
    MAX_DEVICE_PACKETS, MAX_FLOWS, MAX_GAIN, Pie, Policer, Red, Scheduler, Threshold,
};

use crate::codec::{Codec, Pairs, table};
use crate::fields::{
    Field, Fields, boolean, choice, packets, positive_span, probability, queue, size_u32, span,
    threshold,
};
use crate::problem::Problem;
use crate::quote::{inline, quote};
use crate::schema::{Kinds, Shape, section, shape};
use crate::tree::Value;
use crate::units::{Packets, QueueLimit};

/// A length, or a table.
pub(super) fn queues() -> Shape {
    shape!(Either(vec![Of(Queue), Shape::Kinds(&QUEUE)]))
}

section! {
    /// The keys of a queue that do not depend on the discipline.
    LIMIT, "limit":
    limit Of(Queue), "maximum length, without the packet in transmission", "`\"100pkt\"`";
    device Of(Packets), "capacity of the device below the discipline, a FIFO of `1pkt` to `1000000pkt`", "none";
}

/// A queue with a discipline or a device.
pub(crate) static QUEUE: Kinds = Kinds {
    name: "queue",
    tag: "discipline",
    usual: Some("drop-tail"),
    kinds: &[
        ("drop-tail", &[&LIMIT]),
        ("red", &[&LIMIT, &RED]),
        ("codel", &[&LIMIT, &CODEL]),
        ("fq-codel", &[&LIMIT, &FQ_CODEL]),
        ("pie", &[&LIMIT, &PIE]),
        ("dualpi2", &[&LIMIT, &RTTS, &DUALPI2]),
        ("threshold", &[&LIMIT, &THRESHOLD]),
        ("policer", &[&LIMIT, &POLICER]),
    ],
};

/// A queue's limit and its discipline.
pub(super) type Queue = (QueueLimit, Discipline<QueueLimit>);

/// The default limit of a link's queue.
pub(super) const LIMIT_OF_LINKS: QueueLimit = QueueLimit::Packets(100);

/// Largest memory of DualPI2, bytes, which is no limit.
const MAX_MEMORY: u64 = 1 << 40;
/// Longest interval of CoDel, nanoseconds: a day.
const MAX_INTERVAL: u64 = 86_400_000_000_000;

type RedSpec = Red<QueueLimit>;
type ThresholdSpec = Threshold<QueueLimit>;

table!(RED, "red", apply_red, written_red, RedSpec {
    min_threshold: Codec::level(threshold), "threshold: average length below which no packet is dropped", "`\"5pkt\"`";
    max_threshold: Codec::level(threshold), "threshold in the same unit, at least `min_threshold`: average length with the drop probability `max_probability`", "`\"15pkt\"`";
    weight: Codec::share(weight), "weight of the newest length in the average, more than 0, at most 1", "`0.002`";
    max_probability: Codec::share(probability), "probability at `max_threshold`", "`0.1`";
    gentle: Codec::flag(), "increase the probability linearly to 1 at twice `max_threshold`, not immediately to 1", "`true`";
    ecn: Codec::flag(), "mark instead of dropping at random; drop where the probability is 1", "`false`";
    adaptive: Codec::flag(), "adapt `max_probability` every 500 ms so that the average stays in the middle", "`false`";
    mean_packet: Codec::size_u32(1, 65_535), "size of a typical packet, `1B` to `65535B`, by which idle time is counted", "`\"500B\"`";
});

table!(CODEL, "codel", apply_codel, written_codel, CoDel {
    target: Codec::time(span), "acceptable standing delay", "`\"5ms\"`";
    interval: Codec::time(interval), "maximum time for which the delay may exceed `target`, more than zero, at most `24h`", "`\"100ms\"`";
    ecn: Codec::flag(), "mark instead of dropping", "`false`";
});

table!(FQ_CODEL, "fq-codel", apply_fq_codel, written_fq_codel, FqCoDel {
    flows: Codec::whole(1, MAX_FLOWS), "queues that flows are hashed into, 1 to 65536", "`1024`";
    quantum: Codec::size_u32(1, u32::MAX), "bytes that a queue may send per turn, at least `1B`", "`\"1514B\"`";
    target: Codec::time(span), "acceptable standing delay of each queue", "`\"5ms\"`";
    interval: Codec::time(interval), "maximum time for which the delay of a queue may exceed `target`", "`\"100ms\"`";
    ecn: Codec::flag(), "mark instead of dropping", "`true`";
});

table!(PIE, "pie", apply_pie, written_pie, Pie {
    target: Codec::time(span), "delay to aim at, QDELAY_REF", "`\"15ms\"`";
    update: Codec::time(positive_span), "time between adjustments, T_UPDATE, more than zero", "`\"15ms\"`";
    alpha: Codec::number(0.0, MAX_GAIN), "weight of the deviation from the target, per second, 0 to 1000", "`0.125`";
    beta: Codec::number(0.0, MAX_GAIN), "weight of the change of the delay, per second, 0 to 1000", "`1.25`";
    max_burst: Codec::time(span), "length of a burst without drops, MAX_BURST", "`\"150ms\"`";
    ecn: Codec::flag(), "mark while the probability is below `mark_limit`", "`false`";
    mark_limit: Codec::share(probability), "probability from which marking ends", "`0.1`";
});

section! {
    /// RTTs from which DualPI2's parameters follow.
    RTTS, "rtts":
    max_rtt Of(Time), "maximum RTT R of the flows: `alpha` is 0.1 `update` / R², and `beta` is 0.3 / R", "none";
    typical_rtt Of(Time), "typical RTT: `target`, and `update` if it is below a third of `max_rtt`; only with `max_rtt`", "a sixth of `max_rtt`";
}

table!(DUALPI2, "dualpi2", apply_dualpi2, written_dualpi2, DualPi2 {
    variant: Codec::word(&DualPi2Variant::ALL), "`rfc9332` marks without randomness, and counts a delay of the L queue from its second packet on; `linux` is `sch_dualpi2`, with its defaults", "`\"rfc9332\"`";
    target: Codec::time(span), "delay to aim at", "`\"15ms\"`";
    update: Codec::time(positive_span), "time between adjustments, Tupdate, more than zero; `\"16ms\"` with `linux`", "`\"15ms\"`";
    alpha: Codec::number(0.0, MAX_GAIN), "weight of the deviation from the target, per second, 0 to 1000; `0.16015625` with `linux`", "`0.15`";
    beta: Codec::number(0.0, MAX_GAIN), "weight of the change of the delay, per second, 0 to 1000; `3.19921875` with `linux`", "`3`";
    coupling: Codec::number(1.0, MAX_COUPLING), "coupling factor k, 1 to 100: L packets are marked with k times the base probability p, C packets with p²", "`2`";
    ramp_start: Codec::time(span), "delay above which the L queue marks some packets; `\"1ms\"` with `linux`", "`\"800us\"`";
    ramp_end: Codec::time(span), "delay above which the L queue marks all packets, at least `ramp_start`; `\"1ms\"` with `linux`, a step", "`\"1200us\"`";
    scheduler: Codec::word(&Scheduler::ALL), "`weighted` round robin, or `time-shifted` first in, first out", "`\"weighted\"`";
    classic_share: Codec::share(probability), "share of the rate that `weighted` protects for the C queue", "`0.1`";
    shift: Codec::time(span), "time that `time-shifted` adds to the waits of L packets", "`\"30ms\"`";
    drop_on_overload: Codec::flag(), "drop packets of both queues while k p exceeds 1; `false` marks all L packets and lets the queue grow to its limit", "`true`";
    memory: Codec::size(1, MAX_MEMORY), "maximum number of bytes in both queues, in addition to `limit`", "`\"1TiB\"`";
});

table!(THRESHOLD, "threshold", apply_threshold, written_threshold, ThresholdSpec {
    mark: Codec::level(threshold), "threshold: a packet that finds a longer queue is marked if it is ECN-capable, and otherwise not changed", "`\"65pkt\"`";
    probability: Codec::share(probability), "probability of a mark up to the threshold, for ECN-capable packets", "`0`";
});

table!(POLICER, "policer", apply_policer, written_policer, Policer {
    rate: Codec::rate(), "rate of the token bucket: packets above this rate are dropped, even if the link is idle", "`\"1Mbps\"`";
    burst: Codec::size(1_500, 1 << 40), "size of the bucket, at least `1500B`; it is full at the beginning", "`\"30kB\"`";
});

/// Every discipline at its defaults.
pub(super) fn disciplines() -> [Discipline<QueueLimit>; Discipline::DEFAULTS.len()] {
    let length = |level| match level {
        Level::Packets(n) => QueueLimit::Packets(n),
        Level::Bytes(n) => QueueLimit::Bytes(n),
    };
    Discipline::DEFAULTS.map(|discipline| discipline.map(length))
}

fn weight(field: &Field) -> Result<f64, Problem> {
    match probability(field)? {
        0.0 => Err(field.error("must be more than zero, for example `0.002`")),
        weight => Ok(weight),
    }
}

fn interval(field: &Field) -> Result<windlass_cc::Span, Problem> {
    let interval = positive_span(field)?;
    if interval.0 <= MAX_INTERVAL {
        return Ok(interval);
    }
    Err(field.error("must be at most `24h`"))
}

/// Reads a length, or a table with the discipline of a link of this rate.
pub(super) fn read(field: &Field, rate_bps: u64) -> Result<Queue, Problem> {
    let Value::Table(_) = field.node.value else {
        return Ok((queue(field)?, Discipline::DropTail));
    };
    let fields = Fields::any(field.node, "`queue`")?;
    let known = disciplines();
    let named: [_; Discipline::DEFAULTS.len()] =
        std::array::from_fn(|place| (known[place].id(), place));
    let discipline = known[fields.or("discipline", choice(&named), 0)?].clone();
    let what = format!("`queue` with the discipline `{}`", discipline.id());
    let fields = Fields::open(field.node, &what, &QUEUE.names(discipline.id()))?;
    let limit = fields.or("limit", queue, LIMIT_OF_LINKS)?;
    let discipline = parameters(&fields, discipline, rate_bps)?;
    let discipline = match fields.field("device") {
        Some(field) => {
            Discipline::Device(Box::new(Device { discipline, packets: device(&field)? }))
        }
        None => discipline,
    };
    Ok((limit, discipline))
}

/// The size of a device's queue.
fn device(field: &Field) -> Result<u64, Problem> {
    let (held, most) = (packets(field)?, MAX_DEVICE_PACKETS);
    match held {
        0 => Err(field.error("must be at least `1pkt`; leave it out for a queue without a device")),
        held if held > most => Err(field.error(format!("{held}pkt is more than {most}pkt"))),
        held => Ok(held),
    }
}

/// The discipline with the parameters of the table; the others keep their defaults.
fn parameters(
    fields: &Fields,
    mut discipline: Discipline<QueueLimit>,
    rate_bps: u64,
) -> Result<Discipline<QueueLimit>, Problem> {
    match &mut discipline {
        Discipline::DropTail | Discipline::Device(_) | Discipline::Custom(_) => {}
        Discipline::Red(red) => read_red(fields, red, rate_bps)?,
        Discipline::CoDel(codel) => apply_codel(codel, fields)?,
        Discipline::FqCoDel(fq) => apply_fq_codel(fq, fields)?,
        Discipline::Pie(pie) => apply_pie(pie, fields)?,
        Discipline::DualPi2(dual) => read_dualpi2(fields, dual)?,
        Discipline::Threshold(t) => apply_threshold(t, fields)?,
        Discipline::Policer(policer) => apply_policer(policer, fields)?,
    }
    Ok(discipline)
}

/// The variant gives the defaults, then the RTTs; single parameters have precedence.
fn read_dualpi2(fields: &Fields, dual: &mut DualPi2) -> Result<(), Problem> {
    *dual = DualPi2::of(fields.or("variant", choice(&DualPi2Variant::ALL), dual.variant)?);
    let typical = fields.field("typical_rtt");
    match (fields.field("max_rtt"), &typical) {
        (Some(max), typical) => {
            let typical = typical.as_ref().map(positive_span).transpose()?;
            *dual = dual.for_rtts(positive_span(&max)?, typical);
        }
        (None, Some(typical)) => return Err(typical.error("needs `max_rtt`")),
        (None, None) => {}
    }
    apply_dualpi2(dual, fields)?;
    if dual.ramp_start <= dual.ramp_end {
        return Ok(());
    }
    let message = "`ramp_start` must not be longer than `ramp_end`";
    Err(match fields.field("ramp_start").or_else(|| fields.field("ramp_end")) {
        Some(field) => field.error(message),
        None => Problem::new(fields.place(), message.to_string()),
    })
}

fn read_red(fields: &Fields, red: &mut RedSpec, rate_bps: u64) -> Result<(), Problem> {
    if fields.or("adaptive", boolean, false)? {
        let mean_packet = fields.or("mean_packet", size_u32(1, 65_535), red.mean_packet)?;
        let (min, max) = Red::adaptive_thresholds(rate_bps, mean_packet);
        red.weight = Red::adaptive_weight(rate_bps, mean_packet);
        red.min_threshold = QueueLimit::Packets(min);
        red.max_threshold = QueueLimit::Packets(max);
    }
    apply_red(red, fields)?;
    let problem = |message: String| match fields.field("max_threshold") {
        Some(max) => max.error(message),
        None => Problem::new(fields.place(), format!("`max_threshold`: {message}")),
    };
    let (min, max) = (red.min_threshold, red.max_threshold);
    let ordered = match (min, max) {
        (QueueLimit::Packets(min), QueueLimit::Packets(max)) => min <= max,
        (QueueLimit::Bytes(min), QueueLimit::Bytes(max)) => min <= max,
        (QueueLimit::BdpMillionths(min), QueueLimit::BdpMillionths(max)) => min <= max,
        _ => {
            return Err(problem(format!(
                "{max} and the `min_threshold` of {min} must have the same unit: both in packets, \
                 both sizes or both in bdp"
            )));
        }
    };
    if !ordered {
        return Err(problem(format!("{max} is less than the `min_threshold` of {min}")));
    }
    Ok(())
}

/// The table of a queue with a discipline or a device, as keys and TOML text; `None` for a plain drop-tail
/// queue, which its length describes completely.
fn written(limit: QueueLimit, discipline: &Discipline<QueueLimit>) -> Option<Pairs> {
    let own = own_written(discipline);
    let device = match discipline {
        Discipline::Device(device) => Some(("device", quote(Packets(device.packets)))),
        _ => None,
    };
    if own.is_none() && device.is_none() {
        return None;
    }
    let mut all =
        vec![("discipline", format!("\"{}\"", discipline.id())), ("limit", format!("\"{limit}\""))];
    all.extend(device);
    // A threshold without random marks keeps the hash that it had before they existed.
    let plain = ("probability", "0".to_owned());
    all.extend(own.into_iter().flatten().filter(|pair| *pair != plain));
    Some(all)
}

/// A queue as TOML text.
pub(super) fn text(limit: QueueLimit, discipline: &Discipline<QueueLimit>) -> String {
    match written(limit, discipline) {
        Some(table) => inline(&table),
        None => quote(limit),
    }
}

/// The parameters of a discipline.
pub(super) fn own_written(discipline: &Discipline<QueueLimit>) -> Option<Pairs> {
    match discipline {
        // A file has only the built-in disciplines.
        Discipline::DropTail | Discipline::Custom(_) => None,
        Discipline::Red(red) => Some(written_red(red)),
        Discipline::CoDel(codel) => Some(written_codel(codel)),
        Discipline::FqCoDel(fq) => Some(written_fq_codel(fq)),
        Discipline::Pie(pie) => Some(written_pie(pie)),
        Discipline::DualPi2(dual) => Some(written_dualpi2(dual)),
        Discipline::Threshold(t) => Some(written_threshold(t)),
        Discipline::Policer(policer) => Some(written_policer(policer)),
        Discipline::Device(device) => own_written(&device.discipline),
    }
}
