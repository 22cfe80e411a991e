//! Transfers with every algorithm.

use windlass_cc::Span;
use windlass_testbed::live::{self, Options};
use windlass_testbed::vm::Kernel;

use crate::repeats::difference;
use crate::{common, job, run};

/// Runs a transfer of one megabyte over a path whose queue overflows.
fn transfer(algorithm: &str) -> Result<live::Outcome, String> {
    let mut link = common::link(20_000_000, 10);
    link.queue = windlass_sim::link::QueueLimit::Packets(40);
    let flow = common::bulk(windlass_tcp::stack::LINUX, algorithm, Some(1_000_000));
    let config = common::config(vec![link], vec![flow]);
    let options = Options { bound: None, spin: Span::ZERO, ..Options::default() };
    let outcome = live::run(&config, &options).map_err(|e| e.to_string())?;
    match &outcome.result.flows[0] {
        flow if flow.delivered_bytes == 1_000_000 && flow.failure.is_none() => Ok(outcome),
        flow => Err(format!("not every byte has arrived: {flow:?}")),
    }
}

/// Runs one transfer after the other in one guest. Returns one line per transfer.
pub fn transfers_of_all() -> Result<Vec<u8>, String> {
    let mut text = String::new();
    for (algorithm, _) in live::COUNTERPARTS {
        let outcome = transfer(algorithm).map_err(|e| format!("{algorithm}: {e}"))?;
        text += &format!("{algorithm}: {outcome:?}\n");
    }
    Ok(text.into_bytes())
}

pub fn transfers(kernel: &Kernel) {
    let job = job(&["transfers"]);
    let [one, two] = [(); 2].map(|()| run(kernel, &job));
    assert!(one.output == two.output, "{:?}", difference(&one.output, &two.output));
    assert_eq!((one.boot, one.virtual_time), (two.boot, two.virtual_time));
    let (count, time) = (live::COUNTERPARTS.len(), one.virtual_time);
    println!("  {count} transfers: {time:.3?} of the guest's time, {:.1?}", one.host_time);
}
