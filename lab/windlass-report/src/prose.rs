//! Plain text with backquotes, cut into paragraphs and spans.

/// A piece of a paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// True if the text was in backquotes.
    pub code: bool,
    /// The text without backquotes.
    pub text: String,
}

/// Paragraphs of a text. A blank line begins a new paragraph.
pub(super) fn paragraphs(text: &str) -> Vec<Vec<Span>> {
    let mut paragraphs = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim).chain([""]) {
        if !line.is_empty() {
            lines.push(line);
        } else if !lines.is_empty() {
            paragraphs.push(spans(&lines.join(" ")));
            lines.clear();
        }
    }
    paragraphs
}

/// Spans of a single line of text. A backquote without a partner is an ordinary character.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let mut out = Vec::new();
    let mut push = |code: bool, text: &str| {
        if !text.is_empty() {
            out.push(Span { code, text: text.to_owned() });
        }
    };
    let mut rest = text;
    while let Some((plain, opened)) = rest.split_once('`') {
        let Some((code, after)) = opened.split_once('`') else { break };
        push(false, plain);
        push(true, code);
        rest = after;
    }
    push(false, rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(code: bool, text: &str) -> Span {
        Span { code, text: text.to_owned() }
    }

    #[test]
    fn backquotes_in_pairs_mark_code() {
        assert_eq!(
            spans("run `a` now"),
            [span(false, "run "), span(true, "a"), span(false, " now")]
        );
    }

    #[test]
    fn a_lonely_backquote_stays_in_the_text() {
        assert_eq!(spans("5` wide"), [span(false, "5` wide")]);
    }

    #[test]
    fn blank_lines_separate_paragraphs_and_single_breaks_do_not() {
        let cut = paragraphs("one\ntwo\n\n \nthree\n");
        assert_eq!(cut, [vec![span(false, "one two")], vec![span(false, "three")]]);
    }
}
