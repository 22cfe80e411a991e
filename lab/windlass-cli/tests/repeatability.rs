//! The same seed gives the same bytes: in two calls, with any number of jobs, and after kills at
//! any time.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{self, SMALL, assert_same_files, call, done, forms, scenario, windlass};

fn reproduce<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["reproduce", "reno-ber", "--out", out];
    args.extend(if more.contains(&MANY[0]) { [].iter() } else { ["--seeds", "1"].iter() });
    args.extend(more);
    args
}

fn path(dir: &Path) -> &str {
    dir.to_str().expect("a plain path")
}

#[test]
fn a_run_repeats_byte_for_byte() {
    let (_dir, file) = scenario(SMALL);
    let once = done(&["run", &file, "--json", "--seeds", "6", "--jobs", "1"]);
    for jobs in ["1", "2", "7"] {
        let again = done(&["run", &file, "--json", "--seeds", "6", "--jobs", jobs]);
        assert!(once.out == again.out, "{jobs} jobs");
    }
    let other = done(&["run", &file, "--json", "--seeds", "6", "--seed", "2"]);
    assert_ne!(once.out, other.out, "another seed loses other packets");
}

#[test]
fn results_of_a_run_do_not_depend_on_the_number_of_jobs() {
    let recording = format!(
        "{SMALL}\n[record]\nseries = [\"cwnd_bytes\", \"srtt_ns\"]\ncapture = [\"wire\"]\n"
    );
    let (dir, file) = scenario(recording);
    let folders = [dir.path().join("one"), dir.path().join("two")];
    let said = ["1", "2"].map(|jobs| {
        let out = path(&folders[usize::from(jobs == "2")]);
        done(&["run", &file, "--seeds", "4", "--jobs", jobs, "--out", out]).out
    });
    assert_eq!(said[0], said[1]);
    // Lock, scenario, page, three tables, and series and capture of four seeds.
    assert_eq!(assert_same_files(&folders[0], &folders[1]), 14);
}

#[test]
fn a_reproduction_does_not_depend_on_the_number_of_jobs() {
    let dir = tempfile::tempdir().expect("a folder");
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    let first = done(&reproduce(path(&one), &["--jobs", "1"]));
    let second = done(&reproduce(path(&two), &["--jobs", "2"]));
    assert!(first.out == second.out);
    assert!(assert_same_files(&one, &two) > 6);

    // Stored runs are not repeated, and a report changes nothing.
    let before = support::files(&one);
    let again = done(&reproduce(path(&one), &[]));
    assert!(again.out == first.out);
    let (total, _) = again.err.split_once(" runs are there already").expect(&again.err);
    let (finished, total) = total.rsplit_once(" of ").expect(total);
    assert!(finished.ends_with(&format!(" {total}")), "{}", again.err);
    let report = done(&["report", "--out", path(&one)]);
    assert!(report.out == first.out);
    assert!(before == support::files(&one), "the report changed a file");
}

/// Waiting times that differ from kill to kill, milliseconds: some before the first run, most
/// during the runs.
const WAITS: [u64; 12] = [5, 60, 130, 20, 90, 210, 40, 160, 10, 110, 70, 180];
/// Enough runs that the kills meet a working batch.
const MANY: [&str; 2] = ["--seeds", "8"];

#[test]
fn a_batch_killed_at_any_moment_ends_as_one_in_a_single_go() {
    let dir = tempfile::tempdir().expect("a folder");
    let [whole, killed] = ["whole", "killed"].map(|name| dir.path().join(name));
    done(&reproduce(path(&whole), &MANY));
    let mut interrupted = 0;
    for wait in WAITS {
        let mut child =
            windlass(&reproduce(path(&killed), &[&MANY[..], &["--jobs", "2"]].concat()))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("started");
        sleep(Duration::from_millis(wait));
        interrupted += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("killed, or ended before");
        child.wait().expect("a child");
    }
    assert!(interrupted >= 3, "only {interrupted} of the kills met a running batch");
    done(&reproduce(path(&killed), &MANY));
    assert_same_files(&whole, &killed);
    let lines = |dir: &Path| -> Vec<String> {
        let text = fs::read_to_string(dir.join("reno-ber/journal.jsonl")).expect("a journal");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(lines(&whole) == lines(&killed), "the journals hold other runs");
}

#[test]
fn an_incomplete_last_line_is_removed_and_only_its_run_repeated() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let args = ["run", &file, "--seeds", "5", "--jobs", "1", "--out", path(&out)];
    done(&args);
    let journal = out.join("journal.jsonl");
    let whole = fs::read(&journal).expect("a journal");
    let tables = fs::read(out.join("summary.parquet")).expect("a table");
    let last_line = whole[..whole.len() - 1].iter().rposition(|b| *b == b'\n').expect("lines") + 1;
    fs::write(&journal, &whole[..last_line + 200]).expect("written");
    let again = done(&[&args[..], &["--verbose"]].concat());
    assert!(
        again.err.contains("note: line 5 of the journal was incomplete (200 bytes"),
        "{}",
        again.err
    );
    let made: Vec<&str> = again.err.lines().filter(|l| l.starts_with("case seed ")).collect();
    assert_eq!(made, ["case seed 5"]);
    assert!(fs::read(&journal).expect("a journal") == whole);
    assert!(fs::read(out.join("summary.parquet")).expect("a table") == tables);
}

#[test]
fn a_journal_changed_in_the_middle_is_an_error_that_names_the_line() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let args = ["run", &file, "--seeds", "3", "--out", path(&out)];
    done(&args);
    let journal = out.join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    fs::write(&journal, text.replacen("\"goodput_bps\":", "\"goodput_bps\":1", 1))
        .expect("written");
    let said = call(&args);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    assert!(said.err.starts_with("error: line 1 of "), "{}", said.err);
    assert!(said.err.contains("is damaged although lines follow it"), "{}", said.err);
}

#[test]
fn each_form_of_a_scenario_has_separate_recordings() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let args = ["run", &file, "--out", path(&out)];
    let series = || forms(&out, "series", "case", "all");
    done(&args);
    assert!(series().is_empty());
    let with = |extra: &[&str]| done(&[&args[..], extra].concat());
    with(&["--set", "record.series=[\"cwnd_bytes\"]"]);
    let first = series().remove(0).join("1.parquet");
    let content = fs::read(&first).expect("made for the run that was there");
    with(&["--set", "record.series=[\"cwnd_bytes\", \"rto_ns\"]"]);
    with(&["--set", "record.series=[\"cwnd_bytes\"]", "--set", "link.wire.delay=7ms"]);
    done(&args);
    assert_eq!((series().len(), forms(&out, "scenarios", "case", "all").len()), (3, 4));
    assert_eq!(fs::read(&first).expect("still there"), content);
}

#[test]
fn two_instances_work_in_the_same_folder() {
    let (dir, file) = scenario(SMALL);
    let (out, alone) = (dir.path().join("out"), dir.path().join("alone"));
    done(&["run", &file, "--out", path(&out)]);
    let lock = fs::File::options().write(true).open(out.join("batch.lock")).expect("a lock");
    lock.lock().expect("locked");
    let more = ["--seeds", "3"];
    let said = done(&[&["run", &file, "--out", path(&out)][..], &more].concat());
    assert!(said.err.contains("note: another Windlass is at work in this folder"), "{}", said.err);
    lock.unlock().expect("unlocked");
    let said = done(&[&["run", &file, "--out", path(&out)][..], &more].concat());
    assert!(said.err.contains("3 of 3 runs are there already"), "{}", said.err);
    assert!(!out.join("parts").exists(), "they are in the journal now");
    done(&[&["run", &file, "--out", path(&alone)][..], &more].concat());
    assert_same_files(&out, &alone);
}

#[test]
fn two_instances_started_together_both_end_well() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("out");
    let mut first = windlass(&reproduce(path(&out), &[]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    let second = call(&reproduce(path(&out), &[]));
    assert_eq!(second.code, Some(0), "{}", second.err);
    assert!(first.wait().expect("a child").success());
    let again = done(&reproduce(path(&out), &[]));
    assert!(again.err.contains("runs are there already"), "{}", again.err);
    assert!(!out.join("reno-ber/parts").exists());
}
