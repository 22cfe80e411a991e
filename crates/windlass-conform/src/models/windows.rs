//! What every model with a window works on.

use windlass_cc::Conn;

/// Window and threshold, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

impl Windows {
    /// The window comes down for another reason than a loss, and slow start with it.
    pub fn shrink(&mut self, c: &Conn, cwnd: f64) {
        let cwnd = cwnd.max(f64::from(c.mss));
        if cwnd < self.cwnd {
            self.cwnd = cwnd;
            self.ssthresh = self.ssthresh.min(cwnd);
        }
    }

    /// The window in segments.
    pub fn segments(&self, c: &Conn) -> f64 {
        self.cwnd / f64::from(c.mss)
    }
}
