//! Steady-state models of TCP Reno.

use libm::{pow, sqrt};

/// Mathis, Semke, Mahdavi and Ott (1997): segments per second under periodic loss of one segment in `1/p`,
/// `MSS/RTT · √(3/(2·b·p))` with `b` segments per acknowledgement. Valid for small `p` (below 0.01), without
/// timeouts and without another limit on the window.
pub fn mathis(rtt_s: f64, p: f64, b: f64) -> f64 {
    sqrt(3.0 / (2.0 * b * p)) / rtt_s
}

/// Upper bound of the rate with a window of `rwnd_bytes`, in bytes per second: one window per RTT.
pub fn window_bound(rwnd_bytes: f64, rtt_s: f64) -> f64 {
    rwnd_bytes / rtt_s
}

/// Padhye, Firoiu, Towsley and Kurose (1998, 2000): Reno with fast retransmit, timeouts with
/// exponential back-off up to 64·T0, and a limited window.
///
/// The three rates are in segments per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pftk {
    /// Mean round-trip time, seconds.
    pub rtt_s: f64,
    /// First timeout, seconds: T0.
    pub t0_s: f64,
    /// Largest window, segments: `W_m`.
    pub w_max: f64,
    /// Segments per acknowledgement: 2 with delayed acknowledgements.
    pub b: f64,
}

impl Pftk {
    /// Mean window at the end of a round of additive increase without a limit, segments:
    /// `W(p) = (2+b)/(3b) + √(8(1−p)/(3bp) + ((2+b)/(3b))²)`.
    pub fn expected_window(&self, p: f64) -> f64 {
        let c = (2.0 + self.b) / (3.0 * self.b);
        c + sqrt(8.0 * (1.0 - p) / (3.0 * self.b * p) + c * c)
    }

    /// Probability that a timeout detects a loss in a window of `w` segments: `Q(p, w)`.
    pub fn timeout_probability(p: f64, w: f64) -> f64 {
        if w <= 3.0 {
            return 1.0;
        }
        let keep = 1.0 - p;
        let keep3 = keep * keep * keep;
        let q = (1.0 - keep3) * (1.0 + keep3 * (1.0 - pow(keep, w - 3.0))) / (1.0 - pow(keep, w));
        q.min(1.0)
    }

    /// Full model, counting every segment sent: `B(p)`. Returns the window bound if `p` is zero.
    pub fn send_rate(&self, p: f64) -> f64 {
        self.full(p, |w, q, keep| w + q / keep)
    }

    /// Full model, counting delivered segments only: `T(p)`. Returns the window bound if `p` is zero.
    pub fn throughput(&self, p: f64) -> f64 {
        self.full(p, |w, q, _| w / 2.0 + q)
    }

    /// Approximate model, equation 33 of the 2000 paper. Returns the window bound if `p` is zero.
    pub fn approximate(&self, p: f64) -> f64 {
        let bound = self.w_max / self.rtt_s;
        if p <= 0.0 {
            return bound;
        }
        let congestion = self.rtt_s * sqrt(2.0 * self.b * p / 3.0);
        let timeout = self.t0_s * (3.0 * sqrt(3.0 * self.b * p / 8.0)).min(1.0);
        bound.min(1.0 / (congestion + timeout * p * (1.0 + 32.0 * p * p)))
    }

    /// Both regimes of the full model. `sent` returns the segments of a round beyond `(1−p)/p` from the window,
    /// `Q` and `1 − p`.
    fn full(&self, p: f64, sent: impl Fn(f64, f64, f64) -> f64) -> f64 {
        if p <= 0.0 {
            return self.w_max / self.rtt_s;
        }
        let keep = 1.0 - p;
        let unlimited = self.expected_window(p);
        let (w, rounds) = if unlimited < self.w_max {
            (unlimited, self.b / 2.0 * unlimited + 1.0)
        } else {
            (self.w_max, self.b / 8.0 * self.w_max + keep / (p * self.w_max) + 2.0)
        };
        let q = Pftk::timeout_probability(p, w);
        let segments = keep / p + sent(w, q, keep);
        segments / (self.rtt_s * rounds + q * backoff_sum(p) * self.t0_s / keep)
    }
}

/// `G(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶`: consecutive timeouts, doubled up to 64·T0.
fn backoff_sum(p: f64) -> f64 {
    1.0 + p * (1.0 + p * (2.0 + p * (4.0 + p * (8.0 + p * (16.0 + p * 32.0)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENTS: f64 = 1e7 / 1460.0;
    const B2: Pftk = Pftk { rtt_s: 0.04, t0_s: 1.0, w_max: 6.0, b: 2.0 };
    const B1: Pftk = Pftk { b: 1.0, ..B2 };

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    #[test]
    fn worked_example_at_a_loss_rate_of_0_01() {
        near(B2.expected_window(0.01), 12.175, 5e-4);
        near(Pftk::timeout_probability(0.01, 6.0), 0.5222, 5e-5);
        near(SEGMENTS / B2.send_rate(0.01), 86.5, 0.05);
    }

    #[test]
    fn full_model_gives_the_derived_download_times() {
        for (p, b2, b1) in
            [(1e-4, 46.1, 46.05), (1e-3, 49.7, 49.5), (1e-2, 86.5, 84.6), (1e-1, 601.0, 450.0)]
        {
            near(SEGMENTS / B2.send_rate(p), b2, b2 * 2e-3);
            near(SEGMENTS / B1.send_rate(p), b1, b1 * 2e-3);
        }
        near(SEGMENTS / B2.throughput(0.01), 89.0, 0.05);
        near(SEGMENTS / B2.throughput(0.1), 711.0, 0.5);
        near(SEGMENTS / B1.throughput(0.01), 87.0, 0.05);
        near(SEGMENTS / B1.throughput(0.1), 559.0, 0.5);
    }

    #[test]
    fn approximate_model_gives_the_derived_download_times() {
        for (p, t) in [(1e-4, 45.7), (1e-3, 45.7), (1e-2, 49.5), (1e-1, 843.0)] {
            near(SEGMENTS / B2.approximate(p), t, t * 1e-3);
        }
    }

    #[test]
    fn without_loss_every_form_is_the_window_bound() {
        for rate in [B2.send_rate(0.0), B2.throughput(0.0), B2.approximate(0.0)] {
            near(rate, 150.0, 1e-9);
        }
        near(window_bound(8760.0, 0.04), 219_000.0, 1e-9);
        near(B2.throughput(1e-9), 150.0, 1e-3);
    }

    /// At low loss and without a window limit the full model converges to the square-root law.
    #[test]
    fn full_model_tends_to_mathis_when_timeouts_do_not_matter() {
        let free = Pftk { t0_s: 0.0, w_max: 1e9, ..B2 };
        let ratio = free.send_rate(1e-7) / mathis(0.04, 1e-7, 2.0);
        near(ratio, 1.0, 0.01);
        near(mathis(1.0, 1.0, 1.0), 1.2247, 1e-4);
    }

    #[test]
    fn throughput_never_exceeds_the_send_rate_nor_rises_with_loss() {
        for model in [B1, B2] {
            let mut last = f64::INFINITY;
            for step in 1..200 {
                let p = f64::from(step) / 400.0;
                let t = model.throughput(p);
                assert!(t <= model.send_rate(p) && t < last, "p = {p}");
                last = t;
            }
        }
    }
}
