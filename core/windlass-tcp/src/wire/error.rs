//! Errors of encoding and decoding packets.

use std::fmt;

use crate::mptcp::codec::Impossible;
use crate::segment::MAX_SACK_BLOCKS;

/// Maximum length of the options in a TCP header, bytes.
pub const MAX_OPTIONS: u32 = 40;
/// Largest IPv4 packet, bytes.
pub const MAX_IP_LEN: u32 = 65_535;

/// Reason why a segment cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// More than [`MAX_SACK_BLOCKS`] SACK blocks.
    TooManySackBlocks(u8),
    /// The options take this number of bytes, more than [`MAX_OPTIONS`].
    OptionsTooLong(u32),
    /// The packet would have this number of bytes, more than [`MAX_IP_LEN`].
    TooLong(u64),
    /// An option of Multipath TCP that cannot be encoded.
    Multipath(Impossible),
    /// A mapping with a checksum needs all its payload, but the segment has only this number of bytes.
    MappingCut {
        /// Payload of the mapping, bytes.
        mapped: u32,
        /// The segment's payload, bytes.
        payload: u32,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EmitError::TooManySackBlocks(n) => {
                write!(f, "a segment carries at most {MAX_SACK_BLOCKS} SACK blocks, not {n}")
            }
            EmitError::OptionsTooLong(n) => {
                write!(f, "a TCP header has at most {MAX_OPTIONS} bytes of options, not {n}")
            }
            EmitError::TooLong(n) => {
                write!(f, "an IPv4 packet has at most {MAX_IP_LEN} bytes, not {n}")
            }
            EmitError::Multipath(why) => why.fmt(f),
            EmitError::MappingCut { mapped, payload } => write!(
                f,
                "a mapping with a checksum needs all its payload in one segment; the mapping has {mapped} \
                 bytes, the segment has {payload} bytes"
            ),
        }
    }
}

impl std::error::Error for EmitError {}

/// Reason why bytes are not a TCP segment in an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// The version field is not 4.
    Version(u8),
    /// A header or the packet ends before its stated length.
    Truncated,
    /// A length field is below the minimum for its header.
    HeaderLength,
    /// The IPv4 header checksum is wrong.
    IpChecksum,
    /// The packet is a fragment of a larger one.
    Fragment,
    /// The payload has another protocol; this is its IANA number.
    NotTcp(u8),
    /// The TCP checksum is wrong.
    TcpChecksum,
    /// An option of this kind has an invalid length.
    OptionLength(u8),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Version(v) => write!(f, "expected IP version 4; the packet has version {v}"),
            WireError::Truncated => f.write_str("the packet is shorter than its headers state"),
            WireError::HeaderLength => f.write_str("a header length is below its minimum"),
            WireError::IpChecksum => f.write_str("the IPv4 header checksum is wrong"),
            WireError::Fragment => f.write_str("the packet is a fragment"),
            WireError::NotTcp(p) => write!(f, "expected protocol 6 (TCP); the packet has {p}"),
            WireError::TcpChecksum => f.write_str("the TCP checksum is wrong"),
            WireError::OptionLength(k) => write!(f, "TCP option {k} has a wrong length"),
        }
    }
}

impl std::error::Error for WireError {}
