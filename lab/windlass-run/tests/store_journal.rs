//! The journal of a batch: reading back, damage, and concurrent writers.

use std::fs;
use std::path::Path;

use crate::store_support::{flow, record};
use proptest::prelude::*;
use windlass_run::RunRecord;
use windlass_run::store::{Batch, Invocation, Notice, Place, RunKey, Store, StoreError};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A folder in memory, if one is available, for thousands of journals with repairs.
fn quick_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| folder())
}

/// Opens a batch and expects no notice.
fn open(dir: &Path) -> Batch {
    let (batch, notices) = Batch::open(dir).expect("a sound batch");
    assert_eq!(notices, []);
    batch
}

fn with_runs(dir: &Path, seeds: std::ops::Range<u64>) -> Vec<u8> {
    let mut batch = open(dir);
    for seed in seeds {
        batch.append(record(seed)).expect("written");
    }
    journal(dir)
}

fn journal(dir: &Path) -> Vec<u8> {
    fs::read(dir.join("journal.jsonl")).expect("a journal")
}

fn last_line_start(bytes: &[u8]) -> usize {
    bytes[..bytes.len() - 1].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1)
}

#[test]
fn runs_come_back_in_order_and_exactly() {
    let dir = folder();
    with_runs(dir.path(), 0..7);
    let expected: Vec<RunRecord> = (0..7).map(record).collect();
    assert_eq!(open(dir.path()).records(), expected);
}

#[test]
fn a_journal_line_is_json_with_a_standard_checksum() {
    let dir = folder();
    let bytes = with_runs(dir.path(), 0..1);
    let line: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    let text = serde_json::to_string(&record(0)).expect("JSON");
    let sum = crc32_by_bits(text.as_bytes());
    assert_eq!(line["crc32"], format!("{sum:08x}"));
    assert_eq!(line["record"]["seed"], 0);
}

/// CRC-32 by its definition, the polynomial 0x04c11db7 reflected.
fn crc32_by_bits(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[test]
fn a_last_line_cut_at_any_byte_is_removed_and_its_run_can_be_repeated() {
    let whole = {
        let dir = quick_folder();
        with_runs(dir.path(), 0..3)
    };
    let start = last_line_start(&whole);
    for end in start..whole.len() {
        let dir = quick_folder();
        fs::write(dir.path().join("journal.jsonl"), &whole[..end]).expect("written");
        let (mut batch, notices) = Batch::open(dir.path()).expect("a half line is no error");
        let cut = Notice::CutOff { line: 3, bytes: end - start };
        assert_eq!(notices, if end == start { vec![] } else { vec![cut] });
        assert_eq!(batch.records(), [record(0), record(1)], "cut at byte {end}");
        batch.append(record(2)).expect("written");
        drop(batch);
        assert_eq!(journal(dir.path()), whole);
    }
}

#[test]
fn a_last_line_with_any_byte_changed_is_removed() {
    let dir = quick_folder();
    let whole = with_runs(dir.path(), 0..2);
    let start = last_line_start(&whole);
    for at in start..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(dir.path().join("journal.jsonl"), &bytes).expect("written");
        let (batch, notices) = Batch::open(dir.path()).expect("a damaged last line is no error");
        assert_eq!(notices, [Notice::CutOff { line: 2, bytes: whole.len() - start }]);
        assert_eq!(batch.records(), [record(0)], "changed at byte {at}");
    }
}

#[test]
fn a_damaged_line_before_the_last_is_an_error_and_nothing_is_changed() {
    let dir = folder();
    let mut bytes = with_runs(dir.path(), 0..3);
    let first_end = bytes.iter().position(|b| *b == b'\n').expect("lines");
    bytes[first_end + 40] ^= 1;
    fs::write(dir.path().join("journal.jsonl"), &bytes).expect("written");
    let error = Batch::open(dir.path()).expect_err("damaged");
    assert!(matches!(error, StoreError::DamagedLine { line: 2, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("line 2 of ") && text.contains("delete this line"), "{text}");
    assert_eq!(journal(dir.path()), bytes);
}

#[test]
fn an_intact_line_of_another_form_stays_and_is_ignored_with_a_notice() {
    let dir = folder();
    let mut bytes = with_runs(dir.path(), 0..1);
    let json = r#"{"experiment":"of the future"}"#;
    let sum = crc32_by_bits(json.as_bytes());
    bytes.extend(format!("{{\"crc32\":\"{sum:08x}\",\"record\":{json}}}\n").bytes());
    fs::write(dir.path().join("journal.jsonl"), &bytes).expect("written");
    let (mut batch, notices) = Batch::open(dir.path()).expect("readable");
    assert_eq!(notices, [Notice::Foreign { line: 2, lines: 1 }]);
    batch.append(record(1)).expect("written");
    drop(batch);
    assert!(journal(dir.path()).starts_with(&bytes));
    let (batch, _) = Batch::open(dir.path()).expect("readable");
    assert_eq!(batch.records(), [record(0), record(1)]);
}

#[test]
fn many_lines_of_another_version_give_one_notice_of_each_kind() {
    let dir = folder();
    let mut bytes = with_runs(dir.path(), 0..3);
    let foreign = r#"{"experiment":"of the future"}"#;
    let sum = crc32_by_bits(foreign.as_bytes());
    let foreign = format!("{{\"crc32\":\"{sum:08x}\",\"record\":{foreign}}}\n");
    bytes.extend([bytes.clone(), foreign.repeat(4).into_bytes()].concat());
    fs::write(dir.path().join("journal.jsonl"), &bytes).expect("written");
    let (batch, notices) = Batch::open(dir.path()).expect("readable");
    let told = [Notice::Foreign { line: 7, lines: 4 }, Notice::Repeated { line: 4, lines: 3 }];
    assert_eq!(notices, told);
    let newer = |seed| RunKey { version: "0.2.0+later".into(), ..RunKey::of(&record(seed)) };
    let stale = batch.stale(&[newer(0), newer(1), newer(2)]);
    let [Notice::Stale { points: 1, runs: 3, .. }] = stale[..] else { panic!("{stale:?}") };
    assert!(stale[0].to_string().starts_with("3 earlier runs of "), "{}", stale[0]);
}

#[test]
fn a_repeated_line_counts_once() {
    let dir = folder();
    let mut bytes = with_runs(dir.path(), 0..1);
    bytes.extend(bytes.clone());
    fs::write(dir.path().join("journal.jsonl"), &bytes).expect("written");
    let (batch, notices) = Batch::open(dir.path()).expect("readable");
    assert_eq!(notices, [Notice::Repeated { line: 2, lines: 1 }]);
    assert_eq!(batch.records(), [record(0)]);
}

#[test]
fn a_run_is_had_only_with_its_scenario_and_version() {
    let dir = folder();
    with_runs(dir.path(), 0..4);
    let batch = open(dir.path());
    let key = RunKey::of(&record(2));
    assert!(batch.has(&key));
    assert_eq!(batch.get(&key), Some(&record(2)));
    let other_version = RunKey { version: "0.2.0".into(), ..key.clone() };
    let other_scenario = RunKey { scenario_hash: "ffff".into(), ..key.clone() };
    let other_seed = RunKey { seed: 4, ..key.clone() };
    let other_point = RunKey { point: "p=2%".into(), ..key.clone() };
    let other_experiment = RunKey { experiment: "table-5".into(), ..key.clone() };
    for other in [&other_version, &other_scenario, &other_seed, &other_point, &other_experiment] {
        assert!(!batch.has(other), "{other:?}");
        assert_eq!(batch.get(other), None);
    }
    assert_eq!(batch.stale(&[key.clone(), other_seed, other_point, other_experiment]), []);
    let stale = Notice::Stale { experiment: key.experiment, point: key.point, points: 1, runs: 1 };
    for wanted in [other_version, other_scenario] {
        assert_eq!(batch.stale(&[wanted]), std::slice::from_ref(&stale));
    }
}

#[test]
fn a_run_is_not_kept_twice() {
    let dir = folder();
    let bytes = with_runs(dir.path(), 0..1);
    let mut batch = open(dir.path());
    let error = batch.append(record(0)).expect_err("it is there");
    assert!(matches!(error, StoreError::Repeated { .. }), "{error:?}");
    assert_eq!(journal(dir.path()), bytes);
    assert_eq!(batch.records().len(), 1);
}

#[test]
fn instances_that_begin_a_folder_at_once_keep_all_their_runs() {
    for round in 0..300 {
        let dir = quick_folder();
        let path = dir.path().join("new");
        let begun = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (path, begun) = (&path, &begun);
                scope.spawn(move || {
                    begun.wait();
                    let (mut batch, _) = Batch::open(path).expect("a folder of Windlass");
                    let call = Invocation::now("0.1.0", "windlass".into(), vec![seed]);
                    batch.add_invocation(&call).expect("written");
                    batch.append(record(seed)).expect("written");
                });
            }
        });
        let mut seeds: Vec<u64> = open(&path).records().iter().map(|r| r.seed).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, [0, 1, 2, 3], "round {round}");
    }
}

#[test]
fn a_result_that_is_not_finite_is_refused() {
    let dir = folder();
    let mut batch = open(dir.path());
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut required = record(1);
        required.flows[0].goodput_bps = value;
        let mut optional = record(1);
        optional.flows[0].srtt_ms = Some(value);
        for bad in [required, optional] {
            let error = batch.append(bad).expect_err("not finite");
            assert!(matches!(error, StoreError::NotFinite { .. }), "{error:?}");
        }
    }
    assert_eq!(journal(dir.path()), b"");
    batch.append(record(1)).expect("the batch still works");
}

/// The parts of a batch's folder.
fn parts(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir.join("parts")).into_iter().flatten();
    entries.map(|e| e.expect("an entry").path()).collect()
}

/// Another instance holds the lock on the journal. A disk without locks behaves in the same way.
#[test]
fn a_second_writer_writes_a_part_that_is_moved_into_the_journal_later() {
    let dir = folder();
    let mut first = open(dir.path());
    let (mut second, notices) = Batch::open(dir.path()).expect("beside the first");
    assert_eq!(notices, [Notice::Beside]);
    let (mut third, notices) = Batch::share(dir.path()).expect("beside both");
    assert_eq!((notices, parts(dir.path()).len()), (vec![], 0), "nothing before a run is kept");
    let call = |seed| Invocation::now("0.1.0", "windlass".into(), vec![seed]);
    for (seed, batch) in [(1, &mut first), (2, &mut second), (3, &mut third)] {
        batch.add_invocation(&call(seed)).expect("noted");
        batch.append(record(seed)).expect("written");
        // Both instances executed this run at the same time.
        batch.append(record(4)).expect("written");
    }
    let calls = first.invocations().expect("readable").into_iter().map(|i| i.seeds[0]);
    assert_eq!(calls.collect::<Vec<_>>(), [1, 2, 3]);
    let seeds = |batch: &Batch| batch.records().iter().map(|r| r.seed).collect::<Vec<_>>();
    let (look, _) = Batch::share(dir.path()).expect("readable while all are at work");
    assert_eq!(seeds(&look), [1, 4, 2, 3]);
    drop((second, first));
    // The third is still at work.
    let fourth = open(dir.path());
    assert_eq!((seeds(&fourth), parts(dir.path()).len()), (vec![1, 4, 2, 3], 1));
    third.append(record(5)).expect("written");
    drop((third, fourth));
    let fifth = open(dir.path());
    assert_eq!(seeds(&fifth), [1, 4, 2, 3, 5]);
    assert_eq!(fifth.invocations().expect("moved up").len(), 3);
    assert!(!dir.path().join("parts").exists());
    drop(fifth);
    assert_eq!(seeds(&open(dir.path())), [1, 4, 2, 3, 5]);
}

#[test]
fn a_part_with_lines_of_another_version_or_files_of_the_users_stays() {
    let dir = folder();
    let (first, (mut second, _)) = (open(dir.path()), Batch::open(dir.path()).expect("a part"));
    second.append(record(1)).expect("written");
    drop((first, second));
    let part = parts(dir.path()).remove(0);
    fs::write(part.join("notes.txt"), "mine").expect("written");
    let journal = part.join("journal.jsonl");
    let whole = fs::read(&journal).expect("a journal");
    let json = r#"{"experiment":"of the future"}"#;
    let sum = crc32_by_bits(json.as_bytes());
    let foreign = format!("{{\"crc32\":\"{sum:08x}\",\"record\":{json}}}\n").into_bytes();
    fs::write(&journal, [&whole[..], &foreign].concat()).expect("written");
    assert_eq!(open(dir.path()).records(), [record(1)]);
    assert!(journal.is_file());
    fs::write(&journal, &whole).expect("written");
    assert_eq!(open(dir.path()).records(), [record(1)]);
    assert!(!journal.exists() && part.join("notes.txt").is_file());
}

#[test]
fn a_path_that_is_a_file_is_an_error() {
    let dir = folder();
    let file = dir.path().join("out");
    fs::write(&file, "mine").expect("written");
    let error = Batch::open(&file).expect_err("a file");
    assert!(error.to_string().contains("is not a folder"), "{error}");
    assert_eq!(fs::read(&file).expect("still there"), b"mine");
    assert!(Batch::open(file.join("below")).is_err());
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_made_is_an_error_that_names_it() {
    // No user can create folders there, not even root.
    let error = Batch::open("/sys/windlass").expect_err("refused");
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");
    assert!(error.to_string().starts_with("cannot create the folder /sys/windlass: "), "{error}");
}

#[test]
fn files_of_a_killed_export_are_removed_on_opening() {
    let dir = folder();
    let left = dir.path().join(".summary.parquet.123.windlass-tmp");
    let own = dir.path().join(".summary.parquet");
    fs::write(&left, "half").expect("written");
    fs::write(&own, "somebody's").expect("written");
    let at_work = fs::File::options().write(true).open(&left).expect("there");
    at_work.lock().expect("locked, as it is while it is written");
    open(dir.path());
    assert!(left.exists());
    drop(at_work);
    open(dir.path());
    assert!(!left.exists() && own.exists());
}

const PLACE: Place<'_> = Place { experiment: "table-4", point: "mode=both,p=1%", form: "0123abcd" };

#[test]
fn scenarios_and_invocations_are_kept() {
    let dir = folder();
    let mut batch = open(dir.path());
    let path = batch.write_scenario(PLACE, "seed = 1\n").expect("written");
    assert_eq!(path, dir.path().join("scenarios/table-4/mode=both,p=1%25@0123abcd.toml"));
    assert_eq!(fs::read(path).expect("there"), b"seed = 1\n");

    assert_eq!(batch.invocations().expect("none yet"), []);
    let first = Invocation::now("0.1.0", "windlass run".into(), vec![1, 2]);
    let second = Invocation { seeds: vec![3], ..first.clone() };
    batch.add_invocation(&first).expect("written");
    batch.add_invocation(&second).expect("written");
    assert_eq!(batch.invocations().expect("two"), [first, second]);

    fs::write(dir.path().join("meta.json"), "{").expect("written");
    let error = batch.invocations().expect_err("no JSON");
    assert!(error.to_string().contains("meta.json is not valid"), "{error}");
}

proptest! {
    #[test]
    fn every_finite_number_comes_back_bit_by_bit(bits in any::<[u64; 16]>()) {
        let numbers: Vec<f64> =
            bits.into_iter().map(f64::from_bits).filter(|x| x.is_finite()).collect();
        let dir = folder();
        let mut kept = record(0);
        kept.flows = vec![flow(0)];
        kept.flows[0].responses_s = numbers.clone();
        open(dir.path()).append(kept).expect("written");
        let batch = open(dir.path());
        let read: Vec<u64> =
            batch.records()[0].flows[0].responses_s.iter().map(|x| x.to_bits()).collect();
        prop_assert_eq!(read, numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
}

/// A new process holds the files of this process open until it executes its program.
#[cfg(unix)]
#[test]
fn a_closed_batch_is_free_while_other_programs_start() {
    let dir = quick_folder();
    with_runs(dir.path(), 0..1);
    std::thread::scope(|scope| {
        let starts = scope.spawn(|| {
            for _ in 0..200 {
                let _ = std::process::Command::new("true").status();
            }
        });
        while !starts.is_finished() {
            drop(open(dir.path()));
        }
    });
}
