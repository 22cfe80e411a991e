//! Sequence numbers: 32 bits on the wire, 64-bit stream offsets inside.

use core::fmt;

/// A sequence number in a TCP header, modulo 2³².
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Seq(pub u32);

impl Seq {
    /// The sequence number `offset` bytes after this one.
    pub const fn add(self, offset: u64) -> Seq {
        Seq(self.0.wrapping_add(offset as u32))
    }

    /// The stream offset nearest to `near` that has this sequence number, in a stream that starts at `base`.
    /// `None` if that offset would be below zero.
    ///
    /// The result is correct if the true offset is within 2³¹ of `near`. RFC 9293's window limit guarantees
    /// this.
    pub const fn unwrap_near(self, base: Seq, near: u64) -> Option<u64> {
        let low = self.0.wrapping_sub(base.0);
        let delta = low.wrapping_sub(near as u32) as i32;
        near.checked_add_signed(delta as i64)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
