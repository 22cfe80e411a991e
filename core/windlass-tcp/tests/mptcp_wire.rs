//! Options of Multipath TCP in packets: the figures of RFC 8684 byte by byte, lengths, checksums, ignored
//! options, and numbers sent with half of their bits.

use crate::wire_format::{addresses, with_raw_options};
use proptest::prelude::*;
use windlass_tcp::mptcp::codec::{self, Checksum, Impossible};
use windlass_tcp::mptcp::{Dss, Mapping, MpOption, Numbers, keys};
use windlass_tcp::wire::{self, EmitError, WireError};
use windlass_tcp::{Flags, Options, Segment, Seq, Timestamps};

const KEY_A: u64 = 0x0123_4567_89ab_cdef;
const KEY_B: u64 = 0xfedc_ba98_7654_3210;

fn emit(segment: &Segment, option: &MpOption, checksums: bool) -> Result<Vec<u8>, EmitError> {
    let mut bytes = Vec::new();
    let fill = |p: &mut [u8]| wire::fill_pattern(segment.seq, p);
    wire::emit_multipath(segment, Some(option), checksums, &addresses(), fill, &mut bytes)?;
    Ok(bytes)
}

/// The encoded option of a segment without other options. The segment's payload matches the option's mapping.
fn option_bytes(option: &MpOption, checksums: bool) -> Vec<u8> {
    let fin = matches!(option, MpOption::Dss(dss) if dss.data_fin);
    let len = option.mapping().map_or(0, |m| u32::from(m.len) - u32::from(fin));
    let segment = Segment { len, flags: Flags::ACK, ..Segment::default() };
    let bytes = emit(&segment, option, checksums).expect("a valid option");
    let header = usize::from(bytes[32] >> 4) * 4;
    assert_eq!(header as u32, 20 + option.wire_len(), "{option:?}");
    let read = wire::parse(&bytes).expect("valid").multipath.expect("an option");
    assert_eq!(read.option, *option);
    assert!(!read.short_ack && !read.short_seq);
    bytes[40..20 + header].to_vec()
}

fn capable(sender: Option<u64>, receiver: Option<u64>, data_len: Option<u16>) -> MpOption {
    MpOption::Capable { sender_key: sender, receiver_key: receiver, data_len }
}

fn dss(data_ack: Option<u64>, mapping: Option<Mapping>, data_fin: bool) -> MpOption {
    MpOption::Dss(Dss { data_ack, mapping, data_fin })
}

const MAPPING: Mapping =
    Mapping { data_seq: 0x1112_1314_1516_1718, subflow_offset: 0x2122_2324, len: 100 };

// RFC 8684-3.1-1, 8684-3.1-5, 8684-3.1-11
#[test]
fn mp_capable_has_the_bytes_of_figure_4() {
    let a = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
    let b = [0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10];
    assert_eq!(option_bytes(&capable(None, None, None), false), [30, 4, 0x01, 0x01]);
    assert_eq!(option_bytes(&capable(None, None, None), true), [30, 4, 0x01, 0x81]);
    let answer = option_bytes(&capable(Some(KEY_B), None, None), false);
    assert_eq!(answer, [&[30, 12, 0x01, 0x01], &b[..]].concat());
    let third = option_bytes(&capable(Some(KEY_A), Some(KEY_B), None), false);
    assert_eq!(third, [&[30, 20, 0x01, 0x01], &a[..], &b[..]].concat());
    let data = option_bytes(&capable(Some(KEY_A), Some(KEY_B), Some(0x0102)), false);
    assert_eq!(data, [&[30, 22, 0x01, 0x01], &a[..], &b[..], &[1, 2, 0, 0]].concat());
    let summed = option_bytes(&capable(Some(KEY_A), Some(KEY_B), Some(0x0102)), true);
    assert_eq!(summed[..22], [&[30, 24, 0x01, 0x81], &a[..], &b[..], &[1, 2]].concat());
}

// RFC 8684-3.2-2, 8684-3.2-3
#[test]
fn mp_join_has_the_bytes_of_figures_5_to_7() {
    let syn =
        MpOption::JoinSyn { backup: true, address: 2, token: 0x3132_3334, nonce: 0x4142_4344 };
    let expected = [30, 12, 0x11, 2, 0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44];
    assert_eq!(option_bytes(&syn, false), expected);
    let answer = MpOption::JoinSynAck {
        backup: false,
        address: 3,
        hmac: 0x5152_5354_5556_5758,
        nonce: 0x4142_4344,
    };
    let hmac = [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58];
    let expected = [&[30, 16, 0x10, 3], &hmac[..], &[0x41, 0x42, 0x43, 0x44]].concat();
    assert_eq!(option_bytes(&answer, false), expected);
    let hmac = core::array::from_fn(|i| 0x60 + i as u8);
    let expected = [&[30, 24, 0x10, 0], &hmac[..]].concat();
    assert_eq!(option_bytes(&MpOption::JoinAck { hmac }, false), expected);
}

// RFC 8684-3.3-1, 8684-3.3.1-7, 8684-3.3.1-9, 8684-3.3.3-1
#[test]
fn dss_has_the_bytes_of_figure_9() {
    let ack = [0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78];
    let data_ack = Some(0x7172_7374_7576_7778);
    let seq = [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0, 100];
    let only_ack = option_bytes(&dss(data_ack, None, false), false);
    assert_eq!(only_ack, [&[30, 12, 0x20, 0x03], &ack[..]].concat());
    let only_data = option_bytes(&dss(None, Some(MAPPING), false), false);
    assert_eq!(only_data, [&[30, 18, 0x20, 0x0c], &seq[..], &[0, 0]].concat());
    let both = option_bytes(&dss(data_ack, Some(MAPPING), true), false);
    assert_eq!(both, [&[30, 26, 0x20, 0x1f], &ack[..], &seq[..], &[0, 0]].concat());
}

#[test]
fn the_other_options_have_the_bytes_of_sections_3_3_8_to_3_7() {
    let ip = [10, 0, 0, 2];
    let announced = MpOption::AddAddress { address: 4, echo: false, ip, hmac: Some(0x0102) };
    let expected = [30, 16, 0x30, 4, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 2];
    assert_eq!(option_bytes(&announced, false), expected);
    let echoed = MpOption::AddAddress { address: 4, echo: true, ip, hmac: None };
    assert_eq!(option_bytes(&echoed, false), [30, 8, 0x31, 4, 10, 0, 0, 2]);
    assert_eq!(option_bytes(&MpOption::RemoveAddress { address: 9 }, false), [30, 4, 0x40, 9]);
    assert_eq!(option_bytes(&MpOption::Priority { backup: true }, false), [30, 3, 0x51, 0]);
    let fail = option_bytes(&MpOption::Fail { data_seq: 0x0304 }, false);
    assert_eq!(fail, [30, 12, 0x60, 0, 0, 0, 0, 0, 0, 0, 3, 4]);
    let close = option_bytes(&MpOption::FastClose { key: 0x0506 }, false);
    assert_eq!(close, [30, 12, 0x70, 0, 0, 0, 0, 0, 0, 0, 5, 6]);
    let reset = MpOption::Reset { transient: true, reason: 3 };
    assert_eq!(option_bytes(&reset, false), [30, 4, 0x81, 3]);
}

// RFC 8684-3.1-16
/// The expected checksums were computed in Python from the definition in RFC 1071.
#[test]
fn checksums_cover_numbers_and_payload() {
    assert_eq!(codec::checksum(MAPPING, &[]), 0x6b01);
    assert_eq!(codec::checksum(MAPPING, &[0xff, 0x01, 0x80]), 0xebfe);
    let bytes = option_bytes(&dss(Some(1), Some(MAPPING), false), true);
    let mut payload = [0; 100];
    wire::fill_pattern(Seq(0), &mut payload);
    let expected = codec::checksum(MAPPING, &payload).to_be_bytes();
    assert_eq!((bytes[1], &bytes[26..]), (28, &expected[..]));
    // The first data of MP_CAPABLE have the number after the initial number, at offset 1.
    let bytes = option_bytes(&capable(Some(KEY_A), Some(KEY_B), Some(100)), true);
    let data_seq = keys::initial_data_seq(KEY_A) + 1;
    let first = Mapping { data_seq, subflow_offset: 1, len: 100 };
    assert_eq!(bytes[22..], codec::checksum(first, &payload).to_be_bytes());
}

#[test]
fn a_checksum_is_refused_where_the_mapping_has_other_payload() {
    let segment = Segment { len: 99, flags: Flags::ACK, ..Segment::default() };
    let option = dss(None, Some(MAPPING), false);
    let expected = EmitError::MappingCut { mapped: 100, payload: 99 };
    assert_eq!(emit(&segment, &option, true), Err(expected));
    assert!(emit(&segment, &option, false).is_ok());
    // With a DATA_FIN the last octet is not part of the payload.
    assert!(emit(&segment, &dss(None, Some(MAPPING), true), true).is_ok());
}

#[test]
fn a_full_data_segment_has_its_options_in_forty_bytes() {
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let options = Options { timestamps, ..Options::default() };
    let segment = Segment { len: 100, flags: Flags::ACK, options, ..Segment::default() };
    let option = dss(Some(5), Some(MAPPING), false);
    for checksums in [false, true] {
        let bytes = emit(&segment, &option, checksums).expect("it fits");
        assert_eq!(bytes.len() as u32, segment.ip_len() + option.wire_len());
        assert_eq!(bytes[32] >> 4, 15);
    }
    let mut sack = segment;
    sack.options.sack_count = 1;
    assert_eq!(emit(&sack, &option, false), Err(EmitError::OptionsTooLong(48)));
    assert!(emit(&Segment { len: 0, ..sack }, &dss(Some(5), None, false), false).is_ok());
}

#[test]
fn options_that_contradict_themselves_are_refused() {
    let segment = Segment { flags: Flags::ACK, ..Segment::default() };
    let ip = [10, 0, 0, 2];
    for (option, why) in [
        (capable(None, Some(1), None), Impossible::Keys),
        (capable(Some(1), None, Some(1)), Impossible::Keys),
        (capable(None, None, Some(1)), Impossible::Keys),
        (dss(Some(1), None, true), Impossible::DataFin),
        (
            MpOption::AddAddress { address: 1, echo: true, ip, hmac: Some(1) },
            Impossible::AddressProof,
        ),
        (
            MpOption::AddAddress { address: 1, echo: false, ip, hmac: None },
            Impossible::AddressProof,
        ),
    ] {
        assert_eq!(emit(&segment, &option, false), Err(EmitError::Multipath(why)), "{option:?}");
    }
}

// RFC 8684-3.1-2, 8684-3.1-9, 8684-3.1-12
#[test]
fn options_undefined_in_version_1_are_skipped_and_the_others_are_read() {
    for foreign in [
        &[30, 12, 0x00, 0x81, 1, 2, 3, 4, 5, 6, 7, 8][..], // MP_CAPABLE of version 0
        &[30, 4, 0x01, 0x00],                              // no method
        &[30, 4, 0x01, 0x41],                              // flag B
        &[30, 8, 0x01, 0x01, 1, 2, 3, 4],                  // half a key
        &[30, 13, 0x10, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9],     // MP_JOIN one byte too long
        &[30, 10, 0x20, 0x03, 1, 2, 3, 4, 5, 6],           // DSS shorter than its flags
        &[30, 10, 0x20, 0x01, 1, 2, 3, 4, 5, 6],           // a checksum without mapping
        &[30, 18, 0x30, 4, 10, 0, 0, 2, 0, 80, 1, 2, 3, 4, 5, 6, 7, 8], // an address with a port
        &[30, 3, 0x40],                                    // no address removed
        &[30, 4, 0x51, 1],                                 // MP_PRIO of version 0
        &[30, 8, 0x60, 0, 1, 2, 3, 4],                     // half a number
        &[30, 4, 0xf0, 0],                                 // an experiment
        &[30, 2],
        &[30, 3, 0x00],
    ] {
        let raw = [foreign, &[2, 4, 0x05, 0xb4]].concat();
        let bytes = with_raw_options(&raw);
        let packet = wire::parse(&bytes).expect("a valid packet");
        let mss = packet.segment.options.mss;
        assert_eq!((packet.multipath, mss), (None, Some(1460)), "{foreign:x?}");
    }
    // Beyond the header's end, the length is not checked by Multipath TCP.
    let raw = [30, 12, 0x20, 0x03];
    assert_eq!(wire::parse(&with_raw_options(&raw)), Err(WireError::OptionLength(30)));
}

#[test]
fn data_ack_without_mapping_has_lower_priority_than_another_option() {
    let ack = [30, 8, 0x20, 0x01, 0, 0, 0, 7];
    let removed = [30, 4, 0x40, 3];
    let mapping = [30, 16, 0x20, 0x05, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 9];
    let read = |parts: &[&[u8]]| {
        let packet = with_raw_options(&parts.concat());
        wire::parse(&packet).expect("valid").multipath.expect("an option").option
    };
    let removal = MpOption::RemoveAddress { address: 3 };
    assert_eq!(read(&[&ack, &removed]), removal);
    assert_eq!(read(&[&removed, &ack]), removal);
    let data = |option| matches!(option, MpOption::Dss(dss) if dss.data_ack == Some(7));
    // The mapping's own length, two octets, is missing: the option has no mapping.
    assert_eq!(read(&[&removed, &mapping]), removal);
    let mapping = [30, 18, 0x20, 0x05, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 9, 0, 5];
    assert!(data(read(&[&removed, &mapping])) && data(read(&[&mapping, &removed])));
}

// RFC 8684-3.3.1-8, 8684-3.3.2-1
#[test]
fn numbers_with_32_bits_are_completed_from_earlier_numbers() {
    let read = |raw: &[u8]| wire::parse(&with_raw_options(raw)).unwrap().multipath.unwrap();
    let mut numbers = Numbers::default();
    numbers.sent(&capable(None, None, None));
    numbers.complete(&read(&option_bytes(&capable(Some(KEY_B), None, None), false)));
    numbers.sent(&capable(Some(KEY_A), Some(KEY_B), None));
    let (own, peer) = (keys::initial_data_seq(KEY_A) + 1, keys::initial_data_seq(KEY_B) + 1);
    let first = Mapping { data_seq: own, subflow_offset: 1, len: 1400 };
    numbers.sent(&dss(Some(peer), Some(first), false));
    // 30, 16: acknowledgement, sequence number, offset 1 in four octets each, and length 1400.
    let short = |ack: u64, seq: u64| {
        let [ack, seq] = [ack, seq].map(|n| (n as u32).to_be_bytes());
        [&[30, 18, 0x20, 0x05][..], &ack, &seq, &[0, 0, 0, 1, 0x05, 0x78]].concat()
    };
    let signal = read(&short(own + 1400, peer));
    assert!(signal.short_ack && signal.short_seq);
    let mapping = Mapping { data_seq: peer, ..first };
    assert_eq!(numbers.complete(&signal), dss(Some(own + 1400), Some(mapping), false));
    // Both numbers advance by a gigabyte.
    let far = 1 << 30;
    let mapping = Mapping { data_seq: own.wrapping_add(far), ..first };
    numbers.sent(&dss(None, Some(mapping), false));
    let signal = read(&short(own + far, peer + far));
    let mapping = Mapping { data_seq: peer + far, ..first };
    assert_eq!(numbers.complete(&signal), dss(Some(own + far), Some(mapping), false));
}

fn any_mapping() -> impl Strategy<Value = Mapping> {
    any::<(u64, u32, u16)>().prop_map(|(data_seq, subflow_offset, len)| Mapping {
        data_seq,
        subflow_offset,
        len,
    })
}

fn any_option() -> impl Strategy<Value = MpOption> {
    let keys = any::<(u64, u64, Option<u16>)>();
    let joins = any::<(bool, u8, u32, u32)>();
    let dss_parts = (any::<Option<u64>>(), proptest::option::of(any_mapping()), any::<bool>());
    prop_oneof![
        Just(capable(None, None, None)),
        any::<u64>().prop_map(|key| capable(Some(key), None, None)),
        keys.prop_map(|(a, b, len)| capable(Some(a), Some(b), len)),
        joins.prop_map(|(backup, address, token, nonce)| MpOption::JoinSyn {
            backup,
            address,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address, hmac, nonce)| {
            MpOption::JoinSynAck { backup, address, hmac, nonce }
        }),
        any::<[u8; 20]>().prop_map(|hmac| MpOption::JoinAck { hmac }),
        dss_parts.prop_map(|(ack, mapping, fin)| dss(ack, mapping, fin && mapping.is_some())),
        any::<(u8, [u8; 4], Option<u64>)>().prop_map(|(address, ip, hmac)| MpOption::AddAddress {
            address,
            echo: hmac.is_none(),
            ip,
            hmac,
        }),
        any::<u8>().prop_map(|address| MpOption::RemoveAddress { address }),
        any::<bool>().prop_map(|backup| MpOption::Priority { backup }),
        any::<u64>().prop_map(|data_seq| MpOption::Fail { data_seq }),
        any::<u64>().prop_map(|key| MpOption::FastClose { key }),
        any::<(bool, u8)>().prop_map(|(transient, reason)| MpOption::Reset { transient, reason }),
    ]
}

proptest! {
    #[test]
    fn every_option_comes_back_and_has_its_stated_length(
        option in any_option(),
        stamped in any::<bool>(),
        checksums in any::<bool>(),
    ) {
        let fin = matches!(option, MpOption::Dss(dss) if dss.data_fin);
        let len = option.mapping().map_or(0, |m| u32::from(m.len).saturating_sub(fin.into()));
        let timestamps = stamped.then_some(Timestamps { value: 7, echo: 8 });
        let options = Options { timestamps, ..Options::default() };
        let segment = Segment { len, flags: Flags::ACK, options, ..Segment::default() };
        let bytes = match emit(&segment, &option, checksums) {
            Ok(bytes) => bytes,
            Err(error) => {
                // A mapping can be longer than any packet.
                prop_assert!(matches!(error, EmitError::TooLong(_)), "{}", error);
                return Ok(());
            }
        };
        prop_assert_eq!(bytes.len() as u32, segment.ip_len() + option.wire_len());
        let packet = wire::parse(&bytes).expect("a valid packet");
        let signal = packet.multipath.expect("an option");
        prop_assert_eq!((packet.segment, signal.option), (segment, option));
        let expected = match option.mapping() {
            Some(mapping) if checksums && mapping.len == 0 => Checksum::Sum(0),
            Some(mapping) if checksums => Checksum::Sum(codec::checksum(mapping, packet.payload)),
            None if checksums && matches!(option, MpOption::Capable { .. }) => Checksum::Demanded,
            _ => Checksum::None,
        };
        prop_assert_eq!(signal.checksum, expected);
    }

    #[test]
    fn any_bytes_of_an_option_are_read_or_skipped_and_can_be_written_again(
        value in proptest::collection::vec(any::<u8>(), 0..=38),
        subtype in 0..=8_u8,
    ) {
        let mut raw = [&[30, value.len() as u8 + 2], &value[..]].concat();
        if let Some(first) = raw.get_mut(2) {
            *first = subtype << 4 | *first & 1;
        }
        let packet = with_raw_options(&raw);
        let Some(signal) = wire::parse(&packet).expect("valid").multipath else { return Ok(()) };
        let segment = Segment { flags: Flags::ACK, ..Segment::default() };
        let again = emit(&segment, &signal.option, false).expect("a decoded option can be encoded");
        prop_assert_eq!(wire::parse(&again).unwrap().multipath.unwrap().option, signal.option);
    }
}
