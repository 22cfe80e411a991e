//! Bit errors and packet losses.

use libm::{expm1, log1p};

/// Returns the probability that a frame of `bytes` bytes has at least one wrong bit, if bits fail independently
/// with probability `ber`: `1 − (1 − ber)^(8·bytes)`.
pub fn per_exact(ber: f64, bytes: f64) -> f64 {
    -expm1(8.0 * bytes * log1p(-ber))
}

/// First-order approximation `ber · 8·bytes` (Reno-BER equation 3, with the length in bits: RB-1). For long
/// frames it exceeds one and is not a probability.
pub fn per_linear(ber: f64, bytes: f64) -> f64 {
    ber * 8.0 * bytes
}

/// Returns the bit-error rate at which a frame of `bytes` bytes is lost with probability `per`. It is the
/// inverse of [`per_exact`].
pub fn ber_for_per(per: f64, bytes: f64) -> f64 {
    -expm1(log1p(-per) / (8.0 * bytes))
}

/// Returns the number of retransmissions that deliver `n` packets: `n·p/(1 − p)`. Every transmission, also of a
/// retransmission, is lost with probability `p`, and no retransmission is unnecessary.
pub fn expected_retransmissions(n: f64, p: f64) -> f64 {
    n * p / (1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(a: f64, b: f64, tolerance: f64) {
        assert!(((a - b) / b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn exact_packet_error_rates_of_the_papers_frame_lengths() {
        relative(per_exact(1e-3, 1250.0), 0.99995, 1e-5);
        relative(per_exact(1e-3, 1500.0), 0.999_994, 1e-6);
        relative(per_exact(1e-4, 1250.0), 0.6321, 1e-4);
        relative(per_exact(1e-4, 1500.0), 0.6988, 1e-4);
        relative(per_exact(1e-5, 1250.0), 0.0952, 5e-4);
        relative(per_exact(1e-5, 1500.0), 0.1131, 5e-4);
        relative(per_exact(1e-7, 1500.0), 0.001_199_3, 5e-5);
    }

    #[test]
    fn inverse_returns_the_bit_error_rate() {
        relative(ber_for_per(0.01, 1250.0), 1.005e-6, 1e-4);
        relative(ber_for_per(0.01, 1500.0), 8.38e-7, 1e-3);
        relative(ber_for_per(0.1, 1250.0), 1.054e-5, 1e-3);
        for per in [1e-12, 1e-4, 0.1, 0.5, 0.999] {
            relative(per_exact(ber_for_per(per, 1518.0), 1518.0), per, 1e-9);
        }
    }

    #[test]
    fn linear_rate_bounds_the_exact_one_from_above() {
        for ber in [1e-9, 1e-7, 1e-5, 1e-3, 0.1] {
            assert!(per_linear(ber, 1500.0) >= per_exact(ber, 1500.0));
        }
        relative(per_linear(1e-9, 1500.0), per_exact(1e-9, 1500.0), 1e-5);
    }

    #[test]
    fn extremes_of_the_bit_error_rate_are_certain() {
        assert_eq!(per_exact(0.0, 1500.0), 0.0);
        assert_eq!(per_exact(1.0, 1500.0), 1.0);
    }

    #[test]
    fn retransmissions_are_repeated_too() {
        relative(expected_retransmissions(6850.0, 0.1), 761.11, 1e-5);
    }
}
