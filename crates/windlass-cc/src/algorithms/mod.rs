//! The algorithms, by what they go by. None knows the [registry](crate::registry), which knows all.

pub mod delay;
pub mod loss;
pub mod model;
pub mod multipath;
