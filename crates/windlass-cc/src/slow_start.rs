//! Slow start: how fast the window opens below `ssthresh`, and when it stops.

use crate::controller::{Ack, Conn};

/// A slow-start module. It combines with any window growth.
pub trait SlowStart: Copy {
    /// State of a new connection.
    fn init(c: &Conn) -> Self;

    /// Bytes to add to the window for this acknowledgement (never a duplicate).
    fn increase(&mut self, c: &Conn, a: &Ack) -> u64;

    /// Whether slow start should end although the window is still below `ssthresh`.
    fn exit(&self) -> bool {
        false
    }

    /// A timeout: slow start begins again.
    fn restart(&mut self, _c: &Conn) {}
}

/// RFC 5681 equation 2: `min(N, SMSS)` for each acknowledgement of `N` new bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standard;

impl SlowStart for Standard {
    fn init(_c: &Conn) -> Standard {
        Standard
    }
    fn increase(&mut self, c: &Conn, a: &Ack) -> u64 {
        a.acked.min(u64::from(c.mss))
    }
}
