//! AODV, ad hoc on-demand distance vector routing (RFC 3561), between the stations of a radio.
//!
//! AODV finds the route of a packet that crosses the radio. AODV messages are ordinary packets on the air:
//! they wait in the same queues, collide and can be lost.
//!
//! * [`params`] has the constants, [`message`] the messages and [`table`] the routes of a node. [`Router`] is
//!   the protocol, without a clock and without a radio.
//! * `mesh` connects routers to the radio and the network, and [`results`] has the totals.
//!
//! Windlass extends the RFC: two flows between the same nodes, or two subflows of a multipath connection, may
//! request node-disjoint routes ([`DisjointPath`]).
//!
//! From the RFC's options, Windlass has the expanding ring, gratuitous replies and HELLO messages, but not
//! local repair. All stations of a radio transmit with the same power, so that links are always
//! bidirectional. RREP-ACK and the blacklist of unidirectional neighbours are therefore not needed. Stations
//! never reboot, so the RFC's wait after a reboot is not needed either.

mod disjoint;
pub(crate) mod mesh;
pub mod message;
pub mod params;
mod path_id;
mod receive;
pub mod results;
mod router;
pub mod table;

pub use message::Message;
pub use params::{AodvParams, Detection};
pub use path_id::DisjointPath;
pub use results::{Counters, RouteResult, RoutingResult};
pub use router::{Action, Router};
pub use table::Key;

/// AODV on a radio.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aodv {
    /// Constants.
    pub params: AodvParams,
    /// Pairs of flows (by index) between the same two stations that take node-disjoint routes. Subflows take
    /// disjoint routes if their connection has [`Multipath::disjoint`](crate::config::Multipath::disjoint).
    pub disjoint: Vec<[usize; 2]>,
}

impl Aodv {
    /// AODV with the constants of RFC 3561. All flows share their routes.
    pub const RFC3561: Aodv = Aodv { params: AodvParams::RFC3561, disjoint: Vec::new() };

    /// Disjoint path of a flow with a single connection; `None` for the shared route.
    pub(crate) fn path_of(&self, flow: usize) -> Option<u32> {
        let of_pair = |(group, pair): (usize, &[usize; 2])| {
            let member = pair.iter().position(|f| *f == flow)?;
            Some(DisjointPath::number(group as u32, member as u32))
        };
        self.disjoint.iter().enumerate().find_map(of_pair)
    }
}
