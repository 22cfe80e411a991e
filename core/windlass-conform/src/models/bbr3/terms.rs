//! The states of the draft, and the terms of its equations.

use windlass_cc::Conn;

pub const INFINITY: f64 = f64::INFINITY;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

pub fn now(c: &Conn) -> f64 {
    c.now.0 as f64
}

pub fn smss(c: &Conn) -> f64 {
    f64::from(c.mss)
}

pub fn min_pipe_cwnd(c: &Conn) -> f64 {
    4.0 * smss(c)
}
