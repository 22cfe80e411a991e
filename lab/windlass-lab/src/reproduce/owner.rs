//! The paper that a folder of results belongs to. Another paper with the same name must not replace its report.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::experiment::FileError;
use crate::papers::Paper;
use crate::run::store::{JOURNAL, StoreError, replace};

/// Name of the file in the folder of results.
const FILE: &str = "paper.json";

/// Identity of a paper in its folder of results.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Owner {
    title: String,
    /// Folder of the paper. `None` for a built-in paper.
    folder: Option<String>,
}

impl Owner {
    /// The identity of a paper. A folder with the same files as a built-in paper counts as the built-in paper.
    fn of(paper: &Paper) -> Owner {
        let built_in = Paper::by_id(&paper.id).is_some_and(|known| known.has_files_of(paper));
        let here = || {
            let shown = paper.place("");
            let whole = std::fs::canonicalize(&shown);
            whole.map_or(shown, |path| path.display().to_string())
        };
        Owner { title: paper.title.clone(), folder: (!built_in).then(here) }
    }

    fn is(&self, other: &Owner) -> bool {
        match (&self.folder, &other.folder) {
            (None, None) => true,
            (Some(a), Some(b)) => a == b || self.title == other.title,
            _ => false,
        }
    }

    /// The identity of a paper, if no other paper has results in the folder.
    ///
    /// # Errors
    ///
    /// Another paper has results in the folder.
    pub(super) fn claim(paper: &Paper, dir: &Path) -> Result<Owner, FileError> {
        let own = Owner::of(paper);
        let kept = std::fs::read(dir.join(FILE)).ok();
        let kept: Option<Owner> = kept.and_then(|text| serde_json::from_slice(&text).ok());
        let other = match kept {
            Some(kept) if own.is(&kept) => return Ok(own),
            Some(Owner { folder: Some(folder), .. }) => format!("the paper in {folder}"),
            Some(Owner { folder: None, .. }) => "the built-in paper".to_owned(),
            // Results of an earlier version, which did not store the paper's identity.
            None => match Paper::by_id(&paper.id) {
                Some(known) if own.folder.is_some() && dir.join(JOURNAL).is_file() => {
                    format!("the built-in paper {}", known.id)
                }
                _ => return Ok(own),
            },
        };
        let (file, text) =
            (paper.place("paper.toml"), paper.file("paper.toml").unwrap_or_default());
        let start = text.find(&paper.id).unwrap_or(0);
        let message = format!(
            "{} has results of {other}; give this paper another `name`, or its results another folder with --out",
            dir.display()
        );
        Err(FileError::at(&file, text, start..start + paper.id.len(), message))
    }

    /// Writes the identity into the folder of results.
    pub(super) fn keep(&self, dir: &Path) -> Result<(), StoreError> {
        replace(dir, FILE, |out| Ok(serde_json::to_writer(out, self)?)).map(|_| ())
    }
}
