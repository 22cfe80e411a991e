//! The wire format: sizes, options, errors, and agreement with another implementation.

use std::net::{Ipv4Addr, SocketAddrV4};

use windlass_tcp::accurate_option::{EcnOption, EcnOrder};
use windlass_tcp::segment::MAX_SACK_BLOCKS;
use windlass_tcp::wire::{self, Addresses, EmitError, MAX_IP_LEN, MAX_OPTIONS, WireError};
use windlass_tcp::{Flags, Options, SackBlock, Segment, Seq, Timestamps};

pub(crate) fn addresses() -> Addresses {
    Addresses {
        source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 49_152),
        destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 49_153),
    }
}

fn emit(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    let fill = |p: &mut [u8]| wire::fill_pattern(segment.seq, p);
    wire::emit(segment, &addresses(), fill, &mut bytes).expect("a valid segment");
    bytes
}

/// A segment without payload whose header holds `options`, padded with end-of-options.
pub(crate) fn with_raw_options(options: &[u8]) -> Vec<u8> {
    let mut tcp = etherparse::TcpHeader::new(1, 2, 3, 4);
    tcp.set_options_raw(options).expect("at most 40 bytes");
    let mut ip = etherparse::Ipv4Header {
        total_len: 20 + tcp.header_len_u16(),
        protocol: etherparse::IpNumber::TCP,
        ..Default::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &[]).expect("short");
    [&ip.to_bytes()[..], &tcp.to_bytes()[..]].concat()
}

/// Returns `packet` after `change` to its IPv4 header, with a corrected header checksum.
fn with_ip(packet: &[u8], change: impl FnOnce(&mut etherparse::Ipv4Header)) -> Vec<u8> {
    let (mut ip, rest) = etherparse::Ipv4Header::from_slice(packet).expect("valid");
    change(&mut ip);
    ip.header_checksum = ip.calc_header_checksum();
    [&ip.to_bytes()[..], rest].concat()
}

fn block(left: u32, right: u32) -> SackBlock {
    SackBlock { left: Seq(left), right: Seq(right) }
}

/// Every combination of options, including combinations that do not fit into a header.
fn combinations() -> Vec<Options> {
    let mut all = Vec::new();
    for bits in 0..16_u8 {
        for sack_count in 0..=MAX_SACK_BLOCKS as u8 {
            let mut options = Options {
                mss: (bits & 1 != 0).then_some(1460),
                window_scale: (bits & 2 != 0).then_some(7),
                sack_permitted: bits & 4 != 0,
                timestamps: (bits & 8 != 0).then_some(Timestamps { value: 1, echo: u32::MAX }),
                sack_count,
                ..Options::default()
            };
            for (i, slot) in options.sack.iter_mut().take(sack_count.into()).enumerate() {
                *slot = block(1000 * i as u32, 1000 * i as u32 + 500);
            }
            all.push(options);
        }
    }
    all
}

// RFC 9293-3.1-MUST-69
#[test]
fn every_combination_of_options_has_its_stated_length_and_comes_back() {
    let mut fitting = 0;
    for options in combinations() {
        let segment = Segment { options, len: 7, flags: Flags::ACK, ..Segment::default() };
        let mut bytes = Vec::new();
        let result = wire::emit(&segment, &addresses(), |_| (), &mut bytes);
        if options.wire_len() > MAX_OPTIONS {
            assert_eq!(result, Err(EmitError::OptionsTooLong(options.wire_len())));
            assert!(bytes.is_empty());
            continue;
        }
        fitting += 1;
        result.expect("it fits");
        assert_eq!(bytes.len() as u32, segment.ip_len(), "{options:?}");
        assert_eq!(u32::from(bytes[32] >> 4) * 4, 20 + options.wire_len(), "{options:?}");
        assert_eq!(wire::parse(&bytes).expect("valid").segment, segment);
    }
    // Three blocks and timestamps take 36 bytes; two of the other three options do not fit with them.
    assert_eq!(fitting, 64 - 4);
}

// RFC 9293-3.1-MUST-4
#[test]
fn a_syn_has_its_options_in_the_expected_bytes() {
    let options = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 0x0102_0304, echo: 0 }),
        ..Options::default()
    };
    let bytes = emit(&Segment { flags: Flags::SYN, options, ..Segment::default() });
    let expected = [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7];
    assert_eq!(bytes[40..], expected);
}

#[test]
fn three_sack_blocks_with_timestamps_fill_36_bytes() {
    let options = Options {
        timestamps: Some(Timestamps::default()),
        sack_count: 3,
        sack: [block(1, 2), block(3, 4), block(5, 6)],
        ..Options::default()
    };
    assert_eq!(emit(&Segment { options, ..Segment::default() }).len(), 40 + 36);
}

// RFC 9293-3.1-MUST-2
#[test]
fn another_implementation_accepts_the_packet() {
    let segment = Segment {
        seq: Seq(u32::MAX - 2),
        ack: Seq(77),
        len: 11,
        window: 8760,
        flags: Flags::ACK.with(Flags::PSH),
        ..Segment::default()
    };
    let bytes = emit(&segment);
    let packet = etherparse::PacketHeaders::from_ip_slice(&bytes).expect("valid headers");
    let Some(etherparse::NetHeaders::Ipv4(ip, _)) = packet.net else { panic!("not IPv4") };
    let Some(etherparse::TransportHeader::Tcp(tcp)) = packet.transport else { panic!("not TCP") };
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    assert_eq!(Ok(tcp.checksum), tcp.calc_checksum_ipv4(&ip, packet.payload.slice()));
    assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (u32::MAX - 2, 77));
    assert!(tcp.ack && tcp.psh && !tcp.syn && !tcp.fin && !tcp.rst && !tcp.urg);
    assert_eq!(tcp.window_size, 8760);
    // 2³² is 123 modulo 251, and the pattern starts again after the wrap.
    assert_eq!(packet.payload.slice()[..5], [120, 121, 122, 0, 1]);
}

#[test]
fn a_datagram_has_a_valid_checksum() {
    for len in [0, 1, 2, 1472] {
        for value in 0..=u8::MAX {
            let mut bytes = Vec::new();
            wire::emit_datagram(len, &addresses(), |p| p.fill(value), &mut bytes).expect("short");
            assert_eq!(bytes.len() as u32, 28 + len);
            let packet = etherparse::PacketHeaders::from_ip_slice(&bytes).expect("valid");
            let Some(etherparse::NetHeaders::Ipv4(ip, _)) = packet.net else { panic!("IPv4") };
            let Some(etherparse::TransportHeader::Udp(udp)) = packet.transport else {
                panic!("UDP")
            };
            assert_eq!(u32::from(udp.length), 8 + len);
            assert_eq!(Ok(udp.checksum), udp.calc_checksum_ipv4(&ip, packet.payload.slice()));
        }
    }
}

#[test]
fn datagram_with_zero_checksum_is_sent_with_0xffff() {
    // The payloads of one word produce every sum, including zero.
    let mut all_ones = 0;
    for word in 0..=u16::MAX {
        let mut bytes = Vec::new();
        let fill = |p: &mut [u8]| p.copy_from_slice(&word.to_be_bytes());
        wire::emit_datagram(2, &addresses(), fill, &mut bytes).expect("short");
        assert_ne!(bytes[26..28], [0, 0]);
        all_ones += u32::from(bytes[26..28] == [0xff, 0xff]);
    }
    assert!(all_ones > 0);
}

#[test]
fn a_packet_over_65535_bytes_is_refused_and_one_of_65535_is_not() {
    let fits = Segment { len: MAX_IP_LEN - 40, ..Segment::default() };
    assert_eq!(wire::parse(&emit(&fits)).expect("valid").segment, fits);
    for len in [MAX_IP_LEN - 39, u32::MAX] {
        let mut bytes = Vec::new();
        let long = Segment { len, ..Segment::default() };
        let result = wire::emit(&long, &addresses(), |_| (), &mut bytes);
        assert_eq!(result, Err(EmitError::TooLong(u64::from(len) + 40)));
        assert!(bytes.is_empty());
    }
    let mut bytes = Vec::new();
    let longest = MAX_IP_LEN - 28;
    wire::emit_datagram(longest, &addresses(), |_| (), &mut bytes).expect("it just fits");
    let result = wire::emit_datagram(longest + 1, &addresses(), |_| (), &mut bytes);
    assert_eq!(result, Err(EmitError::TooLong(65_536)));
    assert_eq!(bytes.len(), 65_535);
}

#[test]
fn a_fourth_sack_block_cannot_be_written() {
    let options = Options { sack_count: 4, ..Options::default() };
    let segment = Segment { options, ..Segment::default() };
    let result = wire::emit(&segment, &addresses(), |_| (), &mut Vec::new());
    assert_eq!(result, Err(EmitError::TooManySackBlocks(4)));
}

#[test]
fn first_three_of_four_sack_blocks_are_kept() {
    let mut raw = vec![1, 1, 5, 34];
    for edge in 1..=8_u32 {
        raw.extend(edge.to_be_bytes());
    }
    let bytes = with_raw_options(&raw);
    let options = wire::parse(&bytes).expect("valid").segment.options;
    assert_eq!(options.sack_blocks(), [block(1, 2), block(3, 4), block(5, 6)]);
}

// RFC 9293-3.1-MUST-4, 9293-3.1-MUST-6, 9293-3.1-MUST-68
#[test]
fn unknown_options_are_skipped_and_options_after_the_end_are_not_read() {
    let raw = [254, 6, 1, 2, 3, 4, 1, 2, 4, 2, 24, 0, 3, 3, 9, 0];
    let bytes = with_raw_options(&raw);
    let options = wire::parse(&bytes).expect("valid").segment.options;
    assert_eq!(options, Options { mss: Some(536), ..Options::default() });
}

// RFC 9293-3.1-MUST-7
#[test]
fn options_with_wrong_lengths_are_refused() {
    let cases: [(&[u8], u8); 11] = [
        (&[2, 3, 1, 0], 2),
        (&[2, 0, 1, 0], 2),
        (&[2, 1, 1, 0], 2),
        (&[3, 2, 0, 0], 3),
        (&[4, 3, 0, 0], 4),
        (&[5, 2, 0, 0], 5),
        (&[5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 5),
        (&[8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 8),
        (&[1, 1, 1, 2], 2),
        (&[254, 5, 0, 0], 254),
        (&[254, 1, 0, 0], 254),
    ];
    for (raw, kind) in cases {
        let bytes = with_raw_options(raw);
        assert_eq!(wire::parse(&bytes), Err(WireError::OptionLength(kind)), "{raw:?}");
    }
}

#[test]
fn padding_after_the_packet_is_ignored_and_a_missing_byte_is_not() {
    let segment = Segment { len: 3, ..Segment::default() };
    let mut bytes = emit(&segment);
    assert_eq!(wire::parse(&bytes[..bytes.len() - 1]), Err(WireError::Truncated));
    bytes.extend([0xaa; 9]);
    let packet = wire::parse(&bytes).expect("valid");
    assert_eq!((packet.segment, packet.payload), (segment, &[0, 1, 2][..]));
}

#[test]
fn packets_without_a_complete_tcp_segment_are_rejected_with_the_reason() {
    let good = emit(&Segment { len: 8, ..Segment::default() });
    let parse = |bytes: Vec<u8>| wire::parse(&bytes).map(|p| p.segment);
    let fragment = with_ip(&good, |ip| ip.more_fragments = true);
    assert_eq!(parse(fragment), Err(WireError::Fragment));
    let udp = with_ip(&good, |ip| ip.protocol = etherparse::IpNumber::UDP);
    assert_eq!(parse(udp), Err(WireError::NotTcp(17)));
    let redirected = with_ip(&good, |ip| ip.destination = [10, 0, 0, 9]);
    assert_eq!(parse(redirected), Err(WireError::TcpChecksum));
    let too_short = with_ip(&good, |ip| ip.total_len = 19);
    assert_eq!(parse(too_short), Err(WireError::HeaderLength));
    let mut six = good.clone();
    six[0] = 0x65;
    assert_eq!(parse(six), Err(WireError::Version(6)));
    let mut four_words = good.clone();
    four_words[0] = 0x44;
    assert_eq!(parse(four_words), Err(WireError::HeaderLength));
    assert_eq!(parse(good[..19].to_vec()), Err(WireError::Truncated));
    let mut other = good;
    other[8] ^= 1;
    assert_eq!(parse(other), Err(WireError::IpChecksum));
}

// RFC 9293-3.9.2-MUST-50
#[test]
fn ip_options_are_stepped_over() {
    let segment = Segment { len: 4, flags: Flags::ACK, ..Segment::default() };
    let bytes = with_ip(&emit(&segment), |ip| {
        ip.options = [1, 1, 1, 0].into();
        ip.total_len += 4;
    });
    assert_eq!(wire::parse(&bytes).expect("valid").segment, segment);
}

#[test]
fn exchanged_words_are_not_detected() {
    let mut bytes = emit(&Segment { len: 4, ..Segment::default() });
    let len = bytes.len();
    bytes.swap(len - 4, len - 2);
    bytes.swap(len - 3, len - 1);
    assert_eq!(wire::parse(&bytes).expect("the sum is the same").payload, [2, 3, 0, 1]);
}

#[test]
fn flipped_bit_that_moves_the_header_boundary_is_detected() {
    // Ports and sequence number are chosen so that the IPv4 header checksum is valid again when the header
    // length changes from five words to seven. Their sum compensates the flipped bit's 0x0200.
    let addresses = Addresses {
        source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), !0x0200),
        destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 0),
    };
    let segment = Segment { len: 40, ..Segment::default() };
    let mut bytes = Vec::new();
    wire::emit(&segment, &addresses, |_| (), &mut bytes).expect("valid");
    bytes[0] ^= 0x02;
    assert_eq!(wire::parse(&bytes), Err(WireError::TcpChecksum));
}

#[test]
fn counters_of_accurate_ecn_are_three_bytes_each_in_the_order_of_their_kind() {
    let mut s = Segment { flags: Flags::ACK, ..Segment::default() };
    s.options.set_accurate_ecn(&EcnOption::new(EcnOrder::Ect1First, &[1, 0x0a0b0c, 0xffffff]));
    let bytes = emit(&s);
    assert_eq!(bytes[40..], [174, 11, 0, 0, 1, 0x0a, 0x0b, 0x0c, 0xff, 0xff, 0xff, 1]);
    let read = |raw: &[u8]| {
        let packet = with_raw_options(raw);
        wire::parse(&packet).expect("a packet").segment.options.accurate_ecn()
    };
    let option = |counters: &[u32]| Some(EcnOption::new(EcnOrder::Ect0First, counters));
    assert_eq!(read(&[172, 2]), option(&[]));
    assert_eq!(read(&[172, 5, 0, 0, 1]), option(&[1]));
    assert_eq!(read(&[172, 8, 0, 0, 1, 0, 1, 0]), option(&[1, 256]));
    assert_eq!(read(&[172, 11, 0, 0, 1, 0, 1, 0, 2, 0, 0]), option(&[1, 256, 0x20000]));
    // Whole counters of other lengths are read, and the rest is padding.
    assert_eq!(read(&[172, 7, 0, 0, 1, 9, 9]), option(&[1]));
    assert_eq!(read(&[172, 14, 0, 0, 1, 0, 0, 2, 0, 0, 3, 9, 9, 9]), option(&[1, 2, 3]));
    let mut sack = vec![5, 26];
    sack.extend([0; 24]);
    sack.extend([172, 5, 0, 0, 1]);
    assert_eq!(read(&sack), None, "three SACK blocks leave no place");
}
