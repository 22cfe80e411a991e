//! Grids beyond endless flows over one bottleneck, as data: the traffic, the networks, the compared value and the
//! required agreement. [`super::cells`] creates their scenarios like all others.

use super::algorithms::{Algorithm, by_id};
use super::cases::{ADVERSE, Case, Condition, DENSE_LOSS, MESSAGES, NAGLE_OFF, Traffic, USUAL};
use super::cells::{Cell, Depth, Kind, net};

/// All cells for these algorithms: bulk transfers and connections of two paths, then the further grids.
pub fn all(algorithms: &[&'static Algorithm], quick: bool) -> Vec<Cell> {
    let mut all = Cell::grid(algorithms, quick);
    all.extend(cells(algorithms, quick));
    all
}

/// The cells of all grids for these algorithms; in a quick cross-check, a part of them.
pub fn cells(algorithms: &[&'static Algorithm], quick: bool) -> Vec<Cell> {
    let all = messages().into_iter().chain(dense_loss(quick)).chain(adverse());
    all.filter(|cell| algorithms.contains(&cell.algorithm)).collect()
}

/// Messages and responses with sizes around one, two and ten segments of 1448 bytes, and the messages of meters.
const LOADS: [Traffic; 21] = [
    Traffic::OneWay(50, 1000),
    Traffic::OneWay(1447, 1000),
    Traffic::OneWay(1449, 1000),
    Traffic::OneWay(2895, 1000),
    Traffic::OneWay(2897, 1000),
    Traffic::OneWay(14481, 1000),
    Traffic::OneWay(20000, 1000),
    Traffic::OneWay(100_000, 1000),
    Traffic::Request(100, 50),
    Traffic::Request(100, 1449),
    Traffic::Request(100, 2897),
    Traffic::Request(100, 5000),
    Traffic::Request(100, 20000),
    Traffic::Request(100, 100_000),
    Traffic::Request(3000, 50),
    Traffic::OneWay(50, 20),
    Traffic::OneWay(100, 100),
    Traffic::OneWay(200, 50),
    Traffic::OneWay(450, 100),
    Traffic::OneWay(700, 100),
    Traffic::AtRandom(300, 100),
];

/// Messages over the links of a device.
fn messages() -> Vec<Cell> {
    let Some(algorithm) = by_id("cubic") else { return Vec::new() };
    let cell = |traffic: Traffic, (rate, rtt, loss, condition): (u64, u64, f64, Condition)| Cell {
        algorithm,
        kind: Kind::Case(Case {
            grid: &MESSAGES,
            traffic,
            condition,
            seeds: if loss > 0.0 { 3 } else { 1 },
        }),
        network: net(rate, rtt, Depth::Packets(100), loss, 20),
    };
    let all = [
        (10, 60, 0.0, USUAL),
        (10, 60, 0.0, NAGLE_OFF),
        (1, 600, 0.0, USUAL),
        (10, 10, 0.0, USUAL),
        (1, 200, 0.0, NAGLE_OFF),
    ];
    let lossy =
        [Traffic::OneWay(200, 50), Traffic::OneWay(2897, 1000), Traffic::Request(100, 5000)];
    let all = all.into_iter().flat_map(|network| LOADS.map(|load| cell(load, network)));
    let lossy = lossy.map(|load| cell(load, (1, 200, 3.0, USUAL)));
    all.chain(lossy).collect()
}

/// Random losses of 1 % and more, up to rates at which the queue of acknowledgements matters.
fn dense_loss(quick: bool) -> Vec<Cell> {
    let full = Depth::Products(1.0, 6);
    let networks = [(20, 100), (50, 100), (100, 100), (20, 20)];
    // BBR fills the link, and its cost is per packet. 12 s include one of its measurements of the minimum RTT.
    let algorithms = [("reno", 60), ("cubic", 60), ("bbr", 12)];
    let mut cells = Vec::new();
    for (rate, rtt) in networks.into_iter().take(if quick { 1 } else { networks.len() }) {
        for loss in [1.0, 5.0, 10.0] {
            for (id, seconds) in algorithms {
                let Some(algorithm) = by_id(id) else { continue };
                // At such losses a single run of BBR can end startup at a third of the rate.
                let seeds = if id == "bbr" && loss >= 5.0 { 24 } else { 6 };
                let case =
                    Case { grid: &DENSE_LOSS, traffic: Traffic::Endless, condition: USUAL, seeds };
                let network = net(rate, rtt, full, loss, seconds);
                cells.push(Cell { algorithm, kind: Kind::Case(case), network });
            }
        }
    }
    cells
}

/// Rate in Mbps, RTT in ms, algorithms and condition of the adverse cells.
const ADVERSITIES: [(u64, u64, &[&str], Condition); 11] = [
    (
        2,
        60,
        &["cubic"],
        Condition { name: "outage, 2 s", link: "down = [[\"5s\", \"7s\"]]\n", flow: "" },
    ),
    (
        2,
        60,
        &["cubic"],
        Condition { name: "outage, 10 s", link: "down = [[\"5s\", \"15s\"]]\n", flow: "" },
    ),
    (
        2,
        60,
        &["cubic"],
        Condition {
            name: "outage, three of 300 ms",
            link: "down = [[\"3s\", \"3.3s\"], [\"7s\", \"7.3s\"], [\"13s\", \"13.3s\"]]\n",
            flow: "",
        },
    ),
    (
        2,
        60,
        &["cubic"],
        reader(
            "slow reader, 64 kB",
            "stack = { receive_buffer = \"64kB\" }\nread = { kind = \"rate\", rate = \"500kbps\" }\n",
        ),
    ),
    (
        2,
        60,
        &["cubic"],
        reader(
            "slow reader, 20 kB",
            "stack = { receive_buffer = \"20kB\" }\nread = { kind = \"rate\", rate = \"500kbps\" }\n",
        ),
    ),
    (
        2,
        60,
        &["cubic"],
        reader(
            "zero windows, 20 kB",
            "stack = { receive_buffer = \"20kB\" }\nread = { kind = \"delayed\", after = \"700ms\" }\n",
        ),
    ),
    (
        2,
        60,
        &["cubic"],
        reader(
            "zero windows, 64 kB",
            "stack = { receive_buffer = \"64kB\" }\nread = { kind = \"delayed\", after = \"2s\" }\n",
        ),
    ),
    (10, 100, &["cubic"], reader("small buffer, 16 kB", "stack = { receive_buffer = \"16kB\" }\n")),
    (10, 100, &["cubic"], reader("small buffer, 64 kB", "stack = { receive_buffer = \"64kB\" }\n")),
    (
        10,
        100,
        &["cubic"],
        reader("small buffer, 200 kB", "stack = { receive_buffer = \"200kB\" }\n"),
    ),
    (
        20,
        40,
        &["cubic", "reno", "bbr"],
        Condition {
            name: "jitter, 5 ms",
            link: "jitter = { by = \"5ms\", overtaking = true }\n",
            flow: "",
        },
    ),
];

const fn reader(name: &'static str, flow: &'static str) -> Condition {
    Condition { name, link: "", flow }
}

/// Endless transfers under adverse conditions.
fn adverse() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (rate, rtt, ids, condition) in ADVERSITIES {
        for algorithm in ids.iter().filter_map(|id| by_id(id)) {
            let case = Case { grid: &ADVERSE, traffic: Traffic::Endless, condition, seeds: 1 };
            let network = net(rate, rtt, Depth::Packets(100), 0.0, 20);
            cells.push(Cell { algorithm, kind: Kind::Case(case), network });
        }
    }
    cells
}
