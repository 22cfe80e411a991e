//! What a node's lower layers know, offered to its transport: the only door between layers, and
//! closed unless an algorithm asks ([`Requirements::cross_layer`](crate::Requirements)).

use crate::time::{Rate, Span};

/// A snapshot of the sending node's MAC, queue, battery and route, taken when the controller is told
/// of it ([`Controller::on_cross_layer`](crate::Controller::on_cross_layer)).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrossLayer {
    /// Packets that wait at the node's station.
    pub queue_len: u32,
    /// Packets that may wait there.
    pub queue_limit: u32,
    /// Hops of the route in use; 0 without one.
    pub hops: u32,
    /// Share of the station's attempts that failed lately, in 65536ths.
    pub failure_share: u32,
    /// Charge left, in 65536ths of a full battery; 65536 for a node on the mains.
    pub battery: u32,
    /// Rate at which the station got rid of packets lately, bytes per second of IP packets; zero
    /// while nothing is known.
    pub service_rate: Rate,
    /// Mean time from a packet's turn to its acknowledgement by the next hop.
    pub service_time: Span,
    /// Twice the propagation and transmission time along the route, without any queue:
    /// [`Span::NONE`] where nobody knows.
    pub base_rtt: Span,
}
