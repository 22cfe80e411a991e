//! Parameters as JSON, from their declarations.

use serde_json::{Map, Value};
use windlass_cc::{AnyParams, Param, ParamKind, Ratio, slow_start};

/// A value of a parameter in JSON: bytes, segments, counts and nanoseconds as integers, ratios as
/// decimals, flags as booleans, choices as words.
fn json_of(kind: ParamKind, raw: u64) -> Value {
    match kind {
        ParamKind::Flag => Value::from(raw != 0),
        ParamKind::Choice(words) => Value::from(words.get(raw as usize).copied().unwrap_or("")),
        ParamKind::Ratio { .. } => {
            // Six decimals distinguish all multiples of 1/65536.
            Value::from((raw as f64 / Ratio::ONE.0 as f64 * 1e6).round() / 1e6)
        }
        _ => Value::from(raw),
    }
}

fn raw_of(param: &Param, value: &Value) -> Result<u64, String> {
    let raw = match param.kind {
        ParamKind::Flag => value.as_bool().map(u64::from),
        ParamKind::Choice(words) => value
            .as_str()
            .and_then(|text| words.iter().position(|w| *w == text))
            .map(|at| at as u64),
        ParamKind::Ratio { .. } => value
            .as_f64()
            .filter(|v| (0.0..1e12).contains(v))
            .map(|v| (v * Ratio::ONE.0 as f64).round() as u64),
        _ => value.as_u64(),
    };
    raw.filter(|raw| param.kind.admits(*raw))
        .ok_or_else(|| format!("the parameter `{}` cannot be {value}", param.name))
}

fn write_table(table: &'static [Param], get: impl Fn(usize) -> Option<u64>) -> Map<String, Value> {
    let pairs = table.iter().enumerate().filter_map(|(place, param)| {
        Some((param.name.to_owned(), json_of(param.kind, get(place)?)))
    });
    pairs.collect()
}

/// Sets the parameters in the table. Other parameters do not change.
pub(crate) fn read_table(
    table: &'static [Param],
    given: &Map<String, Value>,
    mut set: impl FnMut(usize, u64) -> bool,
) -> Result<(), String> {
    for (key, value) in given {
        let place = table.iter().position(|param| param.name == key);
        let place = place.ok_or_else(|| format!("parameter `{key}` not found"))?;
        if !set(place, raw_of(&table[place], value)?) {
            return Err(format!("the parameter `{key}` cannot be {value}"));
        }
    }
    Ok(())
}

/// The algorithm's parameters, and its slow start with parameters, for a header.
#[allow(clippy::type_complexity, reason = "two maps of the header")]
pub fn write_params(params: &AnyParams) -> (Map<String, Value>, Option<Map<String, Value>>) {
    let own = write_table(params.info().params, |place| params.get(place));
    let slow_start = params.requirements().slow_start.is_some().then(|| {
        let slow_start = params.common().slow_start;
        let mut map = Map::new();
        map.insert("name".to_owned(), Value::from(slow_start.info().id));
        map.extend(write_table(slow_start.info().params, |place| slow_start.get(place)));
        map
    });
    (own, slow_start)
}

/// The slow start of a header.
pub(crate) fn read_slow_start(given: &Map<String, Value>) -> Result<slow_start::AnyParams, String> {
    let mut given = given.clone();
    let name = given.remove("name").ok_or("`slow_start` lacks `name`")?;
    let name = name.as_str().unwrap_or_default();
    let mut slow_start = slow_start::AnyParams::by_name(name)
        .ok_or_else(|| format!("no slow start is called \"{name}\""))?;
    read_table(slow_start.info().params, &given, |place, raw| slow_start.set(place, raw))?;
    Ok(slow_start)
}
