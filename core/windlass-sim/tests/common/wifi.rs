//! Saturated cells of 802.11n.

use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::radio::{Aggregation, Hops, Phy, RadioConfig};
use windlass_sim::{RunResult, Simulation};

use super::cbr;
use super::radio::{over, station};

/// Size of the datagrams' IP packets, bytes.
pub const PACKET: u32 = 1500;

/// `n` stations at one distance from an access point, to which they send.
pub fn cell(phy: Phy, n: usize, metres: i64) -> RadioConfig {
    let mut radio = RadioConfig::new("cell", phy);
    radio.hops = Hops::Star { centre: 0 };
    radio.stations =
        (0..=n).map(|node| station(node, if node == 0 { 0 } else { metres })).collect();
    radio.stations.iter_mut().for_each(|s| s.queue = QueueLimit::Packets(300));
    radio
}

/// Aggregates of at most `max_frames` frames.
pub fn up_to(max_frames: u32) -> Option<Aggregation> {
    Some(Aggregation { max_frames, ..Aggregation::default() })
}

/// A network in which every station is saturated.
pub fn saturated(radio: RadioConfig, seconds: u64) -> Config {
    let (n, end) = (radio.stations.len() - 1, Time::from_secs(seconds));
    let flows: Vec<_> = (1..=n)
        .map(|i| ([i, 0], cbr(u64::from(PACKET) - 28, 90 + 80 * (n as u64 - 1), end)))
        .collect();
    over(radio, &flows, end)
}

/// Runs the network and returns the result.
pub fn result(config: Config) -> RunResult {
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

/// Packets per second that the stations deliver to the access point. Checks that each station is saturated.
pub fn delivered(radio: RadioConfig, seconds: u64) -> f64 {
    let r = result(saturated(radio, seconds));
    let stations = &r.radios[0].stations[1..];
    assert!(stations.iter().all(|s| s.drops_queue > 0), "a station is not saturated: {stations:?}");
    stations.iter().map(|s| s.delivered).sum::<u64>() as f64 / seconds as f64
}

/// Seconds.
pub fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}
