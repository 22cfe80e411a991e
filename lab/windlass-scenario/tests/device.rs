//! The key `device` of a queue: its effect, its written form, and its errors.

use windlass_scenario::outlook::{paths, warnings};
use windlass_scenario::{Discipline, Scenario, compile};

/// A scenario whose link has this queue.
fn with(queue: &str) -> String {
    format!(
        "duration = \"10s\"\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"1Mbps\"\nqueue = {queue}\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"reno\"\n"
    )
}

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn any_discipline_may_have_a_device_below_it_and_is_written_with_it() {
    for (queue, id) in [
        ("{ device = \"100pkt\" }", "drop-tail"),
        ("{ discipline = \"fq-codel\", limit = \"10240pkt\", device = \"100pkt\" }", "fq-codel"),
        ("{ discipline = \"red\", device = \"100p\", max_threshold = \"20pkt\" }", "red"),
        ("{ discipline = \"threshold\", device = \"100pkt\", mark = \"1bdp\" }", "threshold"),
    ] {
        let scenario = read(&with(queue));
        let again = read(&scenario.resolved_toml());
        assert_eq!(again.links[0], scenario.links[0], "{queue}");
        let config = compile::compile(&scenario, 1).expect("a configuration");
        let Discipline::Device(device) = &config.links[0].discipline else { panic!("{queue}") };
        assert_eq!((device.packets, device.discipline.id()), (100, id));
    }
}

#[test]
fn a_device_can_be_set_by_its_key_and_changes_the_hash() {
    let text = with("{ discipline = \"codel\" }");
    let set = [("link.0.queue.device".to_owned(), "20pkt".to_owned())];
    let changed = Scenario::with_overrides(&text, "s.toml", &set).expect("a scenario");
    assert_eq!(changed.links[0].discipline.device_packets(), 20);
    assert_ne!(changed.hash(), read(&text).hash());
}

#[test]
fn each_mistake_has_one_located_sentence() {
    let found = ["\"0pkt\"", "\"1000001pkt\"", "\"150kB\"", "\"-1pkt\"", "100"].map(|device| {
        let text = with(&format!("{{ device = {device} }}"));
        Scenario::from_str(&text, "s.toml").expect_err(device).to_string()
    });
    let place = "s.toml:5:20: `device`: ";
    let expected = [
        "must be at least `1pkt`; leave it out for a queue without a device",
        "1000001pkt is more than 1000000pkt",
        "`150kB` has the unknown unit `kB`; write a number of packets such as `100pkt`",
        "`-1pkt` is negative; write a number of packets such as `100pkt`",
        "`100` has no unit; write a number of packets such as `100pkt`",
    ]
    .map(|sentence| format!("{place}{sentence}"));
    assert_eq!(found, expected);
}

#[test]
fn the_summary_counts_the_packets_of_the_device() {
    let queue = |queue| paths(&read(&with(queue))).expect("paths")[0].queue.expect("a limit");
    let both = queue("{ limit = \"50pkt\", device = \"100pkt\" }");
    assert_eq!(both, queue("\"150pkt\""));
    let warned = |queue| warnings(&read(&with(queue))).expect("warnings").len();
    let none = warned("\"0pkt\"");
    assert_eq!(warned("{ limit = \"0pkt\", device = \"100pkt\" }") + 1, none);
}
