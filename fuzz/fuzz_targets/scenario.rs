//! Any text as a scenario: it is read or refused with an error that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_lab::scenario::Scenario;

fuzz_target!(|text: &str| {
    if let Err(error) = Scenario::from_str(text, "fuzzed.toml") {
        assert!(!error.to_string().is_empty());
    }
});
