//! Axes as written on the command line: `link.wire.queue=10pkt,50pkt,1bdp`.

use std::collections::BTreeSet;

use toml::Spanned;

use super::range;
use crate::experiment::file::AxisFile;
use crate::experiment::{Axis, AxisValue, FileError};
use crate::run::World;
use crate::scenario::class_label;

/// Changes to a scenario's file, with one key for each item that a `*` in `flow.*` or `link.*` stands for.
///
/// # Errors
///
/// A message that states the fault and the remedy.
pub fn spelt_out(text: &str, set: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
    let items = Items::of(text);
    let mut all = Vec::new();
    for (key, value) in set {
        all.extend(items.keys(key)?.into_iter().map(|key| (key, value.clone())));
    }
    Ok(all)
}

/// As [`spelt_out`], but after `overrides`, and a `*` stands only for the flows that run this algorithm. Without
/// such a flow the list is empty.
pub(crate) fn spelt_out_for(
    text: &str,
    overrides: &[(String, String)],
    algorithm: Option<&str>,
    set: &[(String, String)],
) -> Result<Vec<(String, String)>, String> {
    let Some(algorithm) = algorithm else { return spelt_out(text, set) };
    let mut items = Items::of(text);
    items.flows.iter_mut().enumerate().for_each(|(i, flow)| flow.change(i, overrides));
    let runs = |flow: &Item| flow.algorithm.eq_ignore_ascii_case(algorithm);
    if !items.flows.iter().any(runs) {
        return Ok(Vec::new());
    }
    items.flows.iter_mut().for_each(|flow| flow.meant = runs(flow));
    let mut all = Vec::new();
    for (key, value) in set {
        all.extend(items.keys(key)?.into_iter().map(|key| (key, value.clone())));
    }
    Ok(all)
}

/// The items of a scenario's file that a `*` in a key stands for.
pub(super) struct Items {
    flows: Vec<Item>,
    links: usize,
}

struct Item {
    name: String,
    algorithm: String,
    /// True if a `*` may stand for this item.
    meant: bool,
    /// True if the flow sends datagrams, which have no congestion control.
    datagrams: bool,
    /// True for a CoAP flow, whose timer is its algorithm.
    coap: bool,
}

/// The algorithm of CoAP's timer, from the key `rto` of its traffic.
fn timer(rto: Option<&toml::Value>) -> String {
    let named = rto.and_then(|rto| rto.get("algorithm")).and_then(toml::Value::as_str);
    named.unwrap_or("coap").to_owned()
}

impl Item {
    fn of(flow: &toml::Value) -> Item {
        let word = |value: Option<&toml::Value>| {
            value.and_then(toml::Value::as_str).unwrap_or_default().to_owned()
        };
        let of_traffic = |key| word(flow.get("traffic").and_then(|t| t.get(key)));
        let [kind, transport] = ["kind", "transport"].map(of_traffic);
        let algorithm = match kind.as_str() {
            "coap" => timer(flow.get("traffic").and_then(|t| t.get("rto"))),
            _ => word(flow.get("algorithm")),
        };
        Item {
            name: word(flow.get("name")),
            algorithm,
            meant: true,
            datagrams: transport.eq_ignore_ascii_case("udp") || ["coap", "media"].contains(&&*kind),
            coap: kind == "coap",
        }
    }

    /// Applies the changes of a point to the flow's algorithm; `i` is the flow's position in the file.
    fn change(&mut self, i: usize, overrides: &[(String, String)]) {
        for (key, value) in overrides {
            let rest = |flow: &str| key.strip_prefix(&format!("flow.{flow}."));
            let Some(key) = rest(&self.name).or_else(|| rest(&i.to_string())) else { continue };
            match key {
                "algorithm" if !self.coap => self.algorithm = value.trim_matches('"').to_owned(),
                "traffic.rto.algorithm" if self.coap => {
                    self.algorithm = value.trim_matches('"').to_owned();
                }
                "traffic.rto" if self.coap => {
                    let table: Option<toml::Table> = toml::from_str(&format!("rto = {value}")).ok();
                    self.algorithm = timer(table.as_ref().and_then(|t| t.get("rto")));
                }
                _ => {}
            }
        }
    }
}

impl Items {
    /// The items of a valid scenario file.
    pub(super) fn of(text: &str) -> Items {
        let root: toml::Table = toml::from_str(text).unwrap_or_default();
        let list = |key: &str| root.get(key).and_then(toml::Value::as_array);
        Items {
            flows: list("flow").into_iter().flatten().map(Item::of).collect(),
            links: list("link").map_or(0, Vec::len),
        }
    }

    /// The keys that `key` stands for: one for each item if it has a `*` instead of a name.
    pub(super) fn keys(&self, key: &str) -> Result<Vec<String>, String> {
        let parts: Vec<&str> = key.split('.').collect();
        let rest = match parts.as_slice() {
            ["flow" | "link", "*", rest @ ..] if !rest.is_empty() && !rest.contains(&"*") => rest,
            _ if !parts.contains(&"*") => return Ok(vec![key.to_owned()]),
            _ => {
                return Err(format!(
                    "`{key}`: a `*` stands for every flow or link only, as in `flow.*.algorithm`"
                ));
            }
        };
        let of_controller = ["algorithm", "slow_start", "params"].contains(&rest[0]);
        let meant = |i: &usize| {
            let flow = &self.flows[*i];
            flow.meant && !(of_controller && flow.datagrams)
        };
        let numbers: Vec<usize> = match parts[0] {
            "flow" => (0..self.flows.len()).filter(meant).collect(),
            _ => (0..self.links).collect(),
        };
        if numbers.is_empty() {
            return Err(format!(
                "`{key}` stands for nothing: the file has no `[[{}]]` with such a key; the links \
                 of a topology are called `topology.access` and `topology.bottleneck`",
                parts[0]
            ));
        }
        let rest = rest.join(".");
        Ok(numbers.into_iter().map(|i| format!("{}.{i}.{rest}", parts[0])).collect())
    }

    /// The same axis with every `*` in its keys replaced by the items.
    ///
    /// # Errors
    ///
    /// A message that states the fault and the remedy.
    pub(super) fn spelt_out(&self, mut axis: Axis) -> Result<Axis, String> {
        for value in &mut axis.values {
            let set = std::mem::take(&mut value.set);
            for (key, text) in set {
                for key in self.keys(&key)? {
                    value.set.insert(key, text.clone());
                }
            }
        }
        Ok(axis)
    }
}

/// Settings to compare one at a time, each an axis such as `stack.rto.initial=1s,4s`: a label for each value, such as
/// `initial=4s`, and the changes to the scenario's file.
///
/// # Errors
///
/// A message that states the fault and the remedy.
pub fn settings(text: &str, axes: &[String]) -> Result<Vec<Setting>, String> {
    let items = Items::of(text);
    let mut all = Vec::new();
    for text in axes {
        let axis = parse(text)
            .and_then(|axis| items.spelt_out(axis))
            .map_err(|wrong| format!("{text}: {wrong}"))?;
        let of = |v: AxisValue| (format!("{}={}", axis.name, v.label), v.set.into_iter().collect());
        all.extend(axis.values.into_iter().map(of));
    }
    Ok(all)
}

/// The label of a setting, and its changes to a scenario's file.
pub type Setting = (String, Vec<(String, String)>);

/// Parses an axis, `KEY=VALUE,VALUE,...`. A name may precede it: `NAME:KEY=...`. Several keys joined by `+` change
/// together, and so do the parts of their values: `a+b=1+10,2+20`. A value with one part applies to all keys.
///
/// # Errors
///
/// A message that states the fault and the remedy.
pub(super) fn parse(text: &str) -> Result<Axis, String> {
    let Some((left, right)) = text.split_once('=') else {
        return Err("write KEY=VALUE,VALUE,... such as link.wire.queue=10pkt,50pkt".to_owned());
    };
    let (name, keys) = match left.split_once(':') {
        Some((name, keys)) => (Some(name.trim()), keys),
        None => (None, left),
    };
    let keys: Vec<&str> = keys.split('+').map(str::trim).collect();
    if keys.contains(&"") || name == Some("") {
        return Err(format!("`{left}` lacks a key such as link.wire.queue"));
    }
    if keys.iter().collect::<BTreeSet<_>>().len() < keys.len() {
        return Err(format!("`{left}` names a key twice"));
    }
    let name = name.unwrap_or_else(|| keys[0].rsplit('.').next().unwrap_or(keys[0]));
    check(name.to_owned(), values(&keys, &items(right)?)?)
}

/// Values of an axis from its keys and texts, as in a sweep file without `label` and `set`.
pub(super) fn values(keys: &[&str], items: &[String]) -> Result<Vec<AxisValue>, String> {
    let mut values = Vec::new();
    for item in items {
        for item in range::expand(item.trim())? {
            values.push(value(keys, &item)?);
        }
    }
    Ok(values)
}

fn value(keys: &[&str], item: &str) -> Result<AxisValue, String> {
    let parts = match item.split('+').count() {
        n if n == keys.len() && n > 1 => item.split('+').map(str::trim).collect(),
        _ => vec![item; keys.len()],
    };
    if parts.contains(&"") {
        return Err("a value is empty; write the values with one comma between them".to_owned());
    }
    let label = class_label(unquoted(item));
    if label.contains([',', '=']) {
        return Err(format!(
            "`{item}` has a `,` or `=`, which no label can have; give it a label in a sweep file"
        ));
    }
    let set = keys.iter().zip(parts).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect();
    Ok(AxisValue { label: label.to_owned(), set, ..AxisValue::default() })
}

/// Splits the text at commas. Commas within quotes and brackets do not separate values.
fn items(text: &str) -> Result<Vec<String>, String> {
    let mut items = vec![String::new()];
    let (mut quote, mut depth) = (None, 0_i32);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    if quote.is_some() || depth != 0 {
        return Err("a quote or bracket is not closed".to_owned());
    }
    if items.iter().any(|item| item.trim().is_empty()) {
        return Err("a value is empty; write the values with one comma between them".to_owned());
    }
    Ok(items)
}

/// The text without the quotes of a TOML string.
fn unquoted(text: &str) -> &str {
    let inside = |q: char| text.strip_prefix(q)?.strip_suffix(q);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// The axis, if its labels are different.
fn check(name: String, values: Vec<AxisValue>) -> Result<Axis, String> {
    let nowhere = |message: String| FileError::at("", "", 0..0, message);
    let file = AxisFile {
        name: Spanned::new(0..0, name),
        value: values.into_iter().map(|v| Spanned::new(0..0, v)).collect(),
    };
    file.check(&|_, message| nowhere(message)).map_err(|e| e.message)
}

/// The axis of backends, if the list has more than the simulator.
///
/// # Errors
///
/// A backend is named twice.
pub(super) fn worlds(worlds: &[World]) -> Result<Option<Axis>, String> {
    if worlds.is_empty() || worlds == [World::Sim] {
        return Ok(None);
    }
    let value =
        |w: &World| AxisValue { label: w.to_string(), on: Some(*w), ..AxisValue::default() };
    // [`check`] would refuse the `=` in a kernel's name.
    match worlds.iter().enumerate().find(|(i, w)| worlds[..*i].contains(w)) {
        Some((_, twice)) => Err(format!("the backend `{twice}` is listed twice")),
        None => {
            Ok(Some(Axis { name: "on".to_owned(), values: worlds.iter().map(value).collect() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Vec<String> {
        let axis = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        axis.values.into_iter().map(|v| v.label).collect()
    }

    fn sets(text: &str) -> Vec<Vec<(String, String)>> {
        parse(text).unwrap().values.into_iter().map(|v| v.set.into_iter().collect()).collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn an_axis_is_named_after_the_last_part_of_its_key() {
        let axis = parse("link.wire.queue=10pkt, 1bdp").unwrap();
        assert_eq!((axis.name.as_str(), axis.values.len()), ("queue", 2));
        assert_eq!(parse("size:link.wire.queue=10pkt").unwrap().name, "size");
        assert_eq!(labels("link.wire.queue=10pkt, 1bdp"), ["10pkt", "1bdp"]);
        assert_eq!(labels("a=1..3 step 1,10"), ["1", "2", "3", "10"]);
        assert_eq!(labels("a=\"x y\",'z'"), ["x y", "z"]);
    }

    #[test]
    fn several_keys_move_together() {
        let expected = [pair("a.x", "1"), pair("b.y", "10")];
        assert_eq!(sets("a.x+b.y=1+10,2+20")[0], expected);
        assert_eq!(sets("a.x+b.y=5ms")[0], [pair("a.x", "5ms"), pair("b.y", "5ms")]);
        assert_eq!(labels("pair:a.x+b.y=1+10,2+20"), ["1+10", "2+20"]);
        // With a single key a plus is part of the value.
        assert_eq!(sets("a.x=1e+6")[0], [pair("a.x", "1e+6")]);
    }

    #[test]
    fn errors_name_the_fault_or_the_remedy() {
        for (text, part) in [
            ("queue", "write KEY=VALUE"),
            ("=1", "lacks a key"),
            ("a+=1", "lacks a key"),
            (":a=1", "lacks a key"),
            ("a+a=1", "names a key twice"),
            ("a=", "a value is empty"),
            ("a=1,,2", "a value is empty"),
            ("a=1,2,", "a value is empty"),
            ("a+b=1+", "a value is empty"),
            ("a=1,2,1", "axis `a` has the value `1` already"),
            ("a=[1,2", "not closed"),
            ("a=\"1", "not closed"),
            ("a={ x = 1 }", "give it a label in a sweep file"),
            ("a=5..1 step 1", "no values"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    const FILE: &str = r#"
        duration = "1s"
        [[link]]
        between = ["a", "b"]
        [[flow]]
        from = "a"
        [[flow]]
        from = "b"
        traffic = { kind = "cbr", transport = "UDP" }
        [[flow]]
        from = "b"
    "#;

    #[test]
    fn a_star_stands_for_every_item_that_can_have_the_key() {
        let items = Items::of(FILE);
        assert_eq!(
            items.keys("flow.*.algorithm").unwrap(),
            ["flow.0.algorithm", "flow.2.algorithm"]
        );
        assert_eq!(items.keys("flow.*.start").unwrap().len(), 3);
        assert_eq!(items.keys("link.*.queue.limit").unwrap(), ["link.0.queue.limit"]);
        assert_eq!(items.keys("link.0.queue").unwrap(), ["link.0.queue"]);
        for key in ["*.queue", "link.0.*", "link.*", "flow.*.params.*"] {
            assert!(items.keys(key).unwrap_err().contains("a `*` stands for"), "{key}");
        }
        let topology = Items::of("duration = \"1s\"");
        assert!(topology.keys("link.*.queue").unwrap_err().contains("topology.bottleneck"));
    }

    #[test]
    fn backends_are_an_axis_unless_only_the_simulator_runs() {
        assert_eq!(worlds(&[]), Ok(None));
        assert_eq!(worlds(&[World::Sim]), Ok(None));
        let axis = worlds(&[World::Sim, World::Linux]).unwrap().unwrap();
        assert_eq!(axis.values[1].on, Some(World::Linux));
        let twice = worlds(&[World::Sim, World::Sim]).unwrap_err();
        assert_eq!(twice, "the backend `sim` is listed twice");
    }

    #[test]
    fn a_coap_timer_is_the_algorithm_of_its_flows() {
        let flow = |name: &str, rto: &str| {
            format!("[[flow]]\nname = '{name}'\ntraffic = {{ kind = 'coap'{rto} }}\n")
        };
        let text = flow("a", "") + &flow("b", ", rto = { algorithm = 'cocoa' }");
        let set = [pair("flow.*.traffic.nstart", "2")];
        let of = |timer: &str, changes: &[(String, String)]| {
            let all = spelt_out_for(&text, changes, Some(timer), &set).unwrap();
            all.into_iter().map(|(key, _)| key.replace(".traffic.nstart", "")).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("coap", &[]), of("cocoa", &[])),
            (vec!["flow.0".into()], vec!["flow.1".into()])
        );
        let change = [pair("flow.a.traffic.rto.algorithm", "\"cocoa\"")];
        assert_eq!(of("cocoa", &change), ["flow.0", "flow.1"]);
        let change = [pair("flow.1.traffic.rto", "{ algorithm = \"fasor\" }")];
        assert_eq!(of("fasor", &change), ["flow.1"]);
        assert_eq!(of("reno", &[]), [""; 0]);
    }
}
