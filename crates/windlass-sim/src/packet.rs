//! Packets: small plain values that live in a link's pipe.

use windlass_cc::Time;
use windlass_tcp::Segment;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A datagram of a constant-bit-rate flow.
    Datagram {
        /// Payload, bytes.
        len: u32,
        /// When it was sent.
        sent: Time,
    },
}

/// A packet on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Size as an IP packet, bytes.
    pub ip_len: u32,
    /// Position in the table of routes: where it goes next.
    pub hop: u32,
    /// What it carries.
    pub body: Body,
}
