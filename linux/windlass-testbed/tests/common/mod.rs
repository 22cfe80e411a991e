//! Configurations that the live tests share, and the check that they can run here.
#![allow(dead_code, unused_imports, unused_macros)] // each test binary uses its own part

use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::queue::Discipline;
use windlass_tcp::{Profile, StackConfig};
use windlass_testbed::live::{self, Options, Outcome};

/// Skips the calling test with a message if the live testbed cannot run.
macro_rules! need_live {
    () => {
        if let Err(e) = windlass_testbed::live::check() {
            windlass_skip::skip(e);
            return;
        }
    };
}
pub(crate) use need_live;

/// Returns a lossless link between the first two nodes.
pub fn link(rate_bps: u64, delay_ms: u64) -> LinkConfig {
    LinkConfig {
        name: "wire".into(),
        ends: [0, 1],
        rate_bps,
        delay: Span::from_millis(delay_ms),
        queue: QueueLimit::Packets(1_000),
        discipline: Discipline::DropTail,
        framing: Framing::NONE,
        loss: Default::default(),
        down: Vec::new(),
        quick_start: None,
        back: None,
        radio: None,
        course: Default::default(),
    }
}

/// Returns a flow from the first node to the second.
pub fn flow(stack: StackConfig, algorithm: &str, traffic: Traffic) -> FlowConfig {
    FlowConfig {
        name: "a".into(),
        from: 0,
        to: 1,
        profile: Profile::new(stack, AnyParams::by_name(algorithm).unwrap(), 1500).into(),
        traffic,
        read: ReadPolicy::Immediate,
        start: Time::ZERO,
        multipath: None,
        pauses: Vec::new(),
    }
}

/// Returns a transfer from the first node to the second.
pub fn bulk(stack: StackConfig, algorithm: &str, bytes: Option<u64>) -> FlowConfig {
    flow(stack, algorithm, Traffic::Bulk { bytes })
}

/// Returns a network of two nodes for ten seconds.
pub fn config(links: Vec<LinkConfig>, flows: Vec<FlowConfig>) -> Config {
    Config {
        nodes: vec!["a".into(), "b".into()],
        links,
        radios: Vec::new(),
        flows,
        duration: Time::from_secs(10),
        seed: 1,
        record: Record::default(),
    }
}

/// Runs a configuration with any lateness: these tests check bytes, on machines that have other work.
pub fn run(config: &Config) -> Outcome {
    live::run(config, &Options { bound: None, ..Options::default() }).unwrap()
}
