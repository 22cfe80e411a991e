//! Products and their quotients compared with 128-bit arithmetic, over the whole range of their
//! arguments.

use proptest::prelude::*;
use windlass_cc::math::{mul, mul_div};

/// Numbers of every magnitude with equal frequency, and numbers next to powers of two, whose digits are
/// full or empty.
fn any_magnitude() -> impl Strategy<Value = u64> {
    prop_oneof![
        (any::<u64>(), 0..64u32).prop_map(|(x, shift)| x >> shift),
        (0..64u32, 0..3u64)
            .prop_map(|(power, more)| (1u64 << power).wrapping_add(more).wrapping_sub(1)),
    ]
}

fn cut(x: u128) -> u64 {
    u64::try_from(x).unwrap_or(u64::MAX)
}

fn assert_exact(a: u64, b: u64, d: u64) {
    let product = u128::from(a) * u128::from(b);
    assert_eq!(mul(a, b), cut(product), "{a} · {b}");
    let quotient = product.checked_div(u128::from(d)).map_or(u64::MAX, cut);
    assert_eq!(mul_div(a, b, d), quotient, "{a} · {b} / {d}");
}

/// Marsaglia's xorshift, fast enough for millions of numbers.
struct Draws(u64);

impl Draws {
    fn any(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number of any magnitude; in one of eight its lower half is empty or full.
    fn number(&mut self) -> u64 {
        let (x, how) = (self.any(), self.any());
        let x = match how & 15 {
            0 => x & !0xffff_ffff,
            1 => x | 0xffff_ffff,
            _ => x,
        };
        x >> ((how >> 8) & 63)
    }

    fn check(&mut self, triples: u32) {
        for _ in 0..triples {
            let (a, b) = (self.number(), self.number());
            // Above the high half of the product, so that the quotient fits, and any other divisor as
            // well.
            let high = ((u128::from(a) * u128::from(b)) >> 64) as u64;
            let d = self.number();
            assert_exact(a, b, d);
            assert_exact(a, b, high.saturating_add(d >> (self.any() & 63)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn products_and_quotients_are_exact(
        a in any_magnitude(), b in any_magnitude(), d in any_magnitude(),
    ) {
        assert_exact(a, b, d);
    }
}

#[test]
fn quotients_that_fit_are_exact() {
    Draws(1).check(50_000);
}

#[test]
#[ignore = "ten million triples"]
fn ten_million_quotients_are_exact() {
    Draws(2).check(10_000_000);
}

#[test]
fn quotients_of_full_and_empty_digits_are_exact() {
    const LOW: u64 = 0xffff_ffff;
    const TOP: u64 = 1 << 63;
    let digits = [
        0,
        1,
        2,
        3,
        LOW - 1,
        LOW,
        LOW + 1,
        LOW + 2,
        LOW << 32,
        (LOW << 32) | 1,
        (LOW << 32) | (LOW - 1),
        (LOW - 1) << 32,
        TOP - 1,
        TOP,
        TOP + 1,
        TOP | LOW,
        (TOP | LOW) - 1,
        (1 << 62) - 1,
        1 << 62,
        u64::MAX - 1,
        u64::MAX,
    ];
    for a in digits {
        for b in digits {
            for d in digits {
                assert_exact(a, b, d);
                // The remainder is one less than the divisor, or zero.
                assert_exact(a.saturating_sub(1), d, a);
                assert_exact(a, d, a);
            }
        }
    }
}

/// Knuth's exercises 4.3.1-20 and 21: the first estimate of a digit is one too large, and two.
#[test]
fn an_estimate_that_is_too_large_is_corrected() {
    const B: u64 = 1 << 32;
    // (B/2)·B^2 / ((B/2)·B + (B - 1)): both digits' estimates are B, two too large.
    for (a, b, d) in [
        (B / 2 * B, B, (B / 2 * B) + (B - 1)),
        (B / 2 * B, B - 1, (B / 2 * B) + (B - 1)),
        ((B / 2 * B) + (B - 2), u64::MAX, (B / 2 * B) + (B - 1)),
        (u64::MAX - 1, u64::MAX - 1, u64::MAX),
        (u64::MAX - B, u64::MAX, u64::MAX - B + 1),
    ] {
        assert_exact(a, b, d);
    }
}

#[test]
fn a_result_that_does_not_fit_is_the_maximum() {
    assert_eq!(mul(1 << 32, 1 << 32), u64::MAX);
    assert_eq!(mul_div(u64::MAX, u64::MAX, u64::MAX - 1), u64::MAX);
    assert_eq!(mul_div(5, 7, 0), u64::MAX);
    assert_eq!(mul_div(u64::MAX, u64::MAX, u64::MAX), u64::MAX);
}
