//! Reads and writes the connections of a flow: `connect`, `reconnect` and `dialogue`.

use windlass_cc::Span;
use windlass_sim::session::{Connect, Dialogue, Reconnect, Side, Spread, Step};

use crate::codec::{Codec, Pairs, table};
use crate::fields::{Field, Fields, choice, countable_span, named, probability, size};
use crate::presets::{DIALOGUES, DialoguePreset, Part, RECONNECT, RECONNECTS};
use crate::problem::Problem;
use crate::quote::{array, inline, quote};
use crate::schema::{Quantity, Shape, section, shape};
use crate::tree::Value;
use crate::units::{Bytes, Duration, Probability};

/// The connections of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionSpec {
    /// Number of messages on a connection.
    pub connect: Connect,
    /// Behaviour after the loss of a connection.
    pub reconnect: Option<Reconnect>,
    /// Dialogues at the beginning of each connection.
    pub opening: Vec<Stage>,
    /// The dialogue of each message; empty for the message alone.
    pub message: Vec<Stage>,
}

/// A part of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// A dialogue with a name.
    Preset(&'static DialoguePreset),
    /// One write.
    Step(Step),
}

impl Default for ConnectionSpec {
    fn default() -> ConnectionSpec {
        let (opening, message) = (Vec::new(), Vec::new());
        ConnectionSpec { connect: Connect::Once, reconnect: None, opening, message }
    }
}

/// Names of the rules of reconnection.
fn rules() -> Shape {
    Shape::Words(RECONNECTS.iter().map(|preset| preset.name).collect())
}

/// Names of the dialogues of a part, or a step.
fn stages(part: Part) -> Shape {
    let named = DIALOGUES.iter().filter(|preset| preset.part == part);
    let names = Shape::Words(named.map(|preset| preset.name).collect());
    shape!(list(Either(vec![names, Table(&STEP)])))
}

/// A rule of reconnection: a name, or a table.
pub(super) fn reconnects() -> Shape {
    shape!(Either(vec![rules(), Table(&RECONNECT_TABLE)]))
}

section! {
    /// The dialogues of a flow.
    DIALOGUE, "dialogue":
    connection stages(Part::Connection), "array of dialogues at the beginning of each connection, one after the other: names of [dialogues](#dialogue) such as `\"tls-1.3\"`, or steps", "`[]`";
    message stages(Part::Message), "for `messages`: array with the dialogue of each message, a name such as `\"mqtt-publish-qos1\"` or steps", "the message alone";
}

table!(STEP, "step", apply_step, written_step, Step {
    send [Of(Size)], "bytes that the end that connects writes, at most `1GiB`", "none; `send`, `receive` or `message` is required";
    receive [Of(Size)], "bytes that the other end writes in answer, at most `1GiB`", "none";
    message: Codec::flag().unless(false), "whether the message is part of this step; without such a step it is the first", "`false`";
    think: Codec::time(countable_span).unless(Span::ZERO), "time from the end of the step before to this write", "`\"0s\"`";
} by: _, bytes: _, record: _);

table!(RECONNECT_OWN, "reconnect_rule", apply_reconnect, written_reconnect, Reconnect {
    after: Codec::time(countable_span), "first wait, before its random part", "`\"1s\"`";
    most: Codec::time(countable_span), "longest wait, before its random part; not below `after`", "`\"2min\"`";
    backoff: backoff(), "factor from each wait to the next, 1 to 100", "`2`";
    jitter: jitter(), "random part of each wait, drawn from the seed. `none`, `full` (from zero to the wait), `equal` (from half the wait to the wait), `decorrelated` (from `after` to three times the previous wait), or a share such as `\"10%\"`, the largest part that is taken from the wait", "`\"full\"`";
    reset: Codec::time(countable_span), "time for which a connection must have been ready so that the waits begin again with `after`", "`\"0s\"`";
    attempts: attempts(), "attempts in a row that may fail before the application gives up, 1 to 1000000; `0` for no limit", "`0`";
    timeout: timeout(), "time within which an attempt must have a connection with all its dialogues, `\"0s\"` for the limits of TCP alone. A connection also ends if the answer to a message is awaited and nothing was acknowledged or read for this time. Without a limit, a lost answer can block the messages for hours", "`\"1min\"`";
    spread: Codec::time(countable_span), "after a power cut, the first attempt is uniformly within this time", "`\"0s\"`";
    queue: Codec::whole(0, 1_000_000), "messages that may wait for a connection; a further message is lost", "`1000`";
    resend: Codec::flag(), "whether the next connection repeats messages that the lost connection had not confirmed, by the last answer of their dialogue or else by TCP. Otherwise they are lost", "`true`";
    stored: Codec::flag(), "whether messages outlast a power cut of their node, and messages that fall due during the cut wait for its end. Otherwise they are lost", "`false`";
});

section! {
    /// A rule of reconnection.
    RECONNECT_TABLE, "reconnect" with RECONNECT_OWN:
    preset rules(), "published rule that the other keys change: [presets](#reconnect)", "none";
}

fn backoff() -> Codec<u32> {
    let refusal = "must be from 1 to 100, with at most three decimals: waits do not shrink";
    Codec::thousandths(1_000, 100_000, refusal)
}

fn attempts() -> Codec<u32> {
    let read = |field: &Field| {
        let n = crate::fields::whole_u32(0, 1_000_000)(field)?;
        Ok(if n == 0 { u32::MAX } else { n })
    };
    let write = |n: &u32| if *n == u32::MAX { "0".to_owned() } else { n.to_string() };
    Codec::new(Shape::Whole(0, 1_000_000), read, write)
}

fn timeout() -> Codec<Option<Span>> {
    let read = |field: &Field| Ok(Some(countable_span(field)?).filter(|limit| *limit > Span::ZERO));
    let write = |limit: &Option<Span>| quote(Duration(limit.unwrap_or(Span::ZERO)));
    Codec::new(Shape::Of(Quantity::Time), read, write)
}

const SPREADS: [(&str, Spread); 4] = [
    ("none", Spread::None),
    ("full", Spread::Full),
    ("equal", Spread::Equal),
    ("decorrelated", Spread::Decorrelated),
];

fn jitter() -> Codec<Spread> {
    let read = |field: &Field| {
        let is_share = match &field.node.value {
            Value::Text(text) => {
                text.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c))
            }
            _ => true,
        };
        if !is_share {
            return choice(&SPREADS)(field);
        }
        Ok(Spread::Below((probability(field)? * 1e6).round() as u32))
    };
    let write = |spread: &Spread| match spread {
        Spread::Below(share) => Probability(f64::from(*share) / 1e6).to_string(),
        word => quote(crate::fields::word_of(&SPREADS, word)),
    };
    Codec::new(shape!(Either(vec![words(&SPREADS), Of(Share)])), read, write)
}

/// Reads the keys of a flow in a run of this length. `None` if they are absent, or if they are the
/// defaults.
pub(super) fn read(fields: &Fields, duration: Span) -> Result<Option<ConnectionSpec>, Problem> {
    let dialogue = |field: &Field| {
        let fields = Fields::open(field.node, "`dialogue`", DIALOGUE.names)?;
        let part = |key, part| fields.or(key, |f| read_stages(f, part, duration), Vec::new());
        Ok([part("connection", Part::Connection)?, part("message", Part::Message)?])
    };
    let [opening, message] = fields.or("dialogue", dialogue, [Vec::new(), Vec::new()])?;
    let spec = ConnectionSpec {
        connect: fields.or("connect", choice(&Connect::ALL), Connect::Once)?,
        reconnect: fields.opt("reconnect", read_reconnect)?,
        opening,
        message,
    };
    Ok((spec != ConnectionSpec::default()).then_some(spec))
}

/// The first of the keys of connections that a flow has.
pub(super) fn first_key<'a>(fields: &Fields<'a>) -> Option<Field<'a>> {
    ["connect", "reconnect", "dialogue"].into_iter().find_map(|key| fields.field(key))
}

fn rule_named(field: &Field) -> Result<Reconnect, Problem> {
    named(field, &RECONNECTS, |preset| preset.name).map(|preset| preset.rule)
}

/// A name, or a table.
fn read_reconnect(field: &Field) -> Result<Reconnect, Problem> {
    if matches!(field.node.value, Value::Text(_)) {
        return rule_named(field);
    }
    let fields = Fields::open(field.node, "`reconnect`", &RECONNECT_TABLE.all_names())?;
    let mut rule = fields.or("preset", rule_named, RECONNECT)?;
    apply_reconnect(&mut rule, &fields)?;
    if rule.most < rule.after {
        let (most, after) = (Duration(rule.most), Duration(rule.after));
        let message = format!("`most`: the longest wait, {most}, is below the first, {after}");
        let key = if fields.field("most").is_some() { "most" } else { "after" };
        return Err(Problem::new(fields.place_of(key), message));
    }
    Ok(rule)
}

/// Largest write of a step, bytes, and largest number of steps.
const MAX_STEP: u64 = 1 << 30;
const MAX_STEPS: usize = 100;

fn read_stages(field: &Field, part: Part, duration: Span) -> Result<Vec<Stage>, Problem> {
    let items = field.array()?;
    let stages = items.iter().map(|item| read_stage(item, part)).collect::<Result<Vec<_>, _>>()?;
    if stages.len() > MAX_STEPS {
        return Err(field.error(format!("has more than {MAX_STEPS} steps")));
    }
    let think = stages.iter().fold(Span::ZERO, |sum, stage| match stage {
        Stage::Step(step) => sum + step.think,
        Stage::Preset(_) => sum,
    });
    if think >= duration {
        let (think, end) = (Duration(think), Duration(duration));
        let message =
            format!("its `think` times are {think}, so that it has no end in a run of {end}");
        return Err(field.error(message));
    }
    // At the beginning of a connection, the steps after a dialogue with a name are another dialogue.
    let begins = |i: usize| match i.checked_sub(1).map(|before| &stages[before]) {
        None => true,
        Some(before) => part == Part::Connection && matches!(before, Stage::Preset(_)),
    };
    let answers = |stage: &Stage| matches!(stage, Stage::Step(step) if step.by == Side::Listener);
    if let Some(i) = (0..stages.len()).find(|i| begins(*i) && answers(&stages[*i])) {
        let item = &items[i];
        let message = "the end that connects writes first; begin with `{ send = \"37B\" }`";
        return Err(item.error(message));
    }
    let carries = |stage: &Stage| match stage {
        Stage::Preset(preset) => preset.message.is_some(),
        Stage::Step(step) => step.message,
    };
    let second = items.iter().zip(&stages).filter(|(_, stage)| carries(stage)).nth(1);
    match second {
        Some((item, _)) => Err(item.error("the message is in one step only")),
        None => Ok(stages),
    }
}

fn read_stage(item: &Field, part: Part) -> Result<Stage, Problem> {
    if let Value::Text(_) = &item.node.value {
        let of_part = DIALOGUES.iter().filter(|preset| preset.part == part);
        let all: Vec<_> = of_part.map(|preset| (preset.name, Stage::Preset(preset))).collect();
        return choice(&all)(item);
    }
    let fields = Fields::open(item.node, "a step", STEP.names)?;
    let bytes = size(1, MAX_STEP);
    let send = fields.opt("send", &bytes)?;
    let receive = fields.opt("receive", &bytes)?;
    let (by, think) = (Side::Opener, Span::ZERO);
    let mut step = Step { by, bytes: send.unwrap_or(0), message: false, record: 0, think };
    apply_step(&mut step, &fields)?;
    if let (true, Some(field)) = (step.message && part == Part::Connection, fields.field("message"))
    {
        return Err(field.error("belongs to the dialogue of a message, in `dialogue.message`"));
    }
    match (send, receive) {
        (Some(_), Some(_)) => return Err(item.error("a step has either `send` or `receive`")),
        (None, Some(_)) if step.message => {
            return Err(item.error("the end that connects sends the message; write `send`"));
        }
        (None, None) if !step.message => {
            return Err(item.error("a step needs `send`, `receive` or `message = true`"));
        }
        (_, Some(bytes)) => (step.by, step.bytes) = (Side::Listener, bytes),
        (_, None) => {}
    }
    Ok(Stage::Step(step))
}

impl ConnectionSpec {
    /// The dialogues at the beginning of each connection, and the exchange. `requests` is the
    /// exchange of requests, which have their own steps. A security layer adds its bytes to the
    /// records of all dialogues after its own.
    pub(crate) fn dialogues(&self, requests: Option<Vec<Step>>) -> (Vec<Dialogue>, Dialogue) {
        let mut record = 0;
        let mut opening: Vec<Dialogue> = Vec::new();
        let mut own = false;
        for stage in &self.opening {
            match stage {
                Stage::Preset(preset) => {
                    opening.push(of_preset(preset, record));
                    record = record.max(preset.record);
                    own = false;
                }
                // Neighbouring steps are one dialogue.
                Stage::Step(step) => {
                    let step = Step { record, ..*step };
                    match opening.last_mut().filter(|_| own) {
                        // The last step is awaited, whichever end writes it.
                        Some(dialogue) => {
                            dialogue.steps.push(step);
                            dialogue.release = dialogue.steps.len();
                        }
                        None => opening.push(Dialogue::new(vec![step])),
                    }
                    own = true;
                }
            }
        }
        let mut steps =
            requests.unwrap_or_else(|| self.message.iter().flat_map(steps_of).collect());
        if !steps.iter().any(|step| step.message) {
            let (by, think) = (Side::Opener, Span::ZERO);
            steps.insert(0, Step { by, bytes: 0, message: true, record: 0, think });
        }
        steps.iter_mut().for_each(|step| step.record = record);
        (opening, Dialogue::new(steps))
    }
}

fn steps_of(stage: &Stage) -> Vec<Step> {
    match stage {
        Stage::Preset(preset) => of_preset(preset, 0).steps,
        Stage::Step(step) => vec![*step],
    }
}

fn of_preset(preset: &DialoguePreset, record: u32) -> Dialogue {
    let step = |(i, (by, bytes)): (usize, &(Side, u64))| Step {
        by: *by,
        bytes: *bytes,
        message: preset.message == Some(i),
        record,
        think: Span::ZERO,
    };
    let steps = preset.steps.iter().enumerate().map(step).collect();
    Dialogue { steps, release: preset.release }
}

/// The keys of a flow with these connections.
pub(super) fn written(spec: &ConnectionSpec) -> Pairs {
    let connect = crate::fields::word_of(&Connect::ALL, &spec.connect);
    let mut pairs = vec![("connect", quote(connect))];
    pairs.extend(spec.reconnect.map(|rule| ("reconnect", inline(&written_reconnect(&rule)))));
    let mut dialogue = Vec::new();
    for (key, stages) in [("connection", &spec.opening), ("message", &spec.message)] {
        if !stages.is_empty() {
            dialogue.push((key, array(stages, written_stage)));
        }
    }
    if !dialogue.is_empty() {
        pairs.push(("dialogue", inline(&dialogue)));
    }
    pairs
}

fn written_stage(stage: &Stage) -> String {
    let step = match stage {
        Stage::Preset(preset) => return quote(preset.name),
        Stage::Step(step) => step,
    };
    let mut pairs = Vec::new();
    if step.bytes > 0 {
        let key = if step.by == Side::Opener { "send" } else { "receive" };
        pairs.push((key, quote(Bytes(step.bytes))));
    }
    pairs.extend(written_step(step));
    inline(&pairs)
}
