//! Algorithms that go by the queueing delay, alone or beside losses.

pub mod compound;
pub mod fast;
pub mod illinois;
pub mod ledbat;
pub mod mfast;
pub mod mvegas;
pub mod vegas;
pub mod veno;
pub mod yeah;
