//! MPFast, approximated: FAST on each path, with a shared number of segments to keep queued.

use crate::algorithms::delay::fast::{self, Fast, Weight};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use crate::coupling::members::{InRecovery, Members};
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::parameters! {
    /// Parameters of the approximation of MPFast.
    pub struct Params {
        /// Segments that all paths together keep queued.
        total_alpha: u64 = 100,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "invented; FAST's alpha in MFVL is 100";
        /// Step towards the new window, `gamma`.
        gamma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Jin, Wei, Low 2004, window control (0 to 1)";
        /// Round trips from one update to the next.
        interval: u64 = 2,
            ParamKind::Count { min: 1, max: 100 },
            "Jin, Wei, Low 2004, window control";
        /// Queueing delay at which slow start ends.
        mi_threshold: Span = Span::from_micros(750),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) },
            "NS-2 module of FAST (0.00075 s)";
    }
}

/// Congestion avoidance of the approximation of MPFast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MpFast {
    fast: Fast,
    /// This path's part of the rate of all paths, 16 fractional bits.
    share_q: u32,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "avg_rtt_ns", unit: "ns" },
    TraceField { name: "target_B", unit: "B" },
    TraceField { name: "share_q16", unit: "1/65536" },
];

impl MpFast {
    /// FAST's parameters with this path's part of the segments, rounded to the nearest number.
    fn own(&self, p: &Params) -> fast::Params {
        let part = (p.total_alpha * u64::from(self.share_q) + Ratio::ONE.0 / 2) / Ratio::ONE.0;
        fast::Params {
            alpha: part.max(1),
            gamma: p.gamma,
            interval: p.interval,
            weight: Weight::Paper,
            mi_threshold: p.mi_threshold,
        }
    }
}

impl CongestionAvoidance for MpFast {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "mpfast-approx",
        name: "MPFast (approximation)",
        origin: "approximation of B. Ha, B. Tran, T. Le, C. Tran, Multipath FAST TCP for Large \
            Bandwidth-Delay Product Networks, ICGHIT 2014",
        citation: "ha2014multipath",
        description: "An approximation. Multipath FAST couples FAST on each path by a utility of \
            the whole connection, and its equations are not public. This version is invented: FAST \
            on each path with alpha = total_alpha · x/(sum of x) and x = w/rtt, in whole segments \
            and at least one. All paths then settle at the same queueing delay. On a shared \
            bottleneck they together keep the queue of one FAST. On one path it is FAST with alpha \
            = total_alpha.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(p: &Params, c: &Conn) -> MpFast {
        let mut state =
            MpFast { fast: Fast::init(&fast::Params::default(), c), share_q: Ratio::ONE.0 as u32 };
        state.fast = Fast::init(&state.own(p), c);
        state
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.fast.observe(&self.own(p), c, a, w);
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        self.fast.avoid(&self.own(p), c, a, credit, w);
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        self.fast.ssthresh(&self.own(p), c, w, why)
    }

    fn restart(&mut self, p: &Params, c: &Conn, w: &mut Window) {
        self.fast.restart(&self.own(p), c, w);
    }

    fn undo(&mut self, p: &Params, c: &Conn, w: &Window) {
        self.fast.undo(&self.own(p), c, w);
    }

    fn idle(&mut self, p: &Params, c: &Conn, gap: Span) {
        self.fast.idle(&self.own(p), c, gap);
    }

    fn on_mss(&mut self, p: &Params, c: &Conn, old: u32) {
        self.fast.on_mss(&self.own(p), c, old);
    }

    fn on_group(&mut self, _p: &Params, _c: &Conn, g: &Group, w: &mut Window) {
        let members = Members::of(g, w, InRecovery::Threshold);
        let share = members.map_or(Ratio::ONE, |members| members.share());
        self.share_q = share.0.min(Ratio::ONE.0) as u32;
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let (inner, own) = TRACE.split_at(2);
        let mut fields = inner.iter();
        self.fast.trace(&mut |_, value| {
            if let Some(field) = fields.next() {
                sink(field, value);
            }
        });
        if let [share] = own {
            sink(share, u64::from(self.share_q));
        }
    }
}
