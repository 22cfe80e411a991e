//! Compares the results of simulated runs with the results at the last change of the number in
//! `src/version.rs`. This number determines whether stored runs still count.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

use serde_json::Value;
use windlass_cc::ALGORITHMS;
use windlass_cc::rto::TIMERS;
use windlass_cc::slow_start::SLOW_STARTS;
use windlass_run::{Runner, Task, VERSION, World};
use windlass_scenario::Scenario;
use windlass_tcp::mptcp::Scheduler;
use windlass_tcp::stack::PRESETS;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/results.txt");

/// Two flows over a lossy bottleneck with a short queue, so that slow start, recovery, timeouts and
/// both flows' shares affect the result.
const DUMBBELL: &str = r#"
duration = "8s"
[[link]]
between = ["a", "b"]
rate = "2Mbps"
delay = "20ms"
queue = "12pkt"
loss = { model = "drop", probability = "1%" }
[[flow]]
name = "one"
from = "a"
to = "b"
algorithm = "ALGORITHM"
[[flow]]
name = "two"
from = "a"
to = "b"
algorithm = "ALGORITHM"
start = "1s"
jitter = "500ms"
"#;

/// Two paths, of which the slow one is down for two seconds. The receive buffer is too small for both, so that the
/// scheduler and the blocked window affect the result.
const TWO_PATHS: &str = r#"
duration = "8s"
[topology]
kind = "two-path"
paths = [
    { rate = "3Mbps", delay = "20ms", queue = "12pkt" },
    { rate = "1Mbps", delay = "80ms", queue = "12pkt", down = [["3s", "5s"]] },
]
[[flow]]
from = "server"
to = "client"
algorithm = "lia"
[flow.multipath]
scheduler = "SCHEDULER"
receive_buffer = "60kB"
subflows = [{ name = "fast", via = ["a1"] }, { name = "slow", via = ["a2"] }]
"#;

/// Other scenarios of the repository: radio, multipath, drawn ends and energy.
const FILES: [&str; 5] =
    ["dumbbell.toml", "lossy-download.toml", "two-path.toml", "two-rates.toml", "wifi-cell.toml"];

fn scenarios() -> Vec<(String, Scenario)> {
    let read =
        |name: &str, text: &str| Scenario::from_str(text, name).unwrap_or_else(|e| panic!("{e}"));
    let algorithms = ALGORITHMS.iter().map(|info| {
        (info.id.to_owned(), read("dumbbell.toml", &DUMBBELL.replace("ALGORITHM", info.id)))
    });
    // Two flows of NewReno with other keys of the flows and of the stack.
    let newreno = |name: String, flow: &str, stack: &str| {
        let flows = DUMBBELL.replace("\"ALGORITHM\"", &format!("\"newreno\"\n{flow}"));
        let text = format!("{flows}[stack]\n{stack}\n");
        let scenario = read("dumbbell.toml", &text);
        (name, scenario)
    };
    let starts = SLOW_STARTS.iter().map(|info| {
        let key = format!("slow_start = \"{}\"", info.id);
        newreno(format!("slow-start-{}", info.id), &key, "")
    });
    let timers = TIMERS.iter().map(|info| {
        let key = format!("rto = {{ algorithm = \"{}\" }}", info.id);
        newreno(format!("timer-{}", info.id), "", &key)
    });
    let presets = PRESETS.iter().map(|preset| {
        let key = format!("preset = \"{}\"", preset.name);
        newreno(format!("preset-{}", preset.name), "", &key)
    });
    let schedulers = Scheduler::ALL.iter().map(|(name, _)| {
        let text = TWO_PATHS.replace("SCHEDULER", name);
        (format!("scheduler-{name}"), read("two-paths.toml", &text))
    });
    let files = FILES.iter().map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
        let mut scenario = Scenario::from_file(path).unwrap_or_else(|e| panic!("{e}"));
        scenario.duration = scenario.duration.min(windlass_cc::Span::from_secs(10));
        ((*name).to_owned(), scenario)
    });
    let varied = starts.chain(timers).chain(presets);
    algorithms.chain(varied).chain(schedulers).chain(files).collect()
}

/// The record of each scenario, by name.
fn records() -> Vec<(String, Value)> {
    let runner = Runner::new(0);
    let record = |(name, scenario): (String, Scenario)| {
        let task = Task {
            experiment: "golden".to_owned(),
            point: "all".to_owned(),
            seed: 1,
            scenario_hash: "".into(),
            scenario: Arc::new(scenario),
            world: World::Sim,
        };
        let ran = runner.run(&task).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut record = task.record(&ran);
        record.version.clear();
        (name, serde_json::to_value(&record).expect("JSON"))
    };
    scenarios().into_iter().map(record).collect()
}

/// Names of all fields.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inner)| {
            found.insert(name.clone());
            fields(inner, found);
        }),
        Value::Array(all) => all.iter().for_each(|inner| fields(inner, found)),
        _ => {}
    }
}

/// The value with these fields only.
fn only(value: &Value, known: &BTreeSet<String>) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, _)| known.contains(*name));
            Value::Object(kept.map(|(name, inner)| (name.clone(), only(inner, known))).collect())
        }
        Value::Array(all) => Value::Array(all.iter().map(|inner| only(inner, known)).collect()),
        same => same.clone(),
    }
}

/// The number of results, the fields, and one line per scenario with a checksum of these fields of its record.
fn golden(records: &[(String, Value)], known: &BTreeSet<String>) -> String {
    let mut out = format!("{}\n", VERSION.split_once('+').expect("a number of results").1);
    let _ =
        writeln!(out, "fields {}", known.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    for (name, record) in records {
        let json = only(record, known).to_string();
        let _ = writeln!(out, "{name} {:08x}", crc32fast::hash(json.as_bytes()));
    }
    out
}

/// A new field or a new scenario moves no result.
#[test]
fn results_move_only_with_their_number() {
    let (kept, records) = (fs::read_to_string(GOLDEN).unwrap_or_default(), records());
    let known = kept.lines().find_map(|line| line.strip_prefix("fields ")).unwrap_or_default();
    let now = golden(&records, &known.split(' ').map(str::to_owned).collect());
    let moved: Vec<&str> = kept.lines().filter(|line| !now.lines().any(|n| n == *line)).collect();
    let raised = kept.lines().next() != now.lines().next();
    if env::var_os("WINDLASS_BLESS").is_some() && (raised || moved.is_empty()) {
        let mut all = BTreeSet::new();
        records.iter().for_each(|(_, record)| fields(record, &mut all));
        fs::write(GOLDEN, golden(&records, &all)).expect("written");
        return;
    }
    assert!(
        moved.is_empty() && !kept.is_empty(),
        "simulated runs come to other results: {}\nIf that is meant, raise the number in \
         lab/windlass-run/src/version.rs, so that stored runs are made again, and call this test \
         with WINDLASS_BLESS=1",
        moved.join(", ")
    );
}
