//! Any text as a paper's `experiments.toml` and `claims.toml`: it is read, or refused in one line
//! with its place; what is read can be worked with.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use windlass_lab::claims::{self, Evidence, LeastEffect};
use windlass_lab::experiment::Plan;

/// Points beyond which an experiment is too large to list; the product of a few long axes is.
const MOST_POINTS: usize = 10_000;

fuzz_target!(|text: &str| {
    match Plan::parse(text, "fuzzed.toml") {
        Ok(plan) => {
            for experiment in &plan.experiments {
                let size = experiment.axes.iter().map(|a| a.values.len());
                if size.product::<usize>() > MOST_POINTS {
                    continue;
                }
                for point in experiment.points() {
                    assert!(!experiment.seeds(&point, false).is_empty());
                    // A quick run may leave a point out.
                    _ = experiment.seeds(&point, true);
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
    match claims::parse(text, "fuzzed.toml") {
        Ok(claims) => {
            let (models, traces) = (BTreeMap::new(), BTreeMap::new());
            let least = LeastEffect { relative: 0.02, ..LeastEffect::default() };
            let evidence =
                Evidence { records: &[], models: &models, traces: &traces, least: &least, planned: None };
            assert_eq!(claims::judge(&claims, &evidence).len(), claims.len());
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});
