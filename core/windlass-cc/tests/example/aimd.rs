//! AIMD(a, b): any increase and any decrease.

use windlass_cc::congestion_avoidance::{CongestionAvoidance, CongestionEvent, kept_flight};
use windlass_cc::params::{ParamKind, Parameters, Ratio};
use windlass_cc::window::Window;
use windlass_cc::{Ack, Conn, Info, Requirements};

windlass_cc::parameters! {
    /// Parameters of AIMD.
    pub struct Params {
        /// Growth of the window in segments per RTT (a).
        increase: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(1), max: Ratio(100 << 16) },
            "Yang and Lam 2000, section 2";
        /// Share of the flight that a loss leaves (1 - b).
        keep: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Yang and Lam 2000, section 2";
    }
}

/// Congestion avoidance of AIMD. It holds no state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aimd;

impl CongestionAvoidance for Aimd {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "aimd",
        name: "AIMD",
        origin: "Y. R. Yang and S. S. Lam, General AIMD Congestion Control, ICNP 2000",
        citation: "yang2000general",
        description: "The window grows by `increase` segments per RTT, and a loss leaves the share \
            `keep` of the flight. It is as fast as Reno on the same path if \
            increase = 3·(1 - keep)/(1 + keep).",
        params: Params::TABLE,
        trace: &[],
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(_p: &Params, _c: &Conn) -> Aimd {
        Aimd
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add_per_window(c, credit, p.increase.0);
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        kept_flight(c, p.keep)
    }
}
