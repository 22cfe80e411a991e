//! Closed-form models of lossy links and of TCP: the oracles beside which simulations are shown.
//!
//! All of it is `f64` and uses [`libm`] for powers and logarithms, so that every machine prints
//! the same digits.

pub mod dcf;
pub mod link;
pub mod tcp;
