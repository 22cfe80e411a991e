//! Linux in virtual time. This program is its own guest, so it brings its own harness: in a guest
//! `guest_main` takes over, elsewhere the tests of a kernel run one after the other, beside those of
//! the other kernel. Arguments choose tests by a part of their name.

mod common;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use windlass_cc::{AnyParams, Setup, Span};
use windlass_scenario::{Scenario, compile::compile};
use windlass_skip::skip;
use windlass_testbed::bpf::{self, Algorithm, object, pins};
use windlass_testbed::live::{self, Options};
use windlass_testbed::vm::{self, Answer, Error, Job, Kernel, Series};

type Test = fn(&Kernel);

const TESTS: [(&str, Test); 10] = [
    ("a_job_has_its_arguments_and_files_and_its_answer_arrives_whole", echoes),
    ("a_job_that_fails_or_panics_says_so_to_the_caller", fails),
    ("a_guest_that_goes_down_leaves_its_last_words", goes_down),
    ("a_guest_that_hangs_is_stopped_in_time", hangs),
    ("a_guest_ends_with_the_process_that_started_it", ends_with_its_caller),
    ("clock_and_randomness_repeat", repeats),
    ("every_algorithm_carries_a_transfer_and_repeats_to_the_byte", transfers),
    ("guests_at_once_do_not_disturb_each_other", at_once),
    ("an_algorithm_that_was_loaded_to_stay_is_gone_after_a_reboot", forgets),
    ("coupled_paths_see_each_other_and_take_less_of_a_bottleneck", coupled),
];

fn main() -> ExitCode {
    vm::guest_main(serve);
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["check", series] => {
            let said = vm::check(series.parse().expect("a series"));
            println!("{}", said.map_or_else(|e| e.to_string(), |()| "nothing is missing".into()));
        }
        ["run", what] => {
            let kernel = kernels().next().expect("a kernel");
            println!("{:?}", vm::run(&kernel, &job(&[what])));
        }
        chosen => tests(chosen),
    }
    ExitCode::SUCCESS
}

fn tests(chosen: &[&str]) {
    let chosen: Vec<&&str> = chosen.iter().filter(|arg| !arg.starts_with('-')).collect();
    let is_chosen =
        |name: &str| chosen.is_empty() || chosen.iter().any(|part| name.contains(**part));
    let timed = |name: String, test: &dyn Fn()| {
        let started = Instant::now();
        test();
        println!("test {name} ... ok ({:.1?})", started.elapsed());
    };
    if is_chosen("what_is_missing_is_said") {
        timed("what_is_missing_is_said".to_string(), &what_is_missing_is_said);
    }
    let all_of = |kernel: Kernel| {
        for (name, test) in TESTS.iter().filter(|(name, _)| is_chosen(name)) {
            timed(format!("{name} on {}", kernel.release), &|| test(&kernel));
        }
    };
    let kernels: Vec<_> = kernels().collect();
    thread::scope(|scope| {
        for kernel in kernels {
            scope.spawn(move || all_of(kernel));
        }
    });
}

/// A kernel of each series that is to be had.
fn kernels() -> impl Iterator<Item = Kernel> {
    Series::ALL.into_iter().filter_map(|series| {
        let kernel =
            vm::check(series).and_then(|()| vm::prepare(series, &mut |what| eprintln!("{what}")));
        kernel.inspect_err(|e| skip(format_args!("Linux {series} in virtual time: {e}"))).ok()
    })
}

/// What the guest does.
fn serve(args: &[String]) -> Result<Vec<u8>, String> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["echo", rest @ ..] => {
            let file = fs::read("papers/one.bin").map_err(|e| e.to_string())?;
            Ok([rest.join("|").as_bytes(), &file].concat())
        }
        ["fail"] => Err("there is no such scenario".to_string()),
        ["panic"] => panic!("index {} out of range", 7),
        ["exit"] => {
            eprintln!("these were its last words");
            std::process::exit(3)
        }
        ["hang"] => loop {
            std::hint::spin_loop();
        },
        ["traces"] => traces(),
        ["transfers"] => transfers_of_all(),
        ["load"] => load_to_stay(),
        ["paths", algorithm, network] => two_paths(algorithm, network),
        ["look", left @ ..] => look_around(left),
        other => Err(format!("there is no job {other:?}")),
    }
}

fn job(args: &[&str]) -> Job {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    Job { args, timeout: Duration::from_secs(300), ..Job::default() }
}

fn run(kernel: &Kernel, job: &Job) -> Answer {
    vm::run(kernel, job).unwrap_or_else(|e| panic!("{:?}: {e}", job.args))
}

/// In other processes, because they have other environments.
fn what_is_missing_is_said() {
    let nothing = tempfile::tempdir().expect("a folder");
    let said = |program: &str| {
        let mut other = Command::new(env::current_exe().expect("this program"));
        other.args(["check", "6.12"]).env("WINDLASS_QEMU", program).env("PATH", nothing.path());
        other.env("WINDLASS_CACHE", nothing.path()).env_remove("WINDLASS_KERNEL_DEB");
        let output = other.output().expect("this program again");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let without_qemu = said("no-such-qemu");
    assert!(without_qemu.contains("`no-such-qemu`"), "{without_qemu}");
    assert!(without_qemu.contains("apt-get install qemu-system-x86"), "{without_qemu}");
    let script = nothing.path().join("qemu");
    for (version, words) in [("6.2.0", "too old"), ("9.0.2", "WINDLASS_KERNEL_DEB")] {
        fs::write(&script, format!("#!/bin/sh\necho QEMU emulator version {version}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let text = said(script.to_str().expect("a path"));
        assert!(text.contains(words), "{version}: {text}");
    }
}

fn echoes(kernel: &Kernel) {
    let mut job = job(&["echo", "two words", "ü"]);
    let bytes: Vec<u8> =
        (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    job.files = vec![("papers/one.bin".to_string(), bytes.clone())];
    let answer = run(kernel, &job);
    let text = "two words|ü".as_bytes();
    assert_eq!(answer.output.len(), text.len() + bytes.len());
    assert!(answer.output == [text, &bytes].concat());
    println!(
        "  boot: {:.3?} of the guest's time; all: {:.3?} of this machine's",
        answer.boot, answer.host_time
    );
}

fn fails(kernel: &Kernel) {
    for (what, words) in [("fail", "there is no such scenario"), ("panic", "index 7 out of range")]
    {
        match vm::run(kernel, &job(&[what])) {
            Err(Error::Guest { message, .. }) => assert!(message.contains(words), "{message}"),
            other => panic!("{what}: {other:?}"),
        }
    }
}

fn goes_down(kernel: &Kernel) {
    match vm::run(kernel, &job(&["exit"])) {
        Err(e @ Error::NoAnswer { .. }) => {
            let text = e.to_string();
            assert!(text.contains("these were its last words"), "{text}");
            // Process 1 has exited with status 3, which the kernel prints as a wait status.
            assert!(text.contains("exitcode=0x00000300"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

fn hangs(kernel: &Kernel) {
    let started = Instant::now();
    let job = Job { timeout: Duration::from_secs(8), ..job(&["hang"]) };
    match vm::run(kernel, &job) {
        Err(Error::Timeout { .. }) => assert!(started.elapsed() < Duration::from_secs(60)),
        other => panic!("{other:?}"),
    }
}

/// Runs this program as another process, which has a guest run a job.
fn caller(what: &str) -> Command {
    let mut caller = Command::new(env::current_exe().expect("this program"));
    caller.args(["run", what]);
    caller
}

fn ends_with_its_caller(_: &Kernel) {
    let mut caller = caller("hang").stdout(Stdio::null()).spawn().expect("this program again");
    let guest = wait_for("a guest", || child_of(caller.id()));
    caller.kill().expect("a process to kill");
    caller.wait().expect("its end");
    wait_for("the guest's end", || match state(guest) {
        None | Some('Z') => Some(()),
        Some(_) => None,
    });
}

/// Tries until there is one, for a minute.
fn wait_for<T>(what: &str, attempt: impl Fn() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no sign of {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The process that has this one as its parent and has become QEMU.
fn child_of(parent: u32) -> Option<u32> {
    let numbers = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|&pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of_parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        stat.contains("(qemu") && of_parent == Some(&parent.to_string())
    })
}

/// The letter of a process's state; `None` if it has gone.
fn state(pid: u32) -> Option<char> {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit(") ").next()?.chars().next()
}

/// Everything a program could take from a machine's chance: randomness, the clock, addresses of its
/// memory, and when its threads run.
fn traces() -> Result<Vec<u8>, String> {
    let mut random = [0; 64];
    std::io::Read::read_exact(
        &mut fs::File::open("/dev/urandom").map_err(|e| e.to_string())?,
        &mut random,
    )
    .map_err(|e| e.to_string())?;
    let started = Instant::now();
    let beats: Vec<_> = (0..200)
        .map(|i| {
            let started = Instant::now();
            thread::spawn(move || thread::sleep(Duration::from_micros(10 * i))).join().ok();
            started.elapsed()
        })
        .collect();
    // Each nap lets the clock jump to the next timer, over and over while the host is busy with us.
    let mut naps = 0_u64;
    for i in 0..3_000_u64 {
        thread::sleep(Duration::from_micros(1 + i * 7919 % 20));
        naps = naps.wrapping_mul(31).wrapping_add(started.elapsed().as_nanos() as u64);
    }
    let date = std::time::SystemTime::now();
    let stat = fs::read_to_string("/proc/stat").map_err(|e| e.to_string())?;
    Ok(format!("{random:?} {beats:?} {naps} {date:?} {:p}\n{stat}", &raw const random).into_bytes())
}

fn repeats(kernel: &Kernel) {
    let first = run(kernel, &job(&["traces"]));
    for _ in 0..2 {
        let again = run(kernel, &job(&["traces"]));
        assert_eq!(difference(&first.output, &again.output), None);
        assert_eq!((first.boot, first.virtual_time), (again.boot, again.virtual_time));
    }
}

/// A megabyte over a path whose queue overflows.
fn transfer(algorithm: &str) -> Result<live::Outcome, String> {
    let mut link = common::link(20_000_000, 10);
    link.queue = windlass_sim::link::QueueLimit::Packets(40);
    let flow = common::bulk(windlass_tcp::stack::LINUX, algorithm, Some(1_000_000));
    let config = common::config(vec![link], vec![flow]);
    let options = Options { bound: None, spin: Span::ZERO, ..Options::default() };
    let outcome = live::run(&config, &options).map_err(|e| e.to_string())?;
    match &outcome.result.flows[0] {
        flow if flow.delivered_bytes == 1_000_000 && flow.failure.is_none() => Ok(outcome),
        flow => Err(format!("not every byte has arrived: {flow:?}")),
    }
}

/// One transfer after the other in one guest, each with its own line.
fn transfers_of_all() -> Result<Vec<u8>, String> {
    let mut text = String::new();
    for (algorithm, _) in live::COUNTERPARTS {
        let outcome = transfer(algorithm).map_err(|e| format!("{algorithm}: {e}"))?;
        text += &format!("{algorithm}: {outcome:?}\n");
    }
    Ok(text.into_bytes())
}

fn transfers(kernel: &Kernel) {
    let job = job(&["transfers"]);
    let [one, two] = [(); 2].map(|()| run(kernel, &job));
    assert!(one.output == two.output, "{:?}", difference(&one.output, &two.output));
    assert_eq!((one.boot, one.virtual_time), (two.boot, two.virtual_time));
    let (count, time) = (live::COUNTERPARTS.len(), one.virtual_time);
    println!("  {count} transfers: {time:.3?} of the guest's time, {:.1?}", one.host_time);
}

/// The first line in which two answers differ.
fn difference(one: &[u8], two: &[u8]) -> Option<(String, String)> {
    let [one, two] = [one, two].map(String::from_utf8_lossy);
    let differ = one.lines().zip(two.lines()).find(|(one, two)| one != two);
    differ.map(|(one, two)| (one.to_string(), two.to_string()))
}

fn at_once(kernel: &Kernel) {
    let alone = run(kernel, &job(&["traces"])).output;
    thread::scope(|scope| {
        let guests: Vec<_> =
            (0..3).map(|_| scope.spawn(|| run(kernel, &job(&["traces"])).output)).collect();
        for guest in guests {
            assert!(guest.join().expect("a guest") == alone);
        }
    });
}

/// What is loaded to stay, and where: the names that sockets can choose and those that are listed.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Loaded {
    offered: String,
    listed: Vec<String>,
    /// Files and folders that loading has left outside of the file systems that are memory.
    left: Vec<PathBuf>,
}

const STAYS: &str = "wl_reno";

fn loaded(left: Vec<PathBuf>) -> Result<Vec<u8>, String> {
    let offered = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let (offered, listed) = (offered.map_err(|e| e.to_string())?, pins::list());
    let listed = listed.map_err(|e| e.to_string())?;
    serde_json::to_vec(&Loaded { offered, listed, left }).map_err(|e| e.to_string())
}

fn load_to_stay() -> Result<Vec<u8>, String> {
    let before = tree();
    let params = AnyParams::by_name("reno").ok_or("no reno")?;
    let algorithm = Algorithm { params, name: STAYS.to_owned(), recording: false };
    match pins::load(&algorithm, Path::new(".")) {
        Err(bpf::Error::NoLinks) => {}
        done => done.map_err(|e| e.to_string())?,
    }
    loaded(tree().into_iter().filter(|path| !before.contains(path)).collect())
}

/// After a boot with what an earlier one has left in its file system.
fn look_around(left: &[&str]) -> Result<Vec<u8>, String> {
    left.iter().try_for_each(fs::create_dir_all).map_err(|e| e.to_string())?;
    loaded(Vec::new())
}

/// All files of the root file system.
fn tree() -> Vec<PathBuf> {
    let device = |path: &Path| fs::symlink_metadata(path).map(|m| m.dev()).ok();
    let (root, mut found, mut open) = (device(Path::new("/")), Vec::new(), vec!["/".into()]);
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir::<PathBuf>(folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| device(path) == root) {
            if path.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

/// Files for a guest, by name; or why there are none.
type Files = Result<Vec<(String, Vec<u8>)>, String>;

/// The objects of two algorithms, built once.
fn objects() -> Files {
    static BUILT: OnceLock<Files> = OnceLock::new();
    let build = || {
        let params = ["reno", "balia"].map(|id| standard(AnyParams::by_name(id).expect("there")));
        object::build(&object::checkout(Path::new(env!("CARGO_MANIFEST_DIR")))?, &params)?;
        object::for_guest(params.into_iter(), object::Whose::Ours)
    };
    BUILT.get_or_init(|| build().map_err(|e: bpf::Error| e.to_string())).clone()
}

/// With the slow start that is built into objects.
fn standard(mut params: AnyParams) -> AnyParams {
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    params.set_common(&Setup { slow_start, ..params.common() });
    params
}

/// A connection of two paths and one of a single path meet in a bottleneck, all with algorithms of ours.
const TWO_PATHS: &str = r#"
duration = "20s"
[topology]
kind = "two-path"
paths = [{ rate = "3Mbps", delay = "20ms", queue = "40pkt" }, { rate = "3Mbps", delay = "20ms", queue = "40pkt" }]
shared = { rate = "3Mbps", queue = "40pkt" }
[stack]
preset = "linux"
[[flow]]
from = "server"
to = "client"
algorithm = "ALGORITHM"
slow_start = "standard"
[flow.multipath]
subflows = [{ via = ["a1"] }, { via = ["a2"] }]
[[flow]]
from = "server"
to = "client"
algorithm = "reno"
slow_start = "standard"
"#;

/// The networks of the twins. Of the paths `unlike` one is wider and shorter: which of them gets the next data is the kernel's business,
/// that it knows the rates ours.
const TWINS: &str = include_str!("../src/twin/paths.toml");

/// What came of two paths beside one.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Shared {
    /// Of what all connections got, the first's part.
    part: f64,
    /// What the first got, bits a second.
    goodput: f64,
    /// Most paths that the first one's algorithm saw at once.
    paths: usize,
    /// The first answer in a kernel that is not the native core's.
    different: Option<String>,
}

fn two_paths(algorithm: &str, network: &str) -> Result<Vec<u8>, String> {
    let text = if network == "shared" { &TWO_PATHS.replace("ALGORITHM", algorithm) } else { TWINS };
    let mut scenario = Scenario::from_str(text, "two paths").map_err(|e| e.to_string())?;
    if network != "shared" {
        scenario.duration = Span::from_secs(8);
        scenario.flows.retain(|flow| flow.name == network);
        let params = standard(AnyParams::by_name(algorithm).expect("there"));
        scenario.flows.iter_mut().for_each(|flow| flow.set_controller(params));
    }
    let ours = (0..scenario.flows.len()).collect();
    let options = Options { ours, watch: live::Watch::Replay, ..Options::in_virtual_time() };
    let config = compile(&scenario, 1).map_err(|e| e.to_string())?;
    let live::Outcome { result, replayed, .. } =
        live::run(&config, &options).map_err(|e| e.to_string())?;
    let goodput = result.flows[0].goodput_bps;
    let different = replayed.iter().find(|replayed| !replayed.is_equal());
    let shared = Shared {
        part: goodput / result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>(),
        goodput,
        paths: replayed[0].paths,
        different: different.map(|replayed| format!("{:?}", replayed.first)),
    };
    serde_json::to_vec(&shared).map_err(|e| e.to_string())
}

fn coupled(kernel: &Kernel) {
    let files = match objects() {
        Ok(files) => files,
        Err(why) => return skip(why),
    };
    // Of LIA's ways the verifier of 6.1 counts too many.
    let crossed = |algorithm, network| {
        let job =
            Job { files: files.clone(), programs: true, ..job(&["paths", algorithm, network]) };
        serde_json::from_slice::<Shared>(&run(kernel, &job).output).expect("an answer")
    };
    let [alone, coupled] = ["reno", "balia"].map(|algorithm| crossed(algorithm, "shared"));
    println!("  of a bottleneck: {alone:?}, {coupled:?}");
    assert_eq!((&alone.different, &coupled.different), (&None, &None));
    assert_eq!((alone.paths, coupled.paths), (0, 2), "only BALIA sees both");
    assert!(coupled.part < 0.92 * alone.part, "the coupled pair takes clearly less");
    // In the simulator it is 7.4. Where the scheduler knows no rates, the wide path waits for the narrow one: 6.1 and 6.2.
    for algorithm in ["balia", "reno"] {
        let unlike = crossed(algorithm, "unlike");
        assert!(unlike.goodput > 6.8e6 && unlike.different.is_none(), "{algorithm}: {unlike:?}");
    }
}

/// The guest has no disk: what the first boot leaves in its file system is put into the second's.
fn forgets(kernel: &Kernel) {
    let files = match objects() {
        Ok(files) => files,
        Err(why) => return skip(why),
    };
    let boot = |args: &[&str]| {
        let answer = run(kernel, &Job { files: files.clone(), programs: true, ..job(args) });
        serde_json::from_slice::<Loaded>(&answer.output).expect("an answer")
    };
    let first = boot(&["load"]);
    if kernel.release.starts_with("6.1.") {
        // Nothing stays there at all.
        assert!(first.listed.is_empty() && !first.offered.contains(STAYS), "{first:?}");
        return;
    }
    assert!(first.listed == [STAYS] && first.offered.contains(STAYS), "{first:?}");
    let left = first.left.iter().map(|path| path.to_str().expect("a name"));
    let left: Vec<&str> = left.collect();
    // Folders, to mount at: nothing that a boot would act upon.
    assert!(left.iter().all(|path| path.starts_with("/run")), "{left:?}");
    let second = boot(&[&["look"], &left[..]].concat());
    assert!(second.listed.is_empty() && !second.offered.contains("wl_"), "{second:?}");
}
