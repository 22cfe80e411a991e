//! The outputs that other programs and the documentation rely on.

use std::collections::BTreeSet;

use crate::support::{SMALL, call, done, scenario};
use serde_json::Value;
use windlass_lab::claims::Verdict;

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn run_json_is_one_document_with_flows_and_links() {
    let (_dir, file) = scenario(SMALL);
    let said = done(&["run", &file, "--json"]);
    let document: Value = serde_json::from_str(&said.out).expect("one JSON document");
    let flows = document["flows"].as_array().expect("flows");
    let links = document["links"].as_array().expect("links");
    assert_eq!((flows.len(), links.len()), (1, 2));
    let flow = &flows[0];
    for key in ["goodput_bps", "throughput_bps", "loss_rate", "srtt_ms", "completion_s"] {
        assert!(flow[key].as_f64().is_some_and(|v| v > 0.0), "{key}: {}", flow[key]);
    }
    for key in ["retransmits", "rto_count", "data_segments", "delivered_bytes"] {
        assert!(flow[key].is_u64(), "{key}: {}", flow[key]);
    }
    assert_eq!(flow["name"], "download");
    assert_eq!(flow["delivered_bytes"], 300_000);
    assert!(flow["throughput_bps"].as_f64() > flow["goodput_bps"].as_f64(), "2 % were lost");
    for link in links {
        let count = |key: &str| link[key].as_u64().unwrap_or_else(|| panic!("{key}: {link}"));
        assert_eq!(count("sent"), count("delivered") + count("drops") + count("inside"));
        assert!(link["utilisation"].as_f64().is_some_and(|u| u > 0.0 && u <= 1.0));
    }
    assert_eq!(links[0]["name"], "wire:server>client");
}

#[test]
fn missing_values_of_a_run_are_null_in_json() {
    let endless = SMALL.replace("traffic = { kind = \"bulk\", bytes = \"300kB\" }", "");
    let (_dir, file) = scenario(endless);
    let document: Value = serde_json::from_str(&done(&["run", &file, "--json"]).out).expect("JSON");
    let flow = keys(&document["flows"][0]).into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert!(flow.contains(&"completion_s".to_owned()) && flow.contains(&"failure".to_owned()));
    assert!(document["flows"][0]["completion_s"].is_null());
}

#[test]
fn several_runs_are_distinguished_by_seed() {
    let (_dir, file) = scenario(SMALL);
    let said = done(&["run", &file, "--json", "--seed", "7", "--seeds", "3"]);
    let document: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(document["seeds"], serde_json::json!([7, 8, 9]));
    let seeds: Vec<u64> = document["flows"]
        .as_array()
        .expect("flows")
        .iter()
        .map(|f| f["seed"].as_u64().expect("a seed"))
        .collect();
    assert_eq!(seeds, [7, 8, 9]);
    assert_eq!(document["links"].as_array().map(Vec::len), Some(6));
}

#[test]
fn csv_has_a_row_for_each_flow_and_run() {
    let (_dir, file) = scenario(SMALL);
    let said = done(&["run", &file, "--csv", "--seeds", "2"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].contains("goodput_bps") && lines[0].contains("completion_s"));
    assert!(lines[1..].iter().all(|l| l.split(',').count() == lines[0].split(',').count()));
}

#[test]
fn verdicts_are_a_list_of_exactly_the_agreed_fields() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("deep/results");
    done(&["reproduce", "reno-ber", "--seeds", "1", "--out", out.to_str().expect("plain")]);
    let paper = out.join("reno-ber");
    let text = std::fs::read_to_string(paper.join("verdicts.json")).expect("verdicts");
    let verdicts: Vec<Value> = serde_json::from_str(&text).expect("a list");
    let agreed = BTreeSet::from([
        "id",
        "source",
        "quantity",
        "kind",
        "statement",
        "unit",
        "paper",
        "measured",
        "ci95",
        "n",
        "verdict",
        "note",
        "readings",
        "decided_by",
        "sides",
        "statement_verdict",
    ]);
    let words = Verdict::ALL.map(|v| v.badge().name);
    let mut ids = BTreeSet::new();
    for v in &verdicts {
        assert_eq!(keys(v), agreed);
        let id = v["id"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} twice");
        for key in ["source", "quantity", "kind", "statement", "unit", "note"] {
            assert!(v[key].is_string(), "{id} {key}");
        }
        for key in ["paper", "measured"] {
            assert!(v[key].is_number() || v[key].is_null(), "{id} {key}");
        }
        let pair =
            v["ci95"].as_array().is_some_and(|c| c.len() == 2 && c[0].as_f64() <= c[1].as_f64());
        assert!(pair || v["ci95"].is_null(), "{id} {}", v["ci95"]);
        assert!(v["n"].is_u64(), "{id}");
        assert!(words.contains(&v["verdict"].as_str().expect("a word")), "{id} {}", v["verdict"]);
    }
    assert!(verdicts.len() > 30, "{}", verdicts.len());
    let schema: Value = serde_json::from_str(&done(&["schema", "verdicts"]).out).expect("a schema");
    assert_eq!(keys(&schema["items"]["properties"]), agreed);
    let page = std::fs::read_to_string(paper.join("report.html")).expect("a report");
    assert!(page.contains("</html>"));
    for table in ["runs", "summary", "links"] {
        let bytes = std::fs::read(paper.join(format!("{table}.parquet"))).expect(table);
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    let out = out.to_str().expect("plain");
    done(&["report", "reno-ber", "--out", out, "--export", "json"]);
    done(&["report", "--out", out, "--export", "csv"]);
    for table in ["runs", "summary", "links"] {
        let json = std::fs::read(paper.join(format!("{table}.json"))).expect(table);
        let rows: Vec<Value> = serde_json::from_slice(&json).expect(table);
        let csv = std::fs::read_to_string(paper.join(format!("{table}.csv"))).expect(table);
        assert!(!rows.is_empty());
        assert_eq!(csv.lines().count(), rows.len() + 1, "{table}");
    }
}

#[test]
fn algorithms_are_listed_and_described() {
    let list = done(&["algorithms"]).out;
    for line in ["Algorithms", "Slow starts", "Timers"] {
        assert!(list.lines().any(|l| l == line), "{list}");
    }
    let cubic = done(&["algorithms", "Cubic"]).out;
    for text in ["RFC 9438", "Citation key:  rfc9438", "keep", "default 0.7", "Source: RFC 9438"] {
        assert!(cubic.contains(text), "{text}: {cubic}");
    }
    for (name, says) in
        [("cubik", "\"cubik\"; did you mean `cubic`?"), ("quux", "\"quux\"; there are tahoe, ")]
    {
        let said = call(&["algorithms", name]);
        assert_eq!(said.code, Some(2));
        assert!(said.err.contains(says), "{}", said.err);
    }
}

#[test]
fn diff_reports_equal_folders_and_changed_settings() {
    let (dir, file) = scenario(SMALL);
    let folder = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (one, twin, other) = (folder("one"), folder("twin"), folder("other"));
    for (out, more) in [(&one, &[][..]), (&twin, &[]), (&other, &["--set", "link.0.rate=1Mbps"])] {
        done(&[&["run", &file, "--seeds", "6", "--out", out][..], more].concat());
    }
    let same = done(&["diff", &one, &twin]).out;
    assert_eq!(same, "6 runs in both; 6 are the same in every field\n");
    let moved = done(&["diff", &one, &other]).out;
    assert!(moved.contains("0 are the same"), "{moved}");
    assert!(
        moved.contains("flow.*.goodput_bps") && moved.contains("differ significantly"),
        "{moved}"
    );
    let nothing = call(&["diff", &one, &folder("none")]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("holds no runs"), "{}", nothing.err);
}

#[test]
fn advice_uses_goodput_for_endless_flows_and_otherwise_completion() {
    let profile = [
        "choose",
        "--rate",
        "1Mbps",
        "--rtt",
        "20ms",
        "--algorithms",
        "reno,cubic",
        "--seeds",
        "6",
    ];
    assert!(done(&profile).out.contains("goodput"));
    assert!(done(&[&profile[..], &["--transfer", "20kB"]].concat()).out.contains("completion"));
    let endless = call(&[&profile[..], &["--aim", "completion"]].concat());
    assert_eq!(endless.code, Some(2));
    assert!(endless.err.contains("nothing that is sent has an end"), "{}", endless.err);
}

#[test]
fn contradictory_options_are_one_error_with_a_remedy() {
    let profile = "choose --rate 1Mbps --rtt 20ms";
    for (command, expected) in [
        ("choose --rate 0bps --rtt 20ms".to_owned(), "--rate 0bps carries nothing"),
        ("choose --rate 100bps --rtt 1ms".to_owned(), "take 6.400 s alone, and --rtt says 1ms"),
        (
            format!("{profile} --loss 60% --transfer 1MB"),
            "so that nothing arrives; use a lower loss rate",
        ),
        (format!("{profile} --memory 0B"), "smallest state with 48 bytes per connection"),
        (format!("{profile} --flash 1B --algorithms cubic,reno"), "bytes of flash; the limit is 1"),
        (format!("{profile} --aim energy"), "no battery life"),
        (format!("{profile} --seeds 3"), "expected 6 or more"),
        (format!("{profile} --on linux-vt"), "choose some, such as `--algorithms cubic,bbr`"),
        (format!("{profile} --algorithms cubic,linux:nv"), "choose linux or linux-vt"),
        (
            format!("{profile} --memory 104B --algorithms cubic,linux:nv --on linux-vt"),
            "linux:nv has no measured cost",
        ),
        ("assess cubic --budget 0s".to_owned(), "--quick takes two minutes"),
        ("assess linux:nv".to_owned(), "choose linux or linux-vt"),
        ("break bbr --goal harm".to_owned(), "`--rival cubic`"),
        ("break bbr --runs 0".to_owned(), "expected 25 or more"),
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        let said = call(&words);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{command}");
        assert!(said.err.contains(expected), "{command}: {}", said.err);
        assert_eq!(said.err.matches("error:").count(), 1, "{command}: {}", said.err);
    }
}

#[test]
fn an_old_name_works_and_gives_one_warning_with_the_new_name() {
    for (words, warning) in [
        (&["twin", "--help"][..], "warning: `twin` is now `replay`; "),
        (
            &["reproduce", "--readings", "--help"],
            "warning: `--readings` is now `--interpretations`; ",
        ),
    ] {
        let answer = call(words);
        assert_eq!(answer.code, Some(0));
        assert!(answer.err.starts_with(warning), "{}", answer.err);
        assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
    }
    assert_eq!(call(&["replay", "--help"]).err, "");
}

#[test]
fn failed_check_of_an_audit_has_a_page_a_capture_and_a_picture() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a name");
    // The preset of ns-3 has a first timeout of 3 s, and passes the check of the initial window.
    let checks = ["--check", "first-timeout", "--check", "initial-window"];
    let arguments = [&["audit", "newreno", "--stack", "ns3", "--out", out], &checks[..]].concat();
    let said = done(&arguments);
    assert!(said.out.contains("1 fails"), "{}", said.out);
    let folder = std::fs::read_dir(dir.path()).expect("a folder").next().expect("a stack");
    let read = |name: &str| {
        std::fs::read_to_string(folder.as_ref().expect("an entry").path().join(name)).ok()
    };
    let page = read("audit.md").expect("a page");
    assert!(page.contains("](first-timeout.svg)") && !page.contains("](initial-window.svg)"));
    let picture = read("first-timeout.svg").expect("a picture");
    assert!(picture.contains("the packet is repeated too late"), "{picture}");
    assert!(read("initial-window.svg").is_none() && read("start.pcapng").is_none());
}
