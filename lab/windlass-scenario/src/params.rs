//! Reading and writing of the parameters that algorithms, slow starts and timers declare.

use windlass_cc::rto::{self, TIMERS};
use windlass_cc::setup::INITIAL_SSTHRESH;
use windlass_cc::slow_start::{self, SLOW_STARTS};
use windlass_cc::{ALGORITHMS, AnyParams, Flavour, Param, ParamKind, Ratio, Setup};

use crate::codec::Pairs;
use crate::fields::{
    Field, Fields, boolean, choice, number, packets, size, span, unknown_word, whole,
};
use crate::model::{LINUX, NO_ALGORITHM};
use crate::problem::Problem;
use crate::schema::{Shape, shape};
use crate::tree::Value;
use crate::units::{Bytes, Duration, Packets};

/// An algorithm by name, or [`NO_ALGORITHM`] for datagrams.
pub(super) fn algorithms() -> Shape {
    shape!(Words(ALGORITHMS.iter().map(|info| info.id).chain([NO_ALGORITHM]).collect()))
}

/// [`LINUX`] and a name as a pattern; the kernel keeps names in 16 bytes (`TCP_CA_NAME_MAX`), the last of them zero.
pub(crate) const LINUX_NAME: &str = "^linux:[A-Za-z0-9_-]{1,15}$";

/// The kernel's name of an algorithm in the form `linux:nv`; `None` for the name of a Windlass algorithm.
pub(super) fn by_kernel(text: &str) -> Result<Option<String>, String> {
    let Some(name) = text.strip_prefix(LINUX) else { return Ok(None) };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=15).contains(&name.len()) && name.chars().all(plain) {
        return Ok(Some(name.to_owned()));
    }
    Err(format!(
        "`{text}`: a kernel's algorithm has a name of 1 to 15 letters, digits, `_` and `-`, and no parameters, such as `linux:nv`"
    ))
}

/// The algorithm that a field names, in the version of this implementation; `None` for [`NO_ALGORITHM`].
pub(super) fn algorithm(field: &Field, flavour: Flavour) -> Result<Option<AnyParams>, Problem> {
    let text = field.string()?;
    if text.eq_ignore_ascii_case(NO_ALGORITHM) {
        return Ok(None);
    }
    let find = |name: &str| AnyParams::by_name(name).map(|params| params.flavoured(flavour));
    by_name(field, find, ALGORITHMS.iter().map(|info| info.id)).map(Some)
}

/// True if the algorithm has a selectable slow start.
fn has_slow_start(params: &AnyParams) -> bool {
    params.requirements().slow_start.is_some()
}

/// All parameters of an algorithm; the common parameter comes first.
fn tables(params: &AnyParams) -> impl Iterator<Item = &'static Param> {
    let common = has_slow_start(params).then_some(&INITIAL_SSTHRESH);
    common.into_iter().chain(params.info().params)
}

/// Sets the parameters in the table `field`. Other parameters do not change.
pub(super) fn read(field: &Field, params: &mut AnyParams) -> Result<(), Problem> {
    let info = params.info();
    let what = format!("`params` of `{}`", info.id);
    let known: Vec<&str> = tables(params).map(|param| param.name).collect();
    let fields = Fields::open(field.node, &what, &known)?;
    if let Some(field) = fields.field(INITIAL_SSTHRESH.name) {
        let initial_ssthresh = value(&field, INITIAL_SSTHRESH.kind)?;
        params.set_common(&Setup { initial_ssthresh, ..params.common() });
    }
    set_all(&fields, info.params, |place, raw| params.set(place, raw))
}

/// Reads the `params` and the `slow_start` of an algorithm.
pub(super) fn read_settings(
    fields: &Fields,
    flavour: Flavour,
    params: &mut AnyParams,
) -> Result<(), Problem> {
    if let Some(field) = fields.field("params") {
        read(&field, params)?;
    }
    match fields.field("slow_start") {
        Some(field) => read_slow_start(&field, flavour, params),
        None => Ok(()),
    }
}

/// A slow start: its name, or a table with its `name` and its parameters.
pub(super) fn read_slow_start(
    field: &Field,
    flavour: Flavour,
    params: &mut AnyParams,
) -> Result<(), Problem> {
    if !has_slow_start(params) {
        let id = params.info().id;
        return Err(
            field.error(format!("`{id}` has no selectable slow start; leave `slow_start` out"))
        );
    }
    let mut slow_start = match &field.node.value {
        Value::Table(_) => {
            let fields = Fields::any(field.node, "`slow_start`")?;
            fields.req("name", "\"hystart\"", slow_start_by_name)?
        }
        _ => slow_start_by_name(field)?,
    }
    .flavoured(flavour);
    if matches!(field.node.value, Value::Table(_)) {
        let info = slow_start.info();
        let what = format!("`slow_start` `{}`", info.id);
        let known: Vec<&str> = ["name"].into_iter().chain(names(info.params)).collect();
        let fields = Fields::open(field.node, &what, &known)?;
        set_all(&fields, info.params, |place, raw| slow_start.set(place, raw))?;
    }
    params.set_common(&Setup { slow_start, ..params.common() });
    Ok(())
}

fn slow_start_by_name(field: &Field) -> Result<slow_start::AnyParams, Problem> {
    by_name(field, slow_start::AnyParams::by_name, SLOW_STARTS.iter().map(|info| info.id))
}

/// The value that `find` finds by one of these names.
fn by_name<T>(
    field: &Field,
    find: impl FnOnce(&str) -> Option<T>,
    names: impl Iterator<Item = &'static str>,
) -> Result<T, Problem> {
    let text = field.string()?;
    find(text).ok_or_else(|| unknown_word(field, text, &names.collect::<Vec<_>>()))
}

/// The key that chooses the timer.
const TIMER: &str = "algorithm";

/// Reads a retransmission timer. The table changes parameters of `timer`, or selects another timer, whose other
/// parameters then have their defaults.
pub(super) fn read_timer(field: &Field, timer: &mut rto::AnyParams) -> Result<(), Problem> {
    let fields = Fields::any(field.node, "`rto`")?;
    if let Some(chosen) = fields.opt(TIMER, timer_by_name)?
        && chosen.info().id != timer.info().id
    {
        *timer = chosen;
    }
    let info = timer.info();
    let what = format!("`rto` of `{}`", info.id);
    let known: Vec<&str> = [TIMER].into_iter().chain(names(info.params)).collect();
    fields.called(&what).allow(&known)?;
    set_all(&fields, info.params, |place, raw| timer.set(place, raw))?;
    no_longer_than_max(field, timer)
}

fn timer_by_name(field: &Field) -> Result<rto::AnyParams, Problem> {
    by_name(field, rto::AnyParams::by_name, TIMERS.iter().map(|info| info.id))
}

fn no_longer_than_max(field: &Field, timer: &rto::AnyParams) -> Result<(), Problem> {
    let value = |name| {
        let place = names(timer.info().params).position(|n| n == name)?;
        timer.get(place).map(|raw| Duration(windlass_cc::Span(raw)))
    };
    let Some(max) = value("max") else { return Ok(()) };
    for name in ["min", "initial"] {
        if let Some(value) = value(name).filter(|value| value.0 > max.0) {
            return Err(field.error(format!("`{name}` ({value}) is longer than `max` ({max})")));
        }
    }
    Ok(())
}

fn names(table: &'static [Param]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|param| param.name)
}

fn set_all<'a>(
    fields: &Fields<'a>,
    table: &'static [Param],
    mut set: impl FnMut(usize, u64) -> bool,
) -> Result<(), Problem> {
    for (place, param) in table.iter().enumerate() {
        let Some(field) = fields.field(param.name) else { continue };
        let raw = value(&field, param.kind)?;
        if !set(place, raw) {
            return Err(field.error("this parameter cannot be set in a scenario"));
        }
    }
    Ok(())
}

/// An admissible value as the integer that the algorithm stores.
fn value(field: &Field, kind: ParamKind) -> Result<u64, Problem> {
    let raw = match kind {
        ParamKind::Bytes { min, max } => return size(min, max)(field),
        ParamKind::Segments { .. } => packets(field)?,
        ParamKind::Count { min, max } => return whole(min, max)(field),
        ParamKind::Time { .. } => span(field)?.0,
        ParamKind::Ratio { .. } => {
            let value = number(field)?;
            let raw = (value * Ratio::ONE.0 as f64).round();
            if !(0.0..1e15).contains(&raw) {
                return Err(out_of_range(field, kind));
            }
            raw as u64 // small enough to be exact
        }
        ParamKind::Flag => return boolean(field).map(u64::from),
        ParamKind::Choice(words) => {
            let all: Vec<_> = words.iter().copied().zip(0u64..).collect();
            return choice(&all)(field);
        }
    };
    if kind.admits(raw) { Ok(raw) } else { Err(out_of_range(field, kind)) }
}

fn out_of_range(field: &Field, kind: ParamKind) -> Problem {
    field.error(format!("must be {}", range_text(kind)))
}

/// The type and range of a parameter as text: `a time from 1ms to 10s`.
pub fn range_text(kind: ParamKind) -> String {
    let between = |noun: &str, min: u64, max: u64| {
        format!("{noun} from {} to {}", value_text(kind, min), value_text(kind, max))
    };
    match kind {
        ParamKind::Bytes { min, max } => between("a size", min, max),
        ParamKind::Segments { min, max } => between("a number of segments", min, max),
        ParamKind::Count { min, max } => between("a whole number", min, max),
        ParamKind::Time { min, max } => between("a time", min.0, max.0),
        ParamKind::Ratio { min, max } => between("a number", min.0, max.0),
        ParamKind::Flag => "true or false".to_owned(),
        ParamKind::Choice(words) => words.join(" | "),
    }
}

/// A value of a parameter as a user types it, without quotes.
pub fn value_text(kind: ParamKind, raw: u64) -> String {
    match kind {
        ParamKind::Bytes { .. } => Bytes(raw).to_string(),
        ParamKind::Segments { .. } => Packets(raw).to_string(),
        ParamKind::Count { .. } => raw.to_string(),
        ParamKind::Time { .. } => Duration(windlass_cc::Span(raw)).to_string(),
        ParamKind::Ratio { .. } => ratio_text(raw),
        ParamKind::Flag => (raw != 0).to_string(),
        ParamKind::Choice(words) => words.get(raw as usize).copied().unwrap_or_default().to_owned(),
    }
}

/// The shortest decimal that reads back as the same multiple of 1/65536.
fn ratio_text(raw: u64) -> String {
    let one = Ratio::ONE.0 as f64;
    let exact = raw as f64 / one;
    (0..=16)
        .map(|digits| format!("{exact:.digits$}"))
        .find(|text| text.parse::<f64>().is_ok_and(|value| (value * one).round() == raw as f64))
        .unwrap_or_else(|| exact.to_string())
}

/// A value as TOML text.
fn toml_text(kind: ParamKind, raw: u64) -> String {
    let text = value_text(kind, raw);
    match kind {
        ParamKind::Count { .. } | ParamKind::Ratio { .. } | ParamKind::Flag => text,
        _ => format!("\"{text}\""),
    }
}

/// Every parameter of the algorithm, as name and TOML text.
pub(super) fn written(params: &AnyParams) -> Pairs {
    let mut all = Vec::new();
    if has_slow_start(params) {
        let text = toml_text(INITIAL_SSTHRESH.kind, params.common().initial_ssthresh);
        all.push((INITIAL_SSTHRESH.name, text));
    }
    all.extend(pairs(params.info().params, |place| params.get(place)));
    all
}

/// The slow start with every parameter, as key and TOML text; `None` if the algorithm has no selectable slow start.
pub(super) fn written_slow_start(params: &AnyParams) -> Option<Pairs> {
    let slow_start = has_slow_start(params).then(|| params.common().slow_start)?;
    let info = slow_start.info();
    let mut all = vec![("name", format!("\"{}\"", info.id))];
    all.extend(pairs(info.params, |place| slow_start.get(place)));
    Some(all)
}

/// The timer with every parameter, as key and TOML text.
pub(super) fn written_timer(timer: &rto::AnyParams) -> Pairs {
    let info = timer.info();
    let mut all = vec![(TIMER, format!("\"{}\"", info.id))];
    all.extend(pairs(info.params, |place| timer.get(place)));
    all
}

fn pairs(
    table: &'static [Param],
    get: impl Fn(usize) -> Option<u64>,
) -> impl Iterator<Item = (&'static str, String)> {
    let text = move |(place, param): (usize, &'static Param)| {
        Some((param.name, toml_text(param.kind, get(place)?)))
    };
    table.iter().enumerate().filter_map(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse_value;

    #[test]
    fn every_default_of_every_algorithm_is_admissible_and_reads_back() {
        for info in ALGORITHMS {
            let defaults = AnyParams::by_name(info.id).unwrap();
            for (place, param) in info.params.iter().enumerate() {
                let raw = defaults.get(place).unwrap();
                assert!(param.kind.admits(raw), "{}: {}", info.id, param.name);
            }
            let pairs = written(&defaults);
            let table: Vec<_> = pairs.iter().map(|(key, text)| format!("{key} = {text}")).collect();
            let node = parse_value(&format!("{{ {} }}", table.join(", ")), 0, 0).unwrap();
            let mut again = defaults;
            read(&Field { key: "params", node: &node }, &mut again).unwrap();
            assert_eq!(again, defaults);
        }
    }

    #[test]
    fn every_slow_start_reads_back() {
        for info in SLOW_STARTS {
            let mut params = AnyParams::by_name("reno").unwrap();
            let slow_start = slow_start::AnyParams::by_name(info.id).unwrap();
            params.set_common(&Setup { slow_start, ..params.common() });
            let pairs = written_slow_start(&params).unwrap();
            let table: Vec<_> = pairs.iter().map(|(key, text)| format!("{key} = {text}")).collect();
            let node = parse_value(&format!("{{ {} }}", table.join(", ")), 0, 0).unwrap();
            let mut again = AnyParams::by_name("reno").unwrap();
            read_slow_start(&Field { key: "slow_start", node: &node }, Flavour::Rfc, &mut again)
                .unwrap();
            assert_eq!(again, params);
        }
    }

    #[test]
    fn every_timer_reads_back_and_a_layer_changes_only_its_keys() {
        for info in TIMERS {
            let chosen = rto::AnyParams::by_name(info.id).unwrap();
            let pairs = written_timer(&chosen);
            let table: Vec<_> = pairs.iter().map(|(key, text)| format!("{key} = {text}")).collect();
            let node = parse_value(&format!("{{ {} }}", table.join(", ")), 0, 0).unwrap();
            let mut again = rto::AnyParams::default();
            read_timer(&Field { key: "rto", node: &node }, &mut again).unwrap();
            assert_eq!(again, chosen);
        }
        let node = parse_value("{ algorithm = \"cocoa+\", k_weak = 2 }", 0, 0).unwrap();
        let mut timer = rto::AnyParams::default();
        read_timer(&Field { key: "rto", node: &node }, &mut timer).unwrap();
        let node = parse_value("{ algorithm = \"cocoa+\", dither = 1 }", 0, 0).unwrap();
        read_timer(&Field { key: "rto", node: &node }, &mut timer).unwrap();
        let expected = rto::CocoaPlusParams { k_weak: 2, dither: Ratio::ONE, ..Default::default() };
        assert_eq!(timer, rto::AnyParams::CocoaPlus(expected));
    }

    #[test]
    fn a_timer_refuses_the_parameters_of_another() {
        let node = parse_value("{ algorithm = \"cocoa+\", granularity = \"1ms\" }", 0, 0).unwrap();
        let mut timer = rto::AnyParams::default();
        assert!(read_timer(&Field { key: "rto", node: &node }, &mut timer).is_err());
    }

    #[test]
    fn a_ratio_is_written_as_shortly_as_it_reads_back() {
        for (raw, text) in [(45_875, "0.7"), (65_536, "1"), (32_768, "0.5"), (52_416, "0.7998")] {
            assert_eq!(ratio_text(raw), text);
        }
    }
}
