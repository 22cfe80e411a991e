//! The record of decisions as qlog: the members that the drafts require, and the numbers that `explain --json` has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{SMALL, call, done, scenario};

/// The records of a JSON text sequence (RFC 7464): each begins with a separator and ends with a line feed.
fn records(text: &str) -> Vec<Value> {
    let mut parts = text.split('\u{1e}');
    assert_eq!(parts.next(), Some(""), "something stands before the first separator");
    let record = |part: &str| {
        assert!(part.ends_with('\n'), "{part}");
        serde_json::from_str(part).unwrap_or_else(|e| panic!("{e}: {part}"))
    };
    parts.map(record).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn check_header(text: &str, header: &Value) {
    assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(header["serialization_format"], "application/qlog+json-seq");
    for early in ["file_schema", "serialization_format", "application/qlog+json-seq"] {
        assert!(text.find(early).is_some_and(|at| at + early.len() <= 256));
    }
    let trace = &header["trace"];
    assert!(trace["event_schemas"].as_array().is_some_and(|all| !all.is_empty()));
    assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
    // A monotonic clock has no epoch.
    let time = &trace["common_fields"]["reference_time"];
    assert_eq!([&time["clock_type"], &time["epoch"]], ["monotonic", "unknown"]);
}

/// Checks the members that the draft requires of each event, and the members without which an event has no content.
fn check_event(event: &Value) {
    assert!(number(&event["time"]) >= 0.0);
    assert!(event["group_id"].is_string());
    let data = &event["data"];
    match event["name"].as_str().expect("a name") {
        "quic:recovery_metrics_updated" => {
            assert!(data["congestion_window"].is_u64(), "{event}");
            for optional in ["ssthresh", "pacing_rate", "bytes_in_flight", "pto_count"] {
                assert!(data.get(optional).is_none_or(Value::is_u64), "{event}");
            }
        }
        "quic:congestion_state_updated" => {
            assert!(data["new"].is_string(), "{event}");
            assert!(data.get("old").is_none_or(Value::is_string), "{event}");
        }
        "quic:packet_lost" => {
            assert_eq!(data["header"]["packet_type"], "1RTT");
            assert_eq!(data["header"]["packet_number"], data["seq"]);
            let known = ["reordering_threshold", "time_threshold", "pto_expired"];
            let trigger = data.get("trigger").map(|t| t.as_str().expect("a word"));
            assert!(trigger.is_none_or(|t| known.contains(&t)), "{event}");
        }
        other => panic!("{other} is none of the draft's"),
    }
}

#[test]
fn a_qlog_file_has_the_members_of_the_drafts_and_the_data_of_explain() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("run.sqlog");
    let out = out.to_str().expect("plain");
    done(&["explain", &file, "--qlog", out]);
    let text = std::fs::read_to_string(out).expect("written");
    let all = records(&text);
    let (header, events) = all.split_first().expect("a header");
    check_header(&text, header);
    events.iter().for_each(check_event);

    let times: Vec<f64> = events.iter().map(|e| number(&e["time"])).collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut states: BTreeMap<&str, &Value> = BTreeMap::new();
    for event in events.iter().filter(|e| e["name"] == "quic:congestion_state_updated") {
        let group = event["group_id"].as_str().expect("a flow");
        let before = states.insert(group, &event["data"]["new"]);
        assert_eq!(before, event["data"].get("old"), "{event}");
    }

    // The file has each reduction with its cwnd and its losses.
    let said: Vec<Value> =
        serde_json::from_str(&done(&["explain", &file, "--json"]).out).expect("JSON");
    let (mut reductions, mut fates) = (0, 0);
    for reduction in said.iter().filter(|r| r["cause"] == "losses" || r["cause"] == "timeout") {
        let at = number(&reduction["time_s"]) * 1e3;
        let then = |e: &&Value| (number(&e["time"]) - at).abs() < 1e-6;
        let window = &reduction["cwnd_after_bytes"];
        let fell = events.iter().filter(then).any(|e| e["data"]["congestion_window"] == *window);
        assert!(fell, "{reduction}");
        for lost in reduction["lost"].as_array().expect("a list") {
            let found = events.iter().any(|e| {
                let members = lost.as_object().expect("a packet").iter();
                e["name"] == "quic:packet_lost"
                    && members.into_iter().all(|(k, v)| e["data"][k] == *v)
            });
            assert!(found, "{lost}");
            fates += usize::from(lost["fate"].is_string());
        }
        reductions += 1;
    }
    assert!(reductions > 2 && fates > 2, "{reductions} reductions, {fates} fates");
}

/// Writes a file with `explain` and this option.
fn explained(option: &str) -> (Value, String) {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("run.out");
    let out = out.to_str().expect("plain");
    done(&["explain", &file, option, out]);
    let run = serde_json::from_str(&done(&["run", &file, "--json"]).out).expect("JSON");
    (run, std::fs::read_to_string(out).expect("written"))
}

#[test]
fn a_file_for_qvis_numbers_transmissions_and_answers_each_once() {
    let (_, text) = explained("--qvis");
    let all = records(&text);
    let (header, events) = all.split_first().expect("a header");
    assert_eq!([&header["qlog_version"], &header["qlog_format"]], ["0.3", "JSON-SEQ"]);
    assert_eq!(header["trace"]["common_fields"]["time_format"], "relative");
    // Segments that are sent and not yet acknowledged, by flow and number, with their first byte.
    let mut open: BTreeMap<(&str, u64), u64> = BTreeMap::new();
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    let mut offsets: BTreeMap<(&str, u64), u64> = BTreeMap::new();
    let mut bases = BTreeSet::new();
    let mut lost = 0;
    for event in events {
        let group = event["group_id"].as_str().expect("a flow");
        let number = event["data"]["header"]["packet_number"].as_u64();
        let frame = &event["data"]["frames"][0];
        match event["name"].as_str().expect("a name") {
            "transport:packet_sent" => {
                let (number, expected) =
                    (number.expect("a number"), next.entry(group).or_default());
                assert_eq!(number, *expected);
                *expected += 1;
                let offset = frame["offset"].as_u64().expect("an offset");
                open.insert((group, number), offset);
                offsets.insert((group, number), offset);
            }
            "transport:packet_received" => {
                for range in frame["acked_ranges"].as_array().into_iter().flatten() {
                    let [from, to] = [0, 1].map(|end| range[end].as_u64().expect("a number"));
                    for n in from..=to {
                        assert!(open.remove(&(group, n)).is_some(), "{group} {n} twice or unsent");
                    }
                }
            }
            "recovery:packet_lost" => {
                // The journal and the log of packets have the same transmission number.
                let number = number.expect("a number");
                let seq = event["data"]["seq"].as_u64().expect("a sequence number");
                bases.insert(seq - offsets[&(group, number)]);
                lost += 1;
            }
            "recovery:metrics_updated" | "recovery:congestion_state_updated" => {}
            other => panic!("{other} is none of qvis's"),
        }
    }
    assert_eq!(bases.len(), 1, "{bases:?}");
    assert!(lost > 2 && offsets.len() > 100, "{lost} lost of {}", offsets.len());
    // Segments that stay open were lost, or in flight at the end.
    assert!(open.len() < offsets.len() / 10, "{} of {} open", open.len(), offsets.len());
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("run.sqlog");
    std::fs::write(&out, "mine").expect("written");
    let said = call(&["explain", &file, "--qlog", out.to_str().expect("plain")]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("run.sqlog is there already"), "{}", said.err);
    assert_eq!(std::fs::read_to_string(&out).expect("there"), "mine");
}
