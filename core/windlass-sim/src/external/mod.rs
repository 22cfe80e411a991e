//! External ends of flows: a kernel's sockets, or any program that sends and receives packets.
//!
//! The network is simulated as usual, with the same links, queues, error models and seeds. A stack
//! whose clock can be set is a [`PacketEnd`], and [`run`] carries its packets in simulated time.
//!
//! A caller with another clock, such as a kernel's, drives the simulation itself. Before the run it
//! [replaces the end](crate::Simulation::make_external). It then repeats these steps:
//!
//! * advance the simulation to its clock ([`run_until`](crate::Simulation::run_until));
//! * hand in the packets that the end sends ([`inject`](crate::Simulation::inject));
//! * take the packets that have reached the end ([`take_egress`](crate::Simulation::take_egress));
//! * sleep until the [next event](crate::Simulation::next_event).
//!
//! A packet keeps its number from `inject` to its egress, so that the owner can keep its bytes.

mod drive;
pub mod packet;

use windlass_cc::{Span, Time};

use crate::packet::Body;

pub use drive::{Carrier, Ends, ExternalError, PacketEnd, run};

/// A packet that has reached an external end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Egress {
    /// Time at which the packet left its last link.
    pub time: Time,
    /// Destination host: `2i` for the end of flow `i` that sends the data, `2i + 1` for the other.
    /// For a multipath flow, it is the [gate](crate::Simulation::make_external) at which the packet
    /// arrived.
    pub host: u32,
    /// Number from [`inject`](crate::Simulation::inject), if the other end is external too. After
    /// the next call of `run_until` or `inject`, another packet may have the number.
    pub id: u32,
    /// Contents; a segment is marked if a queue has marked it.
    pub body: Body,
}

/// The present values of an external end, which the network cannot see. Results, series and
/// timelines use them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Payload that the application has read.
    pub delivered: u64,
    /// Time at which the application read the last byte of a stream with an end.
    pub completed: Option<Time>,
    /// Packets considered lost, whose data is retransmitted.
    pub retransmits: u64,
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, if the end has one.
    pub ssthresh: Option<u64>,
    /// Smoothed RTT, once there is a sample.
    pub srtt: Option<Span>,
    /// Minimum RTT, once there is a sample.
    pub min_rtt: Option<Span>,
    /// Reason of the failure of the connection.
    pub failure: Option<String>,
}
