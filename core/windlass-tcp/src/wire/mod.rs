//! Segments as IPv4 packets: the real wire format, in both directions.
//!
//! [`emit`] encodes a [`Segment`] with its payload as an IPv4 packet. [`parse`] decodes such a packet.
//! Both compute the IPv4 header checksum and the TCP checksum; `parse` rejects a packet with an invalid
//! checksum. The encoded packet has the size that [`Segment::ip_len`] states. The simulator uses this size
//! for the load of a link. [`emit_multipath`] adds an option of Multipath TCP and [`emit_quick_start`] adds
//! an option of Quick-Start. `parse` decodes these options too.
//!
//! The fields that a [`Segment`] does not have are ignored by `parse`. `emit` sets these values:
//! differentiated services 0, identification 0 with "don't fragment" set (RFC 6864 section 4.1), time to live
//! 64 (except with Quick-Start), urgent pointer 0, reserved bits 0.
//!
//! # Errors that the checksums detect
//!
//! The Internet checksum is a sum of 16-bit words in one's complement. It detects every change of a single
//! bit between the first byte of the IPv4 header and the last byte of the payload. It does not detect
//! exchanged words, or two flipped bits of the same weight in opposite directions.

mod error;
mod options;

use std::net::SocketAddrV4;

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv4Options, TcpHeader, TcpHeaderSlice, UdpHeader,
};

use crate::mptcp::{Mapping, MpOption, Signal, codec};
use crate::quick_start::{self, Carried, TIME_TO_LIVE};
use crate::segment::{Codepoint, Flags, Segment};
use crate::seq::Seq;
use options::{OptionBytes, append_multipath, append_quick_start, decode_options, encode_options};

pub use error::{EmitError, MAX_IP_LEN, MAX_OPTIONS, WireError};

/// Bytes of a UDP header.
pub const UDP_HEADER: u32 = 8;

/// Source and destination of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addresses {
    /// IPv4 address and port of the sender.
    pub source: SocketAddrV4,
    /// IPv4 address and port of the receiver.
    pub destination: SocketAddrV4,
}

impl Addresses {
    /// The addresses of the opposite direction.
    pub const fn reversed(self) -> Addresses {
        Addresses { source: self.destination, destination: self.source }
    }
}

/// A packet read by [`parse`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Both ends.
    pub addresses: Addresses,
    /// The segment.
    pub segment: Segment,
    /// The segment's option of Multipath TCP.
    pub multipath: Option<Signal>,
    /// The packet's option of Quick-Start. If both headers have an option, it is the TCP header's option.
    pub quick_start: Option<Carried>,
    /// The payload, `segment.len` bytes.
    pub payload: &'a [u8],
}

/// The test pattern for a stream's bytes: fills `payload`, whose first byte has the sequence number `seq`. A
/// byte depends only on its sequence number, so that a retransmission has the same bytes as the original. The
/// period, 251 bytes, is prime, so that data displaced by a segment or a power of two never match.
pub fn fill_pattern(seq: Seq, payload: &mut [u8]) {
    for (i, byte) in payload.iter_mut().enumerate() {
        *byte = (seq.add(i as u64).0 % 251) as u8;
    }
}

/// Appends `segment` to `out` as an IPv4 packet. `fill_payload` gets the `segment.len` bytes of
/// payload, all zero, and writes them; [`fill_pattern`] is one way.
///
/// # Errors
///
/// The segment does not fit the formats. `out` is then unchanged.
pub fn emit(
    segment: &Segment,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    emit_multipath(segment, None, false, addresses, fill_payload, out)
}

/// [`emit`] with an option of Multipath TCP. The option follows the other options, and the packet is longer
/// by the option's [`MpOption::wire_len`]. With `checksums`, MP_CAPABLE requests checksums and mappings have
/// a checksum (RFC 8684 section 3.3.1).
///
/// # Errors
///
/// The errors of [`emit`]; and with `checksums`, a mapping whose payload differs from the segment's.
pub fn emit_multipath(
    segment: &Segment,
    option: Option<&MpOption>,
    checksums: bool,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let mut options = encode_options(&segment.options)?;
    let sum = match option {
        Some(option) => append_multipath(segment, option, checksums, &mut options)?,
        None => None,
    };
    emit_packet(segment, &options, sum, Shell::PLAIN, addresses, fill_payload, out)
}

/// [`emit`] with an option of Quick-Start and its time to live. The packet is longer by
/// [`OPTION_LEN`](quick_start::OPTION_LEN).
///
/// # Errors
///
/// The errors of [`emit`].
pub fn emit_quick_start(
    segment: &Segment,
    carried: &Carried,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let mut options = encode_options(&segment.options)?;
    let mut shell = Shell { time_to_live: carried.ttl, ..Shell::PLAIN };
    if carried.in_ip_header() {
        shell.option = Some(quick_start::encode(&carried.option));
    } else {
        append_quick_start(&carried.option, &mut options)?;
    }
    emit_packet(segment, &options, None, shell, addresses, fill_payload, out)
}

/// The fields of an IPv4 header that differ between packets.
#[derive(Clone, Copy)]
struct Shell {
    time_to_live: u8,
    option: Option<[u8; quick_start::OPTION_LEN as usize]>,
}

impl Shell {
    const PLAIN: Shell = Shell { time_to_live: TIME_TO_LIVE, option: None };
}

/// Encodes a segment with its encoded options. `sum` is a mapping that needs a checksum, and the position of
/// the checksum in the options.
// RFC 9293-3.1-MUST-2
fn emit_packet(
    segment: &Segment,
    options: &OptionBytes,
    sum: Option<(Mapping, usize)>,
    shell: Shell,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    // RFC 8684-3.3.1-4
    let mut tcp = TcpHeader::new(
        addresses.source.port(),
        addresses.destination.port(),
        segment.seq.0,
        segment.window,
    );
    tcp.acknowledgment_number = segment.ack.0;
    set_flags(&mut tcp, segment.flags);
    let options_len = options.len() as u32;
    tcp.set_options_raw(options.as_bytes()).map_err(|_| EmitError::OptionsTooLong(options_len))?;

    let tcp_len = tcp.header_len() as u64 + u64::from(segment.len);
    let ip = ip_header(addresses, IpNumber::TCP, segment.ecn, shell, tcp_len)?;
    let start = out.len();
    out.extend_from_slice(&ip.to_bytes());
    let body = out.len();
    out.extend_from_slice(&tcp.to_bytes());
    append_payload(segment.len as usize, fill_payload, out);
    if let Some((mapping, at)) = sum {
        let payload = body + tcp.header_len();
        let sum = codec::checksum(mapping, &out[payload..]).to_be_bytes();
        out[body + 20 + at..][..2].copy_from_slice(&sum);
    }

    let sum = pseudo_header(&ip, tcp_len as u16).add_slice(&out[body..]).ones_complement();
    // The sum is kept in memory order, as etherparse adds words without swapping them.
    out[body + 16..body + 18].copy_from_slice(&sum.to_ne_bytes());
    let more =
        options_len - segment.options.wire_len() + shell.option.map_or(0, |o| o.len() as u32);
    debug_assert_eq!(out.len() - start, (segment.ip_len() + more) as usize);
    Ok(())
}

/// Appends a UDP datagram in an IPv4 packet to `out`, as constant-bit-rate traffic sends it.
/// `fill_payload` gets the `len` bytes of payload, all zero, and writes them.
///
/// # Errors
///
/// The packet would be larger than [`MAX_IP_LEN`]. `out` is then unchanged.
pub fn emit_datagram(
    len: u32,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let udp_len = u64::from(UDP_HEADER) + u64::from(len);
    let ip = ip_header(addresses, IpNumber::UDP, Codepoint::NotEct, Shell::PLAIN, udp_len)?;
    let udp = UdpHeader {
        source_port: addresses.source.port(),
        destination_port: addresses.destination.port(),
        length: udp_len as u16,
        checksum: 0,
    };
    out.extend_from_slice(&ip.to_bytes());
    let body = out.len();
    out.extend_from_slice(&udp.to_bytes());
    append_payload(len as usize, fill_payload, out);

    let sum = pseudo_header(&ip, udp_len as u16).add_slice(&out[body..]);
    // Zero would mean that there is no checksum (RFC 768).
    let sum = sum.to_ones_complement_with_no_zero();
    out[body + 6..body + 8].copy_from_slice(&sum.to_ne_bytes());
    Ok(())
}

/// Decodes the TCP segment in an IPv4 packet. Bytes after the packet's stated length are ignored, because
/// links pad short frames.
///
/// Options of unknown kind are skipped. Only the first [`MAX_SACK_BLOCKS`](crate::segment::MAX_SACK_BLOCKS)
/// SACK blocks are kept; they report the most recent data. With two SACK blocks the first two counters of accurate ECN
/// are kept, and with three none. If there are several Multipath TCP options, only
/// the option with the highest priority is kept. A data acknowledgement without mapping has the lowest
/// priority, because the next segment repeats it.
///
/// # Errors
///
/// The bytes are not a complete, valid TCP segment in an unfragmented IPv4 packet.
// RFC 9293-3.1-MUST-3
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, WireError> {
    let (ip, body) = split_ip(bytes)?;
    if pseudo_header(&ip.to_header(), body.len() as u16).add_slice(body).ones_complement() != 0 {
        return Err(WireError::TcpChecksum);
    }
    let tcp = TcpHeaderSlice::from_slice(body).map_err(tcp_error)?;
    let payload = &body[tcp.slice().len()..];
    let decoded = decode_options(tcp.options())?;
    let quick_start = decoded.quick_start.or_else(|| ip_quick_start(ip.options()));
    let segment = Segment {
        seq: Seq(tcp.sequence_number()),
        ack: Seq(tcp.acknowledgment_number()),
        len: payload.len() as u32,
        window: tcp.window_size(),
        flags: Flags(u16::from_be_bytes([tcp.slice()[12] & 1, tcp.slice()[13]])),
        ecn: Codepoint::from_bits(ip.ecn().value()),
        options: decoded.options,
    };
    let addresses = Addresses {
        source: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
    };
    let quick_start = quick_start.map(|option| Carried { option, ttl: ip.ttl() });
    Ok(Packet { addresses, segment, multipath: decoded.multipath, quick_start, payload })
}

/// The option of Quick-Start among the options of an IP header. Stops at the first invalid option.
// RFC 9293-3.9.2-MUST-50
fn ip_quick_start(mut bytes: &[u8]) -> Option<quick_start::QuickOption> {
    while let [kind, rest @ ..] = bytes {
        match *kind {
            0 => return None,
            1 => bytes = rest,
            kind => {
                let len = rest.first().map_or(0, |&len| usize::from(len));
                let value = bytes.get(2..len)?;
                if kind == quick_start::IP_OPTION {
                    return quick_start::decode_ip(value);
                }
                bytes = &bytes[len..];
            }
        }
    }
    None
}

fn append_payload(len: usize, fill: impl FnOnce(&mut [u8]), out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + len, 0);
    fill(&mut out[start..]);
}

fn ip_header(
    addresses: &Addresses,
    protocol: IpNumber,
    ecn: Codepoint,
    shell: Shell,
    body: u64,
) -> Result<Ipv4Header, EmitError> {
    let options = shell.option.map_or_else(Ipv4Options::new, Ipv4Options::from);
    let total = (Ipv4Header::MIN_LEN + options.len()) as u64 + body;
    let total_len = u16::try_from(total).map_err(|_| EmitError::TooLong(total))?;
    let mut header = Ipv4Header {
        total_len,
        ecn: ecn_field(ecn),
        dont_fragment: true,
        time_to_live: shell.time_to_live,
        options,
        protocol,
        source: addresses.source.ip().octets(),
        destination: addresses.destination.ip().octets(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    Ok(header)
}

fn ecn_field(ecn: Codepoint) -> IpEcn {
    match ecn {
        Codepoint::NotEct => IpEcn::NotEct,
        Codepoint::Ect1 => IpEcn::Ect1,
        Codepoint::Ect0 => IpEcn::Ect0,
        Codepoint::Ce => IpEcn::CongestionExperienced,
    }
}

fn pseudo_header(ip: &Ipv4Header, body_len: u16) -> Sum16BitWords {
    Sum16BitWords::new()
        .add_4bytes(ip.source)
        .add_4bytes(ip.destination)
        .add_2bytes([0, ip.protocol.0])
        .add_2bytes(body_len.to_be_bytes())
}

fn split_ip(bytes: &[u8]) -> Result<(Ipv4HeaderSlice<'_>, &[u8]), WireError> {
    let ip = Ipv4HeaderSlice::from_slice(bytes).map_err(ip_error)?;
    let header = ip.slice().len();
    let total = usize::from(ip.total_len());
    if total < header {
        return Err(WireError::HeaderLength);
    }
    let body = bytes.get(header..total).ok_or(WireError::Truncated)?;
    if Sum16BitWords::new().add_slice(ip.slice()).ones_complement() != 0 {
        return Err(WireError::IpChecksum);
    }
    if ip.is_fragmenting_payload() {
        return Err(WireError::Fragment);
    }
    if ip.protocol() != IpNumber::TCP {
        return Err(WireError::NotTcp(ip.protocol().0));
    }
    Ok((ip, body))
}

fn ip_error(error: etherparse::err::ipv4::HeaderSliceError) -> WireError {
    use etherparse::err::ipv4::{HeaderError, HeaderSliceError};
    match error {
        HeaderSliceError::Len(_) => WireError::Truncated,
        HeaderSliceError::Content(HeaderError::UnexpectedVersion { version_number }) => {
            WireError::Version(version_number)
        }
        HeaderSliceError::Content(HeaderError::HeaderLengthSmallerThanHeader { .. }) => {
            WireError::HeaderLength
        }
    }
}

fn tcp_error(error: etherparse::err::tcp::HeaderSliceError) -> WireError {
    match error {
        etherparse::err::tcp::HeaderSliceError::Len(_) => WireError::Truncated,
        etherparse::err::tcp::HeaderSliceError::Content(_) => WireError::HeaderLength,
    }
}

fn set_flags(tcp: &mut TcpHeader, flags: Flags) {
    tcp.fin = flags.has(Flags::FIN);
    tcp.syn = flags.has(Flags::SYN);
    tcp.rst = flags.has(Flags::RST);
    tcp.psh = flags.has(Flags::PSH);
    tcp.ack = flags.has(Flags::ACK);
    tcp.urg = flags.has(Flags(0x20));
    tcp.ece = flags.has(Flags::ECE);
    tcp.cwr = flags.has(Flags::CWR);
    tcp.ns = flags.has(Flags::AE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_gives_the_example_of_rfc_1071_section_3() {
        let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        let sum = Sum16BitWords::new().add_slice(&words).ones_complement();
        assert_eq!(sum.to_ne_bytes(), (!0xddf2_u16).to_be_bytes());
    }
}
