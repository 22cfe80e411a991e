//! Scalable TCP: growth in proportion to the window.

use crate::arithmetic::math::mul;
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, Rounding, kept_flight};
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::{Info, Requirements};
use crate::params::{ParamKind, Parameters, Ratio};

crate::parameters! {
    /// Parameters of Scalable TCP.
    pub struct Params {
        /// Acknowledged segments per segment of growth (1/a). Linux before 5.4 and ns-3 have 50.
        acks_per_segment: u64 = 100,
            ParamKind::Count { min: 1, max: 1_000_000 },
            "Kelly 2003, section 3 (a = 0.01)";
        /// Share of the window that a loss removes (b).
        cut: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio::of(1, 1000), max: Ratio::of(9, 10) },
            "Kelly 2003, section 3 (b = 0.125)";
        /// Window up to which it grows like Reno (the legacy window). Linux and ns-3 have
        /// `acks_per_segment`, below which Reno is faster.
        legacy_window: u64 = 16,
            ParamKind::Segments { min: 0, max: 1_000_000 },
            "Kelly 2003, section 3.1 (lwnd)";
        /// Share of the window that a loss removes up to the legacy window. Linux and ns-3 have
        /// 1/8.
        legacy_cut: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio::of(1, 1000), max: Ratio::of(9, 10) },
            "Kelly 2003, section 3.1; RFC 5681 equation 4";
    }
}

/// Congestion avoidance of Scalable TCP. It holds no state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalable;

/// True if the window is in the legacy range, in which the algorithm is Reno's.
fn legacy(p: &Params, c: &Conn, w: &Window) -> bool {
    w.cwnd() <= mul(p.legacy_window, u64::from(c.mss))
}

impl CongestionAvoidance for Scalable {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "scalable",
        name: "Scalable TCP",
        origin: "T. Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, \
            ACM SIGCOMM Computer Communication Review 33(2), 2003",
        citation: "kelly2003scalable",
        description: "Each acknowledged segment increases the window by 0.01 segments, and a loss \
            removes an eighth of the window. The time of recovery from a loss therefore does not \
            depend on the window. Up to the legacy window of 16 segments it is Reno. Two flows \
            that lose at the same time keep the ratio of their windows. The threshold is computed \
            from FlightSize (RFC 5681), not from the window. Linux from 5.4 on has legacy_window = \
            100 and legacy_cut = 0.125. Older Linux and ns-3 have acks_per_segment = 50, \
            legacy_window = 50 and legacy_cut = 0.125.",
        params: Params::TABLE,
        trace: &[],
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux(
            "legacy_window",
            100,
            "`TCP_SCALABLE_AI_CNT`, below which the window grows as Reno's",
        ),
        Departure::linux(
            "legacy_cut",
            Ratio::of(1, 8).0,
            "`TCP_SCALABLE_MD_SCALE` cuts an eighth at any window",
        ),
        Departure::ns3("acks_per_segment", 50, "`TcpScalable`, attribute `AIFactor`"),
        Departure::ns3(
            "legacy_window",
            50,
            "`TcpScalable`, attribute `AIFactor`, below which the window grows as Reno's",
        ),
        Departure::ns3(
            "legacy_cut",
            Ratio::of(1, 8).0,
            "`TcpScalable`, attribute `MDFactor`, at any window",
        ),
    ];

    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Up
    }

    fn init(_p: &Params, _c: &Conn) -> Scalable {
        Scalable
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if legacy(p, c, w) {
            w.add_per_window(c, credit, 1 << FRACTION_BITS);
        } else {
            // At most 2^40 bytes, the maximum credit, or one segment.
            let counted = credit.max(u64::from(c.mss));
            w.add_q((counted << FRACTION_BITS) / p.acks_per_segment.max(1));
        }
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, _why: CongestionEvent) -> u64 {
        let cut = if legacy(p, c, w) { p.legacy_cut } else { p.cut };
        kept_flight(c, Ratio(Ratio::ONE.0.saturating_sub(cut.0)))
    }
}
