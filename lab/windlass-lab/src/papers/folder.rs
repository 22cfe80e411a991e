//! Papers as folders: parsing a folder, the built-in folders, and the folder of a new paper.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use super::Paper;
use crate::claims::LeastEffect;
use crate::experiment::FileError;

/// Name of the file with the families of an examination.
pub const SCORECARD: &str = "scorecard.toml";

/// The folders of `papers/` with the texts of their files.
type Folders = &'static [(&'static str, &'static [(&'static str, &'static str)])];

const PAPERS: Folders = include!(concat!(env!("OUT_DIR"), "/papers.rs"));
const EXAMINATIONS: Folders = include!(concat!(env!("OUT_DIR"), "/examinations.rs"));

/// The required files of a folder, with their contents in a new one.
const NEW: [(&str, &str); 7] = [
    ("paper.toml", include_str!("new/paper.toml")),
    ("experiments.toml", include_str!("new/experiments.toml")),
    ("claims.toml", include_str!("new/claims.toml")),
    ("models.toml", include_str!("new/models.toml")),
    ("measures.toml", include_str!("new/measures.toml")),
    ("report.toml", include_str!("new/report.toml")),
    ("network.toml", include_str!("new/network.toml")),
];
const NEW_TEXTS: [(&str, &str); 2] = [
    ("findings.md", include_str!("new/findings.md")),
    ("fidelity.md", include_str!("new/fidelity.md")),
];

/// Files of a folder that are not scenarios.
pub(super) const OWN: [&str; 11] = [
    "paper.toml",
    crate::front::FILE,
    "experiments.toml",
    "claims.toml",
    "models.toml",
    "measures.toml",
    "quantities.toml",
    "report.toml",
    "readings.toml",
    "registered.toml",
    SCORECARD,
];

/// The reason why a folder is not a paper.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file is not readable or writable.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is missing.
    #[error("{} has no {file}; `windlass paper new` writes a folder with all files", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: &'static str,
    },
    /// A file is not valid.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder of a new paper exists.
    #[error("{} exists already; give another name", .0.display())]
    Exists(PathBuf),
    /// The name of a new paper is not a valid identifier.
    #[error("invalid name `{0}`; expected letters, digits and dashes")]
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: toml::Spanned<String>,
    #[serde(default)]
    order: u32,
    title: toml::Spanned<String>,
    authors: toml::Spanned<Vec<String>>,
    published: toml::Spanned<String>,
    #[serde(default)]
    doi: String,
    summary: toml::Spanned<String>,
    least_effect: toml::Spanned<LeastEffect>,
}

/// The built-in papers, in order.
pub(super) fn built_in() -> Vec<Paper> {
    embedded(PAPERS, "papers")
}

/// The folders of the built-in examinations, in order.
pub(crate) fn examinations() -> Vec<Paper> {
    embedded(EXAMINATIONS, "examinations")
}

fn embedded(folders: Folders, of: &str) -> Vec<Paper> {
    let read = |(folder, files): &(&str, &[(&str, &str)])| {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        described(files.collect(), format!("{of}/{folder}")).ok()
    };
    let mut all: Vec<(u32, Paper)> = folders.iter().filter_map(read).collect();
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, paper)| paper).collect()
}

fn described(files: BTreeMap<String, String>, folder: String) -> Result<(u32, Paper), FolderError> {
    let need = |file: &'static str| {
        let missing = || FolderError::Missing { folder: PathBuf::from(&folder), file };
        files.get(file).cloned().ok_or_else(missing)
    };
    let place = format!("{folder}/paper.toml");
    let text = need("paper.toml")?;
    let d: Described = crate::template::read(&text, &place)?;
    let wrong = |span, message| FileError::at(&place, &text, span, message);
    d.least_effect.get_ref().check().map_err(|message| wrong(d.least_effect.span(), message))?;
    let texts = [("title", &d.title), ("published", &d.published), ("summary", &d.summary)];
    if let Some((key, text)) = texts.iter().find(|(_, text)| text.get_ref().trim().is_empty()) {
        return Err(wrong(text.span(), format!("`{key}` is empty; write the paper's own")).into());
    }
    if d.authors.get_ref().is_empty() {
        return Err(wrong(d.authors.span(), "`authors` is empty; name them".to_owned()).into());
    }
    if !is_name(d.name.get_ref()) {
        let message = FolderError::Name(d.name.get_ref().clone()).to_string();
        return Err(wrong(d.name.span(), message).into());
    }
    let scenario = |name: &&String| name.ends_with(".toml") && !OWN.contains(&name.as_str());
    let scenarios = files.keys().filter(scenario).map(|n| (n.clone(), files[n].clone())).collect();
    let paper = Paper {
        id: d.name.into_inner(),
        title: d.title.into_inner(),
        authors: d.authors.into_inner(),
        published: d.published.into_inner(),
        doi: d.doi,
        citation: files.get("citation.bib").cloned().unwrap_or_default(),
        summary: d.summary.into_inner(),
        least_effect: d.least_effect.into_inner(),
        experiments: need("experiments.toml")?,
        claims: need("claims.toml")?,
        fidelity: need("fidelity.md")?,
        scenarios,
        files,
        folder,
        posed: None,
    };
    Ok((d.order, paper))
}

impl Paper {
    /// The paper in a folder.
    ///
    /// # Errors
    ///
    /// The folder is not readable, lacks a file, or has an invalid `paper.toml`.
    pub fn read(folder: &Path) -> Result<Paper, FolderError> {
        let fail = |path: &Path| {
            let path = path.to_path_buf();
            move |source| FolderError::Io { path, source }
        };
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(fail(folder))? {
            let path = entry.map_err(fail(folder))?.path();
            let known = path.extension().is_some_and(|e| e == "toml" || e == "md" || e == "bib");
            if known && path.is_file() {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.insert(name, fs::read_to_string(&path).map_err(fail(&path))?);
            }
        }
        let shown = folder.display().to_string();
        let (_, paper) = described(files, shown.trim_end_matches('/').to_owned())?;
        Ok(paper)
    }

    /// The paper's argument of `windlass reproduce`: its name if it is built in, otherwise its folder.
    pub(crate) fn called(&self) -> &str {
        let built_in = self.folder.strip_prefix("papers/").is_some_and(|id| id == self.id);
        if built_in { &self.id } else { &self.folder }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Writes the folder of a new paper, which runs unchanged, and returns its path.
///
/// # Errors
///
/// The folder exists, its last part is not a valid name, or it is not writable.
pub fn new(folder: &Path) -> Result<PathBuf, FolderError> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !is_name(&name) {
        return Err(FolderError::Name(name));
    }
    if folder.exists() {
        return Err(FolderError::Exists(folder.to_path_buf()));
    }
    let fail = |source| FolderError::Io { path: folder.to_path_buf(), source };
    fs::create_dir_all(folder).map_err(fail)?;
    for (file, text) in NEW.iter().chain(&NEW_TEXTS) {
        fs::write(folder.join(file), text.replace("NAME", &name)).map_err(fail)?;
    }
    Ok(folder.to_path_buf())
}
