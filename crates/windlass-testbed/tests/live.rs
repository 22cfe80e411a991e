//! The live testbed: kernel sockets over the simulator's links, in real time.

mod common;

use common::{bulk, config, link, need_live, run};
use windlass_cc::Time;
use windlass_tcp::stack::LINUX;

#[test]
fn every_byte_of_a_transfer_arrives_and_both_ends_close() {
    need_live!();
    let mut config = config(vec![link(20_000_000, 5)], vec![bulk(LINUX, "cubic", Some(1_000_000))]);
    config.duration = Time::from_secs(20);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    assert_eq!(flow.delivered_bytes, 1_000_000, "{outcome:?}");
    assert!(flow.completion_s.is_some_and(|s| s < 20.0), "{outcome:?}");
    assert_eq!(flow.failure, None);
    // Nothing can happen any more, so the run ends early and its clock shows the whole duration.
    assert_eq!(outcome.result.end, config.duration);
    eprintln!("{outcome:#?}");
}
