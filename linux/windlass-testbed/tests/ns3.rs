//! Scenarios on ns-3: the supported and refused settings, and the agreement with the simulator.

use windlass_run::{Backend, Ran, RunError, World, simulate};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;
use windlass_testbed::Ns3;

const WIRE: &str = r#"
duration = "30s"
[stack]
preset = "ns3"
mss = "1460B"
receive_buffer = "1MiB"
send_buffer = "1MiB"
[[link]]
name = "wire"
between = ["s", "d"]
rate = "2Mbps"
delay = "20ms"
queue = "13pkt"
framing = "ppp"
loss = { model = "list", packets = [40, 300, 301] }
[[flow]]
from = "s"
to = "d"
algorithm = "newreno"
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_str(text, "wire.toml").expect(text)
}

fn on_ns3(text: &str) -> RunResult {
    let Ran { result, kernel } = Ns3.run(&scenario(text), 1).expect(text);
    assert!(kernel.is_some_and(|release| release.starts_with("ns-3.44")));
    result
}

fn simulated(text: &str) -> RunResult {
    simulate(&scenario(text), 1).expect(text)
}

/// True if ns-3 is installed, or could be downloaded and built.
fn available() -> bool {
    match Ns3.check() {
        Ok(()) => true,
        Err(why) => {
            windlass_skip::skip(&why);
            false
        }
    }
}

#[test]
fn both_simulators_give_the_same_result() {
    if !available() {
        return;
    }
    let (theirs, ours) = (on_ns3(WIRE), simulated(WIRE));
    let [theirs_flow, our_flow] = [&theirs.flows[0], &ours.flows[0]];
    let ratio = theirs_flow.goodput_bps / our_flow.goodput_bps;
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
    assert_eq!(theirs_flow.min_rtt_ms, Some(40.0), "its timestamps have whole milliseconds");
    for (t, o) in theirs.links.iter().zip(&ours.links) {
        assert_eq!((&t.name, t.drops_error), (&o.name, o.drops_error));
        assert_eq!(t.sent, t.delivered + t.drops + t.inside, "{}", t.name);
        assert!((t.utilisation - o.utilisation).abs() < 0.03, "{}", t.name);
    }
    assert_eq!(theirs.links[0].max_queue_packets, 13, "the queue fills, and holds no more");
    assert_eq!(theirs.links[0].drops, theirs_flow.retransmits, "each loss is retransmitted");
    assert!(theirs.links[0].drops_queue > 0);
}

/// FQ-CoDel above a device with a queue of `device` packets, on a lossless link of 10 Mbit/s.
fn above(device: &str) -> String {
    let queue = "{ discipline = \"fq-codel\", limit = \"10240pkt\", quantum = \"1500B\", ecn = false, device = \"DEVICE\" }";
    WIRE.replace("loss = { model = \"list\", packets = [40, 300, 301] }", "")
        .replace("2Mbps", "10Mbps")
        .replace("\"13pkt\"", &queue.replace("DEVICE", device))
        .replace("\"30s\"", "\"60s\"")
}

#[test]
fn fq_codel_above_a_device_gives_the_same_result() {
    if !available() {
        return;
    }
    // The mean queue follows the sawtooth of one flow; 100 packets take 0.12 s.
    for (device, queue) in [("1pkt", 0.2), ("20pkt", 1.0), ("100pkt", 6.0)] {
        let file = above(device);
        let (theirs, ours) = (on_ns3(&file), simulated(&file));
        let ratio = theirs.flows[0].goodput_bps / ours.flows[0].goodput_bps;
        assert!((0.98..1.02).contains(&ratio), "{device}: {ratio}");
        let (t, o) = (&theirs.links[0], &ours.links[0]);
        assert_eq!(t.sent, t.delivered + t.drops + t.inside, "{device}");
        assert_eq!((t.drops_early, o.drops_early), (t.drops, o.drops), "{device}: CoDel's drops");
        let apart = (t.mean_queue_packets - o.mean_queue_packets).abs();
        assert!(apart < queue, "{device}: {t:?} {o:?}");
        assert!(t.max_queue_packets.abs_diff(o.max_queue_packets) <= 2, "{device}: {t:?} {o:?}");
        assert!(o.drops_queue > 5 && t.drops_queue.abs_diff(o.drops_queue) <= 4, "{t:?} {o:?}");
    }
}

#[test]
fn flows_of_one_node_keep_their_own_algorithms() {
    if !available() {
        return;
    }
    // The first flow sets the node's algorithm, and has nothing to send when the second flow starts.
    let second = |first: &str, second: &str| {
        let brief =
            format!("traffic = {{ kind = \"bulk\", bytes = \"1kB\" }}\nalgorithm = \"{first}\"");
        let file = WIRE.replace("algorithm = \"newreno\"", &brief);
        let flow = format!(
            "[[flow]]\nfrom = \"s\"\nto = \"d\"\nstart = \"1s\"\nalgorithm = \"{second}\"\n"
        );
        let flow = &on_ns3(&format!("{file}{flow}")).flows[1];
        (flow.delivered_bytes, flow.retransmits, flow.srtt_ms)
    };
    assert_eq!(second("newreno", "vegas"), second("vegas", "vegas"));
    assert_ne!(second("newreno", "vegas"), second("newreno", "newreno"));
}

#[test]
fn series_and_completion_times_are_recorded() {
    if !available() {
        return;
    }
    let file = WIRE
        .replace("algorithm", "traffic = { kind = \"bulk\", bytes = \"1MB\" }\nalgorithm")
        + "[record]\nseries = [\"cwnd_bytes\"]\n";
    let result = on_ns3(&file);
    let done = result.flows[0].completion_s.expect("it ends");
    assert!((4.0..10.0).contains(&done), "{done}");
    assert_eq!(result.flows[0].delivered_bytes, 1_000_000);
    let most = result.samples.iter().map(|sample| sample.value).max();
    assert!(most.is_some_and(|cwnd| cwnd >= 20 * 1448), "{most:?}");
}

#[test]
fn unsupported_settings_are_refused_before_ns3_is_built() {
    let cases = [
        ("algorithm = \"newreno\"", "algorithm = \"copa\"", "no algorithm like `copa`"),
        (
            "loss = { model = \"list\", packets = [40, 300, 301] }",
            "loss = { model = \"ber\", rate = 1e-6 }",
            "depend on their size",
        ),
        (
            "queue = \"13pkt\"",
            "queue = { discipline = \"codel\", limit = \"13pkt\" }",
            "a queue drops its tail",
        ),
        (
            "queue = \"13pkt\"",
            "queue = { discipline = \"red\", limit = \"13pkt\", device = \"5pkt\" }",
            "a queue drops its tail",
        ),
        (
            "queue = \"13pkt\"",
            "queue = { discipline = \"threshold\", limit = \"13pkt\", mark = \"5pkt\", probability = \"1%\" }",
            "remove `probability`",
        ),
        ("queue = \"13pkt\"", "down = [[\"1s\", \"2s\"]]", "always up"),
        (
            "algorithm",
            "traffic = { kind = \"cbr\", packet = \"100B\", rate = \"8kbps\" }\nalgorithm",
            "send in bulk",
        ),
        ("algorithm", "read = { kind = \"delayed\", after = \"1s\" }\nalgorithm", "reads at once"),
    ];
    for (from, to, expected) in cases {
        let file = WIRE.replacen(from, to, 1);
        let error = Ns3.differences(&scenario(&file)).expect_err(expected);
        assert!(matches!(error, RunError::Config(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn only_other_presets_have_differences() {
    assert!(Ns3.differences(&scenario(WIRE)).expect("taken").is_empty());
    let linux = Ns3.differences(&scenario(&WIRE.replace("\"ns3\"", "\"linux\""))).expect("taken");
    assert!(linux.iter().any(|note| note.contains("use preset = \"ns3\"")), "{linux:?}");
    assert_eq!(Ns3.world(), World::Ns3);
}
