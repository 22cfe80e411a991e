//! Windlass's endpoint against Debian's kernels in virtual time: every case of the conformance run. The guest
//! boots the test itself, so the test has no harness.

use std::process::exit;
use std::thread;
use std::time::Duration;

use windlass_interop::interop::{self, Case, Direction, Options, Report};
use windlass_skip::skip;
use windlass_testbed::vm::{self, Job, Kernel, Series};

/// Time limit of a guest on a busy host.
const PATIENCE: Duration = Duration::from_secs(1_800);

fn main() {
    vm::guest_main(serve);
    let ready = |series| {
        vm::check(series).and_then(|()| vm::prepare(series, &mut |_| {})).map_err(skip).ok()
    };
    let kernels: Vec<_> = Series::ALL.into_iter().filter_map(ready).collect();
    let of_all: Vec<_> = thread::scope(|scope| {
        let guests: Vec<_> = kernels.iter().map(|kernel| scope.spawn(|| boot(kernel))).collect();
        guests.into_iter().map(|guest| guest.join().expect("no panic")).collect()
    });
    let mut failed = false;
    for (kernel, reports) in kernels.iter().zip(of_all) {
        let release = &kernel.release;
        assert_eq!(reports.len(), runs(&interop::cases()).len());
        for report in reports.iter().filter(|report| !report.passed()) {
            failed = true;
            println!("{release}: {} {} FAILED", report.case, report.direction);
            report.findings.iter().for_each(|finding| println!("    {finding}"));
        }
        println!("{release}: {} cases in virtual time", reports.len());
    }
    exit(i32::from(failed));
}

/// Returns the reports of all cases on this kernel.
fn boot(kernel: &Kernel) -> Vec<Report> {
    let job = Job { timeout: PATIENCE, ..Job::default() };
    let answer = vm::run(kernel, &job).unwrap_or_else(|e| panic!("{}: {e}", kernel.release));
    serde_json::from_slice(&answer.output).expect("the guest's reports")
}

fn runs(cases: &[Case]) -> Vec<(&Case, Direction)> {
    cases.iter().flat_map(|case| case.directions.iter().map(move |d| (case, *d))).collect()
}

/// Runs every case in the guest. The packets of passed cases are not returned.
fn serve(_: &[String]) -> Result<Vec<u8>, String> {
    let cases = interop::cases();
    let mut reports = interop::run(&runs(&cases), &Options::in_virtual_time(), |_| {})
        .map_err(|e| e.to_string())?;
    reports.iter_mut().for_each(|report| report.packets.clear());
    serde_json::to_vec(&reports).map_err(|e| e.to_string())
}
