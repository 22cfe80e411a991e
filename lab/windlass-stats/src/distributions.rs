//! Quantiles and probabilities of Student's, the normal, the beta and the binomial distribution.
//!
//! The logarithms and powers come from `libm`, so that intervals have the same bits on every machine. A library that calls
//! the functions of the platform has others in the last digits.

/// Returns the quantile of Student's distribution with `freedom` degrees of freedom. Returns `None` if `freedom` is not
/// positive and finite, or if `p` is not between 0 and 1.
pub(crate) fn student_quantile(p: f64, freedom: f64) -> Option<f64> {
    if !(freedom > 0.0 && freedom.is_finite() && p > 0.0 && p < 1.0) {
        return None;
    }
    let tail = p.min(1.0 - p);
    let mut high = 1.0;
    while student_tail(high, freedom) > tail && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    let scale = ln_beta(freedom / 2.0, 0.5) + libm::log(freedom) / 2.0;
    let rises = |t: f64| {
        let density = libm::exp(-(freedom + 1.0) / 2.0 * libm::log1p(t * t / freedom) - scale);
        (tail - student_tail(t, freedom), density)
    };
    let t = root([0.0, high], rises);
    Some(if p < 0.5 { -t } else { t })
}

/// Returns the probability that a number of Student's distribution exceeds `t`, which is not negative.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    beta_below(freedom / (freedom + t * t), freedom / 2.0, 0.5) / 2.0
}

/// Returns the quantile of the beta distribution. Returns `None` if `a` or `b` is not positive and finite.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> Option<f64> {
    if !(a > 0.0 && b > 0.0 && (a + b).is_finite()) {
        return None;
    }
    let scale = ln_beta(a, b);
    let rises = |x: f64| {
        let density = libm::exp((a - 1.0) * libm::log(x) + (b - 1.0) * libm::log1p(-x) - scale);
        (beta_below(x, a, b) - p, density)
    };
    Some(root([0.0, 1.0], rises))
}

/// Returns the probability that at most `k` of `n` fair coins show heads.
pub(crate) fn coins(k: u64, n: u64) -> f64 {
    if k >= n {
        return 1.0;
    }
    beta_below(0.5, (n - k) as f64, k as f64 + 1.0)
}

/// Returns the probability that a standard normal number is at most `z`.
pub(crate) fn normal_below(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// Returns the quantile of the standard normal distribution.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let scale = 1.0 / std::f64::consts::TAU.sqrt();
    root([-40.0, 40.0], |z| (normal_below(z) - p, scale * libm::exp(-z * z / 2.0)))
}

/// Returns the zero of a function that rises from the first to the second bound. The function returns its value and its
/// slope. Newton's steps that leave the bounds become bisections.
fn root([mut low, mut high]: [f64; 2], rises: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = (low + high) / 2.0;
    // Bisections alone need fewer steps for every bit of a float.
    for _ in 0..200 {
        let (value, slope) = rises(x);
        if value > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let newton = x - value / slope;
        let usable = slope.is_finite() && (low..=high).contains(&newton);
        let next = if usable { newton } else { (low + high) / 2.0 };
        let close = (next - x).abs() <= 2.0 * f64::EPSILON * x.abs();
        x = next;
        if value == 0.0 || close {
            break;
        }
    }
    x
}

/// The logarithm of the beta function.
fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The regularised incomplete beta function: the probability that a number of the beta distribution is at most `x`.
fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The continued fraction converges fast below the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_small(1.0 - x, b, a);
    }
    beta_small(x, a, b)
}

/// The continued fraction of NIST's Digital Library of Mathematical Functions, equation 8.17.22, by Lentz's method.
fn beta_small(x: f64, a: f64, b: f64) -> f64 {
    let factor = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - ln_beta(a, b)) / a;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut above, mut below, mut fraction) = (f64::INFINITY, 1.0, 1.0);
    for step in 1..MOST_TERMS {
        let m = f64::from(step / 2);
        let term = match step % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        below = 1.0 / away_from_zero(1.0 + term * below);
        above = away_from_zero(1.0 + term / above);
        fraction *= above * below;
        if (above * below - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    factor * fraction
}

/// Replaces a zero in a denominator of a continued fraction.
const TINY: f64 = 1e-300;
/// Maximum number of terms of a continued fraction. It needs about the square root of the larger parameter.
const MOST_TERMS: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF, Normal, StudentsT};

    const LEVELS: [f64; 8] = [1e-4, 0.0125, 0.025, 0.3, 0.4, 0.8, 0.975, 0.9999];
    const SHAPES: [f64; 8] = [0.5, 1.0, 1.5, 3.0, 12.25, 60.0, 700.0, 9_000.0];

    fn close(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance * expected.abs().max(1e-3), "{got} {expected}");
    }

    #[test]
    fn quantiles_have_the_values_of_published_tables() {
        // Student's and the normal distribution: Abramowitz and Stegun, tables 26.10 and 26.5.
        for (freedom, t) in [(1.0, 12.706_204_736), (9.0, 2.262_157_163), (120.0, 1.979_930_405)] {
            close(student_quantile(0.975, freedom).unwrap(), t, 1e-9);
        }
        close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-14);
        close(beta_quantile(0.975, 1.0, 100.0).unwrap(), 1.0 - libm::pow(0.025, 0.01), 1e-12);
    }

    #[test]
    fn distributions_agree_with_statrs() {
        // statrs is inexact in the tails of Student's distribution below one degree of freedom.
        for a in SHAPES.into_iter().skip(1) {
            let student = StudentsT::new(0.0, 1.0, a).unwrap();
            for p in LEVELS {
                close(student_quantile(p, a).unwrap(), student.inverse_cdf(p), 1e-7);
                close(2.0 * student_tail(1.0 / p, a), 2.0 * student.sf(1.0 / p), 1e-9);
                for b in SHAPES {
                    let beta = Beta::new(a, b).unwrap();
                    close(beta.cdf(beta_quantile(p, a, b).unwrap()), p, 1e-7);
                }
            }
        }
        for p in LEVELS {
            close(normal_quantile(p), Normal::standard().inverse_cdf(p), 1e-9);
            close(normal_below(1.0 - 3.0 * p), Normal::standard().cdf(1.0 - 3.0 * p), 1e-9);
        }
        for (k, n) in [(0, 6), (1, 8), (9, 30), (10, 30), (40, 100), (469, 1_000), (7, 7)] {
            close(coins(k, n), Binomial::new(0.5, n).unwrap().cdf(k), 1e-10);
        }
    }

    #[test]
    fn a_quantile_is_the_inverse_of_its_distribution() {
        for a in SHAPES {
            for p in LEVELS {
                let t = student_quantile(p, a).unwrap();
                close(student_tail(t.abs(), a), p.min(1.0 - p), 1e-11);
                for b in SHAPES {
                    let x = beta_quantile(p, a, b).unwrap();
                    // Next to 1 a float has 16 digits, and half as many remain of the distance.
                    close(beta_below(x, a, b), p, 1e-7);
                }
            }
        }
    }

    #[test]
    fn parameters_outside_the_definition_give_none() {
        for (p, freedom) in
            [(0.5, 0.0), (0.5, f64::NAN), (0.5, f64::INFINITY), (0.0, 3.0), (1.0, 3.0)]
        {
            assert_eq!(student_quantile(p, freedom), None);
        }
        assert_eq!(beta_quantile(0.5, 0.0, 1.0), None);
        assert_eq!(beta_quantile(0.5, 1.0, f64::INFINITY), None);
    }
}
