//! Limits that several parts of a configuration share.

use windlass_cc::Span;
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::{MAX_IP_LEN, UDP_HEADER};

/// Headers of IPv4 and UDP, bytes.
pub const UDP_HEADERS: u32 = IPV4_HEADER + UDP_HEADER;
/// Largest payload of a UDP datagram over IPv4, bytes.
pub const MAX_DATAGRAM: u32 = MAX_IP_LEN - UDP_HEADERS;
/// Maximum delay and duration: 73 years, so that no sum of a few of them overflows.
pub const MAX_SPAN: Span = Span(1 << 61);
