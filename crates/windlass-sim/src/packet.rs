//! Packets: small plain values that stay in one place while links pass their numbers on.

use windlass_tcp::Segment;
use windlass_tcp::segment::Codepoint;

use crate::results::PathPacket;

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
}

impl Body {
    /// Whether the packet may be marked (ECN). Datagrams may not: their source would not listen.
    pub fn is_capable(&self) -> bool {
        match self {
            Body::Segment(segment) => segment.ecn.is_capable(),
            Body::Datagram { .. } => false,
        }
    }
}

/// What links handle in place of a packet: they never look inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// Where the body is kept in [`Packets`]; below 2³¹.
    pub id: u32,
    /// Size as an IP packet, bytes.
    pub size: u32,
    /// Position in the table of routes: where the packet is, and what comes after.
    pub hop: u32,
}

/// The bodies of all packets in the network.
///
/// A body is written when its packet is sent and read when it is delivered, each time from a cold
/// cache; what happens between touches the [`Ticket`] alone. The place freed last is taken first.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    places: Vec<Place>,
    free: Vec<u32>,
    /// What packets of multipath connections are besides, by place, as far as there have been
    /// any: a network without multipath connections pays nothing for them.
    paths: Vec<Option<PathPacket>>,
}

/// A body in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Place(Body);

impl Packets {
    /// Takes a body in and returns its place.
    #[inline]
    pub fn insert(&mut self, body: Body) -> u32 {
        if let Some(id) = self.free.pop() {
            self.places[id as usize] = Place(body);
            return id;
        }
        let id = self.places.len() as u32;
        self.places.push(Place(body));
        // Room for every place to be free at once: `remove` then never allocates.
        self.free.reserve(self.places.len());
        id
    }

    /// Takes a segment of a multipath connection in and returns its place.
    pub fn insert_multipath(&mut self, segment: Segment, path: PathPacket) -> u32 {
        let id = self.insert(Body::Segment(segment));
        if self.paths.len() <= id as usize {
            self.paths.resize(self.places.len(), None);
        }
        self.paths[id as usize] = Some(path);
        id
    }

    /// What a packet is besides that came in by [`insert_multipath`](Packets::insert_multipath).
    pub fn path(&self, id: u32) -> Option<PathPacket> {
        self.paths.get(id as usize).copied().flatten()
    }

    /// The body of a packet in the network.
    #[inline]
    pub fn get(&self, id: u32) -> &Body {
        &self.places[id as usize].0
    }

    /// A queue marks a packet that is capable of it: congestion experienced.
    pub fn mark(&mut self, id: u32) {
        if let Body::Segment(segment) = &mut self.places[id as usize].0 {
            segment.ecn = Codepoint::Ce;
        }
    }

    /// The packet has left the network; its place may be given to another.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Packets in the network.
    pub fn len(&self) -> u64 {
        (self.places.len() - self.free.len()) as u64
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
        assert_eq!(size_of::<Place>(), 64);
    }

    #[test]
    fn a_freed_place_is_used_again_before_a_new_one() {
        let mut packets = Packets::default();
        let ids = [1, 2, 3].map(|len| packets.insert(Body::Datagram { len }));
        packets.remove(ids[1]);
        assert_eq!(packets.len(), 2);
        assert_eq!(packets.insert(Body::Datagram { len: 4 }), ids[1]);
        assert_eq!(packets.get(ids[1]), &Body::Datagram { len: 4 });
        assert_eq!(packets.get(ids[0]), &Body::Datagram { len: 1 });
    }
}
