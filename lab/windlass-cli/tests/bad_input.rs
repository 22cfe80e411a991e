//! Wrong input gets one clear error, an exit code, and nothing on standard output.

use std::fs;
use std::path::Path;

use crate::support::{SMALL, Said, call, done, scenario, windlass};
use windlass_skip::skip;

/// A replaced part of [`SMALL`], its replacement, and the error, in which `FILE` is the file.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "rate = \"2Mbps\"",
        "rat = \"2Mbps\"",
        "FILE:7:1: unknown key `rat` in `[[link]]`; did you mean `rate`?",
    ),
    (
        "rate = \"2Mbps\"",
        "rate = 2",
        "FILE:7:8: `rate`: `2` has no unit; write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    (
        "rate = \"2Mbps\"",
        "rate = \"-2Mbps\"",
        "FILE:7:8: `rate`: `-2Mbps` is negative; write a rate such as `10Mbps`, `250kbps` or \
         `1MB/s`",
    ),
    (
        "delay = \"10ms\"",
        "delay = \"99999999999999h\"",
        "FILE:8:9: `delay`: `99999999999999h` is longer than the simulator can count (584 years)",
    ),
    (
        "delay = \"10ms\"",
        "delay = \"10ms\"\nmtu = \"576B\"\n[stack]\nmss = \"1000B\"\n[[link]]\nbetween = \
         [\"a\", \"b\"]\nrate = \"1Mbps\"",
        "`mss`: 1000B and 40B of headers exceed the MTU of 576B between `server` and `client`; \
         write at most `536B`",
    ),
    (
        "probability = \"2%\"",
        "probability = \"120%\"",
        "FILE:9:40: `probability`: `120%` is more than 100 %; write a number from 0 to 1, or from \
         `0%` to `100%`",
    ),
    (
        "to = \"client\"",
        "to = \"clint\"",
        "FILE:14:6: `to`: no link mentions a node `clint`; did you mean `client`?",
    ),
    (
        "algorithm = \"newreno\"",
        "algorithm = \"cubik\"",
        "FILE:15:13: `algorithm`: unknown value `cubik`; did you mean `cubic`?",
    ),
    ("[[flow]]", "[stack]\npreset = \"riverbad\"\n[[flow]]", "did you mean `riverbed`?"),
    (
        "duration = \"20s\"",
        "",
        "FILE:1:1: the scenario lacks the key `duration`; write for example `duration = \"100s\"`",
    ),
    ("[[flow]]", "[[flow]", "not valid TOML"),
];

/// A Wi-Fi cell; the first line is line 2 of the file.
const CELL: &str = r#"duration = "5s"
[[wifi]]
standard = "802.11g"
access_point = "ap"
stations = ["s1", "s2"]
[[flow]]
from = "s1"
to = "ap"
algorithm = "cubic"
"#;

/// The mistakes in [`CELL`].
const MISTAKES_IN_A_CELL: &[(&str, &str, &str)] = &[
    (
        "[\"s1\", \"s2\"]",
        "[\"s1\", { node = \"s2\", at = [\"300m\", \"0m\"] }]",
        "FILE:5:19: station \"s2\" is out of range of \"ap\": they are 300 m apart, frames arrive at \
         -98.5 dBm, and at least -82.0 dBm are needed; move it nearer (`at`, `radius`), or change",
    ),
    (
        "access_point",
        "rate = \"11Mbps\"\naccess_point",
        "FILE:4:8: `rate`: 802.11g has no rate of 11Mbps; its rates are 6Mbps, 9Mbps, 12Mbps",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[]",
        "FILE:5:12: `stations`: a cell needs at least one station, for example [\"s1\"]",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[\"s1\", \"s1\"]",
        "FILE:5:19: `s1` occurs twice; a node has one station in a cell",
    ),
    ("from = \"s1\"", "from = \"s9\"", "FILE:7:8: `from`: no link or cell mentions a node `s9`"),
];

/// Asserts an input error that begins with `error: `, has all `parts`, and is one sentence with at
/// most one line of help.
fn refuses(args: &[&str], parts: &[&str]) {
    let said = call(args);
    assert_eq!(said.code, Some(2), "{args:?}: {}", said.err);
    assert_eq!(said.out, "", "{args:?}");
    assert!(said.err.starts_with("error: "), "{args:?}: {}", said.err);
    let lines: Vec<&str> = said.err.lines().collect();
    assert!(
        lines.len() == 1 || lines.len() == 2 && lines[1].starts_with("help: "),
        "{args:?}: {}",
        said.err
    );
    for part in parts {
        assert!(lines[0].contains(part), "{args:?}: {} lacks {part}", said.err);
    }
}

#[test]
fn each_mistake_in_a_scenario_has_its_error() {
    for (part, instead, expected) in MISTAKES {
        assert!(SMALL.contains(part), "{part}");
        let (_dir, file) = scenario(SMALL.replacen(part, instead, 1));
        refuses(&["run", &file], &[&expected.replace("FILE", &file)]);
    }
}

#[test]
fn each_mistake_in_a_wifi_cell_has_its_error() {
    for (part, instead, expected) in MISTAKES_IN_A_CELL {
        assert!(CELL.contains(part), "{part}");
        let (_dir, file) = scenario(CELL.replacen(part, instead, 1));
        refuses(&["run", &file], &[&expected.replace("FILE", &file)]);
    }
    let (_dir, file) = scenario(CELL);
    let no_rate = "--set wifi.wifi.rate=7Mbps: `rate`: 802.11g has no rate of 7Mbps";
    refuses(&["run", &file, "--set", "wifi.wifi.rate=7Mbps"], &[no_rate]);
    let no_radio = "has no radio for the Wi-Fi cell `wifi`: its nodes are joined by links";
    refuses(&["run", &file, "--on", "linux"], &["the backend `linux` ", no_radio]);
    refuses(&["run", &file, "--on", "linux-vt"], &[no_radio]);
}

#[test]
fn a_link_with_a_radio_runs_in_the_simulator_only() {
    let (_dir, file) = scenario(
        "duration = \"60s\"\n[[link]]\nname = \"air\"\nbetween = [\"a\", \"b\"]\nradio = \"lte-m\"\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"cubic\"\n",
    );
    for world in ["linux", "linux-vt"] {
        refuses(&["run", &file, "--on", world], &["has no `radio` for the link `air`"]);
    }
}

#[test]
fn a_file_that_is_not_a_scenario_is_named() {
    let (dir, file) = scenario(SMALL);
    let folder = dir.path().to_str().expect("plain");
    let name = |name: &str| dir.path().join(name).to_str().expect("plain").to_owned();
    let (missing, binary, empty) = (name("missing.toml"), name("binary.toml"), name("empty.toml"));
    fs::write(&binary, [0xff, 0xfe, 0x00, 0x80]).expect("written");
    fs::write(&empty, "").expect("written");
    let unread = "the scenario file cannot be read: ";
    refuses(&["run", &missing], &[&missing, unread, "No such file or directory"]);
    refuses(&["run", folder], &[folder, unread, "directory"]);
    refuses(&["run", &binary], &[&binary, unread, "UTF-8"]);
    refuses(&["run", &empty], &[&empty, "`duration`"]);
    refuses(&["run", &format!("{file}/below")], &[unread]);
}

#[test]
fn a_file_without_an_end_is_refused_before_memory_is() {
    if !Path::new("/dev/zero").exists() {
        skip("this system has no /dev/zero");
        return;
    }
    for verb in [&["run", "/dev/zero"][..], &["sweep", "/dev/zero"]] {
        refuses(verb, &["/dev/zero: the scenario file cannot be read: it has more than 256 MiB"]);
    }
}

#[test]
fn repeated_input_is_short_and_has_no_control_characters() {
    let long = "v".repeat(1_000_000);
    let (_dir, file) = scenario(SMALL.replace("newreno", &long));
    let said = call(&["run", &file]);
    assert!(said.code == Some(2) && said.err.len() < 2000, "{} bytes", said.err.len());
    assert!(said.err.contains("`algorithm`: unknown value `vvv"), "{}", said.err);
    for args in [["run", "no\x1b[31m.toml"], ["run", "no\x07.toml"], ["algorithms", "no\x1b[31m"]] {
        let said = call(&args);
        assert!(said.code == Some(2) && !said.err.contains(['\x1b', '\x07']), "{:?}", said.err);
    }
    // Tables too: a label may have any character.
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let axis = "no\x1b[31m:link.0.delay=1ms,2ms";
    let said = done(&[
        "sweep",
        &file,
        "--axis",
        axis,
        "--seeds",
        "1",
        "--out",
        out.to_str().expect("plain"),
    ]);
    assert!(said.out.contains("no\\u{1b}[31m") && !said.err.contains('\x1b'), "{:?}", said.out);
}

#[test]
fn errors_of_unknown_names_list_the_known_names() {
    assert!(call(&["rnu"]).err.contains("a similar subcommand exists: 'run'"));
    refuses(
        &["algorithms", "zzz"],
        &["no algorithm, slow start or timer is called \"zzz\"; there are tahoe, reno, newreno"],
    );
    refuses(&["presets", "windows"], &["no preset is called \"windows\"; there are rfc, riverbed"]);
    refuses(
        &["presets", "nb-iot"],
        &["no preset is called \"nb-iot\"; did you mean `nb-iot-ce0`?"],
    );
    refuses(&["algorithms", "cubc"], &["timer is called \"cubc\"; did you mean `cubic`?"]);
    refuses(&["papers", "none"], &["no paper is called \"none\"; there are reno-ber"]);
    let paper = "no paper is called \"reno\"; did you mean `reno-ber`?";
    refuses(&["papers", "reno"], &[paper]);
    refuses(&["reproduce", "reno"], &[paper]);
    refuses(&["report", "reno"], &[paper]);
}

#[cfg(unix)]
#[test]
fn an_audit_names_the_unknown_stack_the_program_that_ended_and_the_bad_recording() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list.toml");
    fs::write(&list, "[[stack]]\nname = \"own\"\nalgorithm = \"cubic\"\n").unwrap();
    let list = list.to_str().unwrap();
    refuses(
        &["audit", list, "--only", "own,owm"],
        &["no stack of the list is called \"owm\"", "own"],
    );
    let ended = call(&["audit", "--command", "false"]);
    assert!(
        ended.code == Some(1) && ended.err.contains("`false`: it ended before"),
        "{}",
        ended.err
    );
    refuses(&["audit", "--qlog", list], &["list.toml: record 1"]);
}

#[test]
fn a_bad_override_is_the_one_that_is_named() {
    let (_dir, file) = scenario(SMALL);
    let set = |text: &str, parts: &[&str]| refuses(&["run", &file, "--set", text], parts);
    set("link.0.rate", &["--set link.0.rate: write KEY=VALUE, such as link.0.rate=2Mbps"]);
    set("link.0.rate=2", &["--set link.0.rate=2: `rate`: `2` has no unit"]);
    set("link.0.loss.probability=120%", &["--set link.0.loss.probability=120%", "more than 100 %"]);
    set("link.0.mtu=10B", &["--set link.0.mtu=10B: `mtu`"]);
    set("flow.1.to=x", &["--set flow.1.to=x: `flow` has no item `1`"]);
    set("flow.0.stack.mss=1461B", &["exceed the MTU of 1500B"]);
    set("=1", &["--set =1"]);
    set("", &["--set : write KEY=VALUE"]);
}

#[test]
fn numbers_that_cannot_be_meant_are_refused() {
    let (_dir, file) = scenario(SMALL);
    let last = i64::MAX.to_string();
    refuses(
        &["run", &file, "--seed", &last, "--seeds", "2"],
        &["2 runs from seed 9223372036854775807 on would pass the largest seed"],
    );
    for args in [
        &["run", &file, "--seed", "9223372036854775808"][..],
        &["run", &file, "--seed", "-1"],
        &["run", &file, "--seeds", "0"],
        &["run", &file, "--jobs", "100000"],
        &["run", &file, "--json", "--csv"],
        &["run", &file, "--nonsense"],
        &["run"],
        &["nonsense"],
        &["reproduce", "reno-ber", "--seeds", "0"],
        &["completions", "tcsh"],
        &["--quiet", "--verbose", "algorithms"],
    ] {
        let said = call(args);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{args:?}: {}", said.err);
        assert!(said.err.starts_with("error: "), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_negative_number_is_answered_with_the_name_of_its_option() {
    let (_dir, file) = scenario(SMALL);
    let said = call(&["run", &file, "--seed", "-1"]);
    assert!(said.err.contains("invalid value '-1' for '--seed <N>'"), "{}", said.err);
}

#[test]
fn an_output_folder_that_cannot_be_is_said_before_any_run() {
    let (dir, file) = scenario(SMALL);
    // Not even root can create a folder below a regular file.
    let below = format!("{file}/out");
    let endless = SMALL.replace("duration = \"20s\"", "duration = \"20000h\"");
    let long = dir.path().join("long.toml");
    fs::write(&long, endless.replace("bytes = \"300kB\"", "")).expect("written");
    let long = long.to_str().expect("plain");
    for args in [
        &["run", long, "--out", &below][..],
        &["run", long, "--out", &file],
        &["reproduce", "reno-ber", "--out", &file],
    ] {
        let said = call(args);
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{args:?}: {}", said.err);
        let error = said.err.lines().last().unwrap_or_default();
        assert!(error.starts_with("error: "), "{args:?}: {}", said.err);
        assert!(error.contains(&file), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_report_without_runs_has_a_remedy_and_writes_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().join("none");
    let out = out.to_str().expect("plain");
    refuses(&["report", "--out", out], &["holds no results of a paper; `windlass reproduce --out"]);
    refuses(
        &["report", "reno-ber", "--out", out],
        &["holds no run of this version for paper \"reno-ber\"; `windlass reproduce reno-ber`"],
    );
    assert!(!Path::new(out).exists());
}

#[test]
fn writing_to_a_full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        skip("this system has no /dev/full");
        return;
    }
    let (_dir, file) = scenario(SMALL);
    for args in [
        &["run", file.as_str()][..],
        &["run", file.as_str(), "--json"],
        &["algorithms"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = windlass(args).stdout(full).output().expect("started");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(err.contains("error: cannot write to standard output: "), "{args:?}: {err}");
    }
}

/// The command with a maximum size of files, kibibytes.
#[cfg(unix)]
fn with_files_up_to(kib: u32, args: &[&str]) -> Said {
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", 2 * kib);
    let program = windlass::<&str>(&[]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).arg(program.get_program()).args(args);
    command.output().expect("started").into()
}

#[cfg(unix)]
#[test]
fn finished_runs_are_shown_and_stored_without_space_for_the_report() {
    let (dir, file) = scenario(SMALL);
    let out = |name: &str| dir.path().join(name).to_str().expect("plain").to_owned();
    for (k, (args, shown)) in [
        (&["run", &file, "--seeds", "3"][..], "download"),
        (&["compare", &file, "-a", "reno,cubic", "--seeds", "3"], "cubic"),
        (&["sweep", &file, "--axis", "link.0.delay=10ms,20ms", "--seeds", "3"], "20ms"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = out(&k.to_string());
        let args = [args, &["--out", &out]].concat();
        let (full, free) = (with_files_up_to(300, &args), done(&args));
        let error = full.err.lines().last().unwrap_or_default();
        assert!(error.starts_with("error: cannot write ") && error.contains(".html: "), "{error}");
        assert_eq!(full.code, Some(1), "{args:?}");
        assert!(full.out.contains(shown), "{args:?}: {}", full.out);
        assert_eq!(full.out, free.out, "{args:?}");
        let kept = ["are there already", " 6 runs there, 0 to make"];
        assert!(kept.iter().any(|words| free.err.contains(words)), "{args:?}: {}", free.err);
    }
}

#[test]
fn a_good_scenario_is_not_refused() {
    let (_dir, file) = scenario(SMALL);
    done(&["run", &file]);
}

/// A grid whose stations do not receive each other. This is a warning and not an error, because routes
/// are found during a run.
const GRID: &str = r#"
duration = "5s"
[topology]
kind = "grid"
rows = 2
columns = 2
range = "140m"
base = "n4"
wireless = { standard = "802.11g", routing = "aodv" }
[[flow]]
name = "readings"
from = "n*"
to = "n4"
count = 3
algorithm = "newreno"
"#;

#[test]
fn a_run_without_arrivals_has_a_warning_before_and_after() {
    let (_dir, file) = scenario(GRID);
    for form in [&["run", file.as_str()][..], &["run", &file, "--json"]] {
        let said = call(form);
        assert_eq!(said.code, Some(0), "{}", said.err);
        let before = "note: each of 3 flows, readings-1 to readings-3: nothing can arrive: no chain \
                      of stations in range of each other leads from its sender to its receiver; \
                      increase their range, or move them nearer";
        let after = "warning: 3 flows (readings-1, readings-2, readings-3) delivered nothing";
        let searches = "warning: cell wifi: 0 of 3 searches for a route succeeded";
        for line in [before, after, searches] {
            assert!(said.err.lines().any(|l| l == line), "{} lacks {line}", said.err);
        }
    }
    let (_dir, file) = scenario(GRID.replace("140m", "150m"));
    let said = call(&["run", &file]);
    assert!(said.code == Some(0) && !said.err.contains("warning"), "{}", said.err);
}
