//! Flows of quinn in scenarios, next to flows of TCP.

use std::process::{Command, Output};

use windlass_quic::flows;
use windlass_run::simulate;
use windlass_scenario::Scenario;
use windlass_sim::{FlowResult, RunResult, Series};

const LINK: &str = "
[[link]]
name = 'bottleneck'
between = ['server', 'client']
rate = '10Mbps'
delay = '20ms'
";

/// A scenario of one link with these further keys, and flows with these algorithms and further keys.
fn text(seconds: u32, link: &str, flows: &[(&str, &str)]) -> String {
    let flow = |(algorithm, keys): &(&str, &str)| {
        format!("[[flow]]\nfrom = 'server'\nto = 'client'\nalgorithm = '{algorithm}'\n{keys}\n")
    };
    let flows: String = flows.iter().map(flow).collect();
    let queue = if link.contains("queue") { "" } else { "queue = '1bdp'" };
    format!("duration = '{seconds}s'\n{LINK}{queue}\n{link}\n{flows}")
}

fn read(text: &str) -> Result<Scenario, String> {
    flows::register();
    Scenario::from_str(text, "s.toml").map_err(|e| e.to_string())
}

fn run(text: &str, seed: u64) -> RunResult {
    let scenario = read(text).unwrap_or_else(|e| panic!("{e}"));
    simulate(&scenario, seed).unwrap_or_else(|e| panic!("{e}"))
}

fn mbps(flow: &FlowResult) -> f64 {
    flow.goodput_bps / 1e6
}

#[test]
fn a_quic_flow_alone_fills_the_link() {
    for algorithm in ["quinn:cubic", "quinn:bbr3", "quinn:own-cubic", "quinn:own-newreno"] {
        let result = run(&text(60, "", &[(algorithm, "")]), 1);
        let flow = &result.flows[0];
        assert_eq!(flow.algorithm, algorithm);
        // Headers and acknowledgements of full packets take 4 % of the link.
        assert!((9.0..9.7).contains(&mbps(flow)), "{algorithm}: {flow:?}");
        let [least, srtt] = [flow.min_rtt_ms, flow.srtt_ms].map(|ms| ms.expect("samples"));
        assert!((40.0..43.0).contains(&least) && (least..90.0).contains(&srtt), "{flow:?}");
        assert_eq!((flow.uncounted, flow.failure.as_deref()), (true, None));
    }
}

#[test]
fn quic_and_tcp_with_cubic_share_a_bottleneck() {
    let flows = [("quinn:cubic", "jitter = '1s'"), ("cubic", "jitter = '1s'")];
    let text = text(100, "", &flows);
    let (mut quic, mut tcp) = (0.0, 0.0);
    for seed in 1..=10 {
        let result = run(&text, seed);
        quic += mbps(&result.flows[0]) / 10.0;
        tcp += mbps(&result.flows[1]) / 10.0;
    }
    assert!(quic + tcp > 9.0, "{quic} and {tcp}");
    assert!((0.5..2.0).contains(&(quic / tcp)), "{quic} and {tcp}");
}

#[test]
fn random_losses_reduce_the_goodput_and_are_repaired() {
    let goodput = |probability: &str| {
        let loss = format!("loss = {{ model = 'drop', probability = '{probability}' }}");
        let result = run(&text(60, &loss, &[("quinn:newreno", "")]), 1);
        let flow = &result.flows[0];
        let dropped = flow.loss_rate * flow.packets_sent as f64;
        let repaired = flow.retransmits as f64 / dropped;
        assert!((0.9..1.1).contains(&repaired), "{flow:?}");
        mbps(flow)
    };
    let [some, more] = ["1%", "4%"].map(goodput);
    assert!(some < 6.0 && more < 0.7 * some, "{some} and {more}");
    assert!(more > 0.3, "{more}");
}

#[test]
fn a_finite_transfer_starts_at_its_time_and_completes() {
    let keys = "start = '5s'\ntraffic = { kind = 'bulk', bytes = '2MB' }";
    let result = run(&text(60, "", &[("quinn:cubic", keys)]), 1);
    let flow = &result.flows[0];
    assert_eq!(flow.delivered_bytes, 2_000_000);
    let took = flow.completion_s.expect("it completes");
    // 1.6 s at the rate of the link, the handshake and slow start.
    assert!((1.6..3.0).contains(&took), "{took}");
    assert_eq!(flow.active_s, took);
    // Every packet has reached the client or was dropped; the rest of the run is silent.
    let link = &result.links[0];
    assert_eq!(link.delivered + link.drops_queue + link.drops_error, flow.packets_sent, "{link:?}");
    assert!(result.links[1].delivered == flow.peer_packets_sent && flow.peer_packets_sent > 100);
}

#[test]
fn a_broken_connection_is_a_failure_with_its_reason() {
    let down = "down = [['10s', '60s']]";
    let result = run(&text(60, down, &[("quinn:cubic", "")]), 1);
    let failure = result.flows[0].failure.as_deref().expect("no answer for 30 s");
    assert_eq!(failure, "`server`: timed out");
}

#[test]
fn marks_of_a_queue_reduce_the_window_in_place_of_losses() {
    let with = |ecn: &str| {
        let queue = format!("queue = {{ discipline = 'codel', ecn = {ecn} }}");
        run(&text(60, &queue, &[("quinn:cubic", "")]), 1)
    };
    let (marking, dropping) = (with("true"), with("false"));
    assert!(dropping.flows[0].retransmits > 10, "{:?}", dropping.flows[0]);
    assert!(marking.flows[0].retransmits < 5, "{:?}", marking.flows[0]);
    assert!(marking.links[0].marks > 10, "{:?}", marking.links[0]);
    let [marked, dropped] = [&marking, &dropping].map(|result| result.flows[0].srtt_ms.unwrap());
    assert!(marked < 60.0 && dropped < 60.0, "the queue is short: {marked} and {dropped} ms");
}

#[test]
fn series_and_timelines_include_a_quic_flow() {
    let record = "[record]\nseries = ['cwnd_bytes', 'srtt_ns', 'delivered_bytes']\nbins = '1s'\n";
    let result = run(&format!("{}{record}", text(20, "", &[("quinn:cubic", "")])), 1);
    for series in [Series::Cwnd, Series::Srtt, Series::Delivered] {
        let count = result.samples.iter().filter(|sample| sample.series == series).count();
        assert!(count > 100, "{series:?}: {count}");
    }
    let flow = &result.timeline.expect("bins").flows[0];
    let delivered: u64 = flow.delivered_bytes.iter().sum();
    assert_eq!(delivered, result.flows[0].delivered_bytes);
    assert!(flow.cwnd_bytes.iter().all(|cwnd| *cwnd > 10_000), "{:?}", flow.cwnd_bytes);
}

#[test]
fn a_resolved_scenario_has_the_library_with_its_version_and_the_same_hash() {
    let keys = "params = { fast_convergence = false }\nslow_start = 'hystart++'";
    let flows = [("reno", "stack = { preset = 'linux' }"), ("quinn:cubic", keys)];
    let scenario = read(&text(10, "", &flows)).unwrap();
    let resolved = scenario.resolved_toml();
    assert!(resolved.contains("algorithm = \"quinn:cubic@0.11."), "{resolved}");
    let again = read(&resolved).unwrap();
    assert_eq!((again.hash(), &again.flows[1]), (scenario.hash(), &scenario.flows[1]));
    let own = read(&text(10, "", &[("quinn:own-cubic", "")])).unwrap();
    assert_eq!(read(&own.resolved_toml()).unwrap().flows, own.flows);
    let other = read(&text(10, "", &[("quinn:cubic", "")])).unwrap();
    assert_ne!(own.hash(), other.hash());
}

#[test]
fn a_flow_that_does_not_suit_quic_is_refused_at_its_place() {
    let subflows = "multipath = { subflows = [{ name = 'a' }] }";
    for (algorithm, keys, says) in [
        ("quinn:cubik", "", "s.toml:13:13: `algorithm`: unknown value `cubik`"),
        ("quinn:own-bbr", "", "no such controller here; expected `own-cubic`, `own-newreno`"),
        ("quinn:cubic@0.1.0", "", "this program has quinn 0.11."),
        ("quinn:dctcp", "", "13:13: `algorithm`: `dctcp` needs the exact number of marked bytes"),
        (
            "quinn:cubic",
            "traffic = { kind = 'messages', every = '1s', size = '1kB' }",
            "14:11: `traffic`: a flow of quinn has traffic of the kind `bulk`",
        ),
        ("quinn:cubic", "read = { kind = 'rate', rate = '1Mbps' }", "14:8: `read`: is for TCP"),
        ("quinn:cubic", "stack = { preset = 'linux' }", "14:9: `stack`: is for TCP"),
        ("quinn:cubic", subflows, "14:13: `multipath`: is for TCP"),
        ("quinn:own-cubic", "params = { keep = 0.8 }", "`params`: is for Windlass's algorithms"),
        ("quinn:own-cubic", "slow_start = 'hystart'", "`slow_start`: is for Windlass's"),
        (
            "quinn:cubic",
            "slow_start = 'quick-start'",
            "asks routers for a rate by an option of TCP",
        ),
    ] {
        let wrong = read(&text(10, "", &[(algorithm, keys)])).unwrap_err();
        assert!(wrong.contains(says), "{wrong}\nlacks\n{says}");
    }
    let small = read(&text(10, "mtu = '576B'", &[("quinn:cubic", "")])).unwrap_err();
    assert!(small.contains("QUIC needs packets of 1228 bytes"), "{small}");
}

/// Runs the program on a scenario.
fn program(scenario: &str, words: &[&str]) -> Output {
    let folder = std::env::temp_dir().join(format!("windlass-quic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{}.toml", words.concat()));
    std::fs::write(&file, scenario).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-quic"));
    let output = command.arg(words[0]).arg(&file).args(&words[1..]).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    output
}

/// Standard output of a command that succeeds.
fn printed(scenario: &str, words: &[&str]) -> String {
    let output = program(scenario, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn two_runs_of_the_program_have_equal_bytes_and_other_seeds_differ() {
    let loss = "loss = { model = 'drop', probability = '0.5%' }";
    let flows = [("quinn:cubic", ""), ("quinn:own-cubic", ""), ("cubic", "")];
    let text = text(20, loss, &flows);
    let [one, same, other] =
        ["1", "1", "2"].map(|seed| printed(&text, &["run", "--json", "--seed", seed]));
    assert_eq!(one, same);
    let goodputs = |json: &str| -> Vec<String> {
        json.lines().filter(|line| line.contains("goodput_bps")).map(str::to_owned).collect()
    };
    assert_eq!(goodputs(&one).len(), 3, "{one}");
    assert!(goodputs(&one).iter().zip(&goodputs(&other)).all(|(one, other)| one != other));
}

#[test]
fn the_program_compares_quic_and_tcp_and_leaves_unknown_counts_empty() {
    let loss = "loss = { model = 'drop', probability = '0.5%' }";
    let scenario = text(10, loss, &[("quinn:cubic", ""), ("cubic", "")]);
    let table = printed(&scenario, &["run", "--csv"]);
    let mut rows = table.lines().filter(|line| !line.starts_with('#'));
    let heads: Vec<&str> = rows.next().unwrap().split(',').collect();
    let at =
        heads.iter().position(|head| *head == "rto_count").unwrap_or_else(|| panic!("{heads:?}"));
    let counts: Vec<&str> = rows.map(|row| row.split(',').nth(at).unwrap()).collect();
    assert_eq!(counts[0], "", "quinn does not count its timeouts: {table}");
    assert!(counts[1].parse::<f64>().is_ok(), "{table}");
    let algorithms =
        ["compare", "--algorithms", "cubic,quinn:cubic,quinn:own-cubic", "--seeds", "3"];
    let ranking = printed(&text(10, loss, &[("cubic", ""), ("cubic", "")]), &algorithms);
    for algorithm in ["quinn:cubic", "quinn:own-cubic"] {
        assert!(ranking.contains(algorithm), "{ranking}");
    }
}
