//! Addresses of the laboratory in a browser.

use std::fmt::Write;

/// The end of an address of the laboratory's page: with it, the page opens with this scenario.
pub fn fragment(scenario: &str) -> String {
    let mut out = String::from("#toml=");
    for byte in scenario.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            // Writing to a `String` cannot fail.
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}
