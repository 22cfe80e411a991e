//! What the congestion window does while losses are being repaired.
//!
//! The host finds losses and decides when recovery begins and ends; a [`Style`] says how large the
//! window is meanwhile. It holds no state.

use crate::controller::Conn;

/// A loss-recovery procedure: when the host leaves recovery, and the window arithmetic in it.
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

/// Window arithmetic. All values are bytes.
impl Style {
    /// Every style with its name in scenarios.
    pub const ALL: [(&'static str, Style); 3] =
        [("tahoe", Style::Tahoe), ("reno", Style::Reno), ("newreno", Style::NewReno)];

    /// Window on entering fast recovery, `ssthresh` being set already: with fast recovery, the
    /// three segments that have left the network are added (RFC 5681 section 3.2 step 3).
    pub fn enter(self, c: &Conn, ssthresh: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            Style::Tahoe => mss,
            Style::Reno | Style::NewReno => ssthresh.saturating_add(3 * mss),
        }
    }

    /// Window after one more duplicate: one segment more has left the network (step 4).
    pub fn duplicate(self, c: &Conn, cwnd: u64) -> u64 {
        match self {
            Style::Tahoe => cwnd,
            Style::Reno | Style::NewReno => cwnd.saturating_add(u64::from(c.mss)),
        }
    }

    /// Window after a partial acknowledgement of `acked` bytes. RFC 6582 section 3.2 step 3 takes
    /// off what was acknowledged and, if that was at least a segment, adds one for the
    /// retransmission; in the other styles recovery is over by then.
    pub fn partial(self, c: &Conn, cwnd: u64, acked: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            Style::Tahoe | Style::Reno => cwnd,
            Style::NewReno => {
                let add = if acked >= mss { mss } else { 0 };
                cwnd.saturating_sub(acked).saturating_add(add).max(mss)
            }
        }
    }

    /// Window when fast recovery ends: Reno deflates (RFC 5681 section 3.2 step 6), NewReno without
    /// a burst, by `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2 step 3).
    pub fn exit(self, c: &Conn, ssthresh: u64) -> u64 {
        let mss = u64::from(c.mss);
        match self {
            Style::Tahoe => mss,
            Style::Reno => ssthresh,
            Style::NewReno => ssthresh.min(c.in_flight.max(mss).saturating_add(mss)),
        }
    }
}

/// The style that belongs to an algorithm, as a type.
pub trait DefaultStyle: Copy {
    /// The style.
    const STYLE: Style;
}

/// [`Style::Tahoe`] unless the stack says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tahoe;

/// [`Style::Reno`] unless the stack says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reno;

/// [`Style::NewReno`] unless the stack says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NewReno;

impl DefaultStyle for Tahoe {
    const STYLE: Style = Style::Tahoe;
}

impl DefaultStyle for Reno {
    const STYLE: Style = Style::Reno;
}

impl DefaultStyle for NewReno {
    const STYLE: Style = Style::NewReno;
}
