//! Other TCP/IP stacks as ends of Windlass's networks, in virtual time.
//!
//! * [`c_end::CEnd`] is an end that a shared library is, by the functions of `include/windlass_end.h`; [`command`] runs a
//!   scenario with such ends.
//! * [`smoltcp::Stack`] and [`lwip`] are TCP connections, [`app::App`] is one with an application, which
//!   [`windlass_sim::external::run`] takes in the place of an end of its own.
//! * [`judged`] plays the packet scripts against them, by [`scripted::Scripted`]; [`lossy`] times transfers over links that
//!   lose packets.

pub mod app;
pub mod c_end;
pub mod command;
pub mod connection;
pub mod judged;
pub mod lossy;
pub mod lwip;
pub mod scripted;
pub mod smoltcp;
