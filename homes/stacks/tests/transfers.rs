//! smoltcp at either end of a flow, and at both.

use smoltcp::socket::tcp::CongestionControl;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::RunResult;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd};
use windlass_stacks::smoltcp::{Options, Role, Smoltcp};

const BYTES: u64 = 300_000;

/// A lossy path whose ends are smoltcp's where it says so, and what the receiver has taken and when.
fn transfer(sends: bool, receives: bool, seed: u64) -> (RunResult, u64, Time) {
    let text = format!(
        r#"
duration = "600s"
[[link]]
name = "link"
between = ["a", "b"]
rate = "2Mbps"
delay = "20ms"
queue = "40packets"
loss = {{ model = "drop", probability = "2%", direction = "both" }}
[[flow]]
name = "file"
from = "a"
to = "b"
algorithm = "newreno"
traffic = {{ kind = "bulk", bytes = "{BYTES}B" }}
"#
    );
    let config = compile(&Scenario::from_str(&text, "test").unwrap(), seed).unwrap();
    let addresses = FlowAddresses::of_flow(0, &config.flows[0]);
    let options = Options { control: CongestionControl::Reno, seed, ..Options::default() };
    let end =
        |from: bool, role| Smoltcp::new(&options, addresses.addresses(from), role, Time::ZERO);
    let (mut sender, mut receiver) = (end(true, Role::Sends(BYTES)), end(false, Role::Receives));
    let mut ends: Vec<(u32, &mut dyn PacketEnd)> = Vec::new();
    if sends {
        ends.push((0, &mut sender));
    }
    if receives {
        ends.push((1, &mut receiver));
    }
    let result = external::run(&config, &mut ends).unwrap();
    (result, receiver.moved, receiver.last)
}

#[test]
fn a_file_arrives_whole_whoever_stands_at_its_ends() {
    let (result, ..) = transfer(true, false, 1);
    assert_eq!(result.flows[0].delivered_bytes, BYTES);
    assert!(result.links[0].drops_error > 0, "nothing was lost");
    for sends in [false, true] {
        let (result, taken, last) = transfer(sends, true, 1);
        assert_eq!(taken, BYTES);
        // 1.2 s at the link's rate.
        assert!(Time::from_millis(1_200) < last && last < Time::from_secs(60), "{last}");
        assert!(result.flows[0].packets_sent > BYTES / 1460);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (first, second, other) =
        (transfer(true, true, 5), transfer(true, true, 5), transfer(true, true, 6));
    assert_eq!(first, second);
    assert_ne!(first.2, other.2);
}
