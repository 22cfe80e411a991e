//! The networks of the cross-check and what crosses them, as scenarios of either world.

use super::algorithms::{Algorithm, by_id};
use crate::scenario::{Scenario, ScenarioError};

/// Bytes of a full IP packet.
const PACKET: u64 = 1500;
/// How often the congestion window is recorded where it is.
const TRACE_INTERVAL: &str = "20ms";
/// When the second flow of two starts: not in step with the first.
const SECOND_START: &str = "730ms";

/// A queue as a share of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Bandwidth-delay products.
    bdp: f64,
    /// Packets at least: with fewer, no loss is followed by three duplicates on the smallest pipes,
    /// and timers would be compared.
    least: u64,
}

const SHALLOW: Depth = Depth { bdp: 0.5, least: 4 };
const DEEP: Depth = Depth { bdp: 2.0, least: 8 };

/// One bottleneck between two hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Rate, megabits per second.
    pub rate_mbps: u64,
    /// Round trip of propagation, milliseconds.
    pub rtt_ms: u64,
    /// Drop-tail queue.
    pub depth: Depth,
    /// Data packets lost at random, percent.
    pub loss_percent: u64,
}

/// A network and the algorithms that meet in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The algorithm of the first flow.
    pub algorithm: &'static Algorithm,
    /// That of the second flow, if there is one.
    pub rival: Option<&'static Algorithm>,
    /// The network.
    pub network: Network,
}

impl Network {
    /// Bandwidth-delay product, packets.
    fn bdp(&self) -> f64 {
        (self.rate_mbps * self.rtt_ms * 1000) as f64 / 8.0 / PACKET as f64
    }

    /// Packets that may wait, the one in transmission left out.
    fn queue(&self) -> u64 {
        self.depth.least.max((self.depth.bdp * self.bdp()).round() as u64)
    }

    /// Seconds: several periods of a Reno's saw-tooth where there is one within reach; fast links
    /// cost most.
    fn duration_s(&self) -> u64 {
        if self.rate_mbps >= 50 { 30 } else { 60 }
    }

    /// Socket buffers that never limit: slow start overshoots to twice pipe and queue, and a kernel
    /// counts its bookkeeping too. Bytes.
    fn buffer(&self) -> u64 {
        (1 << 20).max(8 * (self.bdp().ceil() as u64 + self.queue()) * PACKET)
    }

    /// Waiting packets beyond which arrivals are marked: above C·RTT/7 (RFC 8257 section 5), at
    /// least 2, and within the queue.
    fn mark(&self) -> u64 {
        ((self.bdp() / 7.0).ceil() as u64 - 1).max(2).min(self.queue() - 2)
    }

    /// Name in tables: `10 Mbps, 80 ms, 2 BDP, 1 %`.
    pub fn name(&self) -> String {
        let Network { rate_mbps, rtt_ms, depth, loss_percent } = self;
        format!("{rate_mbps} Mbps, {rtt_ms} ms, {} BDP, {loss_percent} %", depth.bdp)
    }

    /// What a run costs on a kernel, in packets; only to begin with the cheap ones.
    fn cost(&self) -> u64 {
        self.rate_mbps * self.duration_s()
    }
}

impl Cell {
    /// The cells of these algorithms, cheap ones first.
    pub fn grid(algorithms: &[&'static Algorithm], quick: bool) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for network in if quick { quick_networks() } else { networks() } {
            cells.extend(algorithms.iter().map(|&algorithm| Cell {
                algorithm,
                rival: None,
                network,
            }));
        }
        if !quick {
            cells.extend(mixes(algorithms));
        }
        cells.sort_by_key(|cell| (cell.network.cost(), cell.rival.is_some()));
        cells
    }

    /// Experiment identifier.
    pub fn experiment(&self) -> &'static str {
        if self.rival.is_some() { "mixed" } else { "single" }
    }

    /// Point identifier within a world.
    pub fn point(&self) -> String {
        let Network { rate_mbps, rtt_ms, depth, loss_percent } = self.network;
        let rival = self.rival.map_or(String::new(), |r| format!(",rival={}", r.id));
        format!(
            "algorithm={}{rival},rate={rate_mbps}Mbps,rtt={rtt_ms}ms,queue={}bdp,loss={loss_percent}%",
            self.algorithm.id, depth.bdp
        )
    }

    /// What the algorithm is called in tables: with its rival, if it has one.
    pub fn label(&self) -> String {
        match self.rival {
            Some(rival) => format!("{} with {}", self.algorithm.id, rival.id),
            None => self.algorithm.id.to_string(),
        }
    }

    /// Seeds: without random losses there is nothing to draw.
    pub fn seeds(&self, quick: bool) -> std::ops::RangeInclusive<u64> {
        1..=if self.network.loss_percent > 0 && !quick { 2 } else { 1 }
    }

    /// Whether the congestion window is recorded for the report.
    pub fn is_traced(&self) -> bool {
        let Network { rate_mbps, rtt_ms, depth, .. } = self.network;
        self.rival.is_none() && (rate_mbps, rtt_ms, depth) == (10, 80, DEEP)
    }

    /// The scenario.
    ///
    /// # Errors
    ///
    /// None that a test does not find: the text is made here.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let name = format!("crosscheck-{}", self.label().replace(' ', "-"));
        Scenario::from_str(&self.text(), &format!("{name}.toml"))
    }

    fn text(&self) -> String {
        let network = &self.network;
        let (buffer, rate, delay) = (network.buffer(), network.rate_mbps, network.rtt_ms / 2);
        let mut out = format!(
            "duration = \"{}s\"\n[stack]\npreset = \"linux\"\nreceive_buffer = \"{buffer}B\"\n\
             send_buffer = \"{buffer}B\"\n",
            network.duration_s()
        );
        if self.is_traced() {
            out +=
                &format!("[record]\nseries = [\"cwnd_bytes\"]\ninterval = \"{TRACE_INTERVAL}\"\n");
        }
        out += &format!(
            "[[link]]\nname = \"bottleneck\"\nbetween = [\"s\", \"d\"]\nrate = \"{rate}Mbps\"\n\
             delay = \"{delay}ms\"\nqueue = {}\n",
            self.queue()
        );
        if network.loss_percent > 0 {
            let p = network.loss_percent;
            out += &format!("loss = {{ model = \"drop\", probability = \"{p}%\" }}\n");
        }
        out += &self.flow("first", self.algorithm, "0s");
        if let Some(rival) = self.rival {
            out += &self.flow("second", rival, SECOND_START);
        }
        out
    }

    fn flow(&self, name: &str, algorithm: &'static Algorithm, start: &str) -> String {
        let mut out = format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"s\"\nto = \"d\"\nalgorithm = \"{}\"\n\
             start = \"{start}\"\n",
            algorithm.id
        );
        if marks(algorithm) {
            out += "stack = { ecn = true }\n";
        }
        out
    }

    fn queue(&self) -> String {
        let (packets, mark) = (self.network.queue(), self.network.mark());
        let marked = [Some(self.algorithm), self.rival].into_iter().flatten().any(marks);
        if marked {
            let limit = format!("limit = \"{packets}pkt\", mark = \"{mark}pkt\"");
            format!("{{ discipline = \"threshold\", {limit} }}")
        } else {
            format!("\"{packets}pkt\"")
        }
    }
}

/// Whether the algorithm needs a queue that marks.
fn marks(algorithm: &'static Algorithm) -> bool {
    algorithm.id == "dctcp"
}

/// Every network that a single flow crosses.
fn networks() -> Vec<Network> {
    let mut networks = Vec::new();
    for rate_mbps in [1, 10, 50] {
        for rtt_ms in [20, 80, 200] {
            for depth in [SHALLOW, DEEP] {
                for loss_percent in [0, 1] {
                    networks.push(Network { rate_mbps, rtt_ms, depth, loss_percent });
                }
            }
        }
    }
    networks
}

/// A handful of them, those that are traced included.
fn quick_networks() -> Vec<Network> {
    let small = |loss_percent| Network { rate_mbps: 1, rtt_ms: 80, depth: SHALLOW, loss_percent };
    let large = |loss_percent| Network { rate_mbps: 10, rtt_ms: 80, depth: DEEP, loss_percent };
    vec![small(0), small(1), large(0), large(1)]
}

/// Two flows: an algorithm with itself, and with CUBIC.
fn mixes(algorithms: &[&'static Algorithm]) -> Vec<Cell> {
    let network = |rtt_ms, depth| Network { rate_mbps: 10, rtt_ms, depth, loss_percent: 0 };
    let networks = [network(20, DEEP), network(80, SHALLOW)];
    let mut cells = Vec::new();
    for &algorithm in algorithms {
        let cubic = by_id("cubic").filter(|cubic| *cubic != algorithm);
        for rival in [Some(algorithm), cubic].into_iter().flatten() {
            let cell = |network| Cell { algorithm, rival: Some(rival), network };
            cells.extend(networks.into_iter().map(cell));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::algorithms::ALGORITHMS;
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> Vec<&'static Algorithm> {
        ALGORITHMS.iter().collect()
    }

    #[test]
    fn every_cell_is_a_scenario_of_both_worlds_and_has_a_point_of_its_own() {
        let mut points = BTreeSet::new();
        for cell in Cell::grid(&all(), false) {
            let scenario = cell.scenario().expect("a scenario");
            assert_eq!(scenario.flows[0].algorithm(), cell.algorithm.id);
            assert!(points.insert((cell.experiment(), cell.point())), "{}", cell.point());
        }
        assert_eq!(points.iter().filter(|(e, _)| *e == "single").count(), 504);
    }

    #[test]
    fn a_quick_grid_holds_the_traced_networks_of_every_algorithm() {
        let traced = Cell::grid(&all(), true).into_iter().filter(Cell::is_traced).count();
        assert_eq!(traced, 2 * ALGORITHMS.len());
    }

    #[test]
    fn marks_begin_within_the_queue() {
        for network in networks() {
            assert!(network.mark() + 2 <= network.queue(), "{}", network.name());
        }
    }
}
