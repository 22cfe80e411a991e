//! Traffic, conditions and compared values of the cells of the further grids.

use super::algorithms::Algorithm;
use super::measures::{Goal, Measures};

/// Minimum time for relative differences, milliseconds. A shorter time counts as this time.
const LEAST_MS: f64 = 100.0;

/// The compared value of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Goodput of all flows together. A difference is the simulator's value over the kernel's, minus one.
    Goodput,
    /// Time of a message or response. A difference is relative to the kernel's time, or to 100 ms if that time is
    /// shorter. 2 ms and 2 % are therefore equal for a time of 100 ms.
    Time,
}

impl Measure {
    /// The heading of a column with both values.
    pub fn heading(self) -> &'static str {
        match self {
            Measure::Goodput => "Mbps, kernel / simulator",
            Measure::Time => "ms, kernel / simulator",
        }
    }

    /// A run's value.
    pub fn value(self, measures: &Measures) -> f64 {
        match self {
            Measure::Goodput => measures.goodput_bps() / 1e6,
            Measure::Time => measures.time_ms.unwrap_or(f64::NAN),
        }
    }

    /// The simulator's difference from the kernel; positive if the simulator's value is larger.
    pub fn difference(self, kernel: &Measures, ours: &Measures) -> f64 {
        match self {
            Measure::Goodput => ours.goodput_bps() / kernel.goodput_bps() - 1.0,
            Measure::Time => match (kernel.time_ms, ours.time_ms) {
                (Some(kernel), Some(ours)) => (ours - kernel) / kernel.max(LEAST_MS),
                // If exactly one side did not finish, the difference is 1.
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
    /// Required agreement.
    pub goal: Goal,
}

/// Small transfers, requests and periodic messages.
pub const MESSAGES: Grid = Grid {
    id: "messages",
    about: "Messages: difference of response or completion time from the kernel's, relative to the kernel's time or to \
            100 ms for shorter times, so that 2 % of a short time are 2 ms.",
    measure: Measure::Time,
    goal: Goal { median: 0.02, p95: 0.05 },
};

/// Many random losses on fast links.
pub const DENSE_LOSS: Grid = Grid {
    id: "dense-loss",
    about: "Dense loss: difference of goodput from the kernel's, means over the seeds.",
    measure: Measure::Goodput,
    goal: Goal { median: 0.02, p95: 0.08 },
};

/// Links and receivers that stop, stall or reorder.
pub const ADVERSE: Grid = Grid {
    id: "adverse",
    about: "Outages, slow readers, small receive buffers and reordering jitter: difference of goodput from the \
            kernel's.",
    measure: Measure::Goodput,
    goal: Goal { median: 0.02, p95: 0.08 },
};

/// All further grids, in the order of the tables.
pub const GRIDS: [&Grid; 3] = [&MESSAGES, &DENSE_LOSS, &ADVERSE];

/// The traffic of a cell's flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// An endless transfer.
    Endless,
    /// Messages: their size in bytes, and the time between them in milliseconds.
    OneWay(u64, u64),
    /// Messages at random times: their size in bytes, and the mean time between them in milliseconds.
    AtRandom(u64, u64),
    /// Ten requests, with a pause of 300 ms after each response: bytes of a request, and bytes of a response.
    Request(u64, u64),
}

/// A condition in addition to network and traffic, as lines of the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Name in tables; empty for the usual condition.
    pub(super) name: &'static str,
    /// Lines of the link.
    pub(super) link: &'static str,
    /// Lines of the flow.
    pub(super) flow: &'static str,
}

/// No further condition.
pub(super) const USUAL: Condition = Condition { name: "", link: "", flow: "" };
/// Small segments are sent immediately.
pub(super) const NAGLE_OFF: Condition =
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

    /// Name of the group of similar traffic.
    fn group(self) -> &'static str {
        match self {
            Traffic::Endless => "endless transfer",
            Traffic::OneWay(..) | Traffic::AtRandom(..) => "messages",
            Traffic::Request(..) => "responses",
        }
    }

    /// The traffic as a line of the scenario's flow.
    fn line(self) -> String {
        let messages = |bytes: u64, ms: u64, gaps: &str| {
            // The deadline is long, so that no message is late. It is set because latencies are measured only with
            // a deadline.
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

    /// The table row in which the cell is counted.
    pub fn group(&self, algorithm: &Algorithm) -> String {
        // The first words of a condition. The size after the comma does not form a group.
        let condition = self.condition.name.split(',').next().unwrap_or_default();
        match self.traffic {
            Traffic::Endless if condition.is_empty() => algorithm.id.to_string(),
            Traffic::Endless => condition.to_string(),
            traffic => joined(traffic.group(), condition),
        }
    }

    /// Traffic and condition in machine-readable form: the lines of the scenario, so that a changed line gives
    /// another key.
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
