//! Traffic and conditions of the further grids' cells, and what of them is compared.

use super::algorithms::Algorithm;
use super::measures::{Goal, Measures};

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
    pub(super) name: &'static str,
    /// Lines of the link.
    pub(super) link: &'static str,
    /// Lines of the flow.
    pub(super) flow: &'static str,
}

/// No further condition.
pub(super) const USUAL: Condition = Condition { name: "", link: "", flow: "" };
/// Small segments go at once.
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
