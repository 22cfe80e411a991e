//! Writes the tables into a page of the documentation, between two marks.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::Error;
use crate::report::markdown;
use crate::report::model::Table;
use crate::run::store::{StoreError, replace};

/// The page with the tables.
pub const PAGE: &str = "docs/src/trust/validation-linux.md";
const BEGIN: &str = "<!-- crosscheck: written by windlass crosscheck --write -->";
const END: &str = "<!-- /crosscheck -->";

/// Replaces the text between the marks.
pub(super) fn write(path: &Path, tables: &[Table]) -> Result<(), Error> {
    let text = fs::read_to_string(path).map_err(StoreError::io("read", path))?;
    let no_marks = || {
        let path = path.display();
        Error::Input(format!(
            "{path} has no place for the tables; add a line `{BEGIN}` and after it a line `{END}`"
        ))
    };
    let page = filled(&text, tables).ok_or_else(no_marks)?;
    let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(no_marks)?;
    let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace(dir, name, |out| out.write_all(page.as_bytes()))?;
    Ok(())
}

fn filled(text: &str, tables: &[Table]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let tables: Vec<String> = tables.iter().map(markdown::table).collect();
    Some(format!("{before}{BEGIN}\n\n{}\n{END}{after}", tables.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Row;

    fn one() -> Vec<Table> {
        let cells = vec!["reno".to_string(), "+1.0 %".to_string()];
        vec![Table {
            caption: "Caption.".to_string(),
            columns: vec!["algorithm".to_string(), "median".to_string()],
            rows: vec![Row { cells, ..Row::default() }],
            ..Table::default()
        }]
    }

    #[test]
    fn writing_twice_changes_only_the_text_between_the_marks() {
        let text = format!("# Page\n{BEGIN}\nold\n{END}\nafter\n");
        let page = filled(&text, &one()).expect("marks");
        assert!(page.starts_with("# Page\n") && page.ends_with("\nafter\n"), "{page}");
        assert!(page.contains("| algorithm | median |\n| --- | ---: |\n| reno | +1.0 % |\n"));
        assert!(!page.contains("old"));
        assert_eq!(filled(&page, &one()), Some(page));
    }

    #[test]
    fn a_page_without_marks_does_not_change() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page.md");
        fs::write(&path, "# Page\n").expect("written");
        let problem = write(&path, &one()).expect_err("no marks").to_string();
        assert!(problem.contains("has no place"), "{problem}");
        assert_eq!(fs::read_to_string(&path).expect("read"), "# Page\n");
    }
}
