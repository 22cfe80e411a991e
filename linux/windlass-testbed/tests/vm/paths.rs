//! Connections of two paths, with coupled and uncoupled algorithms.

use windlass_cc::{AnyParams, Span};
use windlass_scenario::{Scenario, compile::compile};
use windlass_skip::skip;
use windlass_testbed::live::{self, Options};
use windlass_testbed::vm::{Job, Kernel};

use crate::objects::{objects, standard};
use crate::{job, run};

/// A connection of two paths and a connection of one path share a bottleneck. All use Windlass's algorithms.
const TWO_PATHS: &str = r#"
duration = "20s"
[topology]
kind = "two-path"
paths = [{ rate = "3Mbps", delay = "20ms", queue = "40pkt" }, { rate = "3Mbps", delay = "20ms", queue = "40pkt" }]
shared = { rate = "3Mbps", queue = "40pkt" }
[stack]
preset = "linux"
[[flow]]
from = "server"
to = "client"
algorithm = "ALGORITHM"
slow_start = "standard"
[flow.multipath]
subflows = [{ via = ["a1"] }, { via = ["a2"] }]
[[flow]]
from = "server"
to = "client"
algorithm = "reno"
slow_start = "standard"
"#;

/// Networks of the replay check. In `unlike` one path is wider and shorter. The kernel's scheduler selects
/// the path of the next data, and Windlass provides it with the paths' rates.
const TWINS: &str = include_str!("../../src/twin/paths.toml");

/// Result of a connection of two paths that competes with a connection of one path.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Shared {
    /// The first connection's share of the goodput of all connections.
    part: f64,
    /// Goodput of the first connection, bits per second.
    goodput: f64,
    /// Maximum number of paths that the first connection's algorithm saw at once.
    paths: usize,
    /// The first answer in a kernel that differs from the native core's answer.
    different: Option<String>,
}

pub fn two_paths(algorithm: &str, network: &str) -> Result<Vec<u8>, String> {
    let text = if network == "shared" { &TWO_PATHS.replace("ALGORITHM", algorithm) } else { TWINS };
    let mut scenario = Scenario::from_str(text, "two paths").map_err(|e| e.to_string())?;
    if network != "shared" {
        scenario.duration = Span::from_secs(8);
        scenario.flows.retain(|flow| flow.name == network);
        let params = standard(AnyParams::by_name(algorithm).expect("there"));
        scenario.flows.iter_mut().for_each(|flow| flow.set_controller(params));
    }
    let ours = (0..scenario.flows.len()).collect();
    let options = Options { ours, watch: live::Watch::Replay, ..Options::in_virtual_time() };
    let config = compile(&scenario, 1).map_err(|e| e.to_string())?;
    let live::Outcome { result, replayed, .. } =
        live::run(&config, &options).map_err(|e| e.to_string())?;
    let goodput = result.flows[0].goodput_bps;
    let different = replayed.iter().find(|replayed| !replayed.is_equal());
    let shared = Shared {
        part: goodput / result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>(),
        goodput,
        paths: replayed[0].paths,
        different: different.map(|replayed| format!("{:?}", replayed.first)),
    };
    serde_json::to_vec(&shared).map_err(|e| e.to_string())
}

pub fn coupled(kernel: &Kernel) {
    let files = match objects() {
        Ok(files) => files,
        Err(why) => return skip(why),
    };
    // LIA is left out: its program has too many paths for the verifier of 6.1.
    let crossed = |algorithm, network| {
        let job =
            Job { files: files.clone(), programs: true, ..job(&["paths", algorithm, network]) };
        serde_json::from_slice::<Shared>(&run(kernel, &job).output).expect("an answer")
    };
    let [alone, coupled] = ["reno", "balia"].map(|algorithm| crossed(algorithm, "shared"));
    println!("  of a bottleneck: {alone:?}, {coupled:?}");
    assert_eq!((&alone.different, &coupled.different), (&None, &None));
    assert_eq!((alone.paths, coupled.paths), (0, 2), "only BALIA sees both");
    assert!(coupled.part < 0.92 * alone.part, "the coupled pair takes clearly less");
    // The simulator has 7.4, and Linux 7.3 has 6.78 with BALIA and 6.59 with Reno. If the scheduler does not
    // have the rates, the wide path waits for the narrow path: 6.1 and 6.2.
    for algorithm in ["balia", "reno"] {
        let unlike = crossed(algorithm, "unlike");
        assert!(unlike.goodput > 6.4e6 && unlike.different.is_none(), "{algorithm}: {unlike:?}");
    }
}
