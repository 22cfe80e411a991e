//! Information of a node's lower layers for its transport. Only algorithms that require it
//! ([`Requirements::cross_layer`](crate::Requirements)) receive it.

use crate::time::{Rate, Span};

/// A snapshot of the sending node's MAC, queue, battery and route, taken at the call of
/// [`Controller::on_cross_layer`](crate::Controller::on_cross_layer).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrossLayer {
    /// Packets queued at the node's station.
    pub queue_len: u32,
    /// Capacity of this queue, packets.
    pub queue_limit: u32,
    /// Hops of the present route; 0 without a route.
    pub hops: u32,
    /// Share of the station's recent attempts that failed, in 65536ths.
    pub failure_share: u32,
    /// Remaining charge, in 65536ths of a full battery; 65536 for a mains-powered node.
    pub battery: u32,
    /// Recent departure rate of the station, bytes of IP packets per second; zero if unknown.
    pub service_rate: Rate,
    /// Mean time from a packet's turn to its acknowledgement by the next hop.
    pub service_time: Span,
    /// Twice the propagation and transmission time along the route, without queues; [`Span::NONE`] if
    /// unknown.
    pub base_rtt: Span,
}
