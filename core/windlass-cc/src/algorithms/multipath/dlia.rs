//! D-LIA: LIA with a cut that depends on the growth of the window since the last loss.

use crate::algorithms::multipath::lia::{self, Lia};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{Window, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, kept_flight};
use crate::coupling::members::InRecovery;
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::recovery::LossRecovery;

crate::parameters! {
    /// Parameters of D-LIA.
    pub struct Params {
        /// Window of a path in fast recovery: its slow-start threshold, or its window including the
        /// inflation by duplicate acknowledgements.
        in_recovery: InRecovery = InRecovery::Threshold, InRecovery::KIND,
            "RFC 6356 section 3; the authors' mptcp_dlia: window";
        /// Weight of the last ratio of windows in the share that a loss leaves.
        weight: Ratio = Ratio::of(1, 4),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "the authors' mptcp_dlia (factor)";
        /// Minimum share of the flight that a loss leaves, and the share before the first loss.
        keep_min: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(9, 10) },
            "the authors' mptcp_dlia (beta_min)";
        /// Maximum share of the flight that a loss leaves.
        keep_max: Ratio = Ratio::of(9, 10),
            ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(9, 10) },
            "the authors' mptcp_dlia (beta_max)";
    }
}

/// Congestion avoidance of D-LIA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLia {
    lia: Lia,
    /// Window that the last loss left, bytes.
    left: u64,
    /// `left` before the last loss.
    prior_left: u64,
    /// Share of the flight that the last loss left, 16 fractional bits.
    keep_q: u32,
    /// `keep_q` before the last loss.
    prior_keep_q: u32,
}

const TRACE: &[TraceField] =
    &[TraceField { name: "linked_B", unit: "B" }, TraceField { name: "keep_q16", unit: "1/65536" }];

impl CongestionAvoidance for DLia {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "d-lia",
        name: "D-LIA",
        origin: "T. Lubna, I. Mahmud, Y.-Z. Cho, D-LIA: Dynamic congestion control algorithm for \
            MPTCP, ICT Express 6(4), 2020",
        citation: "lubna2020dlia",
        description: "LIA's increase with a variable cut. A loss leaves the share b of the flight, \
            where b = 0.25·g + 0.75·(last b) within 0.5 and 0.9. Here g = (window left by the last \
            loss)/(window), at most 1. A window that has hardly grown since the last loss is \
            therefore cut little. The paper uses the ratio of intervals between losses; this is \
            the authors' published code, which uses the ratio of windows. The whole percentages of \
            the code are fractions here, and the cut is relative to the flight (RFC 5681). On one \
            path growth is Reno's, and the cut is D-LIA's.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { recovery: LossRecovery::Reno, ..Requirements::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> DLia {
        let left = mul(2, u64::from(c.mss));
        let keep_q = p.keep_min.0 as u32;
        DLia { lia: Lia::new(c), left, prior_left: left, keep_q, prior_keep_q: keep_q }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add_q(self.lia.increase(true, c, credit, w));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, _why: CongestionEvent) -> u64 {
        (self.prior_left, self.prior_keep_q) = (self.left, self.keep_q);
        let grown = mul_div(self.left, Ratio::ONE.0, w.cwnd().max(1)).min(Ratio::ONE.0);
        let rest = Ratio::ONE.0.saturating_sub(p.weight.0);
        let mean = (p.weight.0 * grown + rest * u64::from(self.keep_q)) / Ratio::ONE.0;
        // Not `clamp`, which panics if the minimum exceeds the maximum.
        self.keep_q = mean.max(p.keep_min.0).min(p.keep_max.0) as u32;
        self.left = kept_flight(c, Ratio(u64::from(self.keep_q)));
        self.left
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, _w: &Window) {
        (self.left, self.keep_q) = (self.prior_left, self.prior_keep_q);
    }

    fn on_mss(&mut self, _p: &Params, c: &Conn, old: u32) {
        self.left = resized(c, old, self.left);
        self.prior_left = resized(c, old, self.prior_left);
    }

    fn on_group(&mut self, p: &Params, c: &Conn, g: &Group, w: &mut Window) {
        let all = lia::Params { in_recovery: p.in_recovery, ..lia::Params::default() };
        self.lia.link(&all, c, g, w);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [linked, keep] = TRACE else { return };
        self.lia.trace(&mut |_, value| sink(linked, value));
        sink(keep, u64::from(self.keep_q));
    }
}
