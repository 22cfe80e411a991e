//! Reno's additive increase and multiplicative decrease (RFC 5681).

use crate::controller::{Ack, Conn};
use crate::growth::{FRACTION_BITS, Growth, MAX_WINDOW};
use crate::info::{Info, Param, ParamKind, TraceField};
use crate::loss_based::{CommonParams, Described, LossBased};
use crate::recovery::{self, Style};
use crate::slow_start::Standard;

/// How the window grows in congestion avoidance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Increase {
    /// `mss²/cwnd` for each acknowledgement (RFC 5681 equation 3).
    #[default]
    PerAck,
    /// `mss·acked/cwnd`: one segment per window whatever the acknowledgement policy
    /// (RFC 3465, RFC 5681 section 3.1's recommendation).
    PerByte,
    /// `mss²/cwnd` once per round trip: how Reno-BER's Table 9 applies equation 17 (RB-12).
    PerRtt,
}

impl Increase {
    /// Every choice with its name in scenarios.
    pub const ALL: [(&'static str, Increase); 3] = [
        ("per-ack", Increase::PerAck),
        ("per-byte", Increase::PerByte),
        ("per-rtt", Increase::PerRtt),
    ];
}

/// Parameters of Tahoe, Reno and NewReno.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Params {
    /// Initial congestion window, bytes (RFC 5681 section 3.1, RFC 6928).
    pub initial_window: u64,
    /// Initial slow-start threshold, bytes; "arbitrarily high" by default (RFC 5681 section 3.1).
    pub initial_ssthresh: u64,
    /// Growth rule in congestion avoidance.
    pub increase: Increase,
    /// Loss recovery that the host runs, `None` for the algorithm's own; the host fills it in.
    pub recovery: Option<Style>,
}

impl Default for Params {
    fn default() -> Params {
        Params {
            initial_window: 14_600,
            initial_ssthresh: MAX_WINDOW,
            increase: Increase::PerAck,
            recovery: None,
        }
    }
}

impl CommonParams for Params {
    fn initial_window(&self) -> u64 {
        self.initial_window
    }
    fn initial_ssthresh(&self) -> u64 {
        self.initial_ssthresh
    }
    fn recovery(&self) -> Option<Style> {
        self.recovery
    }
}

/// Additive increase by one segment per round trip, halving on loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct RenoGrowth {
    /// End of the current round in stream offsets; only [`Increase::PerRtt`] uses it.
    round_end: u64,
}

impl Growth for RenoGrowth {
    type Params = Params;

    fn init(_p: &Params, c: &Conn) -> RenoGrowth {
        RenoGrowth { round_end: c.next_id }
    }

    fn increase(&mut self, p: &Params, c: &Conn, a: &Ack, cwnd: u64) -> u64 {
        let mss = u64::from(c.mss);
        match p.increase {
            Increase::PerAck => quotient(mss, mss, cwnd),
            Increase::PerByte => quotient(mss, a.acked.min(cwnd), cwnd),
            Increase::PerRtt => {
                if c.delivered <= self.round_end {
                    return 0;
                }
                self.round_end = c.next_id;
                quotient(mss, mss, cwnd)
            }
        }
    }

    /// RFC 5681 equation 4: `max(FlightSize/2, 2·SMSS)`.
    fn ssthresh(&mut self, _p: &Params, c: &Conn, _cwnd: u64) -> u64 {
        (c.in_flight / 2).max(2 * u64::from(c.mss))
    }

    fn restart(&mut self, _p: &Params, c: &Conn) {
        self.round_end = c.next_id;
    }
}

/// `a·b / cwnd` with [`FRACTION_BITS`] fractional bits: whole part and remainder are scaled apart,
/// so that neither truncates before it is multiplied nor overflows.
fn quotient(a: u64, b: u64, cwnd: u64) -> u64 {
    let product = a.saturating_mul(b);
    // At most 2^40, so that the remainder still fits when shifted.
    let cwnd = cwnd.clamp(1, MAX_WINDOW);
    ((product / cwnd).min(MAX_WINDOW) << FRACTION_BITS) + ((product % cwnd) << FRACTION_BITS) / cwnd
}

/// Tahoe: Reno's growth without fast recovery.
pub type Tahoe = LossBased<RenoGrowth, Standard, recovery::Tahoe>;
/// Reno with fast recovery.
pub type Reno = LossBased<RenoGrowth, Standard, recovery::Reno>;
/// Reno with the recovery of RFC 6582.
pub type NewReno = LossBased<RenoGrowth, Standard, recovery::NewReno>;

const PARAMS: &[Param] = &[
    Param {
        name: "increase",
        doc: "Growth in congestion avoidance: mss²/cwnd per acknowledgement, mss·acked/cwnd by \
              bytes, or mss²/cwnd once per round trip.",
        kind: ParamKind::Choice(&["per-ack", "per-byte", "per-rtt"]),
        default: "per-ack",
        source: "RFC 5681 equation 3; RFC 3465; Reno-BER equation 17 and Table 9 (RB-12)",
    },
    Param {
        name: "initial_ssthresh",
        doc: "Slow-start threshold of a new connection.",
        kind: ParamKind::Bytes { min: 1, max: MAX_WINDOW },
        default: "1TiB",
        source: "RFC 5681 section 3.1 (arbitrarily high)",
    },
];

const TRACE: &[TraceField] = &[
    TraceField { name: "cwnd_bytes", unit: "B" },
    TraceField { name: "ssthresh_bytes", unit: "B" },
];

/// Description of [`Tahoe`].
pub const TAHOE_INFO: Info = Info {
    id: "tahoe",
    name: "Tahoe",
    origin: "V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988",
    citation: "jacobson1988congestion",
    description: "Slow start, additive increase, and on any loss (three duplicate \
        acknowledgements or a timeout) half the flight as threshold and slow start from one \
        segment, going back to the first unacknowledged byte.",
    recovery: Style::Tahoe,
    params: PARAMS,
    trace: TRACE,
};

/// Description of [`Reno`].
pub const RENO_INFO: Info = Info {
    id: "reno",
    name: "Reno",
    origin: "RFC 5681, TCP Congestion Control, sections 3.1 and 3.2",
    citation: "rfc5681",
    description: "Slow start, additive increase of one segment per round trip, fast retransmit \
        on three duplicate acknowledgements and fast recovery that ends at the first new \
        acknowledgement. Two losses in one window usually cost a timeout.",
    recovery: Style::Reno,
    params: PARAMS,
    trace: TRACE,
};

/// Description of [`NewReno`].
pub const NEWRENO_INFO: Info = Info {
    id: "newreno",
    name: "NewReno",
    origin: "RFC 6582, The NewReno Modification to TCP's Fast Recovery Algorithm",
    citation: "rfc6582",
    description: "Reno whose fast recovery lasts until everything outstanding at its start is \
        acknowledged: each partial acknowledgement retransmits the next hole, so several losses \
        in one window are repaired at one per round trip without a timeout.",
    recovery: Style::NewReno,
    params: PARAMS,
    trace: TRACE,
};

impl Described for Tahoe {
    const INFO: &'static Info = &TAHOE_INFO;
}

impl Described for Reno {
    const INFO: &'static Info = &RENO_INFO;
}

impl Described for NewReno {
    const INFO: &'static Info = &NEWRENO_INFO;
}
