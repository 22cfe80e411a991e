//! One line of the table: requested value, delivered value, and allowed difference.

use serde::{Deserialize, Serialize};
use windlass_cc::Span;

use windlass_testbed::live::Bound;

/// Measured quantity.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Minimum one-way delay of spaced datagrams, from the sender's `send` to the receiver's kernel.
    OneWayMin,
    /// Median one-way delay of spaced datagrams.
    OneWayMedian,
    /// 99th percentile of the one-way delay of spaced datagrams.
    OneWayP99,
    /// Maximum one-way delay of spaced datagrams.
    OneWayMax,
    /// IP bits per second that arrive under overload, in the middle of the run.
    Rate,
    /// Median time between two arrivals under overload.
    SpacingMedian,
    /// Number of datagrams that the error model dropped.
    Lost,
    /// Number of datagrams that were either lost or drawn to be lost, but not both.
    LostDifferently,
    /// Number of datagrams that pass, of a burst into an idle link.
    BurstPassed,
    /// Time between the first and the last arrival of that burst: the waiting time of the full queue.
    BurstWait,
    /// Datagrams that arrive after a later datagram or a second time, in all probes.
    OutOfOrder,
    /// Datagrams that the kernel refused, or that were lost before or after the link, in all probes.
    LostBeside,
    /// Median lateness of the emulator's deliveries, in the worst probe.
    LatenessMedian,
    /// 99th percentile of the lateness of the emulator's deliveries, in the worst probe.
    LatenessP99,
    /// Maximum lateness of the emulator's deliveries, in the worst probe.
    LatenessMax,
}

/// Unit of a value.
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
    /// Label in the table.
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

    /// Unit of the values.
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
    /// Measured quantity.
    pub quantity: Quantity,
    /// Requested value.
    pub asked: f64,
    /// Delivered value.
    pub delivered: f64,
    /// Minimum allowed error.
    pub least: f64,
    /// Maximum allowed error.
    pub most: f64,
}

impl Row {
    /// Returns the delivered value minus the requested value.
    pub fn error(&self) -> f64 {
        self.delivered - self.asked
    }

    /// True if the error is within its bounds.
    pub fn is_ok(&self) -> bool {
        (self.least..=self.most).contains(&self.error())
    }
}

/// Allowed difference between delivered and requested values. Counts of datagrams must be exact.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Maximum lateness of the minimum and the median one-way delay. Early arrivals are never allowed.
    pub usual: Span,
    /// Bounds of the emulator's lateness. The bound of the 99th percentile also applies to the one-way delay.
    pub late: Bound,
    /// Maximum lateness of the greatest one-way delay.
    pub held_up: Span,
    /// Maximum error of the rate, as a share of the rate.
    pub rate: f64,
    /// Maximum error of the median spacing, in either direction.
    pub spacing: Span,
}

impl Tolerance {
    /// Tolerance of the live testbed. A run is late by the bounds of [`Bound::default`].
    ///
    /// A usual delivery, with a wake-up at each end, takes 0.05 ms, and at most 1 ms on a slow machine. The
    /// rate is measured over one second or more between two arrivals, each of which may be 5 ms late. One
    /// datagram may be late on the way into the network and again on the way out.
    pub fn live() -> Tolerance {
        Tolerance {
            usual: Span::from_millis(1),
            late: Bound::default(),
            held_up: Span::from_millis(10),
            rate: 0.01,
            spacing: Span::from_micros(100),
        }
    }

    /// Tolerance in virtual time, where only the work of the guest's processor causes lateness.
    ///
    /// Sending, carrying and receiving a datagram takes about 25 microseconds. A few datagrams wait fractions
    /// of a millisecond longer, because the only processor works for the kernel or allocates memory. Nearly
    /// all datagrams leave the emulator 8 to 20 microseconds late. If this value alternates, the error of the
    /// median spacing is up to the difference.
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

    /// Creates a row of this quantity.
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
