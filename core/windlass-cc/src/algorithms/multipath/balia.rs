//! BALIA: linked increases balanced between friendliness and responsiveness.

use crate::arithmetic::math::mul;
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive};
use crate::coupling::members::{InRecovery, Members};
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::recovery::LossRecovery;

crate::choice! {
    /// Precision of the ratio of the best path's rate to this path's rate in the cut.
    pub enum Imbalance {
        /// A fraction: the paper, the draft.
        Exact = "exact",
        /// A whole number: out-of-tree Linux divides integers, so that a ratio below two counts as one.
        Whole = "whole",
    }
}

crate::parameters! {
    /// Parameters of BALIA.
    pub struct Params {
        /// Window of a path in fast recovery: its slow-start threshold, or its window including the
        /// inflation by duplicate acknowledgements.
        in_recovery: InRecovery = InRecovery::Threshold, InRecovery::KIND,
            "RFC 6356 section 3; out-of-tree Linux mptcp_balia: window";
        /// The ratio a = (largest rate)/(own rate) in the cut: as a fraction, or cut to a whole
        /// number.
        imbalance: Imbalance = Imbalance::Exact, Imbalance::KIND,
            "draft-walid-mptcp-congestion-control-04 section 3; out-of-tree Linux mptcp_balia: whole";
        /// Minimum threshold after a cut if the connection has several paths; on one path it is RFC
        /// 5681's two segments.
        least: u64 = 1, ParamKind::Segments { min: 1, max: 2 },
            "out-of-tree Linux mptcp_balia";
    }
}

/// Congestion avoidance of BALIA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Balia {
    /// Divisor of the growth, bytes; zero for a single path.
    linked: u64,
    /// Share of the flight that a loss removes, 16 fractional bits: a half to three quarters.
    cut_q: u32,
}

/// `1/2`, the cut of a single path or of the best path.
const HALF: u64 = Ratio::ONE.0 / 2;
/// `1.5/2`, the maximum cut.
const LARGEST: u64 = Ratio::ONE.0 / 4 * 3;

const TRACE: &[TraceField] =
    &[TraceField { name: "linked_B", unit: "B" }, TraceField { name: "cut_q16", unit: "1/65536" }];

impl CongestionAvoidance for Balia {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "balia",
        name: "BALIA",
        origin: "Q. Peng, A. Walid, J. Hwang, S. H. Low, Multipath TCP: Analysis, Design, and \
            Implementation, IEEE/ACM Transactions on Networking 24(1), 2016; \
            draft-walid-mptcp-congestion-control-04",
        citation: "peng2016multipath",
        description: "Balanced linked adaptation, with x = w/rtt and a = (largest x)/(own x). An \
            acknowledgement increases the window by x/(rtt · (sum of x)²) · (1 + a)/2 · (4 + a)/5 \
            segments. A loss removes half the flight times the smaller of a and 1.5, down to one \
            segment with several paths. A path never grows faster than Reno, and on one path it is \
            Reno. The cut is relative to the flight (RFC 5681) and is the same after a timeout, as \
            in Linux.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { recovery: LossRecovery::Reno, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;

    fn init(_p: &Params, _c: &Conn) -> Balia {
        Balia { linked: 0, cut_q: HALF as u32 }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        // The divisor was at least the window when it was computed. The undo of a timeout may have
        // increased the window since then.
        w.add_q(additive(c, credit, self.linked.max(w.cwnd())));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        let least = if self.linked == 0 { 2 } else { p.least };
        let keep = Ratio(Ratio::ONE.0.saturating_sub(u64::from(self.cut_q)));
        keep.times(c.flight_size).max(mul(least, u64::from(c.mss)))
    }

    fn on_group(&mut self, p: &Params, _c: &Conn, g: &Group, w: &mut Window) {
        let Some(members) = Members::of(g, w, p.in_recovery) else {
            (self.linked, self.cut_q) = (0, HALF as u32);
            return;
        };
        self.linked = members.balanced().max(1);
        let Ratio(imbalance) = members.imbalance();
        let behind = match p.imbalance {
            Imbalance::Exact => imbalance,
            Imbalance::Whole => imbalance & !(Ratio::ONE.0 - 1),
        };
        self.cut_q = (behind / 2).clamp(HALF, LARGEST) as u32;
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.linked, u64::from(self.cut_q)], sink);
    }
}
