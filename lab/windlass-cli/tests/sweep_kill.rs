//! A sweep that is killed at any time resumes with the same results.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{SMALL, done, scenario, windlass};
use serde_json::Value;

const KILLS: u32 = 100;
/// Runs of the whole sweep: three points of forty seeds.
const RUNS: usize = 120;

/// The records of a journal by point and seed. Each line is complete, except an incomplete line at
/// the end.
fn records(journal: &Path) -> BTreeMap<(String, u64), Value> {
    let text = fs::read_to_string(journal).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut found = BTreeMap::new();
    for line in whole.lines() {
        let line: Value = serde_json::from_str(line).expect("a whole line is JSON");
        let record = line["record"].clone();
        let key = (record["point"].as_str().expect("a point").to_owned(), record["seed"].as_u64());
        let twice = found.insert((key.0.clone(), key.1.expect("a seed")), record);
        assert!(twice.is_none(), "{key:?} twice");
    }
    found
}

#[test]
fn a_hundred_kills_lose_nothing_double_nothing_and_change_no_table() {
    let (dir, file) = scenario(SMALL.replace("300kB", "30kB"));
    let (killed, whole) = (dir.path().join("killed"), dir.path().join("whole"));
    let args = |out: &Path| {
        let out = out.to_str().expect("plain").to_owned();
        let axis = "link.wire.rate=1Mbps,2Mbps,4Mbps".to_owned();
        ["sweep", &file, "--axis", &axis, "--seeds", "40", "--jobs", "2", "--out", &out]
            .map(str::to_owned)
    };
    let begun = Instant::now();
    done(&args(&whole));
    let undisturbed = begun.elapsed().as_micros() as u64;
    let journal = killed.join("journal.jsonl");
    let mut known = BTreeMap::new();
    let (mut state, mut at_work) = (1_u64, 0);
    for kill in 0..KILLS {
        if known.len() == RUNS {
            // Start again with an empty folder, so that every kill can hit work.
            fs::remove_dir_all(&killed).expect("removed");
            known.clear();
        }
        let quiet = || Stdio::null();
        let mut child =
            windlass(&args(&killed)).stdout(quiet()).stderr(quiet()).spawn().expect("started");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_micros((state >> 33) % undisturbed));
        at_work += u32::from(child.try_wait().expect("asked").is_none());
        // A process that has ended cannot be killed.
        let _ = child.kill();
        child.wait().expect("ended");
        let now = records(&journal);
        for (key, record) in &known {
            assert_eq!(now.get(key), Some(record), "kill {kill}: {key:?} was lost or changed");
        }
        known = now;
    }
    assert!(at_work >= KILLS / 4, "only {at_work} of {KILLS} kills hit a sweep at work");
    done(&args(&killed));
    assert_eq!(records(&journal).len(), RUNS);
    assert_eq!(records(&journal), records(&whole.join("journal.jsonl")));
    for table in
        ["points.csv", "points.parquet", "runs.parquet", "summary.parquet", "links.parquet"]
    {
        let read = |d: &Path| fs::read(d.join(table)).expect(table);
        assert!(read(&killed) == read(&whole), "{table}");
    }
    println!("{at_work} of {KILLS} kills hit a sweep at work");
}

#[test]
fn a_killed_shard_resumes_while_other_shards_run() {
    let (dir, file) = scenario(SMALL.replace("300kB", "30kB"));
    let out = dir.path().join("out");
    let out = out.to_str().expect("plain");
    let base = ["sweep", &file, "--seeds", "60", "--out", out];
    let shard = |of: &'static str| [&base[..], &["--shard", of]].concat();
    let mut first = windlass(&shard("1/2")).stderr(Stdio::null()).spawn().expect("started");
    let mut second = windlass(&shard("2/2")).stderr(Stdio::null()).spawn().expect("started");
    thread::sleep(Duration::from_millis(60));
    let _ = first.kill();
    first.wait().expect("ended");
    assert!(second.wait().expect("ended").success(), "the other shard is not touched");
    done(&shard("1/2"));
    let said = done(&[&base[..], &["--json"]].concat());
    assert!(said.err.contains("60 runs there, 0 to make"), "{}", said.err);
    let points: Vec<Value> = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((points.len(), &points[0]["runs"]), (1, &60.into()));
}
