//! The congestion window during the repair of losses.
//!
//! The host detects losses and decides when recovery begins and ends. A [`LossRecovery`] gives the
//! window during recovery. It has no state.

use crate::arithmetic::math::mul;
use crate::event::Conn;

/// A loss-recovery procedure: the end of recovery, and the window arithmetic in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum LossRecovery {
    /// Fast retransmit, then slow start from one segment (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends at the first new acknowledgement (RFC 5681).
    Reno,
    /// Fast recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).
    NewReno,
    /// Recovery by SACK scoreboard and `pipe` (RFC 6675). Without SACK it is NewReno.
    Sack,
    /// Recovery by scoreboard, with the window of proportional rate reduction (RFC 6937, RFC 9937).
    /// Without SACK each duplicate acknowledgement counts as one delivered segment.
    Prr,
}

/// Window arithmetic. All values are bytes.
impl LossRecovery {
    /// Every kind with its name in scenarios.
    pub const ALL: [(&'static str, LossRecovery); 5] = [
        ("tahoe", LossRecovery::Tahoe),
        ("reno", LossRecovery::Reno),
        ("newreno", LossRecovery::NewReno),
        ("sack", LossRecovery::Sack),
        ("prr", LossRecovery::Prr),
    ];

    /// Window at the start of fast recovery; `ssthresh` is already set. With fast recovery, three
    /// segments that have left the network are added (RFC 5681 section 3.2 step 3).
    // RFC 5681-3.2-9
    pub fn enter(self, c: &Conn, ssthresh: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            LossRecovery::Tahoe => mss,
            LossRecovery::Reno | LossRecovery::NewReno => ssthresh.saturating_add(mul(3, mss)),
            // RFC 5681-4.3-3
            LossRecovery::Sack | LossRecovery::Prr => ssthresh,
        }
    }

    /// Window after another duplicate: one more segment has left the network (step 4).
    // RFC 5681-3.2-10
    pub fn duplicate(self, c: &Conn, cwnd: u64) -> u64 {
        match self {
            LossRecovery::Tahoe | LossRecovery::Sack | LossRecovery::Prr => cwnd,
            LossRecovery::Reno | LossRecovery::NewReno => cwnd.saturating_add(u64::from(c.mss)),
        }
    }

    /// Window after a partial acknowledgement of `acked` bytes. RFC 6582 section 3.2 step 3 subtracts
    /// the acknowledged bytes and, if they are at least a segment, adds one segment for the
    /// retransmission. In the other procedures recovery is already over.
    pub fn partial(self, c: &Conn, cwnd: u64, acked: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::Sack | LossRecovery::Prr => {
                cwnd
            }
            LossRecovery::NewReno => {
                let add = if acked >= mss { mss } else { 0 };
                cwnd.saturating_sub(acked).saturating_add(add).max(mss)
            }
        }
    }

    /// Window at the end of fast recovery. Reno deflates it (RFC 5681 section 3.2 step 6). NewReno
    /// avoids a burst, by `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2 step 3).
    // RFC 5681-3.2-12
    pub fn exit(self, c: &Conn, ssthresh: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            LossRecovery::Tahoe => mss,
            // RFC 9937-6.4-1
            LossRecovery::Reno | LossRecovery::Sack | LossRecovery::Prr => ssthresh,
            LossRecovery::NewReno => ssthresh.min(c.in_flight.max(mss).saturating_add(mss)),
        }
    }
}
