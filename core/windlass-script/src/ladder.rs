//! An exchange drawn as a ladder.

use std::fmt;

use windlass_cc::Time;

/// Sender of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The script.
    Peer,
    /// The stack under test.
    Stack,
}

#[derive(Debug)]
enum Rung {
    Segment(Side, String),
    Remark(String),
}

/// The exchange so far.
#[derive(Default, Debug)]
pub(super) struct Ladder {
    rungs: Vec<(Time, Rung)>,
}

impl Ladder {
    pub(super) fn segment(&mut self, at: Time, from: Side, text: String) {
        self.rungs.push((at, Rung::Segment(from, text)));
    }

    pub(super) fn remark(&mut self, at: Time, text: &str) {
        self.rungs.push((at, Rung::Remark(text.to_owned())));
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>12}   script                stack under test", "")?;
        for (at, rung) in &self.rungs {
            let at = milliseconds(*at);
            match rung {
                Rung::Segment(Side::Peer, text) => {
                    writeln!(f, "{at:>12}   |------------------> | < {text}")?
                }
                Rung::Segment(Side::Stack, text) => {
                    writeln!(f, "{at:>12}   | <------------------| > {text}")?
                }
                Rung::Remark(text) => writeln!(f, "{at:>12}   |                    | {text}")?,
            }
        }
        Ok(())
    }
}

/// Formats a time in milliseconds with three decimals.
pub fn milliseconds(time: Time) -> String {
    let us = time.0 / 1_000;
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}
