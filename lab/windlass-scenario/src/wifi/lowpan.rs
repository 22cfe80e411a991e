//! `lowpan`: the keys of IEEE 802.15.4 and 6LoWPAN that replace 802.11's keys.

use windlass_cc::Span;
use windlass_sim::radio::lowpan::{
    MAX_DELAY, MAX_FRAME_BYTES, MAX_IP_BYTES, MAX_TRIES, UDP_HEADER,
};
use windlass_sim::radio::{Lowpan, Phy};

use crate::codec::{Codec, changed, table};
use crate::fields::{Field, Fields, span};
use crate::problem::Problem;
use crate::quote::inline;

/// Range and default of the largest IP packet. The minimum is IPv4's minimum MTU. The default is IPv6's minimum
/// MTU, less the 20 bytes by which its header is longer.
const MTU: ((u32, u32), u32) = ((68, MAX_IP_BYTES), 1_260);

table!(LOWPAN, "lowpan", apply, pairs, Lowpan {
    max_backoffs: Codec::whole(0, MAX_TRIES), "further assessments of a busy channel before the access fails (macMaxCSMABackoffs), 0 to 255", "`4`";
    max_retries: Codec::whole(0, MAX_TRIES), "retries of a frame (macMaxFrameRetries), 0 to 255", "`3`";
    retry_busy: Codec::flag(), "whether a failed access counts as a retry and is repeated, as in many stacks; in the standard it ends the packet", "`false`";
    retry_delay: Codec::time(delay), "maximum of the random time before a retry, at most `10s`; TCPlp's remedy for hidden stations", "`\"0s\"`";
    prepare: Codec::time(delay), "time that a station needs before each frame, for example to load it into the radio, at most `10s`", "`\"0s\"`";
    mac_header: Codec::size_u32(5, MAX_FRAME_BYTES), "MAC header and check sequence: `11B` with short addresses, `23B` with extended addresses, plus the bytes of security (`10B` for Thread's)", "`\"11B\"`";
    ip_header: Codec::size_u32(2, MAX_FRAME_BYTES), "compressed IP header: `7B` with short addresses and prefixes from a context, `19B` with extended addresses, `3B` if the addresses follow from the frame's (RFC 6282)", "`\"7B\"`";
    udp_header: Codec::size_u32(2, UDP_HEADER).unless(UDP_HEADER), "UDP header: `8B` uncompressed, or compressed (RFC 6282, section 4.3) `7B`, `6B` if one port is in 61440 to 61695, `4B` if both ports are in 61616 to 61631, and 2 bytes less without checksum. With compression the IP header is a byte shorter", "`\"8B\"`";
});

fn delay(field: &Field) -> Result<Span, Problem> {
    match span(field)? {
        delay if delay > MAX_DELAY => Err(field.error("must be at most `10s`")),
        delay => Ok(delay),
    }
}

/// The range of MTUs and the default MTU; `None` for 802.11.
pub(super) fn mtu(phy: &Phy) -> Option<((u32, u32), u32)> {
    phy.is_lowpan().then_some(MTU)
}

pub(super) fn read(field: &Field) -> Result<Lowpan, Problem> {
    let lowpan = changed(field, &LOWPAN, Lowpan::default(), apply)?;
    lowpan.check().map_err(|message| field.error(message))?;
    Ok(lowpan)
}

pub(super) fn written(lowpan: &Lowpan) -> String {
    inline(&pairs(lowpan))
}
