//! Algorithms with a model of the path: its bandwidth and its round-trip time.

pub mod bbr;
pub mod bbr3;
pub mod copa;
