//! Runs: from a scenario to results.
