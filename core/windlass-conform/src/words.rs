//! Words of the file format for values.

use windlass_cc::{Phase, Span, Undo, flags};

/// Phases of loss recovery.
pub const PHASES: [(&str, Phase); 4] = [
    ("open", Phase::Open),
    ("recovery", Phase::Recovery),
    ("loss", Phase::Loss),
    ("cwr", Phase::Cwr),
];
/// Evidence that a reduction was unfounded.
pub const UNDOS: [(&str, Undo); 3] =
    [("dsack", Undo::Dsack), ("eifel", Undo::Eifel), ("frto", Undo::Frto)];
/// Limits of the sender, bits of [`Conn::flags`](windlass_cc::Conn::flags).
pub const LIMITS: [(&str, u32); 5] = [
    ("cwnd", flags::CWND_LIMITED),
    ("app", flags::APP_LIMITED),
    ("rwnd", flags::RWND_LIMITED),
    ("without-ecn", flags::WITHOUT_ECN),
    ("confirmed", flags::CONFIRMED),
];

pub(crate) fn word<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> String {
    words.iter().find(|(_, v)| *v == value).map_or("", |(w, _)| *w).to_owned()
}

pub(crate) fn meaning<T: Copy>(
    words: &[(&'static str, T)],
    key: &str,
    text: &str,
) -> Result<T, String> {
    words.iter().find(|(w, _)| *w == text).map(|(_, v)| *v).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
        format!("`{key}` is \"{text}\"; it must be one of {}", known.join(", "))
    })
}

pub(crate) fn known(span: Span) -> Option<u64> {
    span.is_known().then_some(span.0)
}
