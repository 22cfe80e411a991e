//! RFC 5681's additive increase and multiplicative decrease.

use windlass_cc::{Ack, Conn};

use super::frame::{Cause, Law, Windows};

/// Tahoe, Reno and NewReno, which differ in their recovery only.
pub struct Reno;

/// RFC 5681 equation 4.
pub fn half_flight(c: &Conn) -> f64 {
    (c.flight_size as f64 / 2.0).max(2.0 * f64::from(c.mss))
}

impl Law for Reno {
    /// RFC 5681 equation 3, with the stack's credit where that is more than one segment.
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &Windows) -> f64 {
        let mss = f64::from(c.mss);
        mss * credit.max(mss) / w.cwnd
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        half_flight(c)
    }
}
