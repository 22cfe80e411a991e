//! The networks and traffic of the cross-check, as scenarios for both backends.

use super::algorithms::{Algorithm, by_id};
use super::cases::{Case, Measure};
use crate::scenario::{Scenario, ScenarioError};

/// Bytes of a full IP packet.
const PACKET: u64 = 1500;
/// Interval at which the congestion window is recorded, in traced cells.
const TRACE_INTERVAL: &str = "20ms";

/// A queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Depth {
    /// Packets.
    Packets(u64),
    /// Bandwidth-delay products, with a minimum number of packets. With fewer packets, a loss on the slowest links
    /// would not be followed by three duplicate ACKs, and the comparison would be one of timers.
    Products(f64, u64),
}

const FIVE: Depth = Depth::Packets(5);
const SHALLOW: Depth = Depth::Products(0.5, 4);
const FULL: Depth = Depth::Products(1.0, 6);
const DEEP: Depth = Depth::Products(2.0, 8);

/// One bottleneck between two hosts, and the duration of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// Rate, megabits per second.
    pub rate_mbps: u64,
    /// RTT of propagation, milliseconds.
    pub rtt_ms: u64,
    /// Drop-tail queue.
    pub depth: Depth,
    /// Share of data packets lost at random, percent.
    pub loss_percent: f64,
    /// Seconds. If possible, several periods of Reno's sawtooth. Fast links have shorter runs, because they take
    /// the most time.
    pub duration_s: u64,
}

/// A row of the tables below.
pub(super) const fn net(
    rate_mbps: u64,
    rtt_ms: u64,
    depth: Depth,
    loss_percent: f64,
    duration_s: u64,
) -> Network {
    Network { rate_mbps, rtt_ms, depth, loss_percent, duration_s }
}

/// Networks of the single flows. The most informative networks are first, so that an interrupted grid has some of
/// each kind.
const NETWORKS: &[Network] = &[
    net(1, 100, FIVE, 0.0, 60),
    net(10, 100, DEEP, 0.1, 30),
    net(1, 100, FIVE, 1.0, 60),
    net(10, 80, SHALLOW, 0.0, 30),
    net(10, 100, SHALLOW, 0.1, 30),
    net(50, 20, SHALLOW, 0.0, 15),
    net(1, 20, DEEP, 0.0, 60),
    net(1, 200, SHALLOW, 1.0, 60),
    net(10, 20, DEEP, 1.0, 30),
    net(10, 200, SHALLOW, 0.0, 60),
    net(1, 80, SHALLOW, 0.0, 60),
    net(1, 80, SHALLOW, 1.0, 60),
    net(1, 80, DEEP, 0.0, 60),
    net(1, 80, DEEP, 1.0, 60),
    net(1, 200, SHALLOW, 0.0, 60),
    net(1, 200, DEEP, 0.0, 60),
    net(1, 200, DEEP, 1.0, 60),
    net(1, 20, SHALLOW, 0.0, 60),
    net(1, 20, SHALLOW, 1.0, 60),
    net(1, 20, DEEP, 1.0, 60),
    net(10, 20, DEEP, 0.0, 30),
    net(10, 20, SHALLOW, 0.0, 30),
    net(10, 20, SHALLOW, 1.0, 30),
    net(10, 80, DEEP, 0.0, 30),
    net(10, 80, DEEP, 1.0, 30),
    net(10, 80, SHALLOW, 1.0, 30),
    net(10, 200, SHALLOW, 1.0, 60),
    net(10, 200, DEEP, 0.0, 60),
    net(10, 200, DEEP, 1.0, 60),
    net(50, 20, DEEP, 0.0, 15),
    net(50, 20, DEEP, 0.1, 15),
    net(50, 80, SHALLOW, 0.0, 30),
    net(50, 80, DEEP, 0.1, 30),
];
/// Number of these networks in a quick grid.
const QUICK: usize = 4;
/// The network whose congestion windows the report shows.
const TRACED: Network = NETWORKS[1];

/// Networks that two flows share.
const SHARED: [Network; 2] = [net(4, 40, DEEP, 0.0, 30), net(2, 80, SHALLOW, 0.0, 30)];
/// The algorithms of the two flows.
const MIXES: [(&str, &str); 12] = [
    ("cubic", "cubic"),
    ("reno", "cubic"),
    ("bbr", "cubic"),
    ("reno", "reno"),
    ("vegas", "cubic"),
    ("htcp", "cubic"),
    ("bbr", "bbr"),
    ("illinois", "cubic"),
    ("vegas", "vegas"),
    ("cubic", "hybla"),
    ("cubic", "yeah"),
    ("cubic", "highspeed"),
];
/// Start times of the second flow, milliseconds. Without random losses a share depends on the phase of the flows.
/// Only several start times give a share that depends on the algorithms.
const STARTS_MS: [u64; 8] = [110, 370, 730, 1130, 1510, 2030, 2590, 3170];

/// The two paths of a multipath connection.
const PATHS: &[[Network; 2]] = &[
    [net(2, 40, FULL, 0.0, 20), net(2, 40, FULL, 0.0, 20)],
    [net(4, 20, FULL, 0.0, 20), net(1, 100, FULL, 0.0, 20)],
    [net(3, 40, DEEP, 0.0, 20), net(1, 80, DEEP, 0.0, 20)],
    [net(5, 30, SHALLOW, 0.0, 20), net(2, 120, DEEP, 0.0, 20)],
    [net(1, 40, FULL, 0.0, 20), net(3, 160, FULL, 0.0, 20)],
    [net(2, 20, FULL, 0.5, 20), net(2, 80, FULL, 0.0, 20)],
    [net(3, 60, FULL, 1.0, 20), net(3, 60, FULL, 0.0, 20)],
    [net(4, 40, FULL, 0.0, 20), net(2, 40, FULL, 1.0, 20)],
    [net(5, 20, DEEP, 0.0, 20), net(1, 200, FULL, 0.0, 20)],
    [net(1, 60, FIVE, 0.0, 20), net(1, 120, FIVE, 0.0, 20)],
    [net(2, 60, FIVE, 0.5, 20), net(4, 40, FULL, 0.5, 20)],
    [net(3, 20, FULL, 0.0, 20), net(5, 60, FULL, 0.0, 20)],
    [net(5, 40, FULL, 0.0, 20), net(5, 40, FULL, 0.0, 20)],
    [net(2, 100, DEEP, 0.0, 20), net(1, 20, DEEP, 0.0, 20)],
    [net(4, 80, SHALLOW, 0.0, 20), net(4, 80, SHALLOW, 1.0, 20)],
    [net(1, 20, DEEP, 0.0, 20), net(1, 20, FIVE, 1.0, 20)],
    [net(3, 100, FULL, 0.2, 20), net(2, 50, FULL, 0.2, 20)],
    [net(5, 100, SHALLOW, 0.0, 20), net(1, 30, FULL, 0.0, 20)],
    [net(2, 30, FULL, 2.0, 20), net(2, 30, FULL, 2.0, 20)],
    [net(4, 60, DEEP, 0.0, 20), net(3, 20, FIVE, 0.0, 20)],
];

/// Traffic of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One flow.
    Single,
    /// Two flows.
    Shared {
        /// The algorithm of the second flow.
        rival: &'static Algorithm,
        /// Start time of the second flow, milliseconds.
        start_ms: u64,
    },
    /// One multipath connection, with this network as its second path.
    TwoPaths(Network),
    /// A case of another grid.
    Case(Case),
}

/// A network and its traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The algorithm of the first flow.
    pub algorithm: &'static Algorithm,
    /// The traffic in addition to the first flow.
    pub kind: Kind,
    /// The network, or the first path.
    pub network: Network,
}

impl Network {
    /// Bandwidth-delay product, packets.
    fn bdp(&self) -> f64 {
        (self.rate_mbps * self.rtt_ms * 1000) as f64 / 8.0 / PACKET as f64
    }

    /// Maximum number of waiting packets, without the packet in transmission.
    fn queue(&self) -> u64 {
        match self.depth {
            Depth::Packets(packets) => packets,
            Depth::Products(products, least) => least.max((products * self.bdp()).round() as u64),
        }
    }

    /// Size of socket buffers that never limit the flow, bytes. Slow start overshoots to twice the BDP plus queue,
    /// and a kernel also counts its bookkeeping.
    fn buffer(&self) -> u64 {
        (1 << 20).max(8 * (self.bdp().ceil() as u64 + self.queue()) * PACKET)
    }

    /// Number of waiting packets above which arrivals are marked. It is more than C·RTT/7 (RFC 8257 section 5), at
    /// least 2, and within the queue.
    fn mark(&self) -> u64 {
        ((self.bdp() / 7.0).ceil() as u64 - 1).max(2).min(self.queue() - 2)
    }

    /// Name in tables: `10 Mbps, 80 ms, 2 BDP, 1 %`.
    pub fn name(&self) -> String {
        let Network { rate_mbps, rtt_ms, depth, loss_percent, .. } = self;
        let depth = match depth {
            Depth::Packets(packets) => format!("{packets} packets"),
            Depth::Products(products, _) => format!("{products} BDP"),
        };
        format!("{rate_mbps} Mbps, {rtt_ms} ms, {depth}, {loss_percent} %")
    }

    /// Machine-readable form of the network.
    fn key(&self) -> String {
        let Network { rate_mbps, rtt_ms, loss_percent, .. } = self;
        format!(
            "rate={rate_mbps}Mbps,rtt={rtt_ms}ms,queue={}pkt,loss={loss_percent}%",
            self.queue()
        )
    }

    /// A link of this name.
    fn link(&self, name: &str, ends: [&str; 2], queue: &str) -> String {
        let (rate, delay) = (self.rate_mbps, self.rtt_ms / 2);
        let mut out = format!(
            "[[link]]\nname = \"{name}\"\nbetween = [\"{}\", \"{}\"]\nrate = \"{rate}Mbps\"\n\
             delay = \"{delay}ms\"\nqueue = {queue}\n",
            ends[0], ends[1]
        );
        if self.loss_percent > 0.0 {
            let p = self.loss_percent;
            out += &format!("loss = {{ model = \"drop\", probability = \"{p}%\" }}\n");
        }
        out
    }
}

impl Cell {
    /// The cells of these algorithms: single flows, then two flows that share a link, then multipath connections.
    pub fn grid(algorithms: &[&'static Algorithm], quick: bool) -> Vec<Cell> {
        let networks = if quick { &NETWORKS[..QUICK] } else { NETWORKS };
        let single = |&network: &Network| {
            let cell = move |&algorithm| Cell { algorithm, kind: Kind::Single, network };
            algorithms.iter().map(cell)
        };
        let mut cells: Vec<Cell> = networks.iter().flat_map(single).collect();
        if !quick {
            cells.extend(shared(algorithms));
            cells.extend(two_paths(algorithms));
        }
        cells
    }

    /// Experiment identifier.
    pub fn experiment(&self) -> &'static str {
        match self.kind {
            Kind::Single => "single",
            Kind::Shared { .. } => "shared",
            Kind::TwoPaths(_) => "two-paths",
            Kind::Case(case) => case.grid.id,
        }
    }

    /// Point identifier without the backend.
    pub fn point(&self) -> String {
        let besides = match self.kind {
            Kind::Single => String::new(),
            Kind::Shared { rival, start_ms } => format!(",rival={},start={start_ms}ms", rival.id),
            Kind::TwoPaths(second) => format!(",second=({})", second.key()),
            Kind::Case(case) => case.key(),
        };
        let Network { duration_s, .. } = self.network;
        format!(
            "algorithm={},{}{besides},time={duration_s}s",
            self.algorithm.id,
            self.network.key()
        )
    }

    /// Name of the algorithm in tables, with its rival if it has one.
    pub fn label(&self) -> String {
        match self.kind {
            Kind::Shared { rival, .. } => format!("{} with {}", self.algorithm.id, rival.id),
            Kind::Case(case) => case.name(self.algorithm),
            _ => self.algorithm.id.to_string(),
        }
    }

    /// The table row in which the cell is counted.
    pub fn group(&self) -> String {
        match self.kind {
            Kind::Case(case) => case.group(self.algorithm),
            _ => self.algorithm.id.to_string(),
        }
    }

    /// Name of the network in tables, or of both paths.
    pub fn network_name(&self) -> String {
        match self.kind {
            Kind::TwoPaths(second) => format!("{} and {}", self.network.name(), second.name()),
            _ => self.network.name(),
        }
    }

    /// True if packets are lost at random.
    pub fn is_lossy(&self) -> bool {
        self.network.loss_percent > 0.0
    }

    /// Seeds. Cells without random losses need only one.
    pub fn seeds(&self, quick: bool) -> std::ops::RangeInclusive<u64> {
        1..=match self.kind {
            _ if quick => 1,
            Kind::Case(case) => case.seeds,
            Kind::Single if self.is_lossy() => 2,
            _ => 1,
        }
    }

    /// The compared value.
    pub fn measure(&self) -> Measure {
        match self.kind {
            Kind::Case(case) => case.grid.measure,
            _ => Measure::Goodput,
        }
    }

    /// True if the congestion window is recorded for the report.
    pub fn is_traced(&self) -> bool {
        self.kind == Kind::Single && self.network == TRACED
    }

    /// The scenario.
    ///
    /// # Errors
    ///
    /// The text is generated here, so that a test would find each error.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        let name = format!("crosscheck-{}", self.label().replace([' ', ','], "-"));
        Scenario::from_str(&self.text(), &format!("{name}.toml"))
    }

    fn text(&self) -> String {
        let network = &self.network;
        let mut out =
            format!("duration = \"{}s\"\n[stack]\npreset = \"linux\"\n", network.duration_s);
        if matches!(self.kind, Kind::Single | Kind::Shared { .. }) {
            let buffer = network.buffer();
            out += &format!("receive_buffer = \"{buffer}B\"\nsend_buffer = \"{buffer}B\"\n");
        }
        if self.is_traced() {
            out +=
                &format!("[record]\nseries = [\"cwnd_bytes\"]\ninterval = \"{TRACE_INTERVAL}\"\n");
        }
        if let Kind::TwoPaths(second) = self.kind {
            // The second links only join the paths and limit nothing.
            let joint = Network { rate_mbps: 1000, rtt_ms: 0, loss_percent: 0.0, ..*network };
            for (name, path) in [("a", network), ("b", &second)] {
                out += &path.link(name, ["s", name], &format!("\"{}pkt\"", path.queue()));
                out += &joint.link(&format!("{name}-d"), [name, "d"], "\"100pkt\"");
            }
        } else {
            out += &network.link("bottleneck", ["s", "d"], &self.queue());
            if let Kind::Case(case) = self.kind {
                out += case.link();
            }
        }
        out += &self.flow("first", self.algorithm, 0);
        match self.kind {
            Kind::Single => {}
            Kind::Case(case) => out += &case.flow(),
            Kind::Shared { rival, start_ms } => out += &self.flow("second", rival, start_ms),
            Kind::TwoPaths(_) => {
                out += "[flow.multipath]\nscheduler = \"linux\"\npenalise = false\n\
                        opportunistic = false\nsubflows = [{ via = [\"a\"] }, { via = [\"b\"] }]\n";
            }
        }
        out
    }

    fn flow(&self, name: &str, algorithm: &'static Algorithm, start_ms: u64) -> String {
        let mut out = format!(
            "[[flow]]\nname = \"{name}\"\nfrom = \"s\"\nto = \"d\"\nalgorithm = \"{}\"\n\
             start = \"{start_ms}ms\"\n",
            algorithm.id
        );
        if marks(algorithm) {
            out += "stack = { ecn = true }\n";
        }
        out
    }

    fn queue(&self) -> String {
        let (packets, mark) = (self.network.queue(), self.network.mark());
        let rival = match self.kind {
            Kind::Shared { rival, .. } => Some(rival),
            _ => None,
        };
        if [Some(self.algorithm), rival].into_iter().flatten().any(marks) {
            let limit = format!("limit = \"{packets}pkt\", mark = \"{mark}pkt\"");
            format!("{{ discipline = \"threshold\", {limit} }}")
        } else {
            format!("\"{packets}pkt\"")
        }
    }
}

/// True if the algorithm needs a queue that marks packets.
fn marks(algorithm: &'static Algorithm) -> bool {
    algorithm.id == "dctcp"
}

/// Two flows over one bottleneck: every mix with every start time.
fn shared(algorithms: &[&'static Algorithm]) -> Vec<Cell> {
    let known = |id| by_id(id).filter(|algorithm| algorithms.contains(algorithm));
    let mut cells = Vec::new();
    for (first, second) in MIXES {
        let (Some(algorithm), Some(rival)) = (known(first), by_id(second)) else { continue };
        for network in SHARED {
            let kind = |start_ms| Kind::Shared { rival, start_ms };
            let cell = |start_ms| Cell { algorithm, kind: kind(start_ms), network };
            cells.extend(STARTS_MS.map(cell));
        }
    }
    cells
}

/// A connection over two paths, with the kernel's default algorithm on each.
fn two_paths(algorithms: &[&'static Algorithm]) -> Vec<Cell> {
    let cubic = algorithms.iter().find(|algorithm| algorithm.id == "cubic");
    let cell = |(algorithm, [first, second]): (&&'static Algorithm, &[Network; 2])| Cell {
        algorithm,
        kind: Kind::TwoPaths(*second),
        network: *first,
    };
    cubic
        .into_iter()
        .flat_map(|cubic| PATHS.iter().map(move |paths| (cubic, paths)))
        .map(cell)
        .collect()
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
    fn every_cell_is_a_scenario_and_has_a_unique_point() {
        let mut points = BTreeSet::new();
        for cell in Cell::grid(&all(), false) {
            let scenario = cell.scenario().expect("a scenario");
            assert_eq!(scenario.flows[0].algorithm(), cell.algorithm.id);
            assert!(points.insert((cell.experiment(), cell.point())), "{}", cell.point());
        }
        let of = |kind| points.iter().filter(|(experiment, _)| *experiment == kind).count();
        assert_eq!([of("single"), of("shared"), of("two-paths")], [33 * 14, 12 * 2 * 8, 20]);
    }

    #[test]
    fn marks_begin_within_the_queue() {
        for network in NETWORKS.iter().chain(&SHARED) {
            assert!(network.mark() + 2 <= network.queue(), "{}", network.name());
        }
    }
}
