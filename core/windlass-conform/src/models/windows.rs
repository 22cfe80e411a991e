//! The state of every model with a cwnd.

use windlass_cc::Conn;

/// cwnd and ssthresh, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

impl Windows {
    /// Reduces cwnd for another reason than a loss, which also ends slow start.
    pub fn shrink(&mut self, c: &Conn, cwnd: f64) {
        let cwnd = cwnd.max(f64::from(c.mss));
        if cwnd < self.cwnd {
            self.cwnd = cwnd;
            self.ssthresh = self.ssthresh.min(cwnd);
        }
    }

    /// cwnd in segments.
    pub fn segments(&self, c: &Conn) -> f64 {
        self.cwnd / f64::from(c.mss)
    }
}
