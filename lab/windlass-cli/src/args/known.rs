//! Words that shells complete and that are checked where they are used, so that paths and labels pass too.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use windlass_lab::papers::PAPERS;
use windlass_lab::run::World;
use windlass_lab::run::fields::Kind;
use windlass_lab::sweep::Measure;

use crate::templates::TEMPLATES;

/// Takes any text, and tells completions what is known.
#[derive(Clone)]
pub struct Known(fn() -> Vec<String>);

/// Congestion-control algorithms.
pub const ALGORITHM: Known =
    Known(|| windlass_cc::ALGORITHMS.iter().map(|info| info.id.to_owned()).collect());
/// Algorithms, slow starts and timers.
pub const PART: Known = Known(|| {
    let infos = windlass_cc::ALGORITHMS.iter().chain(windlass_cc::slow_start::SLOW_STARTS);
    let timers = windlass_cc::rto::TIMERS.iter().map(|info| info.id.to_owned());
    infos.map(|info| info.id.to_owned()).chain(timers).collect()
});
/// Metrics, of all parts of their kind together.
const METRIC: Known = Known(|| {
    let of = |(word, kind, name): &(&str, Kind, &str)| {
        let parts = if name.is_empty() { "" } else { "*." };
        kind.metrics().map(move |field| format!("{word}.{parts}{}", field.name)).collect::<Vec<_>>()
    };
    Kind::ALL.iter().flat_map(of).collect()
});
/// Keys of a scenario, with the sign that a value follows.
pub const KEY: Known =
    Known(|| windlass_lab::scenario::keys().iter().map(|key| format!("{key}=")).collect());
/// Papers.
pub const PAPER: Known = Known(|| PAPERS.iter().map(|paper| paper.id.to_string()).collect());

/// Templates of scenarios.
pub const TEMPLATE: Known =
    Known(|| TEMPLATES.iter().map(|(name, _)| (*name).to_owned()).collect());

/// A metric, or the mean of one over many parts.
pub fn measure() -> impl TypedValueParser<Value = Measure> {
    METRIC.try_map(|path| Measure::parse(&path))
}

/// A name in a table, and its value there.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|(name, _)| *name)).try_map(move |name| {
        let found = table.iter().find(|(known, _)| *known == name);
        found.map(|(_, meant)| meant.clone()).ok_or("no such name")
    })
}

/// A world by its name.
pub fn world() -> impl TypedValueParser<Value = World> {
    Known(|| World::ALL.iter().map(World::to_string).collect())
        .try_map(|name| name.parse::<World>())
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
