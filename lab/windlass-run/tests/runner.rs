//! Runs that fail, and their effect on other runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use windlass_run::store::{Batch, FAILURES, JOURNAL, Memory, Store};
use windlass_run::{
    Backend, Campaign, Error, Failed, Folder, Ran, RunError, Runner, Task, World, simulate,
};
use windlass_scenario::Scenario;

const SMALL: &str = r#"
duration = "2s"
[[link]]
between = ["a", "b"]
rate = "1Mbps"
delay = "5ms"
loss = { model = "drop", probability = "1%" }
[[flow]]
from = "a"
to = "b"
algorithm = "reno"
"#;

/// A backend that fails with every third seed, panics with every fourth, and has no radios.
struct Moody;

impl Backend for Moody {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        if scenario.name == "radio" {
            return Err(RunError::NoRadio { world: World::Linux, cell: "wifi".to_owned() });
        }
        assert!(!seed.is_multiple_of(4), "no even number of pairs");
        if seed.is_multiple_of(3) {
            return Err(RunError::backend("a device went away"));
        }
        Ok(Ran { result: simulate(scenario, seed)?, kernel: None })
    }
}

fn tasks(text: &str, name: &str, world: World, seeds: std::ops::RangeInclusive<u64>) -> Vec<Task> {
    let scenario = Arc::new(Scenario::from_str(text, name).unwrap());
    let scenario_hash: Arc<str> = world.hash(&scenario).into();
    seeds
        .map(|seed| Task {
            experiment: "e".to_owned(),
            point: "all".to_owned(),
            seed,
            scenario: scenario.clone(),
            scenario_hash: scenario_hash.clone(),
            world,
        })
        .collect()
}

/// A kernel of some release.
struct Kernel(&'static str);

impl Backend for Kernel {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        Ok(Ran { result: simulate(scenario, seed)?, kernel: self.release() })
    }

    fn release(&self) -> Option<String> {
        Some(self.0.to_owned())
    }
}

#[test]
fn runs_of_another_kernel_are_not_taken_over_and_stay() {
    let dir = tempfile::tempdir().unwrap();
    let all = tasks(SMALL, "small.toml", World::Linux, 1..=2);
    let made = |release: &'static str| {
        let runner = Runner::new(1).with(Kernel(release));
        let mut folder = Folder::open(dir.path(), all.clone(), None, "test", &runner).unwrap();
        let (there, notices) = (folder.finished(), folder.notices.len());
        let records = folder.fill(&runner, |_| {}).unwrap().records;
        assert!(records.iter().all(|r| r.kernel.as_deref() == Some(release)), "{release}");
        (there, records.len(), notices)
    };
    assert_eq!(made("6.1.0"), (0, 2, 0));
    assert_eq!(made("6.12.0"), (0, 2, 1), "with a notice of the runs that do not count");
    assert_eq!(made("6.1.0"), (2, 2, 1), "they stayed");
    let journal = std::fs::read_to_string(dir.path().join(JOURNAL)).unwrap();
    assert_eq!(journal.lines().count(), 4);
    // The present kernel was not set, so the last kernel that ran counts.
    let batch = Batch::open(dir.path()).unwrap().0;
    assert_eq!(batch.get(&all[0].key()).unwrap().kernel.as_deref(), Some("6.12.0"));
}

fn seeds(failed: &[Failed]) -> Vec<u64> {
    failed.iter().map(|f| f.seed).collect()
}

#[test]
fn failed_and_panicked_runs_are_recorded_and_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let all = tasks(SMALL, "small.toml", World::Linux, 1..=8);
    let runner = Runner::new(2).with(Moody);
    let mut folder = Folder::open(dir.path(), all.clone(), None, "test", &runner).unwrap();
    let filled = folder.fill(&runner, |_| {}).unwrap();
    assert_eq!(seeds(&filled.failed), [3, 4, 6, 8]);
    assert_eq!(filled.records.iter().map(|r| r.seed).collect::<Vec<_>>(), [1, 2, 5, 7]);
    let reasons: Vec<&str> = filled.failed.iter().map(|f| f.reason.as_str()).collect();
    assert_eq!(reasons[0], "a device went away");
    assert!(reasons[1].contains("panicked: no even number of pairs"), "{}", reasons[1]);
    assert_eq!(filled.failed[0].scenario, "small");
    drop(folder);

    let text = std::fs::read_to_string(dir.path().join(FAILURES)).unwrap();
    let read: Vec<Failed> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, filled.failed);

    // The next call executes only the failed runs; a run that succeeds is no longer a failure.
    let mut folder = Folder::open(dir.path(), all, None, "test", &runner).unwrap();
    assert_eq!(folder.finished(), 4);
    struct Mended;
    impl Backend for Mended {
        fn world(&self) -> World {
            World::Linux
        }
        fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
            Ok(Ran { result: simulate(scenario, seed)?, kernel: None })
        }
    }
    let filled = folder.fill(&Runner::new(1).with(Mended), |_| {}).unwrap();
    assert!(filled.failed.is_empty());
    assert_eq!(filled.records.len(), 8);
    assert_eq!(std::fs::read_to_string(dir.path().join(FAILURES)).unwrap(), "");
    let journal = std::fs::read_to_string(dir.path().join(JOURNAL)).unwrap();
    assert_eq!(journal.lines().count(), 8);
}

/// Counts the calls of the backend.
struct Counted(Arc<AtomicUsize>);

impl Backend for Counted {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Moody.run(scenario, seed)
    }
}

#[test]
fn a_campaign_makes_a_run_of_several_rounds_once_even_if_it_fails() {
    let dir = tempfile::tempdir().unwrap();
    let made = Arc::new(AtomicUsize::new(0));
    let runner = Runner::new(2).with(Counted(made.clone()));
    let mut campaign = Campaign::open(dir.path(), None).unwrap().called("test");
    for (last, expected) in [(3, true), (8, true), (8, false)] {
        let wanted = tasks(SMALL, "small.toml", World::Linux, 1..=last);
        let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
        assert_eq!(campaign.round(wanted, &runner, record, |_, _, _| ()).unwrap(), expected);
    }
    assert_eq!((made.load(Ordering::Relaxed), seeds(campaign.failed())), (8, vec![3, 4, 6, 8]));
    let failures = std::fs::read_to_string(dir.path().join(FAILURES)).unwrap();
    assert_eq!(failures.lines().count(), 4, "the failures of all rounds");
    let calls = campaign.batch().invocations().unwrap();
    let calls: Vec<Vec<u64>> = calls.into_iter().map(|call| call.seeds).collect();
    assert_eq!(calls, [vec![1, 2, 3], vec![4, 5, 6, 7, 8]]);
}

#[test]
fn a_scenario_that_a_back_end_does_not_take_ends_the_work() {
    let radio = tasks(SMALL, "radio.toml", World::Linux, 1..=2);
    let error = Runner::new(1).with(Moody).execute(&radio, |_, _, _| Ok::<(), RunError>(()));
    assert!(matches!(error, Err(RunError::NoRadio { .. })), "{error:?}");
    // A backend that is missing from this program fails too.
    let error = Runner::new(1).execute(&radio, |_, _, _| Ok::<(), RunError>(()));
    assert!(matches!(error, Err(RunError::NotBuilt(World::Linux))), "{error:?}");
}

#[test]
fn a_run_on_two_backends_is_two_runs() {
    let [sim, linux] =
        [World::Sim, World::Linux].map(|w| tasks(SMALL, "s.toml", w, 1..=1).remove(0));
    let linux = Task { scenario_hash: sim.scenario_hash.clone(), ..linux };
    assert_ne!(sim.key(), linux.key());
}

/// Every file below a folder with its bytes, without the tables and notes of the last command.
fn kept(dir: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for sub in ["scenarios", "series", "captures", "mine"] {
        let mut open = vec![dir.join(sub)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            } else if path.is_file() {
                found.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn another_setting_leaves_all_that_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = format!("{SMALL}[record]\nseries = [\"cwnd_bytes\"]\ncapture = [\"a-b\"]\n");
    let faster = recorded.replace("1Mbps", "2Mbps");
    let more = recorded.replace("[\"cwnd_bytes\"]", "[\"cwnd_bytes\", \"rto_ns\"]");
    let mut before = Vec::new();
    for (n, text) in [&recorded, &faster, &more, &SMALL.to_owned()].into_iter().enumerate() {
        if n == 1 {
            // Files of the user in the folders of recordings, and with similar names.
            for name in ["series/e/all/mine.txt", "captures/e/notes", "mine/report.txt"] {
                let path = dir.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "mine").unwrap();
            }
            before = kept(dir.path());
        }
        let all = tasks(text, "s.toml", World::Sim, 1..=2);
        let mut folder = Folder::open(dir.path(), all, None, "test", &Runner::new(1)).unwrap();
        assert_eq!(folder.fill(&Runner::new(1), |_| {}).unwrap().records.len(), 2);
        let after = kept(dir.path());
        for file in &before {
            assert!(after.contains(file), "{} is gone or another", file.0.display());
        }
        before = after;
    }
    // Two seeds of three recorded forms, and four scenarios.
    let ending =
        |e: &str| before.iter().filter(|(p, _)| p.extension().is_some_and(|x| x == e)).count();
    assert_eq!((ending("parquet"), ending("pcapng"), ending("toml")), (6, 6, 4));
}

#[test]
fn a_runner_that_may_be_stopped_makes_the_same_runs_until_it_is() {
    let stop = Arc::new(AtomicBool::new(false));
    let runner = Runner::until(stop.clone(), 1);
    let tasks = tasks(SMALL, "small", World::Sim, 1..=4);
    let scenario = &tasks[0].scenario;
    assert_eq!(runner.run(&tasks[0]).unwrap().result, simulate(scenario, 1).unwrap());
    let mut store = Memory::default();
    let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
    let made = runner.fill(&tasks, &mut store, record, |task, _, _| {
        stop.store(task.seed == 2, Ordering::Relaxed);
    });
    assert!(matches!(made, Err(Error::Run(RunError::Stopped))), "{made:?}");
    assert_eq!(store.into_records().len(), 2);
}
