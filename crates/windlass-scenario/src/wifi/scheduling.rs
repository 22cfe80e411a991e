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

#[derive(Clone, Copy, PartialEq)]
enum Word {
    Fifo,
    Pf,
    Fpf,
}

const WORDS: [(&str, Word); 3] = [("fifo", Word::Fifo), ("pf", Word::Pf), ("fpf", Word::Fpf)];

/// A rule's name, or a table with its `rule` and the keys of the rule.
pub(super) fn codec() -> Codec<Scheduling> {
    let shape = shape!(Either(vec![Words(vec!["fifo", "pf", "fpf"]), Kinds(&SCHEDULING)]));
    Codec::new(shape, read, written)
}

fn read(field: &Field) -> Result<Scheduling, Problem> {
    let usual = Scheduling::default();
    if !matches!(field.node.value, Value::Table(_)) {
        return Ok(Scheduling { rule: rule(choice(&WORDS)(field)?, Reading::default()), ..usual });
    }
    let fields = Fields::any(field.node, "`scheduling`")?;
    let word = fields.req("rule", "\"fpf\"", choice(&WORDS))?;
    match word {
        Word::Fifo => fields.called("`scheduling` `fifo`").allow(&SCHEDULING.names("fifo"))?,
        Word::Pf => fields.called("`scheduling` `pf`").allow(&SCHEDULING.names("pf"))?,
        Word::Fpf => fields.allow(&SCHEDULING.names("fpf"))?,
    }
    let reading = fields.or("reading", choice(&Reading::ALL), Reading::default())?;
    let mut scheduling = Scheduling { rule: rule(word, reading), ..usual };
    apply(&mut scheduling, &fields)?;
    Ok(scheduling)
}

fn rule(word: Word, reading: Reading) -> Rule {
    match word {
        Word::Fifo => Rule::Fifo,
        Word::Pf => Rule::Pf,
        Word::Fpf => Rule::Fpf(reading),
    }
}

fn written(s: &Scheduling) -> String {
    let word = match s.rule {
        Rule::Fifo => return quote("fifo"),
        Rule::Pf => Word::Pf,
        Rule::Fpf(_) => Word::Fpf,
    };
    let mut pairs = vec![("rule", quote(word_of(&WORDS, &word)))];
    pairs.extend(written_fair(s));
    if let Rule::Fpf(reading) = s.rule {
        pairs.push(("reading", quote(word_of(&Reading::ALL, &reading))));
    }
    inline(&pairs)
}
