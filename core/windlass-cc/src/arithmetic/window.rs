//! The congestion window and its threshold, with a fraction.

use core::num::NonZeroU64;

use crate::arithmetic::math::{div, divisor, mul, mul_div};
use crate::event::Conn;

/// Fractional bits of a stored window, so that small additions are not lost.
pub const FRACTION_BITS: u32 = 16;

/// Maximum window in bytes. Below it no arithmetic here overflows.
pub const MAX_WINDOW: u64 = 1 << 40;

/// [`MAX_WINDOW`] with [`FRACTION_BITS`] fractional bits.
pub const MAX_WINDOW_Q: u64 = MAX_WINDOW << FRACTION_BITS;

/// Maximum number of segments that [`Window::add_counted`] counts.
const MAX_COUNT: u64 = 1 << 30;

/// Congestion window and slow-start threshold, which slow start and congestion avoidance change.
///
/// The window stays between one segment and [`MAX_WINDOW`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Window {
    cwnd_q: u64,
    ssthresh: u64,
}

impl Window {
    /// A window of `cwnd` bytes, at least a segment, and its threshold.
    pub fn new(c: &Conn, cwnd: u64, ssthresh: u64) -> Window {
        let mut window = Window { cwnd_q: 0, ssthresh: ssthresh.min(MAX_WINDOW) };
        window.set(c, cwnd);
        window
    }

    /// The window, whole bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd_q >> FRACTION_BITS
    }

    /// The window in bytes with [`FRACTION_BITS`] fractional bits.
    #[inline]
    pub fn cwnd_q(&self) -> u64 {
        self.cwnd_q
    }

    /// The window in segments with [`FRACTION_BITS`] fractional bits.
    #[inline]
    pub fn segments_q(&self, c: &Conn) -> u64 {
        div(self.cwnd_q, divisor(c.mss.into()))
    }

    /// The number of whole segments in the window, at least one.
    pub fn whole_segments(&self, c: &Conn) -> u64 {
        div(self.cwnd(), divisor(c.mss.into())).max(1)
    }

    /// The slow-start threshold, bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// True if the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh
    }

    /// Sets the window to `bytes`, at least a segment.
    #[inline(never)]
    pub fn set(&mut self, c: &Conn, bytes: u64) {
        self.cwnd_q = bytes.max(c.mss.max(1).into()).min(MAX_WINDOW) << FRACTION_BITS;
    }

    /// Sets the threshold.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.min(MAX_WINDOW);
    }

    /// Increases the window by whole bytes.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.add_q(bytes.min(MAX_WINDOW) << FRACTION_BITS);
    }

    /// Increases the window by bytes with [`FRACTION_BITS`] fractional bits.
    #[inline]
    pub fn add_q(&mut self, bytes_q: u64) {
        self.cwnd_q = (self.cwnd_q + bytes_q.min(MAX_WINDOW_Q)).min(MAX_WINDOW_Q);
    }

    /// Increases the window in congestion avoidance, for an acknowledgement that counts `credit` bytes,
    /// by `segments_q · mss · credit / cwnd`. Over an RTT this gives `segments_q` segments (with
    /// [`FRACTION_BITS`] fractional bits). An acknowledgement counts at least a segment (RFC 5681
    /// equation 3).
    pub fn add_per_window(&mut self, c: &Conn, credit: u64, segments_q: u64) {
        let mss = u64::from(c.mss);
        self.add_q(mul_div(mul(segments_q, mss), credit.max(mss), self.cwnd()));
    }

    /// Removes the part beyond whole segments and returns it, in bytes with [`FRACTION_BITS`]
    /// fractional bits.
    pub fn take_part(&mut self, c: &Conn) -> u64 {
        let part = self.cwnd_q % segment_q(c);
        self.cwnd_q -= part;
        part
    }

    /// Restores the part that [`take_part`](Window::take_part) removed from a window of which it left
    /// `whole`. Each division since the last whole segment may have cut off a fraction. If these
    /// fractions can complete the segment, they are added, so that the growth is not one
    /// acknowledgement late.
    pub fn put_back(&mut self, c: &Conn, part: u64, whole: u64) {
        self.add_q(part);
        let segment = segment_q(c);
        // Usually the window is in the same segment as before, so that no division is needed.
        let beyond = self.cwnd_q.wrapping_sub(whole);
        let beyond = if beyond < segment.get() { beyond } else { self.cwnd_q % segment };
        let missing = segment.get() - beyond;
        // The maximum error is one unit per segment in the window, and one for `carry_over`.
        if mul(missing.saturating_sub(1), segment.get()) <= self.cwnd_q {
            self.add_q(missing);
        }
    }

    /// Converts the part beyond whole segments after growth from a window of `whole`. The part stands for a number of
    /// acknowledged segments, of which a larger window needs more for its next segment (`snd_cwnd_cnt` in Linux).
    pub fn carry_over(&mut self, c: &Conn, whole: u64) {
        let segment = segment_q(c);
        let grown = self.cwnd_q.saturating_sub(whole);
        if grown >= segment.get() {
            let part = grown % segment;
            self.cwnd_q -= part;
            self.cwnd_q += mul_div(part, whole, self.cwnd_q);
        }
    }

    /// Increases the window by a segment for each `per` acknowledged segments, and returns the
    /// remaining count. `counted` segments were counted before, and `credit` bytes, at least one, are
    /// new. If `counted` already reaches `per`, because `per` has decreased, it gives one segment:
    /// Linux's `tcp_cong_avoid_ai`.
    pub fn add_counted(&mut self, c: &Conn, counted: u32, credit: u64, per: u64) -> u32 {
        let mss = divisor(c.mss.into());
        let per = divisor(per.min(MAX_COUNT));
        let mut counted = u64::from(counted);
        if counted >= per.get() {
            counted = 0;
            self.add(mss.get());
        }
        counted += counted_segments(credit, mss).min(MAX_COUNT);
        if counted >= per.get() {
            self.add(mul(counted / per, mss.get()));
            counted %= per;
        }
        counted as u32
    }

    /// Decreases the window by bytes with [`FRACTION_BITS`] fractional bits, to at least a segment.
    pub fn sub_q(&mut self, c: &Conn, bytes_q: u64) {
        let least = u64::from(c.mss.max(1)) << FRACTION_BITS;
        self.cwnd_q = self.cwnd_q.saturating_sub(bytes_q).max(least);
    }

    /// Decreases the window to `bytes`, at least a segment, for another reason than a loss. The
    /// threshold decreases with it, so that slow start ends and does not begin again. A larger value
    /// changes nothing.
    pub fn shrink(&mut self, c: &Conn, bytes: u64) {
        let bytes = bytes.max(u64::from(c.mss.max(1)));
        if bytes < self.cwnd() {
            self.set(c, bytes);
            self.ssthresh = self.ssthresh.min(bytes);
        }
    }
}

/// Number of whole segments in `bytes`, at least one. It is usually one or two, which needs no
/// division.
pub fn counted_segments(bytes: u64, mss: NonZeroU64) -> u64 {
    match bytes.saturating_sub(mss.get()) {
        more if more < mss.get() => 1,
        more if more - mss.get() < mss.get() => 2,
        _ => bytes / mss,
    }
}

/// A segment in bytes with [`FRACTION_BITS`] fractional bits.
pub fn segment_q(c: &Conn) -> NonZeroU64 {
    divisor(u64::from(c.mss) << FRACTION_BITS)
}

/// Bytes that keep their number of segments after the segment size changes from `old` to `c.mss`.
#[inline(never)]
pub fn resized(c: &Conn, old: u32, bytes: u64) -> u64 {
    mul_div(bytes, c.mss.into(), old.max(1).into())
}

/// `a·b / cwnd` with [`FRACTION_BITS`] fractional bits.
pub fn quotient(a: u64, b: u64, cwnd: u64) -> u64 {
    mul_div(mul(a, b), 1 << FRACTION_BITS, cwnd).min(MAX_WINDOW_Q)
}
