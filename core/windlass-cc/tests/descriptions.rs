//! Descriptions of algorithms, slow starts and timers are printed unchanged, so they must be whole
//! sentences without remains of editing.

use windlass_cc::rto::TIMERS;
use windlass_cc::slow_start::SLOW_STARTS;
use windlass_cc::{ALGORITHMS, Info};

/// The fault of a text, if it has one.
fn fault(text: &str) -> Option<&'static str> {
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let count = |sign: char| text.matches(sign).count();
    if words().any(|word| ["XX", "XXX", "TODO", "FIXME", "TBD"].contains(&word)) {
        return Some("a place kept for something else");
    }
    if text.contains("  ") || text.trim() != text || !text.trim_end_matches(')').ends_with('.') {
        return Some("space too much, or no end");
    }
    if count('(') != count(')') || count('`') % 2 != 0 {
        return Some("a parenthesis or a quotation that does not close");
    }
    None
}

#[test]
fn descriptions_and_documentation_of_parameters_are_whole_sentences() {
    for info in [ALGORITHMS, SLOW_STARTS, TIMERS].into_iter().flatten().copied() {
        let Info { id, description, params, .. } = info;
        assert_eq!(fault(description), None, "{id}: {description}");
        for param in *params {
            assert_eq!(fault(param.doc.trim()), None, "{id}, {}: {}", param.name, param.doc);
        }
    }
}

#[test]
fn remains_of_editing_are_found() {
    assert_eq!(fault("Grows (slowly)."), None);
    for text in ["Before the last XX is at most.", "Grows (slowly.", "Grows  slowly.", "Grows"] {
        assert!(fault(text).is_some(), "{text}");
    }
}
