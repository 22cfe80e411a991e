//! Any bytes as a packet: parsing does not panic, and what it accepts can be written and read
//! again. The fuzzer cannot guess checksums, so each input is also tried with them put right.
#![no_main]

#[path = "support/packet.rs"]
mod packet;

use libfuzzer_sys::fuzz_target;
use windlass_tcp::wire::{self, EmitError, Packet};

fuzz_target!(|data: &[u8]| {
    check(data);
    let mut mended = data.to_vec();
    if packet::mend(&mut mended).is_some() {
        check(&mended);
    }
});

fn check(bytes: &[u8]) {
    let Ok(packet) = wire::parse(bytes) else { return };
    assert_eq!(packet.payload.len(), packet.segment.len as usize);
    let mut again = Vec::new();
    let fill = |p: &mut [u8]| p.copy_from_slice(packet.payload);
    match wire::emit(&packet.segment, &packet.addresses, fill, &mut again) {
        Ok(()) => {
            // Written without what stands beside a segment.
            let (multipath, quick_start) = (None, None);
            assert_eq!(wire::parse(&again), Ok(Packet { multipath, quick_start, ..packet }));
        }
        // Our order of options can need more padding than the sender's, and so more room.
        Err(EmitError::OptionsTooLong(_) | EmitError::TooLong(_)) => {}
        Err(error) => panic!("{error}"),
    }
}
