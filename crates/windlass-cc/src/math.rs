//! Integer arithmetic that neither overflows nor panics, and that a kernel's BPF verifier takes.
//!
//! BPF has no 128-bit multiplication, and the standard library's `u64::saturating_mul`,
//! `checked_mul` and `overflowing_mul` compile to one; use [`mul`] and [`mul_div`] instead.

use core::num::NonZeroU64;

/// `a · b`, or `u64::MAX` when it is larger.
#[inline]
pub const fn mul(a: u64, b: u64) -> u64 {
    match product(a, b) {
        (0, low) => low,
        _ => u64::MAX,
    }
}

/// `a · b / d` cut to a whole number, or `u64::MAX` when it is larger; `u64::MAX` for `d` zero.
///
/// Exact: the product is kept with 128 bits.
#[inline]
pub const fn mul_div(a: u64, b: u64, d: u64) -> u64 {
    if d == 0 {
        return u64::MAX;
    }
    match product(a, b) {
        (0, low) => low / d,
        (high, _) if high >= d => u64::MAX,
        (high, low) => divide(high, low, d),
    }
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

/// The high and the low half of `a · b`.
#[inline]
const fn product(a: u64, b: u64) -> (u64, u64) {
    let (ah, al, bh, bl) = (a >> 32, a & 0xffff_ffff, b >> 32, b & 0xffff_ffff);
    if ah | bh == 0 {
        return (0, al * bl);
    }
    let low = al * bl;
    let mid = ah * bl + (low >> 32);
    let mid2 = al * bh + (mid & 0xffff_ffff);
    (ah * bh + (mid >> 32) + (mid2 >> 32), (mid2 << 32) | (low & 0xffff_ffff))
}

/// `(high · 2^64 + low) / d` for `high < d`, bit by bit.
const fn divide(mut high: u64, mut low: u64, d: u64) -> u64 {
    let mut i = 0;
    while i < 64 {
        let carry = high >> 63;
        high = (high << 1) | (low >> 63);
        low <<= 1;
        if carry == 1 || high >= d {
            high = high.wrapping_sub(d);
            low |= 1;
        }
        i += 1;
    }
    low
}
