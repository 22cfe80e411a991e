//! Quick-Start's options byte by byte, and the approved rate of a response.

use std::net::{Ipv4Addr, SocketAddrV4};

use proptest::prelude::*;
use windlass_cc::{AnyParams, Setup, Time, slow_start};
use windlass_tcp::quick_start::{
    Carried, Nonce, QuickOption, RateCode, Report, Request, Response, TIME_TO_LIVE,
};
use windlass_tcp::stack::{RFC, StackConfig};
use windlass_tcp::wire::{self, Addresses};
use windlass_tcp::{Endpoint, Flags, Profile, Segment, Seq, State};

const ADDRESSES: Addresses = Addresses {
    source: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 1000),
    destination: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 2000),
};

fn profile() -> Profile {
    let mut params = AnyParams::by_name("reno").unwrap();
    let slow_start = slow_start::AnyParams::by_name("quick-start").unwrap();
    params.set_common(&Setup { slow_start, ..params.common() });
    let stack = StackConfig { receive_buffer: 64 << 20, send_buffer: 64 << 20, ..RFC };
    Profile::new(stack, params, 1500)
}

#[test]
fn rates_equal_table_1_in_section_3_1() {
    let kbps = [
        0, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920, 163_840,
        327_680, 655_360, 1_310_720,
    ];
    for (number, kbps) in (0..).zip(kbps) {
        let code = RateCode::new(number);
        assert_eq!(code.bits_per_second(), kbps * 1_000);
        assert_eq!(RateCode::at_most(kbps * 1_000), code);
        if number > 0 {
            assert_eq!(RateCode::at_most(kbps * 1_000 - 1), RateCode::new(number - 1));
        }
    }
    assert_eq!(RateCode::at_most(u64::MAX), RateCode::new(15));
}

fn bytes_of(option: QuickOption, ttl: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let syn = Segment { flags: Flags::SYN, ..Segment::default() };
    wire::emit_quick_start(&syn, &Carried { option, ttl }, &ADDRESSES, |_| {}, &mut out).unwrap();
    out
}

#[test]
fn request_and_report_have_the_bytes_of_section_3_1_in_the_ip_header() {
    let nonce = Nonce::new(0x2bcd_ef01);
    let (rate, ttl) = (RateCode::new(11), 200);
    let packet = bytes_of(QuickOption::Request(Request { rate, ttl, nonce }), 63);
    assert_eq!(packet[0], 0x47, "version 4, 28 bytes of header");
    assert_eq!((packet[8], packet.len()), (63, 28 + 20));
    // Option 25, 8 bytes; function 0000 and the rate; QS TTL; 30 bits of nonce and two reserved.
    assert_eq!(packet[20..28], [25, 8, 0x0b, 200, 0xaf, 0x37, 0xbc, 0x04]);
    let packet = bytes_of(QuickOption::Report(Report { rate, nonce }), 64);
    assert_eq!(packet[20..28], [25, 8, 0x8b, 0, 0xaf, 0x37, 0xbc, 0x04]);
}

#[test]
fn response_has_the_bytes_of_section_4_2_in_the_tcp_header() {
    let nonce = Nonce::new(0x2bcd_ef01);
    let packet = bytes_of(
        QuickOption::Response(Response { rate: RateCode::new(12), ttl_diff: 119, nonce }),
        64,
    );
    assert_eq!((packet[0], packet[32] >> 4), (0x45, 7), "20 and 28 bytes of header");
    // Kind 27, 8 bytes; four reserved bits and the rate; TTL Diff; the nonce as in the request.
    assert_eq!(packet[40..48], [27, 8, 0x0c, 119, 0xaf, 0x37, 0xbc, 0x04]);
}

fn any_option() -> impl Strategy<Value = QuickOption> {
    (0..3, 0..16u8, any::<u8>(), any::<u32>()).prop_map(|(which, rate, byte, nonce)| {
        let (rate, nonce) = (RateCode::new(rate), Nonce::new(nonce));
        match which {
            0 => QuickOption::Request(Request { rate, ttl: byte, nonce }),
            1 => QuickOption::Response(Response { rate, ttl_diff: byte, nonce }),
            _ => QuickOption::Report(Report { rate, nonce }),
        }
    })
}

proptest! {
    #[test]
    fn decoding_inverts_encoding(option in any_option(), ttl in any::<u8>(), len in 0..500u32) {
        let segment = Segment { len, flags: Flags::ACK, ..Segment::default() };
        let carried = Carried { option, ttl };
        let mut out = Vec::new();
        wire::emit_quick_start(&segment, &carried, &ADDRESSES, |_| {}, &mut out).unwrap();
        prop_assert_eq!(out.len() as u32, segment.ip_len() + 8);
        let packet = wire::parse(&out).unwrap();
        prop_assert_eq!(packet.quick_start, Some(carried));
        prop_assert_eq!((packet.segment, packet.addresses), (segment, ADDRESSES));
    }

    #[test]
    fn flipped_bit_in_the_option_fails_a_checksum(option in any_option(), bit in 0..64usize) {
        let mut packet = bytes_of(option, 64);
        let start = if packet[0] == 0x47 { 20 } else { 40 };
        packet[start + bit / 8] ^= 1 << (bit % 8);
        prop_assert!(wire::parse(&packet).is_err());
    }

    #[test]
    fn a_reduced_request_hides_the_steps_and_leaves_the_others(
        (from, to) in (1..16u8, 1..16u8), bits in any::<u32>(), random in any::<u32>(),
    ) {
        let (from, to) = (RateCode::new(from), RateCode::new(to));
        let sent = Nonce::new(bits);
        let mut request = Request { rate: from, ttl: 9, nonce: sent };
        request.reduce(to, random);
        prop_assert_eq!(request.rate, from.min(to));
        prop_assert!(request.nonce.agrees(sent, request.rate));
        // Bits of steps that were not taken stay; the router replaces the bits of a taken step.
        let low = |rate: RateCode| (1u32 << (2 * rate.number())) - 1;
        let steps = low(from) & !low(request.rate);
        prop_assert_eq!((request.nonce.bits() ^ sent.bits()) & !steps, 0);
        prop_assert_eq!((request.nonce.bits() ^ random) & steps, 0);
    }
}

/// A client that has sent a request, and the request.
fn asked() -> (Profile, Endpoint, Segment, Request) {
    let p = profile();
    let mut client = Endpoint::new(&p, Seq(7));
    client.connect();
    client.offer(10_000_000);
    let (syn, carried) = client.poll_quick_start(&p, Time::from_millis(1)).expect("a SYN");
    let Some(Carried { option: QuickOption::Request(request), ttl: TIME_TO_LIVE }) = carried else {
        panic!("{carried:?}")
    };
    (p, client, syn, request)
}

/// The rate in the client's report and its cwnd in segments, after a SYN-ACK with this response 100 ms later.
fn after(change: impl Fn(&mut Response), routers: u8) -> (RateCode, u64) {
    let (p, mut client, syn, mut request) = asked();
    let at = Time::from_millis(101);
    let mut server = Endpoint::new(&p, Seq(70));
    server.listen();
    request.ttl = request.ttl.wrapping_sub(routers);
    let carried = Carried { option: QuickOption::Request(request), ttl: TIME_TO_LIVE - 3 };
    server.on_quick_start(&p, at, &syn, &carried);
    let (syn_ack, carried) = server.poll_quick_start(&p, at).expect("a SYN-ACK");
    let Some(Carried { option: QuickOption::Response(mut response), ttl }) = carried else {
        panic!("{carried:?}")
    };
    change(&mut response);
    let carried = Carried { option: QuickOption::Response(response), ttl };
    client.on_quick_start(&p, at, &syn_ack, &carried);
    assert_eq!(client.state(), State::Established);
    let (ack, carried) = client.poll_quick_start(&p, at).expect("a report");
    assert!(ack.flags == Flags::ACK && ack.len == 0);
    let Some(Carried { option: QuickOption::Report(report), .. }) = carried else {
        panic!("{carried:?}")
    };
    assert_eq!(client.poll_quick_start(&p, at), None, "once");
    (report.rate, client.control().cwnd / u64::from(client.mss()))
}

#[test]
fn valid_response_sets_cwnd_to_rate_times_rtt() {
    // 1.31 Gbit/s for 100 ms, in segments of 1448 bytes and 40 of headers.
    assert_eq!(after(|_| {}, 3), (RateCode::new(15), 1_310_720_000 / 8 / 10 / 1488));
    let reduced = |r: &mut Response| {
        r.rate = RateCode::new(9);
        r.nonce = Nonce::new(r.nonce.bits() ^ 0x3ffc_0000);
    };
    assert_eq!(after(reduced, 3), (RateCode::new(9), 20_480_000 / 8 / 10 / 1488));
}

#[test]
fn response_above_the_approved_rate_approves_nothing() {
    let nothing = (RateCode::ZERO, 10);
    assert_eq!(after(|_| {}, 2), nothing, "a router took no part");
    assert_eq!(after(|r| r.ttl_diff ^= 1, 3), nothing);
    assert_eq!(after(|r| r.nonce = Nonce::new(r.nonce.bits() ^ 1), 3), nothing);
    assert_eq!(after(|r| *r = Response::default(), 3), nothing, "refused");
    // A router reduced the rate to 9 and replaced the higher bits; the response claims 10.
    let claim = |r: &mut Response| {
        r.rate = RateCode::new(10);
        r.nonce = Nonce::new(r.nonce.bits() ^ (1 << 18));
    };
    assert_eq!(after(claim, 3), nothing);
}

#[test]
fn peer_without_the_option_receives_a_report_of_zero() {
    let (p, mut client, syn, _) = asked();
    let at = Time::from_millis(101);
    let mut server = Endpoint::new(&p, Seq(70));
    server.listen();
    server.on_segment(&p, at, &syn);
    assert_eq!(server.poll_quick_start(&p, at), None);
    let syn_ack = server.poll_transmit(&p, at).expect("a SYN-ACK");
    client.on_segment(&p, at, &syn_ack);
    let (_, carried) = client.poll_quick_start(&p, at).expect("a report");
    let Some(Carried { option: QuickOption::Report(report), .. }) = carried else {
        panic!("{carried:?}")
    };
    assert_eq!((report.rate, client.control().cwnd), (RateCode::ZERO, 10 * 1448));
}

#[test]
fn host_without_options_has_a_standard_slow_start() {
    let p = profile();
    let (mut client, mut server) = (Endpoint::new(&p, Seq(7)), Endpoint::new(&p, Seq(70)));
    client.connect();
    client.offer(10_000_000);
    server.listen();
    let at = Time::from_millis(1);
    server.on_segment(&p, at, &client.poll_transmit(&p, at).expect("a SYN"));
    client.on_segment(&p, at, &server.poll_transmit(&p, at).expect("a SYN-ACK"));
    assert_eq!(client.control().cwnd, 10 * 1448);
    assert_eq!(client.pacing_rate(&p).0, 0);
}
