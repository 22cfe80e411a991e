//! Comparing algorithms from the command line.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{SMALL, assert_same_files, call, done, forms, scenario, windlass};
use serde_json::Value;

/// Two flows and a stream of datagrams over a link of 2 Mbit/s.
const SHARED: &str = r#"
duration = "8s"

[[link]]
name = "wire"
between = ["server", "client"]
rate = "2Mbps"
delay = "10ms"
queue = "30pkt"

[[flow]]
name = "first"
from = "server"
to = "client"
algorithm = "reno"

[[flow]]
name = "second"
from = "server"
to = "client"
algorithm = "reno"
start = "100ms"

[[flow]]
name = "voice"
from = "server"
to = "client"
traffic = { kind = "cbr", rate = "64kbps", packet = "160B", transport = "udp" }
"#;

fn compare<'a>(file: &'a str, algorithms: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["compare", file, "--algorithms", algorithms], more].concat()
}

fn path(dir: &Path) -> &str {
    dir.to_str().expect("a plain path")
}

#[test]
fn tables_rank_the_algorithms_and_show_harm() {
    let (_dir, file) = scenario(SHARED);
    let said = done(&compare(&file, "reno,vegas", &["--seeds", "3", "--jitter", "200ms"]));
    for part in [
        "case: 8 s simulated, 2 flows, 3 seeds, 1 to 3",
        "goodput (Mbit/s)",
        "queueing delay (ms)",
        "Jain's index",
        "Ranking by goodput (Mbit/s): more is better",
        "Harm to the other's goodput",
        "Harm to the other's RTT",
        "harm by",
        "to vegas",
    ] {
        assert!(said.out.contains(part), "{} lacks {part}", said.out);
    }
    assert!(said.out.lines().all(|l| l.chars().count() <= 120), "{}", said.out);
    assert!(said.err.contains("24 runs, "), "{}", said.err);
}

/// Messages are ranked by their latency, CoAP without a deadline by its exchanges.
#[test]
fn the_usual_ranking_follows_the_traffic() {
    let coap = "traffic = { kind = 'coap', every = '1s', size = '20B' }";
    let messages = "algorithm = 'reno'\ntraffic = { kind = 'messages', every = '1s', size = '20B', deadline = '1s' }";
    for (traffic, algorithms, title) in [
        (messages, "reno,cubic", "Ranking by message latency, 99 % (ms): less is better"),
        (coap, "coap,cocoa", "Ranking by CoAP exchange, 95 % (ms): less is better"),
    ] {
        let (link, _) = SHARED.split_once("[[flow]]").expect("flows");
        let flow =
            format!("[[flow]]\nname = 'report'\nfrom = 'server'\nto = 'client'\n{traffic}\n");
        let (_dir, file) = scenario(&(link.to_owned() + &flow));
        let said = done(&compare(&file, algorithms, &["--seeds", "2", "--no-harm"]));
        assert!(said.out.contains(title), "{}", said.out);
    }
}

#[test]
fn json_has_rankings_and_harm_and_csv_one_row_a_measure_and_algorithm() {
    let (_dir, file) = scenario(SHARED);
    let args = compare(&file, "reno,vegas,cubic", &["--seeds", "2", "--jitter", "200ms"]);
    let said = done(&[&args[..], &["--json", "--metric", "queueing-delay"]].concat());
    let document: Value = serde_json::from_str(&said.out).expect("one JSON document");
    assert_eq!(document["algorithms"], serde_json::json!(["reno", "vegas", "cubic"]));
    assert_eq!(document["flows"], serde_json::json!(["first", "second"]));
    assert_eq!(document["seeds"], serde_json::json!([1, 2]));
    assert_eq!(document["rankings"][0]["measure"], "queueing-delay");
    assert_eq!(document["rankings"].as_array().map(Vec::len), Some(5), "no completion: endless");
    assert_eq!(document["harm"][0]["cells"].as_array().map(Vec::len), Some(9));
    let best = document["rankings"][0]["entries"][0]["algorithm"].as_u64();
    assert_eq!(best, Some(1), "Vegas keeps queues short");

    let said = done(&[&args[..], &["--csv", "--no-harm", "--baseline", "reno"]].concat());
    let mut lines = said.out.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    assert_eq!(lines.clone().count(), 5 * 3);
    let column = |name: &str| head.iter().position(|h| *h == name).expect(name);
    let (measure, algorithm, versus) = (column("measure"), column("algorithm"), column("versus"));
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(!cells[measure].is_empty());
        let expected = if cells[algorithm] == "reno" { "" } else { "reno" };
        assert_eq!(cells[versus], expected, "{line}");
    }
}

#[test]
fn algorithms_see_the_same_losses_so_that_one_under_two_names_does_the_same() {
    let (_dir, file) = scenario(SMALL);
    let twice = "newreno,newreno:initial_ssthresh=1TiB";
    let said = done(&compare(&file, twice, &["--seeds", "4", "--json"]));
    let document: Value = serde_json::from_str(&said.out).expect("JSON");
    for ranking in document["rankings"].as_array().expect("rankings") {
        assert_eq!(ranking["entries"][1]["versus"]["outcome"], "identical", "{ranking}");
        assert_eq!(ranking["entries"][1]["versus"]["difference"], 0.0);
    }
    assert_eq!(document["seedless"], false, "losses differ from seed to seed");
}

#[test]
fn a_scenario_without_randomness_has_a_remark() {
    let (_dir, file) = scenario(SHARED);
    let said = done(&compare(&file, "reno,vegas", &["--seeds", "2", "--no-harm"]));
    assert!(said.out.contains("No run depends on its seed"), "{}", said.out);
    let said =
        done(&compare(&file, "reno,vegas", &["--seeds", "2", "--no-harm", "--jitter", "1s"]));
    assert!(!said.out.contains("No run depends on its seed"), "{}", said.out);
}

#[test]
fn flows_that_are_not_named_keep_their_algorithm() {
    let (dir, file) = scenario(SHARED);
    let out = dir.path().join("out");
    let more = ["--flows", "second", "--seeds", "2", "--no-harm", "--out", path(&out)];
    done(&compare(&file, "vegas,cubic", &more));
    let kept = forms(&out, "scenarios", "case", "all=cubic").remove(0);
    let kept = fs::read_to_string(kept).expect("a scenario");
    let algorithms: Vec<&str> =
        kept.lines().filter_map(|l| l.strip_prefix("algorithm = ")).collect();
    assert_eq!(algorithms, ["\"reno\"", "\"cubic\"", "\"none\""]);
}

#[test]
fn the_folder_does_not_depend_on_the_number_of_jobs() {
    let (dir, file) = scenario(SHARED);
    let said = ["1", "3"].map(|jobs| {
        let out = dir.path().join(jobs);
        let more = ["--seeds", "3", "--jitter", "1s", "--jobs", jobs, "--out", path(&out)];
        done(&compare(&file, "reno,bbr", &more)).out
    });
    assert_eq!(said[0], said[1]);
    // Lock, report, three tables of the runs, two forms of ranking and harm, eight scenarios.
    assert_eq!(assert_same_files(&dir.path().join("1"), &dir.path().join("3")), 17);
    let page = fs::read_to_string(dir.path().join("1/report.html")).expect("a report");
    for part in [
        "Goodput against queueing delay",
        "Harm between algorithms",
        "--jitter 1s",
        "windlass compare",
    ] {
        assert!(page.contains(part), "the report lacks {part}");
    }
}

/// Waiting times that differ from kill to kill, milliseconds.
const WAITS: [u64; 8] = [20, 60, 35, 110, 15, 80, 150, 50];

#[test]
fn a_comparison_killed_at_any_moment_ends_as_one_in_a_single_go() {
    let (dir, file) = scenario(SHARED.replace("duration = \"8s\"", "duration = \"20s\""));
    let [whole, killed] = ["whole", "killed"].map(|name| dir.path().join(name));
    let args =
        |out| compare(&file, "reno,cubic,bbr", &["--seeds", "6", "--jitter", "1s", "--out", out]);
    let first = done(&args(path(&whole)));
    let mut interrupted = 0;
    for wait in WAITS {
        let mut child = windlass(&[&args(path(&killed))[..], &["--jobs", "2"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        sleep(Duration::from_millis(wait));
        interrupted += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("killed, or ended before");
        child.wait().expect("a child");
    }
    assert!(interrupted >= 2, "only {interrupted} of the kills met a running comparison");
    let last = done(&args(path(&killed)));
    assert_eq!(last.out, first.out);
    assert_same_files(&whole, &killed);
    let again = done(&args(path(&killed)));
    assert!(again.err.contains("90 of 90 runs are there already"), "{}", again.err);
    assert_eq!(again.out, first.out);
}

#[test]
fn errors_are_one_line_with_a_remedy() {
    let (_dir, file) = scenario(SHARED);
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "cubic,bbrr",
            &[],
            "--algorithms bbrr: `algorithm`: unknown value `bbrr`; did you mean `bbr`?",
        ),
        ("cubic", &[], "--algorithms: a comparison needs at least two"),
        ("cubic,cubic", &[], "`cubic` is listed twice"),
        ("cubic,none", &[], "`none` is for datagrams"),
        ("cubic,newreno:increas=per-byte", &[], "did you mean `increase`?"),
        ("cubic,bbr", &["--flows", "thrid"], "--flows: the scenario has no flow `thrid`"),
        ("cubic,bbr", &["--flows", "secnd"], "did you mean `second`?"),
        ("cubic,bbr", &["--flows", "voice"], "flow `voice` sends datagrams"),
        ("cubic,bbr", &["--baseline", "reno"], "--baseline reno: it is not among"),
        ("cubic,bbr", &["--jitter", "8s"], "when the run has ended (8s)"),
        ("cubic,bbr", &["--set", "flow.0.rat=1"], "unknown key `rat`"),
        ("cubic,bbr:drain=1", &[], "unknown key `drain`"),
        (
            "cubic,newreno:increase=per-byte",
            &["--on", "linux-vt"],
            "select an algorithm by its name",
        ),
    ];
    for (algorithms, more, expected) in cases {
        let said = call(&compare(&file, algorithms, more));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{algorithms} {more:?}");
        assert!(said.err.contains(expected), "{algorithms} {more:?}: {}", said.err);
        assert!(said.err.starts_with("error: "), "{}", said.err);
    }
    // Errors of clap.
    for more in
        [&["--seeds", "0"][..], &["--metric", "speed"], &["--jitter", "1"], &["--json", "--csv"]]
    {
        let said = call(&compare(&file, "cubic,bbr", more));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{more:?}: {}", said.err);
    }
}

#[test]
fn a_metric_missing_from_the_scenario_has_a_remark() {
    let (_dir, file) = scenario(SHARED);
    let more = ["--metric", "completion", "--seeds", "2", "--no-harm"];
    let said = done(&compare(&file, "reno,vegas", &more));
    assert!(said.err.contains("note: this scenario has no completion (s)"), "{}", said.err);
}
