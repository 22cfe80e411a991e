//! Integer arithmetic, and the data types that use it: a window, rounds, filters.

pub mod filter;
pub mod math;
pub mod round;
pub mod window;
