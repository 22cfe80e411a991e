//! Segments as IPv4 packets: the real wire format, in both directions.
//!
//! [`emit`] writes a [`Segment`] with its payload as the bytes that a network would carry,
//! [`parse`] reads such bytes back. Both compute the IPv4 header checksum and the TCP checksum;
//! `parse` refuses a packet whose checksums do not hold. What is written has the size that
//! [`Segment::ip_len`] states, which is what the simulator charges a link for.
//!
//! The fields that a [`Segment`] does not have are written as follows and ignored when read:
//! differentiated services 0, identification 0 with "don't fragment" set (RFC 6864 section 4.1), time to live
//! 64, urgent pointer 0, reserved bits 0.
//!
//! # What the checksums see
//!
//! The Internet checksum is a sum of 16-bit words in one's complement. A change of any single bit
//! between the first byte of the IPv4 header and the last byte of the payload makes it fail, with
//! no exception. It does not see words that change places, nor two flipped bits that weigh the
//! same and go opposite ways.

use std::fmt;
use std::net::SocketAddrV4;

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, TcpHeader, TcpHeaderSlice, UdpHeader,
};

use crate::segment::{Codepoint, Flags, MAX_SACK_BLOCKS, Options, SackBlock, Segment, Timestamps};
use crate::seq::Seq;

/// Room for options in a TCP header, bytes.
pub const MAX_OPTIONS: u32 = 40;
/// Largest IPv4 packet, bytes.
pub const MAX_IP_LEN: u32 = 65_535;
/// Bytes of a UDP header.
pub const UDP_HEADER: u32 = 8;

const TIME_TO_LIVE: u8 = 64;

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Where a packet comes from and where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addresses {
    /// IPv4 address and port of the sender.
    pub source: SocketAddrV4,
    /// IPv4 address and port of the receiver.
    pub destination: SocketAddrV4,
}

impl Addresses {
    /// The same pair for the other direction.
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
    /// Its payload, `segment.len` bytes.
    pub payload: &'a [u8],
}

/// Why a segment has no wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// More than [`MAX_SACK_BLOCKS`] SACK blocks.
    TooManySackBlocks(u8),
    /// The options take so many bytes, more than [`MAX_OPTIONS`].
    OptionsTooLong(u32),
    /// The packet would have so many bytes, more than [`MAX_IP_LEN`].
    TooLong(u64),
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

/// The test pattern that stands for a stream's bytes: fills `payload`, whose first byte has the
/// sequence number `seq`. A byte depends on its sequence number only, so that a retransmission
/// carries what the original carried. The period, 251 bytes, is prime, so that data displaced by
/// a segment or a power of two never looks right.
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
/// The segment does not fit the formats; `out` is unchanged then.
pub fn emit(
    segment: &Segment,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let options = encode_options(&segment.options)?;
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
    let ip = ip_header(addresses, IpNumber::TCP, segment.ecn, tcp_len)?;
    let start = out.len();
    out.extend_from_slice(&ip.to_bytes());
    let body = out.len();
    out.extend_from_slice(&tcp.to_bytes());
    append_payload(segment.len as usize, fill_payload, out);

    let sum = pseudo_header(&ip, tcp_len as u16).add_slice(&out[body..]).ones_complement();
    // The sum is kept in memory order, as etherparse adds words without swapping them.
    out[body + 16..body + 18].copy_from_slice(&sum.to_ne_bytes());
    debug_assert_eq!(out.len() - start, segment.ip_len() as usize);
    Ok(())
}

/// Appends a UDP datagram in an IPv4 packet to `out`, as constant-bit-rate traffic sends it.
/// `fill_payload` gets the `len` bytes of payload, all zero, and writes them.
///
/// # Errors
///
/// The packet would be larger than [`MAX_IP_LEN`]; `out` is unchanged then.
pub fn emit_datagram(
    len: u32,
    addresses: &Addresses,
    fill_payload: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let udp_len = u64::from(UDP_HEADER) + u64::from(len);
    let ip = ip_header(addresses, IpNumber::UDP, Codepoint::NotEct, udp_len)?;
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
    // Zero would say that there is no checksum (RFC 768).
    let sum = sum.to_ones_complement_with_no_zero();
    out[body + 6..body + 8].copy_from_slice(&sum.to_ne_bytes());
    Ok(())
}

/// Reads the TCP segment in an IPv4 packet. Bytes after the packet's stated length are ignored,
/// as links pad short frames. Options of unknown kind are skipped; of more than
/// [`MAX_SACK_BLOCKS`] SACK blocks the first are kept, which report the most recent data.
///
/// # Errors
///
/// The bytes are not a whole, valid TCP segment in an unfragmented IPv4 packet.
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, WireError> {
    let (ip, body) = split_ip(bytes)?;
    if pseudo_header(&ip.to_header(), body.len() as u16).add_slice(body).ones_complement() != 0 {
        return Err(WireError::TcpChecksum);
    }
    let tcp = TcpHeaderSlice::from_slice(body).map_err(tcp_error)?;
    let payload = &body[tcp.slice().len()..];
    let segment = Segment {
        seq: Seq(tcp.sequence_number()),
        ack: Seq(tcp.acknowledgment_number()),
        len: payload.len() as u32,
        window: tcp.window_size(),
        flags: Flags(tcp.slice()[13]),
        ecn: Codepoint::from_bits(ip.ecn().value()),
        options: decode_options(tcp.options())?,
    };
    let addresses = Addresses {
        source: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
    };
    Ok(Packet { addresses, segment, payload })
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
    body: u64,
) -> Result<Ipv4Header, EmitError> {
    let total = Ipv4Header::MIN_LEN as u64 + body;
    let total_len = u16::try_from(total).map_err(|_| EmitError::TooLong(total))?;
    let mut header = Ipv4Header {
        total_len,
        ecn: ecn_field(ecn),
        dont_fragment: true,
        time_to_live: TIME_TO_LIVE,
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
}

/// Options as they stand in a header.
struct OptionBytes {
    bytes: [u8; MAX_OPTIONS as usize],
    len: usize,
}

impl OptionBytes {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_timestamps(&mut self, timestamps: Timestamps) {
        self.push(&[TIMESTAMPS, 10]);
        self.push(&timestamps.value.to_be_bytes());
        self.push(&timestamps.echo.to_be_bytes());
    }

    fn push_sack(&mut self, blocks: &[SackBlock]) {
        self.push(&[SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            self.push(&block.left.0.to_be_bytes());
            self.push(&block.right.0.to_be_bytes());
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Writes options without a byte more than [`Options::wire_len`]. MSS and window scale (with one
/// byte of padding) are multiples of four; SACK-permitted, timestamps and SACK are two more than
/// one, so that two of them make a multiple of four and an odd one needs two bytes of padding,
/// which stand in front as RFC 7323 appendix A shows.
fn encode_options(options: &Options) -> Result<OptionBytes, EmitError> {
    if usize::from(options.sack_count) > MAX_SACK_BLOCKS {
        return Err(EmitError::TooManySackBlocks(options.sack_count));
    }
    if options.wire_len() > MAX_OPTIONS {
        return Err(EmitError::OptionsTooLong(options.wire_len()));
    }
    let mut out = OptionBytes { bytes: [0; MAX_OPTIONS as usize], len: 0 };
    if let Some(mss) = options.mss {
        out.push(&[MSS, 4]);
        out.push(&mss.to_be_bytes());
    }
    let halves = u8::from(options.sack_permitted)
        + u8::from(options.timestamps.is_some())
        + u8::from(options.sack_count > 0);
    if halves % 2 == 1 {
        out.push(&[NO_OPERATION, NO_OPERATION]);
    }
    if options.sack_permitted {
        out.push(&[SACK_PERMITTED, 2]);
    }
    if let Some(timestamps) = options.timestamps {
        out.push_timestamps(timestamps);
    }
    if options.sack_count > 0 {
        out.push_sack(options.sack_blocks());
    }
    if let Some(shift) = options.window_scale {
        out.push(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
    }
    Ok(out)
}

fn decode_options(mut bytes: &[u8]) -> Result<Options, WireError> {
    let mut options = Options::default();
    while let [kind, rest @ ..] = bytes {
        match *kind {
            END_OF_OPTIONS => break,
            NO_OPERATION => bytes = rest,
            kind => {
                let len = rest.first().map_or(0, |&len| usize::from(len));
                if len < 2 || len > bytes.len() {
                    return Err(WireError::OptionLength(kind));
                }
                decode_option(kind, &bytes[2..len], &mut options)?;
                bytes = &bytes[len..];
            }
        }
    }
    Ok(options)
}

fn decode_option(kind: u8, value: &[u8], options: &mut Options) -> Result<(), WireError> {
    match (kind, value) {
        (MSS, &[a, b]) => options.mss = Some(u16::from_be_bytes([a, b])),
        (WINDOW_SCALE, &[shift]) => options.window_scale = Some(shift),
        (SACK_PERMITTED, &[]) => options.sack_permitted = true,
        (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
            options.timestamps = Some(Timestamps {
                value: u32::from_be_bytes([a, b, c, d]),
                echo: u32::from_be_bytes([e, f, g, h]),
            });
        }
        (SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
            decode_sack(blocks, options);
        }
        (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => {
            return Err(WireError::OptionLength(kind));
        }
        _ => {}
    }
    Ok(())
}

fn decode_sack(value: &[u8], options: &mut Options) {
    let edge = |b: &[u8]| Seq(u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
    options.sack = Default::default();
    options.sack_count = 0;
    for (slot, block) in options.sack.iter_mut().zip(value.chunks_exact(8)) {
        *slot = SackBlock { left: edge(&block[..4]), right: edge(&block[4..]) };
        options.sack_count += 1;
    }
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
