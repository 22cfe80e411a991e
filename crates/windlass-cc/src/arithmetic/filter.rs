//! Windowed extremes of a stream of samples, and rounds counted by delivery: what model-based
//! algorithms keep of the past.

use core::marker::PhantomData;

/// Which of two samples a filter prefers.
pub trait Prefer: Copy {
    /// Whether `a` is at least as good as `b`.
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
/// `lib/win_minmax.c`): the best, the best after it and the best after that, each refreshed when a
/// quarter or half of the window has gone by without a better one.
///
/// The answer is a sample of the window, at least as good as the latest. The best of the window
/// itself is found as long as it stands in it; when it leaves, the answer may for a while be worse
/// than the best that remains, since only three samples are kept. Time is in any unit, such as rounds
/// or nanoseconds, and must not go back.
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
    /// A filter that has seen one sample.
    pub const fn new(at: u64, value: u64) -> Windowed<P> {
        let sample = Sample { at, value };
        Windowed { best: sample, second: sample, third: sample, prefer: PhantomData }
    }

    /// The best sample of the window as of the last update.
    #[inline]
    pub const fn get(&self) -> u64 {
        self.best.value
    }

    /// Takes a sample. `window` may differ from call to call; a shorter one forgets sooner.
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
            // The one that followed may be as old.
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

/// Maximum over the current period and the one before, such as the two bandwidth-probing cycles of
/// BBRv3 (draft-ietf-ccwg-bbr-06 section 5.5.6).
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

    /// A new period begins. One without samples does not end, so that silence forgets nothing.
    pub fn advance(&mut self) {
        if self.current > 0 {
            self.previous = self.current;
            self.current = 0;
        }
    }
}

/// Packet-timed rounds (draft-ietf-ccwg-bbr-06 section 5.5.1): one ends when data is acknowledged
/// that was sent after all that had been delivered at its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DeliveredRounds {
    end: u64,
    count: u32,
    started: bool,
}

impl DeliveredRounds {
    /// The first round, with so many bytes delivered.
    pub const fn new(delivered: u64) -> DeliveredRounds {
        DeliveredRounds { end: delivered, count: 0, started: false }
    }

    /// Data was acknowledged that had been sent when `prior_delivered` bytes were delivered; now
    /// `delivered` are. Says whether a round begins.
    pub fn on_ack(&mut self, prior_delivered: u64, delivered: u64) -> bool {
        self.started = prior_delivered >= self.end;
        if self.started {
            self.end = delivered;
            self.count = self.count.saturating_add(1);
        }
        self.started
    }

    /// Nothing was learnt from this acknowledgement: no round begins with it.
    pub fn no_sample(&mut self) {
        self.started = false;
    }

    /// Begins a round now, uncounted.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }

    /// Whether the last acknowledgement began a round.
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
