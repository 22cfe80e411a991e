//! Packet captures: pcapng files that Wireshark reads. tcptrace reads them after a conversion with `editcap -F
//! pcap`.
//!
//! Each link direction becomes an interface with the link's name. It has raw IPv4 packets and timestamps in
//! nanoseconds; the simulation begins at the epoch. Packets have valid checksums. Their payload bytes follow from
//! their sequence numbers ([`wire::fill_pattern`]), so that a retransmission equals its original. The subflows of
//! Multipath TCP have separate addresses and ports ([`FlowAddresses::subflow`]), and their options. The same
//! packet log gives the same bytes on each machine.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::num::NonZeroU32;

use windlass_sim::addresses::FlowAddresses;
use windlass_sim::{PacketEvent, PacketFate};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::{self, EmitError, UDP_HEADER};
use windlass_tcp::{Segment, Seq};

use crate::pcapng::{Packet, Writer};

/// Comment on a packet that the error model dropped. Wireshark finds it with `frame.comment contains "lost"`.
pub const COMMENT_LOST: &str = "windlass: lost to the error model";
/// Comment on an acknowledgement that a newer acknowledgement replaced.
pub const COMMENT_THINNED: &str = "windlass: thinned out, replaced by a newer acknowledgement";
/// Comment on a packet that a full queue dropped.
pub const COMMENT_QUEUE: &str = "windlass: dropped, the queue was full";

/// The direction bits of a packet's flags in pcapng.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// The position on a link at which packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tap {
    /// The sending end of the link, at the start of the transmission. It includes lost packets, with a comment,
    /// and packets that the queue dropped, at the time of the drop.
    #[default]
    Near,
    /// The receiving end of the link: packets that arrive.
    Far,
}

impl Tap {
    /// The direction of a packet at this position, in pcapng's flags.
    fn direction(self) -> u32 {
        match self {
            Tap::Near => OUTBOUND,
            Tap::Far => INBOUND,
        }
    }
}

/// Options of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CaptureOptions {
    /// Position on each link.
    pub tap: Tap,
    /// Maximum number of captured bytes per packet; `None` captures all.
    pub snap_len: Option<NonZeroU32>,
}

/// Properties of a flow that a capture needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedFlow {
    /// Addresses and ports of its ends.
    pub addresses: FlowAddresses,
    /// True if the mappings of Multipath TCP have checksums.
    pub checksums: bool,
}

impl From<FlowAddresses> for CapturedFlow {
    /// A flow without checksums of Multipath TCP.
    fn from(addresses: FlowAddresses) -> CapturedFlow {
        CapturedFlow { addresses, checksums: false }
    }
}

/// Writes the packets of a log as a pcapng file, and returns their number. `links` has the names of the link
/// directions and `flows` the properties of the flows, both by index. `packets` is in order of time, and may be
/// any part of a log. `out` gets many small writes.
///
/// # Errors
///
/// `out` fails, or, as [`io::ErrorKind::InvalidInput`], an event names an unknown link or flow, or has a packet
/// without a wire format.
pub fn write_pcapng<'a>(
    out: impl Write,
    links: &[&str],
    flows: &[CapturedFlow],
    packets: impl IntoIterator<Item = &'a PacketEvent>,
    options: CaptureOptions,
) -> io::Result<u64> {
    let mut writer = begin(out, links, options)?;
    let frames = match options.tap {
        Tap::Near => near_frames(packets),
        Tap::Far => far_frames(packets),
    };
    let mut bytes = Vec::new();
    for frame in &frames {
        bytes.clear();
        emit(frame.event, links, flows, &mut bytes)?;
        let original_len = bytes.len() as u32;
        bytes.truncate(options.snap_len.map_or(usize::MAX, |n| n.get() as usize));
        writer.packet(&Packet {
            interface: frame.event.link,
            time_ns: frame.event.time.as_nanos(),
            bytes: &bytes,
            original_len,
            comment: frame.comment,
            direction: options.tap.direction(),
        })?;
    }
    writer.flush()?;
    Ok(frames.len() as u64)
}

/// A packet at the position of the capture.
struct Frame<'a> {
    event: &'a PacketEvent,
    comment: Option<&'static str>,
}

/// The packets at the sending end, each with its fate. A link keeps the order of packets. An arrived or lost
/// packet is therefore the first equal packet in transit.
fn near_frames<'a>(packets: impl IntoIterator<Item = &'a PacketEvent>) -> Vec<Frame<'a>> {
    let mut frames: Vec<Frame<'a>> = Vec::new();
    let mut on_the_way: BTreeMap<u32, VecDeque<usize>> = BTreeMap::new();
    for event in packets {
        let sent = on_the_way.entry(event.link).or_default();
        match event.fate {
            PacketFate::Sent => {
                sent.push_back(frames.len());
                frames.push(Frame { event, comment: None });
            }
            PacketFate::DroppedQueue => {
                frames.push(Frame { event, comment: Some(COMMENT_QUEUE) });
            }
            PacketFate::Delivered | PacketFate::DroppedError | PacketFate::DroppedThinned => {
                let found = sent.iter().position(|&i| same_packet(frames[i].event, event));
                if let Some(frame) = found.and_then(|at| sent.remove(at)) {
                    frames[frame].comment = match event.fate {
                        PacketFate::DroppedError => Some(COMMENT_LOST),
                        PacketFate::DroppedThinned => Some(COMMENT_THINNED),
                        _ => None,
                    };
                }
            }
        }
    }
    frames
}

fn same_packet(a: &PacketEvent, b: &PacketEvent) -> bool {
    (a.flow, a.forward, a.segment, a.ip_len, a.path)
        == (b.flow, b.forward, b.segment, b.ip_len, b.path)
}

fn far_frames<'a>(packets: impl IntoIterator<Item = &'a PacketEvent>) -> Vec<Frame<'a>> {
    packets
        .into_iter()
        .filter(|event| event.fate == PacketFate::Delivered)
        .map(|event| Frame { event, comment: None })
        .collect()
}

fn begin<W: Write>(out: W, links: &[&str], options: CaptureOptions) -> io::Result<Writer<W>> {
    let mut writer = Writer::new(out, concat!("windlass ", env!("CARGO_PKG_VERSION")))?;
    for link in links {
        writer.interface(link, options.snap_len.map_or(0, NonZeroU32::get))?;
    }
    Ok(writer)
}

fn emit(
    event: &PacketEvent,
    links: &[&str],
    flows: &[CapturedFlow],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    if event.link as usize >= links.len() {
        return Err(invalid(format!("the packet log names link {}, unknown here", event.link)));
    }
    let Some(flow) = flows.get(event.flow as usize) else {
        return Err(invalid(format!("the packet log names flow {}, unknown here", event.flow)));
    };
    let result = match event.segment {
        Some(segment) => emit_segment(&segment, event, flow, out),
        None => {
            let Some(len) = event.ip_len.checked_sub(IPV4_HEADER + UDP_HEADER) else {
                let text = format!("a datagram has at least 28 bytes, not {}", event.ip_len);
                return Err(invalid(text));
            };
            let addresses = flow.addresses.addresses(event.forward);
            wire::emit_datagram(len, &addresses, |p| wire::fill_pattern(Default::default(), p), out)
        }
    };
    result.map_err(|e| invalid(e.to_string()))
}

/// Emits a segment. The payload follows from its position in the stream. If the packet has its position in the
/// connection's stream, that position counts, so that a retransmission on another subflow equals its original.
fn emit_segment(
    segment: &Segment,
    event: &PacketEvent,
    flow: &CapturedFlow,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let addresses = match event.path {
        Some(packet) => flow.addresses.subflow(packet.path, packet.attempt),
        None => flow.addresses,
    };
    if let Some(carried) = &event.quick_start {
        let ends = flow.addresses.addresses(event.forward);
        let payload = |bytes: &mut [u8]| wire::fill_pattern(segment.seq, bytes);
        return wire::emit_quick_start(segment, carried, &ends, payload, out);
    }
    let option = event.path.and_then(|packet| packet.option);
    let start = match option.and_then(|option| option.mapping()) {
        Some(mapping) => Seq(mapping.data_seq as u32),
        None => segment.seq,
    };
    wire::emit_multipath(
        segment,
        option.as_ref(),
        flow.checksums,
        &addresses.addresses(event.forward),
        |payload| wire::fill_pattern(start, payload),
        out,
    )
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
