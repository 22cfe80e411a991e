//! Bytes as the options of a segment's header and its payload, the lengths of Multipath TCP's among
//! them put right by half of the inputs: reading does not panic, and an option that is read can be
//! written and read again, with checksums where it has one.
#![no_main]

#[path = "support/packet.rs"]
mod packet;

use libfuzzer_sys::fuzz_target;
use windlass_tcp::Segment;
use windlass_tcp::mptcp::{Numbers, Signal, codec};
use windlass_tcp::wire::{self, EmitError};

fuzz_target!(|data: &[u8]| {
    let mut numbers = Numbers::default();
    // One octet says how long each header's options are.
    let mut rest = data;
    while let [first, more @ ..] = rest {
        let (options, after) = more.split_at(more.len().min(usize::from(first % 41)));
        check(options, after, &mut numbers);
        if first & 0x80 != 0 && options.len() > 2 {
            let whole = [&[codec::KIND, options.len() as u8], &options[2..]].concat();
            check(&whole, after, &mut numbers);
        }
        rest = after;
    }
});

fn check(options: &[u8], payload: &[u8], numbers: &mut Numbers) {
    let header = 20 + options.len().next_multiple_of(4);
    let mut bytes = vec![0; 20 + header];
    bytes[0] = 0x45;
    bytes[32] = (header as u8 / 4) << 4;
    bytes[40..40 + options.len()].copy_from_slice(options);
    bytes.extend_from_slice(payload);
    if packet::mend(&mut bytes).is_none() {
        return;
    }
    let Ok(packet) = wire::parse(&bytes) else { return };
    let Some(signal) = packet.multipath else { return };
    numbers.complete(&signal);
    numbers.sent(&signal.option);
    let segment = Segment { len: packet.segment.len, ..Segment::default() };
    let mut again = Vec::new();
    let written = wire::emit_multipath(
        &segment,
        Some(&signal.option),
        signal.demands_checksums(),
        &packet.addresses,
        |p| p.copy_from_slice(packet.payload),
        &mut again,
    );
    match written {
        Ok(()) => assert!(same(&wire::parse(&again).unwrap().multipath.unwrap(), &signal)),
        Err(EmitError::MappingCut { .. } | EmitError::TooLong(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

/// What has been read is the same but for how many bits its numbers came with, and for sums, which
/// the reader does not judge.
fn same(a: &Signal, b: &Signal) -> bool {
    a.option == b.option && a.demands_checksums() == b.demands_checksums()
}
