//! `windlass algorithms`.

use windlass_lab::catalogue::{describe, entries, find, list};

use crate::args::Algorithms;
use crate::output::{Failure, print};

/// Lists algorithms, slow starts and timers, or describes one.
pub fn run(args: &Algorithms) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&list()) };
    let found = find(name);
    if found.is_empty() {
        let known: Vec<&str> = entries().iter().map(|entry| entry.info().id).collect();
        return Err(Failure::unknown("algorithm, slow start or timer", name, &known));
    }
    let texts: Vec<String> = found.iter().map(describe).collect();
    print(&texts.join("\n\n"))
}
