//! The parser accepts every command of Windlass in the README and the book. `tests/book.rs` runs those with an output.

use std::fs;
use std::path::{Path, PathBuf};

/// The words of a command line in a shell, as far as the pages need it: quotes, comments, pipes and redirections.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(q), _) if q == letter => quote = None,
            (Some(_), _) => words.last_mut().expect("a word").push(letter),
            (None, '\'' | '"') => quote = Some(letter),
            (None, ' ') => words.push(String::new()),
            // A number before `>` is a stream.
            (None, '>') if words.last().is_some_and(|word| word.parse::<u8>().is_ok()) => {
                words.pop();
                break;
            }
            (None, ';' | '|' | '>') => break,
            (None, '#' | '&') if words.last().is_some_and(String::is_empty) => break,
            (None, _) => words.last_mut().expect("a word").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The commands of Windlass in a page's blocks for a shell.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut shell = false;
    for line in page.replace("\\\n", " ").lines() {
        if let Some(language) = line.strip_prefix("```") {
            shell = matches!(language, "sh" | "console");
        } else if shell {
            let words = words(line.strip_prefix("$ ").unwrap_or(line));
            let at = words.iter().take(2).position(|word| word == "windlass");
            found.extend(at.map(|at| words[at..].to_vec()));
        }
    }
    found
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let pages = files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md"));
    pages.chain(folders.iter().flat_map(|folder| self::pages(folder))).collect()
}

#[test]
fn the_parser_accepts_every_command_of_the_book() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = pages(&root.join("docs/src"));
    pages.push(root.join("README.md"));
    let mut seen = 0;
    for page in pages {
        for command in commands(&fs::read_to_string(&page).expect("a page")) {
            let line = command.join(" ");
            if let Err(error) = crate::parse("windlass", command.into_iter().map(Into::into)) {
                let shown = matches!(
                    error.kind(),
                    clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion
                );
                assert!(shown, "{}: {line}: {error}", page.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} commands found");
}
