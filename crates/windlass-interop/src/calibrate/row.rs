//! One line of the table: what was asked, what was delivered, and how far apart they may be.

use serde::{Deserialize, Serialize};
use windlass_cc::Span;

use windlass_testbed::live::Bound;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// One-way time of spaced datagrams, from the sender's `send` to the receiver's kernel: least.
    OneWayMin,
    /// The same: median.
    OneWayMedian,
    /// The same: 99th percentile.
    OneWayP99,
    /// The same: greatest.
    OneWayMax,
    /// IP bits per second that arrive of more than the link can carry, in the middle of the run.
    Rate,
    /// Time between two arrivals then: median.
    SpacingMedian,
    /// Datagrams that the error model takes.
    Lost,
    /// Of those lost or drawn to be lost: in one of the two only.
    LostDifferently,
    /// Of a burst into an idle link: datagrams that pass.
    BurstPassed,
    /// From the arrival of the first datagram of that burst to that of the last: what the full queue
    /// makes wait.
    BurstWait,
    /// Datagrams that arrive after a later one or twice, in all probes.
    OutOfOrder,
    /// Datagrams that the kernel refused, or that went missing before the link or behind it, in all
    /// probes.
    LostBeside,
    /// Lateness of the emulator's deliveries in the worst of the probes: median.
    LatenessMedian,
    /// The same: 99th percentile.
    LatenessP99,
    /// The same: greatest.
    LatenessMax,
}

/// What a value counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bits per second.
    BitsPerSecond,
    /// Datagrams.
    Datagrams,
}

impl Quantity {
    /// What the table calls it.
    pub fn label(self) -> &'static str {
        match self {
            Quantity::OneWayMin => "one-way delay, minimum",
            Quantity::OneWayMedian => "one-way delay, median",
            Quantity::OneWayP99 => "one-way delay, 99th percentile",
            Quantity::OneWayMax => "one-way delay, maximum",
            Quantity::Rate => "rate",
            Quantity::SpacingMedian => "spacing at full rate, median",
            Quantity::Lost => "lost to the error model",
            Quantity::LostDifferently => "losses other than the draws",
            Quantity::BurstPassed => "burst: delivered",
            Quantity::BurstWait => "burst: time from first to last arrival",
            Quantity::OutOfOrder => "reordered or duplicate",
            Quantity::LostBeside => "lost outside the link",
            Quantity::LatenessMedian => "emulator's lateness, median",
            Quantity::LatenessP99 => "emulator's lateness, 99th percentile",
            Quantity::LatenessMax => "emulator's lateness, maximum",
        }
    }

    /// What its value counts.
    pub fn unit(self) -> Unit {
        match self {
            Quantity::Rate => Unit::BitsPerSecond,
            Quantity::Lost
            | Quantity::LostDifferently
            | Quantity::BurstPassed
            | Quantity::OutOfOrder
            | Quantity::LostBeside => Unit::Datagrams,
            _ => Unit::Nanoseconds,
        }
    }
}

/// One line of the table. Values are in the quantity's [unit](Quantity::unit).
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What is compared.
    pub quantity: Quantity,
    /// What was asked.
    pub asked: f64,
    /// What was delivered.
    pub delivered: f64,
    /// Least error allowed.
    pub least: f64,
    /// Greatest error allowed.
    pub most: f64,
}

impl Row {
    /// Delivered less asked.
    pub fn error(&self) -> f64 {
        self.delivered - self.asked
    }

    /// Whether the error is within its bounds.
    pub fn is_ok(&self) -> bool {
        (self.least..=self.most).contains(&self.error())
    }
}

/// How far what is delivered may be from what was asked. What is counted in datagrams has to be
/// exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Of one-way times: nothing comes early, and the least and the median come at most so late.
    pub usual: Span,
    /// Of the emulator's lateness; its 99th percentile also of that of one-way times.
    pub late: Bound,
    /// Of the greatest one-way time.
    pub held_up: Span,
    /// Of the rate, as a share of it.
    pub rate: f64,
    /// Of the median spacing, either way.
    pub spacing: Span,
}

impl Tolerance {
    /// Of the live testbed. Late is what makes a run invalid ([`Bound::default`]). The usual way, with a
    /// wake-up at each end, takes a twentieth of a millisecond, and no more than one on a slow machine.
    /// The rate is taken over a second or more between two arrivals, each of which may be 5 ms late;
    /// one datagram may be so on the way into the network and again on the way out.
    pub fn live() -> Tolerance {
        Tolerance {
            usual: Span::from_millis(1),
            late: Bound::default(),
            held_up: Span::from_millis(10),
            rate: 0.01,
            spacing: Span::from_micros(100),
        }
    }

    /// In virtual time, where nothing is late but by the work of the guest's processor: some 25
    /// microseconds for sending, carrying and receiving a datagram. A few datagrams wait longer, on the
    /// only processor, for the kernel's own work or for memory to be found: fractions of a millisecond. Nearly
    /// all leave the emulator 8 to 20 microseconds late; where that goes to and fro, the median spacing is off by up to the difference.
    pub fn in_virtual_time() -> Tolerance {
        let usual = Span::from_micros(50);
        Tolerance {
            usual,
            late: Bound { p99: usual, max: Span::from_millis(1) },
            held_up: Span::from_millis(1),
            rate: 0.000_1,
            spacing: Span::from_micros(12),
        }
    }

    /// A row of this quantity.
    pub(crate) fn row(&self, quantity: Quantity, asked: f64, delivered: f64) -> Row {
        let ns = |span: Span| span.0 as f64;
        let (least, most) = match quantity {
            Quantity::OneWayMin | Quantity::OneWayMedian | Quantity::LatenessMedian => {
                (0.0, ns(self.usual))
            }
            Quantity::OneWayP99 | Quantity::LatenessP99 => (0.0, ns(self.late.p99)),
            Quantity::BurstWait => (-ns(self.late.p99), ns(self.late.p99)),
            Quantity::OneWayMax => (0.0, ns(self.held_up)),
            Quantity::LatenessMax => (0.0, ns(self.late.max)),
            Quantity::Rate => (-self.rate * asked, self.rate * asked),
            Quantity::SpacingMedian => (-ns(self.spacing), ns(self.spacing)),
            Quantity::Lost
            | Quantity::LostDifferently
            | Quantity::BurstPassed
            | Quantity::OutOfOrder
            | Quantity::LostBeside => (0.0, 0.0),
        };
        Row { quantity, asked, delivered, least, most }
    }
}
