//! Reno's additive increase and multiplicative decrease (RFC 5681).

use core::marker::PhantomData;

use crate::arithmetic::window::{Window, quotient};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::{Info, Requirements};
use crate::params::Parameters;
use crate::recovery::LossRecovery;

crate::choice! {
    /// Growth of the window in congestion avoidance.
    pub enum Increase {
        /// `mss²/cwnd` for each acknowledgement (RFC 5681 equation 3); `mss·acked/cwnd` on a stack that
        /// counts bytes.
        PerAck = "per-ack",
        /// `mss·acked/cwnd`: one segment per window for any acknowledgement policy (RFC 3465, RFC 5681
        /// section 3.1's recommendation).
        PerByte = "per-byte",
        /// `mss²/cwnd` once per RTT: how Reno-BER's Table 9 applies equation 17 (RB-12).
        PerRtt = "per-rtt",
    }
}

crate::parameters! {
    /// Parameters of Tahoe, Reno and NewReno.
    pub struct Params {
        /// Growth in congestion avoidance: mss²/cwnd per acknowledgement, mss·acked/cwnd by
        /// bytes, or mss²/cwnd once per round trip.
        increase: Increase = Increase::PerAck,
            Increase::KIND,
            "RFC 5681 equation 3, RFC 3465, and Reno-BER equation 17 and Table 9 (RB-12)";
    }
}

/// One of the three algorithms that grow like Reno. They differ only in loss recovery.
pub trait Variant: Copy {
    /// Description of the algorithm for users.
    const INFO: &'static Info;
    /// Its loss recovery.
    const RECOVERY: LossRecovery;
    /// Deviations of real stacks from the RFC.
    const FLAVOURS: &'static [Departure] = &[];
}

/// Additive increase by one segment per RTT, halving on loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RenoAvoidance<V> {
    /// End of the current round in stream offsets; only [`Increase::PerRtt`] uses it.
    round_end: u64,
    variant: PhantomData<V>,
}

impl<V: Variant> CongestionAvoidance for RenoAvoidance<V> {
    type Params = Params;
    const INFO: &'static Info = V::INFO;
    const REQUIREMENTS: Requirements =
        Requirements { recovery: V::RECOVERY, ..Requirements::LOSS_BASED };
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = V::FLAVOURS;

    fn init(_p: &Params, c: &Conn) -> RenoAvoidance<V> {
        RenoAvoidance { round_end: c.next_id, variant: PhantomData }
    }

    // RFC 5681-3.1-10
    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        let mss = u64::from(c.mss);
        let cwnd = w.cwnd();
        match p.increase {
            Increase::PerAck => w.add_q(additive(c, credit, cwnd)),
            // RFC 5681-3.1-11
            Increase::PerByte => w.add_q(quotient(mss, a.acked.min(cwnd), cwnd)),
            Increase::PerRtt => {
                if c.una > self.round_end {
                    self.round_end = c.next_id;
                    w.add_q(quotient(mss, mss, cwnd));
                }
            }
        }
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        self.round_end = c.next_id;
    }
}

/// Reno's growth without fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tahoe;

impl Variant for Tahoe {
    const INFO: &'static Info = &Info {
        id: "tahoe",
        name: "Tahoe",
        origin: "V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988",
        citation: "jacobson1988congestion",
        description: "Slow start and additive increase. Any loss (three duplicate acknowledgements \
            or a timeout) sets the threshold to half the flight. Slow start then begins from one \
            segment, at the first unacknowledged byte.",
        params: Params::TABLE,
        trace: &[],
    };
    const RECOVERY: LossRecovery = LossRecovery::Tahoe;
}

/// Fast recovery that ends at the first new acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reno;

impl Variant for Reno {
    const INFO: &'static Info = &Info {
        id: "reno",
        name: "Reno",
        origin: "RFC 5681, TCP Congestion Control, sections 3.1 and 3.2",
        citation: "rfc5681",
        description: "Slow start, additive increase of one segment per RTT, fast retransmit on \
            three duplicate acknowledgements, and fast recovery that ends at the first new \
            acknowledgement. Two losses in one window usually cause a timeout.",
        params: Params::TABLE,
        trace: &[],
    };
    const RECOVERY: LossRecovery = LossRecovery::Reno;
    const FLAVOURS: &'static [Departure] = &[
        Departure::ns3(
            "increase",
            Increase::PerByte as u64,
            "`TcpLinuxReno::CongestionAvoidance` counts every acknowledged segment",
        ),
        Departure::ns3_filled(false, "`TcpLinuxReno::CongestionAvoidance` reads `m_isCwndLimited`"),
    ];
}

/// Fast recovery of RFC 6582.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewReno;

impl Variant for NewReno {
    const INFO: &'static Info = &Info {
        id: "newreno",
        name: "NewReno",
        origin: "RFC 6582, The NewReno Modification to TCP's Fast Recovery Algorithm",
        citation: "rfc6582",
        description: "Reno with a fast recovery that lasts until all data outstanding at its start \
            is acknowledged. Each partial acknowledgement retransmits the next hole, so that \
            several losses in one window are repaired at one per RTT, without a timeout.",
        params: Params::TABLE,
        trace: &[],
    };
    const RECOVERY: LossRecovery = LossRecovery::NewReno;
    const FLAVOURS: &'static [Departure] = &[Departure::ns3_per_ack(
        "`TcpNewReno::CongestionAvoidance` counts every acknowledgement as one segment",
    )];
}
