//! Other TCP/IP stacks as ends of Windlass's networks, in virtual time.
//!
//! * [`c_end::CEnd`] is an end in a shared library with the functions of `include/windlass_end.h`. [`command`] runs a
//!   scenario with such ends.
//! * [`smoltcp::Stack`] and [`lwip`] are TCP connections. [`app::App`] is a connection with an application, which
//!   [`windlass_sim::external::run`] uses instead of the simulator's end.
//! * [`judged`] plays the packet scripts against them, by [`scripted::Scripted`]. [`lossy`] times transfers over links
//!   that lose packets.

pub mod app;
pub mod c_end;
pub mod command;
pub mod connection;
pub mod judged;
pub mod lossy;
pub mod lwip;
pub mod scripted;
pub mod smoltcp;
