//! Integer arithmetic, and the small machines made of it: a window, rounds, filters.

pub mod filter;
pub mod math;
pub mod round;
pub mod window;
