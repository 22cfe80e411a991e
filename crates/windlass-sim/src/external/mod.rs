//! Ends of flows outside the simulation: a kernel's sockets, or anything that speaks packets.
//!
//! The network stays what it is: the same links, queues, error models and seeds. A stack that can be
//! told the time is a [`PacketEnd`], and [`run`] carries its packets in the simulation's time.
//!
//! Who keeps another time, such as a kernel's, does that himself. He
//! [takes the end out](crate::Simulation::make_external) before the run, lets the simulation come
//! up to his clock ([`run_until`](crate::Simulation::run_until)), hands in what the end sends
//! ([`inject`](crate::Simulation::inject)), takes what has reached it
//! ([`take_egress`](crate::Simulation::take_egress)), and sleeps until the
//! [next event](crate::Simulation::next_event). A packet is known by its number from `inject` to its
//! egress, so that its bytes can stay with the owner.

mod drive;
pub mod packet;

use windlass_cc::Time;

use crate::packet::Body;

pub use drive::{ExternalError, PacketEnd, run};

/// A packet that has reached an end outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Egress {
    /// When it came out of its last link.
    pub time: Time,
    /// The host it is for: `2i` for the end of flow `i` that sends the data, `2i + 1` for the other; of a
    /// multipath flow, the [gate](crate::Simulation::make_external) that it has come to.
    pub host: u32,
    /// The number that [`inject`](crate::Simulation::inject) gave it, if the other end is outside too. The number may
    /// be given to another packet after the next call of `run_until` or `inject`.
    pub id: u32,
    /// What it carries; a segment is marked if a queue has marked it.
    pub body: Body,
}
