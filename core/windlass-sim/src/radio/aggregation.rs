//! Aggregation of frames (A-MPDU) under block acknowledgement in HT (IEEE 802.11-2016 sections 9.7 and
//! 10.24).
//!
//! A station that has the channel sends the oldest waiting packet. The same frame of the PHY carries as many
//! later packets for the same receiver as the limits allow. Each packet has its own number and check
//! sequence, so one packet can be lost while others arrive. One block acknowledgement, a SIFS later, lists
//! the packets that arrived. A missing packet is retransmitted in the next frame to that receiver, until its
//! attempts are used up. The receiver hands packets on in order: it keeps packets that follow a missing one.
//! A single packet is sent as an ordinary frame with an ordinary acknowledgement.
//!
//! Points where simulators and chips differ:
//!
//! * Every receiver has a block-ack agreement from the beginning; ADDBA and DELBA are not sent.
//! * If no block acknowledgement arrives, the frames are retransmitted; no BlockAckReq is sent. The receiver
//!   no longer waits for a packet that the sender has given up. A real sender would announce this with a
//!   BlockAckReq, which is free here.
//! * An overlap destroys either the whole aggregate or none of it. Errors by noise affect each frame of the
//!   aggregate independently. For a station that overhears the aggregate, only the first frame counts.
//! * Between aggregates, the window doubles if no block acknowledgement arrived. Any block acknowledgement
//!   resets it.
//! * Frames begin on multiples of four bytes and need no spacing in time.

use windlass_cc::Span;

use crate::radio::phy::{Phy, Rate};

/// Size of a compressed block acknowledgement, bytes.
pub const BLOCK_ACK_BYTES: u32 = 32;
/// Packet numbers that a block acknowledgement covers.
pub const WINDOW: u32 = 64;
/// Delimiter before each frame of an aggregate, bytes.
pub(super) const DELIMITER: u32 = 4;
/// Maximum size of an aggregate of HT, bytes.
pub const MAX_BYTES: u32 = 65_535;
/// Maximum duration of a frame of HT (aPPDUMaxTime). The signal field of the older preamble can announce at
/// most 5.484 ms.
pub const MAX_AIRTIME: Span = Span::from_micros(10_000);

/// Limits of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Maximum number of frames, at most [`WINDOW`].
    pub max_frames: u32,
    /// Maximum size in bytes with delimiters and padding, at most [`MAX_BYTES`].
    pub max_size: u32,
    /// Maximum airtime.
    pub max_airtime: Span,
}

impl Default for Aggregation {
    /// The limits of a block acknowledgement, of HT and of the older signal field.
    fn default() -> Aggregation {
        let max_airtime = Span::from_micros(5_484);
        Aggregation { max_frames: WINDOW, max_size: MAX_BYTES, max_airtime }
    }
}

impl Aggregation {
    /// True if one more frame of `mpdu` bytes fits into an aggregate that has `frames` frames and `bytes`
    /// bytes.
    pub(super) fn takes(&self, frames: u32, bytes: u32, mpdu: u32, phy: &Phy, rate: Rate) -> bool {
        let bytes = joined(bytes, mpdu);
        frames < self.max_frames
            && bytes <= self.max_size
            && phy.airtime(bytes, rate) <= self.max_airtime
    }

    /// Returns the number of frames of `mpdu` bytes that fit into one aggregate at this rate (at least 1),
    /// and the size of the aggregate in bytes.
    pub fn fill(&self, mpdu: u32, phy: &Phy, rate: Rate) -> (u32, u32) {
        let (mut frames, mut bytes) = (1, DELIMITER + mpdu);
        while self.takes(frames, bytes, mpdu, phy, rate) {
            (frames, bytes) = (frames + 1, joined(bytes, mpdu));
        }
        (frames, if frames == 1 { mpdu } else { bytes })
    }
}

/// Size of an aggregate after a frame is added, in bytes. The present content is padded first.
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
        // 42 frames of 4 + 1538 bytes; all except the last are padded to 1544: 64846 bytes.
        assert_eq!(fill(Aggregation { max_airtime: MAX_AIRTIME, ..all }, 65_000_000), (42, 64_846));
        // 5484 µs at 6.5 Mbit/s: 42 µs of preamble and extension, 1360 symbols of 26 bits.
        assert_eq!(fill(all, 6_500_000), (2, 1544 + 1542));
        assert_eq!(fill(Aggregation { max_frames: 1, ..all }, 65_000_000), (1, 1538));
        let (frames, bytes) = fill(all, 65_000_000);
        assert!(Phy::N.airtime(bytes, rate(65_000_000)) <= all.max_airtime);
        assert!(Phy::N.airtime(bytes + 1544, rate(65_000_000)) > all.max_airtime, "{frames}");
    }
}
