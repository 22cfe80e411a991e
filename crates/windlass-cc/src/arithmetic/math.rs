//! Integer arithmetic that neither overflows nor panics, and that a kernel's BPF verifier takes.
//!
//! BPF has no 128-bit multiplication, and the standard library's `u64::saturating_mul`,
//! `checked_mul` and `overflowing_mul` compile to one; use [`mul`] and [`mul_div`] instead.
//!
//! What is rarely or slowly done is in functions that are not inlined: wide products, roots, powers.
//! Firmware has each once, and the verifier looks at each once, for any argument
//! (`tests/small-targets/bpf.py`).

use core::num::NonZeroU64;

/// The lower half of 64 bits.
const LOW: u64 = 0xffff_ffff;

/// `a · b`, or `u64::MAX` when it is larger.
#[inline]
pub const fn mul(a: u64, b: u64) -> u64 {
    if are_short(a, b) { a * b } else { mul_long(a, b) }
}

/// `a · b / d` cut to a whole number, or `u64::MAX` when it is larger; `u64::MAX` for `d` zero.
///
/// Exact: the product is kept with 128 bits.
#[inline]
pub const fn mul_div(a: u64, b: u64, d: u64) -> u64 {
    if are_short(a, b) && d != 0 { a * b / d } else { mul_div_long(a, b, d) }
}

/// `a · b / 2^bits` cut to a whole number, or `u64::MAX` when it is larger; `bits` from 1 to 63.
#[inline]
pub const fn mul_shift(a: u64, b: u64, bits: u32) -> u64 {
    let bits = bits & 63;
    if are_short(a, b) { (a * b) >> bits } else { mul_shift_long(a, b, bits) }
}

/// `d` to divide by, one for zero: dividing by it has no panic to reach. The compiler sees that of
/// `d.max(1)` too, but not of `d.clamp(1, ...)` when it compiles for BPF.
#[inline]
pub const fn divisor(d: u64) -> NonZeroU64 {
    match NonZeroU64::new(d) {
        Some(d) => d,
        None => NonZeroU64::MIN,
    }
}

/// Whether a product fits 64 bits since both factors fit 32: the usual case, and all that is
/// inlined.
#[inline]
const fn are_short(a: u64, b: u64) -> bool {
    (a | b) <= LOW
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
    if d == 0 {
        return u64::MAX;
    }
    match product(a, b) {
        (0, low) => low / d,
        (high, _) if high >= d => u64::MAX,
        (high, low) => divide(high, low, d),
    }
}

#[inline(never)]
const fn mul_shift_long(a: u64, b: u64, bits: u32) -> u64 {
    match product(a, b) {
        (0, low) => low >> bits,
        (high, low) if high >> bits == 0 => (high << (64 - bits)) | (low >> bits),
        _ => u64::MAX,
    }
}

/// The high and the low half of `a · b`.
#[inline(never)]
const fn product(a: u64, b: u64) -> (u64, u64) {
    let (ah, al, bh, bl) = (a >> 32, a & LOW, b >> 32, b & LOW);
    let low = al * bl;
    let mid = ah * bl + (low >> 32);
    let mid2 = al * bh + (mid & LOW);
    (ah * bh + (mid >> 32) + (mid2 >> 32), (mid2 << 32) | (low & LOW))
}

/// `(high · 2^64 + low) / d` for `high < d`: Knuth's algorithm D (The Art of Computer Programming,
/// section 4.3.1) with digits of 32 bits, of which the quotient has two.
#[cold]
#[inline(never)]
const fn divide(high: u64, low: u64, d: u64) -> u64 {
    // The divisor's highest bit is made one: then an estimated digit is at most two too large.
    let shift = d.leading_zeros();
    let d = d << shift;
    let high = (high << shift) | ((low >> 1) >> (63 - shift));
    let low = low << shift;
    let (first, rest) = digit(high, low >> 32, d);
    let (second, _) = digit(rest, low & LOW, d);
    (first << 32) | second
}

/// Quotient and remainder of `(high · 2^32 + next) / d` for `high < d`, `next` below 2^32 and the
/// highest bit of `d` one. The quotient is below 2^32.
const fn digit(high: u64, next: u64, d: u64) -> (u64, u64) {
    let (top, bottom) = (divisor(d >> 32), d & LOW);
    // At most 2^32 + 1, one or two too large.
    let mut quotient = high / top.get();
    let mut rest = high % top.get();
    if quotient > LOW || quotient * bottom > ((rest << 32) | next) {
        quotient -= 1;
        rest += top.get();
        // With a larger rest the estimate is certain.
        if rest <= LOW && (quotient > LOW || quotient * bottom > ((rest << 32) | next)) {
            quotient -= 1;
        }
    }
    // The quotient being right, what overflows cancels out.
    let rest = ((high << 32) | next).wrapping_sub(quotient.wrapping_mul(d));
    (quotient, rest)
}

/// All ones when `a >= b`, else zero, for numbers below 2^63: a choice without a branch. A verifier
/// follows both sides of a branch, and a processor guesses those of a root wrong half the time.
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
    let (mut root, mut square, mut rest) = (0u64, 0u64, 0u64);
    let mut group = x >> 63;
    x <<= 1;
    let mut i = 0;
    while i < 22 {
        rest = (rest << 3) | group;
        group = x >> 61;
        x <<= 3;
        // With r = 2·root: (r + 1)³ - r³ = 3·r² + 3·r + 1, and (r + 1)² - r² = 2·r + 1.
        square <<= 2;
        root <<= 1;
        let step = 3 * (square + root) + 1;
        let taken = reaches(rest, step);
        rest -= step & taken;
        square += (2 * root + 1) & taken;
        root += 1 & taken;
        i += 1;
    }
    root
}

/// The binary logarithm of `x` with 16 fractional bits; zero for zero.
///
/// Never above the true value, and below it by less than 1.01/65536.
#[inline(never)]
pub const fn log2_q16(x: u64) -> u32 {
    if x == 0 {
        return 0;
    }
    let zeros = x.leading_zeros();
    let mut log = 63 - zeros;
    // In [1, 2) with 31 fractional bits. Squaring doubles its logarithm, whose whole part is the
    // next bit; what is cut off in 16 rounds stays below 2^-14 of the last bit.
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

/// Two to the power of `x`, both with 16 fractional bits; `u64::MAX` from 2^48 on.
///
/// Within a part in 2^27 and less than 1/65536 of the true value.
#[inline(never)]
pub const fn exp2_q16(x: u32) -> u64 {
    // 2^f for f in [0, 1): a polynomial with f's powers from the sixth down, fitted for the least
    // relative error (2^-28.9) and to be 1 at zero; 31 fractional bits.
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
