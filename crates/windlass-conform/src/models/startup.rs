//! How algorithms that pace by a model of the path begin, on a path that they do not fill: until
//! then their equations are plain. BBR (Cardwell et al. 2016; Linux), BBRv3 (draft-ietf-ccwg-bbr
//! section 5.3.1) and Copa (Arun and Balakrishnan 2018, section 2.2).

use windlass_cc::{Conn, Event, RateSample};

use super::Model;

/// The window grows by what is delivered; the rate is as the law says.
pub struct Startup {
    /// Bytes.
    cwnd: f64,
    law: Law,
    /// Bytes per second.
    pacing: Option<f64>,
    /// Largest delivery rate so far: a start is shorter than any filter's window.
    bandwidth: f64,
    seen_rtt: bool,
}

/// What the pacing rate follows.
#[derive(Clone, Copy)]
pub enum Law {
    /// A gain on the largest delivery rate, with 1 % margin; first on the initial window per round
    /// trip (1 ms before one is known), with the margin or without; never falling.
    Bandwidth {
        /// Pacing gain.
        gain: f64,
        /// Share of the first rate that is paced at.
        first: f64,
    },
    /// Twice the window per standing round-trip time, which on such a path is the least.
    Standing,
}

impl Startup {
    /// A new connection.
    pub fn new(cwnd: f64, law: Law) -> Startup {
        let pacing = match law {
            Law::Bandwidth { gain, first } => Some(first * gain * cwnd / 1e-3),
            Law::Standing => None,
        };
        Startup { cwnd, law, pacing, bandwidth: 0.0, seen_rtt: false }
    }

    fn pace(&mut self, c: &Conn, rate: &RateSample) {
        let Law::Bandwidth { gain, first } = self.law else { return };
        if rate.is_valid() {
            let sample = rate.delivered as f64 / (rate.interval.0 as f64 * 1e-9);
            self.bandwidth = self.bandwidth.max(sample);
        }
        if !self.seen_rtt && c.srtt.is_known() {
            self.seen_rtt = true;
            self.pacing = Some(first * gain * self.cwnd / (c.srtt.0 as f64 * 1e-9));
        }
        let now = 0.99 * gain * self.bandwidth;
        self.pacing = self.pacing.map(|rate| rate.max(now));
    }
}

impl Model for Startup {
    fn apply(&mut self, c: &Conn, e: &Event) {
        let Event::Ack(a) = e else { return };
        self.pace(c, &a.rate);
        self.cwnd += a.delivered as f64;
        if let Law::Standing = self.law {
            self.pacing = Some(2.0 * self.cwnd / (c.min_rtt.0 as f64 * 1e-9));
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.cwnd, f64::INFINITY)
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing
    }

    fn tolerance(&self) -> f64 {
        1.0
    }
}
