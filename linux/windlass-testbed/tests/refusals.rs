//! Settings that kernels do not support.

mod common;

use common::{bulk, config, flow, link};
use windlass_cc::{AnyParams, Time};
use windlass_run::{Backend, KernelSeries, RunError};
use windlass_scenario::Scenario;
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::config::{Coap, Media, Traffic};
use windlass_tcp::stack::LINUX;
use windlass_testbed::live::{self, Options};
use windlass_testbed::{Linux, LinuxVt};

const CELL: &str = r#"
duration = "1s"
[[wifi]]
access_point = "ap"
stations = ["phone"]
standard = "802.11g"
[[flow]]
from = "phone"
to = "ap"
algorithm = "reno"
"#;

fn backends() -> [Box<dyn Backend>; 2] {
    [Box::new(Linux), Box::new(LinuxVt(KernelSeries::V6_12))]
}

/// Returns the common error of running the scenario and of listing its differences.
fn refusal(backend: &dyn Backend, scenario: &Scenario) -> RunError {
    let error = backend.run(scenario, 1).unwrap_err();
    let beforehand = backend.differences(scenario).unwrap_err();
    assert_eq!(error.to_string(), beforehand.to_string());
    assert!(error.is_input());
    error
}

#[test]
fn kernels_have_no_radio() {
    let scenario = Scenario::from_str(CELL, "cell.toml").unwrap();
    for backend in backends() {
        let error = refusal(&*backend, &scenario).to_string();
        let world = backend.world();
        let expected = format!("the backend `{world}` has no radio for the Wi-Fi cell `wifi`: ");
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn kernels_have_no_radio_on_a_link() {
    let text = "duration = \"1s\"\n[[link]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\nradio = \"lte-m\"\n\
                [[flow]]\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"reno\"\n";
    let scenario = Scenario::from_str(text, "radio.toml").unwrap();
    for backend in backends() {
        let error = refusal(&*backend, &scenario).to_string();
        let world = backend.world();
        assert!(
            error.starts_with(&format!("the backend `{world}` has no `radio` for the link `air`")),
            "{error}"
        );
    }
}

#[test]
fn kernels_have_one_algorithm_for_all_subflows() {
    let path = format!("{}/../../scenarios/two-path.toml", env!("CARGO_MANIFEST_DIR"));
    let mut scenario = Scenario::from_file(path).unwrap();
    let multipath = scenario.flows[0].multipath.as_mut().unwrap();
    multipath.subflows[1].controller = AnyParams::by_name("cubic").unwrap();
    let error = Linux.run(&scenario, 1).unwrap_err().to_string();
    assert!(error.contains("one algorithm for all subflows"), "{error}");
}

#[test]
fn algorithm_without_a_kernel_counterpart_is_named() {
    let config = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "copa", Some(10_000))]);
    let error = live::run(&config, &Options::default()).unwrap_err().to_string();
    assert!(
        error.contains("flow \"a\"") && error.contains("\"copa\"") && error.contains("cubic"),
        "{error}"
    );
}

#[test]
fn coap_flow_is_refused_by_its_name() {
    let requests = Arrivals {
        gaps: Draw::constant(1_000_000_000),
        sizes: Draw::constant(100),
        phases: None,
        stop: Time::from_secs(1),
        deadline: None,
        seed: 1,
    };
    let coap = Coap {
        requests,
        response: 0,
        token: 4,
        options: 8,
        confirmable: true,
        nstart: 1,
        max_retransmit: 4,
        timer: Default::default(),
        security: None,
    };
    let flow = flow(LINUX, "reno", Traffic::Coap(coap));
    let config = config(vec![link(10_000_000, 5)], vec![flow]);
    let error = live::run(&config, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("flow \"a\": CoAP runs only in the simulator"), "{error}");
}

#[test]
fn a_kernel_has_no_media_flows() {
    let (rates_bps, stop) = ([150_000, 1_500_000], Time::from_secs(1));
    let media = Traffic::Media(Media { packet: 1_000, rates_bps, ecn: false, stop });
    let config = config(vec![link(10_000_000, 5)], vec![flow(LINUX, "reno", media)]);
    let error = live::run(&config, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("flow \"a\": media with NADA runs only in the simulator"), "{error}");
}
