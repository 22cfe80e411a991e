//! Properties of the wire format over all segments and all bytes.

use std::net::{Ipv4Addr, SocketAddrV4};

use proptest::prelude::*;
use windlass_tcp::accurate_option::{COUNTER_RANGE, EcnOption, EcnOrder};
use windlass_tcp::segment::MAX_SACK_BLOCKS;
use windlass_tcp::wire::{self, Addresses, MAX_OPTIONS};
use windlass_tcp::{Codepoint, Flags, Options, SackBlock, Segment, Seq, Timestamps};

fn any_options() -> impl Strategy<Value = Options> {
    let timestamps = proptest::option::of(any::<(u32, u32)>());
    let sack = proptest::collection::vec(any::<(u32, u32)>(), 0..=MAX_SACK_BLOCKS);
    let counters = proptest::collection::vec(0..COUNTER_RANGE, 0..=3);
    let order = prop_oneof![Just(EcnOrder::Ect0First), Just(EcnOrder::Ect1First)];
    let accurate = proptest::option::of((order, counters));
    (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), timestamps, sack, accurate)
        .prop_map(|(mss, window_scale, sack_permitted, timestamps, sack, accurate)| {
            let mut options = Options {
                mss,
                window_scale,
                sack_permitted,
                timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                sack_count: sack.len() as u8,
                ..Options::default()
            };
            for (slot, (left, right)) in options.sack.iter_mut().zip(sack) {
                *slot = SackBlock { left: Seq(left), right: Seq(right) };
            }
            if let Some((order, counters)) = accurate {
                let option = EcnOption::new(order, &counters);
                options.set_accurate_ecn(&option);
                let room = [3, 3, 2, 0][usize::from(options.sack_count)];
                let kept = options.accurate_ecn().map_or(0, |kept| kept.counters().len());
                assert_eq!(kept, counters.len().min(room));
            }
            options
        })
        .prop_filter("options fit", |options| options.wire_len() <= MAX_OPTIONS)
}

/// Sequence numbers, many of them close to the wrap.
fn any_seq() -> impl Strategy<Value = Seq> {
    prop_oneof![any::<u32>(), u32::MAX - 1500..=u32::MAX, 0..1500_u32].prop_map(Seq)
}

fn any_segment(most: u32) -> impl Strategy<Value = Segment> {
    let bits = (0u16..0x200, any::<u8>());
    (any_seq(), any_seq(), 0..=most, any::<u16>(), bits, any_options()).prop_map(
        |(seq, ack, len, window, (flags, ecn), options)| Segment {
            seq,
            ack,
            len,
            window,
            flags: Flags(flags),
            ecn: Codepoint::from_bits(ecn),
            options,
        },
    )
}

fn any_addresses() -> impl Strategy<Value = Addresses> {
    let end = || {
        any::<(u32, u16)>().prop_map(|(ip, port)| SocketAddrV4::new(Ipv4Addr::from_bits(ip), port))
    };
    (end(), end()).prop_map(|(source, destination)| Addresses { source, destination })
}

/// A valid packet with arbitrary option bytes and payload, so that the parser accepts the checksums.
fn packet_around(options: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut tcp = etherparse::TcpHeader::new(1, 2, 3, 4);
    tcp.set_options_raw(options).expect("at most 40 bytes");
    let mut ip = etherparse::Ipv4Header {
        total_len: 20 + tcp.header_len_u16() + payload.len() as u16,
        protocol: etherparse::IpNumber::TCP,
        ..Default::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).expect("short");
    [&ip.to_bytes()[..], &tcp.to_bytes()[..], payload].concat()
}

proptest! {
    // RFC 9293-3.1-MUST-1, 9293-3.1-MUST-5
    #[test]
    fn parse_inverts_emit(segment in any_segment(3000), ends in any_addresses()) {
        let mut bytes = vec![0xee; 5];
        let fill = |p: &mut [u8]| wire::fill_pattern(segment.seq, p);
        wire::emit(&segment, &ends, fill, &mut bytes).expect("a valid segment");
        prop_assert_eq!(&bytes[..5], &[0xee; 5]);
        prop_assert_eq!(bytes.len() as u32, 5 + segment.ip_len());
        let packet = wire::parse(&bytes[5..]).expect("a valid packet");
        prop_assert_eq!(packet.addresses, ends);
        prop_assert_eq!(packet.segment, segment);
        let mut payload = vec![0; segment.len as usize];
        wire::fill_pattern(segment.seq, &mut payload);
        prop_assert_eq!(packet.payload, payload);
    }

    #[test]
    fn no_bytes_make_parse_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = wire::parse(&bytes);
    }

    // RFC 9293-3.1-MUST-7, 9293-3.2-MUST-64
    #[test]
    fn arbitrary_options_are_read_or_refused_and_can_be_written_again(
        raw in proptest::collection::vec(any::<u8>(), 0..=40),
        payload in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = packet_around(&raw, &payload);
        match wire::parse(&bytes) {
            Ok(packet) => {
                prop_assert_eq!(packet.payload, &payload);
                let mut again = Vec::new();
                let fill = |p: &mut [u8]| p.copy_from_slice(&payload);
                if wire::emit(&packet.segment, &packet.addresses, fill, &mut again).is_ok() {
                    let multipath = None;
                    prop_assert_eq!(wire::parse(&again), Ok(wire::Packet { multipath, ..packet }));
                }
            }
            Err(error) => prop_assert!(matches!(error, wire::WireError::OptionLength(_))),
        }
    }

    // RFC 9293-3.1-MUST-3
    #[test]
    fn any_single_flipped_bit_is_refused(segment in any_segment(60), ends in any_addresses()) {
        let mut bytes = Vec::new();
        wire::emit(&segment, &ends, |p| p.fill(0x5a), &mut bytes).expect("a valid segment");
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(wire::parse(&bytes).is_err(), "bit {}", bit);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
