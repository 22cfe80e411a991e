//! Time, durations and rates as newtypes instead of bare integers.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use crate::arithmetic::math;

/// A moment, in nanoseconds since an epoch that the host chooses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Time(pub u64);

impl Time {
    /// The epoch.
    pub const ZERO: Time = Time(0);
    /// "Never": later than every possible time.
    pub const NEVER: Time = Time(u64::MAX);

    /// A moment `ms` milliseconds after the epoch.
    pub const fn from_millis(ms: u64) -> Time {
        Time(math::mul(ms, 1_000_000))
    }

    /// A moment `s` seconds after the epoch.
    pub const fn from_secs(s: u64) -> Time {
        Time(math::mul(s, 1_000_000_000))
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time since `earlier`, zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// True if this is [`Time::NEVER`].
    pub const fn is_never(self) -> bool {
        self.0 == u64::MAX
    }
}

/// A duration in nanoseconds. [`Span::NONE`] means "unknown".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(transparent)]
pub struct Span(pub u64);

impl Span {
    /// A duration of zero.
    pub const ZERO: Span = Span(0);
    /// "Unknown": an RTT sample that Karn's rule forbids, or a minimum without samples.
    pub const NONE: Span = Span(u64::MAX);

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(math::mul(s, 1_000_000_000))
    }

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Span {
        Span(math::mul(ms, 1_000_000))
    }

    /// A span of `us` microseconds.
    pub const fn from_micros(us: u64) -> Span {
        Span(math::mul(us, 1_000))
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// True if the value is known.
    pub const fn is_known(self) -> bool {
        self.0 != u64::MAX
    }
}

/// A rate in bytes per second; zero means "no rate".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct Rate(pub u64);

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_known() { Time(self.0).fmt(f) } else { f.write_str("unknown") }
    }
}
