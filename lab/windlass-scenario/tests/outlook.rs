//! The summary and the warnings of a scenario, compared with figures computed by hand.

use windlass_cc::Span;
use windlass_scenario::Scenario;
use windlass_scenario::outlook::{Queue, paths, text, warnings};

const DUMBBELL: &str = r#"
duration = "60s"
[topology]
kind = "dumbbell"
pairs = 3
access = { rate = "10Mbps", delay = "1ms" }
bottleneck = { rate = "10Mbps", delay = "20ms", queue = "1bdp" }
[[flow]]
name = "reno"
from = "s*"
to = "d*"
algorithm = "reno"
stagger = "1s"
"#;

const SENSOR: &str = r#"
duration = "60s"
[[link]]
name = "radio"
between = ["sensor", "gateway"]
rate = "100kbps"
delay = "5ms"
queue = "unlimited"
framing = "ppp"
[[flow]]
from = "sensor"
to = "gateway"
traffic = { kind = "cbr", rate = "8kbps", packet = "98B", transport = "udp" }
"#;

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").expect("a scenario")
}

#[test]
fn among_links_of_one_rate_the_shared_one_is_the_bottleneck() {
    let paths = paths(&read(DUMBBELL)).expect("paths");
    assert_eq!(paths.len(), 3);
    let first = &paths[0];
    assert_eq!(first.nodes, ["s1", "r1", "r2", "d1"]);
    assert_eq!((first.bottleneck.as_str(), first.rate_bps), ("bottleneck:r1>r2", 10_000_000));
    assert_eq!(first.base_rtt, Span::from_millis(44));
    // 10 Mbit/s for 44 ms; a queue of as much holds 36 packets of 1500 B, each 1.2 ms long.
    assert_eq!(first.bdp_bytes, 55_000);
    let queue = Queue { packets: 36, bytes: 55_000, drain: Span::from_micros(43_200) };
    assert_eq!(first.queue, Some(queue));
    // Three hops of 1500 B there and of 40 B with 12 B of timestamps back: 1.2 ms and 41.6 us each.
    assert_eq!(first.idle_time, Span::from_micros(44_000 + 3 * 1_200) + Span(3 * 41_600));
    assert_eq!(first.window_bytes, Some(4 << 20));
    let shown = text(&paths);
    assert_eq!(shown.matches("flow ").count(), 1, "{shown}");
    assert!(shown.starts_with("flow reno-1 (reno): s1 > r1 > r2 > d1, and 2 more like it\n"));
}

#[test]
fn without_window_scaling_the_window_ends_at_65535_bytes() {
    let set = [("stack.window_scaling".to_owned(), "false".to_owned())];
    let scenario = Scenario::with_overrides(DUMBBELL, "s.toml", &set).expect("a scenario");
    assert_eq!(paths(&scenario).expect("paths")[0].window_bytes, Some(65_535));
}

/// 45 bytes of headers before a request's payload, 36 of an answer without one; each frame has 2 more.
#[test]
fn the_response_of_coap_acknowledges_the_request() {
    let udp = "kind = \"cbr\", rate = \"8kbps\", packet = \"98B\", transport = \"udp\"";
    let text = SENSOR.replace(udp, "kind = \"coap\", every = \"10s\", size = \"127B\"");
    let path = &paths(&read(&text)).expect("paths")[0];
    assert_eq!((path.packet_bytes, path.window_bytes), (172, None));
    let frames = |bytes: u64| bytes * 8 * 10_000;
    assert_eq!(path.idle_time, Span(10_000_000 + frames(172 + 2) + frames(36 + 2)));
}

#[test]
fn a_datagram_has_neither_window_nor_acknowledgement() {
    let paths = paths(&read(SENSOR)).expect("paths");
    let path = &paths[0];
    assert_eq!((path.packet_bytes, path.window_bytes, path.queue), (126, None, None));
    // 126 B and 2 B of framing at 100 kbit/s are 10.24 ms.
    assert_eq!(path.idle_time, Span::from_micros(15_240));
    assert!(text(&paths).contains("over idle links a packet takes 15.240 ms"));
    assert_eq!(
        warnings(&read(SENSOR)).expect("warnings"),
        ["link radio has an unlimited queue, which never overflows"]
    );
}

#[test]
fn staggered_flows_share_one_warning() {
    assert_eq!(warnings(&read(DUMBBELL)).expect("warnings"), [""; 0]);
    let short = read(&DUMBBELL.replace("60s", "4s"));
    assert_eq!(
        warnings(&short).expect("warnings"),
        ["each of 3 flows, reno-1 to reno-3: it lasts less than 100 round trips of 44ms, so that \
          its beginning dominates its averages"]
    );
}

const SLOW: &str = r#"
    duration = "3600s"
    [[link]]
    between = ["meter", "server"]
    rate = "60kbps"
    delay = "2s"
    [[flow]]
    name = "m"
    from = "meter"
    to = "server"
    TRAFFIC
"#;

#[test]
fn tcp_and_coap_warn_of_an_initial_timeout_below_the_rtt() {
    let said = |traffic: &str| {
        let all = warnings(&read(&SLOW.replace("TRAFFIC", traffic))).expect("warnings");
        all.into_iter().filter(|w| w.contains("initial timeout")).collect::<Vec<_>>()
    };
    let messages = "traffic = { kind = \"messages\", every = \"600s\", size = \"200B\" }";
    let tcp = format!("algorithm = \"newreno\"\n{messages}");
    let [one] = &said(&tcp)[..] else { panic!("one warning") };
    assert!(
        one.starts_with("flow m: its initial timeout of 1s is below the RTT of 4011ms"),
        "{one}"
    );
    assert!(one.contains("initial = \"9s\""), "{one}");
    assert_eq!(said(&format!("{tcp}\nstack = {{ rto = {{ initial = \"5s\" }} }}")), [""; 0]);
    let coap = "traffic = { kind = \"coap\", every = \"60s\", size = \"40B\" }";
    let [one] = &said(coap)[..] else { panic!("one warning") };
    assert!(one.contains("timeout of 2s") && one.contains("requests are retransmitted"), "{one}");
    assert_eq!(said(&coap.replace(" }", ", confirmable = false }")), [""; 0]);
    assert_eq!(said(&coap.replace(" }", ", rto = { initial = \"9s\" } }")), [""; 0]);
}

#[test]
fn bursts_by_packet_are_noted_where_packets_are_far_apart() {
    let said = |loss: &str, flow: &str| {
        let lossy = SLOW.replace(
            "delay = \"2s\"",
            &format!("delay = \"20ms\"\nloss = {{ model = \"gilbert-elliott\", {loss} }}"),
        );
        let all = warnings(&read(&lossy.replace("TRAFFIC", flow))).expect("warnings");
        all.into_iter().filter(|w| w.contains("bursts")).collect::<Vec<_>>()
    };
    let by_packet = "good_to_bad = \"0.7%\", bad_to_good = \"50%\"";
    let coap = "traffic = { kind = \"coap\", every = \"900s\", size = \"40B\" }";
    let [one] = &said(by_packet, coap)[..] else { panic!("one warning") };
    assert!(
        one.starts_with("link meter-server: its loss bursts advance with each packet"),
        "{one}"
    );
    assert!(one.contains("900s apart") && one.contains("2.0 packets lasts for 1800s"), "{one}");
    assert_eq!(said("mean_good = \"15s\", mean_bad = \"400ms\"", coap), [""; 0]);
    assert_eq!(said(by_packet, &coap.replace("900s", "100ms")), [""; 0]);
    assert_eq!(said(by_packet, "algorithm = \"cubic\""), [""; 0]);
    let short = "algorithm = \"cubic\"\ntraffic = { kind = \"bulk\", bytes = \"1000B\" }";
    assert_eq!(said(by_packet, short).len(), 1);
}
