//! What users do to the live testbed: kill it, interrupt it, start it without privilege or without a
//! TUN device. Some of these need a process of their own, which is this very test program again.

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

/// In the environment of a child: that it is one.
const CHILD: &str = "WINDLASS_TESTBED_CHILD";

/// A command that runs one test of this program as a child.
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

/// What has a name outside of the process: devices of this namespace, namespaces in the file system.
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

/// Waits until `done`, for half a minute at most.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A child in the midst of a run, with the namespaces that it has.
fn running_child(test: &str) -> (Child, BTreeSet<String>) {
    let mut child = child(&this_program(), test).stdout(Stdio::null()).spawn().unwrap();
    let mut namespaces = BTreeSet::new();
    eventually("a child with its namespaces", || {
        assert!(child.try_wait().unwrap().is_none(), "the child has ended by itself");
        namespaces = open_namespaces(Some(child.id()));
        namespaces.len() == 2
    });
    // Until packets are under way.
    thread::sleep(Duration::from_millis(300));
    (child, namespaces)
}

fn ends_by(test: &str, signal: Signal) {
    if is_child() {
        let mut endless = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", None)]);
        endless.duration = Time::from_secs(60);
        // A shell starts what it puts into the background with this signal ignored.
        // SAFETY: the default action runs no code of ours.
        unsafe { nix::sys::signal::signal(signal, nix::sys::signal::SigHandler::SigDfl) }.ok();
        run(&endless);
        panic!("nothing has ended this run");
    }
    need_live!();
    let before = named_things();
    let (mut child, namespaces) = running_child(test);
    assert_eq!(named_things(), before, "something has a name outside");
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
    let left: Vec<_> = open_namespaces(None).intersection(&namespaces).cloned().collect();
    assert!(left.is_empty(), "{left:?} are still held");
    assert_eq!(named_things(), before, "something is left");
    // And nothing is in the way of the next one, whose addresses are the same.
    let next = run(&config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", Some(20_000))]));
    assert_eq!(next.result.flows[0].delivered_bytes, 20_000);
}

#[test]
fn killed_in_a_run_it_leaves_nothing() {
    ends_by("killed_in_a_run_it_leaves_nothing", Signal::SIGKILL);
}

#[test]
fn interrupted_in_a_run_it_leaves_nothing() {
    ends_by("interrupted_in_a_run_it_leaves_nothing", Signal::SIGINT);
}

#[test]
fn without_privilege_it_says_so_and_what_to_do() {
    if is_child() {
        let error = live::check().unwrap_err().to_string();
        assert!(error.contains("root") && error.contains("sudo"), "{error}");
        let config = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", Some(20_000))]);
        let same = live::run(&config, &live::Options::default()).unwrap_err().to_string();
        assert_eq!(same, error);
        return;
    }
    if !nix::unistd::geteuid().is_root() {
        skip("only root can become somebody without privilege");
        return;
    }
    // Where nobody may read this program, nobody may read a copy.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("machine");
    fs::copy(this_program(), &program).unwrap();
    let test = "without_privilege_it_says_so_and_what_to_do";
    let status = child(&program, test).current_dir("/").uid(65_534).gid(65_534).status().unwrap();
    assert!(status.success());
}

#[test]
fn without_a_tun_device_it_says_how_to_get_one() {
    need_live!();
    // In a thread with a view of the file system of its own.
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
