//! Pipes, terminals, quiet output, help, completions.

use std::io::Read;
use std::process::{Command, Stdio};

use crate::support::{SMALL, call, done, root, scenario, windlass};
use windlass_skip::skip;

const VERBS: [&str; 7] =
    ["reproduce", "run", "report", "algorithms", "presets", "papers", "completions"];

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let (_dir, file) = scenario(SMALL);
    let verbs: [&[&str]; 4] =
        [&["algorithms"], &["run", &file], &["run", &file, "--json"], &["run", "--help"]];
    for args in verbs {
        let mut child =
            windlass(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut err).expect("UTF-8");
        assert_eq!(child.wait().expect("a child").code(), Some(0), "{args:?}");
        assert!(!err.contains("error") && !err.contains("panic"), "{args:?}: {err}");
    }
}

#[test]
fn a_closed_standard_error_does_not_stop_a_run() {
    let (_dir, file) = scenario(SMALL);
    let mut child = windlass(&["run", &file, "--set", "link.0.queue=unlimited", "-v"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("a child");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("download"));
}

#[test]
fn away_from_a_terminal_there_is_neither_bar_nor_colour() {
    let (_dir, file) = scenario(SMALL);
    for args in [
        &["run", &file, "--seeds", "3"][..],
        &["run", &file, "--set", "x"],
        &["run", "missing.toml"],
        &["run", &file, "--set", "link.0.rate=2"],
        &["nonsense"],
        &["--help"],
    ] {
        let said = call(args);
        for text in [&said.out, &said.err] {
            assert!(!text.contains(['\u{1b}', '\r']), "{args:?}: {text:?}");
        }
        assert!(!said.err.contains("elapsed"), "{args:?}: {}", said.err);
    }
}

/// The command on a separate terminal; `None` if `script` is not installed.
fn on_a_terminal(args: &str, environment: &[(&str, &str)]) -> Option<String> {
    let line = format!("{} {args}", env!("CARGO_BIN_EXE_windlass"));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(root());
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR").stdin(Stdio::null());
    match command.envs(environment.iter().copied()).output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(_) => {
            skip("no `script` command to make a terminal with");
            None
        }
    }
}

#[test]
fn on_a_terminal_long_work_shows_progress_and_the_time_left() {
    let (_dir, file) = scenario(SMALL);
    let args = format!("run {file} --seeds 60 --jobs 1");
    let Some(shown) = on_a_terminal(&args, &[]) else { return };
    assert!(shown.contains("/60 runs, ") && shown.contains(" left"), "{shown:?}");
    let quiet = on_a_terminal(&format!("{args} --quiet"), &[]).expect("a terminal");
    assert!(!quiet.contains(" left"), "{quiet:?}");
}

#[test]
fn an_error_on_a_terminal_shows_the_text_and_no_color_is_respected() {
    let (_dir, file) = scenario(SMALL.replace("rate", "rat"));
    let args = format!("run {file}");
    let Some(shown) = on_a_terminal(&args, &[]) else { return };
    assert!(shown.contains("rat = \"2Mbps\"") && shown.contains("\u{1b}["), "{shown:?}");
    let plain = on_a_terminal(&args, &[("NO_COLOR", "1")]).expect("a terminal");
    assert!(plain.contains("rat = \"2Mbps\""), "{plain:?}");
    assert!(!plain.contains("\u{1b}["), "{plain:?}");
    let usage = on_a_terminal("nonsense", &[("NO_COLOR", "1")]).expect("a terminal");
    assert!(usage.contains("error: ") && !usage.contains("\u{1b}["), "{usage:?}");
}

#[test]
fn quiet_leaves_only_results() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let set = ["--set", "link.0.queue=unlimited", "--set", "record.series=[\"cwnd_bytes\"]"];
    let noisy = done(&[&["run", &file][..], &set].concat());
    assert!(noisy.err.contains("note: link wire has an unlimited queue"), "{}", noisy.err);
    assert!(
        noisy.err.contains("note: the scenario records series or captures; only `windlass run --out DIR` keeps them"),
        "{}",
        noisy.err
    );
    let quiet = done(&[&["-q", "run", &file][..], &set].concat());
    assert_eq!((quiet.err.as_str(), &quiet.out), ("", &noisy.out));
    let out = out.to_str().expect("plain");
    let kept = done(&[&["run", &file, "--quiet", "--out", out][..], &set].concat());
    assert_eq!((kept.err.as_str(), &kept.out), ("", &noisy.out));
}

#[test]
fn a_dry_run_tells_paths_queues_and_windows_and_runs_nothing() {
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let said = done(&["run", &file, "--dry-run", "--out", out.to_str().expect("plain")]);
    assert!(!out.exists());
    let expected = [
        "flow download (newreno): server > client",
        "  base RTT    20ms of propagation; over idle links a full packet and its acknowledgement \
         take 26.208 ms",
        "  bottleneck  wire:server>client at 2Mbps; bandwidth-delay product 5000 B = 3.3 packets \
         of 1500 B",
        "  queue       100 packets, 150000 B, 600.0 ms, 30.00 bdp",
        "  window      at most 4194304 B, 838.86 bdp",
    ];
    for line in expected {
        assert!(said.err.lines().any(|l| l == line), "{} lacks {line}", said.err);
    }
    // Its output is an equal scenario.
    let (_again_dir, again) = scenario(&said.out);
    assert_eq!(done(&["run", &again, "--dry-run"]).out, said.out);
    assert_eq!(done(&["run", &again, "--json"]).out, done(&["run", &file, "--json"]).out);
}

#[test]
fn warnings_name_probable_mistakes() {
    let notes = |set: &[&str]| {
        let (_dir, file) = scenario(SMALL);
        let mut args = vec!["run", &file, "--dry-run"];
        set.iter().for_each(|s| args.extend(["--set", s]));
        let said = done(&args);
        said.err.lines().filter(|l| l.starts_with("note: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(notes(&[]), [""; 0]);
    assert_eq!(
        notes(&["flow.0.stack.receive_buffer=2500B"]),
        ["note: flow download: the window of at most 2500B is below the path's bandwidth-delay \
          product of 5000 B and limits it to 1.000 Mbps"]
    );
    assert_eq!(
        notes(&["link.0.queue=1000B"]),
        ["note: flow download: the queue of wire:server>client is smaller than a packet of 1500 \
          B, which is dropped when it finds the link busy"]
    );
    assert_eq!(
        notes(&["duration=1s"]),
        [
            "note: flow download: its data need at least 1.2 s at 2Mbps, and the run ends before that",
            "note: flow download: it lasts less than 100 round trips of 20ms, so that its \
             beginning dominates its averages"
        ]
    );
}

#[test]
fn help_of_every_verb_has_an_example() {
    let top = done(&["--help"]).out;
    for verb in VERBS {
        assert!(top.contains(verb), "{verb}");
        for flag in ["-h", "--help"] {
            let help = done(&[verb, flag]).out;
            let example = format!("\n  windlass {verb}");
            assert!(help.contains("Examples:") && help.contains(&example), "{verb}: {help}");
        }
    }
    assert!(top.contains("Exit codes: 0"));
}

#[test]
fn the_examples_in_help_are_commands() {
    let (_dir, file) = scenario(SMALL);
    for verb in VERBS {
        let help = done(&[verb, "--help"]).out;
        let examples = help.split_once("Examples:\n").expect(verb).1;
        for line in examples.lines().filter_map(|l| l.strip_prefix("  windlass ")) {
            let words = line.split(['|', '>']).next().and_then(|l| l.split("  ").next());
            let words: Vec<&str> = words.expect("a command").split_whitespace().collect();
            // A scenario named in an example must exist; the command is then parsed with help
            // requested, which stops it before any work.
            if let Some(scenario) = words.iter().find(|w| w.ends_with(".toml")) {
                assert!(root().join(scenario).is_file(), "{line}");
            }
            let known = call(&[&words[..], &["--not-an-option"]].concat());
            assert!(known.err.contains("unexpected argument '--not-an-option'"), "{}", known.err);
        }
    }
    done(&["run", &file, "--set", "flow.download.algorithm=reno", "--seeds", "2"]);
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = done(&["completions", shell]).out;
        assert!(script.contains("windlass") && script.contains("reproduce"), "{shell}");
        assert!(script.contains("dry-run"), "{shell}");
    }
    // Known words are offered: algorithms, backends, keys and metrics; if a shell completes more than options,
    // timers and papers too.
    let everywhere = [
        "tcp-modified",
        "linux-vt",
        "flow.*.algorithm=",
        "link.*.loss.probability=",
        "link.*.mean_queue_packets",
        "run.jain_index",
    ];
    for (shell, more) in [
        ("fish", &[][..]),
        ("zsh", &["rfc6298", "cocoa3plus"]),
        ("bash", &["rfc6298", "cocoa3plus"]),
    ] {
        let script = done(&["completions", shell]).out;
        for word in everywhere.iter().chain(more) {
            assert!(script.contains(word), "{shell} offers no {word}");
        }
    }
    let bash = done(&["completions", "bash"]).out;
    let mut check = match Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(_) => return skip("no bash to check the script with"),
    };
    let mut input = check.stdin.take().expect("piped");
    std::io::Write::write_all(&mut input, bash.as_bytes()).expect("bash reads");
    drop(input);
    assert!(check.wait().expect("a child").success());
}

#[test]
fn every_template_runs_and_none_writes_over_a_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let list = done(&["new"]).out;
    let names: Vec<&str> =
        list.lines().take_while(|l| !l.is_empty()).filter_map(|l| l.split(' ').next()).collect();
    assert!(names.len() > 4, "{list}");
    for name in names {
        let file = dir.path().join(name).with_extension("toml");
        let file = file.to_str().expect("UTF-8");
        done(&["new", name, file]);
        done(&["run", file, "--dry-run"]);
        let again = call(&["new", name, file]);
        assert_eq!(again.code, Some(2));
        assert!(again.err.contains("is there already"), "{}", again.err);
    }
    assert!(call(&["new", "lossy-dowload"]).err.contains("did you mean `lossy-download`?"));
}

/// True if a child would ignore SIGINT, which it inherits.
fn interrupts_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let signals = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    signals.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn ctrl_c_prints_the_stored_runs_and_the_same_command_resumes() {
    if interrupts_are_ignored() {
        return skip("whoever started the tests has interrupts ignored, as `nohup` does");
    }
    let (dir, file) = scenario(SMALL);
    let out = dir.path().join("out");
    let words =
        ["sweep", &file, "--seeds", "200000", "--jobs", "1", "--out", &out.to_string_lossy()];
    let mut child = windlass(&words);
    let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
    let journal = out.join("journal.jsonl");
    let begun = std::time::Instant::now();
    while std::fs::metadata(&journal).map_or(0, |m| m.len()) < 2000 {
        assert!(begun.elapsed().as_secs() < 60, "no run is kept");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("there is kill").success());
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(
        said.contains("stopped; finished runs are in") && said.contains("the same command resumes"),
        "{said}"
    );
    let again =
        done(&["sweep", &file, "--seeds", "2", "--jobs", "1", "--out", &out.to_string_lossy()]);
    assert!(again.err.contains("2 runs there, 0 to make"), "{}", again.err);
}
