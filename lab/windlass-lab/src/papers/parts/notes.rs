//! The fidelity notes as a section of the report.
//!
//! `fidelity.md` has a fixed form: an introduction, then for each note a heading `## RB-1: title` and paragraphs
//! that begin with `Problem:`, `Choice:` and `Consequence:`.

use crate::report::model::{Block, Row, Section, Table};

/// One note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// Identifier, such as `RB-1`.
    pub(crate) id: String,
    /// Title.
    pub(crate) title: String,
    /// The question that the paper leaves open, or its error.
    pub(crate) problem: String,
    /// The choice of this reproduction.
    pub(crate) choice: String,
    /// The consequence for the results.
    pub(crate) consequence: String,
}

/// The notes in order.
pub(crate) fn parse(markdown: &str) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for block in markdown.split("\n\n") {
        let text = block.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((id, title)) = text.strip_prefix("## ").and_then(|t| t.split_once(": ")) {
            let (id, title) = (id.to_owned(), title.to_owned());
            notes.push(Note { id, title, ..Note::default() });
        } else if let Some(note) = notes.last_mut() {
            for (label, field) in [
                ("Problem: ", &mut note.problem),
                ("Choice: ", &mut note.choice),
                ("Consequence: ", &mut note.consequence),
            ] {
                if let Some(rest) = text.strip_prefix(label) {
                    *field = rest.to_owned();
                }
            }
        }
    }
    notes
}

/// The section.
pub(crate) fn section(markdown: &str) -> Section {
    let rows = parse(markdown).into_iter().map(|n| Row {
        cells: vec![n.id, n.title, n.problem, n.choice, n.consequence],
        ..Row::default()
    });
    let table = Table {
        id: "fidelity-table".to_owned(),
        caption: "Open questions and errors of the paper, and the choices of this reproduction"
            .to_owned(),
        columns: ["note", "about", "problem", "choice", "consequence"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes: vec![],
    };
    Section {
        id: "fidelity".to_owned(),
        title: "Fidelity notes".to_owned(),
        blocks: vec![Block::Table(table)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_of_every_paper_is_complete_and_in_order() {
        for paper in crate::papers::PAPERS.iter() {
            let notes = parse(&paper.fidelity);
            assert!(!notes.is_empty(), "{} has no notes", paper.id);
            let series = notes[0].id.split('-').next().unwrap().to_owned();
            for (k, note) in notes.iter().enumerate() {
                assert_eq!(note.id, format!("{series}-{}", k + 1));
                for part in [&note.title, &note.problem, &note.choice, &note.consequence] {
                    assert!(!part.is_empty(), "{} is incomplete", note.id);
                }
            }
        }
    }
}
