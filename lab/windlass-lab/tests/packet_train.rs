//! The bandwidth that CCM-SS estimates from trains of acknowledgements on a simulated path.
//!
//! At the end of slow start, ssthresh is the estimated rate times the minimum RTT, because the configured
//! buffer is 0 and HyStart's exit conditions are off.

use windlass_lab::run::simulate;
use windlass_lab::scenario::Scenario;
use windlass_sim::Series;

/// A dumbbell with a measuring flow from `s2`. `others` may define a competing flow from `s1`.
fn scenario(mbps: u64, rtt_ms: u64, ack_every: u32, others: &str) -> Scenario {
    let text = format!(
        r#"
duration = "10s"
[stack]
preset = "ns2"
mss = "1460B"
sack = true
recovery = "sack"
flight_limit = "unlimited"
receive_buffer = "64MiB"
send_buffer = "64MiB"
initial_window = "4mss"
delayed_ack_segments = {ack_every}
[topology]
kind = "dumbbell"
pairs = 2
access = {{ rate = "1Gbps" }}
bottleneck = {{ rate = "{mbps}Mbps", delay = "{}us", queue = "1bdp" }}
{others}
[[flow]]
name = "measuring"
from = "s2"
to = "d2"
algorithm = "cubic"
slow_start = {{ name = "ccm-ss", buffer = "oracle", buffer_bytes = "0B", detect = "train", train_share = 4 }}
start = "4s"
jitter = "100ms"
[record]
series = ["ssthresh_bytes"]
"#,
        rtt_ms * 500
    );
    Scenario::from_str(&text, "train.toml").unwrap_or_else(|e| panic!("{e}"))
}

/// The rate that ssthresh represents at the end of slow start, as a share of the bottleneck's payload
/// rate.
fn shown(scenario: &Scenario, mbps: u64, seed: u64) -> f64 {
    let result = simulate(scenario, seed).expect("it runs");
    let flow = scenario.flows.len() - 1;
    let mine = |s: &&windlass_sim::Sample| {
        s.flow as usize == flow && s.series == Series::Ssthresh && s.value < 1 << 39
    };
    let exit = result.samples.iter().find(mine).expect("slow start ends");
    let min_rtt_s = result.flows[flow].min_rtt_ms.expect("samples") / 1e3;
    let payload_bps = mbps as f64 * 1e6 * 1460.0 / 1500.0;
    exit.value as f64 * 8.0 / min_rtt_s / payload_bps
}

#[test]
fn the_rate_estimate_on_an_idle_path_is_within_5_percent() {
    for (mbps, rtt_ms) in [(20, 40), (50, 100), (250, 16), (250, 100)] {
        for ack_every in [1, 2] {
            let share = shown(&scenario(mbps, rtt_ms, ack_every, ""), mbps, 1);
            assert!((share - 1.0).abs() < 0.05, "{mbps} Mbps, {rtt_ms} ms: {share}");
        }
    }
}

fn datagrams(mbps: u64) -> String {
    format!(
        r#"[[flow]]
name = "datagrams"
from = "s1"
to = "d1"
traffic = {{ kind = "cbr", transport = "udp", rate = "{mbps}Mbps", packet = "1460B" }}
"#
    )
}

const BULK: &str = r#"[[flow]]
name = "bulk"
from = "s1"
to = "d1"
algorithm = "reno"
"#;

/// A train that arrives at the bottleneck with the rate r, in competition with other traffic of the rate x,
/// leaves it with the rate r / (r + x). Both are shares of the bottleneck's rate. In slow start each train
/// arrives with twice the rate with which the train before it left. The fixed point is 1 - x/2, so that half
/// of the other traffic counts as free.
#[test]
fn the_rate_estimate_with_other_traffic_exceeds_the_free_rate() {
    let mean = |others: &str| {
        let scenario = scenario(50, 40, 1, others);
        (1..=10).map(|seed| shown(&scenario, 50, seed)).sum::<f64>() / 10.0
    };
    // Datagrams of 10 to 37 Mbps of payload; ten starts.
    for mbps in [10, 20, 25, 30, 37] {
        let x = mbps as f64 / 50.0 * 1488.0 / 1460.0;
        let (share, expected) = (mean(&datagrams(mbps)), 1.0 - x / 2.0);
        assert!((share / expected - 1.0).abs() < 0.08, "{mbps} Mbps: {share}, not {expected}");
        assert!(share > 1.0 - x, "{mbps} Mbps: {share}");
    }
    // A bulk flow uses the whole rate, but the estimate is more than half of the rate.
    let share = mean(BULK);
    assert!((0.5..0.8).contains(&share), "{share}");
}
