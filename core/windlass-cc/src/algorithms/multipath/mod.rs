//! Algorithms for connections with several paths. On one path each is a single-path algorithm.

pub mod balia;
pub mod bc_cps;
pub mod dlia;
pub mod emreno;
pub mod lia;
pub mod mfvl;
pub mod mpfast;
pub mod olia;
pub mod wvegas;
