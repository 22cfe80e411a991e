//! Closed forms of links and TCP, as functions in expressions.

use minijinja::Environment;

use crate::models::link::{ber_for_per, expected_retransmissions, per_exact, per_linear};
use crate::models::tcp::{Pftk, mathis, window_bound};

/// Adds `exp`, `ln`, `sqrt` and the forms of [`crate::models`].
pub(crate) fn add(env: &mut Environment<'static>) {
    env.add_function("exp", libm::exp);
    env.add_function("ln", libm::log);
    env.add_function("sqrt", f64::sqrt);
    env.add_function("per_exact", per_exact);
    env.add_function("per_linear", per_linear);
    env.add_function("ber_for_per", ber_for_per);
    env.add_function("expected_retransmissions", expected_retransmissions);
    env.add_function("mathis", mathis);
    env.add_function("window_bound", window_bound);
    env.add_function("growth_per_ack", growth_per_ack);
    env.add_function("growth_per_round_trip", growth_per_round_trip);
    env.add_function("pftk", |p: f64, rtt_s: f64, t0_s: f64, w_max: f64, b: f64| {
        Pftk { rtt_s, t0_s, w_max, b }.throughput(p)
    });
    env.add_function("pftk_sent", |p: f64, rtt_s: f64, t0_s: f64, w_max: f64, b: f64| {
        Pftk { rtt_s, t0_s, w_max, b }.send_rate(p)
    });
    env.add_function("pftk_approximate", |p: f64, rtt_s: f64, t0_s: f64, w_max: f64, b: f64| {
        Pftk { rtt_s, t0_s, w_max, b }.approximate(p)
    });
}

/// The window, bytes, after this number of RTTs, if additive increase is applied once per RTT.
fn growth_per_round_trip(start: f64, mss: f64, round_trips: usize) -> f64 {
    (0..round_trips).fold(start, |w, _| w + mss * mss / w)
}

/// The window, bytes, after this number of RTTs, if additive increase is applied once per acknowledgement. A window
/// of whole segments gives one acknowledgement per `b` segments.
fn growth_per_ack(start: f64, mss: f64, round_trips: usize, b: f64) -> f64 {
    let (mut w, mut owed) = (start, 0.0);
    for _ in 0..round_trips {
        // A segment left over is acknowledged together with the first segment of the next round.
        owed += (w / mss).floor();
        while owed >= b {
            w += mss * mss / w;
            owed -= b;
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_ack_growth_reaches_the_window_in_a_few_round_trips() {
        let first = |b| (0..20).find(|k| growth_per_ack(4380.0, 1460.0, *k, b) >= 8760.0);
        assert_eq!((first(1.0), first(2.0)), (Some(4), Some(8)));
    }
}
