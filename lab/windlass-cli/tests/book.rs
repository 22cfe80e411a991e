//! The book's commands, executed as a reader would, print the output in its pages.
//!
//! In a page of [`PAGES`], a block whose first line is `# NAME.toml` is a file. In a `console` block every line after
//! `$ ` is a command. The lines after it are its standard output, in which a line `...` stands for any lines.
//! `WINDLASS_BLESS=1` writes changed output into the pages.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::root;

const PAGES: [&str; 7] = [
    "start/first-run.md",
    "start/compare.md",
    "start/reproduce.md",
    "guides/my-network.md",
    "guides/compare.md",
    "guides/evaluate.md",
    "reference/errors.md",
];

#[test]
fn every_command_prints_the_output_of_its_page() {
    for page in PAGES {
        let path = root().join("docs/src").join(page);
        let text = fs::read_to_string(&path).expect(page);
        let folder = tempfile::tempdir().expect("a folder");
        let played = play(&text, folder.path());
        if std::env::var_os("WINDLASS_BLESS").is_some() {
            fs::write(&path, &played).expect("written");
            continue;
        }
        let odd = text.lines().zip(played.lines()).find(|(shown, printed)| shown != printed);
        assert!(text == played, "{page} (WINDLASS_BLESS=1 mends it): {odd:?}");
    }
}

/// Each script that writes a table of the book must at least start.
#[test]
fn every_script_that_writes_a_table_of_the_book_starts() {
    for folder in ["bench", "bench/ns3"] {
        for entry in fs::read_dir(root().join(folder)).expect(folder).flatten() {
            let path = entry.path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.contains("--write") || path.extension().is_none_or(|e| e != "py") {
                continue;
            }
            let said = Command::new("python3").arg(&path).arg("--help").output();
            let said = said.expect("Python, which the two commands of README need too");
            let wrong = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success(), "{}: {wrong}", path.display());
        }
    }
}

/// The page with the present output of its commands.
fn play(page: &str, folder: &Path) -> String {
    let mut out = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out.push(line.to_owned());
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language == "console" {
            let sessions = block.chunk_by(|_, next| !next.starts_with("$ "));
            out.extend(sessions.flat_map(|session| session_of(session, folder)));
        } else {
            write_file(&block, folder);
            out.extend(block.iter().map(|line| (*line).to_owned()));
        }
        out.push("```".to_owned());
    }
    out.join("\n") + "\n"
}

/// A command and its output. The shown output is kept if it matches the printed output.
fn session_of(session: &[&str], folder: &Path) -> Vec<String> {
    let command = session[0].strip_prefix("$ ").expect("a console block begins with a command");
    let mut lines = vec![session[0].to_owned()];
    let printed = run(command, folder);
    match agrees(&session[1..], &printed) {
        true => lines.extend(session[1..].iter().map(|line| (*line).to_owned())),
        false => lines.extend(printed),
    }
    lines
}

fn agrees(shown: &[&str], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|left| agrees(rest, &printed[left..])),
        Some((line, rest)) => {
            printed.first().is_some_and(|first| first == line) && agrees(rest, &printed[1..])
        }
    }
}

fn run(command: &str, folder: &Path) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_windlass")).parent().expect("its folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).env_remove("COLUMNS");
    let output = shell.output().expect("a shell");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {err}");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let out = out.trim_end_matches('\n');
    out.lines().map(|line| line.trim_end().to_owned()).collect()
}

fn write_file(block: &[&str], folder: &Path) {
    let Some(name) = block.first().and_then(|line| line.strip_prefix("# ")) else { return };
    if name.ends_with(".toml") && !name.contains(['/', ' ']) {
        fs::write(folder.join(name), block.join("\n") + "\n").expect("written");
    }
}

#[test]
fn three_dots_stand_for_any_lines_and_nothing_else_does() {
    let printed = ["a", "b", "c"].map(str::to_owned);
    for (shown, holds) in [
        (&["a", "b", "c"][..], true),
        (&["a", "...", "c"], true),
        (&["...", "b", "..."], true),
        (&["a", "b", "c", "..."], true),
        (&["a", "b"], false),
        (&["a", "...", "d"], false),
        (&["b", "..."], false),
    ] {
        assert_eq!(agrees(shown, &printed), holds, "{shown:?}");
    }
}

#[test]
fn the_counts_of_the_readme_are_right() {
    let read = |name: &str| fs::read_to_string(root().join(name)).expect(name);
    let page = run("windlass book algorithms", &root()).join("\n");
    // The first part is the table of facts.
    let parts = page.split("\n## ").skip(1);
    let counts: Vec<usize> = parts.map(|part| part.matches("\n### ").count()).collect();
    let [algorithms, slow_starts, timers] = counts[..] else { panic!("{counts:?}") };
    let says =
        format!("{slow_starts} slow starts and {timers} retransmission timers combine with them");
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(&format!("**{algorithms} algorithms**")), "{algorithms}");
    assert!(readme.contains(&says), "{says}");
}
