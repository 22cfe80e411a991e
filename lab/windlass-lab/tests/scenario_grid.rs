//! Grids of stations with a fault: an invalid grid gives one clear error, and a run of a faulty grid gives warnings.

use windlass_lab::hindsight;
use windlass_lab::outlook;
use windlass_lab::run::{RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;

/// Nine stations in three rows. The base is the last station. The topology starts in line 2.
const GRID: &str = r#"duration = "40s"
[topology]
kind = "grid"
rows = 3
columns = 3
base = "n9"
wireless = { standard = "802.11g", rate = "6Mbps", routing = "aodv" }
[[flow]]
name = "up"
from = "n1"
to = "n9"
algorithm = "newreno"
"#;

fn with(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(GRID.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn refused(changes: &[(&str, &str)]) -> String {
    Scenario::from_str(&with(changes), "s.toml").unwrap_err().to_string()
}

fn runs(scenario: &Scenario, seeds: u64) -> Vec<RunRecord> {
    let record = |seed| {
        let task = Task {
            experiment: "grid".to_owned(),
            point: "all".to_owned(),
            seed,
            scenario: scenario.clone().into(),
            scenario_hash: scenario.hash().into(),
            world: World::Sim,
        };
        task.record(&Runner::new(1).run(&task).unwrap_or_else(|e| panic!("{e}")))
    };
    (1..=seeds).map(record).collect()
}

/// The warnings before and after one run, and its record.
fn said(scenario: &Scenario) -> (Vec<String>, Vec<String>, RunRecord) {
    let before = outlook::warnings(scenario).unwrap_or_else(|e| panic!("{e}"));
    let mut records = runs(scenario, 1);
    (before, hindsight::warnings(scenario, &records), records.remove(0))
}

#[test]
fn errors_of_invalid_grids_give_the_remedy() {
    let zero = [("base = \"n9\"", "base = \"n9\"\nrange = \"0m\"")];
    assert_eq!(refused(&zero), "s.toml:7:9: `range`: must be more than zero, for example `150m`");
    let negative = [("base = \"n9\"", "base = \"n9\"\nrange = \"-5m\"")];
    assert!(refused(&negative).contains("`range`: must be more than zero"));
    let to_itself = [("from = \"n1\"", "from = \"n9\"")];
    assert_eq!(
        refused(&to_itself),
        "s.toml:11:6: flow `up` goes from `n9` to itself; give it two nodes"
    );
    let beyond = [("from = \"n1\"", "from = \"n*\"\ncount = 10"), ("to = \"n9\"", "to = \"n2\"")];
    assert!(refused(&beyond).contains("flow `up-2` goes from `n2` to itself"));
    let beyond = [
        ("from = \"n1\"", "from = \"n*\"\ncount = 10"),
        ("base = \"n9\"", "base = \"centre\""),
        ("to = \"n9\"", "to = \"base\""),
    ];
    assert_eq!(
        refused(&beyond),
        "s.toml:10:8: `from`: `n*` stands for 9 nodes, `n1` to `n9`, and there is no `n10`; write a \
         `count` of at most 9"
    );
    let draws = [("from = \"n1\"", "from = \"n*\"\ncount = 9\ndraw = true")];
    assert_eq!(
        refused(&draws),
        "s.toml:12:8: `draw`: 9 flows draw different senders from only 8 nodes; write a \
         `count` of at most 8"
    );
    let empty = [("routing", "consumption = \"esp32-c3\", battery = \"0J\", routing")];
    assert!(refused(&empty).contains("`battery`: must hold something, for example `20J`"));
    let nobody = [("routing", "off = [[\"n10\", \"1s\"]], routing")];
    assert!(
        refused(&nobody).contains("`off`: `n10` is not a station of this cell; its stations are")
    );
    let static_routes = [
        ("routing = \"aodv\"", "routing = \"static\""),
        ("base = \"n9\"", "base = \"n9\"\nrange = \"149m\""),
    ];
    assert_eq!(
        refused(&static_routes),
        "s.toml:12:6: no links and no stations in range lead from `n1` to `n9`; join them by a \
         `[[link]]`, or increase the range of the stations or move them nearer"
    );
}

/// The range is smaller than the spacing, so that no station receives or senses another.
#[test]
fn an_isolated_sender_gives_warnings_before_and_after_the_run() {
    let text = with(&[("base = \"n9\"", "base = \"n9\"\nrange = \"100m\"\nsense = \"100m\"")]);
    let (before, after, record) = said(&read(&text));
    assert_eq!(
        before,
        [
            "flow up: nothing can arrive: no chain of stations in range of each other leads from its \
          sender to its receiver; increase their range, or move them nearer"
        ]
    );
    assert_eq!(after[0], "flow up delivered nothing");
    assert!(
        after[1].contains(": 0 of ") && after[1].ends_with("searches for a route succeeded"),
        "{after:?}"
    );
    let routing = record.radios[0].routing.as_ref().unwrap();
    assert!(routing.discoveries_failed > 0 && routing.drops_no_route > 0, "{routing:?}");
    assert_eq!((routing.discoveries_succeeded, record.flows[0].delivered_bytes), (0, 0));
}

/// Both neighbours of the corner station are off, so that its packets do not arrive. The other stations still deliver.
#[test]
fn a_disconnected_grid_serves_only_the_stations_connected_to_the_base() {
    let other = "[[flow]]\nname = \"other\"\nfrom = \"n3\"\nto = \"n9\"\nalgorithm = \"newreno\"\n";
    let off = |at: &str| {
        let off = format!("off = [[\"n2\", \"{at}\"], [\"n4\", \"{at}\"]], routing");
        read(&(with(&[("routing", &off)]) + other))
    };
    let (before, after, record) = said(&off("0s"));
    let expected = "flow up: nothing can arrive: stations that are `off` when it starts \
                    separate its sender from its receiver";
    assert_eq!(before.iter().filter(|w| w.contains("nothing can arrive")).count(), 1);
    assert!(before.iter().any(|w| w == expected), "{before:?}");
    assert_eq!(after[0], "flow up delivered nothing");
    assert!(record.flows[1].goodput_bps > 100_000.0, "{}", record.flows[1].goodput_bps);
    // If the stations go off during the run, there is no warning before, and data arrives until then.
    let (before, after, record) = said(&off("20s"));
    assert!(before.iter().all(|w| !w.contains("nothing can arrive")), "{before:?}");
    assert!(after.is_empty() && record.flows[0].delivered_bytes > 0, "{after:?}");
    let routing = record.radios[0].routing.as_ref().unwrap();
    assert!(routing.discoveries > routing.discoveries_succeeded, "{routing:?}");
}

#[test]
fn the_warning_about_a_base_that_goes_off_gives_the_time() {
    let off =
        |at: &str| read(&with(&[("routing", &format!("off = [[\"n9\", \"{at}\"]], routing"))]));
    let (before, after, record) = said(&off("0s"));
    assert!(before.iter().any(|w| w.contains("stations that are `off` when it starts")));
    assert_eq!(record.flows[0].delivered_bytes, 0);
    assert_eq!(after[0], "flow up delivered nothing");
    assert_eq!(
        after[2],
        "station n9, at which flows begin or end, went off at 0.000 s; goodputs include the time \
         after that"
    );
    let (before, after, record) = said(&off("10s"));
    assert!(before.iter().all(|w| !w.contains("nothing can arrive")), "{before:?}");
    let [gone] = &after[..] else { panic!("{after:?}") };
    assert!(gone.starts_with("station n9, at which flows begin or end, went off at 10.000 s"));
    let whole = runs(&read(GRID), 1).remove(0);
    let share = record.flows[0].delivered_bytes as f64 / whole.flows[0].delivered_bytes as f64;
    assert!((0.15..0.35).contains(&share), "a quarter of the time: {share}");
}

/// A base station with a battery that lasts 1.8 s at 277 mW, and less with transmissions.
#[test]
fn a_base_with_an_empty_battery_gives_the_warning_that_it_went_off() {
    let text = r#"
duration = "10s"
[[wifi]]
mode = "ad-hoc"
standard = "802.11g"
path_loss = { model = "disc", receive = "180m" }
consumption = "esp32-c3"
stations = [{ node = "a", at = ["0m", "0m"] }, { node = "base", at = ["150m", "0m"], battery = "0.5J" }]
routing = "aodv"
[[flow]]
from = "a"
to = "base"
algorithm = "newreno"
"#;
    let (_, after, record) = said(&read(text));
    let base = &record.radios[0].stations[1];
    let died = base.died_s.expect("an empty battery");
    assert!((1.0..1.81).contains(&died) && base.battery_left_j == Some(0.0), "{base:?}");
    assert!(record.flows[0].delivered_bytes > 0);
    assert!(
        after[0].contains("station base, at which flows begin or end, went off at 1."),
        "{after:?}"
    );
}

/// Each run draws its senders. Some of the nodes can reach the base, and others cannot.
#[test]
fn the_warning_about_drawn_senders_gives_the_number_of_disconnected_nodes() {
    let text = with(&[
        ("routing", "off = [[\"n2\", \"0s\"], [\"n4\", \"0s\"]], routing"),
        ("from = \"n1\"", "from = \"n*\"\ncount = 2\ndraw = true"),
        ("40s", "5s"),
    ]);
    let scenario = read(&text);
    let before = outlook::warnings(&scenario).unwrap();
    let expected = "each of 2 flows, up-1 to up-2: nothing can arrive from 3 of the 8 nodes that it \
                    may draw: stations that are `off` when it starts separate its sender from its receiver";
    assert!(before.iter().any(|w| w == expected), "{before:?}");
    let after = hindsight::warnings(&scenario, &runs(&scenario, 6));
    assert!(after.iter().any(|w| w.contains("delivered nothing in ")), "{after:?}");
    assert!(after.iter().any(|w| w.ends_with(" of 6 runs")), "{after:?}");
}
