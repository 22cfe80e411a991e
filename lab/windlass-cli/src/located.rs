//! An error with the underlined text that causes it.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use miette::Diagnostic;

/// The error, the line of its place with the neighbouring lines, and the remedy.
pub fn shown(error: &dyn Diagnostic, renderer: &Renderer) -> String {
    let mut group = Level::ERROR.primary_title(error.to_string()).elements(snippet(error));
    if let Some(help) = error.help() {
        group = group.element(Level::HELP.message(help.to_string()));
    }
    renderer.render(&[group])
}

fn snippet<'a>(error: &dyn Diagnostic) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    const NEIGHBOURS: usize = 1;
    let label = error.labels()?.next()?;
    let around = error.source_code()?.read_span(label.inner(), NEIGHBOURS, NEIGHBOURS).ok()?;
    let text = String::from_utf8_lossy(around.data()).into_owned();
    let start = label.offset() - around.span().offset();
    let underlined = AnnotationKind::Primary.span(start..start + label.len());
    let path = around.name().map(str::to_owned);
    let snippet = Snippet::source(text).line_start(around.line() + 1).fold(false).path(path);
    Some(snippet.annotation(underlined))
}

#[cfg(test)]
mod tests {
    use windlass_lab::experiment::FileError;
    use windlass_lab::scenario::Scenario;

    use super::*;

    #[test]
    fn the_offending_text_is_underlined_between_its_neighbours_with_the_help_beneath() {
        let text = "duration = \"20s\"\n\n[[link]]\nbetween = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndealy = \"20ms\"\n\
            queue = \"unlimited\"\n\n[[flow]]\nfrom = \"a\"\nto = \"b\"\nalgorithm = \"reno\"\n";
        let error = Scenario::from_str(text, "s.toml").unwrap_err();
        let plain = shown(&error, &Renderer::plain());
        let expected = [
            "error: s.toml:6:1: unknown key `dealy` in `[[link]]`; did you mean `delay`?",
            " --> s.toml:6:1",
            "  |",
            "5 | rate = \"10Mbps\"",
            "6 | dealy = \"20ms\"",
            "  | ^^^^^",
            "7 | queue = \"unlimited\"",
            "  |",
        ];
        let lines: Vec<&str> = plain.lines().map(str::trim_end).collect();
        assert_eq!(lines[..expected.len()], expected, "{plain}");
        assert!(
            lines[expected.len()].contains("help: the keys of `[[link]]` are `name`, "),
            "{plain}"
        );
        let styled = shown(&error, &Renderer::styled());
        assert!(styled.contains("\x1b["), "{styled}");
        // An override has no file and no line.
        let set = [("link.0.rat".to_owned(), "1Mbps".to_owned())];
        let error = Scenario::with_overrides(&text.replace("dealy", "delay"), "s.toml", &set);
        let shown = shown(&error.unwrap_err(), &Renderer::plain());
        assert!(shown.contains("link.0.rat=1Mbps\n") && shown.contains("^^^"), "{shown}");
    }

    #[test]
    fn a_papers_file_shows_the_place_of_its_error_too() {
        let text = "[[claim]]\nid = \"a\"\nmeasure = \"window\"\n";
        let error = FileError::at("p/claims.toml", text, 29..37, "no metric is called `window`");
        let plain = shown(&error, &Renderer::plain());
        let lines: Vec<&str> = plain.lines().map(str::trim_end).collect();
        let expected = [
            "error: p/claims.toml:3:11: no metric is called `window`",
            " --> p/claims.toml:3:11",
            "  |",
            "2 | id = \"a\"",
            "3 | measure = \"window\"",
            "  |           ^^^^^^^^",
        ];
        assert_eq!(lines, expected, "{plain}");
        // A line of a file without its text has only its place.
        let bare = shown(&FileError::in_line("runs.csv", 7, "no number"), &Renderer::plain());
        assert_eq!(bare.trim_end(), "error: runs.csv:7:1: no number");
    }
}
