//! Grids beyond endless flows over one bottleneck, as data: the traffic, the networks, what is compared and how near it
//! should be. [`super::cells`] makes their scenarios like all others.

use super::algorithms::{Algorithm, by_id};
use super::cells::{Cell, Depth, Kind, net};
use super::compare::{Goal, Measures};

/// Shortest time, in milliseconds, that a difference of times is related to.
const LEAST_MS: f64 = 100.0;

/// The value of a run that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Goodput of all flows together; a difference is ours over the kernel's, less one.
    Goodput,
    /// Time of a message or response; a difference is in parts of the kernel's time, and of 100 ms at least: 2 ms and
    /// 2 % are the same for a time of 100 ms.
    Time,
}

impl Measure {
    /// The heading of a column with both values.
    pub fn heading(self) -> &'static str {
        match self {
            Measure::Goodput => "Mbps kernel / ours",
            Measure::Time => "ms kernel / ours",
        }
    }

    /// A run's value.
    pub fn value(self, measures: &Measures) -> f64 {
        match self {
            Measure::Goodput => measures.goodput_bps() / 1e6,
            Measure::Time => measures.time_ms.unwrap_or(f64::NAN),
        }
    }

    /// How far ours is from the kernel's: positive where ours is more.
    pub fn difference(self, kernel: &Measures, ours: &Measures) -> f64 {
        match self {
            Measure::Goodput => ours.goodput_bps() / kernel.goodput_bps() - 1.0,
            Measure::Time => match (kernel.time_ms, ours.time_ms) {
                (Some(kernel), Some(ours)) => (ours - kernel) / kernel.max(LEAST_MS),
                // One side did not finish.
                (None, None) => 0.0,
                _ => 1.0,
            },
        }
    }
}

/// A grid.
#[derive(Debug, PartialEq)]
pub struct Grid {
    /// Identifier, also of the experiment.
    pub id: &'static str,
    /// Beginning of the caption of its table.
    pub about: &'static str,
    /// The compared value.
    pub measure: Measure,
    /// How near it should be.
    pub goal: Goal,
}

/// Small transfers, requests and periodic messages.
pub const MESSAGES: Grid = Grid {
    id: "messages",
    about: "Messages: distance of our response or completion time from the kernel's, in parts of the kernel's time and \
            of 100 ms for shorter times, so that 2 % of a short time are 2 ms.",
    measure: Measure::Time,
    goal: Goal { median: 0.02, p95: 0.05 },
};

/// Many random losses on fast links.
pub const DENSE_LOSS: Grid = Grid {
    id: "dense-loss",
    about: "Dense loss: distance of our goodput from the kernel's, means over the seeds.",
    measure: Measure::Goodput,
    goal: Goal { median: 0.02, p95: 0.08 },
};

/// Links and receivers that stop, stall or reorder.
pub const ADVERSE: Grid = Grid {
    id: "adverse",
    about: "Outages, slow readers, small receive buffers and reordering jitter: distance of our goodput from the \
            kernel's.",
    measure: Measure::Goodput,
    goal: Goal { median: 0.02, p95: 0.08 },
};

/// All of them, in the order of the tables.
pub const GRIDS: [&Grid; 3] = [&MESSAGES, &DENSE_LOSS, &ADVERSE];

/// The traffic of a cell's flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// An endless transfer.
    Endless,
    /// Messages: their bytes, and the milliseconds from one to the next.
    OneWay(u64, u64),
    /// The same at random times with this mean between them.
    AtRandom(u64, u64),
    /// Ten requests, with a pause of 300 ms after each response: bytes of a request and of a response.
    Request(u64, u64),
}

/// A condition besides network and traffic, as lines of the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Name in tables, nothing for the usual.
    name: &'static str,
    /// Lines of the link.
    link: &'static str,
    /// Lines of the flow.
    flow: &'static str,
}

const USUAL: Condition = Condition { name: "", link: "", flow: "" };
const NAGLE_OFF: Condition =
    Condition { name: "Nagle off", flow: "stack = { nagle = false }\n", ..USUAL };

/// A cell's traffic and conditions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Its grid.
    pub grid: &'static Grid,
    /// The traffic of its flow.
    pub traffic: Traffic,
    /// A further condition.
    pub condition: Condition,
    /// Runs with different seeds.
    pub seeds: u64,
}

impl Traffic {
    fn name(self) -> String {
        match self {
            Traffic::Endless => "endless transfer".to_string(),
            Traffic::OneWay(bytes, ms) => format!("{bytes} B every {ms} ms"),
            Traffic::AtRandom(bytes, ms) => format!("{bytes} B every {ms} ms at random"),
            Traffic::Request(request, response) => format!("{request} B for {response} B"),
        }
    }

    /// The name of several of a kind.
    fn group(self) -> &'static str {
        match self {
            Traffic::Endless => "endless transfer",
            Traffic::OneWay(..) | Traffic::AtRandom(..) => "messages",
            Traffic::Request(..) => "responses",
        }
    }

    /// As a line of a flow.
    fn line(self) -> String {
        let messages = |bytes: u64, ms: u64, gaps: &str| {
            // Nothing is late here: it is the deadline that has latencies measured.
            format!(
                "kind = \"messages\", size = \"{bytes}B\", every = \"{ms}ms\", gaps = \"{gaps}\", deadline = \"1h\""
            )
        };
        let table = match self {
            Traffic::Endless => return String::new(),
            Traffic::OneWay(bytes, ms) => messages(bytes, ms, "constant"),
            Traffic::AtRandom(bytes, ms) => messages(bytes, ms, "exponential"),
            Traffic::Request(request, response) => format!(
                "kind = \"request-response\", request = \"{request}B\", response = \"{response}B\", requests = 10, \
                 think = \"300ms\""
            ),
        };
        format!("traffic = {{ {table} }}\n")
    }
}

fn joined(traffic: &str, condition: &str) -> String {
    match condition {
        "" => traffic.to_string(),
        condition => format!("{traffic}, {condition}"),
    }
}

impl Case {
    /// Name in tables, with the algorithm of an endless transfer.
    pub fn name(&self, algorithm: &Algorithm) -> String {
        let traffic = match self.traffic {
            Traffic::Endless => algorithm.id.to_string(),
            traffic => traffic.name(),
        };
        joined(&traffic, self.condition.name)
    }

    /// The line of the table that it counts in.
    pub fn group(&self, algorithm: &Algorithm) -> String {
        // The first words of a condition; the size after the comma makes no line of its own.
        let condition = self.condition.name.split(',').next().unwrap_or_default();
        match self.traffic {
            Traffic::Endless if condition.is_empty() => algorithm.id.to_string(),
            Traffic::Endless => condition.to_string(),
            traffic => joined(traffic.group(), condition),
        }
    }

    /// Traffic and condition for a machine. They are the lines of the scenario, so that a changed line names another run.
    pub fn key(&self) -> String {
        let lines = format!("{}{}", self.condition.link, self.flow());
        let lines = lines.replace("{ kind = ", "").replace(['"', '{', '}'], "");
        lines.lines().map(|line| format!(",{}", line.trim())).collect()
    }

    /// Lines of the link.
    pub fn link(&self) -> &'static str {
        self.condition.link
    }

    /// Lines of the flow.
    pub fn flow(&self) -> String {
        format!("{}{}", self.traffic.line(), self.condition.flow)
    }
}

/// The cells of all grids for these algorithms; of a quick look, a part of them.
pub fn cells(algorithms: &[&'static Algorithm], quick: bool) -> Vec<Cell> {
    let all = messages().into_iter().chain(dense_loss(quick)).chain(adverse());
    all.filter(|cell| algorithms.contains(&cell.algorithm)).collect()
}

/// Messages and responses around one, two and ten segments of 1448 bytes, and the messages of meters.
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

/// Messages over links of a device.
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

/// Random losses of percents, up to rates at which a queue of acknowledgements matters.
fn dense_loss(quick: bool) -> Vec<Cell> {
    let full = Depth::Products(1.0, 6);
    let networks = [(20, 100), (50, 100), (100, 100), (20, 20)];
    // BBR fills the link and costs by the packet; 12 s hold one of its looks at the least RTT.
    let algorithms = [("reno", 60), ("cubic", 60), ("bbr", 12)];
    let mut cells = Vec::new();
    for (rate, rtt) in networks.into_iter().take(if quick { 1 } else { networks.len() }) {
        for loss in [1.0, 5.0, 10.0] {
            for (id, seconds) in algorithms {
                let Some(algorithm) = by_id(id) else { continue };
                let case = Case {
                    grid: &DENSE_LOSS,
                    traffic: Traffic::Endless,
                    condition: USUAL,
                    seeds: 6,
                };
                let network = net(rate, rtt, full, loss, seconds);
                cells.push(Cell { algorithm, kind: Kind::Case(case), network });
            }
        }
    }
    cells
}

/// Rate in Mbps, round trip in ms and algorithms of the adverse cells, and their conditions.
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

/// Endless transfers in adversity.
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
