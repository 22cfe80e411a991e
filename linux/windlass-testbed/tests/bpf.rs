//! Windlass's algorithms in this machine's kernel.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::{bulk, config, link, need_live};
use windlass_cc::{AnyParams, Setup};
use windlass_sim::loss::LossModel;
use windlass_tcp::stack::LINUX;
use windlass_testbed::bpf::{self, Algorithm, object, pins};
use windlass_testbed::live::{self, Options};

/// Algorithms that the tests load into the kernel: growth by time, by acknowledgements, and by a model of the
/// path.
const ALGORITHMS: [&str; 3] = ["cubic", "reno", "bbr"];

/// Returns the folder of the objects, which are built once, or the reason why the build failed.
fn objects() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        bpf::check().map_err(|e| e.to_string())?;
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let checkout = object::checkout(&here).map_err(|e| e.to_string())?;
        let algorithms = ALGORITHMS.map(|id| AnyParams::by_name(id).expect(id));
        object::build(&checkout, &algorithms).map_err(|e| e.to_string())?;
        object::folder().map_err(|e| e.to_string())
    });
    built.clone()
}

/// Skips the calling test with a message if objects cannot be built or loaded.
macro_rules! need_objects {
    () => {
        match objects() {
            Ok(folder) => folder,
            Err(why) => {
                windlass_skip::skip(why);
                return;
            }
        }
    };
}

/// Returns the list of algorithms that sockets can choose now.
fn offered() -> String {
    fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("a kernel")
}

/// Runs a lossy download of three seconds and replays its events.
fn run(id: &str, objects: PathBuf) -> live::Outcome {
    let mut flow = bulk(LINUX, id, None);
    let common = flow.profile.params.common();
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    flow.profile_mut().params.set_common(&Setup { slow_start, ..common });
    let mut lossy = link(20_000_000, 10);
    lossy.loss[0] = Some(LossModel::Drop { probability: 0.002 });
    let mut config = config(vec![lossy], vec![flow]);
    config.duration = windlass_cc::Time::from_secs(3);
    let options = Options {
        bound: None,
        ours: vec![0],
        objects,
        watch: live::Watch::Replay,
        ..Options::default()
    };
    live::run(&config, &options).expect("a run")
}

#[test]
fn kernel_answers_equal_the_native_cores_bit_for_bit() {
    need_live!();
    let objects = need_objects!();
    for id in ALGORITHMS {
        let outcome = run(id, objects.clone());
        let replayed = &outcome.replayed[0];
        assert!(replayed.is_equal(), "{id}: {:?}", replayed.first);
        assert!(replayed.events > 1_000, "{id}: {} events", replayed.events);
    }
    assert!(!offered().contains("wl_"), "left behind: {}", offered());
}

/// Waits until sockets can or cannot choose an algorithm. The maximum is some seconds.
fn wait(name: &str, there: bool) -> bool {
    let begun = Instant::now();
    while offered().split_whitespace().any(|n| n == name) != there {
        if begun.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Not a test itself: the next test starts and kills it.
#[test]
#[ignore = "holds an algorithm until it is killed"]
fn hold_an_algorithm_until_killed() {
    let params = AnyParams::by_name("reno").expect("there");
    let algorithm = Algorithm { params, name: "wl_test_killed".to_owned(), recording: false };
    let _held = algorithm.load(&object::folder().expect("a folder")).expect("loaded");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn algorithm_is_removed_when_its_process_is_killed() {
    need_live!();
    need_objects!();
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "hold_an_algorithm_until_killed"])
        .stdout(Stdio::null())
        .spawn()
        .expect("a child");
    let came = wait("wl_test_killed", true);
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(came, "it was never loaded");
    assert!(wait("wl_test_killed", false), "left behind: {}", offered());
}

#[test]
fn pinned_algorithm_stays_until_it_is_unloaded() {
    need_live!();
    let objects = need_objects!();
    let name = "wl_test_pinned";
    let params = AnyParams::by_name("reno").expect("there");
    let algorithm = Algorithm { params, name: name.to_owned(), recording: false };
    let before = pins::list().expect("a list");
    match pins::load(&algorithm, &objects) {
        Err(e @ bpf::Error::NoLinks) => return windlass_skip::skip(e),
        loaded => loaded.expect("loaded"),
    }
    let listed = pins::list().expect("a list");
    let again = pins::load(&algorithm, &objects).map_err(|e| e.to_string());
    let there = wait(name, true);
    pins::unload(name).expect("unloaded");
    assert!(listed.contains(&name.to_owned()) && there, "{listed:?}");
    assert!(again.unwrap_err().contains("windlass kernel unload wl_test_pinned"));
    assert!(wait(name, false), "left behind: {}", offered());
    assert_eq!(pins::list().expect("a list"), before);
    let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
    assert!(!before.is_empty() || !mounts.contains("/run/windlass/bpf"), "still mounted");
    let unknown = pins::unload(name).unwrap_err().to_string();
    assert!(unknown.contains("is not loaded"), "{unknown}");
}
