//! The summary of radio cells, which needs no run.

use windlass_cc::Span;
use windlass_sim::radio::aggregation::BLOCK_ACK_BYTES;
use windlass_sim::radio::mac::{CONTROL_BYTES, RTS_BYTES};
use windlass_sim::radio::{RadioConfig, RtsThreshold};

use windlass_stats::models::dcf::{Access, Saturation};

/// Throughput of a cell in which the given number of stations always have a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct CellOutlook {
    /// Name of the cell.
    pub cell: String,
    /// Stations from which flows send data over the air.
    pub stations: u32,
    /// Largest IP packet of these flows, bytes.
    pub packet_bytes: u32,
    /// Throughput of all stations by Bianchi's model of 802.11; `None` for 802.15.4.
    pub together: Option<Together>,
    /// Maximum rate at which one station alone can send such packets, bits per second.
    pub alone_bps: f64,
}

/// Stations that always have a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Together {
    /// Maximum rate of IP packets, bits per second.
    pub bps: f64,
    /// Probability that an attempt collides.
    pub collisions: f64,
}

impl CellOutlook {
    /// The summary of a cell in which `stations` stations, at least one, send packets of this size.
    pub(super) fn new(radio: &RadioConfig, stations: u32, packet_bytes: u32) -> CellOutlook {
        let together = radio.lowpan.is_none().then(|| {
            let Saturation { successes, collision_probability, .. } =
                access(radio, packet_bytes).saturation(stations);
            let (packets, _) = frames(radio, packet_bytes);
            Together {
                bps: successes * 8.0 * f64::from(packets) * f64::from(packet_bytes),
                collisions: collision_probability,
            }
        });
        CellOutlook {
            cell: radio.name.clone(),
            stations,
            packet_bytes,
            together,
            alone_bps: alone_bps(radio, packet_bytes) as f64,
        }
    }

    /// The summary as one line of text.
    pub(super) fn text(&self) -> String {
        let size = self.packet_bytes;
        let mbps = |bps: f64| match bps {
            ..1e6 => format!("{:.1} kbps", bps / 1e3),
            _ => format!("{:.2} Mbps", bps / 1e6),
        };
        match (self.stations, self.together) {
            (1, _) | (_, None) => format!(
                "cell {}: a station alone sends at most {} of {size} B packets\n",
                self.cell,
                mbps(self.alone_bps)
            ),
            (n, Some(together)) => format!(
                "cell {}: {n} stations that always have a packet of {size} B send {} together, {:.1} \
                 % of their attempts colliding (Bianchi's model); one alone {}\n",
                self.cell,
                mbps(together.bps),
                100.0 * together.collisions,
                mbps(self.alone_bps)
            ),
        }
    }
}

/// The model's parameters of the cell, for IP packets of this size; times in seconds.
pub fn access(radio: &RadioConfig, ip_bytes: u32) -> Access {
    let phy = &radio.phy;
    let seconds = |span: Span| span.0 as f64 / 1e9;
    let answer = answer(radio, ip_bytes);
    let lowest = phy.rate(phy.lowest_mandatory());
    let slowest = lowest.map_or(Span::ZERO, |rate| phy.airtime(CONTROL_BYTES, rate));
    let after = if radio.eifs { phy.sifs + slowest + phy.difs() } else { phy.difs() };
    let by_rts = radio.rts.asks_for(frames(radio, ip_bytes).1);
    let first = if by_rts { control(radio, RTS_BYTES) } else { frame(radio, ip_bytes) };
    Access {
        cw_min: phy.cw_min,
        cw_max: phy.cw_max,
        attempts: Some(radio.retries.short),
        slot: seconds(phy.slot),
        success: seconds(crossing(radio, ip_bytes) + phy.sifs + answer),
        collision: seconds(first + after),
        refined: false,
    }
}

/// Maximum number of packets of this size per frame, and the bytes of such a frame.
fn frames(radio: &RadioConfig, ip_bytes: u32) -> (u32, u32) {
    let alone = (1, ip_bytes + radio.phy.data_overhead());
    let limits = radio.aggregation.zip(radio.phy.rate(radio.data_rate_bps));
    limits.map_or(alone, |(limits, rate)| limits.fill(alone.1, &radio.phy, rate))
}

/// Time on the air of the acknowledgement of such a frame.
fn answer(radio: &RadioConfig, ip_bytes: u32) -> Span {
    let several = frames(radio, ip_bytes).0 > 1;
    control(radio, if several { BLOCK_ACK_BYTES } else { CONTROL_BYTES })
}

/// Time from the start of a packet's channel access on an idle channel to its arrival, without a backoff.
pub(super) fn crossing(radio: &RadioConfig, ip_bytes: u32) -> Span {
    let phy = &radio.phy;
    if let Some(lowpan) = &radio.lowpan {
        return lowpan.crossing(phy, ip_bytes);
    }
    let reserved = if radio.rts.asks_for(frames(radio, ip_bytes).1) {
        control(radio, RTS_BYTES) + phy.sifs + control(radio, CONTROL_BYTES) + phy.sifs
    } else {
        Span::ZERO
    };
    phy.difs() + reserved + frame(radio, ip_bytes)
}

/// Maximum rate at which one station alone can send IP packets of this size, bits per second. Each packet
/// takes a DIFS, the mean first backoff, the frame and its acknowledgement, or the equivalents of
/// 802.15.4.
pub(super) fn alone_bps(radio: &RadioConfig, ip_bytes: u32) -> u64 {
    let phy = &radio.phy;
    let cycle = match &radio.lowpan {
        Some(lowpan) => lowpan.mean_back_off(phy, ip_bytes) + lowpan.exchange(phy, ip_bytes),
        None => {
            let back_off = Span(phy.slot.0 * u64::from(phy.cw_min) / 2);
            back_off + crossing(radio, ip_bytes) + phy.sifs + answer(radio, ip_bytes)
        }
    }
    .0;
    let packets = frames(radio, ip_bytes).0;
    let bits = 8_000_000_000 * u128::from(packets) * u128::from(ip_bytes);
    u64::try_from(bits / u128::from(cycle.max(1))).unwrap_or(u64::MAX)
}

/// Time on the air of a data frame.
fn frame(radio: &RadioConfig, ip_bytes: u32) -> Span {
    let rate = radio.phy.rate(radio.data_rate_bps);
    rate.map_or(Span::ZERO, |rate| radio.phy.airtime(frames(radio, ip_bytes).1, rate))
}

/// Time on the air of a control frame.
fn control(radio: &RadioConfig, bytes: u32) -> Span {
    let rate = radio.phy.rate(radio.control_rate_bps);
    rate.map_or(Span::ZERO, |rate| radio.phy.airtime(bytes, rate))
}

/// A warning if stations collide because they do not sense each other. `nodes` has the names of the
/// network's nodes.
pub(super) fn hidden(radio: &RadioConfig, nodes: &[String]) -> Option<String> {
    let stations = &radio.stations;
    let hearers = hearers(radio);
    let heard_by = |s: usize, at: usize| hearers[s][at / 64] >> (at % 64) & 1 == 1;
    let pairs = (0..stations.len()).flat_map(|a| (a + 1..stations.len()).map(move |b| [a, b]));
    // If no station receives both, their frames do not collide.
    let meet = |[a, b]: [usize; 2]| hearers[a].iter().zip(&hearers[b]).any(|(a, b)| a & b != 0);
    let is_hidden = |pair: &[usize; 2]| !heard_by(pair[0], pair[1]) && meet(*pair);
    let hidden: Vec<[usize; 2]> = pairs.filter(is_hidden).collect();
    let name = |s: usize| &nodes[stations[s].node];
    let [a, b] = *hidden.first()?;
    let others = match hidden.len() {
        1 => String::new(),
        2 => " (nor does another pair)".to_owned(),
        n => format!(" (nor do {} other pairs)", n - 1),
    };
    let advice = match &radio.lowpan {
        Some(lowpan) if lowpan.retry_delay == Span::ZERO => "; `lowpan.retry_delay` may help",
        None if radio.rts == RtsThreshold::Never => "; `rts` may help",
        _ => "",
    };
    Some(format!(
        "cell {}: {} and {} do not sense each other{others}, so that their frames collide at every \
         station in range of both{advice}",
        radio.name,
        name(a),
        name(b)
    ))
}

/// For each station, one bit for each other station that receives it.
fn hearers(radio: &RadioConfig) -> Vec<Vec<u64>> {
    let n = radio.stations.len();
    let mut hearers = vec![vec![0_u64; n.div_ceil(64)]; n];
    for a in 0..n {
        for b in a + 1..n {
            if radio.reach(radio.stations[a].position, radio.stations[b].position).audible {
                hearers[a][b / 64] |= 1 << (b % 64);
                hearers[b][a / 64] |= 1 << (a % 64);
            }
        }
    }
    hearers
}
