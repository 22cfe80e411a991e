//! Roots, logarithms and powers of the integer arithmetic compared with their stated precision, over
//! the whole range of their arguments.

use proptest::prelude::*;
use windlass_cc::math::{cbrt, exp2_q16, log2_q16, sqrt};

/// Numbers of every magnitude with equal frequency.
fn any_magnitude() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32).prop_map(|(x, shift)| x >> shift)
}

/// The smaller of two neighbouring numbers whose powers enclose `x` is its root.
fn assert_root(root: u64, power: u32, x: u64) {
    let (root, x) = (u128::from(root), u128::from(x));
    assert!(root.pow(power) <= x && x < (root + 1).pow(power), "{root} of {x}");
}

/// `2^48` and above do not fit 16 fractional bits.
const LARGEST_EXPONENT: u32 = (48 << 16) - 1;

fn assert_logarithm(x: u64) {
    // The f64 of x has a relative error of at most 2^-53, which is negligible compared with the bound.
    let (ours, true_value) = (f64::from(log2_q16(x)), (x as f64).log2() * 65_536.0);
    assert!(ours <= true_value + 1e-6 && true_value - ours < 1.01, "log2 {x}: {ours} {true_value}");
}

fn assert_power(x: u32) {
    let (ours, true_value) = (exp2_q16(x) as f64, (f64::from(x) / 65_536.0 + 16.0).exp2());
    let bound = true_value * (-27f64).exp2() + 1.0;
    assert!((ours - true_value).abs() < bound, "exp2 {x}: {ours} {true_value}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn roots_are_exact(x in any_magnitude()) {
        assert_root(sqrt(x), 2, x);
        assert_root(cbrt(x), 3, x);
    }

    #[test]
    fn logarithms_keep_their_precision(x in any_magnitude()) {
        if x > 0 {
            assert_logarithm(x);
        }
    }

    #[test]
    fn powers_keep_their_precision(x in 0..=LARGEST_EXPONENT) {
        assert_power(x);
    }
}

#[test]
fn roots_are_exact_next_to_every_power_and_at_the_ends() {
    for root in 0..=100_000u64 {
        for x in [(root * root).saturating_sub(1), root * root, root * root + 1] {
            assert_root(sqrt(x), 2, x);
        }
    }
    for root in (0..=2_642_245u64).step_by(17).chain([2_642_244, 2_642_245]) {
        let cube = root * root * root;
        for x in [cube.saturating_sub(1), cube, cube + 1] {
            assert_root(cbrt(x), 3, x);
        }
    }
    for x in [u64::MAX - 1, u64::MAX, 1 << 63, (1 << 63) - 1, (1 << 32) * ((1 << 32) - 2) + 1] {
        assert_root(sqrt(x), 2, x);
        assert_root(cbrt(x), 3, x);
    }
}

#[test]
fn logarithms_of_powers_of_two_are_exact_and_those_next_to_them_precise() {
    assert_eq!(log2_q16(0), 0);
    for exponent in 0..64 {
        assert_eq!(log2_q16(1 << exponent), exponent << 16);
        assert_logarithm((1u64 << exponent) + 1);
        assert_logarithm((1u64 << exponent) - u64::from(exponent > 0));
    }
    assert_logarithm(u64::MAX);
    (1..200_000).for_each(assert_logarithm);
}

#[test]
fn powers_are_precise_for_every_fraction_and_never_fall() {
    for whole in [0u32, 1, 14, 15, 16, 46, 47] {
        let mut last = 0;
        for fraction in 0..=0xffff {
            let x = (whole << 16) + fraction;
            assert_power(x);
            assert!(exp2_q16(x) >= last, "{x}");
            last = exp2_q16(x);
        }
    }
    assert_eq!(exp2_q16(LARGEST_EXPONENT + 1), u64::MAX);
    assert_eq!(exp2_q16(u32::MAX), u64::MAX);
    (0..48).for_each(|whole| assert_eq!(exp2_q16(whole << 16), 1 << (16 + whole)));
}
