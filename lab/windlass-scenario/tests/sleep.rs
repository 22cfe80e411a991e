//! `sleep`: the stations that sleep, and the errors for stations that cannot.

use windlass_cc::Span;
use windlass_scenario::Scenario;

const CELL: &str = r#"duration = "60s"

[[wifi]]
standard = "802.15.4"
access_point = "hub"
stations = ["a", "b"]

[[flow]]
from = "a"
to = "hub"
algorithm = "newreno"
"#;

const CHAIN: &str = r#"duration = "60s"

[topology]
kind = "chain"
stations = 3
spacing = "20m"
base = "n1"

[topology.wireless]
standard = "802.15.4"

[[flow]]
from = "n3"
to = "n1"
algorithm = "newreno"
"#;

fn read(text: &str) -> Scenario {
    let scenario = Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    let again = Scenario::from_str(&scenario.resolved_toml(), "r.toml").expect("resolved");
    assert_eq!(again, scenario);
    scenario
}

/// Usual and fast poll intervals of all stations, milliseconds.
fn polls(text: &str) -> Vec<Option<(u64, Option<u64>)>> {
    let ms = |span: Span| span.0 / 1_000_000;
    let stations = read(text).wifi.remove(0).radio.stations;
    let polls = stations.iter().map(|s| s.sleep);
    polls.map(|s| s.map(|s| (ms(s.poll_interval), s.fast_poll.map(ms)))).collect()
}

#[test]
fn all_stations_except_the_access_point_sleep_or_only_named_stations() {
    let with = |line: &str| CELL.replace("access_point", &format!("{line}\naccess_point"));
    assert_eq!(polls(CELL), [None; 3]);
    let all = with("sleep = { poll_interval = \"2s\", fast_poll = \"100ms\" }");
    assert_eq!(polls(&all), [None, Some((2000, Some(100))), Some((2000, Some(100)))]);
    let own = all.replace("\"b\"", "{ node = \"b\", sleep = { poll_interval = \"9s\" } }");
    assert_eq!(polls(&own), [None, Some((2000, Some(100))), Some((9000, None))]);
    let named = with("sleep = { poll_interval = \"2s\", stations = [\"b\"] }");
    assert_eq!(polls(&named), [None, None, Some((2000, None))]);
    let chain =
        format!("{CHAIN}[topology.wireless.sleep]\npoll_interval = \"1s\"\nstations = [\"n3\"]\n");
    assert_eq!(polls(&chain), [None, None, Some((1000, None))]);
}

#[test]
fn sleep_power_is_set_or_zero() {
    let drawn = |consumption: &str| {
        let line = format!("consumption = {consumption}\naccess_point");
        let cell = read(&CELL.replace("access_point", &line)).wifi.remove(0);
        cell.radio.consumption.expect("told").sleep_uw
    };
    assert_eq!(drawn("\"cc2420\""), 60);
    let table = "transmit = \"50mW\", receive = \"50mW\", idle = \"50mW\"";
    assert_eq!(drawn(&format!("{{ {table} }}")), 0);
    assert_eq!(drawn(&format!("{{ {table}, sleep = \"7uW\" }}")), 7);
}

#[test]
fn every_mistake_has_its_sentence_and_its_place() {
    let two = "sleep = { poll_interval = \"2s\" }";
    let mistakes = [
        (
            CELL,
            "802.15.4\"",
            format!("802.11g\"\n{two}"),
            "s.toml:5:9: `sleep`: 802.11g has no `sleep`: it is for `standard = \"802.15.4\"`",
        ),
        (
            CELL,
            "[\"a\", \"b\"]",
            "[{ node = \"a\", sleep = { poll_interval = \"0s\" } }]".into(),
            "s.toml:6:53: `poll_interval`: must be between `1ms` and `24h`, for example `2s`",
        ),
        (
            CELL,
            "802.15.4\"",
            "802.15.4\"\nsleep = { poll_interval = \"1s\", fast_poll = \"2s\" }".into(),
            "s.toml:5:45: `fast_poll`: must be no longer than `poll_interval`",
        ),
        (
            CELL,
            "802.15.4\"",
            "802.15.4\"\nsleep = { fast_poll = \"2s\" }".into(),
            "s.toml:5:9: `sleep` lacks the key `poll_interval`; write for example `poll_interval = \"2s\"`",
        ),
        (
            CELL,
            "802.15.4\"",
            "802.15.4\"\nsleep = { poll_interval = \"2s\", stations = [\"c\"] }".into(),
            "s.toml:5:45: `sleep`: `c` is not a station of this cell; its stations are `hub`, `a`, `b`",
        ),
        (
            CELL,
            "\"hub\"\ns",
            format!("{{ node = \"hub\", {two} }}\ns"),
            "s.toml:5:40: `sleep`: station \"hub\" cannot sleep: others may be routed through it; only a station with a single hop sleeps, over which its parent keeps packets for it",
        ),
        (
            CELL,
            "[[flow]]",
            format!("{two}\n[[link]]\nbetween = [\"b\", \"c\"]\nrate = \"1Mbps\"\n\n[[flow]]"),
            "s.toml:8:9: `sleep`: station \"b\" cannot sleep: its node has links or other stations, over which others may be routed through it",
        ),
        (
            CHAIN,
            "802.15.4\"",
            format!("802.15.4\"\n{two}"),
            "s.toml:11:9: `sleep`: station \"n2\" cannot sleep: others may be routed through it; only a station with a single hop sleeps, over which its parent keeps packets for it",
        ),
    ];
    for (text, from, to, expected) in mistakes {
        let text = text.replacen(from, &to, 1);
        let error = Scenario::from_str(&text, "s.toml").expect_err(&text).to_string();
        assert_eq!(error.lines().next(), Some(expected), "{text}");
    }
}

#[test]
fn two_that_sleep_are_no_parents_of_each_other() {
    let sleep = "sleep = { poll_interval = \"2s\", stations = [\"n1\", \"n2\"] }";
    let text = CHAIN.replace("stations = 3", "stations = 2").replace("n3", "n2");
    let text = text.replace("802.15.4\"", &format!("802.15.4\"\n{sleep}"));
    let error = Scenario::from_str(&text, "s.toml").expect_err("refused").to_string();
    assert!(error.contains("its parent \"n2\" sleeps too"), "{error}");
}
