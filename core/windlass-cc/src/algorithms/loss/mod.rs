//! Algorithms that use losses and marks.

pub mod bic;
pub mod cocoa3plus;
pub mod cubic;
pub mod dctcp;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod prague;
pub mod reno;
pub mod scalable;
pub mod tcp_modified;
pub mod westwood;
