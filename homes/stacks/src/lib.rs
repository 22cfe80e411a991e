//! Other TCP/IP stacks as ends of Windlass's networks, in virtual time.
//!
//! * [`smoltcp::Smoltcp`] is an end of a flow that [`windlass_sim::external::run`] takes in the place of its own.
//! * [`scripted::Scripted`] is one that a packet script is played against.
//! * [`judged`] plays all scripts; [`lossy`] times transfers over links that lose packets.

pub mod judged;
pub mod lossy;
pub mod scripted;
pub mod smoltcp;
