//! MFast: FAST with a factor on the target window.

use crate::algorithms::delay::fast::{self, Fast, Law, Weight};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::event::{Ack, Conn};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::choice! {
    /// Phase with a growth of one segment per acknowledgement: only slow start, or all times with a
    /// queueing delay below `mi_threshold` (MF-11).
    pub enum Multiplicative {
        /// All times with an averaged queueing delay below `mi_threshold`: the NS-2 module.
        Always = "always",
        /// Only slow start, which ends at `mi_threshold`, as in [`Fast`].
        Start = "start",
    }
}

crate::parameters! {
    /// Parameters of MFast.
    pub struct Params {
        /// Factor on the target window (sigma); 1 is FAST.
        sigma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Mudassir and Baig 2021, equation 13 and Table 6";
        /// Segments that the law of FAST would keep queued.
        alpha: u64 = 100,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "Mudassir and Baig 2021, Table 6";
        /// Step towards the new window (gamma).
        gamma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Mudassir and Baig 2021, Table 6";
        /// Round trips from one update to the next.
        interval: u64 = 2,
            ParamKind::Count { min: 1, max: 100 },
            "Mudassir and Baig 2021, section 3.2 (alternate RTTs)";
        /// Weight of a new sample in the averaged round-trip time (MF-9).
        weight: Weight = Weight::Ns2,
            Weight::KIND,
            "Mudassir and Baig 2021, section 4: the NS-2 module";
        /// Queueing delay at which multiplicative increase ends (MF-11).
        mi_threshold: Span = Span::from_micros(750),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) },
            "Mudassir and Baig 2021, Table 6 (0.00075), in seconds as in the NS-2 module";
        /// Phase with a growth of one segment per acknowledgement: only slow start, or all times
        /// with a queueing delay below `mi_threshold` (MF-11).
        mi: Multiplicative = Multiplicative::Always,
            Multiplicative::KIND,
            "NS-2 module";
        /// Number of queued segments beyond which slow start ends, computed from the window and the
        /// present RTT. With 0, slow start ends at `mi_threshold` (MF-40).
        start_gamma: Ratio = Ratio(0),
            ParamKind::Ratio { min: Ratio(0), max: Ratio(1000 << 16) },
            "NS-2 module; Mudassir and Baig 2021, section 3.2 has a gamma, Table 6 one of 0.5";
    }
}

impl Params {
    fn law(&self) -> Law {
        Law {
            alpha: self.alpha,
            sigma: self.sigma,
            gamma: self.gamma,
            interval: self.interval,
            weight: self.weight,
            mi_threshold: self.mi_threshold,
            mi_returns: self.mi == Multiplicative::Always,
            start_gamma: self.start_gamma,
        }
    }
}

/// Congestion avoidance of MFast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MFast {
    fast: Fast,
}

impl CongestionAvoidance for MFast {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "mfast",
        name: "MFast",
        origin: "M. U. Mudassir and M. I. Baig, MFVL HCCA: a modified Fast-Vegas-LIA hybrid \
            congestion control algorithm for MPTCP traffic flows in multihomed smart gas IoT \
            networks, Electronics 10(6):711, 2021, section 3.2",
        citation: "mudassir2021mfvl",
        description: "FAST with a factor sigma on the target window. In every other RTT, w becomes \
            min(2w, (1-gamma)·w + sigma·gamma·(base/avg · w + alpha)). Alone on a path that it \
            fills, it settles at sigma·alpha/(1 - sigma·base/RTT), which is sigma·(C·base + alpha) \
            for a capacity C. With sigma 1/2 and alpha 100, this is between 50 and 100 segments on \
            any path. It therefore queues much on a short path, and cannot fill a path of more \
            than 100 segments (MF-8). Multiplicative increase can exceed this limit repeatedly: \
            the NS-2 module applies it whenever the averaged queueing delay is below mi_threshold. \
            All else is as in fast: a loss halves the flight, an increase is spread over the next \
            acknowledgements, and a timeout leaves one segment.",
        params: Params::TABLE,
        trace: fast::TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(_p: &Params, c: &Conn) -> MFast {
        MFast { fast: Fast::new(c) }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.fast.look(&p.law(), c, a, w);
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        self.fast.open(&p.law(), c, a, credit, w);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn restart(&mut self, _p: &Params, c: &Conn, w: &mut Window) {
        self.fast.begin(c, w);
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, w: &Window) {
        self.fast.hold(w);
    }

    fn idle(&mut self, _p: &Params, _c: &Conn, _gap: Span) {
        self.fast.forget_target();
    }

    fn on_mss(&mut self, _p: &Params, _c: &Conn, _old: u32) {
        self.fast.forget_target();
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(fast::TRACE, &self.fast.shown(), sink);
    }
}
