//! What was fixed before the runs, and when: `registered.toml`.
//!
//! Each claim's criterion, each question with its answers and the least effect that matters have a hash there, with the
//! date at which they were registered. What is registered again with another content, added or taken away after the
//! first date stays in the file as a change, and the report lists it. Words that decide nothing (quantity, source, note
//! and reasons) do not count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::paper::Paper;
use crate::experiment::FileError;
use crate::report::model::{Block, Section};

/// Name of the file in a paper's folder.
pub const FILE: &str = "registered.toml";
/// Keys of claims and answers that decide nothing.
const WORDS: [&str; 6] = ["quantity", "source", "note", "reason", "why", "question"];

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registered {
    /// Date of the first registration, `2026-01-31`.
    pub since: String,
    /// Hashes by `claim ID`, `question ID` and `least effect`.
    pub hash: BTreeMap<String, String>,
    /// What has changed since, in order.
    #[serde(default)]
    pub change: Vec<Change>,
}

/// A change after the first registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When it was registered; today where it has not been.
    pub date: String,
    /// What: `claim ID`, `question ID`.
    pub what: String,
    /// How.
    pub how: How,
}

/// How something has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It was not there.
    Added,
    /// Its content is another.
    Changed,
    /// It is no longer there.
    Removed,
}

impl How {
    fn word(self) -> &'static str {
        match self {
            How::Added => "added",
            How::Changed => "changed",
            How::Removed => "removed",
        }
    }
}

impl Registered {
    /// What a paper has registered.
    ///
    /// # Errors
    ///
    /// What is wrong with the file.
    pub fn of(paper: &Paper) -> Result<Option<Registered>, FileError> {
        let text = paper.file(FILE);
        text.map(|text| crate::template::read(text, &paper.place(FILE))).transpose()
    }

    /// The file after a registration of the paper as it is on this date.
    ///
    /// # Errors
    ///
    /// What is wrong with the paper's files.
    pub fn renewed(paper: &Paper, date: &str) -> Result<Registered, FileError> {
        let now = hashes(paper)?;
        let Some(mut known) = Registered::of(paper)? else {
            return Ok(Registered { since: date.to_owned(), hash: now, change: Vec::new() });
        };
        let changes = known.changes(&now, date);
        known.change.extend(changes);
        known.hash = now;
        Ok(known)
    }

    /// What differs between this and the paper as it is.
    ///
    /// # Errors
    ///
    /// What is wrong with the paper's files.
    pub fn open(&self, paper: &Paper) -> Result<Vec<Change>, FileError> {
        Ok(self.changes(&hashes(paper)?, ""))
    }

    fn changes(&self, now: &BTreeMap<String, String>, date: &str) -> Vec<Change> {
        let change = |what: &String, how| Change { date: date.to_owned(), what: what.clone(), how };
        let new = now.iter().filter_map(|(what, hash)| match self.hash.get(what) {
            None => Some(change(what, How::Added)),
            Some(known) if known != hash => Some(change(what, How::Changed)),
            Some(_) => None,
        });
        let gone = self.hash.keys().filter(|what| !now.contains_key(*what));
        new.chain(gone.map(|what| change(what, How::Removed))).collect()
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut out = format!(
            "# Written by `windlass paper register`: what decides a verdict, by its hash, since the first date.\n\
             since = {:?}\n",
            self.since
        );
        for Change { date, what, how } in &self.change {
            let how = how.word();
            out += &format!("\n[[change]]\ndate = {date:?}\nwhat = {what:?}\nhow = {how:?}\n");
        }
        out += "\n[hash]\n";
        for (what, hash) in &self.hash {
            out += &format!("{what:?} = {hash:?}\n");
        }
        out
    }
}

/// The hash of everything in a paper that decides a verdict.
fn hashes(paper: &Paper) -> Result<BTreeMap<String, String>, FileError> {
    let mut all = BTreeMap::new();
    let files = [("claims.toml", "claim", "claim"), (crate::readings::FILE, "axis", "question")];
    for (file, list, word) in files {
        let Some(text) = paper.file(file) else { continue };
        let table: Table = crate::template::read(text, &paper.place(file))?;
        for element in table.get(list).and_then(Value::as_array).into_iter().flatten() {
            let id = element.get("id").and_then(Value::as_str).unwrap_or_default();
            all.insert(format!("{word} {id}"), hash(element));
        }
    }
    let text = paper.file("paper.toml").unwrap_or_default();
    let table: Table = crate::template::read(text, &paper.place("paper.toml"))?;
    if let Some(least) = table.get("least_effect") {
        all.insert("least effect".to_owned(), hash(least));
    }
    Ok(all)
}

/// Sixteen hexadecimal digits of a content, whatever its spelling and order of keys.
fn hash(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    digits(text.as_bytes())
}

/// Sixteen hexadecimal digits of a text (SHA-256, its beginning).
pub(crate) fn digits(text: &[u8]) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Table(table) => {
            let mut keys: Vec<&String> =
                table.keys().filter(|k| !WORDS.contains(&k.as_str())).collect();
            keys.sort();
            for key in keys {
                *out += &format!("{key:?}:");
                canonical(&table[key], out);
            }
            out.push(';');
        }
        Value::Array(all) => {
            all.iter().for_each(|v| canonical(v, out));
            out.push('.');
        }
        other => *out += &format!("{other} "),
    }
}

/// What the report says of it.
pub(crate) fn section(paper: &Paper) -> Result<Section, FileError> {
    let blocks = match Registered::of(paper)? {
        None => vec![Block::Text {
            text: "Claims, tolerances and readings of this paper are not registered: nothing shows that they were \
                   fixed before the runs. `windlass paper register` does so from here on."
                .to_owned(),
        }],
        Some(known) => {
            let count = |word: &str| known.hash.keys().filter(|k| k.starts_with(word)).count();
            let mut text = format!(
                "{} claims and {} questions are registered, the first on {}.",
                count("claim "),
                count("question "),
                known.since
            );
            let open = known.open(paper)?;
            let line = |c: &Change| match c.date.as_str() {
                "" => format!("not registered yet: {} {}", c.what, c.how.word()),
                date => format!("{date}: {} {}", c.what, c.how.word()),
            };
            let items: Vec<String> = known.change.iter().chain(&open).map(line).collect();
            text += if items.is_empty() { " Nothing has changed since." } else { " Changed since:" };
            let list = (!items.is_empty()).then_some(Block::List { items });
            [Block::Text { text }].into_iter().chain(list).collect()
        }
    };
    let title = "What was fixed, and what has changed since".to_owned();
    Ok(Section { id: "registered".to_owned(), title, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new paper's folder in which a text is replaced in `claims.toml`.
    fn paper(dir: &std::path::Path, from: &str, to: &str) -> Paper {
        let folder = dir.join("p");
        if !folder.exists() {
            super::super::new(&folder).unwrap();
        }
        let path = folder.join("claims.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        Paper::read(&folder).unwrap()
    }

    fn keep(paper: &Paper, dir: &std::path::Path, date: &str) -> Registered {
        let registered = Registered::renewed(paper, date).unwrap();
        std::fs::write(dir.join("p").join(FILE), registered.text()).unwrap();
        registered
    }

    #[test]
    fn what_decides_and_changes_after_the_first_date_stays_listed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let first = keep(&paper(path, "relative = 0.25", "relative = 0.25"), path, "2026-01-31");
        assert_eq!(first.change, []);
        // Words decide nothing.
        let worded = paper(path, "the model has no slow start", "no slow start");
        assert_eq!(Registered::of(&worded).unwrap().unwrap().open(&worded).unwrap(), []);
        let wider = paper(path, "relative = 0.25", "relative = 0.5");
        let open = Registered::of(&wider).unwrap().unwrap().open(&wider).unwrap();
        let all: Vec<_> = open.iter().map(|c| (c.what.as_str(), c.how)).collect();
        assert_eq!(all, [("claim model.0.1%", How::Changed), ("claim model.1%", How::Changed)]);
        keep(&wider, path, "2026-02-01");
        let renamed = paper(path, "id = \"order\"", "id = \"rank\"");
        let last = keep(&renamed, path, "2026-02-02");
        let said: Vec<String> =
            last.change.iter().map(|c| format!("{} {}", c.date, c.what)).collect();
        let expected = [
            "2026-02-01 claim model.0.1%",
            "2026-02-01 claim model.1%",
            "2026-02-02 claim rank",
            "2026-02-02 claim order",
        ];
        assert_eq!(
            (said.as_slice(), last.since.as_str()),
            (&expected.map(str::to_owned)[..], "2026-01-31")
        );
        // What a wider tolerance was before does not undo that it was changed.
        let back = Paper::read(&path.join("p")).unwrap();
        assert_eq!(Registered::of(&back).unwrap().unwrap(), last);
    }
}
