//! Bytes of packets of external ends: conversions from and to the simulator's packets, and
//! changes of the two fields that a network may change.

use std::net::Ipv4Addr;

use windlass_tcp::segment::Codepoint;
use windlass_tcp::wire::{self, Addresses, EmitError, UDP_HEADER};

use crate::packet::Body;

const TCP: u8 = 6;
const UDP: u8 = 17;
/// Offset of the protocol in an IPv4 header.
const PROTOCOL: usize = 9;
/// Offsets of the ECN field and of the checksum in an IPv4 header.
const TRAFFIC_CLASS: usize = 1;
const IP_CHECKSUM: usize = 10;
/// The bits of the ECN field in the traffic class.
const ECN: u8 = 3;
/// Offset of the source and destination addresses in an IPv4 header.
const ADDRESSES: usize = 12;
/// Offsets of the window and of the checksum in a TCP header.
const WINDOW: usize = 14;
const TCP_CHECKSUM: usize = 16;

/// Converts an IPv4 packet to a simulated packet; `None` if it is neither a valid TCP segment nor a
/// UDP datagram, such as ICMP.
pub fn body(packet: &[u8]) -> Option<Body> {
    match wire::parse(packet) {
        Ok(parsed) => Some(Body::Segment(parsed.segment)),
        Err(wire::WireError::NotTcp(UDP)) => {
            let header = header_len(packet);
            let total = usize::from(word(packet, 2));
            let len = total.checked_sub(header + UDP_HEADER as usize)?;
            Some(Body::Datagram { len: len as u32, ecn: ecn(packet) })
        }
        Err(_) => None,
    }
}

/// Appends a packet from a simulated end as an IPv4 packet. Its payload is the test pattern.
///
/// # Errors
///
/// The packet does not fit the formats.
pub fn write(body: &Body, addresses: &Addresses, out: &mut Vec<u8>) -> Result<(), EmitError> {
    match body {
        Body::Segment(segment) => {
            wire::emit(segment, addresses, |p| wire::fill_pattern(segment.seq, p), out)
        }
        Body::Datagram { .. } | Body::Coap(_) | Body::Media(_) => {
            wire::emit_datagram(body.payload(), addresses, |_| {}, out)
        }
    }
}

/// True if the IPv4 protocol field is TCP or UDP. If [`body`] returns `None` for such a packet, the
/// packet is invalid. Other packets, such as an ICMP answer to an unexpected datagram, belong to no
/// flow.
pub fn is_of_a_flow(packet: &[u8]) -> bool {
    matches!(packet.get(PROTOCOL), Some(&TCP | &UDP))
}

/// Source and destination of an IPv4 packet.
pub fn ends(packet: &[u8]) -> Option<[Ipv4Addr; 2]> {
    let address = |at: usize| {
        let octets: [u8; 4] = packet.get(at..at + 4)?.try_into().ok()?;
        Some(Ipv4Addr::from(octets))
    };
    Some([address(ADDRESSES)?, address(ADDRESSES + 4)?])
}

/// Reduces the window field of a TCP segment to at most `most`.
pub fn pin_window(packet: &mut [u8], most: u16) {
    let tcp = header_len(packet);
    let (field, checksum) = (word(packet, tcp + WINDOW), word(packet, tcp + TCP_CHECKSUM));
    if field > most {
        set_word(packet, tcp + WINDOW, most);
        set_word(packet, tcp + TCP_CHECKSUM, updated(checksum, field, most));
    }
}

/// Marks an IPv4 packet: congestion experienced (RFC 3168 section 5).
pub fn mark(packet: &mut [u8]) {
    set_ecn(packet, Codepoint::Ce as u8);
}

/// The ECN field of an IPv4 packet.
pub fn ecn(packet: &[u8]) -> Codepoint {
    Codepoint::from_bits(packet.get(TRAFFIC_CLASS).map_or(0, |class| class & ECN))
}

/// Sets the ECN field of an IPv4 packet to the two lowest bits of `ecn`.
pub fn set_ecn(packet: &mut [u8], ecn: u8) {
    let before = word(packet, 0);
    packet[TRAFFIC_CLASS] = packet[TRAFFIC_CLASS] & !ECN | ecn & ECN;
    let checksum = updated(word(packet, IP_CHECKSUM), before, word(packet, 0));
    set_word(packet, IP_CHECKSUM, checksum);
}

/// The checksum after a change of one of its words (RFC 1624, equation 3).
fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

fn header_len(packet: &[u8]) -> usize {
    usize::from(packet[0] & 0x0f) * 4
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn set_word(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::FlowAddresses;
    use windlass_tcp::{Flags, Segment, Seq};

    fn segment(window: u16, ecn: Codepoint) -> (Segment, Vec<u8>) {
        let segment =
            Segment { seq: Seq(7), len: 33, window, flags: Flags::ACK, ecn, ..Segment::default() };
        let mut bytes = Vec::new();
        let addresses = FlowAddresses::new(0, 0, 1).addresses(true);
        wire::emit(&segment, &addresses, |p| wire::fill_pattern(Seq(7), p), &mut bytes).unwrap();
        (segment, bytes)
    }

    #[test]
    fn a_pinned_window_leaves_a_valid_packet() {
        for (window, most) in
            [(65_535, 8_760), (8_761, 8_760), (256, 255), (1, 0), (0xff00, 0x00ff)]
        {
            let (before, mut bytes) = segment(window, Codepoint::NotEct);
            pin_window(&mut bytes, most);
            assert_eq!(body(&bytes), Some(Body::Segment(Segment { window: most, ..before })));
        }
    }

    #[test]
    fn a_smaller_window_is_unchanged() {
        let (before, mut bytes) = segment(0, Codepoint::NotEct);
        pin_window(&mut bytes, 8_760);
        assert_eq!(body(&bytes), Some(Body::Segment(before)));
    }

    #[test]
    fn a_marked_packet_is_valid_and_marked() {
        for ecn in [Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce] {
            let (before, mut bytes) = segment(100, ecn);
            mark(&mut bytes);
            assert_eq!(body(&bytes), Some(Body::Segment(Segment { ecn: Codepoint::Ce, ..before })));
        }
    }

    #[test]
    fn a_datagram_is_known_by_its_payload() {
        let mut bytes = Vec::new();
        let addresses = FlowAddresses::new(0, 0, 1).addresses(true);
        wire::emit_datagram(200, &addresses, |_| {}, &mut bytes).unwrap();
        assert_eq!(body(&bytes), Some(Body::Datagram { len: 200, ecn: Codepoint::NotEct }));
    }

    #[test]
    fn a_packet_other_than_tcp_and_udp_has_no_body() {
        let (_, mut icmp) = segment(100, Codepoint::NotEct);
        icmp[9] = 1;
        let sum = updated(word(&icmp, IP_CHECKSUM), 6, 1);
        set_word(&mut icmp, IP_CHECKSUM, sum);
        assert_eq!(body(&icmp), None);
        assert!(!is_of_a_flow(&icmp));
    }

    #[test]
    fn a_corrupt_segment_has_no_body() {
        let (_, mut bytes) = segment(100, Codepoint::NotEct);
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(body(&bytes), None);
        assert!(is_of_a_flow(&bytes));
        assert_eq!(body(&bytes[..10]), None);
    }
}
