//! Rounds and the round-trip times in them, in seconds.

use windlass_cc::{Ack, Conn};

/// Round-trip times of a round that is over.
#[derive(Clone, Copy)]
pub struct Ended {
    /// The least.
    pub least: f64,
    /// Their mean.
    pub mean: f64,
    /// How many.
    pub samples: usize,
}

/// A round ends with the first acknowledgement of data sent after it began.
#[derive(Default)]
pub struct Rounds {
    end: u64,
    samples: Vec<f64>,
}

impl Rounds {
    /// The first of a connection.
    pub fn new(c: &Conn) -> Rounds {
        Rounds { end: c.next_id, samples: Vec::new() }
    }

    /// Takes an acknowledgement's sample; what the round was if it is over, `None` otherwise.
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

/// The connection's least round-trip time, seconds.
pub fn base(c: &Conn) -> f64 {
    c.min_rtt.0 as f64 * 1e-9
}

/// Segments queued by a window of so many: `w·(rtt - base)/rtt` (Brakmo and Peterson 1995).
pub fn queued(w: f64, base: f64, rtt: f64) -> f64 {
    w * (rtt - base) / rtt
}
