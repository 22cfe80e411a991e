//! Windlass's endpoint against this machine's kernel: every case of the conformance run.

use windlass_interop::interop::{self, Case, Direction, Options};
use windlass_skip::skip;
use windlass_testbed::live;

#[test]
fn windlass_endpoint_and_the_kernel_agree_in_every_case() {
    if let Err(e) = live::check() {
        return skip(e);
    }
    let cases = interop::cases();
    let both = |case| directions(case).map(move |direction| (case, direction));
    let runs: Vec<(&Case, Direction)> = cases.iter().flat_map(both).collect();
    let reports = interop::run(&runs, &Options::default(), |_| {}).unwrap();
    let mut failures = Vec::new();
    for report in reports.iter().filter(|report| !report.passed()) {
        let findings = report.findings.iter().map(|finding| format!("  {finding}"));
        let findings: Vec<String> = findings.collect();
        failures.push(format!("{} {}:\n{}", report.case, report.direction, findings.join("\n")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn directions(case: &Case) -> impl Iterator<Item = Direction> {
    case.directions.iter().copied()
}
