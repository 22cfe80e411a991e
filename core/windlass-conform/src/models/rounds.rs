//! Rounds with their RTTs, in seconds.

use windlass_cc::{Ack, Conn};

/// RTTs of a round that has ended.
#[derive(Clone, Copy)]
pub struct Ended {
    /// Their minimum.
    pub least: f64,
    /// Their mean.
    pub mean: f64,
    /// Their number.
    pub samples: usize,
}

/// A round ends with the first acknowledgement of data sent after it began.
#[derive(Default)]
pub struct Rounds {
    end: u64,
    samples: Vec<f64>,
}

impl Rounds {
    /// The first round of a connection.
    pub fn new(c: &Conn) -> Rounds {
        Rounds { end: c.next_id, samples: Vec::new() }
    }

    /// Takes an acknowledgement's sample. Returns the round if it has ended.
    pub fn take(&mut self, c: &Conn, a: &Ack) -> Option<Ended> {
        if a.rtt.is_known() {
            self.samples.push(a.rtt.0 as f64 * 1e-9);
        }
        if c.una <= self.end {
            return None;
        }
        let samples = self.samples.len();
        let ended = Ended {
            least: self.samples.iter().copied().fold(f64::INFINITY, f64::min),
            mean: self.samples.iter().sum::<f64>() / samples as f64,
            samples,
        };
        *self = Rounds::new(c);
        Some(ended)
    }
}

/// The connection's minimum RTT, seconds.
pub fn base(c: &Conn) -> f64 {
    c.min_rtt.0 as f64 * 1e-9
}

/// Segments in the queue for a cwnd of `w` segments: `w·(rtt - base)/rtt` (Brakmo and Peterson
/// 1995).
pub fn queued(w: f64, base: f64, rtt: f64) -> f64 {
    w * (rtt - base) / rtt
}
