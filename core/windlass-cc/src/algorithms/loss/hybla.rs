//! TCP Hybla: gives a long path the growth of a short path.

use crate::arithmetic::math::{exp2_q16, mul, mul_div};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::event::{Ack, Conn};
use crate::flavour::{Change, Departure, Flavour};
use crate::info::{Info, Requirements};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::parameters! {
    /// Parameters of Hybla.
    pub struct Params {
        /// RTT of the connection with the imitated growth (RTT0). ns-3 has 50 ms.
        reference_rtt: Span = Span::from_millis(25),
            ParamKind::Time { min: Span::from_micros(1), max: Span::from_secs(10) },
            "Caini and Firrincieli 2004, section 3";
        /// Maximum rho for the growth of `2^rho - 1` segments per acknowledged segment in slow
        /// start. Without a limit, the first acknowledgement over a satellite sends all waiting
        /// data.
        slow_start_rho: Ratio = Ratio(16 << 16),
            ParamKind::Ratio { min: Ratio::ONE, max: Ratio(32 << 16) },
            "own limit; the paper has no limit and relies on packet spacing";
        /// Set the initial window to rho segments, cut to a whole number, instead of the stack's
        /// initial window.
        initial_rho: bool = false,
            ParamKind::Flag,
            "Caini and Firrincieli 2004 multiplies both; Linux hybla_init (true)";
        /// Take the minimum of the smoothed RTT, the handshake's included, in eighths of the reference RTT, instead
        /// of the minimum RTT of data.
        smoothed_rtt: bool = false,
            ParamKind::Flag,
            "Linux hybla_recalc_param (true)";
    }
}

/// Maximum rho. Its square exceeds any useful growth of the window.
const MAX_RHO: u64 = 1 << 26;

/// Congestion avoidance of Hybla.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hybla {
    /// The minimum of the smoothed RTT. The host keeps the minimum of the RTT.
    smoothed: Span,
}

impl Hybla {
    /// rho: the minimum RTT over the reference RTT, at least one, with 16 fractional bits.
    fn rho_q16(&self, p: &Params, c: &Conn) -> u64 {
        let least = if p.smoothed_rtt { self.smoothed } else { c.min_rtt };
        if !least.is_known() {
            return Ratio::ONE.0;
        }
        let rho = mul_div(least.0, Ratio::ONE.0, p.reference_rtt.0);
        let rho = if p.smoothed_rtt { rho >> 13 << 13 } else { rho };
        rho.clamp(Ratio::ONE.0, MAX_RHO)
    }
}

impl CongestionAvoidance for Hybla {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "hybla",
        name: "TCP Hybla",
        origin: "C. Caini, R. Firrincieli, TCP Hybla: A TCP Enhancement for Heterogeneous Networks, \
            International Journal of Satellite Communications and Networking 22, 2004",
        citation: "caini2004hybla",
        description: "The factor rho is the minimum RTT divided by a reference of 25 ms, and at \
            least 1. Each acknowledged segment increases the window by 2^rho - 1 segments in slow \
            start, and by rho²/cwnd in congestion avoidance. The sending rate therefore grows per \
            second as fast as the rate of a Reno flow over the reference path. A loss halves the \
            window. As in Linux, rho follows the minimum RTT, and slow start stops at the \
            threshold. The initial window and threshold are the stack's, while the paper \
            multiplies both by rho. The exponent is limited (slow_start_rho).",
        params: Params::TABLE,
        trace: &[],
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const FLAVOURS: &'static [Departure] = &[
        Departure {
            flavour: Flavour::Linux,
            change: Change::AckLimit(1),
            why: "`hybla_cong_avoid` adds once per acknowledgement, also in slow start",
        },
        Departure::linux("initial_rho", 1, "`hybla_init` sets the initial window to rho segments"),
        Departure::linux("smoothed_rtt", 1, "`hybla_recalc_param` takes `srtt_us` in eighths"),
        Departure::ns3("reference_rtt", Span::from_millis(50).0, "`TcpHybla`, attribute `RRTT`"),
    ];

    fn init(_p: &Params, c: &Conn) -> Hybla {
        Hybla { smoothed: c.srtt }
    }

    fn observe(&mut self, _p: &Params, c: &Conn, _a: &Ack, _w: &mut Window) {
        self.smoothed = self.smoothed.min(c.srtt);
    }

    fn initial_window(p: &Params, c: &Conn, given: u64) -> u64 {
        if !p.initial_rho || !c.srtt.is_known() {
            return given;
        }
        // The handshake gives the first RTT.
        mul((c.srtt.0 / p.reference_rtt.0.max(1)).clamp(1, MAX_RHO >> 16), u64::from(c.mss))
    }

    fn slow_start_gain(&self, p: &Params, c: &Conn) -> Ratio {
        // At most 32 with 16 fractional bits.
        let rho = self.rho_q16(p, c).min(p.slow_start_rho.0).min(u64::from(u32::MAX)) as u32;
        let growth = match p.smoothed_rtt {
            // `hybla_fraction` has seven fractional bits.
            true => exp2_q16(rho & 0xffff) >> 9 << 9 << (rho >> 16),
            false => exp2_q16(rho),
        };
        Ratio(growth - Ratio::ONE.0)
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let rho = self.rho_q16(p, c);
        w.add_per_window(c, credit, (rho * rho) >> 16);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }
}
