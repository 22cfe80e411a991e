//! Any text as a scenario: it is refused with an error that can be shown, or it is read, its
//! resolved form reads back as the same scenario, and what is said of it before a run can be said.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_lab::compile::compile;
use windlass_lab::outlook;
use windlass_lab::scenario::Scenario;
use windlass_sim::Simulation;

fuzz_target!(|text: &str| {
    let scenario = match Scenario::from_str(text, "fuzzed.toml") {
        Ok(scenario) => scenario,
        Err(error) => {
            let shown = error.to_string();
            assert!(shown.starts_with("fuzzed.toml") && !shown.contains('\n'), "{shown:?}");
            return;
        }
    };
    let resolved = scenario.resolved_toml();
    let again = Scenario::from_str(&resolved, "again.toml").expect("what was written reads");
    assert_eq!(again, scenario);
    assert_eq!(again.hash(), scenario.hash());
    if let Ok(paths) = outlook::paths(&scenario) {
        assert!(outlook::text(&paths).contains("bottleneck"));
        outlook::warnings(&scenario).expect("the paths were found");
    }
    // A network can be set up or is refused; running it is another test's matter.
    if let Ok(config) = compile(&scenario, scenario.seed) {
        let _ = Simulation::new(config);
    }
});
