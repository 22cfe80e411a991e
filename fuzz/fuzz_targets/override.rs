//! Any text as `--set KEY=VALUE` of an example: it is refused in one line that names it, or what
//! comes of it reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_lab::scenario::Scenario;

const EXAMPLE: &str = include_str!("../../scenarios/two-rates.toml");

fuzz_target!(|text: &str| {
    let Some((key, value)) = text.split_once('=') else { return };
    let set = [(key.to_owned(), value.to_owned())];
    match Scenario::with_overrides(EXAMPLE, "two-rates.toml", &set) {
        Ok(scenario) => {
            let again = Scenario::from_str(&scenario.resolved_toml(), "again.toml");
            assert_eq!(again.expect("what was written reads"), scenario);
        }
        Err(error) => assert!(error.to_string().starts_with("--set "), "{error}"),
    }
});
