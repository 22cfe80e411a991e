//! Quantities with units, as people type them.
//!
//! Each quantity is a newtype with [`FromStr`] and [`Display`](fmt::Display). Reading is exact:
//! decimals are scaled as integers, so `0.1ms` is 100000 ns. `33.3333333333ms` is an error instead
//! of the nearest nanosecond. The output of `Display` reads back as the same value.
//!
//! ```
//! use windlass_scenario::units::{BitRate, Duration};
//!
//! assert_eq!("1.5 Mbit/s".parse::<BitRate>().unwrap(), BitRate(1_500_000));
//! assert_eq!("0.2s".parse::<Duration>().unwrap().to_string(), "200ms");
//! let error = "10".parse::<BitRate>().unwrap_err().to_string();
//! assert_eq!(error, "`10` has no unit; write a rate such as `10Mbps`, `250kbps` or `1MB/s`");
//! ```

use std::fmt;
use std::str::FromStr;

use windlass_cc::Span;
use windlass_tcp::InitialWindow;

mod decimal;
mod energy;
mod radio;

use decimal::{Decimal, Scaled};
pub use energy::{Joules, Watts};
pub use radio::{Decibels, Distance, Power};

/// The reason why a text is not the expected quantity, with the admissible forms, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

/// Common properties of all spellings of a quantity.
struct Dimension {
    /// With its article: `a rate`.
    noun: &'static str,
    /// Accepted spellings, as the error messages show them.
    examples: &'static str,
    /// Unit of the integer: `bits per second`.
    whole: &'static str,
    /// Largest admissible integer.
    max: u64,
    /// End of the message for a value above `max`.
    too_large: &'static str,
    /// Factor of a unit, `None` when unknown.
    factor: fn(&str) -> Option<u64>,
    /// Explains the error in a unit that looks right but is wrong.
    hint: fn(&str) -> Option<&'static str>,
}

const RATE: Dimension = Dimension {
    noun: "a rate",
    examples: "`10Mbps`, `250kbps` or `1MB/s`",
    whole: "bits per second",
    max: u64::MAX,
    too_large: "is faster than the simulator can count (18 exabits per second)",
    factor: rate_factor,
    hint: |unit| unit.starts_with('m').then_some("`m` is milli, `M` is mega"),
};

const TIME: Dimension = Dimension {
    noun: "a time",
    examples: "`30ms`, `1.5s`, `100us` or `2min`",
    whole: "nanoseconds",
    max: u64::MAX - 1, // u64::MAX stands for "not known"
    too_large: "is longer than the simulator can count (584 years)",
    factor: time_factor,
    hint: |unit| (unit == "m").then_some("a minute is `min`, a millisecond `ms`"),
};

const SIZE: Dimension = Dimension {
    noun: "a size",
    examples: "`536B`, `64KiB` or `10MB`",
    whole: "bytes",
    max: u64::MAX,
    too_large: "is larger than the simulator can count (16 EiB)",
    factor: size_factor,
    hint: bits_hint,
};

const PACKETS: Dimension = Dimension {
    noun: "a number of packets",
    examples: "`100pkt`",
    whole: "packets",
    max: u64::MAX,
    too_large: "is more than the simulator can count",
    factor: packet_factor,
    hint: |_| None,
};

const QUEUE_EXAMPLES: &str = "`100pkt`, `64KiB`, `0.5bdp` or `unlimited`";
const WINDOW_EXAMPLES: &str = "`2mss`, `14600B`, `rfc5681` or `rfc6928`";
const BDP_SCALE: u64 = 1_000_000;

fn bits_hint(unit: &str) -> Option<&'static str> {
    (unit.ends_with('b') || unit.contains("bit")).then_some("`b` is a bit, `B` is a byte")
}

fn prefix_factor(prefix: &str) -> Option<u64> {
    Some(match prefix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        "Ti" => 1 << 40,
        _ => return None,
    })
}

fn rate_factor(unit: &str) -> Option<u64> {
    const SUFFIXES: [(&str, u64); 7] =
        [("bps", 1), ("bit/s", 1), ("bits/s", 1), ("b/s", 1), ("bit", 1), ("B/s", 8), ("Bps", 8)];
    SUFFIXES
        .iter()
        .find_map(|(suffix, bits)| Some(prefix_factor(unit.strip_suffix(suffix)?)? * bits))
}

fn size_factor(unit: &str) -> Option<u64> {
    ["B", "bytes", "byte"].iter().find_map(|suffix| prefix_factor(unit.strip_suffix(suffix)?))
}

fn time_factor(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn packet_factor(unit: &str) -> Option<u64> {
    ["pkt", "pkts", "p", "packet", "packets"].contains(&unit).then_some(1)
}

impl Dimension {
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let text = text.trim();
        let (number, unit) = Decimal::split(text).ok_or_else(|| self.not_one(text))?;
        if unit.is_empty() {
            return Err(UnitError(format!("`{text}` has no unit; {}", self.advice())));
        }
        let Some(factor) = (self.factor)(unit) else {
            let hint = (self.hint)(unit).map(|hint| format!(" ({hint})")).unwrap_or_default();
            return Err(UnitError(format!(
                "`{text}` has the unknown unit `{unit}`{hint}; {}",
                self.advice()
            )));
        };
        self.scale(text, &number, factor)
    }

    /// `number · factor`, if it is a whole number within the range.
    fn scale(&self, text: &str, number: &Decimal, factor: u64) -> Result<u64, UnitError> {
        if number.is_negative() {
            return Err(UnitError(format!("`{text}` is negative; {}", self.advice())));
        }
        match number.scaled(factor) {
            Scaled::Whole(value) if value <= self.max => Ok(value),
            Scaled::Whole(_) | Scaled::TooLarge => {
                Err(UnitError(format!("`{text}` {}", self.too_large)))
            }
            Scaled::Fractional => {
                Err(UnitError(format!("`{text}` is not a whole number of {}", self.whole)))
            }
        }
    }

    fn not_one(&self, text: &str) -> UnitError {
        UnitError(format!("`{text}` is not {}; {}", self.noun, self.advice()))
    }

    fn advice(&self) -> String {
        format!("write {} such as {}", self.noun, self.examples)
    }
}

/// Writes the value with the largest of `units` of which it is a whole multiple. Without such a
/// unit, it uses the first unit.
fn canonical(value: u64, units: &[(&str, u64)]) -> String {
    let best = units.iter().rev().find(|(_, factor)| value != 0 && value.is_multiple_of(*factor));
    let (unit, factor) = best.unwrap_or(&units[0]);
    format!("{}{unit}", value / factor)
}

/// A rate in bits per second: `10Mbps`, `10 Mbit/s`, `250kbit`, `1MB/s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<BitRate, UnitError> {
        RATE.parse(text).map(BitRate)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] =
            [("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000)];
        f.write_str(&canonical(self.0, &UNITS))
    }
}

/// A length of time, exact to the nanosecond: `30ms`, `1.5s`, `2min`, `100us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub Span);

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Duration, UnitError> {
        TIME.parse(text).map(|ns| Duration(Span(ns)))
    }
}

impl fmt::Display for Duration {
    /// [`Span::NONE`] is written `unknown`, which does not read back: no file can set it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] =
            [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
        match self.0 {
            Span::ZERO => f.write_str("0s"),
            span if span.is_known() => f.write_str(&canonical(span.0, &UNITS)),
            _ => f.write_str("unknown"),
        }
    }
}

/// A size in bytes: `536B`, `64KiB`, `10MB`. Bits are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        SIZE.parse(text).map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 9] = [
            ("B", 1),
            ("kB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
        ];
        f.write_str(&canonical(self.0, &UNITS))
    }
}

/// A number of packets: `100pkt`, `100p`, `100 packets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u64);

impl FromStr for Packets {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Packets, UnitError> {
        PACKETS.parse(text).map(Packets)
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}pkt", self.0)
    }
}

/// The limit of a queue: `100pkt`, `64KiB`, `0.5bdp` or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueLimit {
    /// This number of packets.
    Packets(u64),
    /// This number of bytes.
    Bytes(u64),
    /// This number of millionths of the bandwidth-delay product.
    BdpMillionths(u64),
    /// No limit.
    Unlimited,
}

impl FromStr for QueueLimit {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<QueueLimit, UnitError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("unlimited") {
            return Ok(QueueLimit::Unlimited);
        }
        let queue = |dimension: Dimension| Dimension {
            noun: "a queue length",
            examples: QUEUE_EXAMPLES,
            hint: bits_hint,
            ..dimension
        };
        match Decimal::split(text).map(|(_, unit)| unit) {
            Some("bdp") => {
                let factor = |_: &str| Some(BDP_SCALE);
                let whole = "millionth";
                queue(Dimension { factor, whole, ..PACKETS })
                    .parse(text)
                    .map(QueueLimit::BdpMillionths)
            }
            Some(unit) if packet_factor(unit).is_some() => {
                queue(PACKETS).parse(text).map(QueueLimit::Packets)
            }
            _ => queue(SIZE).parse(text).map(QueueLimit::Bytes),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            QueueLimit::Packets(n) => Packets(n).fmt(f),
            QueueLimit::Bytes(n) => Bytes(n).fmt(f),
            QueueLimit::BdpMillionths(n) if n % BDP_SCALE == 0 => write!(f, "{}bdp", n / BDP_SCALE),
            QueueLimit::BdpMillionths(n) => {
                let fraction = format!("{:06}", n % BDP_SCALE);
                write!(f, "{}.{}bdp", n / BDP_SCALE, fraction.trim_end_matches('0'))
            }
            QueueLimit::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// A probability or a bit-error rate from 0 to 1: `0.01`, `1%`, `1e-6`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(pub f64);

impl FromStr for Probability {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Probability, UnitError> {
        let text = text.trim();
        let bad = |what: &str| {
            UnitError(format!(
                "`{text}` {what}; write a number from 0 to 1, or from `0%` to `100%`"
            ))
        };
        let (number, shift) = match Decimal::split(text) {
            Some((number, "")) => (number, 0),
            Some((number, "%")) => (number, -2),
            _ => return Err(bad("is not a probability")),
        };
        let value = number.to_f64(shift);
        if value < 0.0 {
            return Err(bad("is negative"));
        }
        if value > 1.0 {
            return Err(bad("is more than 100 %"));
        }
        Ok(Probability(value.abs())) // -0 is 0
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both forms are the shortest that read back as the same value.
        if self.0 == 0.0 || self.0 >= 1e-4 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:e}", self.0)
        }
    }
}

/// An initial window: `2mss`, `14600B`, `rfc5681` or `rfc6928`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub InitialWindow);

impl FromStr for Window {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Window, UnitError> {
        let text = text.trim();
        let window = |dimension: Dimension| Dimension {
            noun: "an initial window",
            examples: WINDOW_EXAMPLES,
            ..dimension
        };
        let value = match text {
            "rfc5681" => InitialWindow::Rfc5681,
            "rfc6928" => InitialWindow::Rfc6928,
            _ => match Decimal::split(text) {
                Some((_, "mss")) => {
                    let segments = Dimension {
                        factor: |_| Some(1),
                        whole: "segments",
                        max: u64::from(u32::MAX),
                        ..PACKETS
                    };
                    // The dimension has the range of the integer.
                    InitialWindow::Segments(window(segments).parse(text)? as u32)
                }
                _ => InitialWindow::Bytes(window(SIZE).parse(text)?),
            },
        };
        Ok(Window(value))
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            InitialWindow::Segments(n) => write!(f, "{n}mss"),
            InitialWindow::Bytes(n) => Bytes(n).fmt(f),
            InitialWindow::Rfc5681 => f.write_str("rfc5681"),
            InitialWindow::Rfc6928 => f.write_str("rfc6928"),
        }
    }
}

#[cfg(test)]
mod tests;
