//! Reading and writing the changes of a link over time: rates and delays in steps, rates by a trace, jitter, reordering
//! and shaping of acknowledgements. The backward direction of a link may have different values.

use std::sync::Arc;

use windlass_cc::{Span, Time};
use windlass_sim::both_ways::BothWays;
use windlass_sim::course::{
    AckRule, AckShaping, Course, Distribution, Jitter, RateCourse, Reorder, Trace,
};
use windlass_sim::queue::Discipline;

use crate::codec::{Codec, Pairs, changed, table};
use crate::fields::{
    Field, Fields, countable_span, positive_span, probability, rate, rate_or_zero, span,
};
use crate::model::DirectionSpec;
use crate::problem::Problem;
use crate::queue::{self, queues};
use crate::quote::{array, inline, quote};
use crate::schema::{Shape, section, shape};
use crate::tree::Value;
use crate::units::{BitRate, Duration};

/// A rate, steps of rates, or a trace.
pub(super) fn rates() -> Shape {
    shape!(Either(vec![Of(Rate), list(list(Text)), Table(&RATE_TRACE)]))
}

/// A delay, steps of delays, or a trace.
pub(super) fn delays() -> Shape {
    shape!(Either(vec![Of(Time), list(list(Of(Time))), Table(&DELAY_TRACE)]))
}

section! {
    /// A rate by a trace, or by steps that repeat.
    RATE_TRACE, "rate_trace":
    trace Text, "file of delivery opportunities or of times and rates, relative to the scenario's folder; or delivery opportunities with spaces between them", "none; `trace` or `steps` is required";
    steps list(list(Text)), "in place of `trace`: rates from given times on, `[[\"0s\", \"10Mbps\"], [\"20s\", \"0bps\"]]`; 0 stops the transmission", "none";
    repeat Of(Time), "time after which the steps repeat", "never; the last rate holds";
}

section! {
    /// A delay by a trace, or by steps that repeat.
    DELAY_TRACE, "delay_trace":
    trace Text, "file of times and delays, relative to the scenario's folder; it repeats", "none; `trace` or `steps` is required";
    steps list(list(Of(Time))), "in place of `trace`: delays from given times on, `[[\"0s\", \"20ms\"], [\"10s\", \"60ms\"]]`", "none";
    repeat Of(Time), "time after which the steps repeat", "never; the last delay holds";
}

section! {
    /// Values of the backward direction of a link, if they differ from the forward direction.
    BACK, "back":
    rate rates(), "rate of the backward direction", "as forward";
    delay delays(), "delay of the backward direction", "as forward";
    queue queues(), "queue of the backward direction", "as forward";
    jitter Either(vec![Of(Time), Table(&JITTER)]), "jitter of the backward direction, `\"0s\"` for none", "as forward";
    reorder Table(&REORDER), "reordering in the backward direction, `{ share = 0 }` for none", "as forward";
    acks Either(vec![Words(vec!["none"]), Table(&ACKS)]), "treatment of acknowledgements in the backward direction, `\"none\"` for none", "as forward";
}

/// Maximum of the acknowledgements that a link holds, and of the packets that overtake a packet.
const MAX_COUNT: u32 = 10_000;

const JITTER_DEFAULT: Jitter =
    Jitter { distribution: Distribution::Uniform, by: Span::ZERO, overtaking: false };
/// Three packets, because three duplicate acknowledgements mean a loss (RFC 5681 section 3.2).
const REORDER_DEFAULT: Reorder = Reorder { share: 0.0, packets: 3, within: Span::from_millis(100) };
const ACKS_DEFAULT: AckShaping =
    AckShaping { rule: AckRule::Thin, count: 4, within: Span::from_millis(10) };

table!(JITTER, "jitter", apply_jitter, written_jitter, Jitter {
    distribution: Codec::word(&Distribution::ALL), "`uniform`: up to `by` shorter or longer than the delay. `normal`: around the delay with the standard deviation `by`, at most three standard deviations away. `exponential`: longer than the delay, by `by` on average", "`\"uniform\"`";
    by: Codec::time(span).req("\"5ms\""), "size of the variation; `0s` for none", "required";
    overtaking: Codec::flag(), "whether a packet may arrive before a packet that was sent earlier; otherwise it waits for the earlier packet", "`false`";
});

table!(REORDER, "reorder", apply_reorder, written_reorder, Reorder {
    share: Codec::share(probability).req("\"1%\""), "share of the packets that are held back", "required";
    packets: Codec::whole(1, MAX_COUNT), "number of later packets that overtake a held packet, 1 to 10000 (its reordering extent, RFC 4737)", "`3`";
    within: Codec::time(countable_span), "maximum time for which a packet is held back", "`\"100ms\"`";
});

table!(ACKS, "acks", apply_acks, written_acks, AckShaping {
    rule: Codec::word(&AckRule::ALL), "`thin`: the newest acknowledgement replaces all earlier ones, except duplicates, acknowledgements with SACK blocks and acknowledgements that echo a mark, which are forwarded; `gather`: all are forwarded together", "`\"thin\"`";
    count: Codec::whole(2, MAX_COUNT), "number of held acknowledgements per connection that causes forwarding, 2 to 10000", "`4`";
    within: Codec::time(positive_span), "maximum time from the first held acknowledgement to forwarding", "`\"10ms\"`";
});

/// The rate that represents the link, and the rate over time if it is not constant.
pub(super) type Rate = (u64, Option<RateCourse>);
/// The first delay, the delays from later times on, and the time after which they repeat.
pub(super) type Delay = (Span, Vec<(Time, Span)>, Option<Span>);

/// A rate, steps of rates, or a trace.
pub(super) fn read_rate(field: &Field) -> Result<Rate, Problem> {
    match field.node.value {
        Value::Array(_) => in_steps(field, rate_steps(field)?),
        Value::Table(_) => {
            let fields = Fields::open(field.node, "`rate`", RATE_TRACE.names)?;
            if let Some(steps) = fields.field("steps") {
                if let Some(trace) = fields.field("trace") {
                    return Err(
                        trace.error("cannot be combined with `steps`; a rate follows one of them")
                    );
                }
                let rates = rate_steps(&steps)?;
                return match fields.opt("repeat", positive_span)? {
                    Some(period) => repeated(&steps, rates, period),
                    None => in_steps(&steps, rates),
                };
            }
            if let Some(repeat) = fields.field("repeat") {
                return Err(repeat.error("is for `steps`; a trace always repeats"));
            }
            let trace = fields.req("trace", "\"traces/lte.trace\"", opportunities)?;
            Ok((trace.mean_bps(), Some(RateCourse::Trace(Arc::new(trace)))))
        }
        _ => Ok((rate(field)?, None)),
    }
}

fn rate_steps(field: &Field) -> Result<Vec<(Time, u64)>, Problem> {
    steps(field, rate_or_zero, "[[\"0s\", \"10Mbps\"], [\"20s\", \"2Mbps\"]]")
}

/// The first rate of steps that is not zero. It represents the link's rate if only one rate is needed.
fn first_rate(steps: &[(Time, u64)]) -> Option<u64> {
    steps.iter().map(|(_, rate)| *rate).find(|rate| *rate > 0)
}

/// A rate in steps. The last rate holds to the end.
fn in_steps(field: &Field, steps: Vec<(Time, u64)>) -> Result<Rate, Problem> {
    match (steps.as_slice(), first_rate(&steps)) {
        ([], _) => Err(field.error("needs at least one rate")),
        ([.., (_, 0)], _) | (_, None) => {
            let message = "the last rate must be more than zero; `down` sets an outage";
            Err(field.array()?.last().unwrap_or(field).error(message))
        }
        ([(_, only)], _) => Ok((*only, None)),
        (_, Some(first)) => Ok((first, Some(RateCourse::Steps(steps)))),
    }
}

/// Rates that repeat after a period.
fn repeated(field: &Field, steps: Vec<(Time, u64)>, period: Span) -> Result<Rate, Problem> {
    let Some(first) = first_rate(&steps) else {
        return Err(field.error("one of the rates must be more than zero"));
    };
    match steps.last() {
        Some((last, _)) if Time::ZERO + period <= *last => {
            Err(field.error(format!("`repeat` ({}) must be after the last step", Duration(period))))
        }
        _ => Ok((first, Some(RateCourse::Repeat { steps, period }))),
    }
}

/// The opportunities of a trace. They have replaced the name of its file.
fn opportunities(field: &Field) -> Result<Trace, Problem> {
    let moment = |word: &str| {
        word.parse::<u32>()
            .map_err(|_| field.error(format!("`{word}` is not a whole number of ms")))
    };
    let ms = field.string()?.split_whitespace().map(moment).collect::<Result<Vec<u32>, _>>()?;
    Trace::new(ms).map_err(|(_, problem)| field.error(problem))
}

/// A delay, steps of delays, or a trace.
pub(super) fn read_delay(field: &Field) -> Result<Delay, Problem> {
    let example = "[[\"0s\", \"20ms\"], [\"10s\", \"60ms\"]]";
    let (all, repeat) = match field.node.value {
        Value::Array(_) => (steps(field, countable_span, example)?, None),
        Value::Table(_) => {
            let fields = Fields::open(field.node, "`delay`", DELAY_TRACE.names)?;
            let field = steps_of(&fields)?;
            let all = steps(&field, countable_span, example)?;
            let repeat = repeat(&fields, &field, &all)?;
            (all, repeat)
        }
        _ => return Ok((countable_span(field)?, Vec::new(), None)),
    };
    let mut all = all.into_iter();
    let first = all.next().map_or(Span::ZERO, |(_, first)| first);
    let rest: Vec<(Time, Span)> = all.collect();
    // A single delay has nothing to repeat.
    let repeat = repeat.filter(|_| !rest.is_empty());
    Ok((first, rest, repeat))
}

/// The `steps` of a table. They have replaced the name of a trace.
pub(super) fn steps_of<'a>(fields: &Fields<'a>) -> Result<Field<'a>, Problem> {
    match (fields.field("steps"), fields.field("trace")) {
        (Some(_), Some(trace)) => {
            Err(trace.error("cannot be combined with `steps`; write one of them"))
        }
        (Some(steps), None) => Ok(steps),
        (None, Some(trace)) => Err(trace.error("must be the name of a file")),
        (None, None) => Err(Problem::new(
            fields.place(),
            "needs `trace = \"FILE\"` or `steps = [[\"0s\", ...], ...]`",
        )),
    }
}

/// The time after which steps repeat, which is after the last step.
pub(super) fn repeat<T>(
    fields: &Fields,
    steps: &Field,
    all: &[(Time, T)],
) -> Result<Option<Span>, Problem> {
    let Some(period) = fields.opt("repeat", positive_span)? else { return Ok(None) };
    match all.last() {
        Some((last, _)) if Time::ZERO + period <= *last => {
            Err(steps.error(format!("`repeat` ({}) must be after the last step", Duration(period))))
        }
        _ => Ok(Some(period)),
    }
}

/// Values from given times on. The times ascend from zero.
pub(super) fn steps<T>(
    field: &Field,
    read: impl Fn(&Field) -> Result<T, Problem>,
    example: &str,
) -> Result<Vec<(Time, T)>, Problem> {
    let mut all: Vec<(Time, T)> = Vec::new();
    for item in field.array()? {
        let wrong = |n| format!("a step is a time and a value, not {n}: {example}");
        let [from, value] = item.pair(wrong)?;
        let from = Time::ZERO + countable_span(&from)?;
        match all.last() {
            None if from > Time::ZERO => {
                return Err(item.error(format!("the first step begins at `0s`: {example}")));
            }
            Some((before, _)) if from <= *before => {
                return Err(item.error("each step begins after the one before it"));
            }
            _ => all.push((from, read(&value)?)),
        }
    }
    if all.is_empty() {
        return Err(field.error(format!("needs at least one step: {example}")));
    }
    Ok(all)
}

/// A direction of a link, and its changes over time.
pub(super) type Way = (DirectionSpec, Course);
/// Rates of both directions and delay that a link has without these keys.
pub(super) type Usual = ([u64; 2], Span);

/// Reads the directions of a link. `usual` has the defaults of a radio. The table has the forward direction. Its
/// `back` has the backward direction, and a key that `back` leaves out is as forward.
pub(super) fn read(fields: &Fields, usual: Option<Usual>) -> Result<[Way; 2], Problem> {
    let (rates_bps, delay) = usual.unwrap_or_default();
    let (queue, discipline) = (queue::LIMIT_OF_LINKS, Discipline::DropTail);
    let nothing = DirectionSpec { rate_bps: rates_bps[0], delay, queue, discipline };
    if usual.is_none() {
        fields.req("rate", "\"10Mbps\"", |_| Ok(()))?;
    }
    let forward = direction(fields, (nothing, Course::default()))?;
    let mut back = forward.clone();
    if usual.is_some() && fields.field("rate").is_none() {
        back.0.rate_bps = rates_bps[1];
    }
    if let Some(field) = fields.field("back") {
        back = direction(&Fields::open(field.node, "`back`", BACK.names)?, back)?;
    }
    Ok([forward, back])
}

/// This direction with the changes of the table.
fn direction(fields: &Fields, (mut way, mut course): Way) -> Result<Way, Problem> {
    (way.rate_bps, course.rate) = fields.or("rate", read_rate, (way.rate_bps, course.rate))?;
    let delays = (way.delay, course.delays, course.delays_repeat);
    (way.delay, course.delays, course.delays_repeat) = fields.or("delay", read_delay, delays)?;
    let queue = |field: &Field| queue::read(field, way.rate_bps);
    (way.queue, way.discipline) = fields.or("queue", queue, (way.queue, way.discipline))?;
    course.jitter = fields.or("jitter", jitter, course.jitter)?;
    course.reorder = fields.or("reorder", reorder, course.reorder)?;
    course.acks = fields.or("acks", acks, course.acks)?;
    check_jitter(fields, way.delay, &course)?;
    Ok((way, course))
}

/// Checks that no packet may arrive before it was sent.
fn check_jitter(fields: &Fields, delay: Span, course: &Course) -> Result<(), Problem> {
    let Some(jitter) = course.jitter else { return Ok(()) };
    let least = course.delays.iter().map(|(_, delay)| *delay).fold(delay, Span::min);
    let reach = jitter.by.0.saturating_mul(jitter.distribution.reach());
    if reach <= least.0 {
        return Ok(());
    }
    let place = fields.field("jitter").or(fields.field("delay"));
    let place = place.map_or(fields.place().clone(), |field| field.node.place.clone());
    let message = format!(
        "`jitter`: it makes delays up to {} shorter, which is more than the delay of {}",
        Duration(Span(reach)),
        Duration(least)
    );
    Err(Problem::new(&place, message))
}

/// A time, or a table.
fn jitter(field: &Field) -> Result<Option<Jitter>, Problem> {
    let jitter = match field.node.value {
        Value::Table(_) => changed(field, &JITTER, JITTER_DEFAULT, apply_jitter)?,
        _ => Jitter { by: span(field)?, ..JITTER_DEFAULT },
    };
    Ok((jitter.by > Span::ZERO).then_some(jitter))
}

fn reorder(field: &Field) -> Result<Option<Reorder>, Problem> {
    let reorder = changed(field, &REORDER, REORDER_DEFAULT, apply_reorder)?;
    Ok((reorder.share > 0.0).then_some(reorder))
}

/// A table, or `"none"`.
fn acks(field: &Field) -> Result<Option<AckShaping>, Problem> {
    if matches!(&field.node.value, Value::Text(word) if word.eq_ignore_ascii_case("none")) {
        return Ok(None);
    }
    changed(field, &ACKS, ACKS_DEFAULT, apply_acks).map(Some)
}

/// A rate as TOML text.
pub(super) fn written_rate(rate_bps: u64, course: &Course) -> String {
    match &course.rate {
        None => quote(BitRate(rate_bps)),
        Some(RateCourse::Steps(steps)) => written_steps(steps, |rate| quote(BitRate(*rate))),
        Some(RateCourse::Repeat { steps, period }) => {
            let steps = written_steps(steps, |rate| quote(BitRate(*rate)));
            format!("{{ steps = {steps}, repeat = {} }}", quote(Duration(*period)))
        }
        Some(RateCourse::Trace(trace)) => {
            let ms: Vec<String> = trace.ms().iter().map(u32::to_string).collect();
            format!("{{ trace = {} }}", quote(ms.join(" ")))
        }
    }
}

/// A delay as TOML text.
pub(super) fn written_delay(delay: Span, course: &Course) -> String {
    if course.delays.is_empty() {
        return quote(Duration(delay));
    }
    let first = std::iter::once((Time::ZERO, delay));
    let steps: Vec<(Time, Span)> = first.chain(course.delays.iter().copied()).collect();
    let steps = written_steps(&steps, |delay| quote(Duration(*delay)));
    match course.delays_repeat {
        None => steps,
        Some(period) => format!("{{ steps = {steps}, repeat = {} }}", quote(Duration(period))),
    }
}

pub(super) fn written_steps<T>(steps: &[(Time, T)], value: impl Fn(&T) -> String) -> String {
    array(steps, |(from, step)| {
        format!("[{}, {}]", quote(Duration(from.since(Time::ZERO))), value(step))
    })
}

/// The keys of jitter, reordering and acknowledgements that a direction has, with their tables. For the backward
/// direction, only the keys that differ from `like`, and the value for "none" if only the forward direction has a key.
pub(super) fn written(course: &Course, like: &Course) -> Pairs {
    let mut pairs = Vec::new();
    if course.jitter != like.jitter {
        let text = course.jitter.as_ref().map(|jitter| inline(&written_jitter(jitter)));
        pairs.push(("jitter", text.unwrap_or_else(|| "\"0s\"".to_owned())));
    }
    if course.reorder != like.reorder {
        let text = course.reorder.as_ref().map(|reorder| inline(&written_reorder(reorder)));
        pairs.push(("reorder", text.unwrap_or_else(|| "{ share = 0 }".to_owned())));
    }
    if course.acks != like.acks {
        let text = course.acks.as_ref().map(|acks| inline(&written_acks(acks)));
        pairs.push(("acks", text.unwrap_or_else(|| "\"none\"".to_owned())));
    }
    pairs
}

/// The values of the backward direction that differ from the forward direction, as keys and TOML text.
pub(super) fn written_back(
    forward: &DirectionSpec,
    back: &DirectionSpec,
    course: &BothWays<Course>,
) -> Pairs {
    let (there, here) = (&course[0], &course[1]);
    let mut pairs = Vec::new();
    if (back.rate_bps, &here.rate) != (forward.rate_bps, &there.rate) {
        pairs.push(("rate", written_rate(back.rate_bps, here)));
    }
    let delays = |course: &Course| (course.delays.clone(), course.delays_repeat);
    if (back.delay, delays(here)) != (forward.delay, delays(there)) {
        pairs.push(("delay", written_delay(back.delay, here)));
    }
    if (back.queue, &back.discipline) != (forward.queue, &forward.discipline) {
        pairs.push(("queue", queue::text(back.queue, &back.discipline)));
    }
    pairs.extend(written(here, there));
    pairs
}
