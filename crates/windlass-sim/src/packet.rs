//! PacketBuffer: small plain values that stay in one place while links pass their numbers on.

use serde::{Deserialize, Serialize};
use windlass_tcp::Segment;
use windlass_tcp::mptcp::MpOption;
use windlass_tcp::quick_start::Carried;
use windlass_tcp::segment::Codepoint;

use crate::coap::Message;

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// A TCP segment.
    Segment(Segment),
    /// A datagram of a constant-bit-rate flow.
    Datagram {
        /// Payload, bytes.
        len: u32,
    },
    /// A message of CoAP, in a datagram.
    Coap(Message),
}

impl Body {
    /// Whether the packet may be marked (ECN). Datagrams may not: their source would not listen.
    pub fn is_capable(&self) -> bool {
        match self {
            Body::Segment(segment) => segment.ecn.is_capable(),
            Body::Datagram { .. } | Body::Coap(_) => false,
        }
    }
}

/// What links handle in place of a packet: they never look inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketHandle {
    /// Where the body is kept in [`PacketBuffer`]; below 2³¹.
    pub id: u32,
    /// Size as an IP packet, bytes.
    pub size: u32,
    /// Position in the table of routes: where the packet is, and what comes after.
    pub hop: u32,
}

/// What a packet of a multipath flow is besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPacket {
    /// Slot of its subflow among the flow's.
    pub path: u8,
    /// Which attempt of the subflow's it belongs to, from 0: each has a port of its own.
    pub attempt: u16,
    /// Its Multipath TCP option.
    pub option: Option<MpOption>,
}

/// What a packet carries of Quick-Start's on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionInTransit {
    id: u32,
    pub(crate) carried: Carried,
    /// It is still where it was sent, whose IP layer does not count down its time to live.
    pub(crate) at_home: bool,
}

/// The bodies of all packets in the network.
///
/// A body is written when its packet is sent and read when it is delivered, each time from a cold
/// cache; what happens between touches the [`PacketHandle`] alone. The place freed last is taken first.
#[derive(Clone, Debug, Default)]
pub struct PacketBuffer {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// What packets of multipath connections are besides, by place, as far as there have been
    /// any: a network without multipath connections pays nothing for them.
    paths: Vec<Option<PathPacket>>,
    /// What packets with an option of Quick-Start carry: few at a time, and none without Quick-Start.
    options: Vec<OptionInTransit>,
}

/// A packet buffer slot: a body in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot(Body);

impl PacketBuffer {
    /// Takes a body in and returns its place.
    #[inline]
    pub fn insert(&mut self, body: Body) -> u32 {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = Slot(body);
            return id;
        }
        let id = self.slots.len() as u32;
        self.slots.push(Slot(body));
        // Room for every place to be free at once: `remove` then never allocates.
        self.free.reserve(self.slots.len());
        id
    }

    /// Takes a segment of a multipath connection in and returns its place.
    pub fn insert_multipath(&mut self, segment: Segment, path: PathPacket) -> u32 {
        let id = self.insert(Body::Segment(segment));
        if self.paths.len() <= id as usize {
            self.paths.resize(self.slots.len(), None);
        }
        self.paths[id as usize] = Some(path);
        id
    }

    /// What a packet is besides that came in by [`insert_multipath`](PacketBuffer::insert_multipath).
    pub fn path(&self, id: u32) -> Option<PathPacket> {
        self.paths.get(id as usize).copied().flatten()
    }

    /// Takes a segment in that carries an option of Quick-Start, and returns its place.
    pub(crate) fn insert_with_option(&mut self, segment: Segment, carried: Carried) -> u32 {
        let id = self.insert(Body::Segment(segment));
        // A packet that was dropped has left its entry, and its place to another.
        self.options.retain(|option| option.id != id);
        self.options.push(OptionInTransit { id, carried, at_home: true });
        id
    }

    /// The option of a packet that is on a route of those with options.
    pub(crate) fn option_mut(&mut self, id: u32) -> Option<&mut OptionInTransit> {
        self.options.iter_mut().find(|option| option.id == id)
    }

    /// What it carries.
    pub(crate) fn option(&self, id: u32) -> Option<Carried> {
        self.options.iter().find(|option| option.id == id).map(|option| option.carried)
    }

    /// Takes it off the packet, which has come to its end.
    pub(crate) fn take_option(&mut self, id: u32) -> Option<Carried> {
        let place = self.options.iter().position(|option| option.id == id)?;
        Some(self.options.swap_remove(place).carried)
    }

    /// The body of a packet in the network.
    #[inline]
    pub fn get(&self, id: u32) -> &Body {
        &self.slots[id as usize].0
    }

    /// A queue marks a packet that is capable of it: congestion experienced.
    pub fn mark(&mut self, id: u32) {
        if let Body::Segment(segment) = &mut self.slots[id as usize].0 {
            segment.ecn = Codepoint::Ce;
        }
    }

    /// The packet has left the network; its place may be given to another.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// PacketBuffer in the network.
    pub fn len(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64
    }

    /// Whether no packet is in the network.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_fits_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    #[test]
    fn a_freed_place_is_used_again_before_a_new_one() {
        let mut packets = PacketBuffer::default();
        let ids = [1, 2, 3].map(|len| packets.insert(Body::Datagram { len }));
        packets.remove(ids[1]);
        assert_eq!(packets.len(), 2);
        assert_eq!(packets.insert(Body::Datagram { len: 4 }), ids[1]);
        assert_eq!(packets.get(ids[1]), &Body::Datagram { len: 4 });
        assert_eq!(packets.get(ids[0]), &Body::Datagram { len: 1 });
    }
}
