//! Values of templates, and missing values.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr};
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use crate::report::numbers::NONE;
use crate::scenario::did_you_mean;

/// Values by name.
pub(crate) type Vars = BTreeMap<String, Value>;

/// The source of an error for a value that no run has. This is not a mistake: the value stays empty.
#[derive(Debug, thiserror::Error)]
#[error("no run has this value")]
pub(crate) struct Absent;

/// The error of a value without runs.
pub(crate) fn absent() -> minijinja::Error {
    absent_because("no run has this value")
}

/// The error of a value that the runs do not have, with the reason.
pub(crate) fn absent_because(why: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, why.into()).with_source(Absent)
}

/// The value of a `let` name whose value no run has, with the reason. Its attributes and methods are missing too.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_object(Missing(self.0.clone())))
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut minijinja::State<'_, '_>,
        _: &str,
        _: &[Value],
    ) -> Result<Value, minijinja::Error> {
        Err(absent_because(self.0.clone()))
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(NONE)
    }
}

/// True if a value is missing.
pub(crate) fn is_missing(value: &Value) -> bool {
    value.downcast_object_ref::<Missing>().is_some()
}

/// True if an error only reports missing runs.
pub(crate) fn is_absent(error: &minijinja::Error) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        if source.is::<Absent>() {
            return true;
        }
        next = source.source();
    }
    false
}

/// The error of a mistake in an expression.
pub(crate) fn mistake(message: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, message.into())
}

/// The text of an expression's error, on one line.
pub(crate) fn said(error: &minijinja::Error) -> String {
    let said = match (error.kind(), error.detail()) {
        (ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => match detail.strip_suffix(" is unknown") {
            Some(name) => {
                let word = kind.to_string().replace("unknown ", "");
                format!("{kind} `{}`", name.trim_start_matches(&format!("{word} ")))
            }
            None => format!("{kind}: {detail}"),
        },
        (kind, None) => kind.to_string(),
    };
    match std::error::Error::source(error).and_then(|s| s.downcast_ref::<minijinja::Error>()) {
        Some(inner) => format!("{said}: {}", self::said(inner)),
        None => said,
    }
}

/// An environment in which an undefined name is an error.
pub(crate) fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env
}

/// Checks that every name of an expression is defined. The template language would give an undefined value
/// for an unknown name, and false for a condition on it.
pub(crate) fn known_names(
    env: &Environment<'_>,
    asked: HashSet<String>,
    vars: &Vars,
) -> Result<(), minijinja::Error> {
    let global: Vec<&str> = env.globals().map(|(name, _)| name).collect();
    let known: Vec<&str> = vars.keys().map(String::as_str).chain(global).collect();
    // The order of a set differs each time.
    match asked.iter().filter(|name| !known.contains(&name.as_str())).min() {
        None => Ok(()),
        Some(name) => {
            Err(mistake(format!("name `{name}` not found{}", did_you_mean(name, &known))))
        }
    }
}
