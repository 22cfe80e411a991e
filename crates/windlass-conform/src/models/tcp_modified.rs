//! TCP Modified (Hasan and Alisa 2023, section 3): its two lists of steps.

use windlass_cc::{Ack, Conn};

use super::frame::{Cause, Law, Windows};

fn seconds(c: &Conn) -> f64 {
    c.now.0 as f64 * 1e-9
}

/// TCP Modified with the defaults: alpha in bytes, throughput since the last congestion event.
pub struct TcpModified {
    congestion: f64,
    beta: f64,
    /// The values before the last congestion event.
    before: (f64, f64),
    /// Beginning of the throughput measurement: a time and the bytes delivered then.
    start: (f64, u64),
    throughput: f64,
    last_throughput: f64,
    min_rtt: f64,
    max_rtt: f64,
}

impl TcpModified {
    /// A new connection.
    pub fn new(c: &Conn) -> TcpModified {
        let now = seconds(c);
        TcpModified {
            congestion: now,
            beta: 0.67,
            before: (now, 0.67),
            start: (now, c.delivered),
            throughput: 0.0,
            last_throughput: 0.0,
            min_rtt: f64::MAX,
            max_rtt: 0.0,
        }
    }
}

impl Law for TcpModified {
    fn observe(&mut self, c: &Conn, a: &Ack, _w: &mut Windows) {
        let (since, delivered) = self.start;
        self.throughput = (c.delivered - delivered) as f64 / (seconds(c) - since).max(0.001);
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64 * 1e-9;
            self.min_rtt = self.min_rtt.min(rtt);
            self.max_rtt = self.max_rtt.max(rtt);
        }
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, _credit: f64, w: &mut Windows) -> f64 {
        let delta = seconds(c) - self.congestion;
        let mut alpha = 1.0;
        if delta > 1.0 {
            let difference = delta - 1.0;
            alpha = 1.0 + 10.0 * difference + 0.3 * difference * difference;
        }
        alpha = (2.0 * (1.0 - self.beta) * alpha).max(1.0);
        let segment = f64::from(c.mss);
        (segment * segment + w.cwnd * alpha) / w.cwnd
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.before = (self.congestion, self.beta);
        let diff = self.throughput - self.last_throughput;
        if self.last_throughput > 0.0 && diff / self.last_throughput <= 0.33 && self.max_rtt > 0.0 {
            self.beta = 1.1 * self.min_rtt / self.max_rtt;
        }
        let now = seconds(c);
        (self.congestion, self.start) = (now, (now, c.delivered));
        (self.last_throughput, self.throughput) = (self.throughput, 0.0);
        (self.min_rtt, self.max_rtt) = (f64::MAX, 0.0);
        (25.0 * f64::from(c.mss)).max(c.flight_size as f64 * self.beta * 1.25)
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        (self.congestion, self.beta) = self.before;
    }

    fn idle(&mut self, _c: &Conn, gap: f64) {
        self.congestion += gap;
        self.start.0 += gap;
        self.before.0 += gap;
    }

    /// Beta to 1/32768, of windows below a megabyte.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 5_000.0
    }
}
