//! Other stacks at either end of a flow, and at both.

mod common;

use common::lwip_or_skip;
use smoltcp::socket::tcp::CongestionControl;
use windlass_cc::Time;
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::RunResult;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd};
use windlass_stacks::app::{App, Role};
use windlass_stacks::c_end::Setting;
use windlass_stacks::connection::Connection;
use windlass_stacks::lwip;
use windlass_stacks::smoltcp::{Options, Stack};
use windlass_tcp::wire::Addresses;

const BYTES: u64 = 300_000;

/// Opens a stack between these addresses with this seed.
type Open = fn(Addresses, u64) -> Box<dyn Connection>;

fn smoltcp(ends: Addresses, seed: u64) -> Box<dyn Connection> {
    let options = Options { control: CongestionControl::Reno, seed, ..Options::default() };
    Box::new(Stack::new(&options, ends))
}

fn lwip(ends: Addresses, seed: u64) -> Box<dyn Connection> {
    let (mtu, start, options) = (1500, Time::ZERO, String::new());
    let setting = Setting { ends, mtu, sends: true, start, seed, options };
    Box::new(lwip::connection(lwip::LARGE, &setting).unwrap())
}

/// A lossy path on which other stacks may replace the ends. Returns the result, and the bytes and the
/// time of the receiver.
fn transfer(sends: Option<Open>, receives: Option<Open>, seed: u64) -> (RunResult, u64, Time) {
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
    let app = |open: Open, from, role| {
        App::boxed(open(addresses.addresses(from), seed), role, Time::ZERO)
    };
    let mut sender = sends.map(|open| app(open, true, Role::Sends(BYTES)));
    let mut receiver = receives.map(|open| app(open, false, Role::Receives));
    let mut ends: Vec<(u32, &mut dyn PacketEnd)> = Vec::new();
    ends.extend(sender.as_mut().map(|s| (0, s as &mut dyn PacketEnd)));
    ends.extend(receiver.as_mut().map(|r| (1, r as &mut dyn PacketEnd)));
    let result = external::run(&config, &mut ends).unwrap();
    let (moved, last) = receiver.map_or((0, Time::ZERO), |r| (r.moved, r.last));
    (result, moved, last)
}

/// A file arrives completely from one stack to the other, and to and from Windlass's endpoint.
fn arrives_whole(open: Open, other: Open) {
    let (result, ..) = transfer(Some(open), None, 1);
    assert_eq!(result.flows[0].delivered_bytes, BYTES);
    assert!(result.links[0].drops_error > 0, "nothing was lost");
    for sender in [None, Some(open), Some(other)] {
        let (result, taken, last) = transfer(sender, Some(open), 1);
        assert_eq!(taken, BYTES);
        // 1.2 s at the link's rate.
        assert!(Time::from_millis(1_200) < last && last < Time::from_secs(60), "{last}");
        assert!(result.flows[0].packets_sent > BYTES / 1460);
    }
}

/// Runs with the same seed are equal to the last bit, and runs with another seed differ.
fn repeats(open: Open) {
    let run = |seed| transfer(Some(open), Some(open), seed);
    let (first, second, other) = (run(5), run(5), run(6));
    assert_eq!(first, second);
    assert_ne!(first.2, other.2);
}

#[test]
fn a_file_arrives_whole_with_any_stacks_at_its_ends() {
    arrives_whole(smoltcp, smoltcp);
    if lwip_or_skip() {
        arrives_whole(lwip, smoltcp);
        arrives_whole(smoltcp, lwip);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    repeats(smoltcp);
    if lwip_or_skip() {
        repeats(lwip);
    }
}
