//! BC-CPS (Wei et al. 2021), from its public part: BBR on each path of a connection, with a lower rate
//! on paths that share a bottleneck.

use crate::algorithms::model::bbr::{self, Bbr};
use crate::arithmetic::math::mul_div;
use crate::controller::Controller;
use crate::event::{Ack, Conn, Control, Loss, Phase, Undo};
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{Parameters, Ratio};
use crate::setup::Setup;
use crate::time::{Rate, Span};

/// BBR version 1 and the share of its rate that the group allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct BcCps {
    bbr: Bbr,
    share: Ratio,
}

const INFO: &Info = &Info {
    id: "bc-cps",
    name: "BC-CPS (approximate)",
    origin: "W. Wei, K. Xue, J. Han, Y. Xing, D. S. L. Wei, P. Hong, BBR-Based Congestion Control and \
        Packet Scheduling for Bottleneck Fairness Considered Multipath TCP in Heterogeneous Wireless \
        Networks, IEEE Transactions on Vehicular Technology 70(1), 2021",
    citation: "wei2021bbr",
    description: "An approximation. The public part of BC-CPS is that each path runs BBR, and that \
        probing sets the rates so that a connection is fair at a shared bottleneck. Here every \
        path runs BBR version 1 and discloses its bandwidth estimate x. It paces at max x / sum x \
        of BBR's rate, so that all paths together send as much as the best of them alone. While a \
        path probes (Startup, and the first phase of ProbeBW), it paces as BBR does. If the \
        estimates themselves were scaled, each would be measured from the result of the last \
        scaling, and fall without end. All paths of a connection are assumed to share the \
        bottleneck. On one path it is BBR. Its scheduler is an option of the connection (earliest \
        arrival). BC-CPS was measured with two other flows at 10 Mbit/s and 40 ms, with a queue of \
        two bandwidth-delay products (of four). Two paths together take 0.44 (0.48) of the share \
        of a BBR flow, while uncoupled BBR takes 1.3 (1.8). They take 1.0 (0.8) of the share of a \
        NewReno flow, while a single flow of BBR takes 3.4 (1.9). It therefore takes less than a \
        fair share in competition with BBR, and almost nothing with a queue of one product (0.14).",
    params: bbr::Params::TABLE,
    trace: Bbr::INFO.trace,
};

/// Maximum rate, bytes per second: eight of them add up without overflow.
const MAX_RATE: u64 = 1 << 60;

impl BcCps {
    /// Share of its rate at which the path paces except while probing.
    pub fn share(&self) -> Ratio {
        self.share
    }

    /// The state of BBR on this path.
    pub fn bbr(&self) -> &Bbr {
        &self.bbr
    }
}

impl Controller for BcCps {
    type Params = Setup<bbr::Params>;
    const INFO: &'static Info = INFO;
    const REQUIREMENTS: Requirements = Bbr::REQUIREMENTS;

    fn init(p: &Self::Params, c: &Conn) -> BcCps {
        BcCps { bbr: Bbr::init(p, c), share: Ratio::ONE }
    }

    fn on_ack(&mut self, p: &Self::Params, c: &Conn, a: &Ack) {
        self.bbr.on_ack(p, c, a);
    }

    fn on_phase(&mut self, p: &Self::Params, c: &Conn, from: Phase, to: Phase) {
        self.bbr.on_phase(p, c, from, to);
    }

    fn on_loss(&mut self, p: &Self::Params, c: &Conn, l: &Loss) {
        self.bbr.on_loss(p, c, l);
    }

    fn on_undo(&mut self, p: &Self::Params, c: &Conn, why: Undo) {
        self.bbr.on_undo(p, c, why);
    }

    fn on_idle_restart(&mut self, p: &Self::Params, c: &Conn, gap: Span, reset: bool) {
        self.bbr.on_idle_restart(p, c, gap, reset);
    }

    fn on_mss(&mut self, p: &Self::Params, c: &Conn, old: u32) {
        self.bbr.on_mss(p, c, old);
    }

    fn control(&self, p: &Self::Params, c: &Conn) -> Control {
        let control = self.bbr.control(p, c);
        if self.bbr.is_probing() {
            return control;
        }
        // Zero would mean no pacing.
        Control { pacing: Rate(self.share.times(control.pacing.0).max(1)), ..control }
    }

    fn on_group(&mut self, _p: &Self::Params, _c: &Conn, g: &Group) {
        let (mut sum, mut most) = (0, 0);
        for path in g.paths() {
            let rate = path.disclosed.min(MAX_RATE);
            sum += rate;
            most = rate.max(most);
        }
        self.share = if sum > 0 { Ratio(mul_div(most, Ratio::ONE.0, sum)) } else { Ratio::ONE };
    }

    /// The bandwidth estimate, bytes per second.
    fn disclosed(&self) -> u64 {
        self.bbr.bandwidth().0
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        self.bbr.trace(sink);
    }
}
