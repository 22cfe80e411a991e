//! Aggregation of frames (A-MPDU) under block acknowledgement, as HT has them (IEEE 802.11-2016 sections 9.7 and 10.24).
//!
//! A station that has the channel sends the oldest packet that waits, and with it, in one frame of the PHY, as many of
//! those behind it for the same receiver as the limits allow. Each has a number, a check sequence and so a fate of its
//! own; one block acknowledgement a SIFS later says which arrived. What did not goes out again with the next frame to
//! that receiver, until its own attempts are used up. The receiver hands packets on in order: it keeps what came after one that is missing.
//! A packet alone is a frame as without aggregation, with an ordinary acknowledgement.
//!
//! Points where simulators and chips differ:
//!
//! * Every receiver has a block-ack agreement from the beginning; ADDBA and DELBA are not sent.
//! * If no block acknowledgement comes, the frames are sent again; no BlockAckReq is. After a packet was
//!   given up, the receiver waits for it no longer, as if a BlockAckReq had told it at no cost.
//! * An overlap destroys an aggregate whole, or not at all. Errors by noise hit each of its frames for itself;
//!   who overhears it does so by its first.
//! * Between aggregates the window doubles when no block acknowledgement came, and is reset when one did, whatever it said.
//! * Frames begin on multiples of four bytes and need no spacing in time.

use windlass_cc::Span;

use crate::radio::phy::{Phy, Rate};

/// Bytes of a compressed block acknowledgement.
pub const BLOCK_ACK_BYTES: u32 = 32;
/// Numbers that a block acknowledgement covers.
pub const WINDOW: u32 = 64;
/// Bytes before each frame of an aggregate.
pub(super) const DELIMITER: u32 = 4;
/// Most bytes of an aggregate of HT.
pub const MAX_BYTES: u32 = 65_535;
/// Longest frame of HT (aPPDUMaxTime); the signal field of the older preamble can announce 5.484 ms.
pub const MAX_AIRTIME: Span = Span::from_micros(10_000);

/// What limits an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Frames, at most [`WINDOW`].
    pub max_frames: u32,
    /// Bytes, delimiters and padding included, at most [`MAX_BYTES`].
    pub max_size: u32,
    /// Time on the air.
    pub max_airtime: Span,
}

impl Default for Aggregation {
    /// What a block acknowledgement, HT and the older signal field allow.
    fn default() -> Aggregation {
        let max_airtime = Span::from_micros(5_484);
        Aggregation { max_frames: WINDOW, max_size: MAX_BYTES, max_airtime }
    }
}

impl Aggregation {
    /// Whether one more frame fits into an aggregate of so many bytes that holds so many.
    pub(super) fn takes(&self, frames: u32, bytes: u32, mpdu: u32, phy: &Phy, rate: Rate) -> bool {
        let bytes = joined(bytes, mpdu);
        frames < self.max_frames
            && bytes <= self.max_size
            && phy.airtime(bytes, rate) <= self.max_airtime
    }

    /// Frames of so many bytes each that go into one aggregate at this rate, one at least, and the aggregate's bytes.
    pub fn fill(&self, mpdu: u32, phy: &Phy, rate: Rate) -> (u32, u32) {
        let (mut frames, mut bytes) = (1, DELIMITER + mpdu);
        while self.takes(frames, bytes, mpdu, phy, rate) {
            (frames, bytes) = (frames + 1, joined(bytes, mpdu));
        }
        (frames, if frames == 1 { mpdu } else { bytes })
    }
}

/// Bytes of an aggregate to which a frame is added: what is there is padded first.
pub(super) fn joined(bytes: u32, mpdu: u32) -> u32 {
    bytes.next_multiple_of(4) + DELIMITER + mpdu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aggregate_is_filled_up_to_the_first_limit() {
        let rate = |bps| Phy::N.rate(bps).unwrap();
        let fill = |limits: Aggregation, bps| limits.fill(1538, &Phy::N, rate(bps));
        let all = Aggregation::default();
        // 42 frames of 4 + 1538 bytes, padded to 1544, but for the last: 64846 bytes.
        assert_eq!(fill(Aggregation { max_airtime: MAX_AIRTIME, ..all }, 65_000_000), (42, 64_846));
        // 5484 µs at 6.5 Mbit/s: 42 µs of preamble and extension, 1360 symbols of 26 bits.
        assert_eq!(fill(all, 6_500_000), (2, 1544 + 1542));
        assert_eq!(fill(Aggregation { max_frames: 1, ..all }, 65_000_000), (1, 1538));
        let (frames, bytes) = fill(all, 65_000_000);
        assert!(Phy::N.airtime(bytes, rate(65_000_000)) <= all.max_airtime);
        assert!(Phy::N.airtime(bytes + 1544, rate(65_000_000)) > all.max_airtime, "{frames}");
    }
}
