//! Parameters of algorithms, read and written by what the algorithm says of them.

use windlass_cc::info::ParamKind;
use windlass_cc::reno::{Increase, Params};
use windlass_cc::{ALGORITHMS, Info};

use super::error::Problem;
use super::fields::{Field, Fields, choice, size, unknown_word, word_of};
use super::model::NO_ALGORITHM;
use crate::units::Bytes;

/// The algorithm that a field names; `None` for [`NO_ALGORITHM`].
pub(super) fn algorithm(field: &Field) -> Result<Option<&'static Info>, Problem> {
    let text = field.string()?;
    if text.eq_ignore_ascii_case(NO_ALGORITHM) {
        return Ok(None);
    }
    let found = ALGORITHMS.iter().find(|info| info.id.eq_ignore_ascii_case(text));
    found.copied().map(Some).ok_or_else(|| {
        let known: Vec<&str> = ALGORITHMS.iter().map(|info| info.id).collect();
        unknown_word(field, text, &known)
    })
}

/// A value as the algorithm's description types it.
enum ParamValue {
    Bytes(u64),
    Word(&'static str),
}

/// The parameters in the table, the defaults for the others.
pub(super) fn read(field: &Field, info: &Info) -> Result<Params, Problem> {
    let what = format!("`params` of `{}`", info.id);
    let known: Vec<&str> = info.params.iter().map(|param| param.name).collect();
    let fields = Fields::open(field.node, &what, &known)?;
    let mut params = Params::default();
    for param in info.params {
        let Some(field) = fields.field(param.name) else { continue };
        let value = match param.kind {
            ParamKind::Bytes { min, max } => ParamValue::Bytes(size(min, max)(&field)?),
            ParamKind::Choice(words) => {
                let all: Vec<_> = words.iter().map(|word| (*word, *word)).collect();
                ParamValue::Word(choice(&all)(&field)?)
            }
        };
        if !set(&mut params, param.name, value) {
            return Err(field.error("this parameter cannot be set in a scenario"));
        }
    }
    Ok(params)
}

/// False when the parameter is described but has no place in [`Params`].
fn set(params: &mut Params, name: &str, value: ParamValue) -> bool {
    match (name, value) {
        ("increase", ParamValue::Word(word)) => {
            match Increase::ALL.iter().find(|(known, _)| *known == word) {
                Some((_, increase)) => params.increase = *increase,
                None => return false,
            }
        }
        ("initial_ssthresh", ParamValue::Bytes(bytes)) => params.initial_ssthresh = bytes,
        _ => return false,
    }
    true
}

/// Every parameter of the algorithm with this identifier, as name and TOML text.
pub(super) fn written(id: &str, params: &Params) -> Vec<(&'static str, String)> {
    let info = ALGORITHMS.iter().find(|info| info.id == id);
    let text = |name| match name {
        "increase" => Some(format!("\"{}\"", word_of(&Increase::ALL, &params.increase))),
        "initial_ssthresh" => Some(format!("\"{}\"", Bytes(params.initial_ssthresh))),
        _ => None,
    };
    info.iter()
        .flat_map(|info| info.params)
        .filter_map(|param| Some((param.name, text(param.name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tree::parse_value;

    #[test]
    fn every_parameter_that_an_algorithm_describes_can_be_set_and_is_written() {
        for info in ALGORITHMS {
            for param in info.params {
                let table = format!("{{ {} = \"{}\" }}", param.name, param.default);
                let node = parse_value(&table, 0, 0).unwrap();
                let params = read(&Field { key: "params", node: &node }, info).unwrap();
                let default = Params::default();
                assert_eq!(params, default, "the described default of {} is its value", param.name);
                let written = written(info.id, &params);
                assert!(written.contains(&(param.name, format!("\"{}\"", param.default))));
            }
        }
    }
}
