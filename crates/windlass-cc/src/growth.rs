//! Window growth in congestion avoidance, and how far a loss cuts the window.

use crate::controller::{Ack, Conn};

/// Fractional bits with which a window is kept, so that small additions are not lost.
pub const FRACTION_BITS: u32 = 16;

/// Largest window in bytes; below it no arithmetic here can overflow.
pub const MAX_WINDOW: u64 = 1 << 40;

/// The part in which loss-based algorithms differ.
pub trait Growth: Copy {
    /// Plain, shared parameters.
    type Params;

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// What to add to the window in congestion avoidance, in bytes with [`FRACTION_BITS`]
    /// fractional bits; `cwnd` is the window in bytes.
    fn increase(&mut self, p: &Self::Params, c: &Conn, a: &Ack, cwnd: u64) -> u64;

    /// The new `ssthresh` in bytes after a loss.
    fn ssthresh(&mut self, p: &Self::Params, c: &Conn, cwnd: u64) -> u64;

    /// Loss recovery ended: a new epoch of growth begins.
    fn restart(&mut self, _p: &Self::Params, _c: &Conn) {}
}
