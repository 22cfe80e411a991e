//! uIP's timer, in ticks of a periodic routine.

use super::{RtoEstimator, RttSample};
use crate::arithmetic::math::mul;
use crate::info::Info;
use crate::params::{ParamKind, Parameters};
use crate::time::Span;

crate::parameters! {
    /// Parameters of uIP's timer.
    pub struct UipParams {
        /// Period of the routine that counts the timer down.
        tick: Span = Span::from_millis(500),
            ParamKind::Time { min: Span(1), max: Span::from_secs(60) }, "uIP, UIP_CONF periodic timer";
        /// Timeout before the first sample and start of back-off, ticks.
        constant: u64 = 3, ParamKind::Count { min: 1, max: 255 }, "uIP, UIP_RTO";
        /// Deviation before the first sample, ticks: 16 for the connecting side, 4 for the
        /// listening side.
        deviation: u64 = 16, ParamKind::Count { min: 0, max: 255 }, "uIP, uip_connect (sv)";
        /// Expiries that still double the timeout.
        doublings: u64 = 4, ParamKind::Count { min: 0, max: 8 }, "uIP, back-off of UIP_RTO";
    }
}

/// Maximum number of ticks of an eight-bit timer.
const MOST: u32 = 255;

/// uIP's timer; values are numbers of ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Uip {
    /// Eight times the average.
    sa: u32,
    /// Four times the deviation.
    sv: u32,
    rto: u32,
    /// Expiries since the last acknowledgement of new data. The first SYN counts as one, because uIP's
    /// periodic routine sends it.
    expiries: u32,
    /// Nanoseconds per tick; zero before the first sample.
    tick: u64,
}

/// `value`, at most [`MOST`].
fn byte(value: u64) -> u32 {
    value.min(u64::from(MOST)) as u32
}

impl RtoEstimator for Uip {
    type Params = UipParams;

    const INFO: &'static Info = &Info {
        id: "uip",
        name: "uIP",
        origin: "A. Dunkels, uIP 0.9 and 1.0, uip.c",
        citation: "dunkels2003full",
        description: "Van Jacobson's estimator in whole ticks of half a second, loaded into the \
            timer with each acknowledgement of new data. The back-off does not start from the \
            estimate. The first expiry sets the timer to the constant of three ticks, and each \
            later expiry to twice the last value, up to 48 ticks. A timer of n ticks that is set at \
            a tick expires n + 1 ticks later. A SYN is sent like a retransmission: it begins the \
            back-off, and has no sample. Deviations: elapsed time is measured and cut to whole \
            ticks, while uIP infers it from the countdown. Values stop at 255 ticks, where uIP's \
            bytes wrap. A SYN-ACK is treated like a SYN.",
        params: UipParams::TABLE,
        trace: &[],
    };

    fn init(p: &UipParams) -> Uip {
        let (rto, sv) = (byte(p.constant), byte(p.deviation));
        Uip { sa: 0, sv, rto, expiries: 1, tick: 0 }
    }

    fn on_sample(&mut self, p: &UipParams, s: &RttSample) {
        if !s.rtt.is_known() || s.retransmits > 0 || self.expiries > 0 {
            return;
        }
        let m = byte(s.rtt.0 / p.tick.0.max(1));
        let mean = self.sa >> 3;
        let error = m.abs_diff(mean);
        self.sa = self.sa - mean + m;
        self.sv = (self.sv - (self.sv >> 2) + error).min(4 * MOST);
        self.rto = ((self.sa >> 3) + self.sv).clamp(1, MOST);
        self.tick = p.tick.0;
    }

    fn on_progress(&mut self, _p: &UipParams) {
        self.expiries = 0;
    }

    fn on_timeout(&mut self, _p: &UipParams) {
        self.expiries = self.expiries.saturating_add(1);
    }

    fn rto(&self, p: &UipParams) -> Span {
        let ticks = match self.expiries {
            0 => self.rto,
            // It counts the tick that finds zero, too.
            n => 1 + byte(u64::from(byte(p.constant)) << u64::from(n - 1).min(p.doublings).min(8)),
        };
        Span(mul(p.tick.0, u64::from(ticks)))
    }

    fn srtt(&self) -> Span {
        if self.tick > 0 { Span(mul(self.tick, u64::from(self.sa)) / 8) } else { Span::NONE }
    }

    fn rttvar(&self) -> Span {
        if self.tick > 0 { Span(mul(self.tick, u64::from(self.sv)) / 4) } else { Span::ZERO }
    }

    fn max(p: &UipParams) -> Span {
        Span(mul(p.tick.0, u64::from(MOST) + 1))
    }
}
