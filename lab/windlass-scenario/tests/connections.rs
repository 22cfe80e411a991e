//! Connections of device traffic: `connect`, `reconnect`, `dialogue` and `[[outage]]`.

use std::time::Instant;

use windlass_scenario::{Scenario, compile};
use windlass_sim::results::ConnectionsResult;
use windlass_sim::{RunResult, Simulation};

use crate::errors::GOOD;

fn scenario(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn run_with(scenario: &Scenario, seed: u64) -> RunResult {
    let config = compile::compile(scenario, seed).expect("a configuration");
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

fn totals(result: &RunResult) -> &ConnectionsResult {
    result.connections.as_ref().expect("successive connections")
}

/// The lines of [`GOOD`] with messages and these keys in the flow.
fn with(keys: &str) -> String {
    format!("{GOOD}traffic = {{ kind = \"messages\", every = \"1s\", size = \"100B\" }}\n{keys}\n")
}

#[test]
fn each_mistake_has_one_located_error() {
    let wait = |keys: &str| format!("reconnect = {{ {keys} }}");
    let talk = |part: &str, steps: &str| format!("dialogue = {{ {part} = [{steps}] }}");
    let mut wrong = Vec::new();
    for (keys, wanted) in [
        (
            wait("after = \"-1s\""),
            "s.toml:13:23: `after`: `-1s` is negative; write a time such as `30ms`, `1.5s`, `100us` or `2min`",
        ),
        (
            wait("backoff = -2"),
            "s.toml:13:25: `backoff`: must be from 1 to 100, with at most three decimals: waits do not shrink",
        ),
        (
            wait("backoff = 0.5"),
            "s.toml:13:25: `backoff`: must be from 1 to 100, with at most three decimals: waits do not shrink",
        ),
        (
            wait("after = \"10s\", most = \"5s\""),
            "s.toml:13:37: `most`: the longest wait, 5s, is below the first, 10s",
        ),
        (
            wait("preset = \"paho\", after = \"200s\""),
            "s.toml:13:40: `most`: the longest wait, 120s, is below the first, 200s",
        ),
        (
            wait("jitter = \"ful\""),
            "s.toml:13:24: `jitter`: unknown value `ful`; did you mean `full`?",
        ),
        (wait("jitter = \"120%\""), "s.toml:13:24: `jitter`: `120%` is more than 100 %"),
        (wait("retries = 1"), "s.toml:13:15: unknown key `retries` in `reconnect`"),
        (
            "reconnect = \"pahoo\"".to_owned(),
            "s.toml:13:13: `reconnect`: unknown value `pahoo`; did you mean `paho`?",
        ),
        (
            "connect = \"always\"".to_owned(),
            "s.toml:13:11: `connect`: unknown value `always`; `connect` is one of `once`, `per-message`",
        ),
        (
            talk("message", "{ receive = \"4B\" }"),
            "s.toml:13:25: `message`: the end that connects writes first; begin with `{ send = \"37B\" }`",
        ),
        (
            talk("connection", "\"tls-1.3\", { receive = \"4B\" }"),
            "s.toml:13:39: `connection`: the end that connects writes first; begin with `{ send = \"37B\" }`",
        ),
        (
            talk("connection", "{ send = \"2GiB\" }"),
            "s.toml:13:37: `send`: 2GiB is outside the range from 1B to 1GiB",
        ),
        (
            talk("connection", "{ send = \"0B\" }"),
            "s.toml:13:37: `send`: 0B is outside the range from 1B to 1GiB",
        ),
        (
            talk("connection", "{ think = \"1s\" }"),
            "s.toml:13:28: `connection`: a step needs `send`, `receive` or `message = true`",
        ),
        (
            talk(
                "message",
                "{ send = \"1B\", think = \"50s\" }, { receive = \"4B\", think = \"50s\" }",
            ),
            "s.toml:13:24: `message`: its `think` times are 100s, so that it has no end in a run of",
        ),
        (
            talk("connection", "{ send = \"1B\", receive = \"1B\" }"),
            "s.toml:13:28: `connection`: a step has either `send` or `receive`",
        ),
        (
            talk("connection", "{ send = \"1B\", message = true }"),
            "s.toml:13:53: `message`: belongs to the dialogue of a message, in `dialogue.message`",
        ),
        (
            talk("message", "\"mqtt-publish-qos1\", { message = true }"),
            "s.toml:13:46: `message`: the message is in one step only",
        ),
        (talk("message", "\"tls-1.3\""), "s.toml:13:25: `message`: unknown value `tls-1.3`"),
        (
            "connect = \"per-message\"\nread = { kind = \"rate\", rate = \"1kbps\" }".to_owned(),
            "s.toml:13:11: `connect`: needs ends that read immediately; leave out `read`",
        ),
    ] {
        let text = with(&keys);
        let error = Scenario::from_str(&text, "s.toml").expect_err(&keys).to_string();
        if !error.starts_with(wanted) {
            wrong.push(format!("{keys}\n{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_messages_and_requests_over_tcp_have_these_keys() {
    for traffic in [
        "traffic = { kind = \"bulk\", bytes = \"1kB\" }",
        "traffic = { kind = \"cbr\", rate = \"1kbps\", packet = \"100B\" }",
        "",
    ] {
        let text = format!("{GOOD}reconnect = \"paho\"\n{traffic}\n");
        let error = Scenario::from_str(&text, "s.toml").expect_err(traffic).to_string();
        let wanted = "s.toml:12:13: `reconnect`: needs traffic of the kind `messages` or `request-response` over TCP";
        assert!(error.starts_with(wanted), "{error}");
    }
    let udp =
        "traffic = { kind = \"coap\", every = \"1s\", size = \"10B\" }\nreconnect = \"paho\"\n";
    let text = format!("{}{udp}", GOOD.replace("algorithm = \"reno\"\n", ""));
    let error = Scenario::from_str(&text, "s.toml").expect_err("datagrams").to_string();
    assert!(error.contains("`reconnect`: needs traffic of the kind `messages`"), "{error}");
}

#[test]
fn an_outage_of_a_node_that_cannot_reboot_is_one_located_error() {
    let outage = |keys: &str| format!("[[outage]]\n{keys}\n");
    let bulk = |keys: &str| format!("{GOOD}{}", outage(keys));
    for (text, wanted) in [
        (
            bulk("nodes = [\"sever\"]\nat = \"1s\"\nlasts = \"1s\""),
            "s.toml:13:10: `nodes`: no link mentions a node `sever`; did you mean `server`?",
        ),
        (
            bulk("nodes = []\nat = \"1s\"\nlasts = \"1s\""),
            "s.toml:13:9: `nodes`: needs at least one node",
        ),
        (
            bulk("nodes = [\"server\"]\nat = \"100s\"\nlasts = \"1s\""),
            "s.toml:14:6: `at`: the outage begins at 100s, when the run has ended (100s)",
        ),
        (
            bulk("nodes = [\"server\"]\nat = \"1s\"\nlasts = \"0s\""),
            "s.toml:15:9: `lasts`: must be longer than zero",
        ),
        (
            bulk("nodes = [\"server\"]\nat = \"1s\"\nlasts = \"1s\"\nreboot = true"),
            "s.toml:16:10: `reboot`: flow `server-client` ends at `server`; only `messages` and `request-response`",
        ),
        (
            bulk(
                "nodes = [\"server\"]\nat = \"1s\"\nlasts = \"9s\"\n[[outage]]\nnodes = [\"server\"]\nat = \"5s\"\nlasts = \"1s\"",
            ),
            "s.toml:17:9: an outage of the same node lasts from 1s to 10s",
        ),
    ] {
        let error = Scenario::from_str(&text, "s.toml").expect_err(wanted).to_string();
        assert!(error.starts_with(wanted), "{error}");
    }
}

#[test]
fn the_stored_form_reads_back_and_defaults_change_no_hash() {
    let keys = "connect = \"per-message\"\n\
        reconnect = { preset = \"azure-iot-operations\", timeout = \"30s\", queue = 5, stored = true }\n\
        dialogue = { connection = [\"tls-1.3-mutual\", { send = \"10B\" }, { receive = \"4B\", think = \"5ms\" }], message = [{ send = \"2B\", message = true }, { receive = \"4B\" }] }\n\
        [[outage]]\nnodes = [\"client\"]\nat = \"10s\"\nlasts = \"5s\"\nreboot = true";
    let read = scenario(&with(keys));
    let stored = read.resolved_toml();
    assert_eq!(Scenario::from_str(&stored, "stored.toml").expect("readable"), read, "{stored}");
    let plain = scenario(&with(""));
    assert_ne!(read.hash(), plain.hash());
    assert_eq!(scenario(&with("connect = \"once\"")).hash(), plain.hash());
    let named = scenario(&with("reconnect = \"paho\""));
    let in_full = "reconnect = { after = \"1s\", most = \"2min\", backoff = 2, jitter = \"none\" }";
    assert_eq!(named, scenario(&with(in_full)));
}

/// A request of 100 B over DTLS each 10 s: the server's acknowledgement and its answers are not the client's.
#[test]
fn dtls_adds_its_flights_and_records_and_its_mistakes_are_located() {
    let coap = |more: &str| {
        format!(
            "duration = \"65s\"\n[[link]]\nname = \"air\"\nbetween = [\"meter\", \"server\"]\nrate = \"1Mbps\"\n\
             [[flow]]\nname = \"report\"\nfrom = \"meter\"\nto = \"server\"\n\
             traffic = {{ kind = \"coap\", every = \"10s\", gaps = \"constant\", size = \"100B\"{more} }}\n"
        )
    };
    let bytes = |more: &str| {
        let read = scenario(&coap(more));
        let stored = read.resolved_toml();
        assert_eq!(Scenario::from_str(&stored, "stored.toml").expect("readable"), read, "{stored}");
        run_with(&read, 1).links[0].bytes
    };
    let plain = bytes("");
    assert_eq!(plain, 6 * 145);
    let once = ", security = \"DTLS-1.3-psk-cid\"";
    assert_eq!(bytes(once), plain + 6 * 12 + (136 + 28) + (56 + 28));
    let each = ", security = \"dtls-1.3-psk-cid\", handshake = \"per-request\"";
    assert_eq!(bytes(each), plain + 6 * (12 + (136 + 28) + (56 + 28)));
    for (more, wanted) in [
        (", security = \"tls-1.3\"", "`security`: unknown value `tls-1.3`"),
        (
            ", handshake = \"once\"",
            "`handshake`: needs a `security` layer, such as `\"dtls-1.3-psk-cid\"`",
        ),
        (
            ", security = \"dtls-1.3-rpk\", handshake = \"per-request\", nstart = 2",
            "`nstart`: must be 1 with a handshake for each request",
        ),
    ] {
        let error = Scenario::from_str(&coap(more), "s.toml").expect_err(wanted).to_string();
        assert!(error.starts_with("s.toml:10:") && error.contains(wanted), "{error}");
    }
    let lora = coap(once)
        .replace("rate = \"1Mbps\"", "radio = \"lorawan-sf12\"")
        .replace("100B", "20B")
        .replace("10s", "1h");
    let error = Scenario::from_str(&lora, "s.toml").expect_err("small packets").to_string();
    let wanted = "`security`: 153B and 28B of headers exceed the MTU of 79B";
    assert!(error.contains(wanted) && error.contains("choose one with smaller flights"), "{error}");
}

/// The bytes of TLS are added to each later record, and so to the records of MQTT.
#[test]
fn a_security_layer_adds_its_bytes_to_later_records() {
    let opening = |connection: &str| {
        let keys =
            format!("connect = \"per-message\"\ndialogue = {{ connection = [{connection}] }}");
        let result = run_with(&scenario(&with(&keys)), 1);
        let totals = totals(&result);
        assert_eq!(totals.opened, totals.ready);
        (totals.opening_bytes / totals.opened, totals.opening_bytes % totals.opened)
    };
    assert_eq!(opening("\"mqtt-connect\""), (37 + 4, 0));
    assert_eq!(opening("\"tls-1.3\", \"mqtt-connect\""), (2_078 + 37 + 4 + 2 * 22, 0));
    assert_eq!(opening("\"tls-1.3-psk\", \"mqtt-connect\""), (280 + 37 + 4 + 2 * 14, 0));
}

/// An outage without a reboot takes the links of the node down, and nothing else.
#[test]
fn an_outage_without_a_reboot_equals_links_that_are_down() {
    let outage = with("[[outage]]\nnodes = [\"client\"]\nat = \"30s\"\nlasts = \"10s\"");
    let down =
        with("").replace("delay = \"20ms\"", "delay = \"20ms\"\ndown = [[\"30s\", \"40s\"]]");
    let [outage, down] = [outage, down].map(|text| run_with(&scenario(&text), 3));
    assert_eq!(outage, down);
    assert!(outage.links[0].drops_error > 0);
}

/// A meter whose gateway is unreachable for half an hour. Without `reconnect` its connection dies,
/// and no later message arrives. With it, all messages arrive.
#[test]
fn a_meter_continues_after_an_outage_that_kills_its_connection() {
    const METER: &str = r#"
        duration = "24h"
        [[link]]
        name = "air"
        between = ["meter", "gateway"]
        rate = "60kbps"
        delay = "750ms"
        down = [["120min", "150min"]]
        [[flow]]
        name = "readings"
        from = "meter"
        to = "gateway"
        algorithm = "newreno"
        traffic = { kind = "messages", every = "15min", gaps = "constant", size = "400B", deadline = "1h" }
    "#;
    let messages = |keys: &str| {
        let result = run_with(&scenario(&format!("{METER}\n{keys}")), 1);
        let flow = &result.flows[0];
        let messages = flow.messages.as_deref().expect("messages");
        (messages.sent, messages.arrived, flow.failure.clone())
    };
    let (sent, arrived, failure) = messages("connect = \"once\"");
    assert_eq!((sent, arrived), (95, 7));
    let text = "`meter`: data went unacknowledged through all retransmissions";
    assert_eq!(failure.as_deref(), Some(text));
    assert_eq!(messages("reconnect = \"paho\""), (95, 95, None));
}

/// Cases of a new user: a connection per reading, and two thousand meters after a power cut.
const PER_CONNECTION: &str = r#"
duration = "6h"
[[link]]
name = "air"
between = ["meter", "gateway"]
rate = "60kbps"
delay = "750ms"
jitter = { distribution = "exponential", by = "500ms" }
queue = "20pkt"
loss = { model = "drop", probability = "2.08%", direction = "both" }
[[flow]]
name = "reading"
from = "meter"
to = "gateway"
algorithm = "newreno"
connect = "per-message"
traffic = { kind = "messages", every = "15min", gaps = "constant", size = "1000B", deadline = "5min" }
"#;

#[test]
fn a_meter_that_connects_for_each_reading_delivers_all_of_them() {
    let result = run_with(&scenario(PER_CONNECTION), 1);
    let (messages, totals) = (result.messages.expect("messages"), totals(&result));
    assert_eq!((messages.sent, messages.arrived, totals.opened, totals.failed), (23, 23, 23, 0));
    // A connection needs at least a round trip of 1.5 s and half of one.
    assert!(messages.p50_ms.is_some_and(|ms| (2_250.0..6_000.0).contains(&ms)), "{messages:?}");
}

#[test]
fn two_thousand_meters_deliver_stored_messages_after_a_power_cut() {
    let storm = r#"
duration = "30min"
[topology]
kind = "star"
count = 2000
access = { rate = "60kbps", delay = "700ms", queue = "10pkt", loss = { model = "gilbert-elliott", mean_good = "15s", mean_bad = "320ms", direction = "both" } }
bottleneck = { rate = "500kbps", delay = "50ms", queue = "100pkt" }
[[flow]]
name = "meter"
from = "s*"
to = "server"
algorithm = "newreno"
jitter = "1min"
traffic = { kind = "messages", every = "10min", gaps = "constant", size = "1600B", deadline = "30min" }
reconnect = { preset = "paho", spread = "10s", stored = true }
[[outage]]
nodes = ["s*"]
at = "10min"
lasts = "2min"
reboot = true
"#;
    let began = Instant::now();
    let result = run_with(&scenario(storm), 1);
    let (messages, totals) = (result.messages.expect("messages"), totals(&result));
    assert_eq!((totals.power_cuts, totals.reconnections, totals.unfinished), (2_000, 2_000, 0));
    assert!(totals.lost == 0 && messages.undelivered == 0, "{totals:?} {messages:?}");
    // The star stands for a number, so that the server keeps its links.
    let mut shared = result.links.iter().filter(|link| link.name.starts_with("bottleneck"));
    assert!(shared.all(|link| link.drops_error == 0));
    assert!(totals.p50_ms < totals.p95_ms && totals.p95_ms < Some(1e6), "{totals:?}");
    assert!(began.elapsed().as_secs() < 120, "{:?}", began.elapsed());
}

/// The shipped storm: a longer spread takes the load from the bottleneck, at the price of the wait.
#[test]
fn the_storm_of_the_scenario_has_fewer_failures_with_a_longer_spread() {
    let path = format!("{}/../../scenarios/reconnection-storm.toml", env!("CARGO_MANIFEST_DIR"));
    let of = |spread: &str| {
        let set = [
            ("flow.meter.reconnect.spread".to_owned(), spread.to_owned()),
            ("topology.count".to_owned(), "600".to_owned()),
            ("topology.bottleneck.rate".to_owned(), "150kbps".to_owned()),
        ];
        let scenario = Scenario::from_file_with(&path, &set).unwrap_or_else(|e| panic!("{e}"));
        let result = run_with(&scenario, 1);
        let totals = totals(&result).clone();
        assert!(totals.power_cuts > 400, "{totals:?}");
        totals
    };
    let [short, long] = [of("0s"), of("10min")];
    assert!(long.failed < short.failed, "{long:?} {short:?}");
    assert!(long.p50_ms > short.p50_ms, "{long:?} {short:?}");
}
