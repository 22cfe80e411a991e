//! Vegas's slow start.

use super::{Described, SlowStart};
use crate::controller::{Ack, Conn};
use crate::info::Info;
use crate::math::{mul, mul_div};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;
use crate::window::{MAX_WINDOW, Window};

crate::parameters! {
    /// Parameters of Vegas's slow start.
    pub struct VegasStartParams {
        /// Segments queued in the network beyond which slow start ends.
        gamma: u64 = 1, ParamKind::Segments { min: 0, max: 1 << 20 },
            "Brakmo and Peterson 1995, section 3.3, gamma";
        /// Share of the window that is given back then.
        decrease: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE }, "NS-2 tcp-vegas.cc";
    }
}

/// Vegas's slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct VegasStart {
    /// The round ends when more than this is acknowledged, stream offset.
    round_end: u64,
    /// Sum of the round-trip samples of the round, nanoseconds.
    sum: u64,
    /// How many there are.
    samples: u32,
    /// In this round the window grows; in the next it stands still.
    grows: bool,
}

/// A sample is at most 18 minutes, so that millions of them can be added.
const MAX_SAMPLE: u64 = 1 << 40;
/// Samples of one round that are added.
const MAX_SAMPLES: u32 = 1 << 20;

impl VegasStart {
    fn begin_round(&mut self, c: &Conn, grows: bool) {
        *self = VegasStart { round_end: c.next_id, sum: 0, samples: 0, grows };
    }

    /// Bytes that wait in the network: the window times the share of the round trip that is
    /// waiting.
    fn queued(&self, min_rtt: Span, w: &Window) -> u64 {
        match self.sum.checked_div(u64::from(self.samples)) {
            Some(mean) if min_rtt.is_known() && mean > min_rtt.0 => {
                mul_div(w.cwnd(), mean - min_rtt.0, mean)
            }
            _ => 0,
        }
    }

    fn leave(p: &VegasStartParams, c: &Conn, w: &mut Window) {
        let least = mul(2, u64::from(c.mss)).min(w.cwnd());
        let kept = w.cwnd() - p.decrease.times(w.cwnd()).min(w.cwnd());
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
        description: "The window grows every other round trip only. In the rounds between, it \
            stands still and the mean round-trip time is compared with the least one seen: when \
            more than gamma segments are queued, slow start ends and an eighth of the window is \
            given back, but not below two segments, as in NS-2. Departures: the backlog is not \
            rounded to whole segments, and the threshold becomes the window where NS-2 sets it to \
            two segments.",
        params: VegasStartParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for VegasStart {
    type Params = VegasStartParams;

    fn init(_p: &VegasStartParams, c: &Conn) -> VegasStart {
        VegasStart { round_end: c.next_id, sum: 0, samples: 0, grows: true }
    }

    fn observe(&mut self, p: &VegasStartParams, c: &Conn, a: &Ack, w: &mut Window) {
        if !w.in_slow_start() {
            return;
        }
        if c.una > self.round_end {
            let stood = !self.grows;
            let queued = self.queued(c.min_rtt.min(a.rtt), w);
            self.begin_round(c, stood);
            if stood && queued > mul(p.gamma, u64::from(c.mss)) {
                VegasStart::leave(p, c, w);
                return;
            }
        }
        if a.rtt.is_known() && self.samples < MAX_SAMPLES {
            self.sum += a.rtt.0.min(MAX_SAMPLE);
            self.samples += 1;
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
