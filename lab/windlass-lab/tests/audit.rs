//! The checks of the audit find senders with faults, and pass senders without.

use windlass_lab::audit::{CHECKS, Law, Observed, Subject, Transport, Verdict, audit, probe};
use windlass_lab::run::{Runner, World};
use windlass_lab::scenario::Scenario;

/// The verdict of a check for Windlass's endpoint with this algorithm and `[stack]`, if it follows the law.
fn verdict(check: &str, algorithm: &str, stack: &str, law: Law) -> Verdict {
    let check = CHECKS.iter().find(|c| c.id == check).expect("a check");
    let probe = probe(check.probe).expect("a probe");
    let text = probe.scenario(algorithm, stack);
    let scenario = Scenario::from_str(&text, probe.id).unwrap_or_else(|e| panic!("{e}"));
    let observed = Observed::simulated(&scenario, probe).expect("a run");
    (check.judge)(&observed, law, Transport::Tcp).verdict
}

#[test]
fn endpoint_with_the_settings_of_linux_and_of_the_rfcs_has_no_failure() {
    for (algorithm, stack) in
        [("cubic", "linux"), ("newreno", "linux"), ("cubic", "rfc"), ("newreno", "rfc")]
    {
        let subject = Subject::own(algorithm, stack, World::Sim);
        let audited = audit(&subject, &[], &Runner::new(1), |_, _| {}).expect("an audit");
        let failed: Vec<_> =
            audited.outcomes.iter().filter(|o| o.verdict == Verdict::Fails).collect();
        assert!(failed.is_empty(), "{algorithm} {stack}: {failed:?}");
        // The preset `rfc` does not detect spurious timeouts.
        let detects = usize::from(stack == "linux");
        assert_eq!(audited.count(Verdict::Pass), 15 + detects, "{algorithm} {stack}");
        assert_eq!(audited.count(Verdict::Deviates), 1 - detects, "{algorithm} {stack}");
    }
}

#[test]
fn faulty_settings_fail_their_checks() {
    let linux = "preset = \"linux\"";
    for (check, algorithm, law, key) in [
        ("initial-window", "cubic", Law::Cubic, "initial_window = \"30mss\""),
        ("slow-start", "newreno", Law::Reno, "flight_limit = 12"),
        ("idle", "newreno", Law::Reno, "idle_restart = false"),
        ("first-timeout", "newreno", Law::Reno, "rto = { initial = \"4s\" }"),
        ("one-loss", "newreno", Law::Cubic, ""),
        ("one-loss", "scalable", Law::Cubic, ""),
        ("second-loss", "cubic", Law::Reno, ""),
        ("losses-in-one-round", "newreno", Law::Cubic, ""),
        ("avoidance", "scalable", Law::Reno, ""),
        ("avoidance", "newreno", Law::Cubic, ""),
        ("short-rtt", "scalable", Law::Cubic, ""),
        ("every-ack", "scalable", Law::Reno, ""),
    ] {
        let stack = format!("{linux}\n{key}");
        assert_eq!(
            verdict(check, algorithm, &stack, law),
            Verdict::Fails,
            "{check} {algorithm} {key}"
        );
    }
}

#[test]
fn undetected_spurious_timeout_deviates_with_tcp() {
    let off = "preset = \"linux\"\nfrto = false\neifel = false\ndsack_undo = false";
    assert_eq!(verdict("spurious-timeout", "newreno", off, Law::Reno), Verdict::Deviates);
}

/// A program that answers its first request with 500,000 packets.
#[cfg(unix)]
const FLOODS: &str = r#"#!/bin/sh
read setting
printf '{"name":"flood","version":"1","algorithm":"reno","carries":"ip"}\n'
printf '\000\000\000\000\000\000\000\000\040\241\007\000'
head -c 2500000 /dev/zero
cat >/dev/null
"#;

#[cfg(unix)]
#[test]
fn program_that_sends_more_than_a_link_can_carry_ends_its_probe() {
    use std::os::unix::fs::PermissionsExt;
    use windlass_lab::audit::process::{Process, Role, Setting, VERSION};
    use windlass_sim::external::PacketEnd;

    let path = std::env::temp_dir().join(format!("windlass-flood-{}", std::process::id()));
    std::fs::write(&path, FLOODS).expect("a file");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a program");
    let end = "10.0.0.1:9".parse().expect("an address");
    let (local, remote) = (end, end);
    let setting = Setting {
        version: VERSION,
        role: Role::Sender,
        local,
        remote,
        mtu: 1500,
        seed: 1,
        writes: Vec::new(),
    };
    let mut process = Process::start(&path.display().to_string(), &setting).expect("a start");
    let now = windlass_cc::Time::from_millis(1);
    let sent = std::iter::from_fn(|| process.transmit(now)).take(500_000).count();
    std::fs::remove_file(path).expect("a file");
    assert!((400_000..500_000).contains(&sent), "{sent}");
    let why = process.failure.clone().unwrap_or_default();
    assert!(why.contains("more than the link can carry"), "{why}");
}

#[test]
fn other_laws_are_not_judged_by_reno_and_cubic() {
    let stack = "preset = \"linux\"";
    assert_eq!(verdict("one-loss", "scalable", stack, Law::Other), Verdict::NotObservable);
    assert_eq!(verdict("avoidance", "scalable", stack, Law::Other), Verdict::NotObservable);
}
