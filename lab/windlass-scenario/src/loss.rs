//! Reading and writing of error models.

use windlass_sim::loss::{BerFormula, Bursts, LossModel, LossSteps};

use crate::codec::{Codec, Pairs, table};
use crate::course;
use crate::fields::{Field, Fields, choice, packet_numbers, positive_span, probability};
use crate::problem::Problem;
use crate::quote::{array, quote};
use crate::schema::{Kinds, section, shape};
use crate::tree::Value;
use crate::units::{Duration, Probability};

table!(DROP, "drop", read_drop, written_drop, builds LossModel::Drop {
    probability: Codec::share(probability).req("\"1%\""), "probability that a packet is lost", "required";
});

table!(BER, "ber", read_ber, written_ber, builds LossModel::Ber {
    rate: Codec::share(probability).req("1e-6"), "bit-error rate over the bits of the frame", "required";
    formula: Codec::word(&BerFormula::ALL).or(BerFormula::Exact), "`exact`: 1 − (1 − BER)^bits; `linear`: BER · bits, at most 1", "`\"exact\"`";
});

table!(GILBERT_ELLIOTT, "gilbert-elliott", read_states, written_states, builds LossModel::GilbertElliott {
    good_to_bad: Codec::share(probability).req("\"1%\""), "probability of turning bad, for each packet", "required unless there are means in time";
    bad_to_good: Codec::share(probability).req("\"30%\""), "probability of turning good, for each packet", "required with `good_to_bad`";
    loss_good: Codec::share(probability).or(0.0), "loss probability in the good state", "`0`";
    loss_bad: Codec::share(probability).or(1.0), "loss probability in the bad state", "`1`";
});

section! {
    /// Lengths in time of a link's loss bursts.
    BURSTS, "bursts":
    mean_good Of(Time), "in place of `good_to_bad`: mean time in the good state, exponentially distributed, independent of packets", "none";
    mean_bad Of(Time), "in place of `bad_to_good`: mean time in the bad state; `loss_bad` applies to a packet if the state is bad during its transmission", "required with `mean_good`";
}

table!(LIST, "list", read_list, written_list, builds LossModel::List {
    packets: numbers().req("[5, 17]"), "numbers of the packets to lose; the first packet of the direction is 1. The first data segment of Windlass's sender also has the last acknowledgement of the handshake. Linux sends this acknowledgement separately, so that the same data have numbers one higher", "required";
});

section! {
    /// Losses over time on a link.
    LOSS_STEPS, "loss_steps":
    trace Text, "file of times and loss probabilities, relative to the scenario's folder; it repeats", "none; `trace` or `steps` is required";
    steps list(list(Text)), "in place of `trace`: probabilities that a packet is lost from given times on, `[[\"0s\", \"0%\"], [\"10s\", \"5%\"]]`; the time of a packet is the start of its transmission", "none";
    repeat Of(Time), "time after which the steps repeat", "never; the last probability holds";
}

section! {
    /// Direction of a link's loss model.
    DIRECTION, "direction":
    direction Words(vec!["forward", "backward", "both"]), "`forward`, `backward` or `both` (each on its own)", "`\"forward\"`";
}

/// The loss models of a link.
pub(crate) static LOSS: Kinds = Kinds {
    name: "loss",
    tag: "model",
    usual: None,
    kinds: &[
        ("drop", &[&DIRECTION, &DROP]),
        ("ber", &[&DIRECTION, &BER]),
        ("gilbert-elliott", &[&DIRECTION, &GILBERT_ELLIOTT, &BURSTS]),
        ("list", &[&DIRECTION, &LIST]),
        ("steps", &[&DIRECTION, &LOSS_STEPS]),
    ],
};

/// The loss models of a receiver of frames.
pub(crate) static FRAME_LOSS: Kinds = Kinds {
    name: "frame_loss",
    tag: "model",
    usual: None,
    kinds: &[
        ("drop", &[&DROP]),
        ("ber", &[&BER]),
        ("gilbert-elliott", &[&GILBERT_ELLIOTT]),
        ("list", &[&LIST]),
        ("snr", &[]),
    ],
};

/// A loss model of a direction, or losses over time.
#[derive(Clone)]
pub(super) enum Loss {
    Model(LossModel),
    Bursts(Bursts),
    Steps(LossSteps),
}

/// The losses of each direction: one table, or an array of tables.
pub(super) fn losses(field: &Field) -> Result<[Option<Loss>; 2], Problem> {
    let items = match field.node.value {
        Value::Array(_) => field.array()?,
        _ => vec![Field { key: field.key, node: field.node }],
    };
    let mut losses = [None, None];
    for item in &items {
        let (loss, directions) = loss(item)?;
        for direction in directions {
            if losses[*direction].replace(loss.clone()).is_some() {
                let which = ["forward", "backward"][*direction];
                return Err(item.error(format!("the {which} direction has a loss model already")));
            }
        }
    }
    Ok(losses)
}

/// Names of the directions, as indices of [`super::LinkSpec::loss`].
const DIRECTIONS: [(&str, &[usize]); 3] =
    [("forward", &[0]), ("backward", &[1]), ("both", &[0, 1])];

fn loss(field: &Field) -> Result<(Loss, &'static [usize]), Problem> {
    let fields = Fields::any(field.node, "`loss`")?;
    let kind = fields.kind(&LOSS, "\"drop\"")?;
    let in_time = fields.field("mean_good").or(fields.field("mean_bad")).is_some();
    let loss = match kind {
        "steps" => Loss::Steps(steps(&fields)?),
        "gilbert-elliott" if in_time => Loss::Bursts(bursts(&fields)?),
        kind => Loss::Model(model(kind, &fields)?),
    };
    let direction = fields.or("direction", choice(&DIRECTIONS), DIRECTIONS[0].1)?;
    Ok((loss, direction))
}

fn steps(fields: &Fields) -> Result<LossSteps, Problem> {
    let field = course::steps_of(fields)?;
    let steps = course::steps(&field, probability, "[[\"0s\", \"0%\"], [\"10s\", \"5%\"]]")?;
    let period = course::repeat(fields, &field, &steps)?;
    Ok(LossSteps { steps, period })
}

/// The keys of losses over time and their TOML text.
pub(super) fn written_steps(losses: &LossSteps) -> Pairs {
    let steps = course::written_steps(&losses.steps, |p| quote(Probability(*p)));
    let mut pairs = vec![("model", quote("steps")), ("steps", steps)];
    pairs.extend(losses.period.map(|period| ("repeat", quote(Duration(period)))));
    pairs
}

fn bursts(fields: &Fields) -> Result<Bursts, Problem> {
    for by_packet in ["good_to_bad", "bad_to_good"] {
        if let Some(field) = fields.field(by_packet) {
            return Err(field.error(
                "is for bursts by packet, and `mean_good` for bursts in time; write one of them",
            ));
        }
    }
    Ok(Bursts {
        mean_good: fields.req("mean_good", "\"15s\"", positive_span)?,
        mean_bad: fields.req("mean_bad", "\"400ms\"", positive_span)?,
        loss_good: fields.or("loss_good", probability, 0.0)?,
        loss_bad: fields.or("loss_bad", probability, 1.0)?,
    })
}

/// The keys of bursts in time and their TOML text.
pub(super) fn written_bursts(bursts: &Bursts) -> Pairs {
    let (time, p) = (|t| quote(Duration(t)), |p: f64| Probability(p).to_string());
    vec![
        ("model", quote("gilbert-elliott")),
        ("mean_good", time(bursts.mean_good)),
        ("mean_bad", time(bursts.mean_bad)),
        ("loss_good", p(bursts.loss_good)),
        ("loss_bad", p(bursts.loss_bad)),
    ]
}

/// Numbers of packets, sorted.
fn numbers() -> Codec<Vec<u64>> {
    let shape = shape!(list(Whole(1, i64::MAX as u64)));
    Codec::new(shape, packet_numbers, |packets| array(packets, u64::to_string))
}

/// The model of this kind.
pub(super) fn model(kind: &str, fields: &Fields) -> Result<LossModel, Problem> {
    match kind {
        "drop" => read_drop(fields),
        "ber" => read_ber(fields),
        "gilbert-elliott" => read_states(fields),
        "list" => read_list(fields),
        _ => unreachable!("`{kind}` is declared and not read"),
    }
}

/// The keys of a model and their TOML text.
pub(super) fn written(loss: &LossModel) -> Pairs {
    let (model, mut pairs) = match loss {
        LossModel::Drop { .. } => ("drop", written_drop(loss)),
        LossModel::Ber { .. } => ("ber", written_ber(loss)),
        LossModel::GilbertElliott { .. } => ("gilbert-elliott", written_states(loss)),
        LossModel::List { .. } => ("list", written_list(loss)),
        // A file has only the built-in models.
        LossModel::Custom(_) => ("custom", Vec::new()),
    };
    pairs.insert(0, ("model", quote(model)));
    pairs
}
