//! What a step over the air takes when nobody else transmits.

use windlass_cc::Span;
use windlass_sim::radio::{RadioConfig, RtsThreshold};

/// Bytes around an IP packet in a data frame: MAC header 24, LLC 8, check sequence 4.
const FRAMING: u32 = 36;
/// Bytes of an RTS, and of a CTS or an acknowledgement (IEEE 802.11-2016 section 9.3.1).
const RTS: u32 = 20;
const ANSWER: u32 = 14;

/// Time from a packet's turn on an idle channel to its arrival, without a back-off.
pub(super) fn crossing(radio: &RadioConfig, ip_bytes: u32) -> Span {
    let data = radio.phy.rate(radio.data_rate_bps);
    let frame = data.map_or(Span::ZERO, |rate| radio.phy.airtime(ip_bytes + FRAMING, rate));
    let reserved = if radio.rts.asks_for(ip_bytes + FRAMING) {
        control(radio, RTS) + radio.phy.sifs + control(radio, ANSWER) + radio.phy.sifs
    } else {
        Span::ZERO
    };
    radio.phy.difs() + reserved + frame
}

/// Most bits per second of IP packets of this size that one station alone can send: each takes a
/// DIFS, the mean first back-off, the frame and its acknowledgement.
pub(super) fn alone_bps(radio: &RadioConfig, ip_bytes: u32) -> u64 {
    let phy = &radio.phy;
    let back_off = phy.slot.0 * u64::from(phy.cw_min) / 2;
    let answered = phy.sifs + control(radio, ANSWER);
    let cycle = back_off + (crossing(radio, ip_bytes) + answered).0;
    let bits = 8_000_000_000 * u128::from(ip_bytes);
    u64::try_from(bits / u128::from(cycle.max(1))).unwrap_or(u64::MAX)
}

fn control(radio: &RadioConfig, bytes: u32) -> Span {
    let rate = radio.phy.rate(radio.control_rate_bps);
    rate.map_or(Span::ZERO, |rate| radio.phy.airtime(bytes, rate))
}

/// What is probably not meant: stations that collide because they do not hear each other. Names are
/// of nodes.
pub(super) fn hidden(radio: &RadioConfig, nodes: &[String]) -> Option<String> {
    let stations = &radio.stations;
    let pairs = (0..stations.len()).flat_map(|a| (a + 1..stations.len()).map(move |b| [a, b]));
    let deaf = |pair: &[usize; 2]| {
        let [a, b] = pair.map(|s| stations[s].position);
        !radio.reach(a, b).audible
    };
    let hidden: Vec<[usize; 2]> = pairs.filter(deaf).collect();
    let name = |s: usize| &nodes[stations[s].node];
    let [a, b] = *hidden.first()?;
    let others = match hidden.len() {
        1 => String::new(),
        2 => " (nor does another pair)".to_owned(),
        n => format!(" (nor do {} other pairs)", n - 1),
    };
    let advice = if radio.rts == RtsThreshold::Never { "; `rts` may help" } else { "" };
    Some(format!(
        "cell {}: {} and {} do not hear each other{others}, so that their frames collide wherever \
         both are heard{advice}",
        radio.name,
        name(a),
        name(b)
    ))
}
