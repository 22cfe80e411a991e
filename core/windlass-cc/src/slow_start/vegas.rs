//! Vegas's slow start.

use super::{Described, SlowStart};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::choice! {
    /// Growth of the window, judgement of a round, and window at the end.
    pub enum VegasVariant {
        /// The paper and NS-2: growth in every other round, judged by the mean of its samples. At the
        /// end the window is reduced by a share.
        Paper = "paper",
        /// Linux: growth in every round. At least three samples are needed, and their minimum is
        /// compared with the minimum RTT. At the end the window is the data that the path carried at
        /// that rate, plus a segment.
        Linux = "linux",
    }
}

crate::parameters! {
    /// Parameters of Vegas's slow start.
    pub struct VegasStartParams {
        /// Growth of the window, judgement of a round, and window at the end.
        variant: VegasVariant = VegasVariant::Paper, VegasVariant::KIND,
            "Brakmo and Peterson 1995, section 3.3; Linux tcp_vegas";
        /// Segments queued in the network beyond which slow start ends.
        gamma: u64 = 1, ParamKind::Segments { min: 0, max: 1 << 20 },
            "Brakmo and Peterson 1995, section 3.3, gamma";
        /// Share of the window that is removed at the end of slow start; not used in variant linux.
        decrease: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE }, "NS-2 tcp-vegas.cc";
    }
}

/// Vegas's slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct VegasStart {
    /// Stream offset; the round ends when data beyond it is acknowledged.
    round_end: u64,
    /// Sum of the round-trip samples of the round, nanoseconds.
    sum: u64,
    /// Minimum sample of the round, `u64::MAX` without a sample.
    least: u64,
    /// Number of samples of the round.
    samples: u32,
    /// True if the window grows in this round; in the next round it does not change.
    grows: bool,
}

/// Maximum sample, 18 minutes, so that the sum of millions of samples does not overflow.
const MAX_SAMPLE: u64 = 1 << 40;
/// Maximum number of samples per round.
const MAX_SAMPLES: u32 = 1 << 20;
/// Minimum number of samples. The minimum of fewer samples may come from a delayed acknowledgement.
const MIN_SAMPLES: u32 = 3;

impl VegasStart {
    fn begin_round(&mut self, c: &Conn, grows: bool) {
        *self = VegasStart { round_end: c.next_id, sum: 0, least: u64::MAX, samples: 0, grows };
    }

    /// Takes a sample of the round.
    fn take(&mut self, rtt: Span) {
        if rtt.is_known() && self.samples < MAX_SAMPLES {
            self.sum += rtt.0.min(MAX_SAMPLE);
            self.least = self.least.min(rtt.0);
            self.samples += 1;
        }
    }

    /// Judges a round that is over. Returns whether the window grows in the next round, and the window
    /// if slow start ends.
    fn judge(
        &self,
        p: &VegasStartParams,
        c: &Conn,
        min_rtt: Span,
        w: &Window,
    ) -> (bool, Option<u64>) {
        let (cwnd, mss) = (w.cwnd(), u64::from(c.mss));
        match p.variant {
            VegasVariant::Paper => {
                let queued = self.queued(min_rtt, w);
                let over = !self.grows && queued > mul(p.gamma, mss);
                (!self.grows, over.then(|| cwnd - p.decrease.times(cwnd).min(cwnd)))
            }
            VegasVariant::Linux if self.samples < MIN_SAMPLES || !min_rtt.is_known() => {
                (true, None)
            }
            VegasVariant::Linux => {
                // At least one nanosecond, because it is a divisor.
                let (least, base) = (self.least.max(1), min_rtt.0.max(1));
                // In whole segments: more than gamma.
                let surplus = mul_div(cwnd, least.saturating_sub(base), base);
                let over = surplus >= mul(p.gamma + 1, mss);
                let carried = mul_div(cwnd, base.min(least), least);
                (true, over.then(|| (carried - carried % mss.max(1) + mss).min(cwnd)))
            }
        }
    }

    /// Bytes queued in the network: the window times the queueing share of the RTT.
    fn queued(&self, min_rtt: Span, w: &Window) -> u64 {
        match self.sum.checked_div(u64::from(self.samples)) {
            Some(mean) if min_rtt.is_known() && mean > min_rtt.0 => {
                mul_div(w.cwnd(), mean - min_rtt.0, mean)
            }
            _ => 0,
        }
    }

    fn leave(c: &Conn, w: &mut Window, kept: u64) {
        let least = mul(2, u64::from(c.mss)).min(w.cwnd());
        w.set(c, kept.max(least).min(MAX_WINDOW));
        w.set_ssthresh(w.cwnd());
    }
}

impl Described for VegasStart {
    const INFO: &'static Info = &Info {
        id: "vegas",
        name: "Vegas's slow start",
        origin: "L. S. Brakmo and L. L. Peterson, TCP Vegas: End to End Congestion Avoidance on a \
            Global Internet, IEEE JSAC 13(8), 1995, section 3.3; NS-2's tcp-vegas.cc",
        citation: "brakmo1995vegas",
        description: "The window grows only in every other RTT. In the rounds between, the window \
            is constant, and the mean RTT is compared with the minimum RTT. When more than gamma \
            segments are queued, slow start ends, and the window is reduced by an eighth, but not \
            below two segments, as in NS-2. Deviations: the backlog is not rounded to whole \
            segments, and the threshold becomes the window, while NS-2 sets it to two segments. \
            Variant linux grows in every round and judges the round by the minimum of at least \
            three samples. It divides the surplus by the minimum RTT, and leaves the window that \
            the path carried plus one segment.",
        params: VegasStartParams::TABLE,
        trace: &[],
    };
    const FLAVOURS: &'static [Departure] = &[Departure::linux(
        "variant",
        VegasVariant::Linux as u64,
        "`tcp_vegas_cong_avoid` grows in every round, judges the round by its minimum sample, and \
        leaves the window that the path carried",
    )];
}

impl SlowStart for VegasStart {
    type Params = VegasStartParams;

    fn init(_p: &VegasStartParams, c: &Conn) -> VegasStart {
        VegasStart { round_end: c.next_id, sum: 0, least: u64::MAX, samples: 0, grows: true }
    }

    fn observe(&mut self, p: &VegasStartParams, c: &Conn, a: &Ack, w: &mut Window) {
        if !w.in_slow_start() {
            return;
        }
        let linux = p.variant == VegasVariant::Linux;
        if linux {
            // The round includes the sample that ends it.
            self.take(a.rtt);
        }
        if c.una > self.round_end {
            let (grows, kept) = self.judge(p, c, c.min_rtt.min(a.rtt), w);
            self.begin_round(c, grows);
            if let Some(kept) = kept {
                VegasStart::leave(c, w, kept);
                return;
            }
        }
        if !linux {
            self.take(a.rtt);
        }
    }

    fn grow(&mut self, _p: &VegasStartParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if self.grows {
            w.add(credit);
        }
    }

    fn restart(&mut self, p: &VegasStartParams, c: &Conn) {
        *self = VegasStart::init(p, c);
    }
}
