//! RFC 5681's additive increase and multiplicative decrease.

use windlass_cc::{Ack, Conn};

use super::frame::{Cause, Law, Windows, kept, per_round};

/// Tahoe, Reno and NewReno, which differ in their recovery only.
pub struct Reno;

impl Law for Reno {
    /// RFC 5681 equation 3.
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        per_round(c, credit, w, 1.0)
    }

    /// RFC 5681 equation 4.
    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }
}
