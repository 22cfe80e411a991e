//! The cost of runs: predicted from the scenario, in packet-hops of the simulator, and measured, in seconds.
//!
//! Budgets use only the prediction, so that they make the same runs on every machine. The time that a sweep still takes
//! uses the measured durations of its points. A point without one costs its prediction at the pace of the others.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::outlook;
use crate::run::World;
use crate::run::store::{StoreError, replace};
use crate::scenario::{LossModel, Scenario, Traffic};

/// Packet-hops that two processors simulate per second, as an estimate. Processors of 2026 simulate 7 to 12
/// million each, for papers with wired links.
pub(crate) const SPEED: f64 = 15e6;
/// Acknowledgements and retransmissions per data packet, as an estimate.
const ANSWERS: f64 = 0.6;
/// Time of a kernel in virtual time on one processor: seconds for boot and idle time, and packet-hops per
/// second after that. Linux 6.12 under QEMU 7.2 took 8 s, 34 s and 126 s for 40 s at 1, 10 and 50 Mbit/s.
const GUEST: [f64; 2] = [5.0, 4000.0];
/// Cost of a packet-hop of ns-3, in packet-hops of the simulator. Measured with the package of PyPI: 112 to 396 over
/// wired links.
const NS3: f64 = 200.0;
/// Cost of a packet-hop over Wi-Fi, in packet-hops over a wired link: a constant, and a term per station,
/// because each station receives the frame. With it, cells of four stations and a mesh of a hundred take
/// about as long per unit as wired links.
const AIR: [f64; 2] = [4.0, 1.5];
/// Simulated events that two processors make per second, as an estimate, for the budgets of interpretations.
pub(crate) const EVENTS: f64 = 6e6;
/// Name of the file with the durations, in the folder of the journal. No result depends on it.
const FILE: &str = "pace.json";

/// Estimated cost of a run on a backend, in packet-hops of the simulator.
pub(crate) fn cost_in(world: World, scenario: &Scenario) -> f64 {
    let hops = cost(scenario);
    match world {
        World::Sim => hops,
        World::Ns3 => NS3 * hops,
        // Runs are sequential, and a run takes its simulated time.
        World::Linux => scenario.duration.0 as f64 / 1e9 * SPEED,
        World::LinuxVt(_) => (GUEST[0] + hops / GUEST[1]) * SPEED / 2.0,
    }
}

/// Estimated cost of a run, in packet-hops over links: the offered traffic, limited by bottlenecks and windows.
pub(crate) fn cost(scenario: &Scenario) -> f64 {
    let Ok(paths) = outlook::paths(scenario) else { return f64::INFINITY };
    // All flows over radio share one channel.
    let neck = |path: &'_ outlook::Path| (!path.shared).then(|| path.bottleneck.clone());
    let mut sharing: BTreeMap<Option<String>, f64> = BTreeMap::new();
    for path in &paths {
        *sharing.entry(neck(path)).or_default() += 1.0;
    }
    let seconds = scenario.duration.0 as f64 / 1e9;
    let stations: usize = scenario.wifi.iter().map(|w| w.radio.stations.len()).sum();
    let by_loss = packets_between(scenario);
    let weight = if stations > 0 { AIR[0] + AIR[1] * stations as f64 } else { 1.0 };
    let mut sum = 0.0;
    for path in &paths {
        let name = path.flow.split(':').next().unwrap_or_default();
        let flow = scenario.flows.iter().find(|f| f.name == name);
        let round_trip = (path.base_rtt.0 as f64 / 1e9).max(1e-6);
        let window = |w: u64| w.min((f64::from(path.packet_bytes) * by_loss) as u64);
        let window = path.window_bytes.map_or(f64::INFINITY, |w| 8.0 * window(w) as f64);
        let rate = (path.rate_bps as f64 / sharing[&neck(path)]).min(window / round_trip);
        let offered = flow.map_or(f64::INFINITY, |f| offered_bits(&f.traffic, seconds));
        let packets = (rate * seconds).min(offered) / (8.0 * f64::from(path.packet_bytes.max(1)));
        let hops = if path.shared { 1 } else { path.nodes.len().saturating_sub(1) };
        sum += packets * hops as f64 * weight * (1.0 + ANSWERS);
    }
    sum.max(1.0)
}

/// Estimated packets in flight of a connection with random losses: 2 divided by the square root of their probability.
fn packets_between(scenario: &Scenario) -> f64 {
    let probability = |loss: &LossModel| match loss {
        LossModel::Drop { probability } => *probability,
        LossModel::Ber { rate, .. } => (rate * 12_000.0).min(1.0),
        _ => 0.0,
    };
    let all = scenario.links.iter().flat_map(|l| l.loss.iter().flatten());
    2.0 / all.map(probability).fold(0.0, f64::max).sqrt()
}

/// Maximum number of bits that the application sends.
fn offered_bits(traffic: &Traffic, seconds: f64) -> f64 {
    match traffic {
        Traffic::Bulk { bytes } => bytes.map_or(f64::INFINITY, |bytes| bytes as f64 * 8.0),
        Traffic::RequestResponse { request, response, requests, .. } => {
            (request + response) as f64 * 8.0 * f64::from(*requests)
        }
        Traffic::Cbr { rate_bps, .. } => *rate_bps as f64 * seconds,
        Traffic::Media(media) => media.max_rate_bps as f64 * seconds,
        Traffic::Messages { every, size, .. } => 8e9 * *size as f64 / every.0 as f64 * seconds,
        Traffic::Coap(coap) => 8e9 * f64::from(coap.size) / coap.every.0 as f64 * seconds,
    }
}

/// Durations of runs, by the hash of their scenario.
type Times = BTreeMap<String, Took>;

/// The known durations of runs.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    times: Times,
    /// Predicted cost of a run, by the hash of its scenario.
    predicted: BTreeMap<Arc<str>, f64>,
}

/// Total duration of the runs of one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Took {
    runs: u64,
    seconds: f64,
}

impl Pace {
    /// Durations from earlier calls in this folder.
    pub(crate) fn read(folder: &Path, predicted: BTreeMap<Arc<str>, f64>) -> Pace {
        // A missing or unreadable file is no error, because it only serves estimates.
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        Pace { times: serde_json::from_str(&text).unwrap_or_default(), predicted }
    }

    /// Writes the file, if a duration is known. If several processes write it, the last write remains.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        if self.times.is_empty() {
            return Ok(());
        }
        replace(folder, FILE, |out| {
            serde_json::to_writer_pretty(&mut *out, &self.times)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }

    /// Adds the duration of a run of the scenario with this hash.
    pub(crate) fn took(&mut self, hash: &str, time: Duration) {
        let took = self.times.entry(hash.to_owned()).or_default();
        took.runs += 1;
        took.seconds += time.as_secs_f64();
    }

    /// Mean duration of the scenario's runs, seconds; `None` if unknown.
    pub(crate) fn of(&self, hash: &str) -> Option<f64> {
        self.times.get(hash).filter(|t| t.runs > 0).map(|t| t.seconds / t.runs as f64)
    }

    /// Processor seconds of these runs of the sweep, each `(hash, runs)`. `None` if no duration is known.
    pub(crate) fn cost<'a>(&self, wanted: impl IntoIterator<Item = (&'a str, u64)>) -> Option<f64> {
        // The folder may have the durations of another sweep, without predictions.
        let known = self.predicted.iter().filter_map(|(hash, hops)| Some((self.of(hash)?, *hops)));
        let known: Vec<(f64, f64)> = known.collect();
        let (seconds, hops) = known.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let predicted = |hash: &str| self.predicted.get(hash).map_or(0.0, |of| of * seconds / hops);
        let of = |hash: &str| self.of(hash).unwrap_or_else(|| predicted(hash));
        let sum = wanted.into_iter().map(|(hash, runs)| of(hash) * runs as f64).sum();
        (!known.is_empty()).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_without_a_known_duration_costs_its_prediction_at_the_pace_of_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let predicted = [("a", 10.0), ("b", 30.0), ("c", 80.0)].map(|(h, hops)| (h.into(), hops));
        let mut pace = Pace::read(dir.path(), predicted.into());
        assert_eq!(pace.cost([("a", 3)]), None);
        pace.took("a", Duration::from_secs(1));
        pace.took("a", Duration::from_secs(3));
        pace.took("b", Duration::from_secs(6));
        pace.took("of another sweep", Duration::from_secs(100));
        assert_eq!(pace.of("a"), Some(2.0));
        // Both known points together take 8 s for 40 packet-hops, so that the third takes 16 s.
        assert_eq!(pace.cost([("a", 3), ("b", 1), ("c", 2)]), Some(6.0 + 6.0 + 32.0));
        assert_eq!(pace.cost([]), Some(0.0));
    }

    #[test]
    fn durations_of_consecutive_calls_are_added() {
        let dir = tempfile::tempdir().unwrap();
        for seconds in [2, 5, 2, 5] {
            let mut pace = Pace::read(dir.path(), BTreeMap::new());
            pace.took("a", Duration::from_secs(seconds));
            pace.write(dir.path()).unwrap();
        }
        let known = Pace::read(dir.path(), BTreeMap::new());
        assert_eq!(known.times["a"], Took { runs: 4, seconds: 14.0 });
        assert_eq!(known.of("a"), Some(3.5));
    }
}
