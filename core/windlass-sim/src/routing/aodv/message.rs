//! Messages of AODV (RFC 3561 section 5), as UDP datagrams over IP.

use windlass_cc::Span;
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;

use super::table::Key;

/// Size of an address in the lists of the extensions, bytes.
const ADDRESS: u32 = 4;

/// A route request (RREQ).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Destination, with the disjoint path.
    pub to: Key,
    /// Last known sequence number of the destination; `None` is the U flag.
    pub to_seq: Option<u32>,
    /// Originator.
    pub origin: u32,
    /// Sequence number of the originator.
    pub origin_seq: u32,
    /// Number of the request at its originator.
    pub id: u32,
    /// Hops from the originator to the sender of this copy.
    pub hops: u32,
    /// Remaining hops of this copy (time to live).
    pub ttl: u32,
    /// G flag.
    pub gratuitous: bool,
    /// D flag.
    pub destination_only: bool,
    /// Extension for a request of a disjoint path.
    pub constraint: Option<Box<PathConstraint>>,
}

/// Extension of a [`Request`] for one of two node-disjoint paths: 4 bytes for each listed node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathConstraint {
    /// Nodes of the other disjoint path, which ignore the request.
    pub avoid: Vec<u32>,
    /// True if the other disjoint path has no node between its ends. The destination then ignores the request
    /// if it receives it directly from its originator.
    pub avoid_direct: bool,
    /// Nodes that the request has passed, without the originator.
    pub path: Vec<u32>,
}

/// A route reply (RREP).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Destination of the route, with the disjoint path.
    pub to: Key,
    /// Sequence number of the destination.
    pub seq: u32,
    /// Originator of the request, to which the reply goes.
    pub origin: u32,
    /// Hops from the sender of this copy to the destination.
    pub hops: u32,
    /// Lifetime of the route.
    pub lifetime: Span,
    /// Extension for a reply of a disjoint path.
    pub source_route: Option<Box<SourceRoute>>,
}

/// Extension of a [`Reply`] for a disjoint path. The reply passes the listed nodes in reverse order. Its size
/// is 4 bytes for the sequence number and 4 for each node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceRoute {
    /// Sequence number of the originator, for the route back to it.
    pub origin_seq: u32,
    /// The nodes between the originator and the destination, in this order.
    pub path: Vec<u32>,
}

impl SourceRoute {
    /// Node before this one on the path from the originator.
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
    /// HELLO: an RREP for its sender that is transmitted over one hop.
    Hello {
        /// Sequence number of the sender.
        seq: u32,
    },
    /// RERR: destinations that the sender can no longer reach, with their sequence numbers; at most
    /// [`MAX_LOST`].
    Error(Vec<(Key, u32)>),
}

/// Maximum number of destinations in one RERR: its field has 8 bits.
pub const MAX_LOST: usize = 255;

impl Message {
    /// Size of the IP packet in bytes: 20 for IP, 8 for UDP, and 24 (RREQ), 20 (RREP, HELLO) or 4 and 8 per
    /// destination (RERR), sections 5.1 to 5.3.
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
