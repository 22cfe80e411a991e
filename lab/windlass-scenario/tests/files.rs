//! Scenario files: defaults, expansion, overrides, the stored form and its hash.

use windlass_cc::reno::Increase;
use windlass_cc::rto::{self, Rfc6298Params};
use windlass_cc::{ALGORITHMS, AnyParams, Flavour, Ratio, Span};
use windlass_scenario::{LossModel, NO_ALGORITHM, QueueLimit, Read, Scenario, Traffic};
use windlass_sim::Series;
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};
use windlass_tcp::{InitialWindow, StackConfig, stack};

pub(crate) const MINIMAL: &str = r#"
duration = "10s"
[[link]]
between = ["a", "b"]
rate = "1Mbps"
[[flow]]
from = "a"
to = "b"
algorithm = "Reno"
"#;

pub(crate) fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "dir/minimal.toml").unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn set(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Scenario::with_overrides(text, "minimal.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

fn example(name: &str) -> Scenario {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let scenario = Scenario::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scenario.name, name);
    let resolved = scenario.resolved_toml();
    assert_eq!(read(&resolved), scenario, "{resolved}");
    scenario
}

#[test]
fn bdp_means_the_round_trip_that_the_link_names() {
    let named = set(MINIMAL, &[("link.0.bdp_rtt", "80ms"), ("link.0.rate", "10Mbps")]);
    assert_eq!(named.bdp_bytes(), [100_000]);
    assert_eq!(read(&named.resolved_toml()), named);
    assert_ne!(named.hash(), set(MINIMAL, &[("link.0.rate", "10Mbps")]).hash());
}

#[test]
fn a_jitter_puts_off_each_start_by_its_own_share_of_it() {
    let s = set(MINIMAL, &[("flow.0.jitter", "10ms"), ("flow.0.count", "3")]);
    assert_eq!(read(&s.resolved_toml()), s);
    let starts = |seed| {
        let config = windlass_scenario::compile::compile(&s, seed).expect("it compiles");
        config.flows.iter().map(|f| f.start.as_nanos()).collect::<Vec<u64>>()
    };
    let mut seen = Vec::new();
    for seed in 1..=50 {
        assert_eq!(starts(seed), starts(seed));
        seen.extend(starts(seed));
    }
    assert!(seen.iter().all(|start| *start <= 10_000_000));
    let mean = seen.iter().sum::<u64>() / seen.len() as u64;
    assert!((4_000_000..6_000_000).contains(&mean), "{mean}");
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 140, "flows and seeds draw their own");
}

#[test]
fn counting_intervals_are_part_of_the_hash() {
    let (plain, counted) = (read(MINIMAL), set(MINIMAL, &[("record.bins", "1s")]));
    assert_ne!(plain.hash(), counted.hash());
    assert_eq!(plain.hash(), set(MINIMAL, &[("record.interval", "1s")]).hash());
    assert_eq!(read(&counted.resolved_toml()), counted);
}

#[test]
fn a_table_of_defaults_comes_into_being_when_a_key_in_it_is_set() {
    let s = set(MINIMAL, &[("link.0.quick_start.share", "50%"), ("link.0.queue.limit", "7pkt")]);
    assert_eq!(s.links[0].quick_start.map(|q| q.share), Some(0.5));
    assert_eq!(s.links[0].queue, QueueLimit::Packets(7));
}

#[test]
fn all_keys_except_network_ends_and_algorithm_have_defaults() {
    let s = read(MINIMAL);
    assert_eq!((s.name.as_str(), s.description.as_str(), s.seed), ("minimal", "", 1));
    assert_eq!(s.nodes, ["a", "b"]);
    let link = &s.links[0];
    assert_eq!((link.name.as_str(), link.a, link.b), ("a-b", 0, 1));
    assert_eq!((link.delay, link.queue, link.mtu), (Span::ZERO, QueueLimit::Packets(100), 1500));
    assert_eq!(link.loss, Default::default());
    let flow = &s.flows[0];
    assert_eq!((flow.name.as_str(), &*flow.algorithm()), ("a-b", "reno"));
    assert_eq!(flow.stack, stack::RFC);
    assert_eq!(flow.traffic, Traffic::Bulk { bytes: None });
    assert_eq!((flow.read, flow.start), (Read::Immediate, Span::ZERO));
    assert_eq!((s.record.series.len(), s.record.capture.len()), (0, 0));
}

#[test]
fn the_dumbbell_has_four_flows_over_one_bottleneck() {
    let s = example("dumbbell");
    let names: Vec<_> = s.flows.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["reno-1", "reno-2", "reno-3", "reno-4"]);
    assert_eq!(s.flows[3].start, Span::from_millis(300));
    let bottleneck = s.links.iter().position(|link| link.name == "bottleneck").unwrap();
    let routes = s.ways();
    for flow in &s.flows {
        let path = routes.path(flow.from, flow.to).unwrap();
        assert_eq!(path.len(), 3);
        assert_eq!(path[1], 2 * bottleneck as u32, "the bottleneck, forward");
        assert!(path.iter().all(|direction| direction % 2 == 0), "all forward");
        let back = routes.path(flow.to, flow.from).unwrap();
        assert!(back.iter().all(|direction| direction % 2 == 1), "all backward");
    }
    // 10 Mbit/s over a round trip of 2 · (1 + 20 + 1) ms.
    assert_eq!(s.bdp_bytes()[bottleneck], 55_000);
    assert_eq!(s.links[bottleneck].queue, QueueLimit::BdpMillionths(1_000_000));
    assert_eq!(s.record.series, [Series::Cwnd, Series::Srtt]);
}

#[test]
fn the_lossy_download_loses_data_packets_only() {
    let s = example("lossy-download");
    assert_eq!(s.links[1].loss, [Some(LossModel::Drop { probability: 0.01 }), None].into());
    assert_eq!(s.record.capture, [1]);
    assert_eq!(
        s.flows[0].traffic,
        Traffic::RequestResponse {
            request: 100,
            response: 10_000_000,
            requests: 1,
            think: Span::ZERO
        }
    );
}

#[test]
fn the_two_rates_have_datagrams_and_a_loss_model_each_way() {
    let s = example("two-rates");
    assert!(matches!(
        [&s.links[1].loss[0], &s.links[1].loss[1]],
        [Some(LossModel::GilbertElliott { .. }), Some(LossModel::Ber { .. })]
    ));
    assert_eq!(s.flows[0].controller.unwrap().get(0), Some(Increase::PerByte as u64));
    assert_eq!(s.flows[0].stack.mss, Some(536));
    assert_eq!(s.flows[1].algorithm(), NO_ALGORITHM);
}

#[test]
fn a_stack_is_the_last_preset_named_with_every_field_that_is_set() {
    let text = format!(
        "{MINIMAL}stack = {{ preset = \"riverbed\", nagle = true, rto = {{ alpha = 0.25 }} }}\n\
         [stack]\npreset = \"rfc\"\nreceive_buffer = \"64KiB\"\nnagle = false\n\
         recovery = \"auto\"\nrto = {{ min = \"200ms\", k = 2 }}\n"
    );
    let rto::AnyParams::Rfc6298(riverbed) = stack::RIVERBED.rto else { panic!("its timer") };
    let rto =
        Rfc6298Params { min: Span::from_millis(200), k: 2, alpha: Ratio::of(1, 4), ..riverbed };
    let expected = StackConfig {
        receive_buffer: 65_536,
        nagle: true,
        recovery: None,
        rto: rto::AnyParams::Rfc6298(rto),
        ..stack::RIVERBED
    };
    assert_eq!(read(&text).flows[0].stack, expected);
}

#[test]
fn a_key_at_its_default_is_written_if_flows_differ_in_it() {
    let other = "[[flow]]\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"reno\"\n";
    let cases = [["hides-losses", "none"], ["none", "splits-acks"], ["none", "none"]];
    for [first, second] in cases {
        let own = |lies: &str| format!("stack = {{ lies = \"{lies}\" }}\n");
        let text = format!("{MINIMAL}{}{other}{}", own(first), own(second));
        let scenario = read(&text);
        let written = scenario.resolved_toml();
        assert_eq!(written.contains("lies"), [first, second] != ["none"; 2], "{written}");
        let again = read(&written);
        let stacks = |s: &Scenario| [s.flows[0].stack, s.flows[1].stack];
        assert_eq!(stacks(&again), stacks(&scenario), "{written}");
    }
}

#[test]
fn the_linux_implementation_has_the_kernels_scheduler() {
    let of = |more: &str, stack: &str| {
        let text = format!("{MINIMAL}multipath = {{ {more}subflows = [{{}}] }}\n{stack}");
        read(&text).flows[0].multipath.clone()
    };
    let config = |more, stack| of(more, stack).expect("multipath").config;
    let linux = "[stack]\npreset = \"linux\"\n";
    let buffers = |c: MultipathConfig, stack: StackConfig| MultipathConfig {
        receive_buffer: stack.receive_buffer,
        send_buffer: stack.send_buffer,
        ..c
    };
    assert_eq!(config("", ""), buffers(MultipathConfig::default(), stack::RFC));
    assert_eq!(config("", linux), buffers(MultipathConfig::linux(), stack::LINUX));
    let said = config("scheduler = \"lowest-rtt\", penalise = true, ", linux);
    assert_eq!(
        (said.scheduler, said.penalise, said.opportunistic),
        (Scheduler::LowestRtt, true, false)
    );
    assert_eq!(
        config("", "[stack]\npreset = \"linux\"\nflavour = \"rfc\"\n").scheduler,
        Scheduler::LowestRtt
    );
}

#[test]
fn one_entry_becomes_many_flows_with_unique_names() {
    let text = format!(
        "{MINIMAL}count = 2\nstagger = \"1s\"\nstart = \"2s\"\n\
         [[flow]]\nname = \"a-b-2\"\nfrom = \"b\"\nto = \"a\"\nalgorithm = \"tahoe\"\n"
    );
    let s = read(&text);
    let flows: Vec<_> = s.flows.iter().map(|f| (f.name.as_str(), f.start)).collect();
    let expected =
        [("a-b", Span::from_secs(2)), ("a-b-3", Span::from_secs(3)), ("a-b-2", Span::ZERO)];
    assert_eq!(flows, expected);
}

#[test]
fn routes_are_shortest_and_earlier_links_win() {
    let link = |name, a, b| {
        format!("[[link]]\nname=\"{name}\"\nbetween=[\"{a}\",\"{b}\"]\nrate=\"1bps\"\n")
    };
    let ring = ["w", "x", "y", "z", "w2"];
    let links = [
        link(ring[0], "p", "q"),
        link(ring[1], "q", "r"),
        link(ring[2], "p", "s"),
        link(ring[3], "s", "r"),
        link(ring[4], "p", "q"),
    ];
    let text = format!(
        "duration=\"1s\"\n{}[[flow]]\nfrom=\"p\"\nto=\"r\"\nalgorithm=\"reno\"\n",
        links.concat()
    );
    let s = read(&text);
    let hops = s.ways().path(s.flows[0].from, s.flows[0].to).unwrap();
    assert_eq!(hops, [0, 2], "both links, forward");
}

#[test]
fn overrides_call_items_by_name_or_number_and_may_omit_quotes() {
    let s = set(
        MINIMAL,
        &[
            ("link.a-b.rate", "2Mbps"),
            ("link.0.loss", "{ model = \"drop\", probability = \"1%\" }"),
            ("link.0.loss.probability", "2%"),
            ("flow.a-b.algorithm", "newreno"),
            ("flow.0.params.increase", "per-byte"),
            ("flow.0.stack.rto.min", "200ms"),
            ("stack.initial_window", "2mss"),
            ("record.series", "[\"cwnd_bytes\"]"),
            ("seed", "7"),
            ("name", "\"42\""),
        ],
    );
    assert_eq!((s.name.as_str(), s.seed), ("42", 7));
    assert_eq!(s.links[0].rate_bps, 2_000_000);
    assert_eq!(s.links[0].loss[0], Some(LossModel::Drop { probability: 0.02 }));
    assert_eq!(s.flows[0].algorithm(), "newreno");
    assert_eq!(s.flows[0].controller.unwrap().get(0), Some(Increase::PerByte as u64));
    let min = Span::from_millis(200);
    let timer = Rfc6298Params { min, ..Default::default() };
    assert_eq!(s.flows[0].stack.rto, rto::AnyParams::Rfc6298(timer));
    assert_eq!(s.flows[0].stack.initial_window, InitialWindow::Segments(2));
    assert_eq!(s.record.series, [Series::Cwnd]);
}

#[test]
fn overrides_may_depend_on_each_other() {
    let s = set(
        MINIMAL,
        &[("flow.0.from", "b"), ("flow.0.to", "a"), ("duration", "1s"), ("flow.0.start", "0.5s")],
    );
    assert_eq!((s.flows[0].from, s.flows[0].to), (1, 0));
}

#[test]
fn ecn_is_a_switch_or_the_word_accurate_and_reads_back_equal() {
    use windlass_tcp::stack::EcnFeedback::{Accurate, AccurateCounter, Classic, Off};
    for (value, feedback) in [
        ("true", Classic),
        ("false", Off),
        ("\"accurate\"", Accurate),
        ("\"accurate-counter\"", AccurateCounter),
    ] {
        let scenario = set(MINIMAL, &[("stack.ecn", value)]);
        assert_eq!(scenario.flows[0].stack.ecn, feedback);
        assert_eq!(read(&scenario.resolved_toml()).flows[0].stack.ecn, feedback);
    }
}

#[test]
fn window_validation_is_a_switch_or_one_of_two_words_and_reads_back_equal() {
    use windlass_tcp::stack::WindowValidation::{Ns3, Off, RateLimited, Used};
    let words = [("\"rate-limited\"", RateLimited), ("\"ns3\"", Ns3)];
    for (value, rule) in [("true", Used), ("false", Off)].into_iter().chain(words) {
        let scenario = set(MINIMAL, &[("stack.window_validation", value)]);
        assert_eq!(scenario.flows[0].stack.window_validation, rule);
        assert_eq!(read(&scenario.resolved_toml()).flows[0].stack.window_validation, rule);
    }
}

#[test]
fn parameters_of_the_new_slow_starts_read_back_equal() {
    for start in [
        "{ name = \"search\", variant = \"netdev\", thresh = 0.3, exit = \"delivered\" }",
        "{ name = \"careful-resume\", saved_cwnd = \"300kB\", saved_rtt = \"80ms\", lifetime = \"5min\" }",
    ] {
        let scenario = set(MINIMAL, &[("flow.0.slow_start", start)]);
        let again = read(&scenario.resolved_toml());
        assert_eq!(again.hash(), scenario.hash());
        assert_ne!(scenario.hash(), read(MINIMAL).hash(), "{start}");
    }
}

#[test]
fn the_hash_depends_on_the_simulation_only() {
    let base = read(MINIMAL);
    assert_eq!(base.hash().len(), 16);
    let same = [
        ("name", "x"),
        ("description", "y"),
        ("seed", "9"),
        ("record.series", "[\"cwnd_bytes\"]"),
        ("duration", "10000ms"),
        ("link.0.queue", "100p"),
        ("link.0.queue", "{ discipline = \"drop-tail\", limit = \"100pkt\" }"),
        ("flow.0.stack.preset", "rfc"),
    ];
    for (key, value) in same {
        assert_eq!(set(MINIMAL, &[(key, value)]).hash(), base.hash(), "{key}={value}");
    }
    let other = [
        ("duration", "11s"),
        ("link.0.delay", "1ns"),
        ("link.0.queue", "{ discipline = \"codel\" }"),
        ("flow.0.algorithm", "tahoe"),
        ("flow.0.stack.karn", "false"),
        ("flow.0.params.initial_ssthresh", "64KiB"),
        ("link.0.loss", "{ model = \"list\", packets = [3] }"),
    ];
    for (key, value) in other {
        assert_ne!(set(MINIMAL, &[(key, value)]).hash(), base.hash(), "{key}={value}");
    }
}

#[test]
fn ack_limit_sets_the_segments_per_acknowledgement() {
    let counted = |limit: &str| {
        let scenario = set(MINIMAL, &[("stack.ack_limit", limit)]);
        let config = windlass_scenario::compile::compile(&scenario, 1).expect("a valid scenario");
        let profile = &config.flows[0].profile;
        let mss = 1000;
        let conn = windlass_cc::Conn::new(mss);
        let mut flow = windlass_cc::AnyController::init(&profile.params, &conn);
        let before = flow.control(&profile.params, &conn).cwnd;
        flow.on_ack(&profile.params, &conn, &windlass_cc::Ack::of(4 * u64::from(mss)));
        (flow.control(&profile.params, &conn).cwnd - before) / u64::from(mss)
    };
    assert_eq!([counted("1"), counted("2"), counted("unlimited")], [1, 2, 4]);
}

#[test]
fn the_preset_sets_the_implementation_and_single_values_override_it() {
    let is = |overrides: &[(&str, &str)], id: &str, flavour| {
        let scenario = set(MINIMAL, &[overrides, &[("flow.0.algorithm", id)]].concat());
        assert_eq!(read(&scenario.resolved_toml()), scenario);
        let wanted = AnyParams::by_name(id).unwrap().flavoured(flavour);
        assert_eq!(scenario.flows[0].controller, Some(wanted), "{id} {overrides:?}");
        scenario.flows[0].stack.ack_limit
    };
    for info in ALGORITHMS {
        assert_eq!(is(&[], info.id, Flavour::Rfc), 1);
        is(&[("stack.preset", "linux")], info.id, Flavour::Linux);
        is(&[("stack.preset", "ns3")], info.id, Flavour::Ns3);
        is(&[("stack.preset", "linux"), ("flow.0.flavour", "rfc")], info.id, Flavour::Rfc);
        is(&[("stack.preset", "linux"), ("stack.flavour", "ns3")], info.id, Flavour::Ns3);
        is(&[("flow.0.stack.flavour", "linux")], info.id, Flavour::Linux);
    }
    let linux = ("stack.preset", "linux");
    assert_eq!(is(&[linux], "hybla", Flavour::Linux), 1);
    assert_eq!(is(&[linux, ("stack.ack_limit", "2")], "hybla", Flavour::Linux), 2);
    assert_eq!(is(&[linux], "reno", Flavour::Linux), u32::MAX);
    let one =
        set(MINIMAL, &[linux, ("flow.0.algorithm", "vegas"), ("flow.0.params.alpha", "7pkt")]);
    let params = one.flows[0].controller.unwrap();
    assert_eq!((params.get(0), params.get(1)), (Some(7), Some(4)), "beta stays the kernel's");
}

#[test]
fn an_unknown_implementation_is_one_located_error() {
    let text = MINIMAL.replace("algorithm = ", "flavour = \"bsd\"\nalgorithm = ");
    let error = Scenario::from_str(&text, "minimal.toml").unwrap_err().to_string();
    assert!(error.starts_with("minimal.toml:"), "{error}");
    assert!(error.contains("unknown value `bsd`") && error.contains("linux"), "{error}");
}
