//! Words of a line, and the values that single words can have. Other files in the style of scripts use them too.

use std::ops::Range;

use windlass_cc::Span;

use crate::ast::Bounds;
use crate::error::Problem;

/// Maximum time in a script: one day.
const LONGEST: Span = Span::from_secs(24 * 3600);
/// Maximum distance of a sequence number from the initial number, in bytes.
const FARTHEST: i64 = 1 << 31;

/// A word with its place in the file.
#[derive(Clone, Copy, Debug)]
pub struct Word<'a> {
    /// Its characters.
    pub text: &'a str,
    /// Byte offset of its start in the file.
    pub start: usize,
}

impl Word<'_> {
    /// Returns its place in the file.
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Creates a problem with this word.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(self.span(), message, help)
    }
}

/// The rest of a line.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a str,
    /// Byte offset of the start of `text` in the file.
    start: usize,
}

impl<'a> Words<'a> {
    /// Splits a text that starts at this byte offset of the file.
    pub fn new(text: &'a str, start: usize) -> Words<'a> {
        let mut words = Words { text: text.trim_end(), start };
        words.skip_space();
        words
    }

    fn skip_space(&mut self) {
        let rest = self.text.trim_start();
        self.start += self.text.len() - rest.len();
        self.text = rest;
    }

    fn take(&mut self, len: usize) -> Word<'a> {
        let (text, rest) = self.text.split_at(len);
        let word = Word { text, start: self.start };
        self.start += len;
        self.text = rest;
        self.skip_space();
        word
    }

    /// Returns the next word and keeps it.
    pub fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// Returns the next word. At the end of the line, the error suggests `what`.
    pub fn expect(&mut self, what: &str) -> Result<Word<'a>, Problem> {
        self.next().ok_or_else(|| {
            Problem::new(self.start..self.start, "the line ends here", format!("write {what}"))
        })
    }

    /// Returns the rest of the line as one word.
    pub fn rest(&mut self) -> Word<'a> {
        self.take(self.text.len())
    }

    /// Returns the words between `<` and `>`, if a bracket is next.
    pub fn bracket(&mut self) -> Result<Option<Words<'a>>, Problem> {
        if !self.text.starts_with('<') {
            return Ok(None);
        }
        let Some(end) = self.text.find('>') else {
            let span = self.start..self.start + self.text.len();
            return Err(Problem::new(span, "the options do not end", "write > behind them"));
        };
        let inside = Words::new(&self.text[1..end], self.start + 1);
        self.take(end + 1);
        Ok(Some(inside))
    }

    /// Creates a problem that covers the rest of the line.
    pub fn problem(&self, message: &str, help: &str) -> Problem {
        Problem::new(self.start..self.start + self.text.len(), message, help)
    }

    /// Splits the rest at commas.
    pub fn parts(self) -> Vec<Words<'a>> {
        if self.text.is_empty() {
            return Vec::new();
        }
        let mut start = self.start;
        self.text
            .split(',')
            .map(|part| {
                let words = Words::new(part, start);
                start += part.len() + 1;
                words
            })
            .collect()
    }

    /// Returns an error unless the line has ended.
    pub fn finish(mut self) -> Result<(), Problem> {
        if self.text.is_empty() {
            return Ok(());
        }
        let rest = self.rest();
        Err(rest.problem(format!("unexpected \"{}\"", rest.text), "remove it"))
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        if self.text.is_empty() {
            return None;
        }
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        Some(self.take(end))
    }
}

/// Parses a whole number from `least` to `most`.
pub fn number(word: Word<'_>, least: u64, most: u64) -> Result<u64, Problem> {
    let digits = !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
    let value = word.text.parse().ok().filter(|n| digits && (least..=most).contains(n));
    value.ok_or_else(|| {
        let message = format!("\"{}\" is not a number from {least} to {most}", word.text);
        word.problem(message, "write one, such as 1000")
    })
}

/// Parses a number, `LEAST..MOST`, `LEAST..` or `*`.
pub fn bounds(word: Word<'_>, greatest: u64) -> Result<Bounds, Problem> {
    ranged(word, |part| number(part, 0, greatest))
}

/// Parses a time, `EARLIEST..LATEST`, or `*`, in nanoseconds.
pub fn times(word: Word<'_>) -> Result<Bounds, Problem> {
    ranged(word, |part| span(part).map(|span| span.0))
}

fn ranged<'a>(
    word: Word<'a>,
    value: impl Fn(Word<'a>) -> Result<u64, Problem>,
) -> Result<Bounds, Problem> {
    if word.text == "*" {
        return Ok(Bounds::ANY);
    }
    let Some((least, most)) = word.text.split_once("..") else {
        let value = value(word)?;
        return Ok(Bounds { least: value, most: value });
    };
    let least_word = Word { text: least, ..word };
    if most.is_empty() {
        return Ok(Bounds { least: value(least_word)?, most: u64::MAX });
    }
    let most = Word { text: most, start: word.start + least.len() + 2 };
    let bounds = Bounds { least: value(least_word)?, most: value(most)? };
    if bounds.least > bounds.most {
        return Err(word.problem("the range runs backward", "write the smaller value first"));
    }
    Ok(bounds)
}

/// Parses a time with its unit: `200ms`, `1.5s`, `40us`.
pub fn span(word: Word<'_>) -> Result<Span, Problem> {
    let help = "write a number and a unit, such as 200ms, 1.5s or 40us";
    let bad = || word.problem(format!("\"{}\" is not a time", word.text), help);
    let unit_at = word.text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.text.len());
    let (digits, unit) = word.text.split_at(unit_at);
    let unit_ns: u64 = match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        "ns" => 1,
        _ => return Err(bad()),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(part) || part.len() > 9 {
        return Err(bad());
    }
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    let scale = 10_u64.pow(part.len() as u32);
    let part: u64 = if part.is_empty() { 0 } else { part.parse().map_err(|_| bad())? };
    let ns = whole.checked_mul(unit_ns).ok_or_else(bad)?;
    // At most 10⁹ of at most 10⁹ nanoseconds.
    let ns = ns.checked_add(part * unit_ns / scale).ok_or_else(bad)?;
    if ns > LONGEST.0 {
        return Err(word.problem("no script waits for longer than a day", "write a shorter time"));
    }
    Ok(Span(ns))
}

/// Parses a sequence number relative to the initial number. It may be negative.
pub fn offset(word: Word<'_>) -> Result<i64, Problem> {
    let plain = word.text.strip_prefix('-').unwrap_or(word.text);
    let digits = !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit());
    let value = word.text.parse().ok().filter(|n: &i64| digits && n.abs() < FARTHEST);
    value.ok_or_else(|| {
        let message = format!("\"{}\" is not a sequence number", word.text);
        word.problem(
            message,
            "count bytes from the initial one, below 2^31: the SYN is 0, data begin at 1",
        )
    })
}

/// Returns the value that a word names in a table, regardless of case.
pub fn named<T: Copy>(
    word: Word<'_>,
    what: &str,
    table: &[(&'static str, T)],
) -> Result<T, Problem> {
    let found = table.iter().find(|entry| entry.0.eq_ignore_ascii_case(word.text));
    found.map(|entry| entry.1).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|entry| entry.0).collect();
        let message = format!("no {what} is called \"{}\"", word.text);
        word.problem(message, format!("there are {}", known.join(", ")))
    })
}
