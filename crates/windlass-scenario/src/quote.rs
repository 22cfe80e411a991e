//! Text as TOML has it.

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
