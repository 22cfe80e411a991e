//! The resolved form of a scenario: what a file means once every default is filled in.

use std::borrow::Cow;

use windlass_cc::{AnyParams, Flavour, Span, rto};
use windlass_sim::Series;
use windlass_sim::course::Course;
use windlass_sim::link::Framing;
use windlass_sim::loss::LossModel;
use windlass_sim::queue::Discipline;
use windlass_sim::quick_start::QuickStart;
use windlass_sim::radio::RadioConfig;
use windlass_tcp::StackConfig;
use windlass_tcp::mptcp::MultipathConfig;

use crate::units::QueueLimit;

/// One experiment: a network, the flows that cross it, and what to record.
///
/// Nodes and links are known by their index in `nodes` and `links`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name, the file's stem unless the file says otherwise.
    pub name: String,
    /// What it shows; may be empty.
    pub description: String,
    /// Simulated time of a run, more than zero.
    pub duration: Span,
    /// Seed of the first run, at most `i64::MAX` as TOML has no larger integer.
    pub seed: u64,
    /// Names of the nodes in the order in which the topology, the links and the cells mention them.
    pub nodes: Vec<String>,
    /// Links, those of the topology first.
    pub links: Vec<LinkSpec>,
    /// Wi-Fi cells, that of the topology first.
    pub wifi: Vec<WifiSpec>,
    /// Flows in the file's order, at least one.
    pub flows: Vec<FlowSpec>,
    /// What to record beside the totals.
    pub record: RecordSpec,
    /// What only kernels are told.
    pub testbed: TestbedSpec,
}

/// What only kernels are told; the simulator does without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TestbedSpec {
    /// What holds an unscaled receive window to its size.
    pub receive_window: ReceiveWindow,
}

/// What holds a receive window to the stack's `receive_buffer` where it is not scaled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ReceiveWindow {
    /// The emulator lowers the window field of passing segments: the sender sees what the simulator's
    /// would.
    #[default]
    Pinned,
    /// The kernel's own buffer, of twice the size (`tcp_rmem`), half of which it reckons to be its
    /// overhead. Segments that wait behind a hole, or for a slow reader, then shrink the window.
    Buffer,
}

impl ReceiveWindow {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, ReceiveWindow); 2] =
        [("pinned", ReceiveWindow::Pinned), ("buffer", ReceiveWindow::Buffer)];
}

/// Whose build of a flow's algorithm a kernel runs; other worlds have one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Home {
    /// The kernel's own algorithm of that name.
    #[default]
    Kernel,
    /// Ours, put into the kernel as a BPF program.
    Bpf,
}

impl Home {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Home); 2] = [("kernel", Home::Kernel), ("bpf", Home::Bpf)];
}

/// A link between two nodes. Both directions have the same rate, delay and queue, unless the backward one has its own.
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
    /// Most that may wait; what is being transmitted does not count.
    pub queue: QueueLimit,
    /// What is done with packets that have to wait. No threshold is [`QueueLimit::Unlimited`].
    pub discipline: Discipline<QueueLimit>,
    /// Largest IP packet, bytes: 68 to 65535.
    pub mtu: u32,
    /// What surrounds an IP packet on the wire.
    pub framing: Framing,
    /// The round trip that [`QueueLimit::BdpMillionths`] refers to; `None` for the longest of the
    /// flows that cross the link.
    pub bdp_rtt: Option<Span>,
    /// Error models of the forward and the backward direction.
    pub loss: [Option<LossModel>; 2],
    /// When the link is down, from the first to the second moment of each pair; they ascend.
    pub down: Vec<[Span; 2]>,
    /// Whether and how the routers at both ends answer Quick-Start requests.
    pub quick_start: Option<QuickStart>,
    /// What the backward direction has in place of rate, delay and queue.
    pub back: Option<Box<DirectionSpec>>,
    /// How the forward and the backward direction depart from a constant rate and delay.
    pub course: [Course; 2],
}

/// What one direction of a link has to itself.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionSpec {
    /// Rate in bits per second, more than zero: of a trace the mean, of steps the first.
    pub rate_bps: u64,
    /// Propagation delay, the first where it changes.
    pub delay: Span,
    /// Most that may wait.
    pub queue: QueueLimit,
    /// What is done with packets that have to wait.
    pub discipline: Discipline<QueueLimit>,
}

impl LinkSpec {
    /// Its forward direction, with 0, or its backward one, with 1.
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
    /// Everything that the simulator wants to know. Its stations' nodes are the scenario's; with an
    /// access point, that is the first station.
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
    /// The algorithm with its parameters and its slow start; `None` for datagrams. What belongs to
    /// the stack, such as the initial window, is left at its default.
    pub controller: Option<AnyParams>,
    /// The name by which a kernel is asked for the algorithm, of one that we need not have; the controller is then a
    /// stand-in that never runs.
    pub kernel: Option<String>,
    /// Whose build of the algorithm a kernel runs.
    pub home: Home,
    /// Whose version of an algorithm the stack runs: that of an algorithm put in its place.
    pub flavour: Flavour,
    /// Behaviour of both endpoints.
    pub stack: StackConfig,
    /// When the flow begins at the earliest, before the end of the run.
    pub start: Span,
    /// Longest time by which each run delays the start: a run draws uniformly from zero up to it.
    pub jitter: Span,
    /// What the applications send.
    pub traffic: Traffic,
    /// Times, each from … until before …, in which a source of datagrams sends, ascending, the first
    /// one from `start`; `jitter` moves them all. Empty for always.
    pub on: Vec<[Span; 2]>,
    /// How the receiving application reads.
    pub read: Read,
    /// Subflows, of a Multipath TCP connection.
    pub multipath: Option<MultipathSpec>,
    /// Nodes of which each run draws one to send the data in place of `from`, no two flows the same;
    /// empty for a sender that is always `from`.
    pub draw: Vec<usize>,
}

/// What makes a flow a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct MultipathSpec {
    /// Scheduler, buffers and the like.
    pub config: MultipathConfig,
    /// One to eight; the connection begins on the first.
    pub subflows: Vec<SubflowSpec>,
    /// Whether the two subflows that cross a cell with AODV take node-disjoint routes there.
    pub disjoint: bool,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowSpec {
    /// Name, unique within the flow.
    pub name: String,
    /// Nodes that it leads over, in order.
    pub via: Vec<usize>,
    /// The algorithm with its parameters and its slow start.
    pub controller: AnyParams,
}

impl SubflowSpec {
    /// The nodes that it leads over between these ends, which are among them.
    pub fn nodes(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        [&[from], self.via.as_slice(), &[to]].concat()
    }
}

impl FlowSpec {
    /// The nodes that each way of the flow leads over: one, or one for each subflow.
    pub fn ways(&self) -> Vec<Vec<usize>> {
        let ends = [self.from, self.to];
        match &self.multipath {
            None => vec![ends.to_vec()],
            Some(multipath) => multipath.subflows.iter().map(|s| s.nodes(ends)).collect(),
        }
    }

    /// Gives the flow this algorithm, on all its subflows. What the stack counts of an
    /// acknowledgement follows: flavours with rules for single algorithms count in full for others.
    pub fn set_controller(&mut self, controller: AnyParams) {
        let had_rule = self.controller.is_some_and(|old| old.ack_limit(self.flavour).is_some());
        match controller.ack_limit(self.flavour) {
            Some(segments) => self.stack.ack_limit = segments,
            None if had_rule => self.stack.ack_limit = u32::MAX,
            None => {}
        }
        self.controller = Some(controller);
        self.kernel = None;
        for subflow in self.multipath.iter_mut().flat_map(|m| &mut m.subflows) {
            subflow.controller = controller;
        }
    }

    /// Identifier of the algorithm, or [`NO_ALGORITHM`].
    pub fn algorithm(&self) -> Cow<'static, str> {
        match &self.kernel {
            Some(name) => format!("{LINUX}{name}").into(),
            None => self.controller.map_or(NO_ALGORITHM, |params| params.info().id).into(),
        }
    }
}

impl Scenario {
    /// Names of what series are recorded of, by [`Sample::flow`](windlass_sim::Sample::flow): the
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

/// What stands before the name of an algorithm that a kernel has under it.
pub(crate) const LINUX: &str = "linux:";

/// What the applications of a flow send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A transfer as fast as the connection allows.
    Bulk {
        /// Bytes to send, `None` for as many as the run has time for.
        bytes: Option<u64>,
    },
    /// `to` connects and asks, `from` answers; the last response closes the connection.
    RequestResponse {
        /// Bytes of each request.
        request: u64,
        /// Bytes of each response.
        response: u64,
        /// Number of requests.
        requests: u32,
        /// Time from the end of a response to the next request.
        think: Span,
    },
    /// Packets at equal intervals.
    Cbr {
        /// Payload rate in bits per second.
        rate_bps: u64,
        /// Payload of each packet, bytes.
        packet: u32,
        /// Of datagrams: how much shorter or longer than the mean a time between two may be.
        spread: Span,
        /// What carries it.
        transport: Transport,
        /// Simulated time of the end, `None` for the end of the run.
        stop: Option<Span>,
        /// Over TCP: time within which the other application should have read a packet.
        deadline: Option<Span>,
    },
    /// Messages over TCP that fall due at random.
    Messages {
        /// Mean time from one to the next.
        every: Span,
        /// How these times are distributed.
        gaps: Law,
        /// Mean size, bytes.
        size: u64,
        /// How sizes are distributed.
        sizes: Law,
        /// Shape of Pareto distributions, in thousandths.
        shape: u32,
        /// Largest size, bytes.
        most: u64,
        /// Mean lengths of the phases of sending and of silence.
        phases: Option<[Span; 2]>,
        /// Simulated time of the end, `None` for the end of the run.
        stop: Option<Span>,
        /// Time within which the other application should have read a message.
        deadline: Option<Span>,
    },
    /// Requests of CoAP over UDP that fall due at random or by the clock.
    Coap(Coap),
}

/// Requests and responses of CoAP over UDP (RFC 7252): `from` asks, `to` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coap {
    /// Mean time from one request to the next.
    pub every: Span,
    /// How these times are distributed.
    pub gaps: Law,
    /// Shape of a Pareto distribution, in thousandths.
    pub shape: u32,
    /// Payload of a request, bytes.
    pub size: u32,
    /// Payload of a response, bytes; may be 0.
    pub response: u32,
    /// Bytes of the token.
    pub token: u32,
    /// Bytes of the options of a request.
    pub options: u32,
    /// Whether requests are confirmable.
    pub confirmable: bool,
    /// Exchanges open at a time.
    pub nstart: u32,
    /// Retransmissions of a request before it is given up.
    pub max_retransmit: u32,
    /// The retransmission timer.
    pub timer: rto::AnyParams,
    /// Mean lengths of the phases of sending and of silence.
    pub phases: Option<[Span; 2]>,
    /// Simulated time of the end, `None` for the end of the run.
    pub stop: Option<Span>,
    /// Time within which a request should have come to the server.
    pub deadline: Option<Span>,
}

impl Traffic {
    /// Whether it goes in datagrams, without a connection.
    pub fn is_datagrams(&self) -> bool {
        matches!(self, Traffic::Cbr { transport: Transport::Udp, .. } | Traffic::Coap(_))
    }

    /// Simulated time of the end, where one is given.
    pub fn stop(&self) -> Option<Span> {
        match *self {
            Traffic::Cbr { stop, .. } | Traffic::Messages { stop, .. } => stop,
            Traffic::Coap(coap) => coap.stop,
            Traffic::Bulk { .. } | Traffic::RequestResponse { .. } => None,
        }
    }

    /// Time within which each message should have been read.
    pub fn deadline(&self) -> Option<Span> {
        match *self {
            Traffic::Cbr { deadline, .. } | Traffic::Messages { deadline, .. } => deadline,
            Traffic::Coap(coap) => coap.deadline,
            Traffic::Bulk { .. } | Traffic::RequestResponse { .. } => None,
        }
    }
}

/// How gaps or sizes of messages are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// All are the same.
    Constant,
    /// Exponentially.
    Exponential,
    /// By a Pareto distribution.
    Pareto,
}

impl Law {
    /// Every distribution with its name in scenarios.
    pub const ALL: [(&'static str, Law); 3] =
        [("constant", Law::Constant), ("exponential", Law::Exponential), ("pareto", Law::Pareto)];
}

/// What carries constant-bit-rate traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Written to a connection as the packets fall due.
    Tcp,
    /// Datagrams.
    Udp,
}

impl Transport {
    /// Every transport with its name in scenarios.
    pub const ALL: [(&'static str, Transport); 2] =
        [("tcp", Transport::Tcp), ("udp", Transport::Udp)];
}

/// How the receiving application reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// At once.
    Immediate,
    /// Everything there is, this long after data became readable.
    Delayed {
        /// More than zero.
        after: Span,
    },
    /// At this rate.
    Rate {
        /// Bits per second, more than zero.
        rate_bps: u64,
    },
}

/// What to record beside the totals.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RecordSpec {
    /// Series of every flow.
    pub series: Vec<Series>,
    /// Least time between two samples of a series; zero records every change.
    pub interval: Span,
    /// Links whose packets are logged.
    pub capture: Vec<usize>,
    /// Length of the intervals by which losses and progress are counted; zero for not at all.
    pub bins: Span,
    /// Whether the delay of each data packet is measured.
    pub delays: bool,
}
