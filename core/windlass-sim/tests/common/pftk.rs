//! The full model of Padhye, Firoiu, Towsley and Kurose, *Modeling TCP Reno Performance: A Simple
//! Model and Its Empirical Validation*, IEEE/ACM Transactions on Networking 8(2), 2000.

/// Parameters of the model: a saturated Reno sender on a path.
#[derive(Clone, Copy)]
pub struct Path {
    /// Round-trip time, seconds.
    pub rtt: f64,
    /// First timeout, seconds.
    pub t0: f64,
    /// Segments per acknowledgement.
    pub b: f64,
    /// Maximum window, segments.
    pub window: f64,
}

/// Expected window at a loss without a limit of the window, segments.
fn unlimited_window(p: f64, b: f64) -> f64 {
    let c = (2.0 + b) / (3.0 * b);
    c + (8.0 * (1.0 - p) / (3.0 * b * p) + c * c).sqrt()
}

/// Probability that a loss in a window of `w` segments ends in a timeout.
fn timeout_probability(p: f64, w: f64) -> f64 {
    if w <= 3.0 {
        return 1.0;
    }
    let q = 1.0 - p;
    let numerator = (1.0 - q.powi(3)) * (1.0 + q.powi(3) * (1.0 - q.powf(w - 3.0)));
    (numerator / (1.0 - q.powf(w))).min(1.0)
}

/// Mean duration of the backed-off timeouts in units of the first timeout. The timeout doubles up to six
/// times.
fn backoff(p: f64) -> f64 {
    1.0 + (0..6).map(|i| f64::from(1 << i) * p.powi(i + 1)).sum::<f64>()
}

impl Path {
    /// Seconds between the ends of two losses, and the window at a loss.
    fn cycle(self, p: f64) -> (f64, f64) {
        let Path { rtt, t0, b, window } = self;
        let free = unlimited_window(p, b);
        let w = free.min(window);
        let rounds = if free < window {
            b / 2.0 * free + 1.0
        } else {
            b / 8.0 * window + (1.0 - p) / (p * window) + 2.0
        };
        let timeouts = timeout_probability(p, w) * backoff(p) * t0 / (1.0 - p);
        (rtt * rounds + timeouts, w)
    }

    /// Segments sent per second, with retransmissions.
    pub fn send_rate(self, p: f64) -> f64 {
        let (seconds, w) = self.cycle(p);
        ((1.0 - p) / p + w + timeout_probability(p, w) / (1.0 - p)) / seconds
    }

    /// Segments sent per second if every loss were repaired by fast retransmit. This is the model without
    /// timeouts, an upper bound.
    pub fn send_rate_without_timeouts(self, p: f64) -> f64 {
        let (seconds, w) = Path { t0: 0.0, ..self }.cycle(p);
        ((1.0 - p) / p + w) / seconds
    }

    /// Segments received per second.
    pub fn throughput(self, p: f64) -> f64 {
        let (seconds, w) = self.cycle(p);
        ((1.0 - p) / p + w / 2.0 + timeout_probability(p, w)) / seconds
    }
}
