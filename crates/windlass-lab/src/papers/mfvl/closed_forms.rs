//! The paper's own arithmetic, computed again: what `model = "…"` in `claims.toml` refers to.

use std::collections::BTreeMap;

/// Table 5: Vegas's thresholds, packets, and the bound k of section 3.1.2.
const ALPHA: f64 = 1.0;
const BETA: f64 = 3.0;
const K: f64 = 2.0;
/// Table 6.
const SIGMA: f64 = 0.5;
const FAST_ALPHA: f64 = 100.0;
/// Round trip of the wires, seconds: figure 3.
const BASE_S: f64 = 2.0 * (0.010 + 0.050 + 0.010);
/// Bits of a packet.
const PACKET_BITS: f64 = 8000.0;
/// Table 3.
const CYCLE_S: f64 = 50.0;
const INTERVAL_S: f64 = 0.2;
/// Section 3.3.
const ALPHA_SCALE: u64 = 512;

/// Packets at which MFast settles where it fills a path of this rate alone: equation 13 without change,
/// `w = sigma·(base/RTT·w + alpha)`, and `w = C·RTT`, give `w = sigma·(C·base + alpha)`.
pub(super) fn mfast(rate_bps: f64) -> f64 {
    SIGMA * (rate_bps / PACKET_BITS * BASE_S + FAST_ALPHA)
}

/// Equations 5 and 6: the next offset on alpha.
fn raised(offset: f64, phi: f64) -> f64 {
    (K * ALPHA).min(offset + phi)
}

/// Equation 16 in integers, over the scale: two paths with these windows in packets, of equal delay.
fn alpha(windows: [u64; 2], rtt_ms: u64) -> f64 {
    let total: u64 = windows.iter().sum();
    let most = windows[0].max(windows[1]);
    let sum: u64 = windows.iter().map(|w| rtt_ms * w / rtt_ms).sum();
    (ALPHA_SCALE * total * most / (sum * sum)) as f64 / ALPHA_SCALE as f64
}

/// Every closed form by name.
pub(super) fn all() -> BTreeMap<String, f64> {
    let events = 100.0;
    let matches = 2.0 * INTERVAL_S / CYCLE_S * events * events;
    [
        ("mvegas.lower.max", ALPHA + K * ALPHA),
        ("mvegas.upper.max", BETA + BETA),
        ("mvegas.phi_below_one_raises", f64::from(u8::from(raised(1.0, 0.5) > 1.0))),
        ("mfast.path-1", mfast(3e6)),
        ("mfast.path-2", mfast(1e6)),
        ("lia.alpha.equation16", alpha([20, 20], 140)),
        ("detection.independent.100", matches / events),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mfast_settles_where_its_equation_no_longer_moves_it() {
        for rate in [3e6, 2e6, 1e6] {
            let w = mfast(rate);
            let rtt = w * PACKET_BITS / rate;
            assert!((SIGMA * (BASE_S / rtt * w + FAST_ALPHA) - w).abs() < 1e-9);
            assert!((w - SIGMA * FAST_ALPHA / (1.0 - SIGMA * BASE_S / rtt)).abs() < 1e-9);
        }
        assert!((mfast(3e6) - 76.25).abs() < 1e-9 && (mfast(1e6) - 58.75).abs() < 1e-9);
    }
}
