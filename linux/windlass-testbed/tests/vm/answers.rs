//! Answers of a guest, and the ways in which a guest ends.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use windlass_testbed::vm::{self, Error, Job, Kernel};

use crate::{job, run};

pub fn echoes(kernel: &Kernel) {
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

pub fn fails(kernel: &Kernel) {
    for (what, words) in [("fail", "there is no such scenario"), ("panic", "index 7 out of range")]
    {
        match vm::run(kernel, &job(&[what])) {
            Err(Error::Guest { message, .. }) => assert!(message.contains(words), "{message}"),
            other => panic!("{what}: {other:?}"),
        }
    }
}

pub fn goes_down(kernel: &Kernel) {
    match vm::run(kernel, &job(&["exit"])) {
        Err(e @ Error::NoAnswer { .. }) => {
            let text = e.to_string();
            assert!(text.contains("these were its last words"), "{text}");
            // Process 1 exited with status 3, which the kernel prints as a wait status.
            assert!(text.contains("exitcode=0x00000300"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

pub fn hangs(kernel: &Kernel) {
    let started = Instant::now();
    let job = Job { timeout: Duration::from_secs(8), ..job(&["hang"]) };
    match vm::run(kernel, &job) {
        Err(Error::Timeout { .. }) => assert!(started.elapsed() < Duration::from_secs(60)),
        other => panic!("{other:?}"),
    }
}

/// Runs this program as another process, which starts a guest with a job.
fn caller(what: &str) -> Command {
    let mut caller = Command::new(env::current_exe().expect("this program"));
    caller.args(["run", what]);
    caller
}

pub fn ends_with_its_caller(_: &Kernel) {
    let mut caller = caller("hang").stdout(Stdio::null()).spawn().expect("this program again");
    let guest = wait_for("a guest", || child_of(caller.id()));
    caller.kill().expect("a process to kill");
    caller.wait().expect("its end");
    wait_for("the guest's end", || match state(guest) {
        None | Some('Z') => Some(()),
        Some(_) => None,
    });
}

/// Repeats `attempt` until it returns a value. The maximum is one minute.
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

/// Returns the child process of this parent that has become QEMU.
fn child_of(parent: u32) -> Option<u32> {
    let numbers = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|&pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of_parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        stat.contains("(qemu") && of_parent == Some(&parent.to_string())
    })
}

/// Returns the letter of a process's state, or `None` if the process has ended.
fn state(pid: u32) -> Option<char> {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit(") ").next()?.chars().next()
}
