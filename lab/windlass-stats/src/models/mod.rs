//! Closed-form models of lossy links and of TCP, as references for simulations.
//!
//! All models use `f64`, with [`libm`] for powers and logarithms, so that every machine prints the same digits.

pub mod dcf;
pub mod link;
pub mod tcp;
