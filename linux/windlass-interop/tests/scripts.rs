//! Tests of every script of the repository, on Windlass's endpoint and on this machine's kernel, and of the
//! examples in the language's description.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_cc::{Span, Time};
use windlass_interop::script::{
    Action, Check, Departure, Mismatch, Script, Seen, Stack, Tolerance, Trouble, World, available,
    load, play, run, run_all,
};
use windlass_skip::skip;
use windlass_tcp::{Flags, Segment};

fn committed() -> Vec<Script> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/scripts");
    load(&folder).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the blocks of the language's description that are marked as scripts.
fn documented() -> Vec<Script> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/guides/packet-scripts.md");
    let text = std::fs::read_to_string(&file).expect("the description is there");
    let blocks = text.split("```text\ntitle").skip(1).map(|rest| rest.split("```").next().unwrap());
    let scripts = blocks.map(|block| {
        Script::parse(&format!("title{block}"), "packet-scripts.md")
            .unwrap_or_else(|e| panic!("{e}"))
    });
    scripts.collect()
}

/// Runs all scripts and reports each script that does not pass.
fn all_pass(scripts: &[Script], world: World) {
    let (mut failures, mut unable) = (Vec::new(), BTreeMap::new());
    for (script, answer) in scripts.iter().zip(run_all(scripts, world)) {
        match answer {
            Ok(()) => {}
            // The command's tests play these scripts on a kernel that has it.
            Err(Trouble::Unable(why)) if why.contains("accurate ECN from 7.0 on") => {}
            Err(Trouble::Unable(why)) => unable.entry(why).or_insert_with(Vec::new).push(script),
            Err(trouble) => failures.push(trouble.to_string()),
        }
    }
    for (why, scripts) in unable {
        skip(format_args!("{} scripts, such as {}: {why}", scripts.len(), scripts[0].file));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_script_passes_on_windlass_endpoint() {
    let scripts = committed();
    assert!(scripts.len() >= 60, "only {} scripts were found", scripts.len());
    all_pass(&scripts, World::Sim);
}

#[test]
fn every_script_passes_on_the_kernel() {
    match available(World::Linux) {
        Ok(()) => all_pass(&committed(), World::Linux),
        Err(why) => skip(format_args!("no script was played on the kernel: {why}")),
    }
}

#[test]
fn examples_of_the_description_pass() {
    let scripts = documented();
    assert!(scripts.len() >= 2, "the description has scripts");
    all_pass(&scripts, World::Sim);
    if let Err(why) = available(World::Linux) {
        skip(format_args!("the examples on the kernel: {why}"));
        return;
    }
    all_pass(&scripts, World::Linux);
}

const OPEN: &str = "title open\nsource RFC 9293\nset timestamps = off, sack = off\n\
    listen\n< S 0 win 60000 <mss 1000>\n> S. 0 ack 1 <mss 1460>\n+50ms < . 1 ack 1\n";

fn script(rest: &str) -> Script {
    Script::parse(&format!("{OPEN}{rest}"), "test.script").unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the full message about the difference between Windlass's endpoint and the script.
fn mismatch(rest: &str) -> String {
    match run(&script(rest), World::Sim) {
        Err(trouble @ Trouble::Mismatch { .. }) => trouble.to_string(),
        other => panic!("no mismatch: {other:?}"),
    }
}

#[test]
fn mismatch_lists_each_differing_field_of_a_segment() {
    let said = mismatch("write 1000\n> F. 2+500 ack 9 win 7 <sack 1-2>");
    for part in [
        "test.script:9: sim differs from the script",
        "expected  > F. 2+500 ack 9 win 7 <sack 1-2>",
        "P. 1+1000 ack 1",
        "flags P. instead of F.",
        "sequence number 1 instead of 2",
        "1000 bytes of payload instead of 500",
        "acknowledgement 1 instead of 9",
        "window 65000 instead of 7",
        "no sack instead of sack 1-2",
        "50.000 ms   |------------------> | < . 1 ack 1",
        "50.000 ms   | <------------------| > P. 1+1000 ack 1",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
}

#[test]
fn missing_or_unexpected_segment_is_a_mismatch() {
    assert!(mismatch("+20ms > . 1+1000").contains("nothing by 70.000 ms"));
    assert!(mismatch("write 1000\n+10ms quiet").contains("which no line expects"));
    assert!(mismatch("write 1000").contains("after the last line"));
}

#[test]
fn segment_at_a_wrong_time_is_a_mismatch() {
    let late = mismatch("write 1000\n> P. 1+1000\n+200ms > P. 1+1000");
    assert!(late.contains("nothing by 250.000 ms"), "{late}");
    let early = mismatch("write 1000\n> P. 1+1000\n+1s..2s > . 1+1000");
    assert!(
        early.contains("the same at") && early.contains("not at 1050.000 ms to 2050"),
        "{early}"
    );
}

#[test]
fn wrong_value_is_a_mismatch() {
    assert!(mismatch("= cwnd 3").contains("came      10"));
    assert!(mismatch("= ssthresh 3").contains("came      infinite"));
    assert!(mismatch("= state CLOSE-WAIT").contains("came      ESTABLISHED"));
    assert!(mismatch("= srtt 51ms").contains("came      50.000 ms"));
    assert!(mismatch("= error reset").contains("came      none"));
    assert!(mismatch("= eof yes").contains("came      no"));
    assert!(mismatch("read 10").contains("0 bytes are readable, not 10"));
}

#[test]
fn invalid_window_is_reported() {
    let text = "title t\nsource s\nlisten\n< S 0 win 60000 <mss 1000, ws 7>\n\
        > S. 0 ack 1 <...>\n< . 1 ack 1 win 1000";
    let script = Script::parse(text, "test.script").unwrap();
    let said = run(&script, World::Sim).unwrap_err().to_string();
    assert!(said.contains("it must be a multiple of 128, at most 8388480"), "{said}");
}

#[test]
fn stated_difference_that_does_not_exist_fails() {
    let script = script("+1ms quiet");
    let differing = Script {
        differs: script.differs.clone().or_else(|| {
            let text = OPEN.replace("listen", "differs sim: an invented reason\nlisten");
            Script::parse(&text, "test.script").unwrap().differs
        }),
        ..script
    };
    let said = run(&differing, World::Sim).unwrap_err().to_string();
    assert!(said.contains("\"differs sim: an invented reason\" is no longer true"), "{said}");
}

#[test]
fn difference_must_match_its_description() {
    let with = |rest: &str| {
        let text = OPEN.replace("listen", "differs sim: a reason\nlisten");
        let script = Script::parse(&format!("{text}{rest}"), "test.script").unwrap();
        run(&script, World::Sim)
    };
    assert_eq!(with("sim: = cwnd 10\nlinux: = cwnd 9"), Ok(()));
    assert!(matches!(with("sim: = cwnd 8\nlinux: = cwnd 9"), Err(Trouble::Mismatch { .. })));
    assert!(matches!(with("sim: = cwnd 10\nlinux: = cwnd 10"), Err(Trouble::NoDifference { .. })));
}

/// A stack that sends one segment by itself, with a tolerance like a kernel's.
struct Fake {
    now: Time,
    departure: Option<Departure>,
}

impl Stack for Fake {
    fn now(&self) -> Time {
        self.now
    }

    fn tolerance(&self, _: Span) -> Tolerance {
        Tolerance { early: Span::from_millis(5), late: Span::from_millis(10) }
    }

    fn act(&mut self, _: Action) -> Result<(), String> {
        Ok(())
    }

    fn deliver(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        let due = self.departure.take_if(|departure| departure.at <= until);
        self.now = due.map_or(until, |departure| departure.at);
        Ok(due)
    }

    fn look(&mut self, _: &Check) -> Result<Seen, String> {
        Ok(Seen::Number(0))
    }
}

/// Returns the result for a SYN at `ms` milliseconds, if the script expects it at 100.
fn syn_at(ms: u64, intact: bool) -> Result<(), Mismatch> {
    let segment = Segment { flags: Flags::SYN, ..Segment::default() };
    let departure = Departure { at: Time::from_millis(ms), segment, intact };
    let mut fake = Fake { now: Time::ZERO, departure: Some(departure) };
    let text = "title t\nsource s\nconnect\n+100ms > S 0";
    play(&Script::parse(text, "test.script").unwrap(), World::Linux, &mut fake)
}

#[test]
fn tolerance_applies_and_only_a_late_segment_may_be_due_to_load() {
    assert_eq!(syn_at(95, true), Ok(()));
    assert_eq!(syn_at(110, true), Ok(()));
    assert!(!syn_at(94, true).unwrap_err().may_be_load);
    assert!(syn_at(111, true).unwrap_err().may_be_load);
}

#[test]
fn payload_not_written_by_the_application_is_a_mismatch() {
    let mismatch = syn_at(100, false).unwrap_err();
    assert!(mismatch.came.contains("payload that the application did not write there"));
    assert!(!mismatch.may_be_load);
}
