//! The smoothed RTT and its mean deviation, which several timers use.

use crate::params::Ratio;
use crate::time::Span;

/// Maximum sample (18 minutes); larger samples are limited to it, so that the fixed-point products fit
/// 64 bits.
pub(super) const MAX_SAMPLE: u64 = 1 << 40;

/// `x · q`, for `x` at most [`MAX_SAMPLE`]; a gain above one counts as one.
fn gain(x: u64, q: Ratio) -> u64 {
    (x * q.0.min(Ratio::ONE.0)) >> crate::params::RATIO_BITS
}

/// `srtt` and `rttvar` of RFC 6298 section 2, nanoseconds.
///
/// Each product is cut to whole nanoseconds: with the standard gains `srtt` stays within 8 ns and
/// `rttvar` within 12 ns of the equations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Smoothed {
    /// [`u64::MAX`] before the first sample.
    pub(super) srtt: u64,
    pub(super) rttvar: u64,
}

impl Smoothed {
    pub(super) const NONE: Smoothed = Smoothed { srtt: u64::MAX, rttvar: 0 };

    pub(super) fn is_known(&self) -> bool {
        self.srtt != u64::MAX
    }

    /// Takes a known sample.
    pub(super) fn update(&mut self, rtt: Span, alpha: Ratio, beta: Ratio) {
        let r = rtt.0.min(MAX_SAMPLE);
        if !self.is_known() {
            // RFC 6298-2.2-1
            *self = Smoothed { srtt: r, rttvar: r / 2 };
            return;
        }
        // The deviation uses the old srtt (section 2.3).
        // RFC 6298-2.3-1
        let error = self.srtt.abs_diff(r);
        self.rttvar = self.rttvar - gain(self.rttvar, beta) + gain(error, beta);
        self.srtt = self.srtt - gain(self.srtt, alpha) + gain(r, alpha);
    }
}
