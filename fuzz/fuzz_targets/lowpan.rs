//! Bytes as the parameters of 802.15.4 and 6LoWPAN, and as sizes of packets: the parameters are refused with a sentence, or the
//! frames of each packet fit into 127 bytes, carry every byte of it, and need the least number of frames.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_sim::radio::Lowpan;
use windlass_sim::radio::lowpan::{MAX_FRAME_BYTES, MAX_IP_BYTES, UDP_HEADER};

const IPV4_HEADER: u32 = 20;

fuzz_target!(|data: &[u8]| {
    let [mac, ip, udp, ports, sizes @ ..] = data else { return };
    let lowpan = Lowpan {
        mac_header: (*mac).into(),
        ip_header: (*ip).into(),
        udp_header: (*udp % 12).into(),
        ..Lowpan::default()
    };
    if let Err(error) = lowpan.check() {
        assert!(!error.is_empty() && !error.contains('\n'));
        return;
    }
    let saved = lowpan.saved(ports % 2 == 1);
    assert!(u32::from(saved) <= UDP_HEADER);
    let framing = lowpan.framing_of(if ports % 4 > 1 { saved } else { 0 });
    // A packet with a compressed UDP header has this header.
    let least = IPV4_HEADER + if framing.saved > 0 { UDP_HEADER } else { 0 };
    for size in sizes.chunks_exact(2) {
        let bytes =
            least + u32::from(u16::from_le_bytes([size[0], size[1]])) % (MAX_IP_BYTES - least + 1);
        let parts = framing.parts(bytes);
        assert!(bytes <= framing.most_in(parts), "{bytes} bytes in {parts} parts of {framing:?}");
        assert!(
            parts == 1 || bytes > framing.most_in(parts - 1),
            "{bytes} bytes in {parts} parts of {framing:?}"
        );
        let sent: u32 = (0..parts)
            .map(|part| framing.bytes(bytes, part))
            .inspect(|n| assert!(*n <= MAX_FRAME_BYTES))
            .sum();
        // Headers of the fragments: 4 bytes in the first, 5 in the others.
        let headers = if parts == 1 { 0 } else { 4 + 5 * (parts - 1) };
        let whole =
            parts * framing.mac + headers + framing.ip + bytes - IPV4_HEADER - framing.saved;
        assert_eq!(sent, whole, "{bytes} bytes in {parts} parts of {framing:?}");
    }
});
