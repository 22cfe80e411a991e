//! The resolved form of a scenario, in which every default is filled in.

mod traffic;

use std::borrow::Cow;

use windlass_cc::{AnyParams, Flavour, Span};
use windlass_sim::both_ways::BothWays;
use windlass_sim::config::LinkDirection;
use windlass_sim::course::Course;
use windlass_sim::link::Framing;
use windlass_sim::link_radio::LinkRadio;
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_sim::quick_start::QuickStart;
use windlass_sim::radio::RadioConfig;
use windlass_tcp::StackConfig;
use windlass_tcp::mptcp::MultipathConfig;

use crate::class::Class;
use crate::connections::ConnectionSpec;
use crate::library::Library;
use crate::units::QueueLimit;

pub use windlass_sim::config::Record as RecordSpec;

pub use traffic::{Coap, Media, Read, Traffic, Transport};

/// One experiment: a network, its flows, and the data to record.
///
/// Other fields refer to nodes and links by their index in `nodes` and `links`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name; by default the stem of the file's name.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// Simulated time of a run, more than zero.
    pub duration: Span,
    /// Seed of the first run, at most `i64::MAX` as TOML has no larger integer.
    pub seed: u64,
    /// Names of the nodes, in the order in which the topology, the links and the cells name them.
    pub nodes: Vec<String>,
    /// Links; the links of the topology come first.
    pub links: Vec<LinkSpec>,
    /// Wi-Fi cells; the cell of the topology comes first.
    pub wifi: Vec<WifiSpec>,
    /// Flows in the file's order, at least one.
    pub flows: Vec<FlowSpec>,
    /// Data to record in addition to the totals.
    pub record: RecordSpec,
    /// Outages of nodes, in order of their beginning.
    pub outages: Vec<OutageSpec>,
    /// Settings that only kernels use.
    pub testbed: TestbedSpec,
}

/// An outage of nodes: all their links are down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageSpec {
    /// The nodes, ascending.
    pub nodes: Vec<usize>,
    /// Its beginning.
    pub at: Span,
    /// Its length.
    pub lasts: Span,
    /// True if the nodes lose their power, and with it their connections.
    pub reboot: bool,
}

/// Settings that only kernels use. The simulator ignores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TestbedSpec {
    /// The way to limit an unscaled receive window.
    pub receive_window: ReceiveWindow,
}

/// The way to limit a receive window without scaling to the stack's `receive_buffer`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReceiveWindow {
    /// The emulator lowers the window field of passing segments, so that the sender gets the same window as in the
    /// simulator.
    #[default]
    Pinned,
    /// The kernel's own buffer, of twice the size (`tcp_rmem`). The kernel counts half of it as overhead. Segments
    /// that wait behind a hole, or for a slow reader, then shrink the window.
    Buffer,
}

impl ReceiveWindow {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, ReceiveWindow); 2] =
        [("pinned", ReceiveWindow::Pinned), ("buffer", ReceiveWindow::Buffer)];
}

/// The build of a flow's algorithm that a kernel runs. Other backends have one build.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Home {
    /// The kernel's own algorithm of that name.
    #[default]
    Kernel,
    /// Windlass's implementation, loaded into the kernel as a BPF program.
    Bpf,
}

impl Home {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Home); 2] = [("kernel", Home::Kernel), ("bpf", Home::Bpf)];
}

/// A link between two nodes. Both directions have the same rate, delay and queue, unless `back` gives other values for
/// the backward direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Unique name.
    pub name: String,
    /// Node where the forward direction begins.
    pub a: usize,
    /// Node where the forward direction ends.
    pub b: usize,
    /// Rate in bits per second, more than zero.
    pub rate_bps: u64,
    /// Propagation delay of one direction.
    pub delay: Span,
    /// Queue limit. The packet in transmission does not count.
    pub queue: QueueLimit,
    /// Queue discipline. A missing threshold is [`QueueLimit::Unlimited`].
    pub discipline: Discipline<QueueLimit>,
    /// Largest IP packet, bytes: 68 to 65535.
    pub mtu: u32,
    /// Bytes around an IP packet on the wire.
    pub framing: Framing,
    /// The RTT for [`QueueLimit::BdpMillionths`]; `None` for the longest RTT of the flows that cross the link.
    pub bdp_rtt: Option<Span>,
    /// Error models of the forward and the backward direction.
    pub loss: BothWays<Option<LossModel>>,
    /// Outages of the link, each from the first to the second time of a pair, ascending.
    pub down: Vec<[Span; 2]>,
    /// Quick-Start settings of the routers at both ends; `None` if they do not answer Quick-Start requests.
    pub quick_start: Option<QuickStart>,
    /// Rate, delay and queue of the backward direction, if they differ.
    pub back: Option<Box<DirectionSpec>>,
    /// Changes of the forward and the backward direction over time: rate, delay, jitter, reordering and shaping of
    /// acknowledgements.
    pub course: BothWays<Course>,
    /// Radio of the device at one end, if the link has a radio.
    pub radio: Option<Box<RadioSpec>>,
}

/// The radio of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioSpec {
    /// Name of the preset that it is based on.
    pub preset: &'static str,
    /// Configuration for the simulator.
    pub radio: LinkRadio,
}

/// Rate, delay and queue of one direction of a link.
pub type DirectionSpec = LinkDirection<QueueLimit, QueueLimit>;

impl LinkSpec {
    /// The forward direction for 0, the backward direction for 1.
    pub fn direction(&self, direction: usize) -> DirectionSpec {
        match &self.back {
            Some(back) if direction == 1 => DirectionSpec::clone(back),
            _ => DirectionSpec {
                rate_bps: self.rate_bps,
                delay: self.delay,
                queue: self.queue,
                discipline: self.discipline.clone(),
            },
        }
    }
}

/// A Wi-Fi cell: a radio channel with its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiSpec {
    /// Configuration for the simulator. Its stations' nodes are nodes of the scenario. If there is an access point, it
    /// is the first station.
    pub radio: RadioConfig,
    /// Largest IP packet, bytes: 68 to 2296.
    pub mtu: u32,
}

/// A flow: one connection, or one stream of datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// Node that sends the data.
    pub from: usize,
    /// Node that receives it.
    pub to: usize,
    /// The algorithm with its parameters and its slow start; `None` for datagrams. Values of the stack, such as the
    /// initial window, have their defaults here.
    pub controller: Option<AnyParams>,
    /// The kernel's name of an algorithm that only the kernel may have. `controller` is then a substitute that never
    /// runs.
    pub kernel: Option<String>,
    /// The class that is the algorithm. `controller` then has the parameters that the class receives.
    pub class: Option<Class>,
    /// The QUIC library at both ends, in place of TCP. With the library's own controller, `controller` is a substitute
    /// that never runs.
    pub library: Option<Library>,
    /// The build of the algorithm that a kernel runs.
    pub home: Home,
    /// The implementation of algorithms on this stack: RFC, Linux or ns-3. An algorithm that replaces the flow's
    /// algorithm uses it too.
    pub flavour: Flavour,
    /// Behaviour of both endpoints.
    pub stack: StackConfig,
    /// Earliest start of the flow, before the end of the run.
    pub start: Span,
    /// Maximum delay of the start. Each run draws a delay uniformly from zero to this value.
    pub jitter: Span,
    /// The data that the applications send.
    pub traffic: Traffic,
    /// Sending intervals of a source of datagrams, each from … until before …, ascending. The first interval begins at
    /// `start`. `jitter` moves them all. Empty if the source always sends.
    pub on: Vec<[Span; 2]>,
    /// How the receiving application reads.
    pub read: Read,
    /// Subflows of a Multipath TCP connection.
    pub multipath: Option<MultipathSpec>,
    /// Its connections, if they differ from one connection without dialogues.
    pub connections: Option<Box<ConnectionSpec>>,
    /// Nodes from which each run draws the sender in place of `from`. No two flows draw the same node. Empty if the
    /// sender is always `from`.
    pub draw: Vec<usize>,
}

/// The settings of a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct MultipathSpec {
    /// Scheduler, buffers and other settings of the connection.
    pub config: MultipathConfig,
    /// One to eight subflows; the connection begins on the first.
    pub subflows: Vec<SubflowSpec>,
    /// True if the two subflows that cross a cell with AODV take node-disjoint routes there.
    pub disjoint: bool,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowSpec {
    /// Name, unique within the flow.
    pub name: String,
    /// Intermediate nodes, in order.
    pub via: Vec<usize>,
    /// The algorithm with its parameters and its slow start.
    pub controller: AnyParams,
}

impl SubflowSpec {
    /// The nodes of the subflow's path from `from` to `to`, including both ends.
    pub fn nodes(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        [&[from], self.via.as_slice(), &[to]].concat()
    }
}

impl FlowSpec {
    /// The nodes of each path of the flow: one path, or one path per subflow.
    pub fn ways(&self) -> Vec<Vec<usize>> {
        let ends = [self.from, self.to];
        match &self.multipath {
            None => vec![ends.to_vec()],
            Some(multipath) => multipath.subflows.iter().map(|s| s.nodes(ends)).collect(),
        }
    }

    /// Gives the flow this algorithm, on all its subflows. The stack's limit of segments per acknowledgement changes
    /// accordingly: an implementation with a rule for single algorithms has no limit for other algorithms.
    pub fn set_controller(&mut self, controller: AnyParams) {
        let had_rule = self.controller.is_some_and(|old| old.ack_limit(self.flavour).is_some());
        match controller.ack_limit(self.flavour) {
            Some(segments) => self.stack.ack_limit = segments,
            None if had_rule => self.stack.ack_limit = u32::MAX,
            None => {}
        }
        self.controller = Some(controller);
        (self.kernel, self.class, self.library) = (None, None, None);
        for subflow in self.multipath.iter_mut().flat_map(|m| &mut m.subflows) {
            subflow.controller = controller;
        }
    }

    /// Gives the flow a class. Its parameters stay if the class has the services of the flow's algorithm.
    pub fn set_class(&mut self, class: Class) {
        let same = self.controller.is_some_and(|params| params.info().id == class.like);
        if !same {
            self.set_controller(class.params(self.flavour));
        }
        (self.kernel, self.class, self.library) = (None, Some(class), None);
    }

    /// Identifier of the algorithm in tables, or [`NO_ALGORITHM`].
    pub fn algorithm(&self) -> Cow<'static, str> {
        if let Some(library) = &self.library {
            return library.label(self.controller).into();
        }
        match (&self.kernel, &self.class) {
            (Some(name), _) => format!("{LINUX}{name}").into(),
            (None, Some(class)) => class.label().to_owned().into(),
            (None, None) => self.controller.map_or(NO_ALGORITHM, |params| params.info().id).into(),
        }
    }
}

impl Scenario {
    /// Names of the flows and subflows with recorded series, by [`Sample::flow`](windlass_sim::Sample::flow): the
    /// flows, then the subflows of all multipath flows as `flow:subflow`.
    pub fn tracks(&self) -> Vec<String> {
        let flows = self.flows.iter().map(|f| f.name.clone());
        let of_flow = |f: &FlowSpec| {
            let name = f.name.clone();
            let subflows = f.multipath.iter().flat_map(|m| &m.subflows);
            subflows.map(|s| format!("{name}:{}", s.name)).collect::<Vec<_>>()
        };
        flows.chain(self.flows.iter().flat_map(of_flow)).collect()
    }
}

/// Algorithm of a flow without congestion control.
pub const NO_ALGORITHM: &str = "none";

/// The prefix of a kernel's name of an algorithm.
pub(crate) const LINUX: &str = "linux:";
