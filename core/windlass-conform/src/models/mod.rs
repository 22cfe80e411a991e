//! The equations of RFCs and papers in floating point, written independently of `windlass-cc`. They
//! give the expected values of test vectors, and [`chosen`] gives those of tests with random parameters.

pub mod aggregation;
pub mod bbr;
pub mod bbr3;
pub mod cat_and_mouse;
pub mod chosen;
pub mod cocoa3plus;
pub mod copa;
pub mod coupled;
pub mod cubic;
pub mod delay;
pub mod filters;
pub mod frame;
pub mod highspeed;
pub mod hystart;
pub mod measured;
pub mod mfvl;
pub mod policer;
pub mod reno;
pub mod rounds;
pub mod tcp_modified;
pub mod time_based;
pub mod windows;

use windlass_cc::{Conn, Event, Ratio, Span};

/// A ratio as it is stored, in units of 1/65536.
fn share(r: Ratio) -> f64 {
    r.0 as f64 / Ratio::ONE.0 as f64
}

fn time(t: Span) -> f64 {
    t.0 as f64 * 1e-9
}

/// A model of an algorithm.
pub trait Model {
    /// Takes an event.
    fn apply(&mut self, c: &Conn, e: &Event);
    /// Congestion window and slow-start threshold, bytes.
    fn windows(&self) -> (f64, f64);
    /// Pacing rate, bytes per second, if the algorithm paces.
    fn pacing(&self) -> Option<f64> {
        None
    }
    /// The value that it discloses to sibling paths, in the algorithm's unit.
    fn disclosed(&self) -> f64 {
        0.0
    }
    /// Bytes by which an integer implementation may differ.
    fn tolerance(&self) -> f64;
}
