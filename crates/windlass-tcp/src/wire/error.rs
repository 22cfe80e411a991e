//! Why a packet cannot be written or read.

use std::fmt;

use crate::mptcp::codec::Impossible;
use crate::segment::MAX_SACK_BLOCKS;

/// Room for options in a TCP header, bytes.
pub const MAX_OPTIONS: u32 = 40;
/// Largest IPv4 packet, bytes.
pub const MAX_IP_LEN: u32 = 65_535;

/// Why a segment has no wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// More than [`MAX_SACK_BLOCKS`] SACK blocks.
    TooManySackBlocks(u8),
    /// The options take this number of bytes, more than [`MAX_OPTIONS`].
    OptionsTooLong(u32),
    /// The packet would have this number of bytes, more than [`MAX_IP_LEN`].
    TooLong(u64),
    /// An option of Multipath TCP that has no bytes.
    Multipath(Impossible),
    /// The checksum of a mapping needs its payload, of which the segment has this number of bytes only.
    MappingCut {
        /// Payload that the mapping is about, bytes.
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
                write!(f, "a TCP header has room for {MAX_OPTIONS} bytes of options, not {n}")
            }
            EmitError::TooLong(n) => {
                write!(f, "an IPv4 packet has at most {MAX_IP_LEN} bytes, not {n}")
            }
            EmitError::Multipath(why) => why.fmt(f),
            EmitError::MappingCut { mapped, payload } => write!(
                f,
                "a mapping with a checksum has all its payload in one segment; it is of {mapped} \
                 bytes, the segment has {payload}"
            ),
        }
    }
}

impl std::error::Error for EmitError {}

/// Why bytes are not a TCP segment in an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireError {
    /// The version field is not 4.
    Version(u8),
    /// A header or the packet ends before its stated length.
    Truncated,
    /// A length field is below the least that its header needs.
    HeaderLength,
    /// The IPv4 header checksum does not hold.
    IpChecksum,
    /// The packet is a fragment of a larger one.
    Fragment,
    /// The payload is of another protocol, by its IANA number.
    NotTcp(u8),
    /// The TCP checksum does not hold.
    TcpChecksum,
    /// An option of this kind has a length that it cannot have.
    OptionLength(u8),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Version(v) => write!(f, "IP version 4 is needed, the packet has {v}"),
            WireError::Truncated => f.write_str("the packet is shorter than its headers state"),
            WireError::HeaderLength => f.write_str("a header length is below its least value"),
            WireError::IpChecksum => f.write_str("the IPv4 header checksum does not hold"),
            WireError::Fragment => f.write_str("the packet is a fragment"),
            WireError::NotTcp(p) => write!(f, "protocol 6 (TCP) is needed, the packet has {p}"),
            WireError::TcpChecksum => f.write_str("the TCP checksum does not hold"),
            WireError::OptionLength(k) => write!(f, "TCP option {k} has a wrong length"),
        }
    }
}

impl std::error::Error for WireError {}
