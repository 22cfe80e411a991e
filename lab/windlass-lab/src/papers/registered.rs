//! `registered.toml`: the criteria that were fixed before the runs, with the date.
//!
//! The file has a hash of each claim, of each question with its answers, and of the smallest relevant effect, with
//! the date of their registration. A claim's hash covers its criterion and its meaning. The meaning is the values
//! of the closed forms that it reads, its quantities of traced runs with these runs, and the scenarios of its
//! points.
//!
//! If a criterion is changed, added or removed after the first date, the file keeps a record of the change, and the
//! report lists it. Texts that decide nothing (quantity, source, note and reasons) are not part of a hash.

use std::collections::BTreeMap;

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::meaning;
use super::paper::Paper;
use crate::experiment::FileError;
use crate::report::model::{Block, Section};

/// Name of the file in a paper's folder.
pub const FILE: &str = "registered.toml";
/// Version of the hash scheme. The first scheme covered only the text of a claim.
const SCHEME: u32 = 2;
/// The name of a change of the scheme.
const OF_SCHEME: &str = "scheme";

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registered {
    /// Date of the first registration, `2026-01-31`.
    pub since: String,
    /// Version of the hash scheme.
    #[serde(default = "first_scheme")]
    pub scheme: u32,
    /// Commit of the folder at the first registration, with `-dirty` at its end if the folder had further changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Hashes by `claim ID`, `question ID` and `least effect`.
    pub hash: BTreeMap<String, String>,
    /// Changes since the first registration, in order.
    #[serde(default)]
    pub change: Vec<Change>,
}

/// A change after the first registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Date of the registration; empty if the change is not registered yet.
    pub date: String,
    /// The changed criterion: `claim ID`, `question ID`.
    pub what: String,
    /// Kind of the change.
    pub how: How,
    /// Commit of the folder, with `-dirty` at its end if the folder had further changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

fn first_scheme() -> u32 {
    1
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It did not exist before.
    Added,
    /// Its content is different.
    Changed,
    /// It no longer exists.
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
    /// The registration of a paper.
    ///
    /// # Errors
    ///
    /// A fault of the file.
    pub fn of(paper: &Paper) -> Result<Option<Registered>, FileError> {
        let text = paper.file(FILE);
        text.map(|text| crate::template::read(text, &paper.place(FILE))).transpose()
    }

    /// The file after a registration of the paper's present state on this date, at this commit if it is in a
    /// repository.
    ///
    /// # Errors
    ///
    /// An error in the paper's files.
    pub fn renewed(
        paper: &Paper,
        date: &str,
        commit: Option<String>,
    ) -> Result<Registered, FileError> {
        let now = meaning::hashes(paper)?;
        let Some(mut known) = Registered::of(paper)? else {
            let (since, change) = (date.to_owned(), Vec::new());
            return Ok(Registered { since, scheme: SCHEME, commit, hash: now, change });
        };
        let mut changes = known.open(paper)?;
        if known.scheme != SCHEME {
            changes.push(change(OF_SCHEME, How::Changed));
        }
        let dated = |c: Change| Change { date: date.to_owned(), commit: commit.clone(), ..c };
        known.change.extend(changes.into_iter().map(dated));
        Ok(Registered { scheme: SCHEME, hash: now, ..known })
    }

    /// True if an older scheme made it, which covers less.
    pub fn is_old(&self) -> bool {
        self.scheme < SCHEME
    }

    /// The differences between the registration and the paper.
    ///
    /// # Errors
    ///
    /// An error in the paper's files.
    pub fn open(&self, paper: &Paper) -> Result<Vec<Change>, FileError> {
        let now = if self.is_old() { meaning::texts(paper)? } else { meaning::hashes(paper)? };
        let new = now.iter().filter_map(|(what, hash)| match self.hash.get(what) {
            None => Some(change(what, How::Added)),
            Some(known) if known != hash => Some(change(what, How::Changed)),
            Some(_) => None,
        });
        let gone = self.hash.keys().filter(|what| !now.contains_key(*what));
        Ok(new.chain(gone.map(|what| change(what, How::Removed))).collect())
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut out = format!(
            "# Written by `windlass paper register`: what decides a verdict, by its hash, since the first date.\n\
             since = {:?}\nscheme = {}\n",
            self.since, self.scheme
        );
        out += &self.commit.as_ref().map(|c| format!("commit = {c:?}\n")).unwrap_or_default();
        if !self.change.is_empty() {
            out += "change = [\n";
        }
        for Change { date, what, how, commit } in &self.change {
            let how = how.word();
            let commit = commit.as_ref().map(|c| format!(", commit = {c:?}")).unwrap_or_default();
            out += &format!("  {{ date = {date:?}, what = {what:?}, how = {how:?}{commit} }},\n");
        }
        if !self.change.is_empty() {
            out += "]\n";
        }
        out += "\n[hash]\n";
        for (what, hash) in &self.hash {
            out += &format!("{what:?} = {hash:?}\n");
        }
        out
    }
}

fn change(what: &str, how: How) -> Change {
    Change { date: String::new(), what: what.to_owned(), how, commit: None }
}

/// The commit of a folder, with `-dirty` at its end if a file other than `registered.toml` has changed since;
/// `None` without a repository or without git.
pub fn commit_of(folder: &Path) -> Option<String> {
    let git = |words: &[&str]| {
        let said = Command::new("git").arg("-C").arg(folder).args(words).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"]).filter(|c| !c.is_empty())?;
    let status = git(&["status", "--porcelain", "--", "."])?;
    let dirty = status.lines().any(|line| !line.ends_with(FILE));
    Some(format!("{commit}{}", if dirty { "-dirty" } else { "" }))
}

/// The report's section of registered criteria.
pub(crate) fn section(paper: &Paper) -> Result<Section, FileError> {
    let blocks = match Registered::of(paper)? {
        None => vec![Block::Text {
            text: "The claims, tolerances and interpretations of this paper are not registered. Nothing shows that they were \
                   fixed before the runs. `windlass paper register` registers them from now on."
                .to_owned(),
        }],
        Some(known) => {
            let count = |word: &str| known.hash.keys().filter(|k| k.starts_with(word)).count();
            let commit = known.commit.as_ref().map(|c| format!(" at commit {c}")).unwrap_or_default();
            let mut text = format!(
                "{} claims and {} questions are registered, the first on {}{commit}.",
                count("claim "),
                count("question "),
                known.since
            );
            if known.is_old() {
                text += " The registration has an older scheme, which covers neither models nor scenarios nor traced \
                         runs: `windlass paper register` registers them.";
            }
            let open = known.open(paper)?;
            let items: Vec<String> = known.change.iter().chain(&open).map(line).collect();
            text += if items.is_empty() { " Nothing has changed since." } else { " Changed since:" };
            let list = (!items.is_empty()).then_some(Block::List { items });
            [Block::Text { text }].into_iter().chain(list).collect()
        }
    };
    let title = "Registered criteria and their changes".to_owned();
    Ok(Section { id: "registered".to_owned(), title, blocks })
}

/// A change as a sentence.
fn line(c: &Change) -> String {
    let commit = c.commit.as_ref().map(|c| format!(" at commit {c}")).unwrap_or_default();
    match (c.date.as_str(), c.what.as_str()) {
        ("", what) => format!("not registered yet: {what} {}", c.how.word()),
        (date, OF_SCHEME) => format!(
            "{date}: registered under scheme {SCHEME}, which also covers models, scenarios and traced runs{commit}"
        ),
        (date, what) => format!("{date}: {what} {}{commit}", c.how.word()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder of a new paper, with a text replaced in `claims.toml`.
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
        let registered = Registered::renewed(paper, date, None).unwrap();
        std::fs::write(dir.join("p").join(FILE), registered.text()).unwrap();
        registered
    }

    /// Changes a file and returns the criteria that differ from the registered ones.
    fn open(dir: &Path, file: &str, from: &str, to: &str) -> Vec<String> {
        let path = dir.join("p").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let paper = Paper::read(&dir.join("p")).unwrap();
        let known = Registered::of(&paper).unwrap().unwrap().open(&paper).unwrap();
        std::fs::write(&path, text).unwrap();
        known.into_iter().map(|c| c.what).collect()
    }

    #[test]
    fn a_changed_model_scenario_or_trace_changes_the_claims_that_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let first = paper(
            path,
            "[[claim]]\nid",
            "[[measure]]\nname = \"one\"\nis = { constant = 1 }\n\n[[claim]]\nid",
        );
        drop(first);
        let trace = "\n[[trace]]\nid = \"t\"\nexperiment = \"loss\"\npoint = \"p=1%\"\nseries = [\"cwnd_bytes\"]\n";
        let quantity = "[[quantity]]\nfor = { k = [1, 2] }\nname = \"q.{{ k }}\"\ntrace = \"t\"\nis = { of = \"cwnd_bytes\", take = \"max\", unit = \"{{ k }}\" }\n";
        let claim = "\n[[claim]]\nid = \"w\"\nsource = \"s\"\nquantity = \"q\"\nunit = \"1\"\nmeasure = { ratio = [{ trace = \"q.1\" }, { measure = \"one\" }] }\ndirection = { greater_than = { constant = 1.0 } }\n";
        for (file, more) in
            [("experiments.toml", trace), ("quantities.toml", quantity), ("claims.toml", claim)]
        {
            let file = path.join("p").join(file);
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            std::fs::write(file, before + more).unwrap();
        }
        keep(&Paper::read(&path.join("p")).unwrap(), path, "2026-01-31");
        let (models, all) = (
            ["claim model.0.1%", "claim model.1%"],
            ["claim model.0.1%", "claim model.1%", "claim order", "claim w"],
        );
        assert_eq!(open(path, "models.toml", "1448 * 8", "2 * 1448 * 8"), models);
        assert_eq!(open(path, "network.toml", "1Gbps", "10Gbps"), all);
        assert_eq!(
            open(
                path,
                "experiments.toml",
                "\"link.path.loss.probability\" =",
                "\"link.path.delay\" = \"1ms\", \"link.path.loss.probability\" ="
            ),
            all
        );
        assert_eq!(open(path, "quantities.toml", "\"max\"", "\"min\""), ["claim w"]);
        assert_eq!(open(path, "quantities.toml", "[1, 2]", "[1, 3]"), [""; 0]);
        assert_eq!(
            open(path, "experiments.toml", "id = \"t\"\n", "id = \"t\"\nseed = 2\n"),
            ["claim w"]
        );
        assert_eq!(open(path, "claims.toml", "constant = 1 }", "constant = 2 }"), ["claim w"]);
        assert_eq!(open(path, "network.toml", "name = \"p\"", "name = \"q\""), [""; 0]);
        assert_eq!(open(path, "models.toml", "1448 * 8", "8 * 1448"), [""; 0]);
        assert_eq!(open(path, "experiments.toml", "seeds = 20", "seeds = 40"), [""; 0]);
    }

    #[test]
    fn renewing_an_older_scheme_keeps_its_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let first = paper(path, "relative = 0.25", "relative = 0.25");
        let old = Registered {
            since: "2025-01-01".to_owned(),
            hash: meaning::texts(&first).unwrap(),
            scheme: 1,
            ..Registered::default()
        };
        let text = old.text().replace("scheme = 1\n", "");
        std::fs::write(path.join("p").join(FILE), text).unwrap();
        let wider = paper(path, "relative = 0.25", "relative = 0.5");
        let known = Registered::of(&wider).unwrap().unwrap();
        assert!(known.is_old() && known.open(&wider).unwrap().len() == 2);
        let said = crate::report::text::prose(&section(&wider).unwrap(), usize::MAX);
        assert!(said.contains("has an older scheme"), "{said}");
        let new = keep(&wider, path, "2026-02-01");
        let changes: Vec<&str> = new.change.iter().map(|c| c.what.as_str()).collect();
        assert_eq!(
            (changes.as_slice(), new.is_old()),
            (&["claim model.0.1%", "claim model.1%", "scheme"][..], false)
        );
        let again = Paper::read(&path.join("p")).unwrap();
        assert_eq!(Registered::of(&again).unwrap().unwrap().open(&again).unwrap(), []);
    }

    #[test]
    fn a_registration_names_the_commit_of_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        assert_eq!(commit_of(&folder.join("none")), None);
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            let who = ["-c", "user.name=n", "-c", "user.email=e"];
            git.arg("-C")
                .arg(folder)
                .args(who)
                .args(words)
                .output()
                .is_ok_and(|o| o.status.success())
        };
        if !git(&["init", "-q"]) {
            return;
        }
        assert_eq!(commit_of(folder), None);
        std::fs::write(folder.join("a"), "a").unwrap();
        assert!(git(&["add", "."]) && git(&["commit", "-qm", "a"]));
        std::fs::write(folder.join(FILE), "").unwrap();
        let clean = commit_of(folder).unwrap();
        assert!(clean.len() >= 40 && clean.chars().all(|c| c.is_ascii_hexdigit()), "{clean}");
        std::fs::write(folder.join("a"), "b").unwrap();
        assert_eq!(commit_of(folder), Some(format!("{clean}-dirty")));
    }

    #[test]
    fn changes_of_criteria_after_the_first_date_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let first = keep(&paper(path, "relative = 0.25", "relative = 0.25"), path, "2026-01-31");
        assert_eq!(first.change, []);
        // Words are not part of a hash.
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
        // The change remains in the list.
        let back = Paper::read(&path.join("p")).unwrap();
        assert_eq!(Registered::of(&back).unwrap().unwrap(), last);
    }
}
