//! HTML elements that several parts of a page use.

use crate::ladder::escape;
use crate::prose::Span;
use crate::view::BadgeView;

/// The concatenation of one piece per item.
pub(crate) fn each<T>(all: &[T], piece: impl FnMut(&T) -> String) -> String {
    all.iter().map(piece).collect()
}

/// The text if the condition is true, and otherwise nothing.
pub(crate) fn when(so: bool, text: &str) -> &str {
    if so { text } else { "" }
}

/// Text with code.
pub(crate) fn prose(spans: &[Span]) -> String {
    each(spans, |s| match s.code {
        true => format!("<code>{}</code>", escape(&s.text)),
        false => escape(&s.text),
    })
}

/// A verdict.
pub(crate) fn badge(view: &BadgeView) -> String {
    let BadgeView { badge, class } = view;
    format!(
        "<span class=\"badge {} {}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</span>",
        badge.tone.class(),
        escape(class),
        escape(badge.sign),
        escape(badge.name)
    )
}

/// A verdict, from its model.
pub(crate) fn badge_of(one: crate::model::Badge) -> String {
    badge(&crate::view::badge(one))
}

/// A link to a place of the page.
pub(crate) fn anchor(id: &str, label: &str) -> String {
    let label = escape(label);
    format!("<a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {label}\">#</a>")
}
