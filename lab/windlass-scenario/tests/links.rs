//! Links of scenarios: queues and their disciplines, Quick-Start, and entries that stand for many links.

use windlass_cc::Span;
use windlass_scenario::{Discipline, DualPi2, FqCoDel, QueueLimit, Scenario, Threshold};
use windlass_sim::queue::Level;
use windlass_sim::quick_start::QuickStart;

use crate::files::{MINIMAL, read, set};

#[test]
fn a_star_joins_each_device_to_the_server_over_the_hub() {
    let text = |bottleneck: &str| {
        format!(
            "duration = \"10s\"\n[topology]\nkind = \"star\"\ncount = 3\naccess = {{ rate = \"1Mbps\" }}\n{bottleneck}\n\
             [[flow]]\nname = \"meter\"\nfrom = \"s*\"\nto = \"server\"\nalgorithm = \"cubic\"\n"
        )
    };
    let star = Scenario::from_str(&text("bottleneck = { rate = \"2Mbps\" }"), "x").expect("a star");
    assert_eq!(star.nodes, ["s1", "hub", "s2", "s3", "server"]);
    let links: Vec<&str> = star.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(links, ["access-s1", "access-s2", "access-s3", "bottleneck"]);
    let flows: Vec<&str> = star.flows.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(flows, ["meter-1", "meter-2", "meter-3"]);
    assert_eq!(Scenario::from_str(&star.resolved_toml(), "x").expect("written"), star);
    let bare = Scenario::from_str(&text(""), "x").expect("a star without a hub");
    assert_eq!((bare.links.len(), bare.flows[2].ways()[0].len()), (3, 2));
    for (from, to, says) in [
        ("count = 3", "count = 0", "outside the range"),
        ("count = 3", "pairs = 3", "unknown key `pairs`"),
        ("access = { rate = \"1Mbps\" }", "", "lacks the key `access`"),
    ] {
        let error =
            Scenario::from_str(&text("").replace(from, to), "x").expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn one_link_entry_becomes_many_links_with_numbered_names() {
    const FLEET: &str = r#"
duration = "10s"
[[link]]
name = "radio"
between = ["m*", "hub"]
count = 3
rate = "60kbps"
[[link]]
between = ["hub", "server"]
rate = "1Mbps"
[[flow]]
from = "m*"
to = "server"
count = 3
algorithm = "reno"
"#;
    let scenario = set(FLEET, &[("link.radio.rate", "50kbps")]);
    let links: Vec<_> = scenario.links.iter().map(|link| (&*link.name, link.rate_bps)).collect();
    let radios = ["radio-1", "radio-2", "radio-3"].map(|name| (name, 50_000));
    assert_eq!(links, [&radios[..], &[("hub-server", 1_000_000)]].concat());
    let ends = scenario.flows.iter().map(|flow| &*scenario.nodes[flow.from]);
    assert_eq!(ends.collect::<Vec<_>>(), ["m1", "m2", "m3"]);
    let unnamed = read(&FLEET.replace("name = \"radio\"\n", ""));
    assert_eq!(unnamed.links[1].name, "m2-hub");
    assert_eq!(read(&scenario.resolved_toml()).resolved_toml(), scenario.resolved_toml());
}

#[test]
fn dualpi2_has_the_defaults_of_its_variant_and_reads_back_equal() {
    let discipline = |table: &str| {
        let scenario = set(MINIMAL, &[("link.0.queue", table)]);
        let again = read(&scenario.resolved_toml());
        assert_eq!(again.links[0].discipline, scenario.links[0].discipline, "{table}");
        scenario.links[0].discipline.clone()
    };
    let dual = discipline("{ discipline = \"dualpi2\" }");
    assert_eq!(dual, Discipline::DualPi2(DualPi2::RFC9332));
    let dual = discipline("{ discipline = \"dualpi2\", variant = \"linux\" }");
    assert_eq!(dual, Discipline::DualPi2(DualPi2::LINUX));
    let (max, typical) = (Span::from_millis(200), Span::from_millis(20));
    let dual = discipline(
        "{ discipline = \"dualpi2\", max_rtt = \"200ms\", typical_rtt = \"20ms\", beta = 2 }",
    );
    let derived = DualPi2 { beta: 2.0, ..DualPi2::RFC9332.for_rtts(max, Some(typical)) };
    assert_eq!(dual, Discipline::DualPi2(derived));
}

#[test]
fn a_queue_has_its_disciplines_defaults_and_the_tables_values() {
    let discipline =
        |table: &str| set(MINIMAL, &[("link.0.queue", table)]).links[0].discipline.clone();
    let fq = discipline("{ discipline = \"FQ-CoDel\", quantum = \"300B\", ecn = false }");
    assert_eq!(fq, Discipline::FqCoDel(FqCoDel { quantum: 300, ecn: false, ..FqCoDel::DEFAULT }));
    let Discipline::Red(red) = discipline("{ discipline = \"red\", adaptive = true }") else {
        panic!("not RED")
    };
    let mbps = set(MINIMAL, &[]).links[0].rate_bps as f64 / 1e6;
    // C = rate / (8 · 500 B); Floyd, Gummadi and Shenker's section 4.
    let c = mbps * 250.0;
    assert!((red.weight - (1.0 - (-1.0 / c).exp())).abs() < 1e-12, "{red:?}");
    assert_eq!(red.min_threshold, QueueLimit::Packets((c * 0.0025).max(5.0) as u64));
}

#[test]
fn quick_start_settings_of_a_link_read_back_equal() {
    let setting = |value: &str| {
        let scenario = set(MINIMAL, &[("link.0.quick_start", value)]);
        let again = read(&scenario.resolved_toml());
        assert_eq!(again.links[0].quick_start, scenario.links[0].quick_start);
        scenario.links[0].quick_start
    };
    assert_eq!(setting("false"), None);
    assert_eq!(setting("true"), Some(QuickStart::DEFAULT));
    let half = QuickStart { share: 0.5, interval: Span::from_millis(20) };
    assert_eq!(setting("{ share = 0.5, interval = \"20ms\" }"), Some(half));
    let hash = |value| set(MINIMAL, &[("link.0.quick_start", value)]).hash();
    assert_eq!(hash("false"), read(MINIMAL).hash(), "what is off leaves old results valid");
    assert_ne!(hash("true"), hash("false"));
}

#[test]
fn thresholds_in_bdp_follow_the_link_at_run_time() {
    let table = "{ discipline = \"threshold\", mark = \"0.5bdp\", probability = \"25%\" }";
    let s = set(MINIMAL, &[("link.0.queue", table)]);
    let config = windlass_scenario::compile::compile(&s, 1).unwrap();
    let mark = Level::Bytes(s.bdp_bytes()[0] / 2);
    assert_eq!(
        config.links[0].discipline,
        Discipline::Threshold(Threshold { mark, probability: 0.25 })
    );
}

#[test]
fn a_threshold_without_random_marks_keeps_its_hash() {
    let hash = |more: &str| {
        let table = format!("{{ discipline = \"threshold\", mark = \"9pkt\"{more} }}");
        set(MINIMAL, &[("link.0.queue", &table)]).hash()
    };
    assert_eq!(hash(", probability = 0"), hash(""));
    assert_ne!(hash(", probability = 0.1"), hash(""));
}

#[test]
fn the_long_fat_paths_read_and_refer_to_the_product_of_flow_one() {
    for (name, one_ms, two_ms) in [
        ("long-different", 100, 50),
        ("long-same", 190, 190),
        ("short-different", 50, 8),
        ("short-same", 16, 16),
    ] {
        let path = format!("{}/../../scenarios/long-fat/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let s = Scenario::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read(&s.resolved_toml()), s);
        let delay = |i: usize| s.links[i].delay.0;
        let round_trips = [3, 4].map(|receiver| 2 * (delay(2) + delay(receiver)) / 1_000_000);
        assert_eq!(round_trips, [one_ms, two_ms], "{name}");
        assert_eq!(s.bdp_bytes()[2], 250_000_000 / 8 * one_ms / 1000, "{name}");
    }
}
