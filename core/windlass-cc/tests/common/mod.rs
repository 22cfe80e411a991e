//! Helpers that several tests of the algorithms need.

pub mod any;
pub mod classes;
pub mod coupled;
pub mod flow;
pub mod hand;
pub mod history;
pub mod path;

use windlass_cc::reno::Increase;
use windlass_cc::{AnyParams, Setup};

/// The algorithm with these parameters, in the unit of their kind, and else its defaults.
pub fn chosen(id: &str, values: &[(&str, u64)]) -> AnyParams {
    let mut p = AnyParams::by_name(id).expect("a registered algorithm");
    for (name, raw) in values {
        let place = p.info().params.iter().position(|param| param.name == *name);
        assert!(p.set(place.expect("a parameter of the algorithm"), *raw), "{name}: {raw}");
    }
    p
}

/// The algorithm with its defaults and this initial window and threshold.
pub fn begins_at(id: &str, initial_window: u64, initial_ssthresh: u64) -> AnyParams {
    let mut p = AnyParams::by_name(id).expect("a registered algorithm");
    p.set_common(&Setup { initial_window, initial_ssthresh, ..p.common() });
    p
}

/// Parameters that put a new connection into congestion avoidance with this window.
pub fn avoidance(id: &str, cwnd: u64) -> AnyParams {
    begins_at(id, cwnd, cwnd)
}

/// Parameters of Tahoe, Reno or NewReno with this rule of growth, in congestion avoidance with this
/// window.
pub fn avoidance_by(id: &str, increase: Increase, cwnd: u64) -> AnyParams {
    let mut p = avoidance(id, cwnd);
    assert!(p.set(0, increase as u64), "the first parameter is the rule of growth");
    p
}
