//! A batch whose process is killed at any time, or whose disk is full.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::store_support::large_record;
use parquet::file::reader::{FileReader, SerializedFileReader};
use windlass_run::store::{Batch, Format, Notice, Store, StoreError, export};

const FOLDER: &str = "WINDLASS_TEST_FOLDER";
/// Seed of the child's first run, if it is not the next seed.
const FROM: &str = "WINDLASS_TEST_FROM";
const CHILD: [&str; 4] = ["store_kill::child_that_appends", "--exact", "--ignored", "--nocapture"];

/// The child process. It continues the batch, and prints each stored run.
#[test]
#[ignore = "the other tests run it in a process of its own"]
fn child_that_appends() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let (mut batch, _) = Batch::open(&dir).expect("a batch");
    let from =
        std::env::var(FROM).map_or(batch.records().len() as u64, |n| n.parse().expect("a seed"));
    for seed in from.. {
        if let Err(error) = batch.append(large_record(seed)) {
            assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
            return tell(&format!("FAILED {error}"));
        }
        tell(&format!("KEPT {seed}"));
        if seed % 4 == 3 {
            let formats = [Format::Parquet];
            export::export_records(dir.as_ref(), batch.records(), "test", &formats)
                .expect("exported");
        }
    }
}

fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").and_then(|()| out.flush()).expect("the parent listens");
}

fn listen(child: &mut Child) -> Receiver<String> {
    let out = child.stdout.take().expect("piped");
    let (to, from) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if (line.starts_with("KEPT ") || line.starts_with("FAILED ")) && to.send(line).is_err()
            {
                return;
            }
        }
    });
    from
}

fn spawn(command: &mut Command, dir: &Path) -> Child {
    command.env(FOLDER, dir).stdout(Stdio::piped()).spawn().expect("started")
}

fn test_binary() -> std::path::PathBuf {
    std::env::current_exe().expect("this program")
}

/// Starts the child, kills it after a delay, and returns the number of runs that it printed as
/// stored.
fn kill_after(dir: &Path, wait_for_first: bool, delay: Duration) -> usize {
    let mut child = spawn(Command::new(test_binary()).args(CHILD), dir);
    let lines = listen(&mut child);
    let mut kept = 0;
    if wait_for_first {
        lines.recv_timeout(Duration::from_secs(60)).expect("a first run");
        kept += 1;
    }
    thread::sleep(delay);
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
    kept + lines.iter().inspect(|l| assert!(l.starts_with("KEPT "), "{l}")).count()
}

#[test]
fn nothing_finished_is_lost_or_doubled_by_a_kill_at_any_moment() {
    let (mut torn, mut total) = (0, 0);
    let mut state = 1_u64;
    for batch_number in 0..5 {
        let dir = tempfile::tempdir().expect("a folder");
        let mut known = 0;
        for round in 0..10 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let delay = Duration::from_micros((state >> 33) % 25_000);
            let kept = kill_after(dir.path(), round % 2 == 0, delay);
            let (batch, notices) = Batch::open(dir.path()).expect("opens after a kill");
            torn += notices.len();
            let now = batch.records().len();
            // The last run may have been stored but not printed.
            assert!(
                (known + kept..=known + kept + 1).contains(&now),
                "batch {batch_number}, round {round}: {known} runs, {kept} more told, {now} found"
            );
            for (seed, record) in batch.records().iter().enumerate() {
                assert_eq!(*record, large_record(seed as u64));
            }
            assert_whole(&dir.path().join("summary.parquet"), now);
            known = now;
        }
        total += known;
    }
    println!("{total} runs kept over 50 kills, {torn} half lines cut off");
    assert!(total >= 25);
}

/// Checks that a table, if it exists, is complete and has at most `runs` runs.
fn assert_whole(path: &Path, runs: usize) {
    let Ok(file) = File::open(path) else { return };
    let reader = SerializedFileReader::new(file).expect("a whole file");
    let rows = reader.get_row_iter(None).expect("rows").try_fold(0, |n, row| row.map(|_| n + 1));
    let rows = rows.expect("readable");
    let most: usize = (0..runs as u64).map(|seed| large_record(seed).flows.len()).sum();
    assert!((1..=most).contains(&rows));
}

#[test]
fn a_full_disk_is_one_clear_error_and_leaves_whole_lines() {
    let dir = tempfile::tempdir().expect("a folder");
    // A limit on the size of files simulates a full disk: a write over it is cut short, then fails.
    let script = "trap '' XFSZ; ulimit -f 600; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(test_binary()).args(CHILD);
    let mut child = spawn(&mut command, dir.path());
    let lines: Vec<String> = listen(&mut child).iter().collect();
    child.wait().expect("ended");
    let (last, kept) = lines.split_last().expect("some lines");
    assert!(last.starts_with("FAILED cannot write ") && last.contains("journal.jsonl: "), "{last}");
    assert!(!kept.is_empty());
    let (mut batch, notices) = Batch::open(dir.path()).expect("opens");
    assert_eq!(notices, []);
    assert_eq!(batch.records().len(), kept.len());
    batch.append(large_record(kept.len() as u64)).expect("there is room again");
}

/// Seeds that a child has printed as stored.
fn told(lines: &[String]) -> Vec<u64> {
    let seed = |line: &String| line.strip_prefix("KEPT ").map(|n| n.parse().expect("a seed"));
    lines.iter().filter_map(seed).collect()
}

#[test]
fn two_processes_in_one_folder_both_keep_their_runs_though_both_are_killed() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut children: Vec<Child> = ["0", "1000000"]
        .map(|from| spawn(Command::new(test_binary()).args(CHILD).env(FROM, from), dir.path()))
        .into();
    let heard: Vec<Receiver<String>> = children.iter_mut().map(listen).collect();
    let mut lines: Vec<String> = Vec::new();
    for from in &heard {
        lines.push(from.recv_timeout(Duration::from_secs(60)).expect("a first run"));
    }
    thread::sleep(Duration::from_millis(30));
    for child in &mut children {
        child.kill().expect("SIGKILL");
        child.wait().expect("ended");
    }
    heard.iter().for_each(|from| lines.extend(from.iter()));
    let (batch, notices) = Batch::open(dir.path()).expect("opens after both kills");
    assert!(notices.iter().all(|n| matches!(n, Notice::CutOff { .. })), "{notices:?}");
    let found: Vec<u64> = batch.records().iter().map(|r| r.seed).collect();
    for seed in told(&lines) {
        assert_eq!(found.iter().filter(|s| **s == seed).count(), 1, "{seed} of {found:?}");
    }
    // Each process may have stored a last run without printing it.
    assert!(found.len() <= told(&lines).len() + 2, "{found:?}");
    for record in batch.records() {
        assert_eq!(*record, large_record(record.seed));
    }
    assert!(dir.path().join("parts").is_dir(), "who was killed did not say that it has ended");
}

#[test]
fn a_full_disk_is_one_clear_error_in_a_part_too() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, _) = Batch::open(dir.path()).expect("opens");
    let script = "trap '' XFSZ; ulimit -f 600; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(test_binary()).args(CHILD);
    let mut child = spawn(&mut command, dir.path());
    let lines: Vec<String> = listen(&mut child).iter().collect();
    child.wait().expect("ended");
    let last = lines.last().expect("some lines");
    assert!(last.starts_with("FAILED cannot write ") && last.contains("/parts/"), "{last}");
    drop(first);
    let (batch, notices) = Batch::open(dir.path()).expect("opens");
    assert_eq!((notices, batch.records().len()), (vec![], told(&lines).len()));
}
