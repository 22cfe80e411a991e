//! What holds Windlass itself to the truth; for those who work on it, and in no user's build.
//!
//! * [`interop`] holds our endpoint and a kernel's to each other, over real packets.
//! * [`script`] holds TCP endpoints, ours and the kernel's, to scripted exchanges of segments.
//! * [`lockstep`] compares our endpoint with a kernel packet by packet in random exchanges.
//! * [`calibrate`] measures what the testbed's links deliver against what was asked of them.
//!
//! [`worlds`] does the first and the last in a world of a name. The command is `windlass-dev`.

pub mod calibrate;
pub mod interop;
pub mod lockstep;
pub mod script;
pub mod worlds;
