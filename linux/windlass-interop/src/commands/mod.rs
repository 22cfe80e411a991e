//! One module per verb.

pub mod calibrate;
pub mod conform;
pub mod interop;
pub mod lockstep;
pub mod script;
