//! Queues, read and written: a length, or a table with a discipline and its parameters.

use windlass_sim::queue::{CoDel, Discipline, FqCoDel, Pie, Red, Threshold};

use super::error::Problem;
use super::fields::{
    Field, Fields, boolean, choice, number, positive_span, probability, queue, size_u32, span,
    threshold, whole_u32,
};
use super::stack::table;
use super::tree::Value;
use crate::units::{Bytes, Duration, Probability, QueueLimit};

/// A queue's limit and its discipline.
#[derive(Clone)]
pub(super) struct Queue {
    pub(super) limit: QueueLimit,
    pub(super) discipline: Discipline<QueueLimit>,
}

impl Queue {
    /// What a link has that says nothing.
    pub(super) const DEFAULT: Queue =
        Queue { limit: QueueLimit::Packets(100), discipline: Discipline::DropTail };
}

/// Keys of every queue that is a table.
pub(super) const KEYS: [&str; 2] = ["discipline", "limit"];

/// Size of a typical packet, bytes, as in ns-2 and ns-3.
const MEAN_PACKET: u32 = 500;
/// Floyd, "RED: Discussions of Setting Parameters", 1997: the lower threshold, three times that,
/// and the weight; the maximum probability of 1/10 from the same.
const RED: RedSpec = Red {
    min_threshold: QueueLimit::Packets(5),
    max_threshold: QueueLimit::Packets(15),
    weight: 0.002,
    max_probability: 0.1,
    gentle: true,
    ecn: false,
    adaptive: false,
    mean_packet: MEAN_PACKET,
};
/// Alizadeh et al., "Data Center TCP", section 3.4: K of 65 packets at 10 Gbit/s.
const THRESHOLD: ThresholdSpec = Threshold { mark: QueueLimit::Packets(65) };
/// Largest weight of PIE.
const MAX_GAIN: f64 = 1000.0;
/// Longest interval of CoDel, nanoseconds: a day.
const MAX_INTERVAL: u64 = 86_400_000_000_000;

type RedSpec = Red<QueueLimit>;
type ThresholdSpec = Threshold<QueueLimit>;

table!(RED_KEYS, apply_red, written_red, RedSpec {
    "min_threshold" min_threshold: threshold, text;
    "max_threshold" max_threshold: threshold, text;
    "weight" weight: weight, share;
    "max_probability" max_probability: probability, share;
    "gentle" gentle: boolean, plain;
    "ecn" ecn: boolean, plain;
    "adaptive" adaptive: boolean, plain;
    "mean_packet" mean_packet: size_u32(1, 65_535), size;
});

table!(CODEL_KEYS, apply_codel, written_codel, CoDel {
    "target" target: span, time;
    "interval" interval: interval, time;
    "ecn" ecn: boolean, plain;
});

table!(FQ_CODEL_KEYS, apply_fq_codel, written_fq_codel, FqCoDel {
    "flows" flows: whole_u32(1, 65_536), plain;
    "quantum" quantum: size_u32(1, u32::MAX), size;
    "target" target: span, time;
    "interval" interval: interval, time;
    "ecn" ecn: boolean, plain;
});

table!(PIE_KEYS, apply_pie, written_pie, Pie {
    "target" target: span, time;
    "update" update: positive_span, time;
    "alpha" alpha: gain, plain;
    "beta" beta: gain, plain;
    "max_burst" max_burst: span, time;
    "ecn" ecn: boolean, plain;
    "mark_limit" mark_limit: probability, share;
});

table!(THRESHOLD_KEYS, apply_threshold, written_threshold, ThresholdSpec {
    "mark" mark: threshold, text;
});

/// Every discipline, at its defaults, with its name and its keys.
pub(super) const DISCIPLINES: [(Discipline<QueueLimit>, &[&str]); 6] = [
    (Discipline::DropTail, &[]),
    (Discipline::Red(RED), RED_KEYS),
    (Discipline::CoDel(CoDel::DEFAULT), CODEL_KEYS),
    (Discipline::FqCoDel(FqCoDel::DEFAULT), FQ_CODEL_KEYS),
    (Discipline::Pie(Pie::DEFAULT), PIE_KEYS),
    (Discipline::Threshold(THRESHOLD), THRESHOLD_KEYS),
];

fn text(value: &QueueLimit) -> String {
    format!("\"{value}\"")
}

fn size(value: &u32) -> String {
    format!("\"{}\"", Bytes((*value).into()))
}

fn time(value: &windlass_cc::Span) -> String {
    format!("\"{}\"", Duration(*value))
}

fn plain(value: &impl ToString) -> String {
    value.to_string()
}

fn share(value: &f64) -> String {
    Probability(*value).to_string()
}

fn weight(field: &Field) -> Result<f64, Problem> {
    match probability(field)? {
        0.0 => Err(field.error("must be more than zero, for example `0.002`")),
        weight => Ok(weight),
    }
}

fn gain(field: &Field) -> Result<f64, Problem> {
    let value = number(field)?;
    if (0.0..=MAX_GAIN).contains(&value) {
        return Ok(value.abs()); // -0 is 0
    }
    Err(field.error(format!("{value} is outside the range from 0 to {MAX_GAIN}")))
}

fn interval(field: &Field) -> Result<windlass_cc::Span, Problem> {
    let interval = positive_span(field)?;
    if interval.0 <= MAX_INTERVAL {
        return Ok(interval);
    }
    Err(field.error("must be at most `24h`"))
}

/// A length, or a table with the discipline of a link of this rate.
pub(super) fn read(field: &Field, rate_bps: u64) -> Result<Queue, Problem> {
    let Value::Table(_) = field.node.value else {
        return Ok(Queue { limit: queue(field)?, ..Queue::DEFAULT });
    };
    let fields = Fields::any(field.node, "`queue`")?;
    let places: [usize; DISCIPLINES.len()] = std::array::from_fn(|place| place);
    let named = places.map(|place| (DISCIPLINES[place].0.id(), place));
    let (discipline, own) = DISCIPLINES[fields.or("discipline", choice(&named), 0)?].clone();
    let what = format!("`queue` with the discipline `{}`", discipline.id());
    let known = [KEYS.as_slice(), own].concat();
    let fields = Fields::open(field.node, &what, &known)?;
    let limit = fields.or("limit", queue, Queue::DEFAULT.limit)?;
    Ok(Queue { limit, discipline: parameters(&fields, discipline, rate_bps)? })
}

/// The discipline with the parameters of the table in place of its defaults.
fn parameters(
    fields: &Fields,
    mut discipline: Discipline<QueueLimit>,
    rate_bps: u64,
) -> Result<Discipline<QueueLimit>, Problem> {
    match &mut discipline {
        Discipline::DropTail | Discipline::Custom(_) => {}
        Discipline::Red(red) => read_red(fields, red, rate_bps)?,
        Discipline::CoDel(codel) => apply_codel(codel, fields)?,
        Discipline::FqCoDel(fq) => apply_fq_codel(fq, fields)?,
        Discipline::Pie(pie) => apply_pie(pie, fields)?,
        Discipline::Threshold(t) => apply_threshold(t, fields)?,
    }
    Ok(discipline)
}

fn read_red(fields: &Fields, red: &mut RedSpec, rate_bps: u64) -> Result<(), Problem> {
    if fields.or("adaptive", boolean, false)? {
        let mean_packet = fields.or("mean_packet", size_u32(1, 65_535), MEAN_PACKET)?;
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
                "{max} and the `min_threshold` of {min} must be of one kind, both in packets, \
                 both sizes or both in bdp"
            )));
        }
    };
    if !ordered {
        return Err(problem(format!("{max} is less than the `min_threshold` of {min}")));
    }
    Ok(())
}

/// The table of a queue with a discipline, as keys and TOML text; `None` for drop-tail, which its
/// length says in full.
pub(super) fn written(
    limit: QueueLimit,
    discipline: &Discipline<QueueLimit>,
) -> Option<Vec<(&'static str, String)>> {
    let own = own_written(discipline)?;
    let mut all = vec![("discipline", format!("\"{}\"", discipline.id())), ("limit", text(&limit))];
    all.extend(own);
    Some(all)
}

/// The parameters of a discipline.
pub(super) fn own_written(
    discipline: &Discipline<QueueLimit>,
) -> Option<Vec<(&'static str, String)>> {
    match discipline {
        // A file knows the built-in ones only.
        Discipline::DropTail | Discipline::Custom(_) => None,
        Discipline::Red(red) => Some(written_red(red)),
        Discipline::CoDel(codel) => Some(written_codel(codel)),
        Discipline::FqCoDel(fq) => Some(written_fq_codel(fq)),
        Discipline::Pie(pie) => Some(written_pie(pie)),
        Discipline::Threshold(t) => Some(written_threshold(t)),
    }
}
