//! The state of an endpoint's retransmission timer. [`AnyRto`] has the size of the largest timer, seven times that
//! of the usual ones, and each of a million devices has two. So the usual timers are inside the endpoint, and the
//! others in a box.

use std::fmt;

use windlass_cc::rto::{AnyParams, Linux, Rfc6298, RtoEstimator};
use windlass_cc::{AnyRto, RttSample, Span, Time};

/// A timer of [`AnyRto`]. [`RtoEstimator`] describes its methods.
#[derive(Clone, PartialEq)]
pub(in crate::endpoint) enum Timer {
    Rfc6298(Rfc6298),
    Linux(Linux),
    Other(Box<AnyRto>),
}

/// Evaluates an expression with a timer's state and its own parameters. Parameters of another timer, which no
/// endpoint has, give the last expression, as in [`AnyRto`].
macro_rules! with {
    ($timer:expr, $params:expr, |$state:ident, $own:ident| $do:expr, $other:expr) => {
        match ($timer, $params) {
            (Timer::Rfc6298($state), AnyParams::Rfc6298($own)) => $do,
            (Timer::Linux($state), AnyParams::Linux($own)) => $do,
            (Timer::Other($state), $own) => $do,
            _ => $other,
        }
    };
}

impl Timer {
    pub(super) fn init(p: &AnyParams) -> Timer {
        match p {
            AnyParams::Rfc6298(p) => Timer::Rfc6298(Rfc6298::init(p)),
            AnyParams::Linux(p) => Timer::Linux(Linux::init(p)),
            p => Timer::Other(Box::new(AnyRto::init(p))),
        }
    }

    pub(super) fn on_sample(&mut self, p: &AnyParams, sample: &RttSample) {
        with!(self, p, |timer, p| timer.on_sample(p, sample), ());
    }

    #[inline]
    pub(in crate::endpoint) fn on_progress(&mut self, p: &AnyParams) {
        with!(self, p, |timer, p| timer.on_progress(p), ());
    }

    pub(in crate::endpoint) fn on_timeout(&mut self, p: &AnyParams) {
        with!(self, p, |timer, p| timer.on_timeout(p), ());
    }

    pub(in crate::endpoint) fn after_lost_syn(&mut self, p: &AnyParams) {
        with!(self, p, |timer, p| timer.after_lost_syn(p), ());
    }

    #[inline]
    pub(super) fn arm(&mut self, p: &AnyParams, now: Time, entropy: u32) -> Span {
        with!(self, p, |timer, p| timer.arm(p, now, entropy), p.max())
    }

    pub(in crate::endpoint) fn rto(&self, p: &AnyParams) -> Span {
        with!(self, p, |timer, p| timer.rto(p), p.max())
    }

    #[inline]
    pub(in crate::endpoint) fn srtt(&self) -> Span {
        match self {
            Timer::Rfc6298(timer) => timer.srtt(),
            Timer::Linux(timer) => timer.srtt(),
            Timer::Other(timer) => timer.srtt(),
        }
    }

    pub(in crate::endpoint) fn rttvar(&self) -> Span {
        match self {
            Timer::Rfc6298(timer) => timer.rttvar(),
            Timer::Linux(timer) => timer.rttvar(),
            Timer::Other(timer) => timer.rttvar(),
        }
    }
}

/// As [`AnyRto`] is written.
impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Rfc6298(timer) => f.debug_tuple("Rfc6298").field(timer).finish(),
            Timer::Linux(timer) => f.debug_tuple("Linux").field(timer).finish(),
            Timer::Other(timer) => timer.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_has_a_cache_line() {
        assert!(size_of::<Timer>() <= 64);
    }
}
