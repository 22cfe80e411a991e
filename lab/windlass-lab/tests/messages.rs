//! Messages that never arrive: their latency is infinite in all statistics.

use windlass_lab::claims::Metric;
use windlass_lab::overview;
use windlass_lab::run::fields::SUMMARY;
use windlass_lab::run::store::Values;
use windlass_lab::run::{RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;
use windlass_lab::sweep::Measure;

/// A meter whose connection fails during an outage, so that no later message arrives.
const OUTAGE: &str = r#"
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
    traffic = { kind = "messages", every = "15min", gaps = "constant", size = "400B", deadline = "60s" }
"#;

/// A meter that gives up after `RETRIES` retransmissions, over a link with bursts of losses.
const BURSTS: &str = r#"
    duration = "6h"
    stack = { max_data_retries = RETRIES }
    [[link]]
    between = ["meter", "gateway"]
    rate = "60kbps"
    delay = "750ms"
    loss = { model = "gilbert-elliott", good_to_bad = "0.7%", bad_to_good = "33%", direction = "both" }
    [[flow]]
    name = "readings"
    from = "meter"
    to = "gateway"
    algorithm = "newreno"
    traffic = { kind = "messages", every = "15min", gaps = "constant", size = "400B", deadline = "60s" }
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_str(text, "meter.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario, seed: u64) -> RunRecord {
    let task = Task {
        experiment: "meter".into(),
        point: "all".into(),
        seed,
        scenario: scenario.clone().into(),
        scenario_hash: scenario.hash().into(),
        world: World::Sim,
    };
    task.record(&Runner::new(1).run(&task).unwrap_or_else(|e| panic!("{e}")))
}

fn of(run: &RunRecord, path: &str) -> f64 {
    Metric::parse(path)
        .unwrap_or_else(|e| panic!("{e}"))
        .of(run)
        .unwrap_or_else(|| panic!("{path}"))
}

#[test]
fn a_percentile_that_falls_among_undelivered_messages_is_infinite() {
    let record = run(&scenario(OUTAGE), 1);
    let counts = ["sent", "arrived", "on_time", "late", "undelivered"];
    for kind in ["run", "flow.readings"] {
        let count = |name| of(&record, &format!("{kind}.messages_{name}"));
        assert_eq!(counts.map(count), [95.0, 7.0, 7.0, 88.0, 88.0], "{kind}");
        for latency in ["mean", "p50", "p95", "p99", "max"] {
            let path = format!("{kind}.message_{latency}_ms");
            assert_eq!(of(&record, &path), f64::INFINITY, "{path}");
        }
        assert_eq!(of(&record, &format!("{kind}.late_fraction")), 88.0 / 95.0);
    }
}

#[test]
fn files_have_null_for_an_infinite_latency_and_the_terminal_has_a_word() {
    let scenario = scenario(OUTAGE);
    let record = run(&scenario, 1);
    let table = SUMMARY.table(std::slice::from_ref(&record));
    let column = |name: &str| {
        let column = table.columns.iter().find(|c| c.name == name);
        column.unwrap_or_else(|| panic!("{name}")).values.clone()
    };
    assert_eq!(column("message_p99_ms"), Values::Real(vec![None]));
    assert_eq!(column("messages_arrived"), Values::Real(vec![Some(7.0)]));
    let text = overview::text(&scenario, &[record], 120);
    let row = |head: &str| {
        let line =
            text.lines().skip_while(|l| !l.starts_with("Messages")).find(|l| l.contains(head));
        line.unwrap_or_else(|| panic!("{text}"))
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("sent")[1..5], ["sent", "arrived", "on", "time"]);
    assert_eq!(row("readings")[1..6], ["95", "7", "7", "never", "never"]);
}

/// A connection with at most one retransmission fails in some runs. With fifteen it never fails.
#[test]
fn the_setting_that_loses_the_most_messages_has_the_worst_percentile() {
    let measure = Measure::parse("run.message_p99_ms").unwrap_or_else(|e| panic!("{e}"));
    let worst = |retries: &str| {
        let scenario = scenario(&BURSTS.replace("RETRIES", retries));
        let values = (1..=30).map(|seed| measure.of(&run(&scenario, seed)).expect("a value"));
        values.fold(0.0, f64::max)
    };
    assert_eq!(worst("1"), f64::INFINITY);
    assert!(worst("15").is_finite());
}

/// No packet of the server arrives, so that all exchanges that ended were given up.
#[test]
fn the_time_of_a_coap_exchange_that_was_given_up_is_infinite() {
    let text = r#"
        duration = "600s"
        [[link]]
        between = ["meter", "server"]
        rate = "60kbps"
        delay = "10ms"
        loss = { model = "drop", probability = "100%", direction = "backward" }
        [[flow]]
        name = "m"
        from = "meter"
        to = "server"
        traffic = { kind = "coap", every = "60s", gaps = "constant", size = "40B", response = "10B" }
    "#;
    let lossy = run(&scenario(text), 1);
    assert!(of(&lossy, "flow.m.exchanges_given_up") > 3.0);
    for time in ["mean", "p50", "p95", "p99", "max"] {
        assert_eq!(of(&lossy, &format!("flow.m.exchange_{time}_ms")), f64::INFINITY, "{time}");
    }
    let clean = run(&scenario(&text.replace("100%", "0%")), 1);
    assert!(of(&clean, "flow.m.exchange_max_ms") < 50.0);
}
