//! Checks of Windlass itself, for its contributors. This crate is not a part of a user's build.
//!
//! * [`interop`] checks Windlass's endpoint and a kernel against each other, with real packets.
//! * [`script`] checks TCP endpoints, Windlass's and the kernel's, against scripted exchanges of segments.
//! * [`lockstep`] compares Windlass's endpoint with a kernel packet by packet in random exchanges.
//! * [`calibrate`] compares the values that the testbed's links deliver with the requested values.
//!
//! [`worlds`] runs these on a backend, given by name. The command is `windlass-dev`.

pub mod calibrate;
pub mod interop;
pub mod lockstep;
pub mod script;
pub mod worlds;
