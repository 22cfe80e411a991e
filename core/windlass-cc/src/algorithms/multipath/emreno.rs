//! emReno, approximated: LIA with a price on each path.

use crate::algorithms::multipath::lia::{self, Lia};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::coupling::members::InRecovery;
use crate::event::{Ack, Conn};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::recovery::LossRecovery;

crate::parameters! {
    /// Parameters of the approximation of emReno.
    pub struct Params {
        /// Energy price of the path of this algorithm, as a share of the highest price; each path
        /// has its own price.
        price: Ratio = Ratio(0),
            ParamKind::Ratio { min: Ratio(0), max: Ratio(Ratio::ONE.0 - 1) },
            "invented; Pham, Vo, Le 2017 have a price per path";
        /// Window of a path in fast recovery: its slow-start threshold, or its window including the
        /// inflation by duplicate acknowledgements.
        in_recovery: InRecovery = InRecovery::Threshold, InRecovery::KIND,
            "RFC 6356 section 3";
    }
}

/// Congestion avoidance of the approximation of emReno.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct EmReno {
    lia: Lia,
}

const TRACE: &[TraceField] = &[TraceField { name: "linked_B", unit: "B" }];

impl CongestionAvoidance for EmReno {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "emreno-approx",
        name: "emReno (approximation)",
        origin: "approximation of L. Pham, P. L. Vo, T. A. Le, An energy-aware multipath congestion \
            control protocol for mobile devices, SigTelCom 2017",
        citation: "pham2017energy",
        description: "An approximation. emReno is a multipath Reno with an energy price on each \
            path, which moves traffic to the cheaper paths, and its equations are not public. This \
            version is invented: LIA's increase times (1 - price), where price is the path's own \
            parameter. With price 0 it is LIA.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { recovery: LossRecovery::Reno, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;

    fn init(_p: &Params, c: &Conn) -> EmReno {
        EmReno { lia: Lia::new(c) }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let increase = self.lia.increase(true, c, credit, w);
        w.add_q(increase.saturating_sub(p.price.times(increase)));
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn on_group(&mut self, p: &Params, c: &Conn, g: &Group, w: &mut Window) {
        let all = lia::Params { in_recovery: p.in_recovery, ..lia::Params::default() };
        self.lia.link(&all, c, g, w);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [linked] = TRACE else { return };
        self.lia.trace(&mut |_, value| sink(linked, value));
    }
}
