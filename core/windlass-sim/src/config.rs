//! Configuration of a simulation, fully resolved: nodes are indices, and quantities are in base
//! units.

use std::sync::Arc;

use windlass_cc::{Span, Time};
use windlass_tcp::Profile;
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile};

use crate::both_ways::BothWays;
use crate::course::Course;
use crate::link::{Framing, QueueLimit};
use crate::link_radio::LinkRadio;
use crate::loss::LossModel;
use crate::queue::{Discipline, Level};
use crate::radio::RadioConfig;
use crate::results::Series;

pub use crate::limits::{MAX_DATAGRAM, MAX_SPAN, UDP_HEADERS};
pub use crate::media::Media;
pub use crate::traffic::{Cbr, Coap, ReadPolicy, Traffic};
pub use windlass_tcp::wire::MAX_IP_LEN;

/// A network, its flows and the requested records.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Names of the nodes. Other fields give a node by its index here.
    pub nodes: Vec<String>,
    /// Links, each with two directions.
    pub links: Vec<LinkConfig>,
    /// Radio channels.
    pub radios: Vec<RadioConfig>,
    /// Flows.
    pub flows: Vec<FlowConfig>,
    /// End of the run.
    pub duration: Time,
    /// Seed of all random values.
    pub seed: u64,
    /// Records to keep.
    pub record: Record,
}

/// A bidirectional link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Name.
    pub name: String,
    /// Node indices of its two ends. The forward direction is from the first to the second.
    pub ends: [usize; 2],
    /// Bits per second, each direction; at least 1. The transmission time of back-to-back frames is
    /// computed from their total number of bits, and rounded up to a nanosecond.
    pub rate_bps: u64,
    /// Propagation delay, each direction.
    pub delay: Span,
    /// Limit of the queue, each direction.
    pub queue: QueueLimit,
    /// Queue discipline of each direction.
    pub discipline: Discipline,
    /// Link layer.
    pub framing: Framing,
    /// Error model of the forward and the backward direction.
    pub loss: BothWays<Option<LossModel>>,
    /// Times at which both directions go down and up again, in ascending order. A frame that is
    /// transmitted during an outage, even in part, is lost. The queue continues to drain, as at a
    /// transmitter whose antenna has no receiver.
    pub down: Vec<[Time; 2]>,
    /// Present if the routers at both ends answer Quick-Start requests (RFC 4782) for packets that
    /// they put on the link. Otherwise the routers ignore the option.
    pub quick_start: Option<QuickStart>,
    /// Values of the backward direction that replace `rate_bps`, `delay`, `queue` and `discipline`.
    pub back: Option<Box<LinkDirection>>,
    /// Deviations of the forward and of the backward direction from a constant rate and delay.
    pub course: BothWays<Course>,
    /// Radio of the device at one end, if the link has a radio.
    pub radio: Option<Box<LinkRadio>>,
}

/// Values of one direction of a link. `Q` and `L` are the types of queue limits and of thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDirection<Q = QueueLimit, L = Level> {
    /// Bits per second. If the rate of the link varies, this is its representative rate, from which
    /// a length in bandwidth-delay products is computed.
    pub rate_bps: u64,
    /// Propagation delay; the initial delay if it varies.
    pub delay: Span,
    /// Limit of the queue.
    pub queue: Q,
    /// Queue discipline.
    pub discipline: Discipline<L>,
}

impl LinkConfig {
    /// Values of the forward (0) or the backward (1) direction.
    pub fn direction(&self, direction: usize) -> LinkDirection {
        match &self.back {
            Some(back) if direction == 1 => LinkDirection::clone(back),
            _ => LinkDirection {
                rate_bps: self.rate_bps,
                delay: self.delay,
                queue: self.queue,
                discipline: self.discipline.clone(),
            },
        }
    }
}

/// Parameters of the routers at the two ends of a link that answer Quick-Start requests for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStart {
    /// Share of the link's rate up to which requests are approved; more than 0, at most 1. The rate
    /// in use and the recently approved rates count towards it.
    pub share: f64,
    /// Length of the intervals over which the use is measured. Rates approved in the present and in
    /// the previous interval count as used.
    pub interval: Span,
}

impl QuickStart {
    /// Approves up to the whole rate, and remembers an approval for 150 to 300 ms. This is longer
    /// than most RTTs, so that the use of an approved rate is measured before the approval is
    /// forgotten.
    pub const DEFAULT: QuickStart = QuickStart { share: 1.0, interval: Span::from_millis(150) };

    pub(crate) fn check(&self) -> Result<(), String> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err("quick_start: the share must be more than 0 and at most 1".to_string());
        }
        if self.interval == Span::ZERO {
            return Err("quick_start: the interval must be more than 0".to_string());
        }
        Ok(())
    }
}

/// A flow: `from` sends the data, and `to` receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// Name.
    pub name: String,
    /// Node that sends the data.
    pub from: usize,
    /// Node that receives the data.
    pub to: usize,
    /// Stack and algorithm of both ends. Flows with equal profiles may share one.
    pub profile: Arc<Profile>,
    /// Traffic pattern.
    pub traffic: Traffic,
    /// Reading behaviour of the receiving application.
    pub read: ReadPolicy,
    /// Start of the flow.
    pub start: Time,
    /// Silent periods of a datagram source, each from … until before …, in ascending order. They
    /// are between `start` and the source's stop. After each period the source sends immediately.
    pub pauses: Vec<[Time; 2]>,
    /// Subflows of a Multipath TCP connection; `None` for datagrams.
    pub multipath: Option<Box<Multipath>>,
}

impl FlowConfig {
    /// Total pause time of a datagram source until `end`.
    pub fn paused_until(&self, end: Time) -> Span {
        let past = self.pauses.iter().map(|[from, until]| until.min(&end).since(*from));
        past.fold(Span::ZERO, |sum, pause| sum + pause)
    }
}

/// Configuration of a Multipath TCP connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipath {
    /// Scheduler, buffers and other parameters.
    pub config: MultipathConfig,
    /// One or more subflows. The connection begins on the first subflow.
    pub subflows: Vec<SubflowConfig>,
    /// True if the two subflows over an AODV radio use node-disjoint routes
    /// ([`DisjointPath`](crate::routing::aodv::DisjointPath)). Such a radio must exist. Exactly two
    /// of the subflows must be on each such radio, between the same two stations.
    pub disjoint: bool,
}

/// A subflow, which is one path of a multipath connection.
#[derive(Clone, Debug, PartialEq)]
pub struct SubflowConfig {
    /// Name, unique within the flow.
    pub name: String,
    /// Nodes on its path from `from` to `to`, with the shortest path between successive nodes.
    /// Packets in the other direction use the same path in reverse.
    pub via: Vec<usize>,
    /// Stack and algorithm.
    pub profile: Profile,
}

impl FlowConfig {
    /// Returns the flow's profile for a change that affects only this flow.
    pub fn profile_mut(&mut self) -> &mut Profile {
        Arc::make_mut(&mut self.profile)
    }

    /// The profiles of its connections: its own profile, or the profiles of the subflows.
    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        let subflows = self.multipath.iter().flat_map(|m| &m.subflows).map(|s| &s.profile);
        let own = self.multipath.is_none().then_some(&*self.profile);
        own.into_iter().chain(subflows)
    }
}

impl Multipath {
    /// Returns the connection's profile, or an error as a sentence.
    pub(crate) fn profile(&self) -> Result<MultipathProfile, &'static str> {
        MultipathProfile::new(self.config, self.subflows.iter().map(|s| s.profile).collect())
    }
}

impl Config {
    /// Total number of subflows of all flows.
    pub fn subflows(&self) -> usize {
        self.flows.iter().filter_map(|f| f.multipath.as_ref()).map(|m| m.subflows.len()).sum()
    }

    /// Index of the first subflow of the flow with this index, in the numbering of
    /// [`Sample::flow`](crate::Sample::flow). That numbering has all flows first, then all subflows
    /// in order.
    pub fn track(&self, flow: usize) -> usize {
        let before = self.flows.iter().take(flow).filter_map(|f| f.multipath.as_ref());
        self.flows.len() + before.map(|m| m.subflows.len()).sum::<usize>()
    }
}

/// Records to keep in addition to the totals.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Record {
    /// Series of every flow.
    pub series: Vec<Series>,
    /// Minimum time between two samples of a series; zero records every change.
    pub interval: Span,
    /// Links whose packets are logged.
    pub capture: Vec<usize>,
    /// Periods, each from … to …, to which the log is restricted; empty for the whole run.
    pub capture_within: Vec<[Time; 2]>,
    /// Length of the intervals of [`Timeline`](crate::results::Timeline); zero for none.
    pub bins: Span,
    /// True if the delay of each data packet and each RTT sample are measured.
    pub delays: bool,
    /// True to record the senders' decisions with their causes, and the fates of dropped and marked
    /// packets.
    pub decisions: bool,
}

/// Reason why a configuration cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A flow's ends are not connected.
    NoRoute {
        /// The flow, or flow and subflow.
        flow: String,
    },
    /// The links, radios and flows exceed the number of entities that events can address.
    TooLarge,
    /// A value that cannot be simulated.
    Invalid {
        /// Owner of the value: `link "wire"`, `flow "a"`, `the run`.
        of: String,
        /// The fault and the remedy.
        problem: String,
    },
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigError::NoRoute { flow } => {
                write!(f, "no chain of links and radio hops joins the two ends of flow \"{flow}\"")
            }
            ConfigError::TooLarge => write!(
                f,
                "links, radios and flows together exceed {} entities",
                crate::event_queue::MAX_ENTITIES
            ),
            ConfigError::Invalid { of, problem } => write!(f, "{of}: {problem}"),
        }
    }
}

impl std::error::Error for ConfigError {}
