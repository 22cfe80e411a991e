//! The paper's own arithmetic, computed again: what `model = "…"` in `claims.toml` refers to.

use std::collections::BTreeMap;

use windlass_sim::radio::Phy;
use windlass_sim::radio::mac::{CONTROL_BYTES, DATA_OVERHEAD};

/// Table I: the window of 2^8, a packet's bytes, the run's seconds.
const WINDOW: f64 = 256.0;
const PACKET: u32 = 2000;
const DURATION_S: f64 = 0.3;
/// An acknowledgement of TCP without options, bytes.
const TCP_ACK: u32 = 40;
/// Hops from a corner of the grid to one of the four stations around the base station, and the one to it.
const HOPS: f64 = 4.0 + 4.0 + 1.0;
/// C3-32.
const RATE_BPS: u64 = 11_000_000;

/// Seconds of a packet's way over one hop where nobody else sends and no back-off is drawn.
fn hop_s(packet: u32) -> f64 {
    let phy = Phy::B_LONG;
    let rate = |bps| phy.rate(bps).map(|rate| (bps, rate));
    let parts = rate(RATE_BPS).zip(rate(phy.control_rate_for(RATE_BPS)));
    parts.map_or(f64::NAN, |((_, data), (_, control))| {
        let exchange = phy.difs()
            + phy.airtime(packet + DATA_OVERHEAD, data)
            + phy.sifs
            + phy.airtime(CONTROL_BYTES, control);
        exchange.0 as f64 / 1e9
    })
}

/// Every closed form by name.
pub(super) fn all() -> BTreeMap<String, f64> {
    let round_trip = HOPS * (hop_s(PACKET) + hop_s(TCP_ACK));
    [("eq9.weight", 1.0 - WINDOW), ("table1.round_trips", DURATION_S / round_trip)]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 50 µs, a preamble of 192 and 2036 bytes in 1481 µs, 10 µs, and 192 and 56 µs for 14 bytes
    /// at 2 Mbit/s.
    #[test]
    fn a_hop_takes_what_the_standard_adds_up_to() {
        assert!((hop_s(2000) * 1e6 - (50.0 + 192.0 + 1481.0 + 10.0 + 192.0 + 56.0)).abs() < 1.5);
        assert_eq!(all()["eq9.weight"], -255.0);
    }
}
