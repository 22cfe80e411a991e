//! Sweeps, called as a user does.

use std::fs;
use std::path::Path;

use crate::support::{SMALL, assert_same_files, call, done, scenario};
use serde_json::Value;

/// A scenario of a few milliseconds with randomness in it.
fn short() -> String {
    SMALL.replace("300kB", "60kB")
}

const AXES: [&str; 4] =
    ["--axis", "link.wire.rate=1Mbps,4Mbps", "--axis", "flow.*.algorithm=newreno,cubic"];

fn sweep(file: &str, out: &Path, more: &[&str]) -> Vec<String> {
    let fixed = ["sweep", file, "--out", out.to_str().expect("plain")];
    fixed.iter().chain(&AXES).chain(more).map(|a| (*a).to_owned()).collect()
}

fn points(json: &str) -> Vec<Value> {
    serde_json::from_str(json).expect("a JSON array")
}

/// The number of the journal's lines, one per run.
fn lines(journal: &Path) -> usize {
    fs::read_to_string(journal).map_or(0, |t| t.lines().count())
}

#[test]
fn every_combination_is_run_with_the_same_seeds_and_summed_up() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let said = done(&sweep(&file, &out, &["--seeds", "4", "--json"]));
    let points = points(&said.out);
    assert_eq!(points.len(), 4);
    for p in &points {
        assert_eq!((&p["runs"], &p["standing"]), (&4.into(), &"complete".into()), "{p}");
        assert_eq!(p["metric"], "flow.*.goodput_bps");
        let number = |key: &str| p[key].as_f64().unwrap_or_else(|| panic!("{key}: {p}"));
        assert!(number("ci95_low") <= number("mean") && number("mean") <= number("ci95_high"));
    }
    let of = |rate: &str, algorithm: &str| {
        let same = |p: &&Value| p["rate"] == rate && p["algorithm"] == algorithm;
        points.iter().find(same).and_then(|p| p["mean"].as_f64()).expect("a mean")
    };
    assert!(of("4Mbps", "cubic") > of("1Mbps", "cubic"));
    assert_eq!(lines(&out.join("journal.jsonl")), 16);
    let csv = fs::read_to_string(out.join("points.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 5);
    let page = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("</html>") && page.contains("--axis"), "the command is told");
    for table in ["points", "runs", "summary", "links"] {
        let bytes = fs::read(out.join(format!("{table}.parquet"))).expect(table);
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
}

#[test]
fn a_point_of_a_sweep_is_the_run_that_run_makes() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let swept = points(&done(&sweep(&file, &out, &["--seeds", "1", "--json"])).out);
    let set = ["--set", "link.wire.rate=4Mbps", "--set", "flow.0.algorithm=cubic"];
    let run = done(&[&["run", file.as_str(), "--json"][..], &set].concat());
    let run: Value = serde_json::from_str(&run.out).expect("JSON");
    let last = swept.last().expect("points");
    assert_eq!(last["point"], "rate=4Mbps,algorithm=cubic");
    assert_eq!(last["mean"], run["flows"][0]["goodput_bps"]);
    assert_eq!(last["scenario_hash"], run["scenario_hash"]);
}

#[test]
fn only_missing_runs_are_executed() {
    let (dir, file) = scenario(short());
    let (grown, fresh) = (dir.path().join("grown"), dir.path().join("fresh"));
    done(&sweep(&file, &grown, &["--seeds", "2"]));
    let said = done(&sweep(&file, &grown, &["--seeds", "3", "--jobs", "2"]));
    assert!(said.err.contains("4 points, 8 runs there, 4 to make"), "{}", said.err);
    done(&sweep(&file, &fresh, &["--seeds", "3", "--jobs", "1"]));
    for folder in [&grown, &fresh] {
        fs::remove_file(folder.join("pace.json")).expect("the pace is kept");
    }
    assert!(assert_same_files(&grown, &fresh) > 8);
    let again = done(&sweep(&file, &fresh, &["--seeds", "3"]));
    assert!(again.err.contains("12 runs there, 0 to make"), "{}", again.err);
}

#[test]
fn shards_give_the_same_tables_as_a_single_sweep() {
    let (dir, file) = scenario(short());
    for how in [&["--seeds", "3"][..], &["--until", "flow.*.goodput_bps ±10%", "--min-seeds", "4"]]
    {
        let (sharded, single) = (dir.path().join("sharded"), dir.path().join("single"));
        for shard in ["2/3", "1/3", "3/3"] {
            let said = done(&sweep(&file, &sharded, &[how, &["--shard", shard]].concat()));
            assert_eq!(said.out, "");
            assert!(said.err.contains(&format!("shard {shard} is done")), "{}", said.err);
        }
        let parts = fs::read_dir(sharded.join("parts")).expect("parts").map(|p| p.expect("a part"));
        let counts: Vec<usize> = parts.map(|p| lines(&p.path().join("journal.jsonl"))).collect();
        assert!(counts.len() >= 2 && counts.iter().all(|n| *n > 0), "{counts:?}");
        let merged = done(&sweep(&file, &sharded, &[how, &["--csv"]].concat()));
        assert!(merged.err.contains(" 0 to make"), "{}", merged.err);
        let kept = done(&sweep(&file, &sharded, &[how, &["--kept", "--csv"]].concat()));
        let alone = done(&sweep(&file, &single, &[how, &["--csv"]].concat()));
        assert_eq!((&merged.out, &kept.out), (&alone.out, &alone.out));
        for table in ["points.csv", "points.parquet", "runs.parquet", "report.html"] {
            let read = |d: &Path| fs::read(d.join(table)).expect(table);
            assert!(read(&sharded) == read(&single), "{table}");
        }
        fs::remove_dir_all(&sharded).expect("removed");
        fs::remove_dir_all(&single).expect("removed");
    }
}

#[test]
fn runs_are_added_until_the_interval_is_narrow_or_the_cap_is_reached() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let until = ["--until", "flow.*.goodput_bps ±8%", "--min-seeds", "5"];
    let loose = points(&done(&sweep(&file, &out, &[&until[..], &["--json"]].concat())).out);
    for p in &loose {
        let number = |key: &str| p[key].as_f64().unwrap_or_else(|| panic!("{key}: {p}"));
        assert_eq!((&p["standing"], &p["ci95_method"]), (&"narrow".into(), &"sequential".into()));
        let half = (number("ci95_high") - number("ci95_low")) / 2.0;
        assert!(half <= 0.08 * number("mean"), "{p}");
        assert!(number("runs") >= 5.0);
    }
    // Points that differ in the algorithm alone have the same runs.
    assert_eq!(loose[0]["runs"], loose[1]["runs"]);
    assert_eq!(loose[2]["runs"], loose[3]["runs"]);
    let strict = ["--until", "flow.*.goodput_bps ±0.1%", "--min-seeds", "5", "--max-seeds", "12"];
    let said = done(&sweep(&file, &out, &[&strict[..], &["--json"]].concat()));
    assert!(said.err.contains("4 points not as narrow as asked"), "{}", said.err);
    assert!(points(&said.out).iter().all(|p| p["standing"] == "not-narrow" && p["runs"] == 12));
}

#[test]
fn a_sweep_file_says_it_all_and_the_command_line_has_the_last_word() {
    let (dir, file) = scenario(short());
    let sweep = dir.path().join("sweep.toml");
    let text = r#"
scenario = "case.toml"
name = "two-ways"
seeds = 2
metric = ["flow.download.completion_s", "run.jain_index"]

[[axis]]
name = "rate"
key = "link.wire.rate"
values = ["1Mbps..4Mbps times 2"]

[[axis]]
name = "way"
[[axis.value]]
label = "plain"
set = { "flow.*.algorithm" = "reno" }
[[axis.value]]
label = "modern"
set = { "flow.*.algorithm" = "cubic", "flow.*.slow_start" = "hystart++" }
"#;
    fs::write(&sweep, text).expect("written");
    let sweep = sweep.to_str().expect("plain");
    let out = dir.path().join("out");
    let out = out.to_str().expect("plain");
    let said = done(&["sweep", sweep, "--out", out]);
    assert!(said.out.contains("flow.download.completion (s)"), "{}", said.out);
    assert!(said.out.contains("modern"), "{}", said.out);
    let rows = points(&done(&["sweep", sweep, "--out", out, "--json", "--seeds", "1"]).out);
    assert_eq!((rows.len(), &rows[0]["runs"]), (12, &1.into()));
    assert_eq!(rows[11]["point"], "rate=4Mbps,way=modern");
    let broken = text.replace("hystart++", "hystart+++");
    fs::write(sweep, broken).expect("written");
    let said = call(&["sweep", sweep, "--out", out]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("point `rate=1Mbps,way=modern`: flow.0.slow_start=hystart+++"));
    assert!(said.err.contains("did you mean `hystart++`?"), "{}", said.err);
    // It is in the folder of the file, which belongs to this test.
    assert_eq!(Path::new(&file).parent(), Some(dir.path()));
}

#[test]
fn a_warm_up_is_left_out_of_the_steady_metric() {
    let endless = SMALL.replace("traffic = { kind = \"bulk\", bytes = \"300kB\" }", "");
    let (dir, file) = scenario(endless.replace("loss =", "queue = \"4bdp\"\nloss ="));
    let out = dir.path().join("out");
    let out = out.to_str().expect("plain");
    let metrics =
        ["--metric", "flow.*.goodput_bps", "--metric", "flow.download.steady_goodput_bps"];
    let base = [&["sweep", &file, "--out", out, "--seeds", "3", "--json"][..], &metrics].concat();
    for warmup in ["0s", "10s", "mser"] {
        let rows = points(&done(&[&base[..], &["--warmup", warmup]].concat()).out);
        let [whole, steady] = [0, 1].map(|i| rows[i]["mean"].as_f64().expect("a mean"));
        match warmup {
            "0s" => assert!((whole - steady).abs() < 1e-6 * whole, "{whole} {steady}"),
            _ => assert!((0.7..1.4).contains(&(steady / whole)) && steady != whole),
        }
    }
    let longer = call(&[&base[..], &["--warmup", "20s"]].concat());
    assert_eq!((longer.code, longer.out.as_str()), (Some(2), ""));
    assert!(longer.err.contains("the warm-up leaves nothing of a run"), "{}", longer.err);
    let said = call(&base);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("needs a warm-up to leave out: --warmup 10s"), "{}", said.err);
}

#[test]
fn a_dry_run_counts_and_times_and_keeps_nothing() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let said = done(&sweep(&file, &out, &["--seeds", "5", "--dry-run"]));
    assert!(said.out.contains("points  4 = rate (2) x algorithm (2)"), "{}", said.out);
    assert!(said.out.contains("runs    0 there, 20 to make"), "{}", said.out);
    assert!(said.out.contains("time    about "), "{}", said.out);
    assert!(said.out.contains("slowest point rate="), "{}", said.out);
    assert!(!out.exists());
    let until = ["--until", "flow.*.goodput_bps=5%", "--dry-run", "--shard", "1/2"];
    let said = done(&sweep(&file, &out, &until));
    assert!(said.out.contains("0 there, 60 to 2000 to make for shard 1/2"), "{}", said.out);
}

#[test]
fn a_folder_without_runs_of_the_sweep_is_an_error() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let said = call(&sweep(&file, &out, &["--kept"]));
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("holds no run of this sweep yet"), "{}", said.err);
    assert!(!out.exists(), "to look makes nothing");
}

#[test]
fn delays_and_intervals_are_recorded_where_a_metric_or_the_scenario_asks_for_them() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let metrics = ["--metric", "flow.*.delay_ms", "--metric", "run.jitter_ms"];
    let base = [&metrics[..], &["--seeds", "2", "--json"]].concat();
    let rows = points(&done(&sweep(&file, &out, &base)).out);
    assert_eq!(rows.len(), 8);
    // 10 ms on the way, and 1500 bytes at 1 Mbit/s are 12 ms more.
    for row in rows.iter().filter(|r| r["metric"] == "flow.*.delay_ms") {
        assert!(row["mean"].as_f64().is_some_and(|ms| ms > 10.0), "{row}");
    }
    let run = done(&["run", &file, "--set", "record.delays=true", "--json"]);
    let run: Value = serde_json::from_str(&run.out).expect("JSON");
    assert!(run["flows"][0]["transit"]["mean_ms"].as_f64().is_some_and(|ms| ms > 10.0));

    let two = short() + "[[flow]]\nfrom = \"client\"\nto = \"server\"\nalgorithm = \"reno\"\n";
    fs::write(&file, two).expect("written");
    let base = ["--metric", "run.convergence_rate_s", "--seeds", "1", "--json"];
    let said = call(&sweep(&file, &out, &base));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("--set record.bins=1s"), "{}", said.err);
    let set = ["--set", "record.bins=1s"];
    let rows = points(&done(&sweep(&file, &out, &[&base[..], &set].concat())).out);
    assert!(rows.iter().all(|row| row["runs_without_value"] == 0), "{rows:?}");
}

#[test]
fn a_metric_without_any_value_ends_with_exit_code_1_after_the_tables() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    // Nothing arrives over a link that loses all, so no RTT is ever measured.
    let metrics = ["--metric", "flow.*.goodput_bps", "--metric", "flow.*.srtt_ms", "--seeds", "1"];
    let set = ["--set", "link.wire.loss.probability=100%"];
    let said = call(&sweep(&file, &out, &[&metrics[..], &set].concat()));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("flow.*.goodput"), "{}", said.out);
    let error = said.err.lines().last().unwrap_or_default();
    assert_eq!(error, "error: no run at any point has a value of flow.*.srtt_ms");
    assert!(out.join("report.html").exists());
}

#[test]
fn tables_of_another_sweep_are_not_replaced_without_a_word() {
    let (dir, file) = scenario(short());
    let out = dir.path().join("out");
    let note = "points.* and report.html of another sweep";
    let says = |more: &[&str]| done(&sweep(&file, &out, more)).err.contains(note);
    assert!(!says(&["--seeds", "1"]), "an empty folder");
    assert!(!says(&["--seeds", "2"]), "more runs of the same");
    assert!(!says(&[
        "--seeds",
        "2",
        "--metric",
        "flow.*.goodput_bps",
        "--metric",
        "run.jain_index"
    ]));
    assert!(says(&["--seeds", "2", "--metric", "run.jain_index"]), "a metric is gone");
    assert!(says(&["--seeds", "2", "--axis", "link.wire.delay=1ms,2ms"]), "other axes");
    assert!(!says(&["--seeds", "2", "--axis", "link.wire.delay=1ms,2ms,3ms"]), "one value more");
    assert!(says(&["--seeds", "2", "--axis", "link.wire.delay=1ms,3ms"]), "a value is gone");
}

#[test]
fn a_star_in_set_is_every_flow_for_run_and_sweep() {
    let (dir, file) = scenario(short());
    let all = ["--set", "flow.*.algorithm=cubic"];
    let run = |set: &[&str]| done(&[&["run", file.as_str(), "--json"][..], set].concat()).out;
    assert_eq!(run(&all), run(&["--set", "flow.download.algorithm=cubic"]));
    assert_ne!(run(&all), run(&[]));
    let out = dir.path().join("out");
    let args = ["sweep", &file, "--out", out.to_str().expect("plain"), "--seeds", "1", "--json"];
    let swept = points(&done(&[&args[..], &all].concat()).out);
    let run: Value = serde_json::from_str(&run(&all)).expect("JSON");
    assert_eq!(swept[0]["scenario_hash"], run["scenario_hash"]);
    let said = call(&["run", &file, "--set", "wifi.*.rate=1Mbps"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("a `*` stands for every flow or link only"), "{}", said.err);
}

#[test]
fn mistakes_get_one_clear_error() {
    let (_dir, file) = scenario(short());
    for (args, part) in [
        (
            &["--axis", "link.wire.rat=1Mbps"][..],
            "point `rat=1Mbps`: link.wire.rat=1Mbps: unknown key `rat`",
        ),
        (
            &["--axis", "link.wire.rate=1Mbps,2"],
            "point `rate=2`: link.wire.rate=2: `rate`: `2` has no unit",
        ),
        (
            &["--axis", "link.wire.rate=1Mbps,1Mbps"],
            "--axis 'link.wire.rate=1Mbps,1Mbps': axis `rate` has the value `1Mbps` already",
        ),
        (&["--axis", "link.wire.rate="], "a value is empty"),
        (&["--axis", "link.wire.rate"], "write KEY=VALUE,VALUE,..."),
        (&["--axis", "link.wires.rate=1Mbps"], "did you mean `wire`?"),
        (&["--axis", "flow.*.algorithm=reno,cubik"], "did you mean `cubic`?"),
        (
            &["--axis", "a:link.wire.rate=1Mbps", "--axis", "b:link.wire.rate=2Mbps"],
            "both change `link.wire.rate`",
        ),
        (
            &["--axis", "link.wire.rate=1Mbps", "--axis", "link.0.rate=2Mbps"],
            "an axis `rate` exists already; give this axis another name",
        ),
        (&["--axis", "link.wire.rate=1kbps..9Mbps step 1kbps"], "mixes units"),
        (
            &["--axis", "seed=1..400 step 1", "--axis", "duration=1s..300s step 1s"],
            "more than 100000 points, the maximum of one sweep; take fewer values, or make several sweeps",
        ),
        (
            &["--metric", "flow.upload.goodput_bps"],
            "metric `flow.upload.goodput_bps`: flow `upload` not found; there are `download`",
        ),
        (&["--metric", "flow.*.goodput"], "did you mean `goodput_bps`?"),
        (&["--until", "flow.*.goodput_bps ±0%"], "invalid width `0%`"),
        (
            &["--until", "flow.*.goodput_bps ±1%", "--min-seeds", "50", "--max-seeds", "20"],
            "--min-seeds 50 with --max-seeds 20: ",
        ),
        (&["--until", "flow.*.goodput_bps ±1%", "--seeds", "5"], "cannot be used with"),
        (&["--min-seeds", "5"], "bound the runs that --until adds"),
        (&["--seeds", "0"], "0 is not in 1"),
        (&["--shard", "9/8"], "invalid shard `9/8`"),
        (&["--warmup", "soon"], "invalid warm-up `soon`"),
        (&["--on", "mars"], "backend `mars` not found"),
        (&["--on", "sim", "--on", "sim"], "--on: the backend `sim` is listed twice"),
        (&["--metric", "run.late_fraction"], "no flow has messages with a `deadline`"),
        (&["--metric", "flow.*.energy_per_byte_nj"], "does not set the power of a radio"),
        (&["--metric", "flow.*.radio_per_byte_ns"], "the scenario has no Wi-Fi station"),
        (&["--metric", "run.battery_life_s"], "no station has a battery"),
        (&["--metric", "run.convergence_rate_s"], "exactly two flows"),
        (&["--set", "seed=9223372036854775806", "--seeds", "5"], "would pass the largest seed"),
        (&["--set", "link.wire.rat=1"], "--set link.wire.rat=1: unknown key"),
    ] {
        let said = call(&[&["sweep", file.as_str()][..], args].concat());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{args:?}: {}", said.err);
        assert!(
            said.err.starts_with("error: ") && said.err.contains(part),
            "{args:?}: {}",
            said.err
        );
    }
    let missing = call(&["sweep", "no/such.toml"]);
    assert!(missing.err.contains("the scenario file cannot be read"), "{}", missing.err);
}
