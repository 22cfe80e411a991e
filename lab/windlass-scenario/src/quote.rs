//! Text in TOML syntax.

use std::fmt::{Display, Write as _};

/// A TOML basic string.
pub(crate) fn quote(value: impl Display) -> String {
    let mut quoted = String::from('"');
    for c in value.to_string().chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// An inline table of keys and texts.
pub(crate) fn inline(pairs: &[(&str, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(key, text)| format!("{key} = {text}")).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// An array of texts.
pub(crate) fn array<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", "))
}
