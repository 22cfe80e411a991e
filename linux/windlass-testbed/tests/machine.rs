//! Reactions of the live testbed to its users: a kill, an interrupt, missing privilege and a missing TUN
//! device. Some tests need a separate process, which is this test program again.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{bulk, config, link, need_live, run};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use windlass_cc::Time;
use windlass_skip::skip;
use windlass_tcp::stack::LINUX;
use windlass_testbed::live;

/// Environment variable that marks a child process.
const CHILD: &str = "WINDLASS_TESTBED_CHILD";

/// Returns a command that runs one test of this program as a child.
fn child(program: &std::path::Path, test: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    command
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// Network namespaces that processes have open as descriptors, with the processes' numbers.
fn open_namespaces(of: Option<u32>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    for process in processes.filter(|p| {
        let name = p.file_name().to_string_lossy().parse::<u32>();
        name.is_ok_and(|pid| of.is_none_or(|of| of == pid))
    }) {
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        for descriptor in descriptors.flatten() {
            if let Ok(target) = fs::read_link(descriptor.path())
                && target.to_string_lossy().starts_with("net:")
            {
                found.insert(target.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Objects with a name outside the process: devices of this namespace, namespaces in the file system.
fn named_things() -> Vec<String> {
    let entries = |path: &str| {
        let names = fs::read_dir(path).into_iter().flatten().flatten();
        names.map(|e| e.path().display().to_string()).collect::<Vec<_>>()
    };
    let mut all: Vec<String> =
        ["/sys/class/net", "/run/netns", "/var/run/netns"].map(entries).concat();
    all.sort();
    all
}

/// Waits until `done` is true, for at most half a minute.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a child and waits until it is in a run. Returns it with its namespaces.
fn running_child(test: &str) -> (Child, BTreeSet<String>) {
    let mut child = child(&this_program(), test).stdout(Stdio::null()).spawn().unwrap();
    let mut namespaces = BTreeSet::new();
    eventually("a child with its namespaces", || {
        assert!(child.try_wait().unwrap().is_none(), "the child has ended by itself");
        namespaces = open_namespaces(Some(child.id()));
        namespaces.len() == 2
    });
    // Wait until packets are in flight.
    thread::sleep(Duration::from_millis(300));
    (child, namespaces)
}

fn ends_by(test: &str, signal: Signal) {
    if is_child() {
        let mut endless = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", None)]);
        endless.duration = Time::from_secs(60);
        // A shell starts background processes with this signal ignored.
        // SAFETY: the default action does not run any code of this program.
        unsafe { nix::sys::signal::signal(signal, nix::sys::signal::SigHandler::SigDfl) }.ok();
        run(&endless);
        panic!("no signal has ended this run");
    }
    need_live!();
    let before = named_things();
    let (mut child, namespaces) = running_child(test);
    assert_eq!(named_things(), before, "an object has a name outside");
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
    let left: Vec<_> = open_namespaces(None).intersection(&namespaces).cloned().collect();
    assert!(left.is_empty(), "{left:?} are still held");
    assert_eq!(named_things(), before, "an object is left");
    // The next run, with the same addresses, is not blocked.
    let next = run(&config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", Some(20_000))]));
    assert_eq!(next.result.flows[0].delivered_bytes, 20_000);
}

#[test]
fn killed_run_leaves_nothing_behind() {
    ends_by("killed_run_leaves_nothing_behind", Signal::SIGKILL);
}

#[test]
fn interrupted_run_leaves_nothing_behind() {
    ends_by("interrupted_run_leaves_nothing_behind", Signal::SIGINT);
}

#[test]
fn missing_privilege_is_reported_with_a_remedy() {
    if is_child() {
        let error = live::check().unwrap_err().to_string();
        assert!(error.contains("root") && error.contains("sudo"), "{error}");
        let config = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", Some(20_000))]);
        let same = live::run(&config, &live::Options::default()).unwrap_err().to_string();
        assert_eq!(same, error);
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        skip("only root can become a user without privilege");
        return;
    }
    // If other users may not read this program, use a copy that they can read.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("machine");
    fs::copy(this_program(), &program).unwrap();
    let test = "missing_privilege_is_reported_with_a_remedy";
    let status = child(&program, test).current_dir("/").uid(65_534).gid(65_534).status().unwrap();
    assert!(status.success());
}

#[test]
fn missing_tun_device_is_reported_with_a_remedy() {
    need_live!();
    // In a thread with a separate view of the file system.
    let answer = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNS)?;
        let nothing: Option<&str> = None;
        mount(nothing, "/", nothing, MsFlags::MS_REC | MsFlags::MS_PRIVATE, nothing)?;
        mount(Some("none"), "/dev/net", Some("tmpfs"), MsFlags::empty(), nothing)?;
        Ok::<_, nix::Error>(live::check())
    });
    match answer.join().unwrap() {
        Err(e) => skip(format_args!("no mount namespace on this machine ({e})")),
        Ok(answer) => {
            let error = answer.unwrap_err().to_string();
            assert!(error.contains("/dev/net/tun") && error.contains("modprobe tun"), "{error}");
        }
    }
    assert!(live::check().is_ok(), "other threads still have it");
}
