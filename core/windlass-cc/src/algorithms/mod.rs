//! The algorithms, grouped by the signal that they use. None depends on the
//! [registry](crate::registry), which lists all.

pub mod delay;
pub mod loss;
pub mod model;
pub mod multipath;
