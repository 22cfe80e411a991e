//! Formulas: arithmetic and comparisons of named numbers, on one line.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use minijinja::{Environment, Error, UndefinedBehavior, Value};

use crate::scenario::what_there_is;
use crate::template::{mistake, said};

/// Functions and operators of formulas. Loops, filters and methods do not exist in them.
pub(super) fn environment() -> Environment<'static> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    crate::papers::forms::add(&mut env);
    env.add_function("min", f64::min);
    env.add_function("max", f64::max);
    env.add_function("abs", f64::abs);
    env
}

/// The names in a formula that are no functions.
pub(super) fn names(env: &Environment<'_>, formula: &str) -> Result<BTreeSet<String>, Error> {
    let functions: BTreeSet<&str> = env.globals().map(|(name, _)| name).collect();
    let asked = env.compile_expression(formula)?.undeclared_variables(false);
    Ok(asked.into_iter().filter(|name| !functions.contains(name.as_str())).collect())
}

/// Checks a formula: the wrong word, if one is known, and the message.
pub(super) fn check(
    env: &Environment<'_>,
    formula: &str,
    known: &[&str],
) -> Result<(), (Option<String>, String)> {
    let names =
        names(env, formula).map_err(|e| (None, format!("invalid formula: {}", said(&e))))?;
    match names.into_iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let functions = env.globals().map(|(name, _)| name);
            let all: Vec<&str> = known.iter().copied().chain(functions).collect();
            let message = format!("name `{name}` not found{}", what_there_is(&name, &all));
            Err((Some(name), message))
        }
    }
}

/// The value of a formula; true is 1 and false 0.
pub(super) fn value(
    env: &Environment<'_>,
    formula: &str,
    numbers: BTreeMap<String, f64>,
) -> Result<f64, String> {
    let computed = env
        .compile_expression(formula)
        .and_then(|compiled| compiled.eval(Value::from(numbers)))
        .and_then(|value| match bool::try_from(value.clone()) {
            Ok(truth) if value.kind() == minijinja::value::ValueKind::Bool => {
                Ok(f64::from(u8::from(truth)))
            }
            _ => f64::try_from(value).map_err(|_| mistake("its value is not a number")),
        });
    computed.map_err(|e| format!("invalid formula: {}", said(&e)))
}

/// The place of a word in a part of a text; the whole part if the word is not there.
pub(super) fn place(text: &str, part: Range<usize>, word: &str) -> Range<usize> {
    let inside = text.get(part.clone()).unwrap_or_default();
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let alone = |at: &usize| {
        let (before, after) = (&inside[..*at], &inside[at + word.len()..]);
        !before.ends_with(of_word) && !after.starts_with(of_word)
    };
    let found = inside.match_indices(word).map(|(at, _)| at).find(alone);
    found.map_or(part.clone(), |at| part.start + at..part.start + at + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_compute_and_compare() {
        let of = |formula: &str| {
            let numbers = BTreeMap::from([("a".to_owned(), 3.0), ("b".to_owned(), 2.0)]);
            value(&environment(), formula, numbers)
        };
        assert_eq!(of("a * 8 / b ** 2 - 1"), Ok(5.0));
        assert_eq!(of("max(a, b) > 2 and not a < b"), Ok(1.0));
        assert_eq!(of("7 if a < b else 8"), Ok(8.0));
        assert!(of("'text'").unwrap_err().contains("not a number"));
        assert!(of("a +").is_err());
    }

    #[test]
    fn unknown_names_are_placed_in_the_text() {
        let env = environment();
        let (word, message) = check(&env, "rate_ / rte", &["rate_", "rate"]).unwrap_err();
        assert_eq!(word.as_deref(), Some("rte"));
        assert!(message.contains("did you mean `rate`?"), "{message}");
        assert_eq!(place("x = 'ab / a'", 4..12, "a"), 10..11);
    }
}
