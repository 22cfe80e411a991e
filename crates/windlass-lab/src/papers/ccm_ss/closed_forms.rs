//! The paper's own arithmetic, computed again: what `model = "…"` in `claims.toml` refers to.

use std::collections::BTreeMap;

/// Section VI.B: the factor and the reduction parameter of the lower bound.
const MU: f64 = 1.5;
const BETA: f64 = 0.2;
/// The path of the illustration: bits per second, and its round trip in seconds.
const RATE_BPS: f64 = 250e6;
const RTT_S: f64 = 0.1;
/// Buffer as a share of the bandwidth-delay product (CS-17).
const QUEUE: f64 = 0.2;
/// Table 3, seconds.
const DURATION_S: f64 = 600.0;

/// Every closed form by name.
pub(super) fn all() -> BTreeMap<String, f64> {
    let one_way = RTT_S / 2.0;
    // Equation 16: with a train as long as minD the window is what the rate carries in it, bytes.
    let window = RATE_BPS / 8.0 * one_way;
    // All in bandwidth-delay products of the round trip.
    let (sccp, held) = (0.5 + QUEUE, 1.0 + QUEUE);
    [
        ("eq20.lower", MU * BETA),
        ("eq19.range", (1.0 - MU * BETA) / (1.0 - BETA)),
        ("eq17.rate", window / one_way),
        ("eq9.share", sccp / held),
        ("eq5.least", 1.0 / 2.0),
        ("table3.duration", DURATION_S),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
