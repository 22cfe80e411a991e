//! Multipath flows from the scenario to the results.

use windlass_cc::Span;
use windlass_lab::claims::Metric;
use windlass_lab::compile::compile;
use windlass_lab::run::fields::{MULTIPATH, SUBFLOWS};
use windlass_lab::run::store::{Place, SeriesRun, table};
use windlass_lab::run::{Runner, Task, World, simulate};
use windlass_lab::scenario::Scenario;
use windlass_lab::{outlook, overview};
use windlass_sim::Series;
use windlass_tcp::fitness::Reading;
use windlass_tcp::mptcp::Scheduler;

fn read(text: &str) -> Scenario {
    Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn set(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Scenario::with_overrides(text, "s.toml", &overrides).map_err(|e| e.to_string())
}

fn example() -> Scenario {
    let path = format!("{}/../../scenarios/two-path.toml", env!("CARGO_MANIFEST_DIR"));
    Scenario::from_file(path).expect("an example")
}

const TEXT: &str = r#"
duration = "20s"
stack = { receive_buffer = "100kB" }
topology = { kind = "two-path", paths = [{ rate = "3Mbps", delay = "20ms" }, { rate = "1Mbps", delay = "40ms" }] }

[[flow]]
name = "download"
from = "server"
to = "client"
algorithm = "reno"
params = { initial_ssthresh = "20kB" }

[flow.multipath]
scheduler = "round-robin"

[[flow.multipath.subflows]]
name = "wifi"
via = ["a1"]

[[flow.multipath.subflows]]
name = "lte"
via = ["a2"]
algorithm = "cubic"
"#;

#[test]
fn a_subflow_inherits_the_settings_of_its_flow() {
    let scenario = read(TEXT);
    let flow = &scenario.flows[0];
    let multipath = flow.multipath.as_ref().unwrap();
    assert_eq!(multipath.config.scheduler, Scheduler::RoundRobin);
    assert_eq!(multipath.config.receive_buffer, 100_000);
    let [wifi, lte] = multipath.subflows.as_slice() else { panic!("two") };
    assert_eq!((wifi.name.as_str(), Some(wifi.controller)), ("wifi", flow.controller));
    assert_eq!(lte.controller.info().id, "cubic");
    let config = compile(&scenario, 1).unwrap();
    let compiled = config.flows[0].multipath.as_ref().unwrap();
    assert_eq!(compiled.subflows[1].profile.params.info().id, "cubic");
    assert_eq!(scenario.tracks(), ["download", "download:wifi", "download:lte"]);
}

#[test]
fn two_paths_have_separate_links_and_may_share_a_last_link() {
    let names = |scenario: &Scenario| {
        let links = scenario.links.iter().map(|l| {
            let end = |n: usize| scenario.nodes[n].as_str();
            format!("{}:{}-{}", l.name, end(l.a), end(l.b))
        });
        links.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        names(&read(TEXT)),
        "access-a1:client-a1 path-1:a1-b1 access-b1:b1-server \
         access-a2:client-a2 path-2:a2-b2 access-b2:b2-server"
    );
    let shared = set(TEXT, &[("topology.shared", "{ rate = \"2Mbps\" }")]).unwrap();
    assert!(names(&shared).ends_with("access-b2:b2-m shared:m-server"), "{}", names(&shared));
    let ways = shared.ways();
    let links = |nodes: &Vec<usize>| ways.through(nodes).unwrap().len();
    assert_eq!(shared.flows[0].ways().iter().map(links).collect::<Vec<_>>(), [4, 4]);
}

#[test]
fn the_resolved_form_keeps_subflows_and_outages() {
    let scenario = example();
    assert_eq!(scenario.links[4].down, [[Span::from_secs(20), Span::from_secs(30)]]);
    let again = Scenario::from_str(&scenario.resolved_toml(), "t.toml").unwrap();
    assert_eq!((&again, again.hash()), (&scenario, scenario.hash()));
    let mut plain = scenario.clone();
    plain.flows[0].multipath = None;
    plain.links[4].down.clear();
    let text = plain.resolved_toml();
    assert!(!text.contains("multipath") && !text.contains("down ="), "{text}");
    assert_ne!(plain.hash(), scenario.hash());
}

#[test]
fn overrides_select_subflows_by_name_or_number() {
    for subflow in ["lte", "1"] {
        let key = format!("flow.download.multipath.subflows.{subflow}");
        let changed = set(
            TEXT,
            &[
                (&format!("{key}.algorithm"), "newreno"),
                (&format!("{key}.params.increase"), "per-byte"),
            ],
        );
        let subflows = changed.unwrap().flows[0].multipath.clone().unwrap().subflows;
        assert_eq!(subflows[1].controller.info().id, "newreno");
    }
    let scheduler = set(TEXT, &[("flow.download.multipath.scheduler", "blest")]).unwrap();
    let config = scheduler.flows[0].multipath.as_ref().unwrap().config;
    assert_eq!(config.scheduler, Scheduler::Blest);
}

#[test]
fn each_mistake_in_a_multipath_flow_has_one_error_message() {
    for (part, instead, expected) in [
        ("\"a2\"", "\"a3\"", "s.toml:22:8: `via`: no link mentions a node `a3`"),
        ("round-robin", "round-robbin", "did you mean `round-robin`?"),
        ("name = \"lte\"", "name = \"wifi\"", "s.toml:21:8: there is already a subflow `wifi`"),
        ("algorithm = \"cubic\"", "algorithm = \"cubik\"", "did you mean `cubic`?"),
        ("algorithm = \"cubic\"", "algorithm = \"none\"", "a subflow needs one such as `reno`"),
        ("via = [\"a2\"]", "vai = [\"a2\"]", "unknown key `vai` in a subflow; did you mean `via`?"),
        (
            "scheduler = \"round-robin\"",
            "receive_buffer = \"0B\"",
            "`receive_buffer`: 0B is outside the range from 1B to 1TiB",
        ),
        ("{ rate = \"1Mbps\", delay = \"40ms\" }", "", "there are two paths, each a table, not 1"),
        (
            "delay = \"40ms\"",
            "down = [[\"2s\", \"1s\"]]",
            "`down`: each outage begins after the one before it, and ends later",
        ),
        (
            "delay = \"40ms\"",
            "down = [[\"2s\"]]",
            "`down`: an outage is two times, such as `[\"10s\", \"20s\"]`, not 1",
        ),
        ("kind = \"two-path\",", "kind = \"two-path\", pairs = 2,", "unknown key `pairs`"),
    ] {
        let text = TEXT.replace(part, instead);
        assert_ne!(text, TEXT, "{part}");
        let error = Scenario::from_str(&text, "s.toml").expect_err(instead).to_string();
        assert!(error.contains(expected), "{error}\nlacks\n{expected}");
    }
    let none = set(TEXT, &[("flow.download.multipath", "{ subflows = [] }")]).unwrap_err();
    assert!(none.contains("a connection has from 1 to 8 of them, not 0"), "{none}");
    let lost = set(TEXT, &[("flow.download.multipath", "{ scheduler = \"ecf\" }")]).unwrap_err();
    assert!(lost.contains("`multipath` lacks the key `subflows`"), "{lost}");
    let udp = "{ kind = \"cbr\", transport = \"udp\", rate = \"1Mbps\", packet = \"100B\" }";
    let text = TEXT.replace(
        "algorithm = \"reno\"\nparams = { initial_ssthresh = \"20kB\" }\n",
        &format!("traffic = {udp}\n"),
    );
    let error = Scenario::from_str(&text, "s.toml").unwrap_err().to_string();
    assert!(error.contains("only a TCP flow has subflows"), "{error}");
    let island = TEXT.to_owned() + "[[link]]\nbetween = [\"island\", \"reef\"]\nrate = \"1Mbps\"\n";
    let error = Scenario::from_str(&island.replace("\"a2\"", "\"reef\""), "s.toml").unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`via`: no links lead along server > reef > client"), "{error}");
}

#[test]
fn one_subflow_alone_is_a_connection() {
    let one = "{ subflows = [{ via = [\"a2\"] }] }";
    let scenario = set(TEXT, &[("flow.download.multipath", one)]).unwrap();
    let result = simulate(&scenario, 1).unwrap();
    let m = result.flows[0].multipath.as_ref().unwrap();
    assert_eq!((m.subflows[0].name.as_str(), m.subflows[0].share), ("1", 1.0));
    assert!(result.flows[0].goodput_bps > 0.85e6 && result.flows[0].goodput_bps < 1e6);
}

#[test]
fn the_summary_gives_the_path_of_each_subflow() {
    let paths = outlook::paths(&read(TEXT)).unwrap();
    let told: Vec<_> = paths.iter().map(|p| (p.flow.as_str(), p.bottleneck.as_str())).collect();
    assert_eq!(told, [("download:wifi", "path-1:b1>a1"), ("download:lte", "path-2:b2>a2")]);
    assert_eq!(paths[1].window_bytes, Some(100_000));
    // 8 MB in 20 s need both paths together, for which no warning exists.
    let bytes = [("flow.download.traffic", "{ kind = \"bulk\", bytes = \"8MB\" }")];
    let warnings = outlook::warnings(&set(TEXT, &bytes).unwrap()).unwrap();
    assert!(warnings.iter().all(|w| !w.contains("need at least")), "{warnings:?}");
}

#[test]
fn results_name_subflows_in_tables_series_metrics_and_the_overview() {
    let mut scenario = example();
    scenario.duration = Span::from_secs(40);
    let hash = scenario.hash().into();
    let task = Task {
        experiment: "two-path".into(),
        point: "all".into(),
        seed: 1,
        scenario: scenario.clone().into(),
        scenario_hash: hash,
        world: World::Sim,
    };
    let ran = Runner::new(1).run(&task).unwrap();
    let record = task.record(&ran);
    let of = |path: &str| Metric::parse(path).unwrap().of(&record).expect(path);
    assert!(of("subflow.download:wifi.share") > 0.7);
    assert!(of("subflow.download:lte.rto_count") > 0.0);
    assert!(of("multipath.download.reinjections") > 0.0);
    let rows = SUBFLOWS.table(std::slice::from_ref(&record)).rows();
    assert_eq!(rows, 2);
    assert_eq!(MULTIPATH.table(std::slice::from_ref(&record)).rows(), 1);
    let text = overview::text(&scenario, std::slice::from_ref(&record), 120);
    assert!(
        text.contains("download:lte") && text.contains("reinjections on another subflow"),
        "{text}"
    );
    let series = SeriesRun {
        place: Place { experiment: "two-path", point: "all", form: "0123abcd" },
        seed: 1,
        flows: &scenario.tracks(),
        samples: &ran.result.samples,
    };
    let mut names: Vec<String> = Vec::new();
    for part in table::series([series]) {
        let flow = part.columns.iter().find(|c| c.name == "flow").unwrap();
        let table::Values::Text(values) = &flow.values else { panic!("text") };
        names.extend(values.iter().flatten().cloned());
    }
    names.sort();
    names.dedup();
    assert_eq!(names, ["download", "download:lte", "download:wifi"]);
    let windows = |flow| {
        let mine = ran.result.samples.iter().filter(move |s| s.flow == flow);
        mine.filter(|s| s.series == Series::Cwnd).count()
    };
    assert!(windows(1) > 20 && windows(2) > 20);
    // The record reads back from a journal unchanged.
    let json = serde_json::to_string(&record).unwrap();
    let again: windlass_lab::run::RunRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(again, record);
}

/// A connection over two disjoint routes of a square of nine stations.
const MESH: &str = r#"
duration = "20s"

[topology]
kind = "grid"
rows = 3
columns = 3
spacing = "150m"
wireless = { standard = "802.11b", routing = "aodv" }

[[flow]]
name = "report"
from = "n1"
to = "n9"
algorithm = "cocoa3plus"
multipath = { scheduler = "fpf", disjoint = true, subflows = [{ name = "a" }, { name = "b" }] }
"#;

#[test]
fn a_flow_over_two_disjoint_routes_is_read_written_and_run() {
    let scenario = read(MESH);
    let spec = scenario.flows[0].multipath.as_ref().unwrap();
    assert_eq!(spec.config.scheduler, Scheduler::Fpf(Reading::Repaired));
    assert!(spec.disjoint);
    let again = read(&scenario.resolved_toml());
    assert_eq!(again.flows, scenario.flows);
    assert!(compile(&scenario, 1).unwrap().flows[0].multipath.as_ref().unwrap().disjoint);
    let result = simulate(&scenario, 1).unwrap();
    let flow = &result.flows[0];
    assert!(flow.delivered_bytes > 100_000, "{flow:?}");
}

#[test]
fn errors_of_invalid_disjoint_routes_have_a_place() {
    let cases = [
        (
            "routing = \"aodv\"",
            "routing = \"static\"",
            "cross a Wi-Fi cell with `routing = \"aodv\"`",
        ),
        ("{ name = \"b\" }", "{ name = \"b\" }, { name = \"c\" }", "over the cell `wifi`, not 3"),
        (", { name = \"b\" }", "", "over the cell `wifi`, not 1"),
        (
            "{ name = \"b\" }",
            "{ name = \"b\", via = [\"n5\"] }",
            "`b` crosses the cell `wifi` twice",
        ),
    ];
    for (old, new, expected) in cases {
        let text = MESH.replace(old, new);
        assert_ne!(text, MESH);
        let error = Scenario::from_str(&text, "s.toml").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.starts_with("s.toml:16:"), "{error}");
        assert!(error.contains("`disjoint`"), "{error}");
    }
    let pair = MESH.replace(
        "routing = \"aodv\"",
        "routing = { protocol = \"aodv\", disjoint = [[\"report\", \"report\"]] }",
    );
    let error = Scenario::from_str(&pair, "s.toml").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("take disjoint routes with `disjoint = true`"), "{error}");
}

/// The form in a paper's experiments: the seed draws the senders, and one override sets the whole table.
#[test]
fn one_override_gives_each_drawn_sender_two_routes() {
    let text = MESH
        .replace("name = \"report\"", "name = \"sensor\"\ncount = 3\ndraw = true")
        .replace("from = \"n1\"\nto = \"n9\"", "from = \"n*\"\nto = \"base\"");
    let plain: String = text
        .lines()
        .filter(|l| !l.starts_with("multipath"))
        .fold(String::new(), |all, line| all + line + "\n");
    let table = "{ scheduler = \"fpf\", disjoint = true, subflows = [{}, {}] }";
    let scenario = set(&plain, &[("flow.sensor.multipath", table)]).expect("valid");
    assert_eq!(scenario.flows.len(), 3);
    for seed in 1..=3 {
        let result = simulate(&scenario, seed).unwrap();
        let delivered: Vec<u64> = result.flows.iter().map(|f| f.delivered_bytes).collect();
        assert!(delivered.iter().sum::<u64>() > 100_000, "{delivered:?}");
        let joins = result.flows.iter().filter_map(|f| f.multipath.as_ref()).map(|m| m.joins);
        assert!(joins.sum::<u64>() > 0, "no second subflow");
    }
}
