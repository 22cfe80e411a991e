//! Retransmission timers.

use crate::time::Span;

/// An estimator of the retransmission timeout.
pub trait RtoEstimator: Copy {
    /// Plain, shared parameters.
    type Params;

    /// State of a new connection.
    fn init(p: &Self::Params) -> Self;

    /// A round-trip sample that Karn's rule allows.
    fn on_sample(&mut self, p: &Self::Params, rtt: Span);

    /// The timer expired: back off. The larger value stays until the next sample, since nothing
    /// else tells a slow path from a lossy one (Karn and Partridge 1987).
    fn on_timeout(&mut self, p: &Self::Params);

    /// The timeout to use now.
    fn rto(&self, p: &Self::Params) -> Span;

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    fn srtt(&self) -> Span;

    /// Mean deviation of the RTT, zero before the first sample.
    fn rttvar(&self) -> Span;
}

/// Parameters of RFC 6298's timer. Gains are fractions of 65536.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoParams {
    /// Timeout before the first sample (section 2.1).
    pub initial: Span,
    /// Least timeout (section 2.4).
    pub min: Span,
    /// Largest timeout, back-off included (section 2.5: at least 60 s).
    pub max: Span,
    /// Clock granularity `G`, the least variance term (section 2.3).
    pub granularity: Span,
    /// Gain of the smoothed RTT, `alpha` (section 2.3: 1/8).
    pub alpha_q16: u32,
    /// Gain of the deviation, `beta` (section 2.3: 1/4).
    pub beta_q16: u32,
    /// Weight of the deviation, `K` (section 2.3: 4).
    pub k: u32,
    /// Factor by which each expiry multiplies the timeout (section 5.5: 2); 1 turns back-off off.
    pub backoff: u32,
}

impl Default for RtoParams {
    /// RFC 6298's values.
    fn default() -> RtoParams {
        RtoParams {
            initial: Span::from_secs(1),
            min: Span::from_secs(1),
            max: Span::from_secs(60),
            granularity: Span::from_millis(1),
            alpha_q16: 65_536 / 8,
            beta_q16: 65_536 / 4,
            k: 4,
            backoff: 2,
        }
    }
}

/// RFC 6298.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Rfc6298 {
    /// Nanoseconds; `u64::MAX` before the first sample.
    srtt: u64,
    rttvar: u64,
    /// Timeout in nanoseconds with back-off applied.
    rto: u64,
}

/// Samples beyond this (18 minutes) are clamped, so that the fixed-point products fit 64 bits.
const MAX_SAMPLE: u64 = 1 << 40;

/// `x * q / 65536`, for `x` at most [`MAX_SAMPLE`] and `q` at most 65536.
fn gain(x: u64, q16: u32) -> u64 {
    (x * u64::from(q16.min(65_536))) >> 16
}

impl RtoEstimator for Rfc6298 {
    type Params = RtoParams;

    fn init(p: &RtoParams) -> Rfc6298 {
        Rfc6298 { srtt: u64::MAX, rttvar: 0, rto: p.initial.0.min(p.max.0) }
    }

    fn on_sample(&mut self, p: &RtoParams, rtt: Span) {
        if !rtt.is_known() {
            return;
        }
        let r = rtt.0.min(MAX_SAMPLE);
        if self.srtt == u64::MAX {
            self.srtt = r;
            self.rttvar = r / 2;
        } else {
            // The deviation uses the old srtt (section 2.3).
            let error = self.srtt.abs_diff(r);
            self.rttvar = self.rttvar - gain(self.rttvar, p.beta_q16) + gain(error, p.beta_q16);
            self.srtt = self.srtt - gain(self.srtt, p.alpha_q16) + gain(r, p.alpha_q16);
        }
        let margin = self.rttvar.saturating_mul(u64::from(p.k)).max(p.granularity.0);
        self.rto = self.srtt.saturating_add(margin).max(p.min.0).min(p.max.0);
    }

    fn on_timeout(&mut self, p: &RtoParams) {
        self.rto = self.rto.saturating_mul(u64::from(p.backoff.max(1))).min(p.max.0);
    }

    fn rto(&self, _p: &RtoParams) -> Span {
        Span(self.rto)
    }

    fn srtt(&self) -> Span {
        Span(self.srtt)
    }

    fn rttvar(&self) -> Span {
        Span(self.rttvar)
    }
}
