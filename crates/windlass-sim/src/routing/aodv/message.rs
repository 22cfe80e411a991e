//! Messages of AODV (RFC 3561 section 5), as UDP datagrams over IP.

use windlass_cc::Span;
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;

use super::table::Key;

/// Bytes of a listed node beyond the RFC's formats: its address.
const ADDRESS: u32 = 4;

/// A route request (RREQ).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Who is looked for, and on which disjoint path.
    pub to: Key,
    /// Last known sequence number of the destination; `None` is the U flag.
    pub to_seq: Option<u32>,
    /// Who looks.
    pub origin: u32,
    /// Its sequence number.
    pub origin_seq: u32,
    /// Its number of this request.
    pub id: u32,
    /// Hops from the originator to whoever sends this copy.
    pub hops: u32,
    /// Hops that the copy may still make.
    pub ttl: u32,
    /// G flag.
    pub gratuitous: bool,
    /// D flag.
    pub destination_only: bool,
    /// What a request for a disjoint path says beyond the RFC.
    pub constraint: Option<Box<PathConstraint>>,
}

/// Extension of a [`Request`] for one of two node-disjoint disjoint paths: 4 bytes for each listed node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathConstraint {
    /// Nodes of the other disjoint path, which do not take part.
    pub avoid: Vec<u32>,
    /// Whether the other disjoint path has no node between its ends: then the destination does not take
    /// the request from its originator itself.
    pub avoid_direct: bool,
    /// Nodes that the request has come through, the originator left out.
    pub path: Vec<u32>,
}

/// A route reply (RREP).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Whom the route leads to, and on which disjoint path.
    pub to: Key,
    /// Its sequence number.
    pub seq: u32,
    /// Who asked, and where the reply goes.
    pub origin: u32,
    /// Hops from whoever sends this copy to the destination.
    pub hops: u32,
    /// How long the route is good for.
    pub lifetime: Span,
    /// What a reply for a disjoint path says beyond the RFC.
    pub source_route: Option<Box<SourceRoute>>,
}

/// Extension of a [`Reply`] for a disjoint path, which goes back node by node as it says: 4 bytes for the
/// number and 4 for each node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceRoute {
    /// Sequence number of the originator, for the way back to it.
    pub origin_seq: u32,
    /// The nodes between the originator and the destination, in this order.
    pub path: Vec<u32>,
}

impl SourceRoute {
    /// The node before this one on the way from the originator.
    pub(super) fn before(&self, node: u32, origin: u32) -> u32 {
        let place = self.path.iter().position(|n| *n == node).unwrap_or(0);
        place.checked_sub(1).map_or(origin, |before| self.path[before])
    }
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// RREQ.
    Request(Request),
    /// RREP.
    Reply(Reply),
    /// HELLO: an RREP for its sender that goes one hop.
    Hello {
        /// Sequence number of the sender.
        seq: u32,
    },
    /// RERR: destinations that can no longer be reached through the sender, with their sequence
    /// numbers; at most [`MAX_LOST`].
    Error(Vec<(Key, u32)>),
}

/// Most destinations in one RERR: its field has 8 bits.
pub const MAX_LOST: usize = 255;

impl Message {
    /// Size as an IP packet, bytes: 20 of IP, 8 of UDP, and 24 (RREQ), 20 (RREP, HELLO) or 4 and 8
    /// for each destination (RERR), sections 5.1 to 5.3.
    pub fn bytes(&self) -> u32 {
        let list = |nodes: &[u32]| ADDRESS * nodes.len() as u32;
        let message = match self {
            Message::Request(r) => {
                24 + r.constraint.as_ref().map_or(0, |d| list(&d.avoid) + list(&d.path))
            }
            Message::Reply(r) => 20 + r.source_route.as_ref().map_or(0, |c| 4 + list(&c.path)),
            Message::Hello { .. } => 20,
            Message::Error(lost) => 4 + 8 * lost.len() as u32,
        };
        IPV4_HEADER + UDP_HEADER + message
    }
}
