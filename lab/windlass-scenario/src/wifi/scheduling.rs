//! Order in which a station transmits the packets of its flows.

use windlass_sim::radio::Scheduling;
use windlass_sim::radio::scheduling::fitness::Reading;
use windlass_sim::radio::scheduling::{Rule, Users};

use crate::codec::{Codec, table};
use crate::fields::{Field, Fields, choice, word_of};
use crate::problem::Problem;
use crate::quote::{inline, quote};
use crate::schema::{Kinds, section, shape};
use crate::tree::Value;

table!(FAIR, "fair", apply, written_fair, Scheduling {
    window: Codec::whole(2, 1_000_000), "number of served packets over which a throughput is averaged, 2 to 1000000", "`256`";
    users: Codec::word(&Users::ALL), "users that share the channel: each end of a flow (`flow`) or each sending node (`source`)", "`\"flow\"`";
} rule: _);

section! {
    /// Keys of the scheduler that compares fitness.
    FITNESS, "fitness":
    reading words(&Reading::ALL), "measure of the queue: its length, as printed (`literal`), or its free space (`repaired`)", "`\"literal\"`";
}

/// The scheduler that selects the next packet of a station.
pub(crate) static SCHEDULING: Kinds = Kinds {
    name: "scheduling",
    tag: "rule",
    usual: None,
    kinds: &[("fifo", &[]), ("pf", &[&FAIR]), ("fpf", &[&FAIR, &FITNESS])],
};

const RULES: [(&str, Rule); 3] =
    [("fifo", Rule::Fifo), ("pf", Rule::Pf), ("fpf", Rule::Fpf(Reading::Literal))];

/// A rule's name, or a table with its `rule` and the keys of the rule.
pub(super) fn codec() -> Codec<Scheduling> {
    let shape = shape!(Either(vec![words(&RULES), Kinds(&SCHEDULING)]));
    Codec::new(shape, read, written)
}

fn read(field: &Field) -> Result<Scheduling, Problem> {
    let usual = Scheduling::default();
    if !matches!(field.node.value, Value::Table(_)) {
        return Ok(Scheduling { rule: choice(&RULES)(field)?, ..usual });
    }
    let fields = Fields::any(field.node, "`scheduling`")?;
    let rule = fields.req("rule", "\"fpf\"", choice(&RULES))?;
    let mut scheduling = Scheduling { rule, ..usual };
    match &mut scheduling.rule {
        Rule::Fifo => fields.called("`scheduling` `fifo`").allow(&SCHEDULING.names("fifo"))?,
        Rule::Pf => fields.called("`scheduling` `pf`").allow(&SCHEDULING.names("pf"))?,
        Rule::Fpf(reading) => {
            fields.allow(&SCHEDULING.names("fpf"))?;
            *reading = fields.or("reading", choice(&Reading::ALL), *reading)?;
        }
    }
    apply(&mut scheduling, &fields)?;
    Ok(scheduling)
}

fn written(s: &Scheduling) -> String {
    let (word, reading) = match s.rule {
        Rule::Fifo => return quote("fifo"),
        Rule::Pf => ("pf", None),
        Rule::Fpf(reading) => ("fpf", Some(quote(word_of(&Reading::ALL, &reading)))),
    };
    let mut pairs = vec![("rule", quote(word))];
    pairs.extend(written_fair(s));
    pairs.extend(reading.map(|reading| ("reading", reading)));
    inline(&pairs)
}
