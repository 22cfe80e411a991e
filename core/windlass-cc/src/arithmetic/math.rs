//! Integer arithmetic that neither overflows nor panics, and that a kernel's BPF verifier accepts.
//!
//! BPF has no 128-bit multiplication. The standard library's `u64::saturating_mul`, `checked_mul` and
//! `overflowing_mul` compile to such a multiplication, so use [`mul`] and [`mul_div`] instead.
//!
//! Rare or slow operations are in functions that are not inlined: wide products, roots, powers.
//! Firmware contains each once, and the verifier checks each once, for any argument
//! (`tests/small-targets/bpf.py`).

use core::num::NonZeroU64;

/// The lower half of 64 bits.
const LOW: u64 = 0xffff_ffff;

/// True if the processor multiplies 32 bits into 32 and has no division: ARMv6-M, such as a Cortex-M0.
/// The test uses the missing compare-and-swap of this architecture. The compiler's replacements for the
/// instructions accept any two 64-bit numbers; the functions here are shorter, and take less than half
/// of the flash.
const SMALL: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// `a · b`, or `u64::MAX` if it is larger.
#[inline]
pub const fn mul(a: u64, b: u64) -> u64 {
    if are_short(a, b) { short_product(a, b) } else { mul_long(a, b) }
}

/// `a · b / d` cut to a whole number, or `u64::MAX` if it is larger; `u64::MAX` for `d` zero.
///
/// Exact: the product is kept with 128 bits.
#[inline]
pub const fn mul_div(a: u64, b: u64, d: u64) -> u64 {
    match NonZeroU64::new(d) {
        Some(d) if are_short(a, b) => div(short_product(a, b), d),
        _ => mul_div_long(a, b, d),
    }
}

/// `a · b / 2^bits` cut to a whole number, or `u64::MAX` if it is larger; `bits` from 1 to 31.
#[inline]
pub const fn mul_shift(a: u64, b: u64, bits: u32) -> u64 {
    let bits = bits & 31;
    if are_short(a, b) { short_product(a, b) >> bits } else { mul_shift_long(a, b, bits) }
}

/// The divisor `d`, or one for zero, so that a division has no panic. The compiler removes the panic
/// for `d.max(1)` too, but not for `d.clamp(1, ...)` when it compiles for BPF.
#[inline]
pub const fn divisor(d: u64) -> NonZeroU64 {
    match NonZeroU64::new(d) {
        Some(d) => d,
        None => NonZeroU64::MIN,
    }
}

/// `n / d`, cut to a whole number.
#[inline]
pub const fn div(n: u64, d: NonZeroU64) -> u64 {
    if SMALL { by_bits::divide(0, n, d.get()) } else { n / d.get() }
}

/// `a - b`, or zero if that is negative, for numbers below 2^63. With 32-bit registers it takes less
/// than half of the instructions of `saturating_sub`.
#[inline]
pub const fn excess(a: u64, b: u64) -> u64 {
    let difference = a.wrapping_sub(b);
    difference & !(((difference as i64) >> 63) as u64)
}

/// True if both factors fit 32 bits, so that the product fits 64 bits. This is the usual case, and the
/// only inlined one.
#[inline]
const fn are_short(a: u64, b: u64) -> bool {
    (a | b) <= LOW
}

/// The product of two numbers below 2^32.
#[inline]
const fn short_product(a: u64, b: u64) -> u64 {
    if SMALL { by_bits::multiply(a as u32, b as u32) } else { a * b }
}

#[inline(never)]
const fn mul_long(a: u64, b: u64) -> u64 {
    match product(a, b) {
        (0, low) => low,
        _ => u64::MAX,
    }
}

#[inline(never)]
const fn mul_div_long(a: u64, b: u64, d: u64) -> u64 {
    match product(a, b) {
        (high, _) if high >= d => u64::MAX,
        (high, low) if SMALL => by_bits::divide(high, low, d),
        (0, low) => low / d,
        (high, low) => divide(high, low, d),
    }
}

#[inline(never)]
const fn mul_shift_long(a: u64, b: u64, bits: u32) -> u64 {
    let (high, low) = product(a, b);
    if high >> 32 != 0 || (high as u32) >> (bits & 31) != 0 {
        return u64::MAX;
    }
    // In words, without a 64-bit shift by a variable number.
    let upper = funnel(high as u32, (low >> 32) as u32, bits);
    ((upper as u64) << 32) | funnel((low >> 32) as u32, low as u32, bits) as u64
}

/// The low word of two words shifted right by `bits`, from 1 to 31.
const fn funnel(high: u32, low: u32, bits: u32) -> u32 {
    (high << ((32 - bits) & 31)) | (low >> (bits & 31))
}

/// The high and the low half of `a · b`.
#[inline(never)]
const fn product(a: u64, b: u64) -> (u64, u64) {
    let (ah, al, bh, bl) = (a >> 32, a & LOW, b >> 32, b & LOW);
    let low = short_product(al, bl);
    let mid = short_product(ah, bl) + (low >> 32);
    let mid2 = short_product(al, bh) + (mid & LOW);
    (short_product(ah, bh) + (mid >> 32) + (mid2 >> 32), (mid2 << 32) | (low & LOW))
}

/// `(high · 2^64 + low) / d` for `high < d`: Knuth's algorithm D (The Art of Computer Programming,
/// section 4.3.1) with digits of 32 bits. The quotient has two digits.
#[cold]
#[inline(never)]
const fn divide(high: u64, low: u64, d: u64) -> u64 {
    // Shifted until the highest bit of the divisor is one: then an estimated digit is at most two too
    // large.
    let shift = d.leading_zeros();
    let d = d << shift;
    let high = (high << shift) | ((low >> 1) >> (63 - shift));
    let low = low << shift;
    let (first, rest) = digit(high, low >> 32, d);
    let (second, _) = digit(rest, low & LOW, d);
    (first << 32) | second
}

/// Quotient and remainder of `(high · 2^32 + next) / d` for `high < d`, `next` below 2^32 and the
/// highest bit of `d` set. The quotient is below 2^32.
const fn digit(high: u64, next: u64, d: u64) -> (u64, u64) {
    let (top, bottom) = (divisor(d >> 32), d & LOW);
    // At most 2^32 + 1, and at most two too large.
    let mut quotient = high / top.get();
    let mut rest = high % top.get();
    if quotient > LOW || quotient * bottom > ((rest << 32) | next) {
        quotient -= 1;
        rest += top.get();
        // With a larger rest the estimate is exact.
        if rest <= LOW && (quotient > LOW || quotient * bottom > ((rest << 32) | next)) {
            quotient -= 1;
        }
    }
    // The quotient is exact, so the overflows cancel out.
    let rest = ((high << 32) | next).wrapping_sub(quotient.wrapping_mul(d));
    (quotient, rest)
}

/// All ones if `a >= b`, otherwise zero, for numbers below 2^63: a choice without a branch. A verifier
/// follows both sides of a branch, and a processor mispredicts half of the branches of a root.
#[inline]
const fn reaches(a: u64, b: u64) -> u64 {
    ((b.wrapping_sub(1).wrapping_sub(a)) as i64 >> 63) as u64
}

/// The square root of `x`, cut to a whole number. Exact.
#[inline(never)]
pub const fn sqrt(mut x: u64) -> u64 {
    let (mut root, mut rest) = (0u64, 0u64);
    let mut i = 0;
    while i < 32 {
        // The next two bits of x.
        rest = (rest << 2) | (x >> 62);
        x <<= 2;
        // (2·root + 1)² - (2·root)²
        let step = (root << 2) + 1;
        let taken = reaches(rest, step);
        rest -= step & taken;
        root = (root << 1) + (1 & taken);
        i += 1;
    }
    root
}

/// The cube root of `x`, cut to a whole number. Exact.
///
/// For a result with `n` fractional bits, shift `x` left by `3·n`.
#[inline(never)]
pub const fn cbrt(mut x: u64) -> u64 {
    // 66 bits are 22 groups of three, the first of which has one bit.
    // The last is three times the square of the root, which has 22 bits.
    let (mut root, mut rest, mut thrice) = (0u32, 0u64, 0u64);
    let mut group = x >> 63;
    x <<= 1;
    let mut i = 0;
    while i < 22 {
        rest = (rest << 3) | group;
        group = x >> 61;
        x <<= 3;
        // With r = 2·root: (r + 1)³ - r³ = 3·r² + 3·r + 1, and 3·(r + 1)² - 3·r² = 6·r + 3.
        thrice <<= 2;
        root <<= 1;
        let step = thrice + (3 * root + 1) as u64;
        let taken = reaches(rest, step);
        rest -= step & taken;
        thrice += (6 * root + 3) as u64 & taken;
        root += 1 & taken as u32;
        i += 1;
    }
    root as u64
}

/// The binary logarithm of `x` with 16 fractional bits; zero for `x` zero.
///
/// The result is never above the true value, and less than 1.01/65536 below it.
#[inline(never)]
pub const fn log2_q16(x: u64) -> u32 {
    if x == 0 {
        return 0;
    }
    let zeros = x.leading_zeros();
    let mut log = 63 - zeros;
    // The mantissa is in [1, 2) with 31 fractional bits. Squaring doubles its logarithm, and the whole
    // part of the logarithm is the next bit. The error of 16 rounds stays below 2^-14 of the last bit.
    let mut mantissa = (x << zeros) >> 32;
    let mut i = 0;
    while i < 16 {
        mantissa = (mantissa * mantissa) >> 31;
        let carry = mantissa >> 32;
        mantissa >>= carry;
        log = (log << 1) | carry as u32;
        i += 1;
    }
    log
}

/// Two to the power of `x`, both with 16 fractional bits; `u64::MAX` from 2^48 up.
///
/// The error is at most 2^-27 of the true value plus 1/65536.
#[inline(never)]
pub const fn exp2_q16(x: u32) -> u64 {
    // 2^f for f in [0, 1): a polynomial with the powers of f from the sixth down and 31 fractional
    // bits. It is fitted for the minimum relative error (2^-28.9), and is 1 at zero.
    const TERMS: [u64; 6] =
        [464_134, 2_677_450, 20_777_874, 119_153_733, 515_888_505, 1_488_521_944];
    let f = x as u64 & 0xffff;
    let [sixth, fifth, fourth, third, second, first] = TERMS;
    let mut sum = sixth;
    sum = fifth + ((sum * f) >> 16);
    sum = fourth + ((sum * f) >> 16);
    sum = third + ((sum * f) >> 16);
    sum = second + ((sum * f) >> 16);
    sum = first + ((sum * f) >> 16);
    let mantissa = (1 << 31) + ((sum * f) >> 16);
    match x >> 16 {
        whole @ 0..=14 => mantissa >> (15 - whole),
        whole @ 15..=47 => mantissa << (whole - 15),
        _ => u64::MAX,
    }
}

/// Arithmetic for a processor that has neither a wide multiplication nor a division.
mod by_bits {
    /// `a · b`, by halves of 16 bits.
    #[inline(never)]
    pub const fn multiply(a: u32, b: u32) -> u64 {
        let (ah, al, bh, bl) = (a >> 16, a & 0xffff, b >> 16, b & 0xffff);
        let (mid, carry) = (ah * bl).overflowing_add(al * bh);
        let (low, more) = (al * bl).overflowing_add(mid << 16);
        let high = ah * bh + (mid >> 16) + ((carry as u32) << 16) + more as u32;
        ((high as u64) << 32) | low as u64
    }

    /// `(high · 2^64 + low) / d` for `high < d`.
    #[inline(never)]
    pub const fn divide(high: u64, low: u64, d: u64) -> u64 {
        if d >> 31 == 0 {
            return divide_words(high as u32, low, d as u32);
        }
        if high == 0 && low >> 32 < d {
            return divide_bits(low >> 32, low << 32, d, 32);
        }
        divide_bits(high, low, d, 64)
    }

    /// Divides like [`divide`], one bit of the quotient at a time. `left` is the number of bits of the
    /// quotient, and of the bits of `low` that belong to the dividend.
    #[inline(never)]
    const fn divide_bits(mut rest: u64, mut low: u64, d: u64, mut left: u32) -> u64 {
        while left > 0 {
            let mut over = rest >> 63 != 0;
            rest = (rest << 1) | (low >> 63);
            low <<= 1;
            while over || rest >= d {
                rest = rest.wrapping_sub(d);
                low += 1;
                over = false;
            }
            left -= 1;
        }
        low
    }

    /// Divides like [`divide`] for `d` below 2^31, one word of the quotient at a time.
    const fn divide_words(mut rest: u32, mut low: u64, d: u32) -> u64 {
        let mut left = 2;
        while left > 0 {
            let word = (low >> 32) as u32;
            let (quotient, more) = match rest == 0 && word < d {
                true => (0, word),
                false => divide_word(rest, word, d),
            };
            low = (low << 32) | quotient as u64;
            rest = more;
            left -= 1;
        }
        low
    }

    /// Quotient and remainder of `(rest · 2^32 + low) / d` for `rest < d < 2^31`, by four digits of
    /// eight bits. Each digit is estimated by the divisor's reciprocal and is at most one too small, so
    /// that the remainder fits a word.
    const fn divide_word(rest: u32, low: u32, d: u32) -> (u32, u32) {
        let (mut d, mut shift) = (d, 0);
        while d >> 23 == 0 {
            d <<= 8;
            shift += 8;
        }
        while d >> 30 == 0 {
            d <<= 1;
            shift += 1;
        }
        let reciprocal = reciprocal((d >> 15) + 1);
        let mut rest = (rest << shift) | (low >> 1 >> (31 - shift));
        let mut low = low << shift;
        let mut left = 4;
        while left > 0 {
            let digit = ((rest >> 15) * reciprocal) >> 23;
            // Overflows cancel out.
            rest = ((rest << 8) | (low >> 24)).wrapping_sub(digit.wrapping_mul(d));
            low = (low << 8) | digit;
            // A loop, because the compiler would duplicate a condition.
            while rest >= d {
                rest -= d;
                low += 1;
            }
            left -= 1;
        }
        (low, rest >> shift)
    }

    /// A reciprocal of at most `2^31 / d`, with an error below 1/280, for `d` above 2^15 and at most
    /// 2^16. It is a linear estimate and one of Newton's steps, which approach from below.
    const fn reciprocal(d: u32) -> u32 {
        // 48/17 - 32/17·x for x = d / 2^16, 15 fractional bits, with an error of at most 1/17.
        let y = 92_521 - ((d * 61_681) >> 16);
        // y·(2 - x·y)
        (y * ((1 << 17) - 1 - ((d * y) >> 15))) >> 16
    }

    #[cfg(test)]
    mod tests {
        use super::{divide, multiply, reciprocal};

        /// Marsaglia's xorshift.
        fn draw(state: &mut u64) -> u64 {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *state
        }

        #[test]
        fn reciprocals_are_never_too_large_and_hardly_too_small() {
            for d in (1 << 15) + 1..=1 << 16 {
                let (exact, found) = ((1 << 31) / d, reciprocal(d));
                assert!(found <= exact, "{found} for {d}, and not {exact}");
                assert!((exact - found) * 280 < exact, "{found} for {d}, and not {exact}");
            }
        }

        #[test]
        fn products_and_quotients_agree_with_the_processor() {
            let mut state = 1;
            for _ in 0..200_000 {
                let mut any = || draw(&mut state) >> (draw(&mut state) & 63);
                let (a, b, d) = (any(), any(), any().max(1));
                assert_eq!(multiply(a as u32, b as u32), (a & 0xffff_ffff) * (b & 0xffff_ffff));
                assert_eq!(divide(0, a, d), a / d, "{a} / {d}");
                let wide = u128::from(b % d) << 64 | u128::from(a);
                assert_eq!(divide(b % d, a, d), (wide / u128::from(d)) as u64, "{wide} / {d}");
            }
            for (a, b) in [(u32::MAX, u32::MAX), (0, u32::MAX), (0x1_0000, 0x1_0000)] {
                assert_eq!(multiply(a, b), u64::from(a) * u64::from(b));
            }
        }
    }
}
