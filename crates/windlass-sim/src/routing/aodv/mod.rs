//! AODV, ad hoc on-demand distance vector routing (RFC 3561), between the stations of a radio.
//!
//! A packet that has to cross the radio finds its way station by station. Messages of the protocol
//! are packets on the air like others: they wait in the same queues, collide and get lost.
//!
//! * [`params`] are the constants, [`message`] the messages, [`table`] the routes of a node;
//!   [`Router`] is the protocol, without a clock and without a radio.
//! * `mesh` joins routers to the radio and the network, [`results`] says what came of it.
//!
//! Beyond the RFC: two flows between the same nodes, or two subflows of a multipath connection, may ask
//! for node-disjoint routes ([`DisjointPath`]).
//! Of the RFC's options there are the expanding ring, gratuitous replies and HELLO; not local repair.
//! Since all stations of a radio transmit with one power, hearing is mutual, and there is no use for
//! RREP-ACK and the blacklist of one-way neighbours. Nobody reboots, so nobody has to wait for others
//! to forget it.

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
    /// Its constants.
    pub params: AodvParams,
    /// Pairs of flows, by their indices, between the same two stations that take node-disjoint
    /// routes. Subflows do so where their connection says so
    /// ([`Multipath::disjoint`](crate::config::Multipath::disjoint)).
    pub disjoint: Vec<[usize; 2]>,
}

impl Aodv {
    /// As RFC 3561 has it, all flows sharing their routes.
    pub const RFC3561: Aodv = Aodv { params: AodvParams::RFC3561, disjoint: Vec::new() };

    /// The disjoint path of a flow with a single connection, `None` for the shared route.
    pub(crate) fn path_of(&self, flow: usize) -> Option<u32> {
        let of_pair = |(group, pair): (usize, &[usize; 2])| {
            let member = pair.iter().position(|f| *f == flow)?;
            Some(DisjointPath::number(group as u32, member as u32))
        };
        self.disjoint.iter().enumerate().find_map(of_pair)
    }
}
