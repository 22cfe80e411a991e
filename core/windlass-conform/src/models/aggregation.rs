//! Acknowledgement aggregation as in Linux's BBR version 1: the bytes acknowledged in an epoch beyond
//! the bandwidth, and their maximum over five to ten rounds.

/// Rounds after which the older half of the window is forgotten.
const HALF_WINDOW: u32 = 5;

/// The measurement; bytes and nanoseconds.
pub struct Aggregation {
    epoch: f64,
    acked: f64,
    /// Maxima of this half of the window and of the previous half.
    maxima: (f64, f64),
    rounds: u32,
}

impl Aggregation {
    /// A measurement without samples.
    pub fn new(now: f64) -> Aggregation {
        Aggregation { epoch: now, acked: 0.0, maxima: (0.0, 0.0), rounds: 0 }
    }

    /// Begins an epoch.
    pub fn restart(&mut self, now: f64) {
        (self.epoch, self.acked) = (now, 0.0);
    }

    /// Takes `delivered` bytes; `round` is true for the first acknowledgement of a round.
    pub fn take(&mut self, now: f64, delivered: f64, round: bool, bw: f64, cwnd: f64) {
        if round {
            self.rounds += 1;
            if self.rounds >= HALF_WINDOW {
                self.rounds = 0;
                self.maxima = (0.0, self.maxima.0);
            }
        }
        // At exactly the bandwidth an epoch continues, because Linux truncates the expected volume to whole segments.
        if self.acked + 1.0 <= bw * (now - self.epoch) * 1e-9 {
            self.restart(now);
        }
        self.acked += delivered;
        let extra = self.acked - bw * (now - self.epoch) * 1e-9;
        self.maxima.0 = self.maxima.0.max(extra.min(cwnd));
    }

    /// Bytes by which cwnd grows: at most 100 ms of the bandwidth.
    pub fn allowance(&self, bw: f64) -> f64 {
        self.maxima.0.max(self.maxima.1).min(0.1 * bw)
    }
}
