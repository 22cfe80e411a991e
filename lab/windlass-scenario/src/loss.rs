//! Reading and writing of error models.

use windlass_sim::loss::{BerFormula, Bursts, LossModel, LossSteps};

use crate::course;

use crate::fields::{Field, Fields, choice, packet_numbers, positive_span, probability, word_of};
use crate::problem::Problem;
use crate::quote::{array, quote};
use crate::schema::{Kinds, section};
use crate::tree::Value;
use crate::units::{Duration, Probability};

section! {
    /// A loss model.
    DROP, "drop":
    probability Of(Share), "probability that a packet is lost", "required";
}

section! {
    /// A loss model.
    BER, "ber":
    rate Of(Share), "bit-error rate over the bits of the frame", "required";
    formula words(&BerFormula::ALL), "`exact`: 1 − (1 − BER)^bits; `linear`: BER · bits, at most 1", "`\"exact\"`";
}

section! {
    /// A loss model.
    GILBERT_ELLIOTT, "gilbert-elliott":
    good_to_bad Of(Share), "probability of turning bad, for each packet", "required unless there are means in time";
    bad_to_good Of(Share), "probability of turning good, for each packet", "required with `good_to_bad`";
    loss_good Of(Share), "loss probability in the good state", "`0`";
    loss_bad Of(Share), "loss probability in the bad state", "`1`";
}

section! {
    /// Lengths in time of a link's loss bursts.
    BURSTS, "bursts":
    mean_good Of(Time), "in place of `good_to_bad`: mean time in the good state, exponentially distributed, independent of packets", "none";
    mean_bad Of(Time), "in place of `bad_to_good`: mean time in the bad state; `loss_bad` applies to a packet if the state is bad during its transmission", "required with `mean_good`";
}

section! {
    /// A loss model.
    LIST, "list":
    packets list(Whole(1, i64::MAX as u64)), "numbers of the packets to lose; the first packet of the direction is 1. The first data segment of Windlass's sender also has the last acknowledgement of the handshake. Linux sends this acknowledgement separately, so that the same data have numbers one higher", "required";
}

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
enum Loss {
    Model(LossModel),
    Bursts(Bursts),
    Steps(LossSteps),
}

/// The losses of each direction.
#[derive(Clone, Default)]
pub(super) struct Losses {
    pub(super) models: [Option<LossModel>; 2],
    pub(super) bursts: [Option<Bursts>; 2],
    pub(super) steps: [Option<LossSteps>; 2],
}

/// One table, or an array of tables.
pub(super) fn losses(field: &Field) -> Result<Losses, Problem> {
    let items = match field.node.value {
        Value::Array(_) => field.array()?,
        _ => vec![Field { key: field.key, node: field.node }],
    };
    let mut losses = Losses::default();
    for item in &items {
        let (loss, places) = loss(item)?;
        for direction in places {
            if losses.models[*direction].is_some()
                || losses.bursts[*direction].is_some()
                || losses.steps[*direction].is_some()
            {
                let which = ["forward", "backward"][*direction];
                return Err(item.error(format!("the {which} direction has a loss model already")));
            }
            match &loss {
                Loss::Model(model) => losses.models[*direction] = Some(model.clone()),
                Loss::Bursts(bursts) => losses.bursts[*direction] = Some(*bursts),
                Loss::Steps(steps) => losses.steps[*direction] = Some(steps.clone()),
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
pub(super) fn written_steps(losses: &LossSteps) -> Vec<(&'static str, String)> {
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
pub(super) fn written_bursts(bursts: &Bursts) -> Vec<(&'static str, String)> {
    let (time, p) = (|t| quote(Duration(t)), |p: f64| Probability(p).to_string());
    vec![
        ("model", quote("gilbert-elliott")),
        ("mean_good", time(bursts.mean_good)),
        ("mean_bad", time(bursts.mean_bad)),
        ("loss_good", p(bursts.loss_good)),
        ("loss_bad", p(bursts.loss_bad)),
    ]
}

/// The model of this kind.
pub(super) fn model(kind: &str, fields: &Fields) -> Result<LossModel, Problem> {
    Ok(match kind {
        "drop" => {
            LossModel::Drop { probability: fields.req("probability", "\"1%\"", probability)? }
        }
        "ber" => LossModel::Ber {
            rate: fields.req("rate", "1e-6", probability)?,
            formula: fields.or("formula", choice(&BerFormula::ALL), BerFormula::Exact)?,
        },
        "gilbert-elliott" => LossModel::GilbertElliott {
            good_to_bad: fields.req("good_to_bad", "\"1%\"", probability)?,
            bad_to_good: fields.req("bad_to_good", "\"30%\"", probability)?,
            loss_good: fields.or("loss_good", probability, 0.0)?,
            loss_bad: fields.or("loss_bad", probability, 1.0)?,
        },
        "list" => LossModel::List { packets: fields.req("packets", "[5, 17]", packet_numbers)? },
        _ => unreachable!("`{kind}` is declared and not read"),
    })
}

/// The keys of a model and their TOML text.
pub(super) fn written(loss: &LossModel) -> Vec<(&'static str, String)> {
    let p = |p: f64| Probability(p).to_string();
    let (model, mut pairs) = match loss {
        LossModel::Drop { probability } => ("drop", vec![("probability", p(*probability))]),
        LossModel::Ber { rate, formula } => {
            let formula = quote(word_of(&BerFormula::ALL, formula));
            ("ber", vec![("rate", p(*rate)), ("formula", formula)])
        }
        LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => (
            "gilbert-elliott",
            vec![
                ("good_to_bad", p(*good_to_bad)),
                ("bad_to_good", p(*bad_to_good)),
                ("loss_good", p(*loss_good)),
                ("loss_bad", p(*loss_bad)),
            ],
        ),
        LossModel::List { packets } => ("list", vec![("packets", array(packets, u64::to_string))]),
        // A file has only the built-in models.
        LossModel::Custom(_) => ("custom", Vec::new()),
    };
    pairs.insert(0, ("model", quote(model)));
    pairs
}
