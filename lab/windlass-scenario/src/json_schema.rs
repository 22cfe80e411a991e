//! The keys as JSON Schema (draft 7). Editors use it to complete and check scenario files.

use serde_json::{Map, Value, json};
use windlass_cc::rto::TIMERS;
use windlass_cc::setup::INITIAL_SSTHRESH;
use windlass_cc::slow_start::SLOW_STARTS;
use windlass_cc::{ALGORITHMS, AnyParams, Info, Param, ParamKind, Ratio};

use crate::params::{self, range_text, value_text};
use crate::read::SCENARIO;
use crate::schema::{Key, Kinds, Quantity, REQUIRED, Section, Shape};
use crate::{class, library};

/// A decimal number as in quantities.
const NUMBER: &str = r"[-+]?[0-9_.]+([eE][-+]?[0-9_]+)?\s*";
/// Powers of 1000 and of 1024.
const PREFIX: &str = "([kKMGT]|[KMGT]i)?";

/// The schema of scenario files.
pub(crate) fn scenario() -> Value {
    let mut made = Made::default();
    let mut root = made.object(&SCENARIO);
    root.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
    root.insert("title".into(), json!("Windlass scenario"));
    root.insert("definitions".into(), Value::Object(made.definitions));
    Value::Object(root)
}

/// Definitions that exist already, for references.
#[derive(Default)]
struct Made {
    definitions: Map<String, Value>,
}

impl Made {
    /// A reference to a definition. The first reference creates the definition.
    fn named(&mut self, name: &str, make: impl FnOnce(&mut Made) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            // The entry exists before the definition, which may refer to itself.
            self.definitions.insert(name.to_owned(), Value::Null);
            let value = make(self);
            self.definitions.insert(name.to_owned(), value);
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    fn object(&mut self, section: &Section) -> Map<String, Value> {
        let mut object = self.table(section.keys(), &[]);
        if section.names.contains(&"params") {
            object.insert("allOf".into(), json!([self.named("params", Made::params)]));
        }
        object
    }

    /// A table with exactly these keys. `given` are additional properties with their schemas.
    fn table(&mut self, keys: Vec<Key>, given: &[(&str, Value)]) -> Map<String, Value> {
        let required: Vec<&str> =
            keys.iter().filter(|key| key.default == REQUIRED).map(|key| key.name).collect();
        let mut properties = Map::new();
        for (name, value) in given {
            properties.insert((*name).to_owned(), value.clone());
        }
        for key in keys {
            properties.insert(key.name.to_owned(), self.property(key));
        }
        let mut object = Map::new();
        object.insert("type".into(), json!("object"));
        object.insert("properties".into(), Value::Object(properties));
        object.insert("additionalProperties".into(), json!(false));
        if !required.is_empty() {
            object.insert("required".into(), json!(required));
        }
        object
    }

    fn property(&mut self, key: Key) -> Value {
        let mut shape = self.shape(&key.shape);
        // In draft 7 all keys next to a reference are ignored.
        if shape.get("$ref").is_some() {
            shape = json!({ "allOf": [shape] });
        }
        let default = match key.default {
            "" | REQUIRED => String::new(),
            text => format!(" (default: {text})"),
        };
        shape["description"] = json!(format!("{}{default}", key.meaning));
        if let Some(default) = toml_of(key.default) {
            shape["default"] = default;
        }
        shape
    }

    fn shape(&mut self, shape: &Shape) -> Value {
        match shape {
            Shape::Text => json!({ "type": "string" }),
            Shape::KernelName => json!({ "type": "string", "pattern": params::LINUX_NAME }),
            Shape::ClassName => json!({ "type": "string", "pattern": class::CLASS_NAME }),
            Shape::LibraryName => json!({ "type": "string", "pattern": library::LIBRARY_NAME }),
            Shape::Name => json!({ "type": "string", "pattern": r"^[^\s_.\-][^\s/]*$" }),
            Shape::Flag => json!({ "type": "boolean" }),
            Shape::Number => json!({ "type": "number" }),
            Shape::Whole(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Shape::Of(quantity) => of_quantity(*quantity),
            Shape::Words(words) => json!({ "enum": words }),
            Shape::List(item) => json!({ "type": "array", "items": self.shape(item) }),
            Shape::Either(shapes) => {
                let shapes: Vec<Value> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": shapes })
            }
            Shape::Table(section) => {
                self.named(section.name, |made| Value::Object(made.object(section)))
            }
            Shape::Kinds(kinds) => self.named(kinds.name, |made| made.kinds(kinds)),
            Shape::Params => json!({ "type": "object" }),
            Shape::SlowStart => self.named("slow_start", |_| slow_start()),
            Shape::Timer => self.named("rto", |_| timer()),
        }
    }

    fn kinds(&mut self, kinds: &Kinds) -> Value {
        let one = |(kind, sections): &(&str, &[&Section])| {
            let keys = sections.iter().flat_map(|section| section.keys()).collect();
            let mut object = self.table(keys, &[(kinds.tag, json!({ "enum": [kind] }))]);
            if kinds.usual != Some(kind) {
                let mut required = vec![json!(kinds.tag)];
                required.extend(
                    object.get("required").and_then(Value::as_array).cloned().unwrap_or_default(),
                );
                object.insert("required".into(), json!(required));
            }
            Value::Object(object)
        };
        json!({ "anyOf": kinds.kinds.iter().map(one).collect::<Vec<Value>>() })
    }

    /// The possible `params` for each `algorithm`.
    fn params(&mut self) -> Value {
        let one = |info: &&Info| {
            let starts =
                AnyParams::by_name(info.id).is_some_and(|p| p.requirements().slow_start.is_some());
            let common = starts.then_some(&INITIAL_SSTHRESH);
            let params = parameters(common.into_iter().chain(info.params), None);
            json!({
                "if": { "properties": { "algorithm": { "enum": [info.id] } }, "required": ["algorithm"] },
                "then": { "properties": { "params": params } },
            })
        };
        json!({ "allOf": ALGORITHMS.iter().map(one).collect::<Vec<Value>>() })
    }
}

/// A table of the parameters that the algorithms declare. `tag` is the key that selects the
/// algorithm.
fn parameters<'a>(
    params: impl Iterator<Item = &'a Param>,
    tag: Option<(&str, &str)>,
) -> Map<String, Value> {
    let mut properties = Map::new();
    if let Some((tag, name)) = tag {
        properties.insert(tag.to_owned(), json!({ "enum": [name] }));
    }
    for param in params {
        let mut value = match param.kind {
            ParamKind::Bytes { .. } => of_quantity(Quantity::Size),
            ParamKind::Segments { .. } => of_quantity(Quantity::Packets),
            ParamKind::Count { min, max } => {
                json!({ "type": "integer", "minimum": min, "maximum": max })
            }
            ParamKind::Time { .. } => of_quantity(Quantity::Time),
            ParamKind::Ratio { min, max } => {
                // The value as written, because the nearest multiple of 1/65536 may be larger.
                let of = |ratio: Ratio| value_text(param.kind, ratio.0).parse::<f64>().ok();
                json!({ "type": "number", "minimum": of(min), "maximum": of(max) })
            }
            ParamKind::Flag => json!({ "type": "boolean" }),
            ParamKind::Choice(words) => json!({ "enum": words }),
        };
        let doc = param.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        value["description"] = json!(format!("{doc} ({})", range_text(param.kind)));
        properties.insert(param.name.to_owned(), value);
    }
    let mut object = Map::new();
    object.insert("type".into(), json!("object"));
    object.insert("properties".into(), Value::Object(properties));
    object.insert("additionalProperties".into(), json!(false));
    object
}

fn slow_start() -> Value {
    let names: Vec<&str> = SLOW_STARTS.iter().map(|info| info.id).collect();
    let mut forms = vec![json!({ "enum": names })];
    for info in SLOW_STARTS {
        let mut form = parameters(info.params.iter(), Some(("name", info.id)));
        form.insert("required".into(), json!(["name"]));
        forms.push(Value::Object(form));
    }
    json!({ "anyOf": forms })
}

/// A timer without `algorithm` is the preset's timer, which may be any timer.
fn timer() -> Value {
    let one = |info: &&Info| parameters(info.params.iter(), Some(("algorithm", info.id)));
    json!({ "anyOf": TIMERS.iter().map(one).collect::<Vec<_>>() })
}

fn of_quantity(quantity: Quantity) -> Value {
    let size = format!("{PREFIX}(B|bytes?)");
    let packets = "(pkts?|p|packets?)";
    let unit = match quantity {
        Quantity::Rate => format!("{PREFIX}(bps|bits?/s|b/s|bit|B/s|Bps)"),
        Quantity::Time => "(ns|us|µs|μs|ms|s|min|h)".to_owned(),
        Quantity::Size => size,
        Quantity::Packets => packets.to_owned(),
        Quantity::Queue => format!("({packets}|bdp|{size})"),
        Quantity::Share => "%?".to_owned(),
        Quantity::Window => format!("(mss|{size})"),
        Quantity::Distance => "(mm|cm|m|km)".to_owned(),
        Quantity::Power => "[dD][bB][mM]".to_owned(),
        Quantity::Decibels => "[dD][bB]".to_owned(),
        Quantity::Watts => "[uµμmk]?W".to_owned(),
        Quantity::Energy => "([uµμmk]?J|Wh)".to_owned(),
    };
    let also = match quantity {
        Quantity::Queue => "|[uU][nN][lL][iI][mM][iI][tT][eE][dD]",
        Quantity::Window => "|rfc5681|rfc6928",
        _ => "",
    };
    let text = json!({ "type": "string", "pattern": format!(r"^\s*({NUMBER}{unit}{also})\s*$") });
    match quantity {
        Quantity::Share => {
            json!({ "anyOf": [{ "type": "number", "minimum": 0, "maximum": 1 }, text] })
        }
        _ => text,
    }
}

/// Converts a default to a JSON value if its text is only TOML between backquotes.
fn toml_of(default: &str) -> Option<Value> {
    let text = default.strip_prefix('`')?.strip_suffix('`')?;
    let table: toml::Table = format!("value = {text}").parse().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}
