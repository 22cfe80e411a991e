//! PacketBuffer: the bodies of packets, which stay in their slots while links pass on their
//! numbers.

use serde::{Deserialize, Serialize};
use windlass_tcp::Segment;
use windlass_tcp::mptcp::MpOption;
use windlass_tcp::quick_start::Carried;
use windlass_tcp::segment::Codepoint;

use crate::coap::Message;
use crate::media;

/// Contents of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A datagram of a constant-bit-rate flow, or of an external end.
    Datagram {
        /// Payload, bytes.
        len: u32,
        /// ECN field. Constant-bit-rate flows are not ECN-capable, because their source does not react to marks.
        ecn: Codepoint,
    },
    /// A CoAP message in a datagram.
    Coap(Message),
    /// A packet of a media flow in a datagram.
    Media(media::Packet),
}

impl Body {
    /// The segment, if it is one.
    pub fn segment(&self) -> Option<Segment> {
        match self {
            Body::Segment(segment) => Some(*segment),
            Body::Datagram { .. } | Body::Coap(_) | Body::Media(_) => None,
        }
    }

    /// Payload, bytes.
    pub fn payload(&self) -> u32 {
        match self {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len, .. } => *len,
            Body::Coap(message) => message.len,
            Body::Media(packet) => packet.payload(),
        }
    }

    /// ECN field. CoAP is not ECN-capable, because it does not react to marks.
    pub fn ecn(&self) -> Codepoint {
        match self {
            Body::Segment(segment) => segment.ecn,
            Body::Media(packet) => packet.ecn(),
            Body::Datagram { ecn, .. } => *ecn,
            Body::Coap(_) => Codepoint::NotEct,
        }
    }
}

/// Representation of a packet in links, which do not read its contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketHandle {
    /// Slot of the body in [`PacketBuffer`]; below 2³¹.
    pub id: u32,
    /// Size as an IP packet, bytes.
    pub size: u32,
    /// Position in the route table: the present place of the packet, and the following hops.
    pub hop: u32,
}

/// Additional data of a packet of a multipath flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPacket {
    /// Index of its subflow within the flow.
    pub path: u8,
    /// Attempt of the subflow, from 0. Each attempt has its own port.
    pub attempt: u16,
    /// Its Multipath TCP option.
    pub option: Option<MpOption>,
}

/// A Quick-Start option in transit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionInTransit {
    id: u32,
    pub(crate) carried: Carried,
    /// True if the packet is still at its sending host, whose IP layer does not decrement the TTL.
    pub(crate) at_home: bool,
}

/// The bodies of all packets in the network.
///
/// A body is written when its packet is sent and read when it is delivered, each time from a cold
/// cache. Other operations use only the [`PacketHandle`]. The slot freed last is reused first.
#[derive(Clone, Debug, Default)]
pub struct PacketBuffer {
    /// In chunks, so that a larger buffer needs no copy and at most one chunk in reserve.
    chunks: Vec<Box<[Slot; CHUNK]>>,
    /// Number of slots that were ever used.
    used: u32,
    free: Vec<u32>,
    /// Additional data of packets of multipath connections, by slot. It grows with the first such
    /// packets, so that a network without multipath connections has no cost.
    paths: Vec<Option<PathPacket>>,
    /// Quick-Start options in transit. They are few, and there are no entries without Quick-Start.
    options: Vec<OptionInTransit>,
}

/// A packet buffer slot: a body in a separate cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot(Body);

/// Slots of a chunk: 16 KiB.
const CHUNK: usize = 256;

impl PacketBuffer {
    /// Stores a body and returns its slot.
    #[inline]
    pub fn insert(&mut self, body: Body) -> u32 {
        if let Some(id) = self.free.pop() {
            *self.slot(id) = body;
            return id;
        }
        self.extend(body)
    }

    fn extend(&mut self, body: Body) -> u32 {
        let id = self.used;
        self.used += 1;
        if id as usize == self.chunks.len() * CHUNK {
            self.chunks.push(Box::new([Slot(body); CHUNK]));
        }
        *self.slot(id) = body;
        // `free` has room for every slot, so that `remove` never allocates.
        self.free.reserve(self.used as usize);
        id
    }

    #[inline]
    fn slot(&mut self, id: u32) -> &mut Body {
        &mut self.chunks[id as usize / CHUNK][id as usize % CHUNK].0
    }

    /// Stores a segment of a multipath connection and returns its slot.
    pub fn insert_multipath(&mut self, segment: Segment, path: PathPacket) -> u32 {
        let id = self.insert(Body::Segment(segment));
        if self.paths.len() <= id as usize {
            self.paths.resize(self.used as usize, None);
        }
        self.paths[id as usize] = Some(path);
        id
    }

    /// Additional data of a packet that was stored by
    /// [`insert_multipath`](PacketBuffer::insert_multipath).
    pub fn path(&self, id: u32) -> Option<PathPacket> {
        self.paths.get(id as usize).copied().flatten()
    }

    /// Stores a segment with a Quick-Start option, and returns its slot.
    pub(crate) fn insert_with_option(&mut self, segment: Segment, carried: Carried) -> u32 {
        let id = self.insert(Body::Segment(segment));
        // A dropped packet leaves its entry here, and its slot may be reused.
        self.options.retain(|option| option.id != id);
        self.options.push(OptionInTransit { id, carried, at_home: true });
        id
    }

    /// The option of a packet on a route for packets with options.
    pub(crate) fn option_mut(&mut self, id: u32) -> Option<&mut OptionInTransit> {
        self.options.iter_mut().find(|option| option.id == id)
    }

    /// The option of a packet, as it is now.
    pub(crate) fn option(&self, id: u32) -> Option<Carried> {
        self.options.iter().find(|option| option.id == id).map(|option| option.carried)
    }

    /// Removes and returns the option of a packet that has reached its destination.
    pub(crate) fn take_option(&mut self, id: u32) -> Option<Carried> {
        let place = self.options.iter().position(|option| option.id == id)?;
        Some(self.options.swap_remove(place).carried)
    }

    /// The body of a packet in the network.
    #[inline]
    pub fn get(&self, id: u32) -> &Body {
        &self.chunks[id as usize / CHUNK][id as usize % CHUNK].0
    }

    /// Marks an ECN-capable packet: congestion experienced.
    pub fn mark(&mut self, id: u32) {
        match self.slot(id) {
            Body::Segment(segment) => segment.ecn = Codepoint::Ce,
            Body::Media(media::Packet::Data(data)) => data.ecn = Codepoint::Ce,
            Body::Datagram { ecn, .. } => *ecn = Codepoint::Ce,
            _ => {}
        }
    }

    /// Removes a packet that has left the network. Its slot may be reused.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Number of packets in the network.
    pub fn len(&self) -> u64 {
        u64::from(self.used) - self.free.len() as u64
    }

    /// True if no packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(len: u32) -> Body {
        Body::Datagram { len, ecn: Codepoint::NotEct }
    }

    #[test]
    fn a_body_fits_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn a_body_stays_when_the_buffer_grows() {
        let mut packets = PacketBuffer::default();
        let ids: Vec<u32> = (0..1_000).map(|len| packets.insert(datagram(len))).collect();
        for (len, id) in ids.iter().enumerate() {
            assert_eq!(packets.get(*id), &datagram(len as u32));
        }
        assert_eq!(packets.len(), 1_000);
    }

    #[test]
    fn a_freed_slot_is_reused_before_a_new_slot() {
        let mut packets = PacketBuffer::default();
        let ids = [1, 2, 3].map(|len| packets.insert(datagram(len)));
        packets.remove(ids[1]);
        assert_eq!(packets.len(), 2);
        assert_eq!(packets.insert(datagram(4)), ids[1]);
        assert_eq!(packets.get(ids[1]), &datagram(4));
        assert_eq!(packets.get(ids[0]), &datagram(1));
    }
}
