//! What the congestion window does while losses are being repaired.
//!
//! The host finds losses and decides when recovery begins and ends; these parts say how large the
//! window is meanwhile. They hold no state of their own.

use crate::controller::Conn;

/// Which loss-recovery procedure the host runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Style {
    /// Fast retransmit, then slow start from one segment (Jacobson 1988).
    Tahoe,
    /// Fast recovery that ends at the first new acknowledgement (RFC 5681).
    Reno,
    /// Fast recovery that ends when all data outstanding at its start is acknowledged (RFC 6582).
    NewReno,
}

impl Style {
    /// Every style with its name in scenarios.
    pub const ALL: [(&'static str, Style); 3] =
        [("tahoe", Style::Tahoe), ("reno", Style::Reno), ("newreno", Style::NewReno)];
}

/// Window arithmetic of one recovery style. All values are bytes.
pub trait RecoveryWindow: Copy {
    /// The style that the host should run with it.
    const STYLE: Style;

    /// Window on entering fast recovery, `ssthresh` being set already.
    fn enter(c: &Conn, ssthresh: u64) -> u64;

    /// Window after one more duplicate acknowledgement.
    fn duplicate(c: &Conn, cwnd: u64) -> u64;

    /// Window after a partial acknowledgement of `acked` bytes.
    fn partial(c: &Conn, cwnd: u64, acked: u64) -> u64;

    /// Window when fast recovery ends.
    fn exit(c: &Conn, ssthresh: u64) -> u64;
}

/// No fast recovery: back to one segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tahoe;

impl RecoveryWindow for Tahoe {
    const STYLE: Style = Style::Tahoe;
    fn enter(c: &Conn, _ssthresh: u64) -> u64 {
        u64::from(c.mss)
    }
    fn duplicate(_c: &Conn, cwnd: u64) -> u64 {
        cwnd
    }
    fn partial(_c: &Conn, cwnd: u64, _acked: u64) -> u64 {
        cwnd
    }
    fn exit(c: &Conn, _ssthresh: u64) -> u64 {
        u64::from(c.mss)
    }
}

/// Inflation and deflation of RFC 5681 section 3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reno;

impl RecoveryWindow for Reno {
    const STYLE: Style = Style::Reno;
    /// Step 3: `ssthresh` plus the three segments that have left the network.
    fn enter(c: &Conn, ssthresh: u64) -> u64 {
        ssthresh.saturating_add(3 * u64::from(c.mss))
    }
    /// Step 4: one segment more has left the network.
    fn duplicate(c: &Conn, cwnd: u64) -> u64 {
        cwnd.saturating_add(u64::from(c.mss))
    }
    fn partial(_c: &Conn, cwnd: u64, _acked: u64) -> u64 {
        cwnd
    }
    /// Step 6: deflate.
    fn exit(_c: &Conn, ssthresh: u64) -> u64 {
        ssthresh
    }
}

/// RFC 6582: partial acknowledgements deflate, a full one ends recovery without a burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NewReno;

impl RecoveryWindow for NewReno {
    const STYLE: Style = Style::NewReno;
    fn enter(c: &Conn, ssthresh: u64) -> u64 {
        Reno::enter(c, ssthresh)
    }
    fn duplicate(c: &Conn, cwnd: u64) -> u64 {
        Reno::duplicate(c, cwnd)
    }
    /// Section 3.2 step 3, partial: take off what was acknowledged, add back one segment for the
    /// retransmission if that was at least a segment.
    fn partial(c: &Conn, cwnd: u64, acked: u64) -> u64 {
        let mss = u64::from(c.mss);
        let add = if acked >= mss { mss } else { 0 };
        cwnd.saturating_sub(acked).saturating_add(add).max(mss)
    }
    /// Section 3.2 step 3, full, option 1: `min(ssthresh, max(FlightSize, SMSS) + SMSS)`.
    fn exit(c: &Conn, ssthresh: u64) -> u64 {
        let mss = u64::from(c.mss);
        ssthresh.min(c.in_flight.max(mss).saturating_add(mss))
    }
}
