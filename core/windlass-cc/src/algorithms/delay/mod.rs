//! Algorithms that use the queueing delay, alone or together with losses.

pub mod compound;
pub mod fast;
pub mod illinois;
pub mod ledbat;
pub mod mfast;
pub mod mvegas;
pub mod vegas;
pub mod veno;
pub mod yeah;
