//! The congestion window with its threshold, kept with a fraction.

use core::num::NonZeroU64;

use crate::arithmetic::math::{div, divisor, mul, mul_div};
use crate::event::Conn;

/// Fractional bits with which a window is kept, so that small additions are not lost.
pub const FRACTION_BITS: u32 = 16;

/// Largest window in bytes; below it no arithmetic here can overflow.
pub const MAX_WINDOW: u64 = 1 << 40;

/// The same with [`FRACTION_BITS`] fractional bits.
pub const MAX_WINDOW_Q: u64 = MAX_WINDOW << FRACTION_BITS;

/// Most segments that [`Window::add_counted`] counts.
const MAX_COUNT: u64 = 1 << 30;

/// Congestion window and slow-start threshold: what slow start and growth work on.
///
/// The window stays between one segment and [`MAX_WINDOW`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Window {
    cwnd_q: u64,
    ssthresh: u64,
}

impl Window {
    /// A window of so many bytes, at least a segment, and its threshold.
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

    /// The whole segments in the window, at least one.
    pub fn whole_segments(&self, c: &Conn) -> u64 {
        div(self.cwnd(), divisor(c.mss.into())).max(1)
    }

    /// The slow-start threshold, bytes.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd() < self.ssthresh
    }

    /// Sets the window to so many whole bytes.
    #[inline(never)]
    pub fn set(&mut self, c: &Conn, bytes: u64) {
        self.cwnd_q = bytes.max(c.mss.max(1).into()).min(MAX_WINDOW) << FRACTION_BITS;
    }

    /// Sets the threshold.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.min(MAX_WINDOW);
    }

    /// Opens the window by so many whole bytes.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        self.add_q(bytes.min(MAX_WINDOW) << FRACTION_BITS);
    }

    /// Opens the window by bytes with [`FRACTION_BITS`] fractional bits.
    #[inline]
    pub fn add_q(&mut self, bytes_q: u64) {
        self.cwnd_q = (self.cwnd_q + bytes_q.min(MAX_WINDOW_Q)).min(MAX_WINDOW_Q);
    }

    /// Opens the window in congestion avoidance, for an acknowledgement that counts for `credit`
    /// bytes: `segments_q · mss · credit / cwnd`, which makes `segments_q` segments (with
    /// [`FRACTION_BITS`] fractional bits) of a round trip's worth of them. An acknowledgement
    /// counts for at least a segment (RFC 5681 equation 3).
    pub fn add_per_window(&mut self, c: &Conn, credit: u64, segments_q: u64) {
        let mss = u64::from(c.mss);
        self.add_q(mul_div(mul(segments_q, mss), credit.max(mss), self.cwnd()));
    }

    /// Takes off what is beyond whole segments and returns it, in bytes with [`FRACTION_BITS`]
    /// fractional bits.
    pub fn take_part(&mut self, c: &Conn) -> u64 {
        let part = self.cwnd_q % segment_q(c);
        self.cwnd_q -= part;
        part
    }

    /// Puts back what [`take_part`](Window::take_part) took off a window of which it left `whole`. What the window's
    /// worth of divisions since the last whole segment may have cut off is made good, so that the last of
    /// them opens the window and not the one after.
    pub fn put_back(&mut self, c: &Conn, part: u64, whole: u64) {
        self.add_q(part);
        let segment = segment_q(c);
        // Mostly it is in the same segment as before, which takes no division to see.
        let beyond = self.cwnd_q.wrapping_sub(whole);
        let beyond = if beyond < segment.get() { beyond } else { self.cwnd_q % segment };
        let missing = segment.get() - beyond;
        // As many as there are segments in the window.
        if mul(missing, segment.get()) <= self.cwnd_q {
            self.add_q(missing);
        }
    }

    /// Opens the window by a segment for each `per` segments acknowledged, of which `counted` are
    /// from before and `credit` bytes, at least one, are new; the answer is what remains. Where more was
    /// counted before, since `per` was larger, that makes one segment: Linux's `tcp_cong_avoid_ai`.
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

    /// Closes the window by bytes with [`FRACTION_BITS`] fractional bits, down to a segment.
    pub fn sub_q(&mut self, c: &Conn, bytes_q: u64) {
        let least = u64::from(c.mss.max(1)) << FRACTION_BITS;
        self.cwnd_q = self.cwnd_q.saturating_sub(bytes_q).max(least);
    }

    /// Closes the window to so many whole bytes, at least a segment, for another reason than a
    /// loss: the threshold comes down with it, so that slow start ends and does not begin again. A
    /// larger value changes nothing.
    pub fn shrink(&mut self, c: &Conn, bytes: u64) {
        let bytes = bytes.max(u64::from(c.mss.max(1)));
        if bytes < self.cwnd() {
            self.set(c, bytes);
            self.ssthresh = self.ssthresh.min(bytes);
        }
    }
}

/// Whole segments of so many bytes, at least one: mostly one or two, which takes no division to see.
fn counted_segments(bytes: u64, mss: NonZeroU64) -> u64 {
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

/// Bytes that stay as many segments as they were when these had `old` bytes each and not `c.mss`.
#[inline(never)]
pub fn resized(c: &Conn, old: u32, bytes: u64) -> u64 {
    mul_div(bytes, c.mss.into(), old.max(1).into())
}

/// `a·b / cwnd` with [`FRACTION_BITS`] fractional bits.
pub fn quotient(a: u64, b: u64, cwnd: u64) -> u64 {
    mul_div(mul(a, b), 1 << FRACTION_BITS, cwnd).min(MAX_WINDOW_Q)
}
