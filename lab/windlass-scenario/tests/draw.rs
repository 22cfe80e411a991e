//! Flows whose senders are drawn in each run.

use std::collections::BTreeSet;

use windlass_scenario::Scenario;
use windlass_scenario::compile::{compile, senders};

const CELL: &str = r#"duration = "2s"

[[wifi]]
standard = "802.11g"
access_point = "base"
stations = ["n1", "n2", "n3", "n4", "n5", "n6"]

[[flow]]
name = "sensor"
from = "n*"
to = "base"
count = 3
draw = true
algorithm = "reno"
"#;

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"))
}

fn refused(from: &str, to: &str) -> String {
    assert!(CELL.contains(from), "{from}");
    Scenario::from_str(&CELL.replacen(from, to, 1), "s.toml").unwrap_err().to_string()
}

#[test]
fn each_run_draws_different_senders_and_over_the_runs_every_node_has_its_turn() {
    let scenario = read(CELL);
    let mut seen = BTreeSet::new();
    for seed in 1..=40 {
        let drawn = senders(&scenario, seed);
        let distinct: BTreeSet<usize> = drawn.iter().copied().collect();
        assert_eq!(distinct.len(), 3, "seed {seed}: {drawn:?}");
        let config = compile(&scenario, seed).unwrap();
        assert!(config.flows.iter().map(|f| f.from).eq(drawn.iter().copied()));
        assert!(config.flows.iter().all(|f| f.to != f.from && config.nodes[f.to] == "base"));
        seen.extend(distinct);
    }
    assert_eq!(seen.len(), 6);
    assert_eq!(senders(&scenario, 7), senders(&scenario, 7));
    assert_ne!(scenario.hash(), read(&CELL.replace("draw = true\n", "")).hash());
}

/// The draws depend on the flows' names, so another algorithm has the same senders.
#[test]
fn another_algorithm_has_the_same_senders() {
    let other = read(&CELL.replace("\"reno\"", "\"cubic\""));
    let scenario = read(CELL);
    assert!((1..=20).all(|seed| senders(&scenario, seed) == senders(&other, seed)));
}

#[test]
fn the_resolved_scenario_has_the_nodes_of_draw_and_reads_back_equal() {
    let scenario = read(CELL);
    let again = read(&scenario.resolved_toml());
    assert_eq!(again.flows, scenario.flows);
    assert!((1..=10).all(|seed| senders(&again, seed) == senders(&scenario, seed)));
}

#[test]
fn impossible_draws_are_refused() {
    let count = refused("count = 3", "count = 7");
    let expected = "s.toml:13:8: `draw`: 7 flows draw different senders from only 6 nodes; \
                    write a `count` of at most 6";
    assert_eq!(count, expected);
    let second = "\n[[flow]]\nname = \"other\"\nfrom = \"n*\"\nto = \"base\"\ncount = 4\n\
                  draw = true\nalgorithm = \"reno\"\n";
    let both = Scenario::from_str(&format!("{CELL}{second}"), "s.toml").unwrap_err().to_string();
    let expected = "s.toml:13:8: `draw`: 7 flows, including `sensor-1`, draw different senders from \
                    only 6 nodes; let fewer flows draw, or add nodes";
    assert_eq!(both, expected);
    let pattern = refused("from = \"n*\"", "from = \"n1\"");
    assert!(pattern.contains("give it a `*`"), "{pattern}");
    let to = refused("to = \"base\"", "to = \"n*\"");
    assert!(to.contains("go to one node"), "{to}");
    let list = refused("draw = true", "draw = [\"n1\", \"base\", \"n2\"]");
    assert!(list.contains("receives the data"), "{list}");
    let none = refused("draw = true", "draw = [\"n1\", \"m\"]");
    assert!(none.contains("does not exist"), "{none}");
}
