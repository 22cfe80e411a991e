//! Windowed extremes of a stream of samples, and rounds counted by delivery. Model-based algorithms
//! keep these of the past.

use core::marker::PhantomData;

/// Order in which a filter prefers samples.
pub trait Prefer: Copy {
    /// True if `a` is at least as good as `b`.
    fn prefers(a: u64, b: u64) -> bool;
}

/// Larger is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Max;

/// Smaller is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Min;

impl Prefer for Max {
    #[inline]
    fn prefers(a: u64, b: u64) -> bool {
        a >= b
    }
}

impl Prefer for Min {
    #[inline]
    fn prefers(a: u64, b: u64) -> bool {
        a <= b
    }
}

/// Windowed maximum.
pub type WindowedMax = Windowed<Max>;

/// Windowed minimum.
pub type WindowedMin = Windowed<Min>;

/// The best sample of a sliding window in constant space, by Kathleen Nichols' algorithm (Linux
/// `lib/win_minmax.c`). It keeps three samples: the best, the best after it, and the best after that.
/// Each is refreshed after a quarter or half of the window without a better sample.
///
/// The result is a sample of the window, at least as good as the latest sample. It is the best of the
/// window until this sample leaves the window. After that the result may for a while be worse than the
/// best remaining sample, because only three samples are kept. Time has any unit, such as rounds or
/// nanoseconds, and must not go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Windowed<P> {
    best: Sample,
    second: Sample,
    third: Sample,
    prefer: PhantomData<P>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
struct Sample {
    at: u64,
    value: u64,
}

impl<P: Prefer> Windowed<P> {
    /// A filter with one sample.
    pub const fn new(at: u64, value: u64) -> Windowed<P> {
        let sample = Sample { at, value };
        Windowed { best: sample, second: sample, third: sample, prefer: PhantomData }
    }

    /// The best sample of the window at the last update.
    #[inline]
    pub const fn get(&self) -> u64 {
        self.best.value
    }

    /// Takes a sample. `window` may differ between calls; a shorter window discards samples sooner.
    pub fn update(&mut self, window: u64, at: u64, value: u64) {
        let new = Sample { at, value };
        let age = |sample: Sample| at.saturating_sub(sample.at);
        if P::prefers(value, self.best.value) || age(self.third) > window {
            *self = Windowed::new(at, value);
            return;
        }
        if P::prefers(value, self.second.value) {
            self.second = new;
            self.third = new;
        } else if P::prefers(value, self.third.value) {
            self.third = new;
        }
        if age(self.best) > window {
            self.promote(new);
            // The next sample may have expired too.
            if age(self.best) > window {
                self.promote(new);
            }
        } else if self.second.at == self.best.at && age(self.best) > window / 4 {
            self.second = new;
            self.third = new;
        } else if self.third.at == self.second.at && age(self.best) > window / 2 {
            self.third = new;
        }
    }

    fn promote(&mut self, new: Sample) {
        self.best = self.second;
        self.second = self.third;
        self.third = new;
    }
}

/// Maximum over the current and the previous period, such as the two bandwidth-probing cycles of BBRv3
/// (draft-ietf-ccwg-bbr-06 section 5.5.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct TwoSlotMax {
    previous: u64,
    current: u64,
}

impl TwoSlotMax {
    /// Maximum of both periods, zero before the first sample.
    #[inline]
    pub fn get(&self) -> u64 {
        self.previous.max(self.current)
    }

    /// Takes a sample.
    #[inline]
    pub fn update(&mut self, value: u64) {
        self.current = self.current.max(value);
    }

    /// Begins a new period. A period without samples does not end, so that a pause discards no sample.
    pub fn advance(&mut self) {
        if self.current > 0 {
            self.previous = self.current;
            self.current = 0;
        }
    }
}

/// Packet-timed rounds (draft-ietf-ccwg-bbr-06 section 5.5.1). A round ends when data is acknowledged
/// that was sent after the delivery of all data delivered at the round's beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DeliveredRounds {
    end: u64,
    count: u32,
    started: bool,
}

impl DeliveredRounds {
    /// The first round, after `delivered` delivered bytes.
    pub const fn new(delivered: u64) -> DeliveredRounds {
        DeliveredRounds { end: delivered, count: 0, started: false }
    }

    /// Takes an acknowledgement. `prior_delivered` is the number of bytes delivered when the
    /// acknowledged data was sent, and `delivered` is the present number. Returns true if a round
    /// begins.
    pub fn on_ack(&mut self, prior_delivered: u64, delivered: u64) -> bool {
        self.started = prior_delivered >= self.end;
        if self.started {
            self.end = delivered;
            self.count = self.count.saturating_add(1);
        }
        self.started
    }

    /// Takes an acknowledgement without a sample: no round begins with it.
    pub fn no_sample(&mut self) {
        self.started = false;
    }

    /// Begins a round now, without counting it.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }

    /// True if the last acknowledgement began a round.
    #[inline]
    pub const fn started(&self) -> bool {
        self.started
    }

    /// Rounds so far.
    #[inline]
    pub const fn count(&self) -> u32 {
        self.count
    }
}
